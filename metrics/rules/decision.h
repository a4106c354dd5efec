/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/selector.h"

/*
 * Which of the policies that select a template wins (product contract 3.1;
 * Karmada: getHighestPriorityPropagationPolicy, propagateResource).
 */

/* A policy that selects a template, eligible or not. */
struct candidate {
    struct entry *policy;
    enum selector_score score;
    bool excluded; /* One of the policy's exclusion rules matches too. */
    bool deleting; /* A policy that is being deleted no longer gets templates. */
};

/* What decides between two candidates, strongest first. */
enum rank_step {
    RANK_ELIGIBLE, /* The loser excludes the template or is being deleted. */
    RANK_KIND,     /* PropagationPolicy before ClusterPropagationPolicy. */
    RANK_PRIORITY,
    RANK_SELECTOR,
    RANK_NAME,
};

static inline bool candidate_eligible(const struct candidate *c)
{
    return !c->excluded && !c->deleting;
}

/* Negative if `a` ranks before `b`; `step`, unless NULL, is what decides. */
int candidate_compare(const struct candidate *a, const struct candidate *b, enum rank_step *step);

/* Best first; those that are not eligible come last. */
void candidates_sort(struct candidate *candidates, size_t count);

/*
 * The stages of a template's way from its match to health, and the reasons why it is in one
 * (product contract 3.8). A row is its enumerator, its word for programs and a sentence for people;
 * of several that hold the first one counts, of stages as of reasons.
 */
#define STAGES(ROW)                                                                                \
    ROW(UNMATCHED, "unmatched", "No policy governs it.")                                           \
    ROW(UNBOUND, "unbound", "A policy governs it, and it has no binding.")                         \
    ROW(OUTDATED, "outdated", "Its binding is not what its policy and its template say now.")      \
    ROW(EVICTING, "evicting", "Karmada moves it off a member cluster.")                            \
    ROW(UNSCHEDULED, "unscheduled", "The scheduler has not placed it as it is now.")               \
    ROW(PLACED_NOWHERE, "placed_nowhere", "It is to be in no member cluster.")                     \
    ROW(UNDISPATCHED, "undispatched", "It was not handed to a member cluster.")                    \
    ROW(UNAPPLIED, "unapplied", "A member cluster did not take it.")                               \
    ROW(UNDELIVERED, "undelivered", "A member cluster runs an older version of it.")               \
    ROW(UNHEALTHY, "unhealthy", "It is not healthy in a member cluster.")                          \
    ROW(UNREACHABLE, "unreachable", "It was healthy, in a member cluster that is not ready now.")  \
    ROW(HEALTHY, "healthy", "Its newest version is healthy in all its member clusters.")

#define STAGE_ENUMERATOR(id, word, text) STAGE_##id,
enum stage {
    STAGES(STAGE_ENUMERATOR) STAGE_COUNT,
    STAGE_NONE = STAGE_COUNT, /* Of the delivery of a template without a binding. */
};

