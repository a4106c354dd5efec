/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/base/pool.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/policy_rank.h"

/*
 * Decisions of the rules about one object: types, names and texts of their values, and the check
 * whether a binding contains the last user change of its template. `decision` of an entry points to
 * the decision about its object. The arrays ..._names contain words for programs: label values of
 * metrics, values in JSON.
 */

/* ---- stages and their reasons ---- */

/*
 * Stages of a template, from the match of a policy to health in all member clusters. A row has the
 * enumerator, the word for programs and a sentence for people. The first stage in this order that
 * applies counts.
 */
#define STAGES(ROW)                                                                                \
    ROW(UNMATCHED, "unmatched", "No policy governs the template.")                                 \
    ROW(UNBOUND, "unbound", "No binding exists yet.")                                              \
    ROW(OUTDATED, "outdated", "The binding differs from the policy or from the template.")         \
    ROW(EVICTING, "evicting", "Karmada evicts the template from a member cluster.")                \
    ROW(UNSCHEDULED, "unscheduled",                                                                \
        "The scheduler has not placed the present version of the binding.")                        \
    ROW(PLACED_NOWHERE, "placed_nowhere", "The binding names no member cluster.")                  \
    ROW(UNDISPATCHED, "undispatched", "Karmada has not sent the template to a member cluster.")    \
    ROW(UNAPPLIED, "unapplied", "A member cluster rejects the template.")                          \
    ROW(UNDELIVERED, "undelivered", "A member cluster runs an older version of the template.")     \
    ROW(UNHEALTHY, "unhealthy", "The template is not healthy in a member cluster.")                \
    ROW(UNREACHABLE, "unreachable",                                                                \
        "The template was healthy in a member cluster that is not Ready now.")                     \
    ROW(HEALTHY, "healthy", "The newest version is healthy in all member clusters of the template.")

#define STAGE_ENUMERATOR(id, word, text) STAGE_##id,
enum stage {
    STAGES(STAGE_ENUMERATOR) STAGE_COUNT,
    STAGE_NONE = STAGE_COUNT, /* Delivery stage without a binding, or with one left over. */
};

/*
 * Reasons of stages. If targets in the worst stage have different reasons, the first reason in this
 * order counts.
 */
