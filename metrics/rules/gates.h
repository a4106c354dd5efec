/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Karmada's feature gates, under its own names and with the defaults of release 1.19: no object
 * says how they are set (Karmada: pkg/features). A row is a gate's enumerator, its name, its
 * stage, and whether it is on by default.
 */
#define GATES(GATE)                                                                                \
    GATE(CONTROLLER_PRIORITY_QUEUE, "ControllerPriorityQueue", BETA, true)                         \
    GATE(CUSTOMIZED_CLUSTER_RESOURCE_MODELING, "CustomizedClusterResourceModeling", BETA, true)    \
    GATE(FAILOVER, "Failover", BETA, false)                                                        \
    GATE(FEDERATED_QUOTA_ENFORCEMENT, "FederatedQuotaEnforcement", ALPHA, false)                   \
    GATE(GRACEFUL_EVICTION, "GracefulEviction", BETA, true)                                        \
    GATE(MULTI_CLUSTER_SERVICE, "MultiClusterService", ALPHA, false)                               \
    GATE(MULTIPLE_POD_TEMPLATES, "MultiplePodTemplatesScheduling", ALPHA, false)                   \
    GATE(PRIORITY_BASED_SCHEDULING, "PriorityBasedScheduling", BETA, true)                         \
    GATE(PROPAGATE_DEPS, "PropagateDeps", BETA, true)                                              \
    GATE(PREEMPTION, "PropagationPolicyPreemption", ALPHA, false)                                  \
    GATE(RESOURCE_QUOTA_ESTIMATE, "ResourceQuotaEstimate", ALPHA, false)                           \
    GATE(STATEFUL_FAILOVER_INJECTION, "StatefulFailoverInjection", ALPHA, false)                   \
    GATE(WORKLOAD_AFFINITY, "WorkloadAffinity", ALPHA, false)

#define GATE_ENUMERATOR(id, name, stage, fallback) GATE_##id,
enum gate { GATES(GATE_ENUMERATOR) GATE_COUNT };

/* Bits by enum gate. */
typedef uint32_t gate_set;

/*
 * Parse "Name=true,Other=false" as Karmada's --feature-gates: what is not named is as by default;
 * AllAlpha and AllBeta stand for all gates of a stage, and one that is named itself goes before
 * them. "" are the defaults. False with the reason.
 */
bool gates_parse(const char *text, gate_set *out, struct error *err) MUST_USE;

static inline bool gate_is_on(gate_set gates, enum gate gate)
{
    return gates & 1U << gate;
}
