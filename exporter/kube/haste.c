/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/haste.h"

enum { BEYOND_THE_FIRST = 3 };

int64_t haste_due(const struct haste *h, int64_t cost_ms, int64_t now_ms)
{
    int64_t due_ms = h->spent_ms - BEYOND_THE_FIRST * cost_ms;

    return due_ms > now_ms ? due_ms : now_ms;
}

void haste_spend(struct haste *h, int64_t cost_ms, int64_t now_ms)
{
    h->spent_ms = cost_ms + (h->spent_ms > now_ms ? h->spent_ms : now_ms);
}

bool haste_take(struct haste *h, int64_t cost_ms, int64_t now_ms)
{
    if (haste_due(h, cost_ms, now_ms) > now_ms)
        return false;
    haste_spend(h, cost_ms, now_ms);
    return true;
}