#define STAGE_REASONS(ROW)                                                                         \
    ROW(NONE, "", "")                                                                              \
    ROW(IGNORED, "ignored", "Karmada never propagates this template.")                             \
    ROW(LEFT_BEHIND_CHANGED, "left_behind_changed",                                                \
        "The binding is left over from a deleted policy, and the template changed since then. A "  \
        "restart of Karmada's controllers delivers the change.")                                   \
    ROW(LEFT_BEHIND, "left_behind", "The binding is left over from a deleted policy.")             \
    ROW(NO_POLICY, "no_policy",                                                                    \
        "No policy selects the template, or excludedResources exclude it.")                        \
    ROW(LAZY, "lazy",                                                                              \
        "The policy is Lazy: Karmada creates the binding at the template's next change.")          \
    ROW(OVERRIDE_MISSING, "override_missing",                                                      \
        "An override policy in the policy's dependentOverrides does not exist.")                   \
    ROW(NAMESAKE, "namesake",                                                                      \
        "The binding of a deleted object has the name that the new binding needs.")                \
    ROW(PRIORITY_CLASS_MISSING, "priority_class_missing",                                          \
        "The PriorityClass that the policy names does not exist.")                                 \
    ROW(STUCK, "stuck",                                                                            \
        "The template is claimed, but Karmada created no binding within the grace period "         \
        "(--rules.grace).")                                                                        \
    ROW(NOT_CLAIMED, "not_claimed",                                                                \
        "Karmada did not claim the template within the grace period (--rules.grace).")             \
    ROW(POLICY_UPDATED, "policy_updated", "The policy changed.")                                   \
    ROW(POLICY_REPLACED, "policy_replaced", "Another policy governs the template now.")            \
    ROW(SELECTOR_MISMATCH, "selector_mismatch", "The policy no longer selects the template.")      \
    ROW(POLICY_GONE, "policy_gone", "The policy no longer exists.")                                \
    ROW(TEMPLATE_UPDATED, "template_updated",                                                      \
        "The last change of the template is not in the binding.")                                  \
    ROW(LAST_COPY, "last_copy",                                                                    \
        "No other member cluster fits: Karmada deletes the only copy when the eviction times "     \
        "out.")                                                                                    \
    ROW(PURGE_BLOCKED, "purge_blocked",                                                            \
        "The new copy starts only after the copy on an unreachable member cluster is deleted.")    \
    ROW(RESCHEDULING, "rescheduling", "The scheduler has not chosen another member cluster yet.")  \
    ROW(REPLACING, "replacing",                                                                    \
        "Karmada deletes the copy once those in the other member clusters are healthy.")           \
    ROW(SUSPENDED, "suspended", "Propagation is suspended.")                                       \
    ROW(NO_CLUSTER_FIT, "no_cluster_fit",                                                          \
        "No member cluster fits the placement; Karmada deletes the copies in clusters that do "    \
        "not fit.")                                                                                \
    ROW(UNSCHEDULABLE, "unschedulable", "The member clusters do not have enough capacity.")        \
    ROW(QUOTA_EXCEEDED, "quota_exceeded", "A FederatedResourceQuota is exceeded.")                 \
    ROW(SCHEDULER_ERROR, "scheduler_error", "The scheduler failed with an error.")                 \
    ROW(OTHER_SCHEDULER, "other_scheduler",                                                        \
        "A scheduler other than Karmada's default places the template.")                           \
    ROW(NO_REPLICAS, "no_replicas", "The template has zero replicas.")                             \
    ROW(REFERRER, "referrer", "No referrer is placed on a member cluster.")                        \
    ROW(CLUSTER_NOT_READY, "cluster_not_ready",                                                    \
        "The member cluster is not Ready, or its Cluster does not exist.")                         \
    ROW(OVERRIDE_FAILED, "override_failed", "An override policy fails for the template.")          \
    ROW(WORK_MISSING, "work_missing", "Karmada has created no Work for the member cluster.")       \
    ROW(WORK_DELETING, "work_deleting",                                                            \
        "Karmada is deleting the Work for the member cluster, and the copy there.")                \
    ROW(WORK_OUTDATED, "work_outdated",                                                            \
        "The Work for the member cluster is older than the template.")                             \
    ROW(ALREADY_EXISTS, "already_exists",                                                          \
        "The member cluster has an object of that name that Karmada does not manage.")             \
    ROW(REFUSED, "refused", "The API server of the member cluster rejects the object.")            \
    ROW(ROLLING, "rolling", "The rollout in the member cluster is in progress.")                   \
    ROW(UNAVAILABLE, "unavailable", "The object is unhealthy in the member cluster.")              \
    ROW(UNKNOWN, "unknown", "The health is not known yet.")                                        \
    ROW(WAITING, "waiting", "Karmada has not processed the template yet.")                         \
    ROW(OTHER, "other", "The reason is not known to this version of the exporter.")

#define STAGE_REASON_ENUMERATOR(id, word, text) WHY_##id,
enum stage_reason { STAGE_REASONS(STAGE_REASON_ENUMERATOR) STAGE_REASON_COUNT };

extern const char *const stage_names[STAGE_COUNT];
extern const char *const stage_texts[STAGE_COUNT];
extern const char *const stage_reason_names[STAGE_REASON_COUNT];
extern const char *const stage_reason_texts[STAGE_REASON_COUNT];

/* Returns true if the stage can have this reason; WHY_NONE belongs to stages without reasons. */
bool stage_has_reason(enum stage stage, enum stage_reason reason);

