/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* The weight of one member cluster, and the replicas that it gets. */
struct share {
    const char *name;
    int64_t weight; /* Above 0. */
    int64_t replicas;
};

/*
 * Divide `replicas` by weight and write what each share gets (Karmada >= 1.16: the Webster
 * method). One replica at a time goes to the share with the highest weight / (2 x replicas it
 * has + 1); of equal ones to the one that has fewer, then to the smaller name, or to the larger
 * if the last bit of `uid_hash` is set. The cost does not grow with the number of replicas.
 */
void divide_by_weight(struct share *shares, size_t count, int64_t replicas, uint32_t uid_hash);
