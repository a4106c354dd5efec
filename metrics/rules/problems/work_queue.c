/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/work_queue.h"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    HOUR_MS = 60 * MINUTE_MS,
    DELAY_MS = 5 * MINUTE_MS, /* Work that waits for longer belongs to the backlog. */
    NO_PROGRESS_MS = 10 * MINUTE_MS,
    SLOW_COUNT = 180, /* Within SLOW_MINUTES. */
    SLOW_FACTOR = 4,  /* Two hours at the rate of SLOW_MINUTES. */
    RANGE_MS = 15 * SECOND_MS,
    FIRST_CAPACITY = 16,
};

/* ---- ranges ---- */

/* Returns the width of ranges around `due_ms`, if there are too many ranges. */
static int64_t wide_range_ms(int64_t due_ms, int64_t now_ms)
{
    int64_t age_ms = now_ms - due_ms;

    if (age_ms < HOUR_MS)
        return RANGE_MS;
    return age_ms < (int64_t)24 * HOUR_MS ? 5 * MINUTE_MS : HOUR_MS;
}

/* Returns the number of ranges that begin at `due_ms` or earlier. */
static uint32_t ranges_before(const struct work_queue *q, int64_t due_ms)
{
    uint32_t low = 0, high = q->range_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (q->ranges[middle].first_ms <= due_ms)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the range of work that was added with `due_ms`. */
static struct due_range *range_of(const struct work_queue *q, int64_t due_ms)
{
    uint32_t before = ranges_before(q, due_ms);

    assert(before > 0);
    return &q->ranges[before - 1];
}

static bool is_empty(const struct due_range *r)
{
    return r->counts[WORK_WAITS] == 0 && r->counts[WORK_REFUSED] == 0 &&
           r->counts[WORK_PROCESSED] == 0;
}

/* Removes empty ranges, and joins neighbours that are together narrower than `factor` widths. */
static void join_ranges(struct work_queue *q, int64_t factor, int64_t now_ms)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < q->range_count; i++) {
        const struct due_range *next = &q->ranges[i];
        struct due_range *last = kept > 0 ? &q->ranges[kept - 1] : NULL;

        if (is_empty(next))
            continue;
        if (last &&
            next->last_ms - last->first_ms < factor * wide_range_ms(next->last_ms, now_ms)) {
            last->last_ms = next->last_ms;
            for (unsigned k = 0; k < WORK_FATE_COUNT; k++)
                last->counts[k] += next->counts[k];
        } else {
            q->ranges[kept++] = *next;
        }
    }
    q->range_count = kept;
}

/* Makes room for another range. */
static void make_room(struct work_queue *q, int64_t now_ms)
{
    if (q->range_count < q->range_capacity)
        return;
    if (q->range_capacity < DUE_RANGES_MAX) {
        q->range_capacity = q->range_capacity ? 2 * q->range_capacity : FIRST_CAPACITY;
        q->ranges = xreallocarray(q->ranges, q->range_capacity, sizeof(*q->ranges));
        return;
    }
    /* Half of the capacity becomes free, so that the next such pass is far off. */
    for (int64_t factor = 1; q->range_count > q->range_capacity / 2; factor *= 4)
        join_ranges(q, factor, now_ms);
}

void work_queue_add(struct work_queue *q, int64_t due_ms, enum work_fate fate, int64_t now_ms)
{
    make_room(q, now_ms);
    q->waiting += fate == WORK_WAITS;

    uint32_t at = ranges_before(q, due_ms);
    struct due_range *last = at > 0 ? &q->ranges[at - 1] : NULL;
    struct due_range *next = at < q->range_count ? &q->ranges[at] : NULL;

    if (last && (due_ms <= last->last_ms || due_ms - last->first_ms < RANGE_MS)) {
        last->last_ms = due_ms > last->last_ms ? due_ms : last->last_ms;
        last->counts[fate]++;
        return;
    }
    if (next && next->last_ms - due_ms < RANGE_MS) {
        next->first_ms = due_ms;
        next->counts[fate]++;
        return;
    }
    assert(q->ranges);
    memmove(q->ranges + at + 1, q->ranges + at, (q->range_count - at) * sizeof(*q->ranges));
    q->range_count++;
    q->ranges[at] = (struct due_range){due_ms, due_ms, {0}};
    q->ranges[at].counts[fate] = 1;
}

void work_queue_remove(struct work_queue *q, int64_t due_ms, enum work_fate fate)
{
    struct due_range *r = range_of(q, due_ms);

    assert(r->counts[fate] > 0);
    r->counts[fate]--;
    q->waiting -= fate == WORK_WAITS;
}

