/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* How long to wait after a failure, in milliseconds, spread by a random number. */

/* An exponential delay, from one to two times as much, after so many in a row. */
int64_t backoff_ms(unsigned retries, uint32_t random);

/* Between two lists of a resource for whose stream there is no room. */
int64_t backoff_poll_ms(uint32_t random);

/* What it is at most once the server has answered somebody else. */
int64_t backoff_after_recovery_ms(uint32_t random);

/*
 * Whether a response makes progress. A server may take its time before the first byte: for a list
 * of 100,000 bindings a healthy one takes twelve seconds. Then ten KiB have to come in any ten
 * seconds, and four KiB a second over all beyond the first minute. One that hangs, one that sends
 * a byte a second and one that accepts and says nothing are the same.
 */
struct progress {
    int64_t opened_ms; /* Steady, as are all times. */
    int64_t mark_ms;   /* When enough had come for the last time, or the first byte. */
    uint64_t mark_bytes;
    uint64_t bytes;
    bool begun;
};

/* The patience for lists, and for other answers, before their first byte. */
enum { PROGRESS_LIST_MS = 60 * 1000, PROGRESS_SHORT_MS = 10 * 1000 };
/* After which the lack of progress is told to people. */
enum { PROGRESS_LATE_MS = 10 * 1000 };

void progress_begin(struct progress *p, int64_t now_ms);

/* So many bytes have come; 0: the response has begun without any. */
void progress_note_bytes(struct progress *p, size_t bytes, int64_t now_ms);

/* When to give up, if nothing more comes and the first byte may take `first_ms`. */
int64_t progress_deadline(const struct progress *p, int64_t first_ms);

/* Since when there was no progress. */
int64_t progress_stalled_since(const struct progress *p);

/* What is wrong, for people, if it is late. */
const char *progress_fault(const struct progress *p, int64_t now_ms);
