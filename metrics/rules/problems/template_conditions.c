/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/template_conditions.h"

#include "metrics/rules/override/template_overrides.h"
#include "metrics/rules/problems/replica_contest.h"
#include "metrics/rules/replica_projection.h"
#include "metrics/rules/rule.h"

/* The template to judge, and the parts of its decision. */
struct judged_template {
    const struct rule_context *c;
    const struct entry *entry;
    const struct template *object;
    struct template_decision *d;
    const struct binding *binding; /* NULL without one. */
    struct condition_list *out;
    int64_t *due_ms;
};

static void add_condition(const struct judged_template *t, enum problem_reason reason,
                          int64_t since_ms)
{
    assert(reason < PROBLEM_REASON_COUNT);
    condition_list_add(t->out, (struct condition){reason, since_ms, false});
}

/* Appends the condition; `unknown` if policies or bindings have not been read completely. */
static void add_match_condition(const struct judged_template *t, enum problem_reason reason,
                                int64_t since_ms)
{
    bool unknown =
        incomplete_classes(&t->c->incomplete) & (1U << CLASS_POLICY | 1U << CLASS_BINDING);

    assert(reason < PROBLEM_REASON_COUNT);
    condition_list_add(t->out, (struct condition){reason, since_ms, unknown});
}

static const struct policy *governing_policy(const struct judged_template *t)
{
    return decision_governing(t->d) ? entry_policy(decision_governing(t->d)) : NULL;
}

/* ---- binding_name_collision ---- */

/* Returns true if the template waits for a binding, and the API server refuses its name. */
static bool has_invalid_binding_name(const struct judged_template *t)
{
    return !t->binding && t->d->stages.at.stage == STAGE_UNBOUND &&
           !binding_name_is_valid(entry_kind(t->entry), t->entry->name);
}

/* No time is known: the other template, or a policy that selects this one, may have come later. */
static void name_collision_condition(const struct judged_template *t)
{
    if (t->d->defects & 1U << DEFECT_NAME_COLLISION)
        add_condition(t, PROBLEM_REASON_BINDING_NAME_COLLISION_TAKEN, 0);
    else if (has_invalid_binding_name(t))
        add_condition(t, PROBLEM_REASON_BINDING_NAME_COLLISION_INVALID_NAME, 0);
}

/* ---- not_propagated ---- */

/*
 * Returns the time since which a template without a binding has been as it is: its creation, or its
 * last change by a user, which may have changed its labels. Returns 0 if that time is unknown,
 * because a creation does not date the effect of a later change.
 */
static int64_t template_time_ms(const struct judged_template *t)
{
    return template_changed_ms(t->object)
               ? later_of(template_changed_ms(t->object), template_created_ms(t->object))
               : 0;
}

/* Returns the time since which the present policy governs the template; 0 if unknown. */
static int64_t governed_since_ms(const struct judged_template *t)
{
    const struct policy *policy = governing_policy(t);
    int64_t template_ms = template_time_ms(t);

    if (!policy || !policy->changed_ms || !template_ms)
        return 0;
    return later_of(template_ms, later_of(policy->changed_ms, policy->created_ms));
}

static bool runs_pods(const struct entry *template)
{
    static const char *const kinds[][2] = {
        {"apps", "Deployment"}, {"apps", "StatefulSet"}, {"apps", "DaemonSet"},
        {"apps", "ReplicaSet"}, {"batch", "Job"},        {"batch", "CronJob"},
    };
    const char *api_version = entry_type(template)->api_version;
    size_t group_len = api_group_len(api_version);

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strcmp(entry_kind(template), kinds[i][1]) == 0 && strlen(kinds[i][0]) == group_len &&
            memcmp(api_version, kinds[i][0], group_len) == 0)
            return true;
    }
    return false;
}

/*
 * Appends not_propagated `no_match` if the template is meant to be propagated: it has no
 * controller, and either runs pods, or a policy selects its kind by labels or as a whole.
 */
