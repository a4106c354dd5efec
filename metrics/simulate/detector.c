/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/detector.h"

#include "metrics/model/template.h"
#include "metrics/rules/admission/admission.h"
#include "metrics/rules/object_index.h"
#include "metrics/rules/template_state.h"
#include "metrics/simulate/dependencies_distributor.h"
#include "metrics/simulate/overlay.h"
#include "metrics/simulate/quota_enforcement.h"
#include "metrics/simulate/scheduler.h"

/* ---- claims ---- */

/* Returns `claim` if it is of the policy, else a new claim of the policy in overlay memory. */
static struct claim *reuse_or_make_claim(struct overlay *overlay, const struct entry *policy,
                                         struct claim *claim)
{
    const struct policy *p = entry_policy(policy);
    struct claim *fresh;

    if (claim_is_of_policy(claim, policy))
        return claim;
    fresh = overlay_own_memory(overlay, xmalloc(sizeof(*fresh)));
    /* Karmada's webhook adds the id: a policy that it has not processed has none. */
    *fresh = (struct claim){
        .ns = entry_ns(policy),
        .name = overlay_intern(overlay, policy->name),
        .id = p->id ? p->id : overlay_intern(overlay, ""),
        .cluster_scoped = entry_is_cluster_scoped(policy),
    };
    return fresh;
}

static void set_claim(struct overlay *overlay, struct entry *template, const struct claim *claim)
{
    const struct template *t = entry_template(template);

    overlay_replace(overlay, template,
                    overlay_own_cell(overlay, template_copy_with_claim(t, claim)));
}

/* Claims the template for the policy. Writes nothing if the template has that claim already. */
static void claim_template(struct overlay *overlay, struct entry *template,
                           const struct entry *policy)
{
    struct claim *own = entry_template(template)->claim;
    const struct claim *claim = reuse_or_make_claim(overlay, policy, own);

    if (claim != own)
        set_claim(overlay, template, claim);
}

/* Removes a claim with the name of the policy from a template or binding; ignores the policy id. */
static void remove_claim(struct overlay *overlay, struct entry *entry, const struct entry *policy)
{
    const struct template *t = entry_template(entry);
    const struct binding *b = entry_binding(entry);

    if (t && t->claim && claim_names_policy(t->claim, policy))
        set_claim(overlay, entry, NULL);
    if (b && b->claim && claim_names_policy(b->claim, policy)) {
        struct binding *fresh = overlay_copy_binding(overlay, b);

        fresh->claim = NULL;
        overlay_replace(overlay, entry, fresh);
    }
}

/* ---- bindings ---- */

/*
 * Copies the policy's fields (Karmada: BuildResourceBinding, and the mutations of ApplyPolicy);
 * `priority` is the result of resolve_priority().
 */
static void copy_policy_fields(struct binding *b, const struct binding *old, const struct policy *p,
                               const char *priority, bool cluster_scoped)
{
    bool propagate_deps = b->propagation.propagate_deps;

    b->propagation = p->propagation;
    b->propagation.schedule_priority = priority;
    /* ApplyClusterPolicy copies propagateDeps into a ClusterResourceBinding only if it is new. */
    if (old && cluster_scoped)
        b->propagation.propagate_deps = propagate_deps;
    b->has_placement = true;
    b->has_conflict_resolution = true;
}

/*
 * Sets *text to the schedulePriority for the binding: NULL if the binding gets no priority or 0,
 * unchanged with PRIORITY_UNKNOWN. Returns false if Karmada cannot resolve the PriorityClass,
 * and therefore does not apply the policy at all.
 */
static bool resolve_priority(struct overlay *overlay, const struct entry *template,
                             const struct policy *p, const char **text)
{
    CLEANUP(entry_list_release) struct entry_list reads = {0};
    struct rule_context *c = overlay_context(overlay);
    char canonical[32];

    if (!p->propagation.schedule_priority || !*entry_ns(template)) {
        *text = NULL;
        return true;
    }
    struct priority priority = priority_of(c->store, c->gates, &c->incomplete, p, &reads);

    if (priority.state == PRIORITY_UNKNOWN &&
        overlay_gate_is_on(overlay, GATE_PRIORITY_BASED_SCHEDULING))
        overlay_assume(overlay, ASSUMED_PRIORITY_CLASS);
    if (priority.state == PRIORITY_VALUE) {
        snprintf(canonical, sizeof(canonical), "{\"priority\":%" PRId32 "}", priority.value);
        *text = priority.value ? overlay_intern(overlay, canonical) : NULL;
    }
    return priority.state != PRIORITY_MISSING;
}

