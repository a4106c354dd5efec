/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/backoff.h"

enum {
    DELAY_FIRST_MS = 800,
    DELAY_LAST_MS = 30 * 1000,
    DELAY_SHIFTS = 6,
    RECOVERY_SPREAD_MS = 400,
    POLL_MS = 25 * 1000,
    POLL_SPREAD_MS = 10 * 1000,
};

int64_t backoff_ms(unsigned retries, uint32_t random)
{
    unsigned shifts = retries < DELAY_SHIFTS ? retries : DELAY_SHIFTS;
    uint32_t delay = (uint32_t)DELAY_FIRST_MS << shifts;

    if (delay > DELAY_LAST_MS)
        delay = DELAY_LAST_MS;
    return (int64_t)delay + random % delay;
}

int64_t backoff_poll_ms(uint32_t random)
{
    return POLL_MS + random % POLL_SPREAD_MS;
}

int64_t backoff_after_recovery_ms(uint32_t random)
{
    return DELAY_FIRST_MS + random % RECOVERY_SPREAD_MS;
}

enum {
    PROGRESS_BYTES = 10 * 1024,
    PROGRESS_MS = 10 * 1000,
    TOTAL_GRACE_MS = 60 * 1000,
    TOTAL_BYTES_PER_MS = 4,
};

void progress_begin(struct progress *p, int64_t now_ms)
{
    *p = (struct progress){.opened_ms = now_ms, .mark_ms = now_ms};
}

void progress_note_bytes(struct progress *p, size_t bytes, int64_t now_ms)
{
    p->bytes += bytes;
    if (p->begun && p->bytes - p->mark_bytes < PROGRESS_BYTES)
        return;
    p->begun = true;
    p->mark_ms = now_ms;
    p->mark_bytes = p->bytes;
}

int64_t progress_deadline(const struct progress *p, int64_t first_ms)
{
    int64_t progress_ms = p->mark_ms + PROGRESS_MS;
    int64_t total_ms = p->opened_ms + TOTAL_GRACE_MS + (int64_t)(p->bytes / TOTAL_BYTES_PER_MS);

    if (!p->begun)
        return p->opened_ms + first_ms;
    return progress_ms < total_ms ? progress_ms : total_ms;
}

int64_t progress_mark_ms(const struct progress *p)
{
    return p->mark_ms;
}

const char *progress_late_reason(const struct progress *p, int64_t now_ms)
{
    if (!p->begun)
        return "the server does not answer";
    if (now_ms >= p->mark_ms + PROGRESS_MS)
        return "the server stopped in the middle of its answer, or sends less than 1 KiB a second";
    /* The limit of the whole response: see progress_deadline(). */
    return "the server sends less than 4 KiB a second";
}
