/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * When to publish: a change after a quiet time at once; while changes go on, as often as
 * costs a fifth of a processor, but at least `shortest_ms` apart, and no less often than
 * every `longest_ms`. So a single edit is seen at once, and so is a storm of them where
 * the page is small. Where nothing changes, every `refresh_ms`, for the numbers that move
 * by themselves (processor time, requests). Steady milliseconds.
 */
struct throttle {
    int64_t shortest_ms;
    int64_t longest_ms; /* Counts where the two contradict each other. */
    int64_t refresh_ms;
    int64_t interval_ms;  /* Between pages of changes, as the last page's cost allows. */
    int64_t changed_ms;   /* When the first change came that is not published; 0 if none. */
    int64_t published_ms; /* The last page of a change. */
    int64_t refreshed_ms; /* The last page. */
};

/* As if the last page had been long ago. */
void throttle_init(struct throttle *p, int64_t shortest_ms, int64_t longest_ms, int64_t refresh_ms);

/* There is something new to publish. */
void throttle_change(struct throttle *p, int64_t now_ms);

/* When the next page is due. */
int64_t throttle_deadline(const struct throttle *p);

/*
 * A page is published now that cost so much processor time. How long ago the first
 * change in it came; 0 if there was none.
 */
int64_t throttle_publish(struct throttle *p, int64_t cost_ms, int64_t now_ms);