/*
 * Copies the replicas of the template. Returns the reason why the scheduler's result is unknown;
 * UNDETERMINED_REASON_COUNT if it is known. An old binding keeps its replicas if those of the
 * template are unknown: a ResourceInterpreterCustomization may have set them.
 */
static enum undetermined_reason update_replicas(struct overlay *overlay, struct binding *fresh,
                                                const struct binding *old,
                                                const struct entry *template)
{
    enum undetermined_reason unknown =
        copy_replicas(template, overlay_context(overlay)->release, fresh);
    const char *placement = fresh->propagation.placement;

    if (old && unknown == UNDETERMINED_UNSUPPORTED)
        return UNDETERMINED_REASON_COUNT;
    if (!old && unknown == UNDETERMINED_REASON_COUNT &&
        template_divides_unknown_replicas(
            template, overlay_resolve_placement(overlay, placement)->placement->division))
        return UNDETERMINED_UNSUPPORTED;
    return unknown;
}

/* Copies the template's resource requests of one pod, if any, to the binding. */
static void copy_resource_requests(struct overlay *overlay, struct binding *b,
                                   const struct template *t)
{
    struct intern *strings = store_string_pool(overlay_context(overlay)->store);
    struct resource_request *requests;

    if (!t->requests)
        return;
    requests = requests_parse(strings, t->requests, &b->request_count);
    for (uint32_t i = 0; i < b->request_count; i++) {
        const char *name = requests[i].resource;

        requests[i].resource = overlay_intern(overlay, name);
        intern_drop(strings, name);
    }
    b->requests = overlay_own_memory(overlay, requests);
}

/*
 * Returns true if the API server refuses the name of the template's binding, or if another template
 * needs a binding of this name: which of them gets it depends on the order of Karmada's events.
 */
static bool is_binding_name_refused(const struct entry *template)
{
    const struct template_decision *d = template_decision(template);

    return !binding_name_is_valid(entry_kind(template), template->name) ||
           (d && d->defects & 1U << DEFECT_NAME_COLLISION);
}

/* Records on the binding, which stays as it is, that a quota refuses the template's requests. */
static void note_refused_requests(struct overlay *overlay, struct entry *entry,
                                  const struct quota_excess *excess)
{
    struct binding *copy = overlay_copy_binding(overlay, entry_binding(entry));

    copy->quota_excess = excess;
    overlay_replace(overlay, entry, copy);
}

/*
 * Applies a policy to a template that it has claimed (Karmada: ApplyPolicy, ApplyClusterPolicy):
 * creates or updates the binding, schedules it (unless update_replicas() returns a reason) and
 * syncs its dependencies. Does nothing if Karmada would fail: the binding is in deletion or of
 * another template, its name is refused, the PriorityClass is missing, or a quota refuses its
 * requests.
 */
static void apply_claimed_policy(struct overlay *overlay, struct entry *template,
                                 const struct entry *policy)
{
    struct entry *entry = overlay_binding_entry(overlay, template);
    const struct binding *old = entry_binding(entry);
    bool cluster_scoped = entry_is_cluster_scoped(entry);
    const char *priority = old ? old->propagation.schedule_priority : NULL;
    enum undetermined_reason unknown;
    struct binding *fresh;

    if (old && (old->deleting || !binding_belongs_to(old, template)))
        return;
    if (!old && is_binding_name_refused(template))
        return;
    if (!resolve_priority(overlay, template, entry_policy(policy), &priority))
        return;
    fresh = old ? overlay_copy_binding(overlay, old) : overlay_new_binding(overlay, template);
    copy_policy_fields(fresh, old, entry_policy(policy), priority, cluster_scoped);
    fresh->claim = reuse_or_make_claim(overlay, policy, fresh->claim);
    binding_set_template_version(fresh, entry_template(template));
    copy_resource_requests(overlay, fresh, entry_template(template));
    fresh->undetermined = 0;
    fresh->quota_excess = NULL;
    if (quota_refuses_requests(overlay, old, fresh)) {
        note_refused_requests(overlay, entry, fresh->quota_excess);
        return;
    }
    unknown = update_replicas(overlay, fresh, old, template);
    if (unknown == UNDETERMINED_REASON_COUNT) {
        scheduler_schedule_binding(overlay, old, fresh);
    } else {
        if (unknown == UNDETERMINED_UNSUPPORTED)
            overlay_assume(overlay, ASSUMED_REPLICAS_UNKNOWN);
        binding_set_undetermined(fresh, unknown);
    }
    distributor_update_targets(overlay, old, fresh);
    overlay_replace(overlay, entry, fresh);
    distributor_sync(overlay, entry, !old);
}

