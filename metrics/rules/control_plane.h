/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/model/store.h"

/*
 * Properties of a Karmada control plane that the rules need: release, feature gates, and the kinds
 * that have not been read completely.
 */

/* ---- Karmada release: determines the behaviour that the rules expect ---- */

/*
 * Releases of Karmada that differ in behaviour, oldest first. A row has an enumerator and the name
 * that --karmada.version accepts. The last row stands for all later releases too.
 */
#define RELEASES(ROW)                                                                              \
    ROW(1_13, "1.13")                                                                              \
    ROW(1_14, "1.14")                                                                              \
    ROW(1_15, "1.15")                                                                              \
    ROW(1_16, "1.16")                                                                              \
    ROW(1_17, "1.17")                                                                              \
    ROW(1_18, "1.18")                                                                              \
    ROW(1_19_RC, "1.19.0-rc.0")                                                                    \
    ROW(1_19, "1.19")

#define RELEASE_ENUMERATOR(id, name) RELEASE_##id,
enum release {
    RELEASES(RELEASE_ENUMERATOR) RELEASE_COUNT,
    RELEASE_NEWEST = RELEASE_COUNT - 1,
    RELEASE_NEVER = RELEASE_COUNT, /* In tables: of no known release. */
};

/* Returns the name of a release, such as "1.18". */
const char *release_name(enum release release);

/* The way in which the exporter found the release of a control plane. */
enum release_origin {
    RELEASE_ASSUMED,   /* Without any evidence: the newest release. */
    RELEASE_GIVEN,     /* --karmada.version */
    RELEASE_OF_SERVER, /* Schemas of Karmada's kinds on the API server. */
    RELEASE_OF_FILES,  /* CustomResourceDefinitions in the files. */
    RELEASE_ORIGIN_COUNT,
};

/* The releases that a control plane may run. */
struct release_range {
    enum release oldest;
    enum release newest;
    enum release_origin origin;
    /* The API server drops excludedResources of policies: no release of Karmada has the field. */
    bool lacks_exclusions;
};

/*
 * Parses a release such as "1.15", "v1.15.2" or "v1.16.0-beta.0" to a range of one release; an
 * empty text is the newest release, assumed. A release outside the table is the nearest one; then
 * `*known` is false. Returns false and sets `err` for other texts.
 */
bool release_parse(const char *text, struct release_range *out, bool *known,
                   struct error *err) MUST_USE;

/* Returns the identifier of an origin in JSON and labels, such as "server". */
const char *release_origin_name(enum release_origin origin);

/* Appends the releases of a range, such as "1.18" or "1.15 to 1.16". */
void release_range_append(struct release_range range, struct strbuf *out);

/*
 * Appends the releases and their origin for people, such as "Karmada 1.15 to 1.16 (from the schemas
 * of the API server)".
 */
void release_range_describe(struct release_range range, struct strbuf *out);

/*
 * Appends the warning about a value of --karmada.version for which release_parse() has set `*known`
 * to false: `text` is the value, `range` the result.
 */
void release_warn_unknown(const char *text, struct release_range range, struct strbuf *out);

/*
 * Behaviours of Karmada that differ between releases. A row has an enumerator, the first release
 * with the behaviour, and the behaviour of that release and of the releases before it. This table
 * is the only place that compares releases.
 */
