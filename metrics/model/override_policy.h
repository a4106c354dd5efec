/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/placement.h"
#include "metrics/model/policy.h"

/* One of the rules of an override policy: where it acts, and not yet what it changes. */
struct override_rule {
    struct cluster_affinity *target; /* NULL: on every cluster. */
    bool empty;                      /* It has no overriders: it acts, and changes nothing. */
    bool writes_identity;            /* It can change what override policies select by. */
};

/* An OverridePolicy or a ClusterOverridePolicy. */
struct override {
    struct resource_selector *selectors; /* Without any it selects everything. */
    struct override_rule *rules;
    uint32_t selector_count;
    uint32_t rule_count;
    int64_t created_ms; /* 0 if unknown, as is the next. */
    int64_t changed_ms; /* Of the spec: what failed until then has not failed as it is. */
    /*
     * It has no overrideRules: its one rule is made of spec.targetCluster and spec.overriders,
     * be they set or not (Karmada: getOverridersFromOverridePolicies).
     */
    bool deprecated;
};

/* As struct kind_def wants them. */
void *override_decode(struct decode *d, const cJSON *json);
void override_release(struct intern *strings, void *object);
