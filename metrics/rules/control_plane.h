/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/model/store.h"

/*
 * Properties of a Karmada control plane that the rules need: release, feature gates, and the kinds
 * that have not been read completely.
 */

/* ---- Karmada release: determines the behaviour that the rules expect ---- */

struct release {
    unsigned major; /* 0 if unknown; the newest behaviour is expected then. */
    unsigned minor;
};

/*
 * Parses a release such as "1.15", "v1.15.2" or "v1.16.0-beta.0"; an empty text is an unknown
 * release. Returns false and sets `err` for other texts.
 */
bool release_parse(const char *text, struct release *out, struct error *err) MUST_USE;

/*
 * Returns true if Karmada resolves different values that referrers request for a dependency: from
 * 1.16 on, and for an unknown release. Older releases apply the value of the last referrer.
 */
bool release_resolves_dependencies(struct release release);

/* ---- feature gates ---- */

/*
 * Karmada's feature gates (Karmada: pkg/features) with the defaults of release 1.19. No API
 * object shows which are on. A row has the enumerator, the name, the stage and the default.
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

#define GATE_ENUMERATOR(id, name, stage, default_on) GATE_##id,
enum gate { GATES(GATE_ENUMERATOR) GATE_COUNT };

/* Set of feature gates that are on, bits by enum gate. */
typedef uint32_t gate_set;

/* Returns Karmada's name of a gate. */
const char *gate_name(enum gate gate);

/*
 * Parses "Name=true,Other=false" like --feature-gates of Karmada's components. AllAlpha and AllBeta
 * set the gates of a stage that the text does not name; all other gates have their default. Unknown
 * names are ignored. Returns false and sets `err` if an element is not a name and a boolean.
 */
bool gates_parse(const char *text, gate_set *out, struct error *err) MUST_USE;

/*
 * Returns the next unknown name in a text for gates_parse() and stores its length; NULL at the end.
 * Start with `*at` at the beginning of the text; each call advances `*at`.
 */
const char *gates_next_unknown(const char **at, size_t *len);

static inline bool gate_is_on(gate_set gates, enum gate gate)
{
    return gates & 1U << gate;
}

/* ---- incomplete kinds ---- */

/*
 * Kinds with objects that have not been read yet. The rules make no decision about objects of such
 * a kind, and draw no conclusion from a missing one.
 */
struct incomplete {
    struct intern *strings; /* Borrowed. */
    struct incomplete_kind {
        const char *api_version; /* Interned in `strings`. */
        const char *kind;        /* Interned in `strings`. */
    } * items;
    size_t count;
};

void incomplete_init(struct incomplete *i, struct intern *strings);
void incomplete_release(struct incomplete *i);

/* Adds a kind if `incomplete` is true, else removes it. Returns false if nothing changed. */
bool incomplete_set(struct incomplete *i, const char *api_version, const char *kind,
                    bool incomplete);

/* Returns true if objects of the kind are still to be read: a missing object proves nothing. */
bool incomplete_has(const struct incomplete *i, const char *api_version, const char *kind);
/* Returns incomplete_has() for a type of the store that owns `strings`; compares no texts. */
bool incomplete_has_type(const struct incomplete *i, const struct type *type);
/* Returns the classes of all incomplete kinds, bits by object_class. */
unsigned incomplete_classes(const struct incomplete *i);