/* A stage and its reason. Two bytes, because each target of each binding has one. */
struct __attribute__((packed)) stage_and_reason {
    enum stage stage : 8;
    enum stage_reason reason : 8;
};
static_assert(sizeof(struct stage_and_reason) == 2, "two bytes");

/* Stages of a template, and the times at which they began. */
struct template_stages {
    struct stage_and_reason at;       /* Stage of the template. */
    struct stage_and_reason delivery; /* Stage of the binding: EVICTING or later; or STAGE_NONE. */
    uint32_t since_s; /* Last change that explains `at`, seconds since the epoch; else 0. */
    uint32_t delivery_since_s; /* Start of `delivery`; 0 if unknown. */
};

/* ---- does the binding contain the template's last change? ---- */

/* Does a binding contain the last user change of its template? Grace periods do not count. */
enum change_applied {
    CHANGE_UNKNOWN, /* The objects prove neither of the other values. */
    CHANGE_APPLIED,
    CHANGE_NOT_APPLIED,
};

/* Returns whether `b`, made by Karmada for a policy, contains the template's last user change. */
enum change_applied check_change_applied(const struct entry *template, const struct binding *b);

/*
 * Returns whether `b` contains the last user change of a template that no policy governs any more.
 * Karmada's removal of the claim increments the generation of a Deployment: no user change.
 */
enum change_applied check_orphan_change_applied(const struct entry *template,
                                                const struct binding *b);

/* ---- states of templates and their reasons ---- */

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
    STALE_TEMPLATE_UPDATED, /* A user's change of the template is missing in its binding. */
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
    UNBOUND_NAMESAKE, /* An earlier binding blocks the name (is_binding_name_blocked). */
    UNBOUND_PRIORITY_CLASS_MISSING,
    UNBOUND_STUCK, /* Claimed, but no policy made a binding in the grace period. */
    UNBOUND_WAITING,
    UNBOUND_REASON_COUNT,
};

enum ignored_reason {
    IGNORED_RESERVED_NAMESPACE,
    IGNORED_SKIPPED_NAMESPACE,
    IGNORED_SKIPPED_API,
    IGNORED_SYSTEM_OBJECT,
    IGNORED_CLAIMED_BY,
    /*
     * The version of the object is not served, or only policies that name a version which Karmada
     * does not watch would select the template (api_versions.h).
     */
    IGNORED_UNWATCHED_VERSION,
    IGNORED_REASON_COUNT,
};

/*
 * Facts about a template beside its state; a set of flags has a bit for each row. A row has the
 * enumerator, the word for programs and a sentence for people.
 */
#define TEMPLATE_FLAGS(ROW)                                                                        \
    /* Only for orphaned templates: Karmada still propagates them, as dependencies. */             \
    ROW(REQUIRED, "required",                                                                      \
        "Other templates require the template, so Karmada still propagates its changes.")          \
    ROW(FALLBACK, "fallback",                                                                      \
        "The template runs on a fallback, not in the first group of clusterAffinities. Karmada "   \
        "does not move it back; a WorkloadRebalancer does.")                                       \
    ROW(KEPT, "kept", "The present version is not scheduled; earlier copies still run.")           \
    ROW(OFF_PLACEMENT, "off_placement",                                                            \
        "The template runs in a member cluster that its placement does not allow.")                \
    /* An eviction task has suppressDeletion. */                                                   \
    ROW(TWO_COPIES_HELD, "two_copies_held",                                                        \
        "Karmada keeps an evicted copy beside its replacement until a user decides.")              \
    /* Karmada: the dependencies distributor ignores ClusterResourceBindings. */                   \
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

/* Fields of a dependency's binding that Karmada sets to the resolved values of the referrers. */
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
extern const char *const template_flag_texts[TEMPLATE_FLAG_COUNT];
extern const char *const drift_field_names[DRIFT_FIELD_COUNT];
extern const char *const dependency_field_names[DEPENDENCY_FIELD_COUNT];