/* ---- templates ---- */

static bool lacks_dependent_override(const struct overlay *overlay, const struct entry *policy)
{
    const struct policy *p = entry_policy(policy);

    for (uint32_t i = 0; i < p->override_count; i++) {
        struct identity id = dependent_override_identity(policy, i);
        const struct entry *override = store_find(overlay_context(overlay)->store, &id);

        if (!override || !entry_exists(override))
            return true;
    }
    return false;
}

/* Returns true if Karmada ignores the template. Uses no decision, which may be outdated. */
static bool is_ignored(const struct overlay *overlay, const struct entry *template)
{
    enum ignored_reason reason;

    return find_ignored_reason(overlay_context(overlay)->ignored, template, &reason);
}

/* Returns the decision of a template; if outdated, first runs all evaluations, maybe thousands. */
static const struct template_decision *up_to_date_decision(struct overlay *overlay,
                                                           const struct entry *template)
{
    if (template->dirty)
        overlay_evaluate(overlay);
    return template_decision(template);
}

/* Returns the policy of the claim on the template, existing or not; NULL without a claim. */
static struct entry *claimed_policy(struct overlay *overlay, const struct entry *template)
{
    const struct claim *claim = entry_template(template)->claim;
    const struct template_decision *d = template_decision(template);

    if (!claim)
        return NULL;
    /* The decision has the entry of the policy, unless the claim was replaced since then. */
    return d && d->claimed && claim_names_policy(claim, d->claimed)
               ? d->claimed
               : find_or_add_claim_policy(overlay_context(overlay)->store, claim);
}

static bool selects_template(const struct overlay *overlay, const struct entry *policy,
                             const struct entry *template)
{
    return policy_selects_template(policy, template, overlay_context(overlay)->release);
}

/* Returns true if no API server stores the version of the policy that the source has. */
static bool is_refused(const struct overlay *overlay, const struct policy *p)
{
    return admission_keeps_out(p->admission, overlay_context(overlay)->release) ==
           RELEASE_ANSWER_YES;
}

/*
 * Returns the policy to apply with takeover by preemption: the claimed policy while it exists, else
 * the best policy. Returns NULL if the claimed policy is in deletion, is refused, or does not
 * select the template any more, or if there is no policy. Removes the claim of a policy that does
 * not exist. The item then counts as a user's change: even a Lazy policy is applied.
 */
static struct entry *find_policy_to_apply(struct overlay *overlay, struct queue_item *item)
{
    struct entry *claimed = claimed_policy(overlay, item->template);
    const struct policy *p = entry_policy(claimed);
    const struct template_decision *d;

    /* While the claimed policy exists, the decision of the template does not matter. */
    if (p)
        return !p->deleting && !is_refused(overlay, p) &&
                       selects_template(overlay, claimed, item->template)
                   ? claimed
                   : NULL;
    d = up_to_date_decision(overlay, item->template);
    if (!claimed)
        return d->winner;
    if (d->binding)
        remove_claim(overlay, d->binding, claimed);
    remove_claim(overlay, item->template, claimed);
    item->by_karmada = false;
    return d->winner;
}

static bool has_static_takeover(const struct overlay *overlay)
{
    return overlay_context(overlay)->options.takeover == TAKEOVER_STATIC;
}

/*
 * Returns the policy to apply with static takeover: after a user's change the best policy, even if
 * another policy claims the template. Without a user's change, returns NULL if a policy has made
 * the binding, unless the binding lacks the user's last change.
 */
