/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/heartbeat.h"

/* Relaxed: nothing else is read on the strength of a beat. */
void heartbeat_beat(struct heartbeat *h, int64_t now_ms)
{
    atomic_store_explicit(&h->at_ms, now_ms, memory_order_relaxed);
}

int64_t heartbeat_age_ms(const struct heartbeat *h, int64_t now_ms)
{
    int64_t at_ms = atomic_load_explicit(&h->at_ms, memory_order_relaxed);

    return at_ms < now_ms ? now_ms - at_ms : 0;
}