#define STAGE_REASONS(ROW)                                                                         \
    ROW(NONE, "", "")                                                                              \
    ROW(IGNORED, "ignored", "Karmada does not consider it.")                                       \
    ROW(LEFT_BEHIND_CHANGED, "left_behind_changed",                                                \
        "What runs is left of a policy that is gone, and it was changed since: a restart of "      \
        "Karmada's controllers delivers that.")                                                    \
    ROW(LEFT_BEHIND, "left_behind", "What runs is left of a policy that is gone.")                 \
    ROW(NO_POLICY, "no_policy", "No policy selects it.")                                           \
    ROW(LAZY, "lazy", "Its policy is Lazy: it is bound at its next change.")                       \
    ROW(OVERRIDE_MISSING, "override_missing",                                                      \
        "An override policy that its policy depends on does not exist.")                           \
    ROW(NAMESAKE, "namesake", "The binding of a deleted object of its name is in the way.")        \
    ROW(PRIORITY_CLASS_MISSING, "priority_class_missing",                                          \
        "The PriorityClass that its policy names does not exist.")                                 \
    ROW(STUCK, "stuck", "It is claimed, and Karmada made no binding in time.")                     \
    ROW(NOT_CLAIMED, "not_claimed", "Karmada did not claim it in time.")                           \
    ROW(POLICY_UPDATED, "policy_updated", "Its policy changed.")                                   \
    ROW(POLICY_REPLACED, "policy_replaced", "Another policy governs it now.")                      \
    ROW(SELECTOR_MISMATCH, "selector_mismatch", "Its policy does not select it any more.")         \
    ROW(POLICY_GONE, "policy_gone", "Its policy does not exist any more.")                         \
    ROW(TEMPLATE_UPDATED, "template_updated", "Its last change is not in its binding.")            \
    ROW(LAST_COPY, "last_copy",                                                                    \
        "No other cluster takes it: its only copy goes when the eviction times out.")              \
    ROW(PURGE_BLOCKED, "purge_blocked",                                                            \
        "Nothing runs before the copy on a cluster that does not answer is gone.")                 \
    ROW(RESCHEDULING, "rescheduling", "The scheduler looks for another cluster.")                  \
    ROW(REPLACING, "replacing", "The copy goes once those in the other clusters are healthy.")     \
    ROW(SUSPENDED, "suspended", "It is suspended.")                                                \
    ROW(NO_CLUSTER_FIT, "no_cluster_fit",                                                          \
        "No cluster fits its placement; what ran elsewhere is deleted.")                           \
    ROW(UNSCHEDULABLE, "unschedulable", "The clusters have not enough capacity for it.")           \
    ROW(QUOTA_EXCEEDED, "quota_exceeded", "A FederatedResourceQuota does not allow it.")           \
    ROW(SCHEDULER_ERROR, "scheduler_error", "The scheduler could not place it.")                   \
    ROW(OTHER_SCHEDULER, "other_scheduler", "Another scheduler than Karmada's is to place it.")    \
    ROW(NO_REPLICAS, "no_replicas", "It has no replicas to place.")                                \
    ROW(REFERRER, "referrer", "What requires it is placed nowhere.")                               \
    ROW(CLUSTER_NOT_READY, "cluster_not_ready", "The member cluster is not ready.")                \
    ROW(OVERRIDE_FAILED, "override_failed", "An override policy fails on it.")                     \
    ROW(WORK_MISSING, "work_missing", "Karmada has made no Work for the cluster.")                 \
    ROW(WORK_DELETING, "work_deleting",                                                            \
        "Its Work for the cluster is being deleted, and what runs with it.")                       \
    ROW(WORK_OUTDATED, "work_outdated", "Its Work for the cluster is of an older version.")        \
    ROW(ALREADY_EXISTS, "already_exists",                                                          \
        "An object of its name is there already, and not Karmada's.")                              \
    ROW(REFUSED, "refused", "The member cluster's API server refuses it.")                         \
    ROW(ROLLING, "rolling", "The member cluster is rolling it out.")                               \
    ROW(UNAVAILABLE, "unavailable", "The member cluster calls it unhealthy.")                      \
    ROW(UNKNOWN, "unknown", "Nothing is known of its health yet.")                                 \
    ROW(WAITING, "waiting", "Karmada has not come to it yet.")                                     \
    ROW(OTHER, "other", "For a reason that this version does not know.")

#define STAGE_REASON_ENUMERATOR(id, word, text) WHY_##id,
enum stage_reason { STAGE_REASONS(STAGE_REASON_ENUMERATOR) STAGE_REASON_COUNT };

extern const char *const stage_names[STAGE_COUNT];
extern const char *const stage_texts[STAGE_COUNT];
extern const char *const stage_reason_names[STAGE_REASON_COUNT];
extern const char *const stage_reason_texts[STAGE_REASON_COUNT];

/* True if a template in the stage may be there for this reason; NONE is for stages without any. */
bool stage_has_reason(enum stage stage, enum stage_reason reason);

/* A stage and why: two bytes, because there is one for each target of each binding. */
struct __attribute__((packed)) stage_and_reason {
    enum stage stage : 8;
    enum stage_reason reason : 8;
};
static_assert(sizeof(struct stage_and_reason) == 2, "two bytes");