static struct entry *find_policy_for_static_takeover(struct overlay *overlay,
                                                     const struct queue_item *item)
{
    const struct template_decision *d = up_to_date_decision(overlay, item->template);
    const struct binding *b = entry_binding(d->binding);
    bool bound = b && b->has_placement;

    return item->by_karmada && bound && d->change_applied != CHANGE_NOT_APPLIED ? NULL : d->winner;
}

void detector_process_template(struct overlay *overlay, struct queue_item item)
{
    struct entry *policy;

    if (!entry_template(item.template) || is_ignored(overlay, item.template))
        return;
    /* Templates of the kind have no decision until all of its objects have been read. */
    if (incomplete_has_type(&overlay_context(overlay)->incomplete, entry_type(item.template))) {
        overlay_assume(overlay, ASSUMED_KIND_UNREAD);
        return;
    }
    policy = has_static_takeover(overlay) ? find_policy_for_static_takeover(overlay, &item)
                                          : find_policy_to_apply(overlay, &item);
    if (!policy || lacks_dependent_override(overlay, policy))
        return;
    claim_template(overlay, item.template, policy);
    if (item.by_karmada && !has_static_takeover(overlay) && entry_policy(policy)->lazy)
        return;
    apply_claimed_policy(overlay, item.template, policy);
}

/* ---- policies ---- */

/*
 * Enqueues a template after a change of a policy. With static takeover, such a change never counts
 * as a change by the template's user.
 */
static void enqueue_after_policy_change(struct overlay *overlay, struct entry *template,
                                        bool by_karmada)
{
    overlay_enqueue(overlay,
                    (struct queue_item){template, by_karmada || has_static_takeover(overlay)});
}

/*
 * Enqueues the templates of all bindings with the policy's claim. Removes the claim from templates
 * that the policy no longer selects and from their bindings, so that policies are matched again
 * (Karmada: cleanPPUnmatchedRBs, cleanCPPUnmatchedRBs).
 */
static void enqueue_bound_templates(struct overlay *overlay, struct entry *policy)
{
    CLEANUP(entry_list_release)
    struct entry_list bindings = list_readers(policy, CLASS_BINDING);
    const struct policy *p = entry_policy(policy);

    for (size_t i = 0; i < bindings.count; i++) {
        const struct binding *b = entry_binding(bindings.items[i]);
        const struct binding_decision *d = binding_decision(bindings.items[i]);
        struct entry *template = d ? d->template : NULL;

        if (!b || !claim_is_of_policy(b->claim, policy) || !entry_template(template))
            continue;
        if (selects_template(overlay, policy, template)) {
            enqueue_after_policy_change(overlay, template, p->lazy);
            continue;
        }
        remove_claim(overlay, template, policy);
        remove_claim(overlay, bindings.items[i], policy);
        enqueue_after_policy_change(overlay, template, false);
    }
}

/* Returns true if a policy other than `policy` is eligible for the template. */
static bool has_other_policy(const struct entry *template, const struct entry *policy)
{
    const struct template_decision *d = template_decision(template);

    for (uint32_t i = 0; d && i < d->candidate_count; i++) {
        if (d->candidates[i].policy != policy && candidate_eligible(&d->candidates[i]))
            return true;
    }
    return false;
}

void detector_match_waiting(struct overlay *overlay, struct entry *policy)
{
    CLEANUP(entry_list_release)
    struct entry_list templates = list_readers(policy, CLASS_TEMPLATE);
    const struct policy *p = entry_policy(policy);

    if (!p || lacks_dependent_override(overlay, policy))
        return;
    for (size_t i = 0; i < templates.count; i++) {
        const struct template *t = entry_template(templates.items[i]);

        /* With an incomplete claim, a template waits only if Karmada finds no other policy. */
        if (t && !t->claim && selects_template(overlay, policy, templates.items[i]) &&
            !(t->claim_incomplete && has_other_policy(templates.items[i], policy)))
            enqueue_after_policy_change(overlay, templates.items[i], p->lazy);
    }
}

/*
 * Returns true if the policy may preempt `holder`, the policy that claims a template: a
 * PropagationPolicy may preempt any ClusterPropagationPolicy, but not the reverse; of two policies
 * of the same kind, the one with the higher priority may preempt the other, if that exists.
 */
