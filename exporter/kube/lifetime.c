/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/lifetime.h"

enum {
    STREAM_GRACE_MS = 30 * 1000, /* For a server that ends a stream later than asked to. */
    QUIET_MS = 3 * 60 * 1000,    /* A server sends a bookmark a minute. */
};

static bool is_stream(enum lifetime_kind kind)
{
    return kind == LIFETIME_STREAM || kind == LIFETIME_STREAM_WITH_BOOKMARKS;
}

void lifetime_open(struct lifetime *l, int64_t now_ms)
{
    l->opened_ms = l->heard_ms = now_ms;
    l->cut = false;
    progress_open(&l->progress, now_ms);
}

void lifetime_heard(struct lifetime *l, enum lifetime_kind kind, size_t bytes, bool cut,
                    int64_t now_ms)
{
    if (is_stream(kind) && !l->cut)
        progress_open(&l->progress, now_ms);
    l->cut = cut;
    progress_heard(&l->progress, bytes, now_ms);
}

int64_t lifetime_end_ms(const struct lifetime *l, enum lifetime_kind kind)
{
    int64_t progress_ms = progress_deadline(&l->progress, PROGRESS_LIST_MS);
    int64_t end_ms = l->opened_ms + (int64_t)l->timeout_s * 1000 + STREAM_GRACE_MS;

    if (kind == LIFETIME_LIST)
        return progress_ms;
    if (kind == LIFETIME_STREAM_WITH_BOOKMARKS && l->heard_ms + QUIET_MS < end_ms)
        end_ms = l->heard_ms + QUIET_MS;
    /* A stream of changes may be silent, but not before it begins or in the middle of an event. */
    if (is_stream(kind) && l->progress.begun && !l->cut)
        return end_ms;
    return progress_ms < end_ms ? progress_ms : end_ms;
}

const char *lifetime_fault(const struct lifetime *l, enum lifetime_kind kind, int64_t now_ms)
{
    if (kind == LIFETIME_INITIAL_EVENTS && l->progress.begun)
        return "the initial events do not end";
    return progress_fault(&l->progress, now_ms);
}