/* Returns the name of a reason of the state; NULL for states without reasons. */
const char *reason_name(enum template_state state, unsigned reason);
/* Returns true if any state has a reason of this name. */
bool reason_exists(const char *name);

/* ---- dependencies ---- */

/*
 * Values that one referrer requests: false for Abort or false, true for Overwrite or true. The
 * resolved value of a field is true if any referrer requests true.
 */
struct dependency_values {
    bool wants[DEPENDENCY_FIELD_COUNT];
};

/* Returns the text of a value in reports: "Abort", "Overwrite", "false" or "true". */
const char *dependency_value_name(enum dependency_field field, bool value);

/* Value that Karmada gives a field of a dependency's binding. */
enum dependency_outcome {
    DEPENDENCY_OUTCOME_FALSE,
    DEPENDENCY_OUTCOME_TRUE,
    DEPENDENCY_OUTCOME_LAST_REFERRER, /* Undetermined: that of the referrer reconciled last. */
    DEPENDENCY_OUTCOME_BY_RELEASE,    /* Undetermined: releases of the range differ. */
    DEPENDENCY_OUTCOME_COUNT,
};
/* Names of the reasons why an outcome is undetermined; NULL for the two values. */
extern const char *const dependency_outcome_reasons[DEPENDENCY_OUTCOME_COUNT];

static inline bool dependency_outcome_is_certain(enum dependency_outcome outcome)
{
    return outcome <= DEPENDENCY_OUTCOME_TRUE;
}

/* Returns dependency_value_name() of a resolved value, or "undetermined" if the outcome is. */
const char *dependency_resolved_name(enum dependency_field field, enum dependency_outcome outcome,
                                     bool resolved);

/*
 * Resolution of one field of a dependency. Only an attached dependency can have a conflict or an
 * unapplied value. `unapplied` and `unsupported` ignore referrers that requiredBy does not list.
 */
struct field_resolution {
    bool conflict;           /* Referrers request both values. */
    bool resolved;           /* Value that results from the referrers. */
    bool stored;             /* Value in the binding; `resolved` without a binding. */
    bool unapplied;          /* Karmada should have changed the stored value. */
    bool unsupported;        /* The stored value differs, but this release resolves no values. */
    bool overridden;         /* The binding's policy sets another value than `resolved`. */
    bool ahead;              /* Conflict once Karmada has applied the present policies. */
    bool predicted;          /* True if `ahead`, but no `conflict` yet. */
    bool predicted_resolved; /* Resolved value once the present policies are applied. */
    enum dependency_outcome outcome; /* Value once Karmada has reconciled all referrers. */
    enum dependency_outcome predicted_outcome; /* Once the present policies are applied, too. */
};

/*
 * Decision about a dependency: a binding that other bindings require, an attached binding that they
 * no longer require, or a template that will get its binding as a dependency.
 */
struct dependency_decision {
    struct field_resolution fields[DEPENDENCY_FIELD_COUNT];
    uint32_t referrers; /* Number of referrers with `counts_observed` (dependency.h). */
    uint32_t dangling;  /* Number of elements of requiredBy that name no existing binding. */
    int64_t since_ms;   /* Last change of the binding, or of one in requiredBy; 0 if unknown. */
    bool attached;      /* No policy made the binding, or there is no binding yet. */
    bool derived;       /* A derived referrer (dependency.h) is among `referrers`. */
};

/* ---- defects of templates and bindings ---- */

/*
 * A set of defects has a bit for each row. A row has the enumerator, the word for programs and a
 * sentence for people. A new defect is a row here, and code in the rule that detects it.
 */
