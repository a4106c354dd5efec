/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Table of problems (product contract 3.10): every kind of problem, with severity, patience and
 * reasons, and the role that must act. A new problem is a row of PROBLEMS, rows of its reasons in
 * PROBLEM_REASONS, and code in problem_conditions.c that detects its condition.
 */

/* ---- severities and roles ---- */

enum problem_severity { SEVERITY_CRITICAL, SEVERITY_WARNING, SEVERITY_INFO, SEVERITY_COUNT };
/* Severity of a problem that --problems.severity disables; it has no name in severity_names. */
enum { SEVERITY_OFF = SEVERITY_COUNT };
extern const char *const severity_names[SEVERITY_COUNT];

/* Role that must act. */
enum actor {
    ACTOR_USER,         /* Owner of the template. */
    ACTOR_POLICY_OWNER, /* Owner of the policy. */
    ACTOR_PLATFORM,     /* Operator of the Karmada control plane. */
    ACTOR_KARMADA,
    ACTOR_CLUSTER, /* Administrator of the member cluster. */
    ACTOR_NONE,
    ACTOR_COUNT,
};
extern const char *const actor_names[ACTOR_COUNT];

/* ---- problems ---- */

/*
 * Within one template at most one problem of each line counts: the first in the order of the
 * conditions (problem_conditions.h).
 */
enum problem_line { LINE_NONE, LINE_POLICY, LINE_DELIVERY, LINE_COUNT };

enum {
    /* Each reason is an instance of its own: it names a field, a resource or a defect. */
    PROBLEM_BY_REASON = 1U << 0,
    /* Never holds for objects from files, nor in `check`: it needs observation over time. */
    PROBLEM_NOT_IN_FILES = 1U << 1,
};

/*
 * A row has the enumerator, the word for programs, the severity, the patience in seconds, the line,
 * flags, a noun phrase for people, and the noun for the subject in texts that name no object.
 */