static void no_match_condition(const struct judged_template *t)
{
    int64_t broad_ms = 0, since_ms = template_time_ms(t);

    if (t->object->controlled)
        return;
    if (!runs_pods(t->entry)) {
        if (!selector_index_find_broad(t->c->index, t->entry, &broad_ms))
            return;
        since_ms = since_ms && broad_ms ? later_of(since_ms, broad_ms) : 0;
    }
    /* The labels of an object that may not be read are unknown. */
    if (t->object->unread)
        condition_list_add(
            t->out, (struct condition){PROBLEM_REASON_NOT_PROPAGATED_NO_MATCH, since_ms, true});
    else
        add_match_condition(t, PROBLEM_REASON_NOT_PROPAGATED_NO_MATCH, since_ms);
}

static void pending_condition(const struct judged_template *t)
{
    switch ((enum pending_reason)t->d->reason) {
    case PENDING_NO_MATCH:
        no_match_condition(t);
        break;
    case PENDING_POLICY_GONE:
        add_match_condition(t, PROBLEM_REASON_NOT_PROPAGATED_POLICY_GONE, decision_since_ms(t->d));
        break;
    case PENDING_OVERRIDE_MISSING:
        add_match_condition(t, PROBLEM_REASON_NOT_PROPAGATED_OVERRIDE_MISSING,
                            governed_since_ms(t));
        break;
    case PENDING_POLICY_DELETING:
        add_match_condition(t, PROBLEM_REASON_NOT_PROPAGATED_POLICY_DELETING, 0);
        break;
    case PENDING_EXCLUDED:
    case PENDING_KIND_NOT_SELECTED:
    case PENDING_REASON_COUNT:
        break;
    }
}

static void unbound_condition(const struct judged_template *t)
{
    enum stage_reason why = t->d->stages.at.reason;

    /* No client has applied an object without a uid yet. */
    if (why == WHY_WAITING && t->object->uid_hash == uid_hash(""))
        return;
    add_match_condition(t, problem_find_reason(PROBLEM_NOT_PROPAGATED, stage_reason_names[why]),
                        governed_since_ms(t));
}

/* Karmada does not propagate a template in deletion. */
static void not_propagated_condition(const struct judged_template *t)
{
    if (t->object->deleting)
        return;
    if (t->d->state == STATE_UNBOUND)
        unbound_condition(t);
    else if (t->d->state == STATE_PENDING)
        pending_condition(t);
}

/* ---- template_frozen, policy_not_in_force, deferred_too_long ---- */

/*
 * Returns the time since which a template is stale; 0 if unknown. A selector_mismatch begins with a
 * change of the policy or of the template's labels. A lazy policy, or the value of a newer
 * PriorityClass, is overdue since the user's change that should have applied it.
 */
static int64_t stale_since_ms(const struct judged_template *t)
{
    const struct policy *policy = governing_policy(t);
    bool is_lazy = (policy && policy->lazy) || t->d->priority_moved ||
                   t->c->options.takeover == TAKEOVER_STATIC;
    bool by_user = t->d->reason == STALE_SELECTOR_MISMATCH || t->d->reason == STALE_NEVER_BOUND ||
                   (is_lazy && t->d->phase == PHASE_OVERDUE);

    if (!decision_since_ms(t->d) || !by_user)
        return decision_since_ms(t->d);
    return later_of(decision_since_ms(t->d),
                    later_of(template_changed_ms(t->object), template_created_ms(t->object)));
}

/* A missing PriorityClass or override policy keeps Karmada from writing the binding at all. */
static enum problem_reason why_not_in_force(const struct judged_template *t)
{
    const struct policy_decision *policy =
        decision_governing(t->d) ? policy_decision(decision_governing(t->d)) : NULL;

