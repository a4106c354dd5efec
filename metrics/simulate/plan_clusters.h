/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/simulate/outcome.h"

/* What some templates have of each member cluster, before a change and after it. */
enum plan_side { PLAN_BEFORE, PLAN_AFTER, PLAN_SIDES };

struct plan_cluster {
    const char *name;
    int64_t replicas[PLAN_SIDES];
    double cores[PLAN_SIDES];
    double memory_bytes[PLAN_SIDES];
    bool overflows; /* What arrives is more than what is free. */
};

/* All zero is an empty list. */
struct plan_clusters {
    struct plan_cluster *items; /* By name, once plan_clusters_finish() has been called. */
    size_t count;
};

/* Count a template on a side. */
void plan_clusters_add(struct plan_clusters *c, const struct outcome *o, enum plan_side side);
/* Sort, and hold what arrives against what the Cluster objects report as free. */
void plan_clusters_finish(struct plan_clusters *c, const struct store *store);
void plan_clusters_release(struct plan_clusters *c);