/* Where a template is on its way, beside its state. */
struct template_stages {
    struct stage_and_reason at;
    /* The first stage from EVICTING on that holds of its binding; STAGE_NONE without one. */
    struct stage_and_reason delivery;
    uint32_t since_s;          /* Of `at`; 0 if no object says. */
    uint32_t delivery_since_s; /* Likewise. */
};

/*
 * Whether the last change that a user made to a template is in its binding (product contract
 * 3.9). Pure, and without a clock: whether Karmada still had time for it is asked elsewhere.
 */
enum change_applied {
    CHANGE_UNKNOWN, /* No proof of either. */
    CHANGE_APPLIED,
    CHANGE_NOT_APPLIED,
};

/* Of a template and the binding that a policy made for it, which is its own. */
enum change_applied change_applied_to(const struct entry *template, const struct binding *b);

/*
 * The same of a template that no policy claims any more. Karmada's taking the claim back was no
 * user's change, so what runs may be older than the template by that.
 */
enum change_applied change_applied_to_orphan(const struct entry *template, const struct binding *b);

/*
 * What the rules conclude about one object. A decision belongs to its entry (`entry->decision`);
 * the exposition, the report and the explanations read decisions and never apply a rule
 * themselves. Enumerators are listed everywhere in the order in which they stand here; the
 * tables ..._names hold their label values.
 */

enum template_state {
    STATE_CURRENT,
    STATE_STALE,
    STATE_ORPHANED,
    STATE_PENDING,
    STATE_UNBOUND,
    STATE_ATTACHED,
    STATE_IGNORED,
    STATE_COUNT,
};

enum stale_reason {
    STALE_POLICY_UPDATED,
    STALE_POLICY_REPLACED,
    STALE_SELECTOR_MISMATCH,
    STALE_POLICY_GONE,
    STALE_NEVER_BOUND,
    STALE_TEMPLATE_UPDATED, /* A user's change of the template is not in its binding. */
    STALE_REASON_COUNT,
};

enum stale_phase { PHASE_DEFERRED, PHASE_OVERDUE, PHASE_COUNT };

enum pending_reason {
    PENDING_NO_MATCH,
    PENDING_EXCLUDED,
    PENDING_POLICY_GONE,
    PENDING_OVERRIDE_MISSING,
    PENDING_POLICY_DELETING,
    PENDING_KIND_NOT_SELECTED,
    PENDING_REASON_COUNT,
};

enum unbound_reason {
    UNBOUND_NAMESAKE, /* A binding of a deleted object of its name is in the way. */
    UNBOUND_PRIORITY_CLASS_MISSING,
    UNBOUND_STUCK, /* Claimed, and Karmada has made no binding in time. */
    UNBOUND_WAITING,
    UNBOUND_REASON_COUNT,
};

enum ignored_reason {
    IGNORED_RESERVED_NAMESPACE,
    IGNORED_SKIPPED_NAMESPACE,
    IGNORED_SKIPPED_API,
    IGNORED_SYSTEM_OBJECT,
    IGNORED_CLAIMED_BY,
    IGNORED_REASON_COUNT,
};

/*
 * What is so of a template beside its state; bits by this order. A row is its enumerator, its word
 * for programs and a sentence for people.
 */
#define TEMPLATE_FLAGS(ROW)                                                                        \
    /* An orphan: its changes travel with those that require it. */                                \
    ROW(REQUIRED, "required", "Others require it, so that its changes travel with them.")          \
    /* The scheduler uses another group of clusterAffinities than the first. */                    \
    ROW(FALLBACK, "fallback",                                                                      \
        "It runs on a fallback: not in the first group of its affinities. Karmada does not move "  \
        "it back by itself: a WorkloadRebalancer asks for that.")                                  \
    ROW(KEPT, "kept", "It is not scheduled as it is now, and still runs where it did.")            \
    ROW(OFF_PLACEMENT, "off_placement", "It runs in a cluster that its placement does not allow.") \
    /* suppressDeletion of an eviction task */                                                     \
    ROW(TWO_COPIES_HELD, "two_copies_held",                                                        \
        "An evicted copy is kept beside its replacement until a person decides.")                  \
    /* Karmada: the dependencies distributor knows no ClusterResourceBinding. */                   \
    ROW(DEPENDENCIES_STAY, "dependencies_not_propagated",                                          \
        "propagateDeps of its policy has no effect: the dependencies of a cluster-scoped object "  \
        "are not propagated.")