    if (lacks_priority_class(t->entry, t->d))
        return PROBLEM_REASON_POLICY_NOT_IN_FORCE_PRIORITY_CLASS_MISSING;
    if (policy && policy->override_missing)
        return PROBLEM_REASON_POLICY_NOT_IN_FORCE_OVERRIDE_MISSING;
    return problem_find_reason(PROBLEM_POLICY_NOT_IN_FORCE, stale_reason_names[t->d->reason]);
}

static void stale_condition(const struct judged_template *t)
{
    const struct template_decision *d = t->d;
    bool frozen = d->reason == STALE_SELECTOR_MISMATCH || d->reason == STALE_POLICY_GONE;
    int64_t since_ms = stale_since_ms(t);

    if (d->phase == PHASE_DEFERRED)
        add_match_condition(
            t, problem_find_reason(PROBLEM_DEFERRED_TOO_LONG, stale_reason_names[d->reason]),
            since_ms);
    else if (frozen)
        add_match_condition(
            t, problem_find_reason(PROBLEM_TEMPLATE_FROZEN, stale_reason_names[d->reason]),
            since_ms);
    else
        add_match_condition(t, why_not_in_force(t), since_ms);
}

/* ---- excluded, orphaned ---- */

/* The exclusion dates from the last change of the policy or of the template's labels. */
static void excluded_condition(const struct judged_template *t)
{
    const struct template_decision *d = t->d;
    int64_t template_ms = template_time_ms(t), policy_ms = 0;

    for (uint32_t i = 0; i < d->candidate_count && policy_ms == 0; i++) {
        if (d->candidates[i].excluded && !d->candidates[i].deleting)
            policy_ms = entry_policy(decision_candidate(d, i).policy)->changed_ms;
    }
    add_match_condition(t, PROBLEM_REASON_EXCLUDED,
                        template_ms && policy_ms ? later_of(template_ms, policy_ms) : 0);
}

/* Appends the conditions of LINE_POLICY. */
static void policy_conditions(const struct judged_template *t)
{
    const struct template_decision *d = t->d;

    name_collision_condition(t);
    not_propagated_condition(t);
    if (d->state == STATE_STALE)
        stale_condition(t);
    if (d->state == STATE_PENDING && d->reason == PENDING_EXCLUDED)
        excluded_condition(t);
    if (d->state == STATE_ORPHANED)
        add_match_condition(t, PROBLEM_REASON_ORPHANED, decision_since_ms(d));
}

/* ---- placement ---- */

/* Returns a reference to the placement of the binding; drop it with placements_drop(). */
static const struct resolved_placement *binding_placement(const struct judged_template *t)
{
    return placements_ref(t->c->placements, t->binding->propagation->placement);
}

/* Returns true if the placement names a member cluster that does not exist. */
static bool names_missing_cluster(const struct rule_context *c,
                                  const struct resolved_placement *resolved)
{
    const struct placement *placement = resolved->placement;

    if (!resolved->has_clusters || placement->unreadable)
        return false;
    for (uint32_t i = 0; i < placement->group_count; i++) {
        const struct cluster_affinity *affinity = &placement->groups[i].affinity;

        for (uint32_t k = 0; k < affinity->name_count; k++) {
            if (affinity_allows_name(affinity, affinity->names[k]) &&
                !placements_has_cluster(c->placements, affinity->names[k]))
                return true;
        }
    }
    return false;
}

/*
 * Returns true if the governing policy's placement is that of the binding, and the scheduler keeps
 * the targets that it allows.
 */
static bool is_placement_safe(const struct template_decision *d)
{
    const struct policy_decision *policy = d->state == STATE_CURRENT && decision_governing(d)
                                               ? policy_decision(decision_governing(d))
                                               : NULL;

    return policy && policy->keeps_targets && d->stages.delivery.stage != STAGE_EVICTING &&
           !(d->flags & (1U << FLAG_FALLBACK | 1U << FLAG_OFF_PLACEMENT));
}