#define DEFECTS(ROW)                                                                               \
    /* Karmada would give two templates bindings of the same name. */                              \
    ROW(NAME_COLLISION, "binding_name_collision",                                                  \
        "another template needs a binding of the same name")                                       \
    ROW(DANGLING_CLAIM, "dangling_claim",                                                          \
        "the claimed policy does not exist, or was deleted and created again")                     \
    /* Only for kinds that policies select and that have been read completely. */                  \
    ROW(MISSING_TEMPLATE, "missing_template", "the template does not exist")                       \
    /* Karmada does not process the dependency before requiredBy is repaired. */                   \
    ROW(DANGLING_REFERENCE, "dangling_reference",                                                  \
        "requiredBy names a binding that does not exist")                                          \
    ROW(UNAPPLIED_RESOLUTION, "unapplied_resolution",                                              \
        "the binding does not have the value that is resolved from its referrers")                 \
    /* Karmada should clear the fields of a binding once no other binding requires it. */          \
    ROW(UNCLEARED_FIELDS, "uncleared_fields",                                                      \
        "no referrer is left, but a value of former referrers is still set")                       \
    ROW(OVERRIDDEN_VALUE, "overridden_value",                                                      \
        "the value of the dependency's own policy overrides the value of its referrers")

#define DEFECT_ENUMERATOR(id, word, text) DEFECT_##id,
enum defect { DEFECTS(DEFECT_ENUMERATOR) DEFECT_COUNT };
extern const char *const defect_names[DEFECT_COUNT];
extern const char *const defect_texts[DEFECT_COUNT];

/* ---- decisions ---- */

struct capacity;
struct connector_decision;
struct policy_history;
struct policy_version;
struct resolved_placement;

/* Policy that governs a template: one of the policies that the decision has anyway. */
enum governed_by { GOVERNED_BY_NONE, GOVERNED_BY_WINNER, GOVERNED_BY_CLAIMED };

/* Bits of a time in a decision, in milliseconds since the epoch: enough for 139 years. */
enum { DECISION_TIME_BITS = 43 };

/* Candidate (policy_rank.h) in a decision; decision_candidate() unpacks it. */
struct __attribute__((packed, aligned(2))) packed_candidate {
    pool_handle policy;
    uint8_t score;
    bool excluded : 1;
    bool deleting : 1;
    bool refused : 1;
};

/* Parts of a decision that few templates have. A decision with parts owns the cell. */
struct decision_parts {
    struct dependency_decision *dependency;
    struct capacity *capacity;
    struct connector_decision *connector;
};

/*
 * Decision about a template, in 64 bytes for the usual template with one candidate and one or two
 * targets: a store has one for each template. The members with handles and times have functions
 * below. Arrays follow the struct, without padding: the candidates, best first; by target, its
 * stage (decision_targets()) and its number (decision_target_clusters()); then, if `has_parts`, the
 * handle of the decision_parts.
 */
struct template_decision {
    uint64_t since : DECISION_TIME_BITS; /* See decision_since_ms(). */
    enum template_state state : 4;
    enum template_state before : 4; /* Previous, else `state`; inexact in a simulation. */
    unsigned reason : 4;            /* Value of the enum that belongs to the state. */
    enum stale_phase phase : 2;
    unsigned flags : TEMPLATE_FLAG_COUNT;   /* Bits by template_flag. */
    uint64_t seen : DECISION_TIME_BITS;     /* See decision_seen_ms(). */
    enum change_applied change_applied : 2; /* UNKNOWN if ignored, or no policy made a binding. */
    enum governed_by governed_by : 2;
    bool own_claim : 1;      /* The claim is on the template itself, not on its binding. */
    bool priority_moved : 1; /* Drift only by a PriorityClass newer than the policy, or undated. */
    bool propagates : 1;     /* Karmada propagates the dependencies, as `governing` requests. */
    bool derived : 1;        /* `propagates`, and no policy has made a binding yet. */
    bool waits : 1;     /* `derived`, but not UNBOUND: no policy makes a binding as things are. */
    bool first_run : 1; /* The engine run that made the first decision has not ended. */
    bool has_parts : 1;
    bool tied : 1; /* The winner ranks before the next eligible candidate by name only. */
    unsigned wants : DEPENDENCY_FIELD_COUNT; /* See decision_values(). */
    unsigned defects : DEFECT_COUNT;         /* Bits by defect. */
    uint64_t candidate_count : 20;
    uint64_t target_count : 20; /* Targets of the binding; 0 without one, or if left over. */
    uint64_t cluster_hash : 24; /* Low bits of cluster_set_hash(); 0 without targets. */
    struct template_stages stages;
    pool_handle claimed_handle; /* See decision_claimed(), and so on. */
    pool_handle binding_handle;
    pool_handle version_handle;
    uint8_t fields; /* Bits by drift_field. */
    uint8_t risks;  /* Bits by risk (delivery.h). */
    struct packed_candidate candidates[];
};
static_assert(offsetof(struct template_decision, candidates) == 50, "one for each template");
static_assert(sizeof(struct packed_candidate) == 6, "one for each candidate of each template");

