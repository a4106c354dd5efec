/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/delivery.h"

#include "metrics/base/timestamp.h"
#include "metrics/model/store.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/template_state.h"

/* ---- facts about a delivery ---- */

void target_list_release(struct target_list *list)
{
    free(list->items);
    *list = (struct target_list){0};
}

/* Sets evicts_ready and purge_blocked. */
static void gather_eviction_facts(struct delivery_facts *f, const struct entry *binding,
                                  const struct delivery_sources *from)
{
    const struct status_problem *problem = f->binding->status.problem;

    for (uint32_t i = 0; problem && i < problem->eviction_count; i++) {
        const struct eviction *e = &problem->evictions[i];
        enum member_state member = members_state(from->members, e->cluster);

        if (!eviction_ends_by_itself(e))
            continue;
        /* Karmada completes an eviction even if the cluster has become ready again. */
        f->evicts_ready |= member == MEMBER_READY;
        /*
         * With purge mode Directly Karmada makes no Works for other clusters before the evicted
         * copy is deleted. A cluster that is not ready cannot delete the copy. While a Work for the
         * cluster exists, the copy may exist, too.
         */
        f->purge_blocked |=
            e->purge_mode == PURGE_DIRECTLY &&
            (member == MEMBER_NOT_READY || work_in_cluster(from->works, binding, e->cluster));
    }
}

static bool lacks_work(const struct delivery_facts *f, uint32_t target)
{
    return f->works_known && !f->targets[target].work;
}

/* Returns true if the target's Work was built from an older generation of the template. */
static bool has_old_work(const struct delivery_facts *f, uint32_t target)
{
    const struct work *work = f->targets[target].work;

    return work && work->template_generation > 0 && work->template_generation < f->generation;
}

/* Returns true if the status shows no attempt to apply, or the Work is missing or in deletion. */
static bool is_undispatched(const struct delivery_facts *f, uint32_t target)
{
    const struct target_status *item = &f->binding->clusters[target].item;
    const struct work *work = f->targets[target].work;

    return !item->exists || (!item->applied && !item->has_message) || lacks_work(f, target) ||
           (work && work->deleting);
}

/*
 * Returns true if the target, or its Work, has an older generation of the template. Returns false
 * for a binding without a claim: removing the claim of a Deployment increments its generation.
 */
static bool is_version_older(const struct delivery_facts *f, uint32_t target)
{
    uint32_t generation = f->binding->clusters[target].item.generation;

    return f->binding->claim &&
           ((generation > 0 && generation < f->generation) || has_old_work(f, target));
}

/*
 * `list` names the override policies that a Work has applied: OverridePolicies in `ns` or, if `ns`
 * is "", ClusterOverridePolicies. Appends them to `reads`. Returns true if one of them does not
 * exist, although all objects of its kind have been read.
 */
static bool is_any_override_deleted(const char *list, const char *ns,
                                    const struct delivery_sources *from, struct entry_list *reads)
{
    const struct kind_def *def = kind_of_overrides(!*ns);
    bool gone = false;
    char name[OBJECT_NAME_MAX + 1];

    while (work_take_next_override(&list, name)) {
        struct entry *policy = store_find_or_add(
            from->store, &(struct identity){def->api_version, def->name, ns, name});

        entry_list_add(reads, policy);
        /* As long as not all objects of the kind have been read, the policy may exist. */
        gone |= !entry_exists(policy) && !incomplete_has_type(from->incomplete, entry_type(policy));
    }
    return gone;
}

static bool work_lists_deleted_override(const struct work *work,
                                        const struct delivery_sources *from,
                                        struct entry_list *reads)
{
    bool cluster_wide = is_any_override_deleted(work->cluster_overrides, "", from, reads);

    return is_any_override_deleted(work->overrides, work->binding_ns, from, reads) || cluster_wide;
}

struct delivery_facts delivery_gather(const struct entry *binding, const struct entry *template,
                                      const struct delivery_sources *from, struct target_list *list,
                                      struct entry_list *reads)
{
    const struct binding *b = entry_binding(binding);
    uint32_t count = binding_target_count(b);
    struct delivery_facts facts = {
        .binding = b,
        .generation = traces_generation(&entry_template(template)->traces),
        .works_known = works_known(from->works),
    };

