/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Queue of Karmada's work of one kind (product contract 3.10, "Controllers and scheduler"): how
 * much work waits, was refused or was processed, by the time at which it became due, and how fast
 * Karmada processes it. Backlog and rules 7 and 8 follow from counts, without a visit of each piece
 * of work.
 *
 * The counts are kept for ranges of 15 seconds. If there are more than DUE_RANGES_MAX, ranges of
 * old work are joined: to 5 minutes after an hour, to one hour after a day, and to wider ones if
 * that is not enough.
 *
 * Times are in milliseconds of a clock that never goes back. `now_ms` is its present time.
 */

enum { DUE_RANGES_MAX = 1024, SLOW_MINUTES = 30 };

/* Fates of work. */
enum work_fate { WORK_WAITS, WORK_REFUSED, WORK_PROCESSED, WORK_FATE_COUNT };

/* Work that became due in a range of time. */
struct due_range {
    int64_t first_ms; /* Earliest time. */
    int64_t last_ms;  /* Latest time. */
    uint32_t counts[WORK_FATE_COUNT];
};

struct work_queue {
    struct due_range *ranges; /* In order of time; they do not overlap. */
    uint32_t range_count;
    uint32_t range_capacity;
    uint64_t waiting; /* Number of pieces of work with WORK_WAITS. */

    /*
     * Backlog of the last work_queue_update(): work that has waited for more than 5 minutes and is
     * not passed over. Work is passed over if at least one piece of work that became due more than
     * 5 minutes later was processed, and at least half of all such pieces.
     */
    uint64_t backlog;
    int64_t oldest_ms;        /* Time at which its oldest work became due; 0 without a backlog. */
    int64_t backlog_since_ms; /* Since when the backlog is not empty; 0 without a backlog. */

    int64_t progressed_ms;                /* Last time that Karmada processed or refused work. */
    int64_t minute;                       /* Last minute in `processed`. */
    uint32_t processed[SLOW_MINUTES + 1]; /* Work processed in each of the last minutes. */
};

/* The clock, and the time at which a result changes without an event. */
struct due_clock {
    int64_t now_ms;
    int64_t next_ms;
};

/* Returns true if `duration_ms` have passed since `since_ms`; else lowers next_ms. */
static inline bool has_passed(struct due_clock *due, int64_t since_ms, int64_t duration_ms)
{
    if (due->now_ms - since_ms >= duration_ms)
        return true;
    due->next_ms = earlier_of(due->next_ms, since_ms + duration_ms);
    return false;
}

/* Sets up an empty queue. */
void work_queue_init(struct work_queue *q, int64_t now_ms);
void work_queue_release(struct work_queue *q);
/* Sets up a queue with the past of `last`, without the work that waits or was refused. */
void work_queue_inherit(struct work_queue *q, const struct work_queue *last);

/* Adds work that became due at `due_ms` and has this fate. */
void work_queue_add(struct work_queue *q, int64_t due_ms, enum work_fate fate, int64_t now_ms);
/* Changes the fate of work that was added with `due_ms`. */
void work_queue_move(struct work_queue *q, int64_t due_ms, enum work_fate from, enum work_fate to);
/* Removes work that was added with `due_ms` and has this fate. */
void work_queue_remove(struct work_queue *q, int64_t due_ms, enum work_fate fate);

/* Counts progress: `count` pieces of work were processed at `now_ms`. */
void work_queue_count_processed(struct work_queue *q, uint32_t count, int64_t now_ms);
/* Notes that Karmada refused work at `time_ms`. */
void work_queue_note_refused(struct work_queue *q, int64_t time_ms);
/* Begins the observation of progress and backlog anew. */
void work_queue_restart(struct work_queue *q, int64_t now_ms);

/* Updates the backlog. Call it before the rules. */
void work_queue_update(struct work_queue *q, struct due_clock *due);
/*
 * Rule 7: returns true if work of the backlog has been due for 10 minutes, and Karmada has
 * processed and refused no work for 10 minutes.
 */
bool work_queue_stands_still(const struct work_queue *q, struct due_clock *due);
/*
 * Rule 8: returns true if the backlog has not been empty for 30 minutes, Karmada processed less
 * than 180 pieces of work in that time, and the backlog takes more than 2 hours at this rate.
 */
bool work_queue_is_too_slow(const struct work_queue *q, struct due_clock *due);