/* Returns true if a present target passes the filters in some release that Karmada may have. */
static bool keeps_target(const struct scheduling *s)
{
    struct release_range range = placements_release(s->placements);

    for (uint32_t i = 0; i < s->binding->cluster_count; i++) {
        const struct entry *cluster =
            placements_find_cluster(s->placements, s->binding->clusters[i].name);

        if (cluster && (scheduling_passes(s, range.newest, cluster) ||
                        scheduling_passes(s, range.oldest, cluster)))
            return true;
    }
    return false;
}

/* Returns the reason for the filter that excludes most clusters, the first one of equals. */
static enum problem_reason risk_reason(const struct scheduling *s)
{
    static const enum problem_reason reasons[FILTER_COUNT] = {
        [FILTER_CLUSTER_DELETING] = PROBLEM_REASON_PLACEMENT_AT_RISK_CLUSTER_DELETING,
        [FILTER_AFFINITY] = PROBLEM_REASON_PLACEMENT_AT_RISK_AFFINITY,
        [FILTER_API_NOT_SERVED] = PROBLEM_REASON_PLACEMENT_AT_RISK_API_NOT_SERVED,
        [FILTER_TAINT] = PROBLEM_REASON_PLACEMENT_AT_RISK_TAINT,
        [FILTER_EVICTING] = PROBLEM_REASON_PLACEMENT_AT_RISK_EVICTING,
        [FILTER_SPREAD_PROPERTY] = PROBLEM_REASON_PLACEMENT_AT_RISK_SPREAD_PROPERTY,
        [FILTER_WORKLOAD_AFFINITY] = PROBLEM_REASON_PLACEMENT_AT_RISK_WORKLOAD_AFFINITY,
    };
    size_t counts[FILTER_COUNT + 1];
    unsigned most = 0;

    scheduling_count_filters(s, placements_release(s->placements).newest, counts);
    for (unsigned i = 1; i < FILTER_COUNT; i++) {
        if (counts[i] > counts[most])
            most = i;
    }
    return reasons[most];
}

/*
 * The scheduler tries the affinity groups from the one in use on. Present targets pass despite
 * their taints. The time of a change of Clusters is not known.
 */
static void placement_at_risk_condition(const struct judged_template *t)
{
    const struct binding *b = t->binding;
    struct scheduling s = {.placements = t->c->placements, .binding = b, .gates = t->c->gates};

    if (!b->has_placement || b->cluster_count == 0 ||
        strcmp(b->propagation->scheduler_name ? b->propagation->scheduler_name : DEFAULT_SCHEDULER,
               DEFAULT_SCHEDULER) != 0)
        return;
    s.resolved = binding_placement(t);
    if (incomplete_classes(&t->c->incomplete) & 1U << CLASS_CLUSTER) {
        condition_list_add(t->out,
                           (struct condition){PROBLEM_REASON_PLACEMENT_AT_RISK_AFFINITY, 0, true});
        condition_list_add(t->out,
                           (struct condition){PROBLEM_REASON_FORBIDDEN_PLACEMENT_BINDING, 0, true});
    } else if (s.resolved->has_clusters && !s.resolved->placement->unreadable &&
               !keeps_target(&s) && !scheduling_fits_any(&s)) {
        add_condition(t, risk_reason(&s), 0);
    }
    placements_drop(t->c->placements, s.resolved);
}

/* ---- delivery ---- */

static int64_t delivery_since_ms(const struct judged_template *t)
{
    return (int64_t)t->d->stages.delivery_since_s * 1000;
}

static enum member_state target_member(const struct judged_template *t, uint32_t target)
{
    return members_state(&t->c->members, t->binding->clusters[target].name);
}

