/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/progress.h"

/* How long an open list or stream may go on. Times are steady. */
struct lifetime {
    int64_t opened_ms;
    int64_t heard_ms;         /* When the last event came. */
    unsigned timeout_s;       /* What a stream was asked to last. */
    bool cut;                 /* What came last ends in the middle of an event. */
    struct progress progress; /* Of a stream of changes: since it was last silent. */
};

enum lifetime_kind {
    LIFETIME_LIST,
    LIFETIME_INITIAL_EVENTS,
    LIFETIME_STREAM,
    LIFETIME_STREAM_WITH_BOOKMARKS, /* Its silence means something. */
};

/* It is opened now; `timeout_s` stays. */
void lifetime_open(struct lifetime *l, int64_t now_ms);

/*
 * So many bytes of the response have come, the last of them in the middle of an event (`cut`);
 * 0: a stream has begun.
 */
void lifetime_heard(struct lifetime *l, enum lifetime_kind kind, size_t bytes, bool cut,
                    int64_t now_ms);

/* When to give it up. */
int64_t lifetime_end_ms(const struct lifetime *l, enum lifetime_kind kind);

/* What is wrong with it, for people, if it is late. */
const char *lifetime_fault(const struct lifetime *l, enum lifetime_kind kind, int64_t now_ms);
