/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/label_values.h"

const char *const policy_kind_names[] = {"PropagationPolicy", "ClusterPropagationPolicy"};

const char *const relation_names[] = {
    [RELATION_CLAIMED] = "claimed",
    [RELATION_SELECTED] = "selected",
    [RELATION_WON] = "won",
    [RELATION_EXCLUDED] = "excluded",
};

const char *const decided_by_names[] = {"kind", "priority", "selector", "name"};

const char *const scope_names[] = {"namespaced", "cluster"};

const char *const origin_names[BINDING_ORIGIN_COUNT] = {
    [ORIGIN_POLICY] = "policy",
    [ORIGIN_DEPENDENCY] = "dependency",
    [ORIGIN_BOTH] = "both",
    [ORIGIN_UNCLAIMED] = "unclaimed",
};

const char *const holder_names[] = {
    [HOLDER_TEMPLATE] = "template",
    [HOLDER_BINDING] = "binding",
};

const double duration_buckets[] = {0.00001, 0.0001, 0.0005, 0.001, 0.0025,
                                   0.005,   0.01,   0.025,  0.1,   0.5};

const double lag_buckets[] = {0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.5, 2.5, 7.5};

/* Kubernetes tells in whole seconds when objects were made. */
const double delay_buckets[] = {0.1,  0.5,   1.5,   2.5,   5.5,    10.5,   20.5,
                                60.5, 120.5, 300.5, 600.5, 1800.5, 3600.5, 7200.5};