/* The copy is alone since Scheduled became False and the eviction task was created. */
static void last_copy_condition(const struct judged_template *t)
{
    const struct template_decision *d = t->d;
    const struct status_problem *status = t->binding->status.problem;
    bool is_ready = false;

    if (d->stages.delivery.stage != STAGE_EVICTING || d->stages.delivery.reason != WHY_LAST_COPY)
        return;
    for (uint32_t i = 0; i < status->eviction_count; i++)
        is_ready |= eviction_ends_by_itself(&status->evictions[i]) &&
                    members_state(&t->c->members, status->evictions[i].cluster) == MEMBER_READY;
    add_condition(t,
                  is_ready ? PROBLEM_REASON_LAST_COPY_AT_RISK_CLUSTER_READY
                           : PROBLEM_REASON_LAST_COPY_AT_RISK_CLUSTER_NOT_READY,
                  later_of(delivery_since_ms(t), (int64_t)t->binding->status.scheduled_s * 1000));
}

/* Returns true if the binding asks for copies: more than 0 replicas where the kind has replicas. */
static bool wants_copies(const struct binding *b, struct release_range range)
{
    return b->replicas > 0 || b->component_count > 0 ||
           !(b->has_replicas || interprets_replicas(b->scope->api_version, b->scope->kind, range) !=
                                    RELEASE_ANSWER_NO);
}

static bool is_placement_lost(const struct binding *b, struct release_range range)
{
    const struct status_problem *status = b->status.problem;

    return b->status.scheduled == SCHEDULED_NO_CLUSTER_FIT && binding_target_count(b) == 0 &&
           !(status && status->eviction_count > 0) && b->status.was_placed &&
           wants_copies(b, range);
}

static void placement_lost_condition(const struct judged_template *t)
{
    const struct resolved_placement *resolved = binding_placement(t);

    add_condition(t,
                  names_missing_cluster(t->c, resolved)
                      ? PROBLEM_REASON_PLACEMENT_LOST_CLUSTER_GONE
                      : PROBLEM_REASON_PLACEMENT_LOST_NO_CLUSTER_FIT,
                  (int64_t)t->binding->status.scheduled_s * 1000);
    placements_drop(t->c->placements, resolved);
}

enum { EVICTION_DEFAULT_S = 600 }; /* Karmada: --graceful-eviction-timeout. */

/* Returns the time at which half of the time of an eviction task is used; INT64_MAX if unknown. */
static int64_t eviction_half_ms(const struct eviction *e)
{
    int64_t grace_s = e->grace_s > 0 ? e->grace_s : EVICTION_DEFAULT_S;

    return e->created_ms > 0 ? e->created_ms + grace_s * 500 : INT64_MAX;
}

/* The condition begins when the first task has used half of its time. */
static void eviction_condition(const struct judged_template *t)
{
    const struct status_problem *status = t->binding->status.problem;
    enum problem_reason reason = problem_find_reason(
        PROBLEM_EVICTION_STUCK, stage_reason_names[t->d->stages.delivery.reason]);
    int64_t half_ms = INT64_MAX;

    if (t->d->stages.delivery.stage != STAGE_EVICTING || reason == PROBLEM_REASON_COUNT)
        return;
    for (uint32_t i = 0; i < status->eviction_count; i++) {
        const struct eviction *e = &status->evictions[i];

        if (eviction_ends_by_itself(e) && eviction_half_ms(e) < half_ms)
            half_ms = eviction_half_ms(e);
    }
    if (half_ms <= t->c->now_ms)
        add_condition(t, reason, half_ms);
    else if (half_ms < *t->due_ms)
        *t->due_ms = half_ms;
}

static void not_scheduled_condition(const struct judged_template *t)
{
    struct stage_and_reason at = t->d->stages.delivery;
    enum problem_reason reason = problem_find_reason(
        PROBLEM_NOT_SCHEDULED,
        stage_reason_names[at.reason == WHY_OTHER ? WHY_SCHEDULER_ERROR : at.reason]);

    /* The reason `suspended` is no problem. */
    if (at.stage == STAGE_UNSCHEDULED && reason != PROBLEM_REASON_COUNT)
        add_condition(t, reason, delivery_since_ms(t));
}

