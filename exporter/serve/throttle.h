/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Decides when a page is due. A change after a quiet time: at once. While changes go on: as
 * often as a fifth of a processor can write the page, at least `shortest_ms` and at most
 * `longest_ms` apart. So a single edit shows at once, and a storm of them does not cost more
 * than it is worth. Without changes: every `refresh_ms`, for the numbers that move by
 * themselves (processor time, requests). All times are steady milliseconds.
 */
struct throttle {
    int64_t shortest_ms;
    int64_t longest_ms; /* Wins if it is the shorter one. */
    int64_t refresh_ms;
    int64_t interval_ms;  /* Between pages with changes, from what the last page cost. */
    int64_t changed_ms;   /* Of the first change that is not published; 0 if there is none. */
    int64_t published_ms; /* Of the last page with a change. */
    int64_t refreshed_ms; /* Of the last page. */
};

/* As if the last page had been long ago. */
void throttle_init(struct throttle *t, int64_t shortest_ms, int64_t longest_ms, int64_t refresh_ms);

/* Note a change. */
void throttle_change(struct throttle *t, int64_t now_ms);

/* When the next page is due. */
int64_t throttle_deadline(const struct throttle *t);

/*
 * Note that a page is published, which cost so much processor time. Answers how long its
 * first change waited; 0 if it has none.
 */
int64_t throttle_publish(struct throttle *t, int64_t cost_ms, int64_t now_ms);