/* Returns the time in the lowest DECISION_TIME_BITS of `bits`, which include the sign. */
static inline int64_t decision_time(uint64_t bits)
{
    return (int64_t)(bits << (64 - DECISION_TIME_BITS)) >> (64 - DECISION_TIME_BITS);
}

/* Returns the last change, or creation, that explains the state, in ms since the epoch; else 0. */
static inline int64_t decision_since_ms(const struct template_decision *d)
{
    return decision_time(d->since);
}

/* Returns the time of the first evaluation with the state, in ms; inexact in a simulation. */
static inline int64_t decision_seen_ms(const struct template_decision *d)
{
    return decision_time(d->seen);
}

/* Set these times. A time that needs more bits becomes the nearest possible one. */
void decision_set_since_ms(struct template_decision *d, int64_t since_ms);
void decision_set_seen_ms(struct template_decision *d, int64_t seen_ms);

/* Returns the cell with a handle in the pool of a decision; NULL for 0. */
static inline void *decision_cell(const struct template_decision *d, pool_handle handle)
{
    return handle != 0 ? pool_beside(d, handle) : NULL;
}

/* Returns a candidate by its rank; `rank` is below d->candidate_count. */
static inline struct candidate decision_candidate(const struct template_decision *d, size_t rank)
{
    const struct packed_candidate *c = &d->candidates[rank];

    return (struct candidate){.policy = decision_cell(d, c->policy),
                              .score = c->score,
                              .excluded = c->excluded,
                              .deleting = c->deleting,
                              .refused = c->refused};
}

/* Returns the policy that wins a fresh match: the first candidate, if it is eligible; else NULL. */
static inline struct entry *decision_winner(const struct template_decision *d)
{
    const struct packed_candidate *first = d->candidates;

    return d->candidate_count > 0 && !first->excluded && !first->deleting && !first->refused
               ? decision_cell(d, first->policy)
               : NULL;
}

/* Returns the claim's policy, existing or not; NULL without a claim. */
static inline struct entry *decision_claimed(const struct template_decision *d)
{
    return decision_cell(d, d->claimed_handle);
}

/* Returns the policy that should govern the template now, or NULL. */
static inline struct entry *decision_governing(const struct template_decision *d)
{
    if (d->governed_by == GOVERNED_BY_CLAIMED)
        return decision_claimed(d);
    return d->governed_by == GOVERNED_BY_WINNER ? decision_winner(d) : NULL;
}

/* Returns the binding of the template, or NULL. */
static inline struct entry *decision_binding(const struct template_decision *d)
{
    return decision_cell(d, d->binding_handle);
}

/* Returns the version of decision_claimed() that the template runs, or NULL. */
static inline struct policy_version *decision_version(const struct template_decision *d)
{
    return decision_cell(d, d->version_handle);
}

/* Return and set what the governing policy requests for dependencies. */
struct dependency_values decision_values(const struct template_decision *d);
void decision_set_values(struct template_decision *d, const struct dependency_values *values);

/* Returns the parts of a decision; NULL without parts. */
struct decision_parts *decision_parts(const struct template_decision *d);

/*
 * Returns the decision about the template as a dependency. NULL if the template is ignored,
 * governed or no dependency; if it is bound, its binding's decision has it.
 */