/* ---- targets ---- */

/*
 * Returns the time since which a target is in its stage; 0 if unknown. No object dates the loss or
 * the deletion of a Work.
 */
static int64_t target_since_ms(const struct judged_template *t, struct stage_and_reason at)
{
    if (at.reason == WHY_WORK_MISSING || at.reason == WHY_WORK_DELETING ||
        at.stage < STAGE_UNDISPATCHED)
        return 0;
    return (int64_t)delivery_stage_start_s(t->binding, at.stage, template_changed_ms(t->object)) *
           1000;
}

static bool is_not_delivered_stage(enum stage stage)
{
    return stage == STAGE_UNDISPATCHED || stage == STAGE_UNAPPLIED || stage == STAGE_UNDELIVERED;
}

/* Appends override_failed for the first target for which an override policy fails. */
static void override_condition(const struct judged_template *t)
{
    for (uint32_t i = 0; i < t->d->target_count; i++) {
        if (decision_targets(t->d)[i].reason == WHY_OVERRIDE_FAILED) {
            add_condition(t, PROBLEM_REASON_OVERRIDE_FAILED_OBSERVED, 0);
            return;
        }
    }
}

/*
 * Appends override_failed if the evaluation of the override policies fails for a target: only for
 * templates that are kept as whole objects, that is, those from files and in plans.
 */
static void predicted_override_condition(const struct judged_template *t)
{
    struct template_overrides overrides;

    if (!template_document(t->object) || store_object_count(t->c->store, CLASS_OVERRIDE) == 0)
        return;
    overrides = template_overrides_make(t->c, t->entry, true);
    if (template_overrides_find_failure(&overrides))
        condition_list_add(t->out,
                           (struct condition){PROBLEM_REASON_OVERRIDE_FAILED_PREDICTED, 0,
                                              incomplete_classes(&t->c->incomplete) &
                                                  (1U << CLASS_OVERRIDE | 1U << CLASS_CLUSTER)});
    template_overrides_release(&overrides);
}

/*
 * Appends not_delivered with the first reason, in the order of the table, of the targets on
 * clusters that are not known to be not ready. The reasons `suspended`, `cluster_not_ready` and
 * `override_failed` do not count.
 */
static void not_delivered_condition(const struct judged_template *t)
{
    enum problem_reason first = PROBLEM_REASON_COUNT;
    int64_t since_ms = 0;

    if (!is_not_delivered_stage(t->d->stages.delivery.stage))
        return;
    for (uint32_t i = 0; i < t->d->target_count; i++) {
        struct stage_and_reason at = decision_targets(t->d)[i];
        enum problem_reason reason;

        if (!is_not_delivered_stage(at.stage) || target_member(t, i) == MEMBER_NOT_READY)
            continue;
        reason = problem_find_reason(PROBLEM_NOT_DELIVERED, stage_reason_names[at.reason]);
        if (reason < first) {
            first = reason;
            since_ms = target_since_ms(t, at);
        }
    }
    if (first != PROBLEM_REASON_COUNT)
        add_condition(t, first, since_ms);
}

/* The stage has no known beginning: `health` has no time. */
static void unhealthy_condition(const struct judged_template *t)
{
    enum problem_reason first = PROBLEM_REASON_COUNT;

    if (t->d->stages.delivery.stage != STAGE_UNHEALTHY)
        return;
    for (uint32_t i = 0; i < t->d->target_count; i++) {
        struct stage_and_reason at = decision_targets(t->d)[i];
        enum stage_reason why = at.reason == WHY_OTHER ? WHY_UNKNOWN : at.reason;
        enum problem_reason reason;

        if (at.stage != STAGE_UNHEALTHY || target_member(t, i) == MEMBER_NOT_READY)
            continue;
        reason = problem_find_reason(PROBLEM_UNHEALTHY, stage_reason_names[why]);
        if (reason < first)
            first = reason;
    }
    if (first != PROBLEM_REASON_COUNT)
        add_condition(t, first, 0);
}