#define PROBLEMS(ROW)                                                                              \
    ROW(LAST_COPY_AT_RISK, "last_copy_at_risk", CRITICAL, 60, DELIVERY, 0, "last copy at risk",    \
        "the template")                                                                            \
    ROW(PLACEMENT_LOST, "placement_lost", CRITICAL, 120, DELIVERY, 0, "placement lost",            \
        "the template")                                                                            \
    ROW(CONTROLLERS_STUCK, "controllers_stuck", CRITICAL, 180, NONE, PROBLEM_NOT_IN_FILES,         \
        "controllers stuck", "karmada-controller-manager")                                         \
    ROW(SCHEDULER_STUCK, "scheduler_stuck", CRITICAL, 180, NONE, PROBLEM_NOT_IN_FILES,             \
        "scheduler stuck", "karmada-scheduler")                                                    \
    ROW(CLOUD_RESOURCE_CONFLICT, "cloud_resource_conflict", CRITICAL, 900, NONE, 0,                \
        "cloud resource conflict", "the Config Connector object")                                  \
    ROW(PLACEMENT_AT_RISK, "placement_at_risk", WARNING, 600, NONE, 0, "placement at risk",        \
        "the template")                                                                            \
    ROW(DEPENDENCY_CONFLICT, "dependency_conflict", WARNING, 600, NONE, PROBLEM_BY_REASON,         \
        "dependency conflict", "the dependency")                                                   \
    ROW(DEPENDENCY_NOT_RESOLVED, "dependency_not_resolved", WARNING, 900, NONE, PROBLEM_BY_REASON, \
        "dependency not resolved", "the dependency")                                               \
    ROW(POLICY_NOT_IN_FORCE, "policy_not_in_force", WARNING, 1200, POLICY, 0,                      \
        "policy not in force", "the template")                                                     \
    ROW(TEMPLATE_FROZEN, "template_frozen", WARNING, 1200, POLICY, 0, "template frozen",           \
        "the template")                                                                            \
    ROW(NOT_PROPAGATED, "not_propagated", WARNING, 900, POLICY, 0, "not propagated",               \
        "the template")                                                                            \
    ROW(NOT_SCHEDULED, "not_scheduled", WARNING, 600, DELIVERY, 0, "not scheduled",                \
        "the template")                                                                            \
    ROW(NOT_DELIVERED, "not_delivered", WARNING, 600, DELIVERY, 0, "not delivered",                \
        "the template")                                                                            \
    ROW(OVERRIDE_FAILED, "override_failed", WARNING, 600, DELIVERY, 0, "override failed",          \
        "the template")                                                                            \
    ROW(EVICTION_STUCK, "eviction_stuck", WARNING, 60, DELIVERY, PROBLEM_NOT_IN_FILES,             \
        "eviction stuck", "the template")                                                          \
    ROW(POLICY_INVALID, "policy_invalid", WARNING, 600, NONE, PROBLEM_BY_REASON, "policy invalid", \
        "the policy")                                                                              \
    ROW(BINDING_NAME_COLLISION, "binding_name_collision", WARNING, 600, POLICY, 0,                 \
        "binding name collision", "the template")                                                  \
    ROW(REFERENCE_BROKEN, "reference_broken", WARNING, 1800, NONE, 0, "reference broken",          \
        "the object")                                                                              \
    ROW(DELETION_STUCK, "deletion_stuck", WARNING, 3600, NONE, PROBLEM_NOT_IN_FILES,               \
        "deletion stuck", "the object")                                                            \
    ROW(MEMBER_CLUSTER_UNAVAILABLE, "member_cluster_unavailable", WARNING, 300, NONE, 0,           \
        "member cluster unavailable", "the member cluster")                                        \
    ROW(MANAGEMENT_CONFLICT, "management_conflict", WARNING, 600, NONE, 0, "management conflict",  \
        "the Config Connector object")                                                             \
    ROW(LEASE_AT_RISK, "lease_at_risk", WARNING, 1200, NONE, 0, "lease at risk",                   \
        "the cloud resource")                                                                      \
    ROW(DECISION_FLAPPING, "decision_flapping", WARNING, 0, NONE, PROBLEM_NOT_IN_FILES,            \
        "decision flapping", "the template or dependency")                                         \
    ROW(DATA_INCOMPLETE, "data_incomplete", WARNING, 600, NONE, 0, "data incomplete",              \
        "the source")                                                                              \
    ROW(UNHEALTHY, "unhealthy", INFO, 1800, DELIVERY, 0, "unhealthy", "the template")              \
    ROW(ORPHANED, "orphaned", INFO, 86400, POLICY, 0, "orphaned", "the template")                  \
    ROW(EXCLUDED, "excluded", INFO, 86400, POLICY, 0, "excluded", "the template")                  \
    ROW(DEFERRED_TOO_LONG, "deferred_too_long", INFO, 604800, POLICY, 0, "deferred too long",      \
        "the template")                                                                            \
    ROW(ON_FALLBACK, "on_fallback", INFO, 21600, NONE, 0, "on fallback", "the template")           \
    ROW(TWO_COPIES_HELD, "two_copies_held", INFO, 86400, NONE, 0, "two copies held",               \
        "the template")                                                                            \
    ROW(CHANGE_SUSPENDED, "change_suspended", INFO, 86400, NONE, 0, "change suspended",            \
        "the template")                                                                            \
    ROW(FORBIDDEN_PLACEMENT, "forbidden_placement", INFO, 3600, NONE, 0, "forbidden placement",    \
        "the template")                                                                            \
    ROW(DRIFT_EXCEEDS_CAPACITY, "drift_exceeds_capacity", INFO, 1800, NONE, PROBLEM_BY_REASON,     \
        "drift exceeds capacity", "the member cluster")                                            \
    ROW(DELETION_TRAP, "deletion_trap", INFO, 900, NONE, 0, "deletion trap",                       \
        "the Config Connector object")                                                             \
    ROW(LEASE_UNPROTECTED, "lease_unprotected", INFO, 86400, NONE, 0, "lease unprotected",         \
        "the Config Connector object")                                                             \
    ROW(CONFLICT_PREDICTED, "conflict_predicted", INFO, 3600, NONE, PROBLEM_BY_REASON,             \
        "conflict predicted", "the dependency")                                                    \
    ROW(REPLICAS_CONTESTED, "replicas_contested", INFO, 3600, NONE, 0, "replicas contested",       \
        "the template")                                                                            \
    ROW(VALUE_OVERRIDDEN, "value_overridden", INFO, 3600, NONE, PROBLEM_BY_REASON,                 \
        "value overridden", "the template or dependency")                                          \
    ROW(POLICY_TIE, "policy_tie", INFO, 600, NONE, 0, "policy tie", "the policy")                  \
    ROW(POLICY_OUTRANKED, "policy_outranked", INFO, 86400, NONE, 0, "policy outranked",            \
        "the policy")                                                                              \
    ROW(POLICY_UNUSED, "policy_unused", INFO, 86400, NONE, 0, "policy unused", "the policy")       \
    ROW(DUPLICATE_OBJECT, "duplicate_object", INFO, 0, NONE, 0, "duplicate object", "the object")

