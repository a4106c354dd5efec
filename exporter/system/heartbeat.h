/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>

#include "metrics/base/base.h"

/*
 * When the loop last turned, in steady milliseconds: its thread beats, all others may look.
 * They decide for themselves whether that is too long ago, since a loop that stands still
 * tells nobody.
 */
enum { HEARTBEAT_LIMIT_MS = 10 * 1000 };

struct heartbeat {
    _Atomic int64_t at_ms;
};

void heartbeat_beat(struct heartbeat *h, int64_t now_ms);

/* How long ago the last beat was: 0 where it came after `now_ms` was read. */
int64_t heartbeat_age_ms(const struct heartbeat *h, int64_t now_ms);