    gather_eviction_facts(&facts, binding, from);
    if (list->capacity < count) {
        list->capacity = count;
        list->items = xreallocarray(list->items, count, sizeof(*list->items));
    }
    facts.targets = list->items;
    for (uint32_t i = 0; i < count; i++) {
        struct target_facts *target = &list->items[i];
        struct override_failure failure;

        *target = (struct target_facts){
            .work = work_in_cluster(from->works, binding, b->clusters[i].name),
            .member = members_state(from->members, b->clusters[i].name),
        };
        /* Only a target that is not up to date matters: for others, the failure is in the past. */
        if ((is_undispatched(&facts, i) || is_version_older(&facts, i)) &&
            override_failed(from->override_events, template, target->work, b->clusters[i].name,
                            reads, &failure))
            target->failure = failure.message;
        facts.override_fails |= target->failure != NULL;
        facts.deleted_override_listed |=
            target->work && work_lists_deleted_override(target->work, from, reads);
    }
    return facts;
}

void delivery_set_placement(struct delivery_facts *f, struct placements *placements,
                            const struct resolved_placement *resolved)
{
    const struct binding *b = f->binding;

    f->divides = resolved->placement->division != DIVISION_DUPLICATED;
    for (uint32_t i = 0; resolved->has_clusters && i < b->cluster_count; i++) {
        if (!placements_allow_cluster(placements, resolved, b->clusters[i].name))
            f->off_placement = true;
    }
}

/* ---- stage of one target ---- */

/* Returns the reason why a target stays UNDISPATCHED or UNDELIVERED. */
static enum stage_reason why_not_delivered(const struct delivery_facts *f, uint32_t target,
                                           enum stage stage)
{
    const struct target_facts *facts = &f->targets[target];

    if (f->binding->clusters[target].item.suspended || (facts->work && facts->work->suspended))
        return WHY_SUSPENDED;
    if (facts->member == MEMBER_NOT_READY)
        return WHY_CLUSTER_NOT_READY;
    if (facts->failure)
        return WHY_OVERRIDE_FAILED;
    if (stage == STAGE_UNDELIVERED)
        return has_old_work(f, target) ? WHY_WORK_OUTDATED : WHY_WAITING;
    if (lacks_work(f, target))
        return WHY_WORK_MISSING;
    return facts->work && facts->work->deleting ? WHY_WORK_DELETING : WHY_WAITING;
}

/* Karmada's objectwatcher.go writes "already exists ..."; other messages count as refusals. */
static enum stage_reason why_unapplied(const struct delivery_facts *f, uint32_t target)
{
    const char *message =
        binding_status_message(&f->binding->status, f->binding->clusters[target].name);

    return strstr(message, "already exists in the cluster ") ? WHY_ALREADY_EXISTS : WHY_REFUSED;
}

static enum stage_reason why_unhealthy(const struct target_status *item)
{
    switch ((enum target_health)item->health) {
    case HEALTH_UNHEALTHY:
        return item->rolling ? WHY_ROLLING : WHY_UNAVAILABLE;
    case HEALTH_UNKNOWN:
        return WHY_UNKNOWN;
    case HEALTH_HEALTHY:
    case HEALTH_OTHER:
        break;
    }
    return WHY_OTHER;
}

static struct stage_and_reason target_stage(const struct delivery_facts *f, uint32_t target)
{
    const struct target_status *item = &f->binding->clusters[target].item;

    if (is_undispatched(f, target))
        return (struct stage_and_reason){STAGE_UNDISPATCHED,
                                         why_not_delivered(f, target, STAGE_UNDISPATCHED)};
    if (!item->applied)
        return (struct stage_and_reason){STAGE_UNAPPLIED, why_unapplied(f, target)};
    if (is_version_older(f, target))
        return (struct stage_and_reason){STAGE_UNDELIVERED,
                                         why_not_delivered(f, target, STAGE_UNDELIVERED)};
    if (item->health != HEALTH_HEALTHY)
        return (struct stage_and_reason){STAGE_UNHEALTHY, why_unhealthy(item)};
    if (f->targets[target].member == MEMBER_NOT_READY)
        return (struct stage_and_reason){STAGE_UNREACHABLE, WHY_CLUSTER_NOT_READY};
    return (struct stage_and_reason){STAGE_HEALTHY, WHY_NONE};
}