#define PROBLEM_ENUMERATOR(id, ...) PROBLEM_##id,
enum problem_id { PROBLEMS(PROBLEM_ENUMERATOR) PROBLEM_COUNT };

struct problem_row {
    const char *name;  /* Word for programs. */
    const char *title; /* Noun phrase for people. */
    enum problem_severity severity;
    uint32_t patience_s;
    enum problem_line line;
    unsigned flags;      /* PROBLEM_BY_REASON, PROBLEM_NOT_IN_FILES. */
    const char *subject; /* Noun, such as "the template". */
};
extern const struct problem_row problem_table[PROBLEM_COUNT];
/* The names in problem_table, for labels of families. */
extern const char *const problem_names[PROBLEM_COUNT];

/* ---- reasons ---- */

/*
 * Reasons of each problem, in order of precedence. A row has the problem, the enumerator, the word
 * for programs ("" for a problem with a single unnamed reason) and the role that must act. The rows
 * are in the order of PROBLEMS. metrics/expose/problem_text.c has the texts of each reason.
 */
#define PROBLEM_REASONS(ROW)                                                                       \
    ROW(LAST_COPY_AT_RISK, LAST_COPY_AT_RISK_CLUSTER_READY, "cluster_ready", PLATFORM)             \
    ROW(LAST_COPY_AT_RISK, LAST_COPY_AT_RISK_CLUSTER_NOT_READY, "cluster_not_ready", CLUSTER)      \
    ROW(PLACEMENT_LOST, PLACEMENT_LOST_CLUSTER_GONE, "cluster_gone", POLICY_OWNER)                 \
    ROW(PLACEMENT_LOST, PLACEMENT_LOST_NO_CLUSTER_FIT, "no_cluster_fit", POLICY_OWNER)             \
    ROW(CONTROLLERS_STUCK, CONTROLLERS_STUCK_NOT_RUNNING, "not_running", PLATFORM)                 \
    ROW(CONTROLLERS_STUCK, CONTROLLERS_STUCK_RESTARTING, "restarting", PLATFORM)                   \
    ROW(CONTROLLERS_STUCK, CONTROLLERS_STUCK_NO_PROGRESS, "no_progress", PLATFORM)                 \
    ROW(CONTROLLERS_STUCK, CONTROLLERS_STUCK_TOO_SLOW, "too_slow", PLATFORM)                       \
    ROW(CONTROLLERS_STUCK, CONTROLLERS_STUCK_ALL_REFUSED, "all_refused", PLATFORM)                 \
    ROW(SCHEDULER_STUCK, SCHEDULER_STUCK_NOT_RUNNING, "not_running", PLATFORM)                     \
    ROW(SCHEDULER_STUCK, SCHEDULER_STUCK_RESTARTING, "restarting", PLATFORM)                       \
    ROW(SCHEDULER_STUCK, SCHEDULER_STUCK_NO_PROGRESS, "no_progress", PLATFORM)                     \
    ROW(CLOUD_RESOURCE_CONFLICT, CLOUD_RESOURCE_CONFLICT_DUPLICATE_IDENTITY, "duplicate_identity", \
        USER)                                                                                      \
    ROW(CLOUD_RESOURCE_CONFLICT, CLOUD_RESOURCE_CONFLICT_MULTI_CLUSTER_PLACEMENT,                  \
        "multi_cluster_placement", POLICY_OWNER)                                                   \
    ROW(CLOUD_RESOURCE_CONFLICT, CLOUD_RESOURCE_CONFLICT_SILENT, "silent", USER)                   \
    ROW(PLACEMENT_AT_RISK, PLACEMENT_AT_RISK_AFFINITY, "affinity", POLICY_OWNER)                   \
    ROW(PLACEMENT_AT_RISK, PLACEMENT_AT_RISK_API_NOT_SERVED, "api_not_served", POLICY_OWNER)       \
    ROW(PLACEMENT_AT_RISK, PLACEMENT_AT_RISK_TAINT, "taint", POLICY_OWNER)                         \
    ROW(PLACEMENT_AT_RISK, PLACEMENT_AT_RISK_EVICTING, "evicting", POLICY_OWNER)                   \
    ROW(PLACEMENT_AT_RISK, PLACEMENT_AT_RISK_SPREAD_PROPERTY, "spread_property", POLICY_OWNER)     \
    ROW(PLACEMENT_AT_RISK, PLACEMENT_AT_RISK_WORKLOAD_AFFINITY, "workload_affinity", POLICY_OWNER) \
    ROW(PLACEMENT_AT_RISK, PLACEMENT_AT_RISK_CLUSTER_DELETING, "cluster_deleting", POLICY_OWNER)   \
    ROW(PLACEMENT_AT_RISK, PLACEMENT_AT_RISK_CLUSTER_NOT_READY, "cluster_not_ready", POLICY_OWNER) \
    ROW(DEPENDENCY_CONFLICT, DEPENDENCY_CONFLICT_CONFLICT_RESOLUTION, "ConflictResolution",        \
        POLICY_OWNER)                                                                              \
    ROW(DEPENDENCY_CONFLICT, DEPENDENCY_CONFLICT_PRESERVE_RESOURCES_ON_DELETION,                   \
        "PreserveResourcesOnDeletion", POLICY_OWNER)                                               \
    ROW(DEPENDENCY_NOT_RESOLVED, DEPENDENCY_NOT_RESOLVED_CONFLICT_RESOLUTION,                      \
        "ConflictResolution", KARMADA)                                                             \
    ROW(DEPENDENCY_NOT_RESOLVED, DEPENDENCY_NOT_RESOLVED_PRESERVE_RESOURCES_ON_DELETION,           \
        "PreserveResourcesOnDeletion", KARMADA)                                                    \
    ROW(POLICY_NOT_IN_FORCE, POLICY_NOT_IN_FORCE_PRIORITY_CLASS_MISSING, "priority_class_missing", \
        PLATFORM)                                                                                  \
    ROW(POLICY_NOT_IN_FORCE, POLICY_NOT_IN_FORCE_OVERRIDE_MISSING, "override_missing",             \
        POLICY_OWNER)                                                                              \
    ROW(POLICY_NOT_IN_FORCE, POLICY_NOT_IN_FORCE_POLICY_REPLACED, "policy_replaced", KARMADA)      \
    ROW(POLICY_NOT_IN_FORCE, POLICY_NOT_IN_FORCE_POLICY_UPDATED, "policy_updated", KARMADA)        \
    ROW(POLICY_NOT_IN_FORCE, POLICY_NOT_IN_FORCE_NEVER_BOUND, "never_bound", KARMADA)              \
    ROW(POLICY_NOT_IN_FORCE, POLICY_NOT_IN_FORCE_TEMPLATE_UPDATED, "template_updated", KARMADA)    \
    ROW(TEMPLATE_FROZEN, TEMPLATE_FROZEN_SELECTOR_MISMATCH, "selector_mismatch", POLICY_OWNER)     \
    ROW(TEMPLATE_FROZEN, TEMPLATE_FROZEN_POLICY_GONE, "policy_gone", POLICY_OWNER)                 \
    ROW(NOT_PROPAGATED, NOT_PROPAGATED_OVERRIDE_MISSING, "override_missing", POLICY_OWNER)         \
    ROW(NOT_PROPAGATED, NOT_PROPAGATED_NAMESAKE, "namesake", KARMADA)                              \
    ROW(NOT_PROPAGATED, NOT_PROPAGATED_PRIORITY_CLASS_MISSING, "priority_class_missing", PLATFORM) \
    ROW(NOT_PROPAGATED, NOT_PROPAGATED_STUCK, "stuck", USER)                                       \
    ROW(NOT_PROPAGATED, NOT_PROPAGATED_NOT_CLAIMED, "not_claimed", KARMADA)                        \
    ROW(NOT_PROPAGATED, NOT_PROPAGATED_WAITING, "waiting", KARMADA)                                \
    ROW(NOT_PROPAGATED, NOT_PROPAGATED_POLICY_DELETING, "policy_deleting", POLICY_OWNER)           \
    ROW(NOT_PROPAGATED, NOT_PROPAGATED_NO_MATCH, "no_match", POLICY_OWNER)                         \
    ROW(NOT_PROPAGATED, NOT_PROPAGATED_POLICY_GONE, "policy_gone", POLICY_OWNER)                   \
    ROW(NOT_SCHEDULED, NOT_SCHEDULED_NO_CLUSTER_FIT, "no_cluster_fit", POLICY_OWNER)               \
    ROW(NOT_SCHEDULED, NOT_SCHEDULED_UNSCHEDULABLE, "unschedulable", PLATFORM)                     \
    ROW(NOT_SCHEDULED, NOT_SCHEDULED_QUOTA_EXCEEDED, "quota_exceeded", PLATFORM)                   \
    ROW(NOT_SCHEDULED, NOT_SCHEDULED_SCHEDULER_ERROR, "scheduler_error", PLATFORM)                 \
    ROW(NOT_SCHEDULED, NOT_SCHEDULED_OTHER_SCHEDULER, "other_scheduler", PLATFORM)                 \
    ROW(NOT_SCHEDULED, NOT_SCHEDULED_WAITING, "waiting", KARMADA)                                  \
    ROW(NOT_DELIVERED, NOT_DELIVERED_WORK_MISSING, "work_missing", KARMADA)                        \
    ROW(NOT_DELIVERED, NOT_DELIVERED_WORK_DELETING, "work_deleting", KARMADA)                      \
    ROW(NOT_DELIVERED, NOT_DELIVERED_ALREADY_EXISTS, "already_exists", USER)                       \
    ROW(NOT_DELIVERED, NOT_DELIVERED_REFUSED, "refused", USER)                                     \
    ROW(NOT_DELIVERED, NOT_DELIVERED_WORK_OUTDATED, "work_outdated", KARMADA)                      \
    ROW(NOT_DELIVERED, NOT_DELIVERED_WAITING, "waiting", KARMADA)                                  \
    ROW(OVERRIDE_FAILED, OVERRIDE_FAILED_OBSERVED, "observed", PLATFORM)                           \
    ROW(OVERRIDE_FAILED, OVERRIDE_FAILED_PREDICTED, "predicted", PLATFORM)                         \
    ROW(EVICTION_STUCK, EVICTION_STUCK_PURGE_BLOCKED, "purge_blocked", CLUSTER)                    \
    ROW(EVICTION_STUCK, EVICTION_STUCK_RESCHEDULING, "rescheduling", KARMADA)                      \
    ROW(EVICTION_STUCK, EVICTION_STUCK_REPLACING, "replacing", USER)                               \
    ROW(POLICY_INVALID, POLICY_INVALID_INVALID_SELECTOR, "invalid_selector", POLICY_OWNER)         \
    ROW(POLICY_INVALID, POLICY_INVALID_INVALID_EXCLUSION, "invalid_exclusion", POLICY_OWNER)       \
    ROW(POLICY_INVALID, POLICY_INVALID_EMPTY_EXCLUSION, "empty_exclusion", POLICY_OWNER)           \
    ROW(POLICY_INVALID, POLICY_INVALID_NO_SELECTOR, "no_selector", POLICY_OWNER)                   \
    ROW(POLICY_INVALID, POLICY_INVALID_FOREIGN_NAMESPACE, "foreign_namespace", POLICY_OWNER)       \
    ROW(POLICY_INVALID, POLICY_INVALID_UNWATCHED_VERSION, "unwatched_version", POLICY_OWNER)       \
    ROW(POLICY_INVALID, POLICY_INVALID_PREEMPTION_WITHOUT_NAME, "preemption_without_name",         \
        POLICY_OWNER)                                                                              \
    ROW(POLICY_INVALID, POLICY_INVALID_CLUSTER_SCOPED_KIND, "cluster_scoped_kind", POLICY_OWNER)   \
    ROW(POLICY_INVALID, POLICY_INVALID_KIND_NOT_SERVED, "kind_not_served", POLICY_OWNER)           \
    ROW(POLICY_INVALID, POLICY_INVALID_PRIORITY_CLASS_MISSING, "priority_class_missing",           \
        POLICY_OWNER)                                                                              \
    ROW(POLICY_INVALID, POLICY_INVALID_OVERRIDE_MISSING, "override_missing", POLICY_OWNER)         \
    ROW(POLICY_INVALID, POLICY_INVALID_FIELD_PRUNED, "field_pruned", POLICY_OWNER)                 \
    ROW(POLICY_INVALID, POLICY_INVALID_REFUSED, "refused", POLICY_OWNER)                           \
    ROW(BINDING_NAME_COLLISION, BINDING_NAME_COLLISION_TAKEN, "taken", USER)                       \
    ROW(BINDING_NAME_COLLISION, BINDING_NAME_COLLISION_INVALID_NAME, "invalid_name", USER)         \
    ROW(REFERENCE_BROKEN, REFERENCE_BROKEN_REQUIRED_BY_MISSING, "required_by_missing", PLATFORM)   \
    ROW(REFERENCE_BROKEN, REFERENCE_BROKEN_TEMPLATE_MISSING, "template_missing", PLATFORM)         \
    ROW(REFERENCE_BROKEN, REFERENCE_BROKEN_CLAIM_MISSING, "claim_missing", POLICY_OWNER)           \
    ROW(DELETION_STUCK, DELETION_STUCK_POLICY, "policy", PLATFORM)                                 \
    ROW(DELETION_STUCK, DELETION_STUCK_BINDING, "binding", PLATFORM)                               \
    ROW(MEMBER_CLUSTER_UNAVAILABLE, MEMBER_CLUSTER_UNAVAILABLE_GONE, "gone", CLUSTER)              \
    ROW(MEMBER_CLUSTER_UNAVAILABLE, MEMBER_CLUSTER_UNAVAILABLE_NOT_READY, "not_ready", CLUSTER)    \
    ROW(MEMBER_CLUSTER_UNAVAILABLE, MEMBER_CLUSTER_UNAVAILABLE_FLAPPING, "flapping", CLUSTER)      \
    ROW(MEMBER_CLUSTER_UNAVAILABLE, MEMBER_CLUSTER_UNAVAILABLE_REFUSING, "refusing", CLUSTER)      \
    ROW(MANAGEMENT_CONFLICT, MANAGEMENT_CONFLICT_INVALID_PREVENTION, "invalid_prevention", USER)   \
    ROW(MANAGEMENT_CONFLICT, MANAGEMENT_CONFLICT_REPORTED, "reported", USER)                       \
    ROW(MANAGEMENT_CONFLICT, MANAGEMENT_CONFLICT_REFUSED, "refused", USER)                         \
    ROW(LEASE_AT_RISK, LEASE_AT_RISK_EXPIRED, "expired", PLATFORM)                                 \
    ROW(LEASE_AT_RISK, LEASE_AT_RISK_EXPIRING, "expiring", PLATFORM)                               \
    ROW(LEASE_AT_RISK, LEASE_AT_RISK_UNKNOWN_HOLDER, "unknown_holder", PLATFORM)                   \
    ROW(DECISION_FLAPPING, DECISION_FLAPPING_STATE, "state", POLICY_OWNER)                         \
    ROW(DECISION_FLAPPING, DECISION_FLAPPING_CONFLICT, "conflict", POLICY_OWNER)                   \
    ROW(DATA_INCOMPLETE, DATA_INCOMPLETE_FORBIDDEN, "forbidden", PLATFORM)                         \
    ROW(DATA_INCOMPLETE, DATA_INCOMPLETE_FAILING, "failing", PLATFORM)                             \
    ROW(DATA_INCOMPLETE, DATA_INCOMPLETE_LATE, "late", PLATFORM)                                   \
    ROW(DATA_INCOMPLETE, DATA_INCOMPLETE_BROKEN_FILE, "broken_file", USER)                         \
    ROW(DATA_INCOMPLETE, DATA_INCOMPLETE_REJECTED, "rejected", USER)                               \
    ROW(DATA_INCOMPLETE, DATA_INCOMPLETE_DIVERGED, "diverged", PLATFORM)                           \
    ROW(DATA_INCOMPLETE, DATA_INCOMPLETE_SNAPSHOT_OLD, "snapshot_old", PLATFORM)                   \
    ROW(UNHEALTHY, UNHEALTHY_ROLLING, "rolling", USER)                                             \
    ROW(UNHEALTHY, UNHEALTHY_UNAVAILABLE, "unavailable", USER)                                     \
    ROW(UNHEALTHY, UNHEALTHY_UNKNOWN, "unknown", USER)                                             \
    ROW(ORPHANED, ORPHANED, "", POLICY_OWNER)                                                      \
    ROW(EXCLUDED, EXCLUDED, "", POLICY_OWNER)                                                      \
    ROW(DEFERRED_TOO_LONG, DEFERRED_TOO_LONG_POLICY_UPDATED, "policy_updated", USER)               \
    ROW(DEFERRED_TOO_LONG, DEFERRED_TOO_LONG_POLICY_REPLACED, "policy_replaced", USER)             \
    ROW(DEFERRED_TOO_LONG, DEFERRED_TOO_LONG_SELECTOR_MISMATCH, "selector_mismatch", USER)         \
    ROW(DEFERRED_TOO_LONG, DEFERRED_TOO_LONG_POLICY_GONE, "policy_gone", USER)                     \
    ROW(DEFERRED_TOO_LONG, DEFERRED_TOO_LONG_NEVER_BOUND, "never_bound", USER)                     \
    ROW(ON_FALLBACK, ON_FALLBACK, "", PLATFORM)                                                    \
    ROW(TWO_COPIES_HELD, TWO_COPIES_HELD, "", PLATFORM)                                            \
    ROW(CHANGE_SUSPENDED, CHANGE_SUSPENDED, "", POLICY_OWNER)                                      \
    ROW(FORBIDDEN_PLACEMENT, FORBIDDEN_PLACEMENT_BINDING, "binding", PLATFORM)                     \
    ROW(FORBIDDEN_PLACEMENT, FORBIDDEN_PLACEMENT_POLICY, "policy", USER)                           \
    ROW(DRIFT_EXCEEDS_CAPACITY, DRIFT_EXCEEDS_CAPACITY_CPU, "cpu", PLATFORM)                       \
    ROW(DRIFT_EXCEEDS_CAPACITY, DRIFT_EXCEEDS_CAPACITY_MEMORY, "memory", PLATFORM)                 \
    ROW(DRIFT_EXCEEDS_CAPACITY, DRIFT_EXCEEDS_CAPACITY_PODS, "pods", PLATFORM)                     \
    ROW(DRIFT_EXCEEDS_CAPACITY, DRIFT_EXCEEDS_CAPACITY_EPHEMERAL_STORAGE, "ephemeral-storage",     \
        PLATFORM)                                                                                  \
    ROW(DRIFT_EXCEEDS_CAPACITY, DRIFT_EXCEEDS_CAPACITY_OTHER, "other", PLATFORM)                   \
    ROW(DELETION_TRAP, DELETION_TRAP, "", POLICY_OWNER)                                            \
    ROW(LEASE_UNPROTECTED, LEASE_UNPROTECTED_LAPSE_HAZARD, "lapse_hazard", USER)                   \
    ROW(LEASE_UNPROTECTED, LEASE_UNPROTECTED_UNPROTECTABLE, "unprotectable", USER)                 \
    ROW(CONFLICT_PREDICTED, CONFLICT_PREDICTED_CONFLICT_RESOLUTION, "ConflictResolution",          \
        POLICY_OWNER)                                                                              \
    ROW(CONFLICT_PREDICTED, CONFLICT_PREDICTED_PRESERVE_RESOURCES_ON_DELETION,                     \
        "PreserveResourcesOnDeletion", POLICY_OWNER)                                               \
    ROW(REPLICAS_CONTESTED, REPLICAS_CONTESTED_HPA, "hpa", USER)                                   \
    ROW(REPLICAS_CONTESTED, REPLICAS_CONTESTED_FEDERATED_HPA, "federated_hpa", USER)               \
    ROW(VALUE_OVERRIDDEN, VALUE_OVERRIDDEN_CONFLICT_RESOLUTION, "ConflictResolution",              \
        POLICY_OWNER)                                                                              \
    ROW(VALUE_OVERRIDDEN, VALUE_OVERRIDDEN_PRESERVE_RESOURCES_ON_DELETION,                         \
        "PreserveResourcesOnDeletion", POLICY_OWNER)                                               \
    ROW(POLICY_TIE, POLICY_TIE, "", POLICY_OWNER)                                                  \
    ROW(POLICY_OUTRANKED, POLICY_OUTRANKED, "", POLICY_OWNER)                                      \
    ROW(POLICY_UNUSED, POLICY_UNUSED, "", POLICY_OWNER)                                            \
    ROW(DUPLICATE_OBJECT, DUPLICATE_OBJECT, "", USER)

