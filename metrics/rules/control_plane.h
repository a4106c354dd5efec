/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/model/store.h"

/* A release of Karmada: what it does not do yet is not held against it. */
struct release {
    unsigned major; /* 0: not known, which counts as the newest. */
    unsigned minor;
};

/*
 * Parse "1.15", "v1.15.2" or "v1.16.0-beta.0", as Karmada names its releases; "" is not known.
 * False with the reason.
 */
bool release_parse(const char *text, struct release *out, struct error *err) MUST_USE;

/* True if it resolves what referrers want of a dependency: from 1.16 on. Before, the last wins. */
bool release_resolves_dependencies(struct release release);

/*
 * Karmada's feature gates, under its own names and with the defaults of release 1.19: no object
 * says how they are set (Karmada: pkg/features). A row is a gate's enumerator, its name, its
 * stage, and whether it is on by default.
 */
#define GATES(GATE)                                                                                \
    GATE(CONTEXTUAL_LOGGING, "ContextualLogging", BETA, true)                                      \
    GATE(CONTROLLER_PRIORITY_QUEUE, "ControllerPriorityQueue", BETA, true)                         \
    GATE(CUSTOMIZED_CLUSTER_RESOURCE_MODELING, "CustomizedClusterResourceModeling", BETA, true)    \
    GATE(FAILOVER, "Failover", BETA, false)                                                        \
    GATE(FEDERATED_QUOTA_ENFORCEMENT, "FederatedQuotaEnforcement", ALPHA, false)                   \
    GATE(GRACEFUL_EVICTION, "GracefulEviction", BETA, true)                                        \
    GATE(LOGGING_ALPHA_OPTIONS, "LoggingAlphaOptions", ALPHA, false)                               \
    GATE(LOGGING_BETA_OPTIONS, "LoggingBetaOptions", BETA, true)                                   \
    GATE(MULTI_CLUSTER_SERVICE, "MultiClusterService", ALPHA, false)                               \
    GATE(MULTIPLE_POD_TEMPLATES, "MultiplePodTemplatesScheduling", ALPHA, false)                   \
    GATE(PRIORITY_BASED_SCHEDULING, "PriorityBasedScheduling", BETA, true)                         \
    GATE(PROPAGATE_DEPS, "PropagateDeps", BETA, true)                                              \
    GATE(PREEMPTION, "PropagationPolicyPreemption", ALPHA, false)                                  \
    GATE(RESOURCE_QUOTA_ESTIMATE, "ResourceQuotaEstimate", ALPHA, false)                           \
    GATE(SCHEDULING_OVERCOMMIT_PROTECTION, "SchedulingOvercommitProtection", ALPHA, false)         \
    GATE(STATEFUL_FAILOVER_INJECTION, "StatefulFailoverInjection", ALPHA, false)                   \
    GATE(WORKLOAD_AFFINITY, "WorkloadAffinity", ALPHA, false)

#define GATE_ENUMERATOR(id, name, stage, fallback) GATE_##id,
enum gate { GATES(GATE_ENUMERATOR) GATE_COUNT };

/* Bits by enum gate. */
typedef uint32_t gate_set;

/* Returns Karmada's name of a gate. */
const char *gate_name(enum gate gate);

/*
 * Parses "Name=true,Other=false" as --feature-gates of Karmada's components: a gate that the text
 * does not name has its default; AllAlpha and AllBeta set all gates of a stage that the text does
 * not name. An unknown name changes nothing. Returns false, with the reason, if an element is not a
 * name and a boolean.
 */
bool gates_parse(const char *text, gate_set *out, struct error *err) MUST_USE;

/*
 * Returns the next name in a text of gates_parse() that is no gate, and its length; NULL at the
 * end. `*at` is the text at first, and moves on.
 */
const char *gates_next_unknown(const char **at, size_t *len);

static inline bool gate_is_on(gate_set gates, enum gate gate)
{
    return gates & 1U << gate;
}

/*
 * The kinds of which not all objects have been read yet: a source goes on without them. What is
 * missing of such a kind may well exist, and what is there is only a part: nothing is concluded
 * from either.
 */
struct incomplete {
    struct intern *strings; /* Borrowed. */
    struct incomplete_kind {
        const char *api_version; /* Shared, as is the kind. */
        const char *kind;
    } * items;
    size_t count;
};

void incomplete_init(struct incomplete *i, struct intern *strings);
void incomplete_release(struct incomplete *i);

/* True if that changes anything. */
bool incomplete_set(struct incomplete *i, const char *api_version, const char *kind,
                    bool incomplete);

/* Is the kind one of them? */
bool incomplete_has(const struct incomplete *i, const char *api_version, const char *kind);
/* The same of a type of the store that the strings are of: it compares no texts. */
bool incomplete_has_type(const struct incomplete *i, const struct type *type);
/* Their classes, a bit for each enum object_class. */
unsigned incomplete_classes(const struct incomplete *i);