static inline struct dependency_decision *decision_dependency(const struct template_decision *d)
{
    return d->has_parts ? decision_parts(d)->dependency : NULL;
}

/* Returns the capacity; NULL unless the template is stale with a binding that a policy made. */
static inline struct capacity *decision_capacity(const struct template_decision *d)
{
    return d->has_parts ? decision_parts(d)->capacity : NULL;
}

/*
 * Returns the decision about a resource of Config Connector; NULL for others, if the template is
 * ignored, or not all Namespaces have been read.
 */
static inline struct connector_decision *decision_connector(const struct template_decision *d)
{
    return d->has_parts ? decision_parts(d)->connector : NULL;
}

/*
 * Returns a decision, a cell of `memory`, that has the candidates, and room for the targets; the
 * other members are 0. Free it with template_decision_free().
 */
struct template_decision *template_decision_new(struct pool *memory,
                                                const struct candidate *candidates,
                                                size_t candidate_count,
                                                uint32_t target_count) MUST_USE;

/*
 * Adds the parts to a decision without parts, and returns the decision, which may have moved. The
 * decision owns the parts' memory, but not what they point to.
 */
struct template_decision *template_decision_add_parts(struct template_decision *d,
                                                      struct decision_parts parts) MUST_USE;

/* Frees the decision and its decision_parts. Accepts NULL. */
void template_decision_free(struct template_decision *d);

/*
 * Returns the first policy that would select the template, and that the API server refuses; NULL
 * without one, or if another policy wins or governs the template.
 */
const struct entry *decision_refused_policy(const struct template_decision *d);

/* Returns the stage of each target of the template's binding, in the order of its targets. */
static inline struct stage_and_reason *decision_targets(struct template_decision *d)
{
    return (struct stage_and_reason *)(void *)&d->candidates[d->candidate_count];
}

/*
 * Returns the number of each target's cluster in the tallies (problem_tallies.h), which alone read
 * and write it: when a decision ends, its binding may be gone.
 */
static inline uint16_t *decision_target_clusters(struct template_decision *d)
{
    return (uint16_t *)(void *)&decision_targets(d)[d->target_count];
}

/* Decision about a ResourceBinding or ClusterResourceBinding. */
struct binding_decision {
    pool_handle template_handle; /* See binding_decision_template(), and so on. */
    pool_handle dependency_handle;
    uint8_t defects; /* Bits by defect. */
};

/* Returns the template; NULL if spec.resource names no existing template. */
static inline struct entry *binding_decision_template(const struct binding_decision *d)
{
    return pool_beside(d, d->template_handle);
}

/* Returns the decision about the binding as a dependency, which it owns; NULL if it is none. */
static inline struct dependency_decision *
binding_decision_dependency(const struct binding_decision *d)
{
    return pool_beside(d, d->dependency_handle);
}

/*
 * Problems of a policy; a set has a bit for each row. A row has the enumerator, the word for
 * programs and a sentence for people. A new problem is a row here, and code in rule_policy.c.
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
    /* Detected by api_version_is_unwatched(). */                                                  \
    ROW(UNWATCHED_VERSION, "unwatched_version",                                                    \
        "a resourceSelector selects nothing: Karmada does not watch the API version that it "      \
        "names, or no object of the kind has it")                                                  \
    ROW(PREEMPTION_WITHOUT_NAME, "preemption_without_name",                                        \
        "preemption is Always, but a resourceSelector without a name preempts nothing")            \
    ROW(CLUSTER_SCOPED_KIND, "cluster_scoped_kind",                                                \
        "a resourceSelector of a namespaced policy names a cluster-scoped kind and never matches") \
    /* The findings of admission_review(). */                                                      \
    ROW(FIELD_PRUNED, "field_pruned",                                                              \
        "the API server drops a field that the CustomResourceDefinition does not have")            \
    ROW(REFUSED, "refused", "the API server refuses the policy")