#define PROBLEM_REASON_ENUMERATOR(problem, id, word, actor) PROBLEM_REASON_##id,
enum problem_reason { PROBLEM_REASONS(PROBLEM_REASON_ENUMERATOR) PROBLEM_REASON_COUNT };

struct problem_reason_row {
    const char *name; /* Word for programs; "" without a name. */
    enum problem_id problem;
    enum actor actor;
};
extern const struct problem_reason_row problem_reasons[PROBLEM_REASON_COUNT];

/* Returns the problem's first reason, and the number of its reasons; they are consecutive. */
enum problem_reason problem_first_reason(enum problem_id problem);
unsigned problem_reason_count(enum problem_id problem);
/* Returns the reason of the problem with this name; PROBLEM_REASON_COUNT without one. */
enum problem_reason problem_find_reason(enum problem_id problem, const char *name);
/* Returns the problem with this name; PROBLEM_COUNT without one. */
enum problem_id problem_find(const char *name);

/* ---- settings ---- */

/* Settings of --problems.severity, --problems.patience and --problems.resolve-delay. */
struct problem_settings {
    uint8_t severity[PROBLEM_COUNT];    /* enum problem_severity or SEVERITY_OFF. */
    int64_t patience_ms[PROBLEM_COUNT]; /* At least 0. */
    int64_t resolve_delay_ms;           /* At least 0. */
};

/* Sets the severities and patiences of the table, and a resolve delay of five minutes. */
void problem_settings_reset(struct problem_settings *settings);