static bool is_worse_stage(struct stage_and_reason a, struct stage_and_reason b)
{
    return a.stage < b.stage || (a.stage == b.stage && a.reason < b.reason);
}

/* Stores the stage of each target in `out`, which has room for binding_target_count(). */
static void set_target_stages(const struct delivery_facts *f, struct stage_and_reason *out)
{
    for (uint32_t i = 0; i < binding_target_count(f->binding); i++)
        out[i] = target_stage(f, i);
}

/* ---- stage of a binding ---- */

static bool is_evicting(const struct binding *b)
{
    const struct status_problem *problem = b->status.problem;

    for (uint32_t i = 0; problem && i < problem->eviction_count; i++) {
        if (eviction_ends_by_itself(&problem->evictions[i]))
            return true;
    }
    return false;
}

static enum stage_reason why_evicting(const struct delivery_facts *f)
{
    const struct binding *b = f->binding;

    if (binding_target_count(b) == 0 && has_failed_scheduling(&b->status))
        return WHY_LAST_COPY;
    if (f->purge_blocked)
        return WHY_PURGE_BLOCKED;
    if (b->has_placement && (!b->status.observed || b->status.scheduled != SCHEDULED_TRUE))
        return WHY_RESCHEDULING;
    return WHY_REPLACING;
}

/*
 * Returns true if the replicas of the clusters do not fit spec.replicas of a workload's binding:
 * the sum must be equal if the placement divides replicas, else the number in each cluster.
 */
static bool placed_replicas_differ(const struct delivery_facts *f)
{
    const struct binding *b = f->binding;
    int64_t sum = 0;

    if (!binding_is_workload(b))
        return false;
    for (uint32_t i = 0; i < b->cluster_count; i++) {
        if (!f->divides && b->clusters[i].replicas != b->replicas)
            return true;
        sum += b->clusters[i].replicas;
    }
    return f->divides && sum != b->replicas;
}

/*
 * Returns true if the scheduler has yet to place the binding as it is now. A generation that the
 * scheduler has not observed is no proof, because suspension and time stamps in eviction tasks
 * increment the generation, too. The scheduler skips bindings without a claim.
 */
static bool is_to_be_scheduled(const struct delivery_facts *f)
{
    const struct binding *b = f->binding;

    if (b->status.scheduled != SCHEDULED_TRUE)
        return true;
    if (b->status.observed || !b->claim)
        return false;
    return (b->applied_placement && b->applied_placement != b->propagation->placement) ||
           b->status.reschedule_requested || placed_replicas_differ(f);
}

static enum stage_reason why_unscheduled(const struct binding *b)
{
    static const enum stage_reason failures[] = {
        [SCHEDULED_NO_CLUSTER_FIT] = WHY_NO_CLUSTER_FIT,
        [SCHEDULED_UNSCHEDULABLE] = WHY_UNSCHEDULABLE,
        [SCHEDULED_QUOTA_EXCEEDED] = WHY_QUOTA_EXCEEDED,
        [SCHEDULED_ERROR] = WHY_SCHEDULER_ERROR,
        [SCHEDULED_OTHER] = WHY_OTHER,
    };

    const char *scheduler = b->propagation->scheduler_name;

    if (b->scheduling_suspended)
        return WHY_SUSPENDED;
    if (has_failed_scheduling(&b->status))
        return failures[b->status.scheduled];
    return scheduler && *scheduler && strcmp(scheduler, DEFAULT_SCHEDULER) != 0
               ? WHY_OTHER_SCHEDULER
               : WHY_WAITING;
}