#define TEMPLATE_FLAG_ENUMERATOR(id, word, text) FLAG_##id,
enum template_flag { TEMPLATE_FLAGS(TEMPLATE_FLAG_ENUMERATOR) TEMPLATE_FLAG_COUNT };

enum drift_field {
    FIELD_PLACEMENT,
    FIELD_CONFLICT_RESOLUTION,
    FIELD_PRESERVE,
    FIELD_PROPAGATE_DEPS,
    FIELD_FAILOVER,
    FIELD_SUSPENSION,
    FIELD_SCHEDULER_NAME,
    FIELD_SCHEDULE_PRIORITY,
    DRIFT_FIELD_COUNT,
};

/* The fields that referrers of a dependency vote on (seed 000). */
enum dependency_field {
    DEPENDENCY_CONFLICT_RESOLUTION,
    DEPENDENCY_PRESERVE,
    DEPENDENCY_FIELD_COUNT
};

extern const char *const state_names[STATE_COUNT];
extern const char *const stale_reason_names[STALE_REASON_COUNT];
extern const char *const phase_names[PHASE_COUNT];
extern const char *const pending_reason_names[PENDING_REASON_COUNT];
extern const char *const unbound_reason_names[UNBOUND_REASON_COUNT];
extern const char *const ignored_reason_names[IGNORED_REASON_COUNT];
extern const char *const template_flag_names[TEMPLATE_FLAG_COUNT];
/* One sentence for people. */
extern const char *const template_flag_texts[TEMPLATE_FLAG_COUNT];
extern const char *const drift_field_names[DRIFT_FIELD_COUNT];
extern const char *const dependency_field_names[DEPENDENCY_FIELD_COUNT];

/* The reason's name for the state that the decision has; NULL for states without one. */
const char *reason_name(enum template_state state, unsigned reason);
/* True if a template of some state can have a reason of this name. */
bool reason_exists(const char *name);

/*
 * What one referrer wants, per field: false stands for Abort and for false, true for Overwrite
 * and for true. If any referrer wants true, true wins.
 */
struct dependency_values {
    bool wants[DEPENDENCY_FIELD_COUNT];
};

/* The text of a value in reports: "Abort", "Overwrite", "false", "true". */
const char *dependency_value_name(enum dependency_field field, bool value);

struct field_resolution {
    bool conflict;           /* Both values are wanted. */
    bool resolved;           /* The value that the rules give. */
    bool stored;             /* The value that the binding has. */
    bool unapplied;          /* The stored value is not the resolved one. */
    bool unsupported;        /* Nor is it to be: this release of Karmada does not resolve. */
    bool overridden;         /* As unapplied, but the binding keeps the value of its own policy. */
    bool ahead;              /* In conflict once Karmada applies what the policies say now. */
    bool predicted;          /* Ahead, and not in conflict yet. */
    bool predicted_resolved; /* The value that the rules will give then. */
};

/*
 * About a dependency: a binding that others require, or a template that would get such a binding.
 * Only an attached one, without a placement of its own, can be in conflict.
 */
struct dependency_decision {
    struct field_resolution fields[DEPENDENCY_FIELD_COUNT];
    uint32_t referrers; /* Those that count now. */
    uint32_t dangling;  /* Listed in requiredBy, but no such binding exists. */
    int64_t since_ms;   /* When the last party to it changed; 0 if unknown. */
    bool attached;
    bool derived; /* Some referrer has no binding yet: it counts by what it refers to. */
};

/*
 * What is broken about a template or a binding, whatever its state; bits by this order. A row
 * is its enumerator, its word for programs and a sentence for people. A new one is a row here,
 * and the rule that finds it.
 */
