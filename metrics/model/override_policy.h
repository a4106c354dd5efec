/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/placement.h"
#include "metrics/model/policy.h"

/* A rule of an override policy: the clusters to which it applies, and its overriders. */
struct override_rule {
    struct cluster_affinity *target; /* Owned; NULL selects all clusters. */
    cJSON *overriders;               /* Owned copy; NULL if the rule is empty. */
    bool empty;                      /* The rule has no overriders, so it has no effect. */
    bool writes_identity; /* The rule may change fields by which override policies select. */
};

/* An OverridePolicy or a ClusterOverridePolicy. */
struct override {
    struct resource_selector *selectors; /* An empty list selects all templates. */
    struct override_rule *rules;
    uint32_t selector_count;
    uint32_t rule_count;
    int64_t created_ms; /* 0 if unknown. */
    int64_t changed_ms; /* Result of user_change_time_ms(). */
    /*
     * The policy has no overrideRules: its only rule is made from spec.targetCluster and
     * spec.overriders, even if both are unset (Karmada: getOverridersFromOverridePolicies).
     */
    bool deprecated;
    struct admission *admission; /* Owned; NULL without findings. */
    bool unread;                 /* Result of decode_admission(): the policy has no rules. */
    bool protected;              /* Result of deletion_is_protected(). */
};

/* Callbacks of the row in the table of kinds (struct kind_def). */
void *override_decode(struct decode *d, const cJSON *json);
void override_release(struct intern *strings, void *object);