/* Returns the stage of the binding: for a scheduled binding, the stage of its worst target. */
static struct stage_and_reason delivery_stage(const struct delivery_facts *f,
                                              const struct stage_and_reason *targets)
{
    const struct binding *b = f->binding;
    struct stage_and_reason worst = {STAGE_HEALTHY, WHY_NONE};

    if (is_evicting(b))
        return (struct stage_and_reason){STAGE_EVICTING, why_evicting(f)};
    /* An attached binding has no condition Scheduled. */
    if (b->has_placement && is_to_be_scheduled(f))
        return (struct stage_and_reason){STAGE_UNSCHEDULED, why_unscheduled(b)};
    if (binding_target_count(b) == 0)
        return (struct stage_and_reason){STAGE_PLACED_NOWHERE,
                                         b->has_placement ? WHY_NO_REPLICAS : WHY_REFERRER};
    for (uint32_t i = 0; i < binding_target_count(b); i++) {
        if (is_worse_stage(targets[i], worst))
            worst = targets[i];
    }
    return worst;
}

/* ---- start of a stage, and Karmada's message ---- */

static uint32_t first_eviction_time_s(const struct status_problem *problem)
{
    int64_t first_ms = INT64_MAX;

    for (uint32_t i = 0; i < problem->eviction_count; i++) {
        const struct eviction *e = &problem->evictions[i];

        if (eviction_ends_by_itself(e) && e->created_ms > 0 && e->created_ms < first_ms)
            first_ms = e->created_ms;
    }
    return first_ms < INT64_MAX ? timestamp_seconds(first_ms) : 0;
}

uint32_t delivery_stage_start_s(const struct binding *b, enum stage stage, int64_t changed_ms)
{
    if (stage == STAGE_EVICTING)
        return first_eviction_time_s(b->status.problem);
    if (stage == STAGE_UNSCHEDULED && b->status.scheduled == SCHEDULED_TRUE)
        return b->changed_s;
    if (stage == STAGE_UNSCHEDULED && b->status.scheduled_s == 0)
        return b->created_s;
    if (stage == STAGE_UNSCHEDULED || stage == STAGE_PLACED_NOWHERE || stage == STAGE_UNDISPATCHED)
        return b->status.scheduled_s;
    if (stage == STAGE_UNAPPLIED)
        return b->status.applied_s;
    return stage == STAGE_UNDELIVERED ? timestamp_seconds(changed_ms) : 0;
}

const char *delivery_target_message(const struct delivery_sources *from,
                                    const struct entry *template, uint32_t target)
{
    struct template_decision *d = entry_decision(template);
    const struct binding *b = entry_binding(decision_binding(d));
    const char *cluster = b->clusters[target].name;
    CLEANUP(entry_list_release) struct entry_list reads = {0};
    struct override_failure failure;

    if (decision_targets(d)[target].reason == WHY_OVERRIDE_FAILED &&
        override_failed(from->override_events, template,
                        work_in_cluster(from->works, decision_binding(d), cluster), cluster, &reads,
                        &failure))
        return failure.message;
    return binding_status_message(&b->status, cluster);
}

const char *delivery_message(const struct delivery_sources *from, const struct entry *template)
{
    struct template_decision *d = entry_decision(template);
    const struct binding *b = entry_binding(decision_binding(d));
    struct stage_and_reason at = d->stages.delivery;
    uint32_t first = d->target_count;

    if (at.stage == STAGE_UNSCHEDULED || at.stage == STAGE_EVICTING)
        return b->status.problem && b->status.problem->message ? b->status.problem->message : "";
    for (uint32_t i = 0; i < d->target_count; i++) {
        const struct stage_and_reason *target = &decision_targets(d)[i];
        bool same = target->stage == at.stage && target->reason == at.reason;

        if (same &&
            (first == d->target_count || strcmp(b->clusters[i].name, b->clusters[first].name) < 0))
            first = i;
    }
    return first < d->target_count ? delivery_target_message(from, template, first) : "";
}

/* ---- risks ---- */

/* Columns of the X-macro table. Parentheses, because some texts consist of several literals. */
#define WORD(id, word, text) word,
#define TEXT(id, word, text) (text),

const char *const risk_names[RISK_COUNT] = {RISKS(WORD)};
const char *const risk_texts[RISK_COUNT] = {RISKS(TEXT)};

static_assert(RISK_COUNT <= 8, "a bit for each in a decision");

static bool is_stage_with_reason(struct stage_and_reason at, enum stage stage,
                                 enum stage_reason reason)
{
    return at.stage == stage && at.reason == reason;
}

bool lacks_priority_class(const struct entry *template, const struct template_decision *d)
{
    const struct policy_decision *policy =
        decision_governing(d) ? policy_decision(decision_governing(d)) : NULL;

    return policy && *entry_ns(template) && policy->priority.state == PRIORITY_MISSING;
}