#define DEFECTS(ROW)                                                                               \
    /* Another template has or wants the same binding. */                                          \
    ROW(NAME_COLLISION, "binding_name_collision",                                                  \
        "another template has or wants a binding of the same name")                                \
    /* The policy that it claims does not exist, or not under this id. */                          \
    ROW(DANGLING_CLAIM, "dangling_claim",                                                          \
        "the policy that it claims does not exist, or was deleted and created again")              \
    /* Of a kind that policies select; others may not be watched. */                               \
    ROW(MISSING_TEMPLATE, "missing_template", "its template does not exist")                       \
    /* Karmada does nothing for this dependency until that is mended. */                           \
    ROW(DANGLING_REFERENCE, "dangling_reference",                                                  \
        "its requiredBy names a binding that does not exist")                                      \
    ROW(UNAPPLIED_RESOLUTION, "unapplied_resolution",                                              \
        "it does not have the value that results from those that require it")                      \
    /* Attached once, left behind: Karmada should have cleared the fields. */                      \
    ROW(UNCLEARED_FIELDS, "uncleared_fields",                                                      \
        "nothing requires it any more, but what others wanted is still set")                       \
    ROW(OVERRIDDEN_VALUE, "overridden_value",                                                      \
        "its own policy's value stands against what those that require it want")

#define DEFECT_ENUMERATOR(id, word, text) DEFECT_##id,
enum defect { DEFECTS(DEFECT_ENUMERATOR) DEFECT_COUNT };
extern const char *const defect_names[DEFECT_COUNT];
/* One sentence for people. */
extern const char *const defect_texts[DEFECT_COUNT];

struct capacity;
struct connector_decision;
struct policy_history;
struct policy_version;
struct resolved_placement;

struct template_decision {
    enum template_state state : 8;
    unsigned reason : 8; /* Of the enum that belongs to the state. */
    enum stale_phase phase : 8;
    enum template_state before : 8; /* The state before this one; the same if there was none. */
    unsigned fields : 8;            /* Bit by drift_field. */
    uint8_t defects;                /* Bit by defect. */
    uint8_t flags;                  /* Bit by template_flag. */
    uint8_t risks;                  /* Bit by risk (risk.h). */
    enum change_applied change_applied : 8; /* Of a template with a binding that a policy made. */
    bool own_claim : 1;      /* The claim is on the template itself, not on its binding. */
    bool priority_moved : 1; /* Stale by the number behind a PriorityClass alone (priority.h). */
    bool propagates : 1;     /* The governing policy propagates its dependencies. */
    bool derived : 1;        /* That, and it has no binding of its own yet. */
    bool waits : 1;          /* Derived, and Karmada will not make one before something changes. */
    bool newborn : 1;        /* No evaluation of all has come to its end since its first one. */
    struct dependency_values values; /* What the governing policy wants of dependencies. */
    struct template_stages stages;   /* Its stage. */
    uint64_t candidate_count : 20;
    uint64_t target_count : 20; /* Of its binding, if that is not left over; else 0. */
    uint64_t cluster_hash : 24; /* Of the set of these (cluster_set_hash). */
    int64_t since_ms;           /* When the state became possible; 0 if unknown. */
    int64_t seen_ms;            /* Since when it is seen to be in the state; 0: only in a play. */
    struct entry *winner;       /* The policy that wins a fresh match now; NULL if none does. */
    struct entry *governing;    /* The policy that it is to follow; NULL if none. */
    struct entry *claimed;      /* The claim's policy, existing or not; NULL without a claim. */
    struct entry *binding;      /* NULL if there is none. */
    struct dependency_decision *dependency; /* Without a binding, which would have it; else NULL. */
    /* Of the claimed policy, that it runs (policy_history.h); NULL if it runs none of it. */
    struct policy_version *version;
    struct capacity *capacity; /* Stale with a binding of its own (capacity.h); else NULL. */
    struct connector_decision *connector; /* Of Config Connector's resources; else NULL. */
    struct candidate candidates[]; /* Best first; behind them the targets (decision_targets). */
};

/* Where each target of the template's binding is, in the order of binding_target_count(). */
static inline struct stage_and_reason *decision_targets(struct template_decision *d)
{
    return (struct stage_and_reason *)(void *)&d->candidates[d->candidate_count];
}

/* About a ResourceBinding or ClusterResourceBinding. */
struct binding_decision {
    struct entry *template;                 /* What it propagates; NULL if it does not exist. */
    struct dependency_decision *dependency; /* NULL unless others may require it. */
    uint8_t defects;                        /* Bit by defect. */
};