#define POLICY_PROBLEM_ENUMERATOR(id, word, text) POLICY_##id,
enum policy_problem { POLICY_PROBLEMS(POLICY_PROBLEM_ENUMERATOR) POLICY_PROBLEM_COUNT };
extern const char *const policy_problem_names[POLICY_PROBLEM_COUNT];
extern const char *const policy_problem_texts[POLICY_PROBLEM_COUNT];

/* Result of resolving a policy's schedulePriority. */
enum priority_state {
    PRIORITY_NONE,    /* The policy sets no schedulePriority. */
    PRIORITY_UNKNOWN, /* Karmada ignores schedulePriority, or the value has not been read. */
    PRIORITY_MISSING, /* Karmada cannot resolve the PriorityClass: makes no ResourceBinding. */
    PRIORITY_VALUE,
};

struct priority {
    enum priority_state state;
    int32_t value;
    int64_t since_ms; /* Creation of the PriorityClass (the value is immutable); 0 if unknown. */
};

struct policy_decision {
    unsigned problems;     /* Bits by policy_problem. */
    bool override_missing; /* A policy in dependentOverrides is known not to exist. */
    bool kinds_incomplete; /* Not all objects of a selected kind have been read. */
    bool kind_absent;      /* api_version_is_absent() for a selected kind. */
    struct priority priority;
    const struct resolved_placement *resolved; /* The policy's placement on the present clusters. */
    uint32_t open_groups;           /* Copy from `resolved` when the decision was made. */
    uint64_t members_hash;          /* Likewise. */
    bool keeps_targets;             /* Result of placements_keep_targets(). */
    struct policy_history *history; /* NULL for policies new in a simulation. */
};

/* Returns the decision about a template; NULL for other classes and undecided entries. */
static inline const struct template_decision *template_decision(const struct entry *e)
{
    return entry_class(e) == CLASS_TEMPLATE ? entry_decision(e) : NULL;
}

/*
 * Returns true if the claimed policy of a decided template exists and has the id in the claim
 * (claim_policy_exists). Without a claim on the template, that of its binding counts.
 */
bool template_claim_holds(const struct entry *template);

static inline const struct binding_decision *binding_decision(const struct entry *e)
{
    return entry_class(e) == CLASS_BINDING ? entry_decision(e) : NULL;
}

static inline const struct policy_decision *policy_decision(const struct entry *e)
{
    return entry_class(e) == CLASS_POLICY ? entry_decision(e) : NULL;
}

/* Returns the problems of a policy, bits by policy_problem; 0 for other and undecided entries. */
unsigned entry_policy_problems(const struct entry *e);

/*
 * Returns the defects of a binding or template, bits by defect; 0 for other and undecided entries.
 */
unsigned entry_defects(const struct entry *e);

/*
 * Returns the fields of a dependency that have the defect, bits by dependency_field; 0 for a defect
 * that concerns no field.
 */
unsigned defect_fields(const struct entry *e, enum defect defect);

/* Returns the claimed policy of a decided binding, existing or not; NULL without a claim. */
const struct entry *binding_claimed_policy(const struct entry *binding);

/*
 * Returns the policy for which a stale template counts: the governing, else the claimed policy;
 * NULL without both.
 */
const struct entry *policy_of_stale_template(const struct template_decision *d);

/* Returns the dependency decision of a binding or template, or NULL. */
const struct dependency_decision *dependency_decision(const struct entry *e);

/*
 * Returns true if CONFLICT_RESOLUTION_ANNOTATION of a template differs from the value in its
 * binding, which comes from a policy; without a binding, from the value that the binding will get.
 * Stores the value of the binding in `overridden`: true for Overwrite.
 */
bool template_overrides_conflict_resolution(const struct entry *template, bool *overridden);

/* Returns the fields in conflict, bits by dependency_field; 0 if `d` is NULL. */
unsigned dependency_conflicts(const struct dependency_decision *d);