static bool may_preempt(const struct entry *policy, const struct entry *holder)
{
    bool cluster_scoped = entry_is_cluster_scoped(policy);
    bool holder_cluster_scoped = entry_is_cluster_scoped(holder);

    if (cluster_scoped != holder_cluster_scoped)
        return !cluster_scoped;
    return entry_policy(holder) && entry_policy(policy)->priority > entry_policy(holder)->priority;
}

/*
 * Claims and enqueues the template that a selector names, if the policy may preempt the policy that
 * claims the template now (Karmada: preemption.go). Skips a template that is in deletion, or that
 * the policy excludes. Without the feature gate, only records ASSUMED_PREEMPTION_OFF.
 */
static void preempt_named_template(struct overlay *overlay, struct entry *policy,
                                   const struct resource_selector *selector)
{
    const struct kind_def *def = entry_type(policy)->def;
    const char *ns = def->cluster_scoped ? selector->ns : entry_ns(policy);
    struct entry *template, *holder;

    if (!selector->api_version || !selector->kind || !selector->name)
        return;
    template = store_find(
        overlay_context(overlay)->store,
        &(struct identity){selector->api_version, selector->kind, ns ? ns : "", selector->name});
    if (!entry_template(template) || entry_template(template)->deleting ||
        policy_excludes_template(entry_policy(policy), template, overlay_context(overlay)->release))
        return;
    holder = claimed_policy(overlay, template);
    if (!holder || holder == policy || !may_preempt(policy, holder))
        return;
    if (!overlay_gate_is_on(overlay, GATE_PREEMPTION)) {
        overlay_assume(overlay, ASSUMED_PREEMPTION_OFF);
        return;
    }
    overlay_assume(overlay, ASSUMED_PREEMPTION_ON);
    claim_template(overlay, template, policy);
    enqueue_after_policy_change(overlay, template, entry_policy(policy)->lazy);
}

/*
 * Preempts the templates that selectors name, if the policy has preemption Always and is not in
 * deletion.
 */
static void preempt_named_templates(struct overlay *overlay, struct entry *policy)
{
    const struct policy *p = entry_policy(policy);

    for (uint32_t i = 0; p->preempts && !p->deleting && i < p->selector_count; i++)
        preempt_named_template(overlay, policy, &p->selectors[i]);
}

static int highest_priority_first(const void *a, const void *b)
{
    const struct policy *x = entry_policy(*(struct entry *const *)a);
    const struct policy *y = entry_policy(*(struct entry *const *)b);

    return (x->priority < y->priority) - (x->priority > y->priority);
}

/*
 * Lets other policies preempt after the priority of `policy` was lowered from `before`, highest
 * priority first (Karmada: HandleDeprioritizedPropagationPolicy). These are the policies of the
 * same kind and namespace with preemption Always and a priority between `before` and the new one.
 */
static void let_others_preempt(struct overlay *overlay, const struct entry *policy, int32_t before)
{
    CLEANUP(entry_list_release) struct entry_list others = {0};
    const struct partition *p = entry_partition(policy);
    int32_t now = entry_policy(policy)->priority;

    for (size_t i = 0; i < p->count; i++) {
        const struct policy *other = entry_policy(partition_entry(p, i));

        if (other && other->preempts && other->priority > now && other->priority < before)
            entry_list_add(&others, partition_entry(p, i));
    }
    if (others.count > 1)
        qsort(others.items, others.count, sizeof(struct entry *), highest_priority_first);
    for (size_t i = 0; i < others.count; i++)
        preempt_named_templates(overlay, others.items[i]);
}

/* Returns true if the user's last change is not in the binding: Karmada failed, and retries. */
static bool has_failed_update(const struct template_decision *d)
{
    return d->state == STATE_STALE && d->reason == STALE_TEMPLATE_UPDATED;
}

/*
 * Enqueues the templates that Karmada failed to apply the policy to: Karmada retries, and the
 * change of the policy may have removed the cause. The decisions still show the failure, because
 * they are not evaluated after the change.
 */
