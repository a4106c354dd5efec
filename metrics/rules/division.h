/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* What one member cluster weighs, and what it gets for it. */
struct share {
    const char *name;
    int64_t weight; /* Above 0. */
    int64_t replicas;
};

/*
 * Divide replicas by weight, in `replicas` of each share (Karmada >= 1.16: the
 * Webster method). Whole replicas go one by one to the highest weight / (2 x
 * replicas it has + 1); of equal ones to who has fewer, then to the smaller
 * name, or to the larger where the last bit of `uid_hash` is set. The cost does
 * not grow with the number of replicas.
 */
void divide_by_weight(struct share *shares, size_t count, int64_t replicas, uint32_t uid_hash);
