/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/request_queue.h"
#include "metrics/base/error.h"

/*
 * Who asks for a reload over HTTP (/-/reload) and waits for its end. One after the other: what
 * somebody changed after a reload had begun is read by the next one.
 */
struct reloads {
    struct desk *desk; /* NULL: nobody may ask. Borrowed. */
    bool waits;        /* For the end of the reload that it has begun. */
    int64_t begun_ms;  /* Steady. */
};

/* For the loop to poll for reading; -1 without a desk. */
int reloads_fd(const struct reloads *r);

/*
 * True if a reload is to begin. Whoever waits for one for too long is told that it goes on.
 * `now_ms` is steady.
 */
bool reloads_turn(struct reloads *r, int64_t now_ms) MUST_USE;

/* When a turn is due (steady); INT64_MAX for never. */
int64_t reloads_due(const struct reloads *r);

/* A reload has ended: well (NULL), or with why the old state stays in force. */
void reloads_end(struct reloads *r, const struct error *why);