#define BEHAVIOURS(ROW)                                                                            \
    ROW(ANY_ZONE, 1_18, "operator In on zones: one listed zone of the cluster suffices",           \
        "operator In on zones: all zones of the cluster must be listed")                           \
    ROW(WEBSTER_DIVISION, 1_16, "replicas are divided by the Webster method",                      \
        "the remainder of a division goes to the largest weights, then by lot")                    \
    ROW(ZERO_REPLICAS_NOWHERE, 1_16, "a workload with 0 replicas is placed in no cluster",         \
        "a workload with 0 replicas is placed in every candidate cluster")                         \
    ROW(INTERPRETS_REPLICA_SETS, 1_16, "a ReplicaSet has replicas to divide",                      \
        "a ReplicaSet is propagated without regard to its replicas")                               \
    ROW(DUPLICATES_COMPONENTS, 1_16,                                                               \
        "a workload with several components is placed whole in each cluster",                      \
        "the replicas of a workload with several components are divided")                          \
    ROW(SCALES_DOWN_CANDIDATES, 1_17,                                                              \
        "scaling down counts only present targets that are still candidates",                      \
        "scaling down counts all present targets")                                                 \
    ROW(KEEPS_LOST_API, 1_15, "a target that lost the API of the template stays a target",         \
        "a target that lost the API of the template is removed")                                   \
    ROW(LEAVES_DELETING_CLUSTER, 1_14, "divided replicas leave a cluster that is being deleted",   \
        "divided replicas stay in a cluster that is being deleted")                                \
    ROW(SCORES_FULL_GROUPS, 1_14,                                                                  \
        "spreading by region works if no cluster has the capacity for all replicas",               \
        "the scheduler panics if a region has no cluster with the capacity for all replicas")      \
    ROW(OVERFLOW_AFFINITIES, 1_18, "overflowAffinities apply",                                     \
        "the field overflowAffinities does not exist")                                             \
    ROW(WORKLOAD_AFFINITY, 1_17, "workloadAffinity applies",                                       \
        "the field workloadAffinity does not exist")                                               \
    ROW(REBALANCES_FROM_FIRST_GROUP, 1_19_RC,                                                      \
        "a WorkloadRebalancer starts at the first affinity group",                                 \
        "a WorkloadRebalancer starts at the affinity group in use")                                \
    ROW(RESCHEDULES_COMPONENTS, 1_16,                                                              \
        "a binding with several components and no clusters is scheduled again",                    \
        "a binding with several components and no clusters is not scheduled again")                \
    ROW(RESCHEDULES_ONE_COMPONENT, 1_18, "a binding with one component is scheduled again",        \
        "a binding with one component is not scheduled again")                                     \
    ROW(RESOLVES_DEPENDENCIES, 1_16,                                                               \
        "different values that referrers request for a dependency are resolved",                   \
        "a dependency gets the values of the referrer that was reconciled last")                   \
    ROW(KEEPS_OWN_PRESERVE, 1_16,                                                                  \
        "a dependency with its own policy keeps its preserveResourcesOnDeletion",                  \
        "a referrer overwrites preserveResourcesOnDeletion of a dependency with its own policy")   \
    ROW(REQUIRES_ALL_REFERRERS, 1_16,                                                              \
        "a dependency with a referrer that does not exist is not written",                         \
        "referrers that do not exist are ignored")                                                 \
    ROW(EVICTS_WITH_GATE, 1_14, "NoExecute taints evict templates only with the gate Failover",    \
        "NoExecute taints always evict templates")                                                 \
    ROW(TAINTS_BY_POLICY, 1_14,                                                                    \
        "a lost cluster gets NoExecute taints only from ClusterTaintPolicies",                     \
        "a lost cluster gets a NoExecute taint after 5 minutes, with the gate Failover")           \
    ROW(NO_DEFAULT_TOLERATIONS, 1_15, "the webhook adds no tolerations to a policy",               \
        "the webhook adds tolerations of 300 s for not-ready and unreachable clusters")            \
    ROW(PURGES_GRACEFULLY, 1_15, "gracePeriodSeconds belongs to purgeMode Gracefully",             \
        "gracePeriodSeconds does not belong to purgeMode Gracefully")                              \
    ROW(FORGETS_GRACIOUSLY, 1_19_RC, "gracePeriodSeconds does not belong to purgeMode Graciously", \
        "gracePeriodSeconds belongs to purgeMode Graciously")                                      \
    ROW(CHECKS_STATE_PRESERVATION, 1_15, "the webhook validates aliasLabelName",                   \
        "the webhook does not validate aliasLabelName")                                            \
    ROW(CHECKS_SELECTOR_NAMESPACE, 1_17,                                                           \
        "the webhook refuses selectors of another namespace than the policy's",                    \
        "the webhook accepts selectors of another namespace than the policy's")                    \
    ROW(REFUSES_COMPARING_TOLERATIONS, 1_18, "the webhook refuses tolerations with Lt and Gt",     \
        "the webhook accepts tolerations with Lt and Gt")                                          \
    ROW(REQUIRES_FIELD_PATCHES, 1_18,                                                              \
        "the webhook refuses a fieldOverrider without json and yaml",                              \
        "the webhook accepts a fieldOverrider without json and yaml")

