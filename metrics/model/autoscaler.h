/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * Objects that scale a workload: HorizontalPodAutoscalers, which Karmada propagates to member
 * clusters, and Karmada's FederatedHPAs, which scale templates (Karmada: FHPAController).
 */

/* Label of a template with the value "true": Karmada keeps the replicas in member clusters. */
#define RETAIN_REPLICAS_LABEL "resourcetemplate.karmada.io/retain-replicas"

/* An autoscaler and the workload in its namespace that it scales. Interned texts. */
struct autoscaler {
    const char *api_version; /* Of the workload, in any version. */
    const char *kind;
    const char *name;
    int64_t changed_ms; /* Last change by a user; 0 if unknown. */
    bool deleting;
};

/* Returns true for HorizontalPodAutoscalers. The rules need their spec. */
bool is_autoscaler_kind(const char *api_version, const char *kind);

/*
 * Returns the autoscaler with the target in spec.scaleTargetRef; NULL without a complete target,
 * such as in metadata alone. Free it with autoscaler_release().
 */
struct autoscaler *autoscaler_decode(struct decode *d, const cJSON *json);
/* Accepts NULL. */
void autoscaler_release(struct intern *strings, struct autoscaler *a);

/* Returns true if both scale the same workload at all times. Both may be NULL. */
bool autoscaler_equal(const struct autoscaler *a, const struct autoscaler *b);