static void retry_failed_templates(struct overlay *overlay, const struct entry *policy)
{
    CLEANUP(entry_list_release)
    struct entry_list templates = list_readers(policy, CLASS_TEMPLATE);

    for (size_t i = 0; i < templates.count; i++) {
        const struct template_decision *d = template_decision(templates.items[i]);
        bool lacks_class =
            d && d->state == STATE_UNBOUND && d->reason == UNBOUND_PRIORITY_CLASS_MISSING;

        if (d && d->governing == policy && (lacks_class || has_failed_update(d)))
            enqueue_after_policy_change(overlay, templates.items[i], false);
    }
}

/* Records ASSUMED_KIND_UNREAD if the policy selects a kind of which not all objects are read. */
static void assume_unread_kinds(struct overlay *overlay, const struct policy *p)
{
    const struct incomplete *incomplete = &overlay_context(overlay)->incomplete;

    for (uint32_t i = 0; i < p->selector_count; i++) {
        const struct resource_selector *s = &p->selectors[i];

        if (s->api_version && s->kind && incomplete_has(incomplete, s->api_version, s->kind))
            overlay_assume(overlay, ASSUMED_KIND_UNREAD);
    }
}

void detector_on_policy_changed(struct overlay *overlay, struct entry *policy,
                                const struct policy *old)
{
    const struct policy *p = entry_policy(policy);

    assume_unread_kinds(overlay, p);
    enqueue_bound_templates(overlay, policy);
    retry_failed_templates(overlay, policy);
    if (has_static_takeover(overlay) || lacks_dependent_override(overlay, policy))
        return;
    preempt_named_templates(overlay, policy);
    if (old && p->priority < old->priority)
        let_others_preempt(overlay, policy, old->priority);
}

/*
 * Returns true if a selector of the policy has the apiVersion and kind of the template, and its
 * namespace or no namespace. The namespace of a PropagationPolicy replaces that of its selectors.
 * When a policy is deleted, Karmada lists only such templates.
 */
static bool is_in_selected_kinds(const struct policy *p, const struct entry *policy,
                                 const struct entry *template)
{
    for (uint32_t i = 0; i < p->selector_count; i++) {
        const struct resource_selector *s = &p->selectors[i];
        const char *ns = entry_is_cluster_scoped(policy) ? s->ns : entry_ns(policy);

        if (s->api_version == entry_type(template)->api_version &&
            s->kind == entry_kind(template) && (!ns || !*ns || ns == entry_ns(template)))
            return true;
    }
    return false;
}

/*
 * Returns true if the policy has claimed the template. If the claim on the template is incomplete
 * and the binding exists, the claim on the binding decides.
 */
static bool is_claimed_by(const struct entry *template, const struct entry *policy)
{
    const struct template *t = entry_template(template);
    const struct template_decision *d = template_decision(template);
    const struct binding *b = d ? entry_binding(d->binding) : NULL;

    return t && claim_is_of_policy(t->claim_incomplete && b ? b->claim : t->claim, policy);
}

void detector_on_policy_deleted(struct overlay *overlay, struct entry *policy)
{
    CLEANUP(entry_list_release)
    struct entry_list templates = list_readers(policy, CLASS_TEMPLATE);
    CLEANUP(entry_list_release)
    struct entry_list bindings = list_readers(policy, CLASS_BINDING);
    const struct policy *p = entry_policy(policy);

    for (size_t i = 0; i < templates.count; i++) {
        struct entry *template = templates.items[i];

        if (!is_in_selected_kinds(p, policy, template) || !is_claimed_by(template, policy))
            continue;
        remove_claim(overlay, template, policy);
        enqueue_after_policy_change(overlay, template, false);
    }
    for (size_t i = 0; i < bindings.count; i++) {
        const struct binding *b = entry_binding(bindings.items[i]);

        if (b && claim_is_of_policy(b->claim, policy))
            remove_claim(overlay, bindings.items[i], policy);
    }
}

void detector_on_policy_reference_written(struct overlay *overlay, struct entry *policy)
{
    CLEANUP(entry_list_release)
    struct entry_list templates = list_readers(policy, CLASS_TEMPLATE);

    for (size_t i = 0; i < templates.count; i++) {
        const struct template_decision *d = template_decision(templates.items[i]);

        if (d && d->governing == policy && (d->state != STATE_STALE || has_failed_update(d)))
            enqueue_after_policy_change(overlay, templates.items[i], entry_policy(policy)->lazy);
    }
}