#define BEHAVIOUR_ENUMERATOR(id, since, now, before) BEHAVIOUR_##id,
enum behaviour { BEHAVIOURS(BEHAVIOUR_ENUMERATOR) BEHAVIOUR_COUNT };

/* Returns true if a release has the behaviour. */
bool release_has(enum release release, enum behaviour behaviour);

/*
 * Returns a release that has all behaviours of `base` except one, which is inverted. Only
 * release_has() and the functions that read a release by it accept the result
 * (rules/scheduling/scheduling.h).
 */
enum release release_inverting(enum release base, enum behaviour behaviour);

/* Set of behaviours, bits by enum behaviour. */
typedef uint64_t behaviour_set;
_Static_assert((unsigned)BEHAVIOUR_COUNT <= 64, "a bit for each behaviour");

/* Returns the behaviours in which two releases differ. */
behaviour_set behaviours_that_differ(enum release a, enum release b);

/* Appends the identifier of a behaviour in JSON and text, such as "webster_division". */
void behaviour_append_name(enum behaviour behaviour, struct strbuf *out);

/* Answer of a rule for all releases of a range. */
enum release_answer {
    RELEASE_ANSWER_NO,
    RELEASE_ANSWER_YES,
    RELEASE_ANSWER_DIFFERS, /* Some of the releases have the behaviour, some do not. */
};

/* Set of releases, bits by enum release: those with the behaviour, and those of a range. */
release_set behaviour_releases(enum behaviour behaviour);
release_set release_range_set(struct release_range range);

enum release_answer release_range_has(struct release_range range, enum behaviour behaviour);

/*
 * Returns whether Karmada reads replicas and requests of the kind (Karmada:
 * getAllDefaultReplicaInterpreter); RELEASE_ANSWER_NO for custom kinds.
 */
enum release_answer interprets_replicas(const char *api_version, const char *kind,
                                        struct release_range range);

/* Returns the first release with the behaviour. */
enum release behaviour_since(enum behaviour behaviour);

/* Returns the sentence part that describes a behaviour: with it (`has`), or before it. */
const char *behaviour_text(enum behaviour behaviour, bool has);

/* ---- feature gates ---- */

/*
 * Karmada's feature gates (Karmada: pkg/features). No API object shows which are on. A row has the
 * enumerator, the name, the first release with the gate, its stage and default from that release
 * on, and the first release with a second stage and default, which follow.
 */
