/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * When to publish: a change after a quiet time at once, more of them at most
 * every `interval_ms`, so that a single edit is seen at once and a storm costs
 * one page a second. Where nothing changes, every `refresh_ms`, for the numbers
 * that move by themselves (processor time, requests). Steady milliseconds.
 */
struct pace {
    int64_t interval_ms;
    int64_t refresh_ms;
    int64_t changed_ms;   /* When the first change came that is not published; 0 if none. */
    int64_t published_ms; /* The last page of a change. */
    int64_t refreshed_ms; /* The last page. */
};

/* There is something new to publish. */
void pace_change(struct pace *p, int64_t now_ms);

/* When the next page is due. */
int64_t pace_deadline(const struct pace *p);

/* A page is published now. How long ago the first change in it came; 0 if there was none. */
int64_t pace_publish(struct pace *p, int64_t now_ms);
