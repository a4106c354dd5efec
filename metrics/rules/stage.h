/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

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
struct __attribute__((packed)) standing {
    enum stage stage : 8;
    enum stage_reason reason : 8;
};
static_assert(sizeof(struct standing) == 2, "two bytes");

/* Where a template is on its way, beside its state. */
struct way {
    struct standing at;
    /* The first stage from EVICTING on that holds of its binding; STAGE_NONE without one. */
    struct standing delivery;
    uint32_t since_s;          /* Of `at`; 0 if no object says. */
    uint32_t delivery_since_s; /* Likewise. */
};