#define GATES(GATE)                                                                                \
    GATE(CONTEXTUAL_LOGGING, "ContextualLogging", 1_15, BETA, true, NEVER, BETA, true)             \
    GATE(CONTROLLER_PRIORITY_QUEUE, "ControllerPriorityQueue", 1_15, ALPHA, false, 1_17, BETA,     \
         true)                                                                                     \
    GATE(CUSTOMIZED_CLUSTER_RESOURCE_MODELING, "CustomizedClusterResourceModeling", 1_13, BETA,    \
         true, NEVER, BETA, true)                                                                  \
    GATE(FAILOVER, "Failover", 1_13, BETA, false, NEVER, BETA, false)                              \
    GATE(FEDERATED_QUOTA_ENFORCEMENT, "FederatedQuotaEnforcement", 1_14, ALPHA, false, NEVER,      \
         ALPHA, false)                                                                             \
    GATE(GRACEFUL_EVICTION, "GracefulEviction", 1_13, BETA, true, NEVER, BETA, true)               \
    GATE(LOGGING_ALPHA_OPTIONS, "LoggingAlphaOptions", 1_15, ALPHA, false, NEVER, ALPHA, false)    \
    GATE(LOGGING_BETA_OPTIONS, "LoggingBetaOptions", 1_15, BETA, true, NEVER, BETA, true)          \
    GATE(MULTI_CLUSTER_SERVICE, "MultiClusterService", 1_13, ALPHA, false, NEVER, ALPHA, false)    \
    GATE(MULTIPLE_POD_TEMPLATES, "MultiplePodTemplatesScheduling", 1_15, ALPHA, false, NEVER,      \
         ALPHA, false)                                                                             \
    GATE(PRIORITY_BASED_SCHEDULING, "PriorityBasedScheduling", 1_13, ALPHA, false, 1_19, BETA,     \
         true)                                                                                     \
    GATE(PROPAGATE_DEPS, "PropagateDeps", 1_13, BETA, true, NEVER, BETA, true)                     \
    GATE(PREEMPTION, "PropagationPolicyPreemption", 1_13, ALPHA, false, NEVER, ALPHA, false)       \
    GATE(RESOURCE_QUOTA_ESTIMATE, "ResourceQuotaEstimate", 1_13, ALPHA, false, NEVER, ALPHA,       \
         false)                                                                                    \
    GATE(SCHEDULING_OVERCOMMIT_PROTECTION, "SchedulingOvercommitProtection", 1_18, ALPHA, false,   \
         NEVER, ALPHA, false)                                                                      \
    GATE(STATEFUL_FAILOVER_INJECTION, "StatefulFailoverInjection", 1_13, ALPHA, false, NEVER,      \
         ALPHA, false)                                                                             \
    GATE(WORKLOAD_AFFINITY, "WorkloadAffinity", 1_17, ALPHA, false, NEVER, ALPHA, false)

#define GATE_ENUMERATOR(id, name, since, stage, on, later, later_stage, later_on) GATE_##id,
enum gate { GATES(GATE_ENUMERATOR) GATE_COUNT };

/* Set of feature gates that are on, bits by enum gate. */
typedef uint32_t gate_set;

/* Returns Karmada's name of a gate. */
const char *gate_name(enum gate gate);

/*
 * Parses "Name=true,Other=false" like --feature-gates of Karmada's components of one release.
 * AllAlpha and AllBeta set the gates that have the stage in this release and that the text does not
 * name; all other gates have their default. Unknown names, and gates that the release lacks, are
 * ignored. Returns false and sets `err` if an element is not a name and a boolean.
 */
bool gates_parse(const char *text, enum release release, gate_set *out, struct error *err) MUST_USE;

/*
 * Returns the release with the gates and defaults that the rules use for a range: the newest one.
 * Until --karmada.feature-gates names the gate, a gate with different defaults inside the range has
 * that of the newest release.
 */
static inline enum release gates_release(struct release_range range)
{
    return range.newest;
}

/*
 * Returns the next unknown name in a text for gates_parse() and stores its length; NULL at the end.
 * Start with `*at` at the beginning of the text; each call advances `*at`.
 */
const char *gates_next_unknown(const char **at, size_t *len);

/*
 * Advances `*at` behind the next gate in a text for gates_parse() that a release does not have yet.
 * Returns false at the end, else stores the gate.
 */
bool gates_next_foreign(const char **at, enum release release, enum gate *out);

/* Returns the first release that has the gate; the oldest known one if earlier releases had it. */
enum release gate_since(enum gate gate);

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