/* Appends the conditions of LINE_DELIVERY. The template has a binding, and no healthy delivery. */
static void delivery_conditions(const struct judged_template *t)
{
    bool is_lost = is_placement_lost(t->binding, t->c->release);

    last_copy_condition(t);
    if (is_lost)
        placement_lost_condition(t);
    eviction_condition(t);
    if (!is_lost)
        not_scheduled_condition(t);
    override_condition(t);
    predicted_override_condition(t);
    not_delivered_condition(t);
    unhealthy_condition(t);
}

/* ---- flags and other facts ---- */

/* A change waits: a target that was not given the template, or a binding to be scheduled. */
static void suspended_condition(const struct judged_template *t)
{
    struct stage_and_reason delivery = t->d->stages.delivery;

    if (delivery.stage == STAGE_UNSCHEDULED && delivery.reason == WHY_SUSPENDED) {
        add_condition(t, PROBLEM_REASON_CHANGE_SUSPENDED, delivery_since_ms(t));
        return;
    }
    for (uint32_t i = 0; i < t->d->target_count; i++) {
        struct stage_and_reason at = decision_targets(t->d)[i];

        if (at.reason == WHY_SUSPENDED) {
            add_condition(t, PROBLEM_REASON_CHANGE_SUSPENDED, target_since_ms(t, at));
            return;
        }
    }
}

/* Returns the creation of the first task with suppressDeletion; 0 if unknown. */
static int64_t copies_held_since_ms(const struct binding *b)
{
    int64_t first_ms = INT64_MAX;

    for (uint32_t i = 0; b->status.problem && i < b->status.problem->eviction_count; i++) {
        const struct eviction *e = &b->status.problem->evictions[i];

        if (!eviction_ends_by_itself(e) && e->created_ms < first_ms)
            first_ms = e->created_ms;
    }
    return first_ms == INT64_MAX ? 0 : first_ms;
}

static void flag_conditions(const struct judged_template *t)
{
    const struct binding *b = t->binding;

    if (t->d->flags & 1U << FLAG_FALLBACK)
        add_condition(t, PROBLEM_REASON_ON_FALLBACK,
                      b->status.scheduled == SCHEDULED_TRUE ? (int64_t)b->status.scheduled_s * 1000
                                                            : 0);
    if (t->d->flags & 1U << FLAG_TWO_COPIES_HELD)
        add_condition(t, PROBLEM_REASON_TWO_COPIES_HELD, copies_held_since_ms(b));
}

/* Returns true if replicas are to leave a cluster that the governing policy forbids. */
static bool has_forbidden_replicas(const struct capacity *c)
{
    for (uint32_t i = 0; c && c->moves && i < c->assigned_count; i++) {
        if (c->assigned[i].forbidden && c->assigned[i].replicas > 0)
            return true;
    }
    return false;
}

static void forbidden_placement_condition(const struct judged_template *t)
{
    if (t->d->flags & 1U << FLAG_OFF_PLACEMENT)
        add_condition(t, PROBLEM_REASON_FORBIDDEN_PLACEMENT_BINDING, 0);
    else if (has_forbidden_replicas(decision_capacity(t->d)))
        add_condition(t, PROBLEM_REASON_FORBIDDEN_PLACEMENT_POLICY, decision_since_ms(t->d));
}

/* Objects that are being deleted do not count. */
static void broken_claim_condition(const struct judged_template *t)
{
    if (t->d->defects & 1U << DEFECT_DANGLING_CLAIM && !t->object->deleting)
        add_match_condition(t, PROBLEM_REASON_REFERENCE_BROKEN_CLAIM_MISSING, 0);
}