/*
 * What is wrong with a policy; bits by this order. A row is its enumerator, its word for programs
 * and a sentence for people. A new one is a row here, and the rule that finds it in lint.c.
 */
#define POLICY_PROBLEMS(ROW)                                                                       \
    ROW(INVALID_SELECTOR, "invalid_selector",                                                      \
        "a labelSelector of resourceSelectors is invalid and never matches")                       \
    ROW(INVALID_EXCLUSION, "invalid_exclusion",                                                    \
        "a labelSelector of excludedResources is invalid and excludes nothing")                    \
    ROW(EMPTY_EXCLUSION, "empty_exclusion",                                                        \
        "a rule of excludedResources sets no field and excludes nothing")                          \
    ROW(NO_SELECTOR, "no_selector", "resourceSelectors is empty and selects nothing")              \
    ROW(FOREIGN_NAMESPACE, "foreign_namespace",                                                    \
        "a resourceSelector names another namespace than the policy's and never matches")          \
    /* api_versions.h says how that is known. */                                                   \
    ROW(UNWATCHED_VERSION, "unwatched_version",                                                    \
        "a resourceSelector names another version of a kind than Karmada looks at, or than its "   \
        "objects here have, and selects nothing")                                                  \
    ROW(PREEMPTION_WITHOUT_NAME, "preemption_without_name",                                        \
        "preemption is Always, but a resourceSelector without a name preempts nothing")

#define POLICY_PROBLEM_ENUMERATOR(id, word, text) POLICY_##id,
enum policy_problem { POLICY_PROBLEMS(POLICY_PROBLEM_ENUMERATOR) POLICY_PROBLEM_COUNT };
extern const char *const policy_problem_names[POLICY_PROBLEM_COUNT];
/* One sentence for people. */
extern const char *const policy_problem_texts[POLICY_PROBLEM_COUNT];

/* What a policy's schedulePriority comes to. */
enum priority_state {
    PRIORITY_NONE,    /* The policy names no PriorityClass. */
    PRIORITY_UNKNOWN, /* Karmada does not look at it, or it cannot be read here. */
    PRIORITY_MISSING, /* Karmada cannot resolve it, and makes no binding. */
    PRIORITY_VALUE,
};

struct priority {
    enum priority_state state;
    int32_t value;
    int64_t since_ms; /* When the class was created, and so got its value; 0 if unknown. */
};

struct policy_decision {
    unsigned problems; /* Bits by policy_problem. */
    bool override_missing;
    bool kinds_incomplete; /* It selects a kind that has not been read yet: whom is not known. */
    struct priority priority;
    const struct resolved_placement *resolved; /* Its placement on the clusters there are. */
    struct policy_history *history;            /* NULL in a simulation, of what is new in it. */
};

/* The decision about an entry: NULL if it is of another class, or not decided (yet). */
static inline const struct template_decision *template_decision(const struct entry *e)
{
    return entry_class(e) == CLASS_TEMPLATE ? e->decision : NULL;
}

/*
 * True if the policy that a decided template claims, by itself or by its binding, exists and has
 * the id of the claim (claim_holds).
 */
bool template_claim_holds(const struct entry *template);

static inline const struct binding_decision *binding_decision(const struct entry *e)
{
    return entry_class(e) == CLASS_BINDING ? e->decision : NULL;
}

static inline const struct policy_decision *policy_decision(const struct entry *e)
{
    return entry_class(e) == CLASS_POLICY ? e->decision : NULL;
}

/* What is wrong with a policy: bits by policy_problem; 0 for any other entry. */
unsigned entry_policy_problems(const struct entry *e);

/* The defects of a binding or of a template; 0 for any other entry. */
unsigned entry_defects(const struct entry *e);

/* The fields that a defect of a dependency is about: bits by dependency_field. */
unsigned defect_fields(const struct entry *e, enum defect defect);

/* The policy that a binding claims, existing or not; NULL without a claim. */
const struct entry *binding_claimed(const struct entry *binding);

/* The dependency decision of a binding or of a template, NULL if it has none. */
const struct dependency_decision *dependency_decision(const struct entry *e);

/* The fields in conflict: bits by dependency_field; 0 of what is no dependency (NULL). */
unsigned dependency_conflicts(const struct dependency_decision *d);