/*
 * Returns the risks of a template with a decided stage, bits by risk. `delivery` is NULL without a
 * binding, or with one left over.
 */
static unsigned risks_of(const struct entry *template, const struct template_decision *d,
                         const struct delivery_facts *delivery)
{
    struct stage_and_reason at = d->stages.at, delivered = d->stages.delivery;
    unsigned risks = 0;

    if (is_stage_with_reason(at, STAGE_UNMATCHED, WHY_LEFT_BEHIND_CHANGED))
        risks |= 1U << RISK_MAY_TRAVEL;
    if (!delivery)
        return risks;
    if (lacks_priority_class(template, d))
        risks |= 1U << RISK_FROZEN;
    if (is_stage_with_reason(delivered, STAGE_EVICTING, WHY_LAST_COPY))
        risks |= 1U << RISK_LAST_COPY;
    if (delivery->evicts_ready)
        risks |= 1U << RISK_READY_EVICTED;
    /* Before the first placement there are no copies to lose. */
    if (is_stage_with_reason(delivered, STAGE_UNSCHEDULED, WHY_NO_CLUSTER_FIT) &&
        delivery->binding->cluster_count == 0 && delivery->binding->status.was_placed)
        risks |= 1U << RISK_EMPTIED;
    if (delivery->override_fails)
        risks |= 1U << RISK_OVERRIDE_FAILED;
    if (delivery->deleted_override_listed)
        risks |= 1U << RISK_OVERRIDE_LISTED;
    return risks;
}

unsigned entry_risks(const struct entry *e)
{
    const struct template_decision *d = template_decision(e);

    return d ? d->risks : 0;
}

/* ---- stage of a template ---- */

static struct stage_and_reason stage_unmatched(enum stage_reason reason)
{
    return (struct stage_and_reason){STAGE_UNMATCHED, reason};
}

static struct stage_and_reason stage_unbound(enum stage_reason reason)
{
    return (struct stage_and_reason){STAGE_UNBOUND, reason};
}

static struct stage_and_reason stage_outdated(enum stage_reason reason)
{
    return (struct stage_and_reason){STAGE_OUTDATED, reason};
}

/*
 * Returns true if the template has no claim after the grace period, for example because Karmada's
 * controllers are down. While the grace period runs, stores its end in `due_ms`. Returns false for
 * a template without a uid, which is not in an API server yet.
 */
static bool is_claim_overdue(const struct template_state_input *s,
                             const struct template_decision *d, int64_t *due_ms)
{
    const struct template *t = entry_template(s->template);

    if (s->own_claim || t->uid_hash == uid_hash(""))
        return false;
    *due_ms = unbound_due_ms(s, d);
    if (s->now_ms < *due_ms)
        return false;
    *due_ms = INT64_MAX;
    return true;
}

static struct stage_and_reason stage_of_unbound(const struct template_state_input *s,
                                                const struct template_decision *d, int64_t *due_ms)
{
    static const enum stage_reason reasons[UNBOUND_REASON_COUNT] = {
        [UNBOUND_NAMESAKE] = WHY_NAMESAKE,
        [UNBOUND_PRIORITY_CLASS_MISSING] = WHY_PRIORITY_CLASS_MISSING,
        [UNBOUND_STUCK] = WHY_STUCK,
        [UNBOUND_WAITING] = WHY_WAITING,
    };

    if (d->reason == UNBOUND_WAITING && is_claim_overdue(s, d, due_ms))
        return stage_unbound(WHY_NOT_CLAIMED);
    return stage_unbound(reasons[d->reason]);
}

/* Returns the reason why the template's last change is not in its binding. */
static enum stage_reason why_change_not_applied(const struct entry *template,
                                                const struct template_decision *d)
{
    const struct policy_decision *policy =
        decision_governing(d) ? policy_decision(decision_governing(d)) : NULL;

    if (lacks_priority_class(template, d))
        return WHY_PRIORITY_CLASS_MISSING;
    if (policy && policy->override_missing)
        return WHY_OVERRIDE_MISSING;
    return WHY_TEMPLATE_UPDATED;
}

