/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/prediction.h"

#include "metrics/model/binding.h"
#include "metrics/rules/admission/admission.h"
#include "metrics/rules/admission/quota.h"
#include "metrics/rules/dependency.h"
#include "metrics/rules/replica_projection.h"
#include "metrics/rules/rule.h"

const char *const prediction_names[PREDICTION_COUNT] = {
    [PREDICTION_PLACED] = "placed",
    [PREDICTION_NOWHERE] = "nowhere",
    [PREDICTION_REFUSED] = "refused",
    [PREDICTION_IGNORED] = "ignored",
    [PREDICTION_UNDETERMINED] = "undetermined",
    [PREDICTION_NOT_SIMULATED] = "not_simulated",
    [PREDICTION_STORED] = "stored",
};

static const char other_scheduler[] = "other_scheduler";
static const char quota_exceeded[] = "quota_exceeded";

bool predicted_by_other_scheduler(struct predicted p)
{
    return strcmp(p.reason, other_scheduler) == 0;
}

static struct predicted predict_without_binding(const struct template_decision *d,
                                                const struct entry *template)
{
    const char *reason = stage_reason_names[d->stages.at.reason];

    if (d->state == STATE_PENDING && decision_refused_policy(d))
        return (struct predicted){PREDICTION_REFUSED, "policy_refused"};
    if (d->defects & 1U << DEFECT_NAME_COLLISION)
        return (struct predicted){PREDICTION_REFUSED, "taken"};
    if (d->stages.at.stage == STAGE_UNBOUND &&
        !binding_name_is_valid(entry_kind(template), template->name))
        return (struct predicted){PREDICTION_REFUSED, "invalid_name"};
    if (d->state == STATE_ATTACHED)
        return (struct predicted){PREDICTION_UNDETERMINED, "referrer"};
    if (d->stages.at.reason == WHY_WAITING || d->stages.at.reason == WHY_NOT_CLAIMED)
        return (struct predicted){PREDICTION_UNDETERMINED, "waiting"};
    return (struct predicted){PREDICTION_NOWHERE, reason};
}

/*
 * Returns why the scheduler fails: only unsupported spread constraints make it fail before it looks
 * at the capacity of clusters. `placement` is canonical (struct propagation).
 */
static const char *scheduler_failure(const char *placement)
{
    return placement && strstr(placement, "\"spreadConstraints\":") ? "spread_constraint"
                                                                    : "scheduler_error";
}

/*
 * Returns the outcome of targets: placed for `reason` if Karmada dispatches to one of them. If
 * dispatching is suspended for all of them, only copies from the time before it remain.
 */
static struct predicted predict_dispatching(const struct target_cluster *targets, uint32_t count,
                                            const char *reason)
{
    struct predicted out = {PREDICTION_NOWHERE, "suspended"};

    for (uint32_t i = 0; i < count; i++) {
        if (!targets[i].item.suspended)
            return (struct predicted){PREDICTION_PLACED, reason};
        if (target_has_copy(&targets[i]))
            out = (struct predicted){PREDICTION_PLACED, "kept"};
    }
    return out;
}

/* Returns the outcome of a binding that has no clusters of its own. */
static struct predicted predict_without_clusters(const struct binding *b)
{
    if (b->status.required_count > 0)
        return predict_dispatching(b->clusters, b->status.required_count, "required");
    if (!b->has_placement)
        return (struct predicted){PREDICTION_NOWHERE, "referrer"};
    switch ((enum scheduled)b->status.scheduled) {
    case SCHEDULED_NO_CLUSTER_FIT:
        return (struct predicted){PREDICTION_NOWHERE, "no_cluster_fit"};
    case SCHEDULED_UNSCHEDULABLE:
        return (struct predicted){PREDICTION_NOWHERE, "unschedulable"};
    case SCHEDULED_ERROR:
    case SCHEDULED_OTHER:
        return (struct predicted){PREDICTION_REFUSED, scheduler_failure(b->propagation->placement)};
    case SCHEDULED_NEVER:
    case SCHEDULED_TRUE:
    case SCHEDULED_QUOTA_EXCEEDED:
        break;
    }
    if (b->scheduling_suspended)
        return (struct predicted){PREDICTION_NOWHERE, "suspended"};
    if (b->status.scheduled == SCHEDULED_NEVER)
        return (struct predicted){PREDICTION_UNDETERMINED, "waiting"};
    return (struct predicted){PREDICTION_NOWHERE, "no_replicas"};
}

/* Returns true if the scheduler has yet to place the binding, for this reason. */
static bool is_unscheduled(const struct template_decision *d, enum stage_reason reason)
{
    return d->stages.delivery.stage == STAGE_UNSCHEDULED && d->stages.delivery.reason == reason;
}

/* Returns true if the targets are those of an earlier version of the binding. */
static bool keeps_last_version(const struct template_decision *d, const struct binding *b)
{
    return has_failed_scheduling(&b->status) || is_unscheduled(d, WHY_SUSPENDED);
}

