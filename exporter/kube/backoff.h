/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* Waits between requests, in milliseconds. A random number spreads them. */

/*
 * Returns the wait after a failed request: 0.8 s, doubled for each of the `retries` before, up to
 * 30 s, times a random factor from one to two.
 */
int64_t backoff_ms(unsigned retries, uint32_t random);

/* Returns 25 to 35 s: the interval between lists of a resource that cannot have a stream. */
int64_t backoff_poll_ms(uint32_t random);

/* Returns 0.8 to 1.2 s: the longest wait after a failure once the server works again. */
int64_t backoff_after_recovery_ms(uint32_t random);

/*
 * Progress of a response. The first byte may take long: a healthy API server needs 12 s for a list
 * of 100,000 bindings. Afterwards each 10 KiB must arrive within 10 s. The whole response may take
 * one minute from the request on, and 1 ms more for each 4 bytes received. Bytes count after
 * decompression. Times are steady.
 */
struct progress {
    int64_t opened_ms;
    int64_t mark_ms; /* Begin of the response, or end of its last full 10 KiB; before, opened_ms. */
    uint64_t mark_bytes; /* `bytes` at mark_ms. */
    uint64_t bytes;      /* Bytes received. */
    bool begun;          /* progress_note_bytes() was called since progress_begin(). */
};

/* Usual values of `first_ms` in progress_deadline(): lists and streams; other requests. */
enum { PROGRESS_LIST_MS = 60 * 1000, PROGRESS_SHORT_MS = 10 * 1000 };
/* Time without progress after which the exporter reports the request as late. */
enum { PROGRESS_LATE_MS = 10 * 1000 };

/* Starts the measurement: the request is sent. */
void progress_begin(struct progress *p, int64_t now_ms);

/* Adds received bytes. With 0 bytes, the response has begun, but its body has not. */
void progress_note_bytes(struct progress *p, size_t bytes, int64_t now_ms);

/* Returns when to cancel the request if no more bytes arrive; first_ms limits the first byte. */
int64_t progress_deadline(const struct progress *p, int64_t first_ms);

/* Returns mark_ms: the time of the last progress, or of progress_begin(). */
int64_t progress_mark_ms(const struct progress *p);

/*
 * Returns a static text for users, never NULL: why a response is late. The caller has found that
 * progress_deadline() is over at now_ms.
 */
const char *progress_late_reason(const struct progress *p, int64_t now_ms);