void work_queue_move(struct work_queue *q, int64_t due_ms, enum work_fate from, enum work_fate to)
{
    struct due_range *r = range_of(q, due_ms);

    assert(r->counts[from] > 0);
    r->counts[from]--;
    r->counts[to]++;
    q->waiting -= from == WORK_WAITS;
    q->waiting += to == WORK_WAITS;
}

/* ---- creation, reload and release ---- */

void work_queue_init(struct work_queue *q, int64_t now_ms)
{
    *q = (struct work_queue){.progressed_ms = now_ms};
}

void work_queue_release(struct work_queue *q)
{
    free(q->ranges);
    *q = (struct work_queue){0};
}

void work_queue_inherit(struct work_queue *q, const struct work_queue *last)
{
    *q = *last;
    q->waiting = 0;
    q->ranges = xreallocarray(NULL, last->range_capacity, sizeof(*q->ranges));
    for (uint32_t i = 0; i < last->range_count; i++) {
        q->ranges[i] = last->ranges[i];
        q->ranges[i].counts[WORK_WAITS] = q->ranges[i].counts[WORK_REFUSED] = 0;
    }
}

/* ---- progress ---- */

void work_queue_count_processed(struct work_queue *q, uint32_t count, int64_t now_ms)
{
    int64_t minute = now_ms / MINUTE_MS;
    int64_t gap = minute - q->minute;

    for (int64_t i = 0; i < gap && i < SLOW_MINUTES + 1; i++)
        q->processed[(minute - i) % (SLOW_MINUTES + 1)] = 0;
    q->minute = minute;
    q->processed[minute % (SLOW_MINUTES + 1)] += count;
    if (count > 0)
        q->progressed_ms = now_ms;
}

void work_queue_note_refused(struct work_queue *q, int64_t time_ms)
{
    if (time_ms > q->progressed_ms)
        q->progressed_ms = time_ms;
}

void work_queue_restart(struct work_queue *q, int64_t now_ms)
{
    q->progressed_ms = now_ms;
    if (q->backlog > 0)
        q->backlog_since_ms = now_ms;
}

/* ---- backlog and rules ---- */

/* Counts of work that became due later than some other work. */
struct later_work {
    uint32_t first; /* First range of the later work. */
    uint64_t processed;
    uint64_t all;
};

/* Adds the ranges that begin more than DELAY_MS after `due_ms`. */
static void add_later_work(const struct work_queue *q, int64_t due_ms, struct later_work *later)
{
    while (later->first > 0 && q->ranges[later->first - 1].first_ms > due_ms + DELAY_MS) {
        const uint32_t *counts = q->ranges[--later->first].counts;

        later->processed += counts[WORK_PROCESSED];
        for (unsigned fate = 0; fate < WORK_FATE_COUNT; fate++)
            later->all += counts[fate];
    }
}

void work_queue_update(struct work_queue *q, struct due_clock *due)
{
    struct later_work later = {.first = q->range_count};

    work_queue_count_processed(q, 0, due->now_ms);
    q->backlog = 0;
    q->oldest_ms = 0;
    for (uint32_t i = q->waiting > 0 ? q->range_count : 0; i-- > 0;) {
        const struct due_range *r = &q->ranges[i];

        add_later_work(q, r->last_ms, &later);
        if (r->counts[WORK_WAITS] == 0 || !has_passed(due, r->last_ms, DELAY_MS + 1) ||
            (later.processed > 0 && 2 * later.processed >= later.all))
            continue;
        q->backlog += r->counts[WORK_WAITS];
        q->oldest_ms = r->last_ms;
    }
    if (q->backlog == 0)
        q->backlog_since_ms = 0;
    else if (q->backlog_since_ms == 0)
        q->backlog_since_ms = due->now_ms;
}

bool work_queue_stands_still(const struct work_queue *q, struct due_clock *due)
{
    return q->backlog > 0 && has_passed(due, q->oldest_ms, NO_PROGRESS_MS) &&
           has_passed(due, q->progressed_ms, NO_PROGRESS_MS);
}

bool work_queue_is_too_slow(const struct work_queue *q, struct due_clock *due)
{
    uint64_t processed = 0;

    if (q->backlog == 0 || !has_passed(due, q->backlog_since_ms, SLOW_MINUTES * MINUTE_MS))
        return false;
    for (unsigned i = 0; i < ARRAY_LEN(q->processed); i++)
        processed += q->processed[i];
    return processed < SLOW_COUNT && q->backlog > SLOW_FACTOR * processed;
}