static void replica_contest_condition(const struct judged_template *t)
{
    int64_t since_ms;
    enum problem_reason reason = replica_contest_reason(t->c, t->entry, &since_ms);

    if (reason != PROBLEM_REASON_COUNT)
        add_condition(t, reason, since_ms);
}

/* Problems of Config Connector's resources; no object dates them. */
static void connector_conditions(const struct judged_template *t)
{
    static const struct {
        enum connector_conflict conflict;
        enum problem_reason reason;
    } rows[] = {
        {CONNECTOR_DUPLICATE_IDENTITY, PROBLEM_REASON_CLOUD_RESOURCE_CONFLICT_DUPLICATE_IDENTITY},
        {CONNECTOR_MULTI_CLUSTER, PROBLEM_REASON_CLOUD_RESOURCE_CONFLICT_MULTI_CLUSTER_PLACEMENT},
        {CONNECTOR_SILENT, PROBLEM_REASON_CLOUD_RESOURCE_CONFLICT_SILENT},
        {CONNECTOR_INVALID_PREVENTION, PROBLEM_REASON_MANAGEMENT_CONFLICT_INVALID_PREVENTION},
        {CONNECTOR_REPORTED, PROBLEM_REASON_MANAGEMENT_CONFLICT_REPORTED},
        {CONNECTOR_REFUSED, PROBLEM_REASON_MANAGEMENT_CONFLICT_REFUSED},
        {CONNECTOR_DELETION_TRAP, PROBLEM_REASON_DELETION_TRAP},
        {CONNECTOR_LAPSE_HAZARD, PROBLEM_REASON_LEASE_UNPROTECTED_LAPSE_HAZARD},
        {CONNECTOR_UNPROTECTABLE, PROBLEM_REASON_LEASE_UNPROTECTED_UNPROTECTABLE},
    };
    unsigned conflicts = connector_conflicts(t->entry);
    enum problem_id last = PROBLEM_COUNT;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum problem_id problem = problem_reasons[rows[i].reason].problem;

        if (!(conflicts & 1U << rows[i].conflict) || problem == last)
            continue;
        add_condition(t, rows[i].reason, 0);
        last = problem;
    }
}

/* Appends the conditions of LINE_NONE that need a binding. */
static void binding_conditions(const struct judged_template *t)
{
    if (!is_placement_safe(t->d))
        placement_at_risk_condition(t);
    if (t->d->flags)
        flag_conditions(t);
    if (t->d->stages.delivery.stage < STAGE_UNHEALTHY)
        suspended_condition(t);
    forbidden_placement_condition(t);
}

void template_conditions(const struct rule_context *c, const struct entry *template,
                         struct condition_list *out, int64_t *due_ms)
{
    struct template_decision *d = entry_decision(template);
    bool is_delivered = d->stages.delivery.stage >= STAGE_UNREACHABLE;
    bool is_settled = d->state == STATE_ATTACHED || is_placement_safe(d);

    struct judged_template t = {
        .c = c,
        .entry = template,
        .object = entry_template(template),
        .d = d,
        .binding = entry_binding(decision_binding(d)),
        .out = out,
        .due_ms = due_ms,
    };
    bool has_delivery = t.binding && d->stages.delivery.stage != STAGE_NONE;

    assert(t.object);
    if (!has_delivery || is_delivered)
        predicted_override_condition(&t);
    /* Most templates are current and healthy; they do not need more than their decision. */
    if (is_settled && is_delivered && !d->defects && !d->flags && !decision_connector(d) &&
        d->stages.delivery.stage != STAGE_NONE && !has_autoscaler(c->autoscalers, template))
        return;
    policy_conditions(&t);
    if (has_delivery && !is_delivered)
        delivery_conditions(&t);
    if (has_delivery)
        binding_conditions(&t);
    broken_claim_condition(&t);
    if (decision_connector(d))
        connector_conditions(&t);
    replica_contest_condition(&t);
}