struct predicted predict_from_decision(const struct template_decision *d,
                                       const struct entry *template)
{
    const struct binding *b = entry_binding(decision_binding(d));

    if (d->state == STATE_IGNORED)
        return (struct predicted){PREDICTION_IGNORED, reason_name(d->state, d->reason)};
    if (!b)
        return predict_without_binding(d, template);
    if (b->undetermined)
        return (struct predicted){PREDICTION_UNDETERMINED,
                                  undetermined_reason_names[b->undetermined - 1]};
    if (d->state != STATE_ORPHANED && is_unscheduled(d, WHY_OTHER_SCHEDULER))
        return (struct predicted){PREDICTION_UNDETERMINED, other_scheduler};
    if (binding_rare(b)->quota_excess ||
        (b->status.scheduled == SCHEDULED_QUOTA_EXCEEDED && b->has_placement))
        return (struct predicted){PREDICTION_REFUSED, quota_exceeded};
    if (b->cluster_count == 0)
        return predict_without_clusters(b);
    if (d->state == STATE_ORPHANED)
        return (struct predicted){PREDICTION_PLACED, "left_behind"};
    return predict_dispatching(b->clusters, binding_target_count(b),
                               keeps_last_version(d, b) ? "kept" : "scheduled");
}

bool template_waits_for_placement(const struct entry *template)
{
    const struct template_decision *d = template_decision(template);

    if (d->state == STATE_PENDING)
        return decision_refused_policy(d);
    return (d->state == STATE_UNBOUND || d->state == STATE_ATTACHED) &&
           !entry_binding(decision_binding(d)) &&
           predict_from_decision(d, template).outcome == PREDICTION_UNDETERMINED;
}

bool template_divides_unknown_replicas(const struct entry *template, enum division division)
{
    const char *api_version = entry_type(template)->api_version;
    const char *kind = entry_kind(template);

    return division != DIVISION_DUPLICATED && !kind_has_replicas(api_version, kind) &&
           kind_may_have_replicas(api_version, kind);
}

enum undetermined_reason copy_replicas(const struct entry *template, struct release_range range,
                                       struct binding *out)
{
    const struct template *t = entry_template(template);

    switch (interprets_replicas(entry_type(template)->api_version, entry_kind(template), range)) {
    case RELEASE_ANSWER_NO:
        return UNDETERMINED_REASON_COUNT;
    case RELEASE_ANSWER_DIFFERS:
        return UNDETERMINED_RELEASE;
    case RELEASE_ANSWER_YES:
        break;
    }
    out->has_requirements = out->has_replicas = true;
    if (template_replicas(t) < 0)
        return UNDETERMINED_UNSUPPORTED;
    out->replicas = template_replicas(t);
    return UNDETERMINED_REASON_COUNT;
}

enum undetermined_reason expected_binding_make(const struct entry *template, enum division division,
                                               struct release_range range, struct binding *out)
{
    const struct template *t = entry_template(template);

    *out = (struct binding){
        .scope = &entry_partition(template)->scope,
        .name = template->name,
        .uid_hash = t->uid_hash,
        .has_placement = true,
        .propagation = propagation_none(),
    };
    return template_divides_unknown_replicas(template, division)
               ? UNDETERMINED_UNSUPPORTED
               : copy_replicas(template, range, out);
}

static struct predicted undetermined(struct projection *out, enum undetermined_reason reason)
{
    out->reason = reason;
    return (struct predicted){PREDICTION_UNDETERMINED, undetermined_reason_names[reason]};
}

/*
 * Returns whether the quotas of the namespace allow to place this number of replicas of the
 * template, if it is the next one.
 */
static enum quota_answer judge_quotas(const struct rule_context *c, const struct entry *template,
                                      int64_t replicas)
{
    struct intern *strings = store_string_pool(c->store);
    const struct quota_load before = {0};
    struct quota_load after = {.replicas = replicas};
    const struct quota_scope scope = {c->store, c->gates, c->release, &c->incomplete,
                                      c->quota_totals};
    struct quota_excess excess;
    enum quota_answer answer;
    struct resource_request *requests =
        requests_parse(strings, template_requests(entry_template(template)), &after.request_count);

    after.requests = requests;
    answer = quota_judge(&scope, entry_ns(template), &before, &after, true, &excess);
    for (uint32_t i = 0; i < after.request_count; i++)
        intern_drop(strings, requests[i].resource);
    free(requests);
    return answer;
}

/* Predicts a template for which Karmada will create a binding, from its policy. */
static struct predicted predict_governed(const struct rule_context *c, const struct entry *template,
                                         struct projection *out)
{
    const struct entry *policy = decision_governing(template_decision(template));
    const struct resolved_placement *resolved = policy_decision(policy)->resolved;
    struct binding expected;
    const struct scheduling s = {
        .placements = c->placements, .binding = &expected, .resolved = resolved, .gates = c->gates};
    struct schedule_result result = {0};
    int64_t replicas;
    enum undetermined_reason unknown =
        expected_binding_make(template, resolved->placement->division, c->release, &expected);