static struct stage_and_reason stage_of_stale(const struct entry *template,
                                              const struct template_decision *d)
{
    switch ((enum stale_reason)d->reason) {
    case STALE_POLICY_UPDATED:
        return stage_outdated(WHY_POLICY_UPDATED);
    case STALE_POLICY_REPLACED:
        return stage_outdated(WHY_POLICY_REPLACED);
    case STALE_SELECTOR_MISMATCH:
        return stage_outdated(WHY_SELECTOR_MISMATCH);
    case STALE_POLICY_GONE:
        return stage_outdated(WHY_POLICY_GONE);
    case STALE_NEVER_BOUND:
        return stage_unbound(WHY_LAZY);
    case STALE_TEMPLATE_UPDATED:
        return stage_outdated(why_change_not_applied(template, d));
    case STALE_REASON_COUNT:
        break;
    }
    abort();
}

/* Returns the stage that the state determines; STAGE_NONE if the delivery determines the stage. */
static struct stage_and_reason stage_of_state(const struct template_state_input *s,
                                              const struct template_decision *d, int64_t *due_ms)
{
    switch (d->state) {
    case STATE_IGNORED:
        return stage_unmatched(WHY_IGNORED);
    case STATE_PENDING:
        if (d->reason == PENDING_OVERRIDE_MISSING)
            return stage_unbound(WHY_OVERRIDE_MISSING);
        if (d->reason == PENDING_POLICY_GONE)
            return stage_unmatched(WHY_LEFT_BEHIND_CHANGED);
        return stage_unmatched(decision_binding(d) ? WHY_LEFT_BEHIND : WHY_NO_POLICY);
    case STATE_ORPHANED:
        return stage_unmatched(WHY_LEFT_BEHIND);
    case STATE_UNBOUND:
        return stage_of_unbound(s, d, due_ms);
    case STATE_STALE:
        return stage_of_stale(s->template, d);
    case STATE_CURRENT:
    case STATE_ATTACHED:
        return (struct stage_and_reason){STAGE_NONE, WHY_NONE};
    case STATE_COUNT:
        break;
    }
    abort();
}

static unsigned delivery_flags(const struct delivery_facts *f, struct stage_and_reason delivery)
{
    const struct binding *b = f->binding;
    const struct status_problem *problem = b->status.problem;
    unsigned flags = 0;

    if (b->observed_group > 0 && b->cluster_count > 0)
        flags |= 1U << FLAG_FALLBACK;
    if (f->off_placement)
        flags |= 1U << FLAG_OFF_PLACEMENT;
    if (delivery.stage == STAGE_UNSCHEDULED && b->cluster_count > 0)
        flags |= 1U << FLAG_KEPT;
    for (uint32_t i = 0; problem && i < problem->eviction_count; i++) {
        if (!eviction_ends_by_itself(&problem->evictions[i]))
            flags |= 1U << FLAG_TWO_COPIES_HELD;
    }
    return flags;
}

int64_t template_stages_decide(const struct template_state_input *s,
                               const struct delivery_facts *delivery, struct template_decision *out)
{
    struct template_stages *stages = &out->stages;
    int64_t due_ms = INT64_MAX;
    int64_t changed_ms = template_changed_ms(entry_template(s->template));

    stages->delivery = (struct stage_and_reason){STAGE_NONE, WHY_NONE};
    if (delivery) {
        set_target_stages(delivery, decision_targets(out));
        stages->delivery = delivery_stage(delivery, decision_targets(out));
        stages->delivery_since_s =
            delivery_stage_start_s(delivery->binding, stages->delivery.stage, changed_ms);
        out->flags = (out->flags | delivery_flags(delivery, stages->delivery)) &
                     ((1U << TEMPLATE_FLAG_COUNT) - 1);
    }
    stages->at = stage_of_state(s, out, &due_ms);
    if (stages->at.stage != STAGE_NONE) {
        stages->since_s = timestamp_seconds(decision_since_ms(out));
    } else {
        stages->at = delivery ? stages->delivery : stage_unbound(WHY_WAITING);
        stages->since_s = stages->delivery_since_s;
    }
    out->risks = (uint8_t)risks_of(s->template, out, delivery);
    return due_ms;
}