    if (unknown != UNDETERMINED_REASON_COUNT)
        return undetermined(out, unknown);
    if (!resolved->has_clusters)
        return undetermined(out, UNDETERMINED_NO_CLUSTERS);
    scheduling_run_in_range(&s, true, &result);
    *out = result.targets;
    if (result.scheduled == SCHEDULED_ERROR && out->determined)
        return (struct predicted){PREDICTION_REFUSED, scheduler_failure(resolved->text)};
    replicas = projection_count_replicas(out, &expected);
    if (replicas > 0 && judge_quotas(c, template, replicas) == QUOTA_REFUSES)
        return (struct predicted){PREDICTION_REFUSED, quota_exceeded};
    if (!out->determined)
        return undetermined(out, out->reason);
    targets_set_suspended(store_string_pool(c->store),
                          entry_policy(policy)->propagation->suspension, out->clusters, out->count);
    if (out->count > 0)
        return predict_dispatching(out->clusters, out->count, "scheduled");
    if (result.scheduled == SCHEDULED_NO_CLUSTER_FIT)
        return (struct predicted){PREDICTION_NOWHERE, "no_cluster_fit"};
    return (struct predicted){PREDICTION_NOWHERE, "no_replicas"};
}

static struct predicted predict_one(const struct rule_context *c, const struct entry *template,
                                    struct projection *out)
{
    const struct template_decision *d = template_decision(template);
    const struct policy_decision *policy =
        decision_governing(d) ? policy_decision(decision_governing(d)) : NULL;
    struct predicted now = predict_from_decision(d, template);

    if (entry_binding(decision_binding(d)) || now.outcome != PREDICTION_UNDETERMINED || !policy ||
        !policy->resolved)
        return now;
    if (admission_keeps_out(entry_policy(decision_governing(d))->admission, c->release) ==
        RELEASE_ANSWER_DIFFERS)
        return undetermined(out, UNDETERMINED_RELEASE);
    return predict_governed(c, template, out);
}

/* Adds the cluster to a projection that does not have it; the list stays sorted by name. */
static void add_required_cluster(struct projection *out, const char *name)
{
    uint32_t at = 0;

    while (at < out->count && strcmp(out->clusters[at].name, name) < 0)
        at++;
    if (at < out->count && strcmp(out->clusters[at].name, name) == 0)
        return;
    out->clusters = xreallocarray(out->clusters, out->count + 1, sizeof(*out->clusters));
    memmove(&out->clusters[at + 1], &out->clusters[at], (out->count - at) * sizeof(*out->clusters));
    out->clusters[at] = (struct target_cluster){.name = intern_ref(name)};
    out->count++;
}

/* Adds the clusters of a referrer, of its binding or predicted. */
static struct predicted add_referrer(const struct rule_context *c, const struct entry *referrer,
                                     struct projection *out)
{
    const struct binding *b = entry_binding(decision_binding(template_decision(referrer)));
    struct projection projection = {0};
    struct predicted predicted = predict_one(c, referrer, &projection);

    for (uint32_t i = 0; b && i < b->cluster_count; i++)
        add_required_cluster(out, b->clusters[i].name);
    for (uint32_t i = 0; i < projection.count; i++)
        add_required_cluster(out, projection.clusters[i].name);
    projection_release(store_string_pool(c->store), &projection);
    return predicted;
}

/* Predicts a dependency without binding: it runs in the clusters of its referrers. */
static struct predicted predict_dependency(const struct rule_context *c,
                                           const struct entry *template, struct projection *out)
{
    CLEANUP(dependency_referrers_release) struct dependency_referrers referrers = {0};
    struct predicted unknown = {0};

    dependency_referrers_gather(c->store, &c->incomplete, template, &referrers);
    for (size_t i = 0; i < referrers.count; i++) {
        const struct entry *referrer = referrers.items[i].template;

        if (!referrer || !template_decision(referrer))
            continue;

        struct predicted one = add_referrer(c, referrer, out);

        if (one.outcome == PREDICTION_UNDETERMINED)
            unknown = one;
    }
    if (unknown.reason) {
        projection_release(store_string_pool(c->store), out);
        return unknown;
    }
    out->determined = true;
    return out->count > 0 ? (struct predicted){PREDICTION_PLACED, "required"}
                          : (struct predicted){PREDICTION_NOWHERE, "referrer"};
}

struct predicted predict_in_context(const struct rule_context *c, const struct entry *template,
                                    struct projection *out)
{
    const struct template_decision *d = template_decision(template);

    *out = (struct projection){0};
    if (d->state == STATE_ATTACHED && !entry_binding(decision_binding(d)))
        return predict_dependency(c, template, out);
    return predict_one(c, template, out);
}
