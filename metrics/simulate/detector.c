/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/detector.h"

#include "metrics/model/template.h"
#include "metrics/rules/drift.h"
#include "metrics/rules/object_index.h"
#include "metrics/simulate/distributor.h"
#include "metrics/simulate/overlay.h"
#include "metrics/simulate/scheduler.h"

/* `claim` if it is the policy's, else a new one that is, kept by the play. */
static struct claim *claims_of(struct overlay *overlay, const struct entry *policy,
                               struct claim *claim)
{
    const struct policy *p = entry_policy(policy);
    struct claim *fresh;

    if (claim_is_of(claim, policy))
        return claim;
    fresh = overlay_keep(overlay, xmalloc(sizeof(*fresh)));
    /* Karmada's webhook makes the id of a policy that is new. */
    *fresh = (struct claim){
        .ns = entry_ns(policy),
        .name = overlay_text(overlay, policy->name),
        .id = p->id ? p->id : overlay_text(overlay, ""),
        .cluster_scoped = policy->partition->type->def->cluster_scoped,
    };
    return fresh;
}

static void set_claim(struct overlay *overlay, struct entry *template, const struct claim *claim)
{
    const struct template *t = entry_template(template);

    overlay_replace(overlay, template, overlay_keep(overlay, template_with_claim(t, claim)));
}

/* The policy claims the template; nothing is written if it has that claim. */
static void claims_put(struct overlay *overlay, struct entry *template, const struct entry *policy)
{
    struct claim *own = entry_template(template)->claim;
    const struct claim *claim = claims_of(overlay, policy, own);

    if (claim != own)
        set_claim(overlay, template, claim);
}

/* Take the policy's claim off the template or the binding, if that has it. False if not. */
static bool claims_strip(struct overlay *overlay, struct entry *entry, const struct entry *policy)
{
    const struct template *t = entry_template(entry);
    const struct binding *b = entry_binding(entry);

    if (t && t->claim && claim_names(t->claim, policy)) {
        set_claim(overlay, entry, NULL);
        return true;
    }
    if (b && b->claim && claim_names(b->claim, policy)) {
        struct binding *fresh = bindings_copy(overlay, b);

        fresh->claim = NULL;
        overlay_replace(overlay, entry, fresh);
        return true;
    }
    return false;
}

/* Copy what the policy says (BuildResourceBinding, and the mutations of ApplyPolicy). */
static void copy_policy(struct binding *b, const struct binding *old, const struct policy *p,
                        const char *priority, bool cluster_scoped)
{
    bool propagate_deps = b->propagation.propagate_deps;

    b->propagation = p->propagation;
    b->propagation.schedule_priority = priority;
    /* ApplyClusterPolicy copies it only when it makes the binding. */
    if (old && cluster_scoped)
        b->propagation.propagate_deps = propagate_deps;
    b->has_placement = true;
    b->has_conflict_resolution = true;
}

/*
 * What schedulePriority of the policy comes to in a binding; false if Karmada cannot resolve it,
 * and applies nothing at all. An unknown number stays as it was.
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
    struct priority priority = priority_of(c->store, c->gates, p, &reads);

    if (priority.state == PRIORITY_VALUE) {
        snprintf(canonical, sizeof(canonical), "{\"priority\":%" PRId32 "}", priority.value);
        *text = priority.value ? overlay_text(overlay, canonical) : NULL;
    }
    return priority.state != PRIORITY_MISSING;
}

/*
 * Copy the replicas of a kind that Karmada itself reads. Of any other, a customization may say
 * what they are: they stay as they were. False if they are not known.
 */
static bool copy_replicas(struct binding *b, const struct binding *old,
                          const struct entry *template)
{
    const struct template *t = entry_template(template);

    if (!template_has_replicas(template->partition->type->api_version, entry_kind(template)))
        return true;
    b->has_requirements = true;
    b->has_replicas = true;
    if (t->replicas >= 0)
        b->replicas = t->replicas;
    return t->replicas >= 0 || old;
}

/* What a pod requests, where the template says: it is what Karmada writes. */
static void copy_requests(struct overlay *overlay, struct binding *b, const struct template *t)
{
    struct intern *strings = store_strings(overlay_context(overlay)->store);
    struct resource_request *requests;

    if (!t->requests)
        return;
    requests = requests_of(strings, t->requests, &b->request_count);
    for (uint32_t i = 0; i < b->request_count; i++) {
        const char *name = requests[i].resource;

        requests[i].resource = overlay_text(overlay, name);
        intern_drop(strings, name);
    }
    b->requests = overlay_keep(overlay, requests);
}

/*
 * A policy is applied to a template that it has claimed: the template's binding is made or
 * renewed, scheduled, and its dependencies follow (ApplyPolicy, ApplyClusterPolicy). Nothing
 * happens where Karmada fails: a namesake's binding is in the way, or a PriorityClass is missing.
 */
static void binder_apply(struct overlay *overlay, struct entry *template,
                         const struct entry *policy)
{
    struct entry *entry = bindings_entry(overlay, template);
    const struct binding *old = entry_binding(entry);
    bool cluster_scoped = entry->partition->type->def->cluster_scoped;
    const char *priority = old ? old->propagation.schedule_priority : NULL;
    struct binding *fresh;

    if (old && (old->deleting || !bindings_is_of(old, template)))
        return;
    if (!resolve_priority(overlay, template, entry_policy(policy), &priority))
        return;
    fresh = old ? bindings_copy(overlay, old) : bindings_make(overlay, template);
    copy_policy(fresh, old, entry_policy(policy), priority, cluster_scoped);
    fresh->claim = claims_of(overlay, policy, fresh->claim);
    bindings_follow(fresh, entry_template(template));
    copy_requests(overlay, fresh, entry_template(template));
    fresh->undetermined = 0;
    if (copy_replicas(fresh, old, template)) {
        scheduler_run(overlay, old, fresh);
    } else {
        overlay_assume(overlay, ASSUMED_REPLICAS_UNKNOWN);
        bindings_set_undetermined(fresh, UNDETERMINED_UNSUPPORTED);
    }
    overlay_replace(overlay, entry, fresh);
    distributor_sync(overlay, entry);
}

/* ---- templates ---- */

static bool lacks_override(const struct overlay *overlay, const struct entry *policy)
{
    const struct policy *p = entry_policy(policy);

    for (uint32_t i = 0; i < p->override_count; i++) {
        struct identity id = override_identity(policy, i);
        const struct entry *override = store_find(overlay_context(overlay)->store, &id);

        if (!override || !entry_exists(override))
            return true;
    }
    return false;
}

/* Whether Karmada never looks at a template does not depend on policies. */
static bool is_ignored(const struct overlay *overlay, const struct entry *template)
{
    enum ignored_reason reason;

    return ignored_reason(overlay_context(overlay)->ignored, template, &reason);
}

/* The decision as it is now: of a claimed template nobody needs one, and a thousand may be due. */
static const struct template_decision *decision_of(struct overlay *overlay,
                                                   const struct entry *template)
{
    if (overlay_is_due(template))
        overlay_evaluate(overlay);
    return template_decision(template);
}

/* The policy of the template's own claim, existing or not; NULL without a claim. */
static struct entry *claimed_of(struct overlay *overlay, const struct entry *template)
{
    const struct claim *claim = entry_template(template)->claim;
    const struct template_decision *d = template_decision(template);

    if (!claim)
        return NULL;
    /* It is what was decided, unless the claim is new. */
    return d && d->claimed && claim_names(claim, d->claimed)
               ? d->claimed
               : claim_policy(overlay_context(overlay)->store, claim);
}

/*
 * The policy that Karmada follows for a template now, NULL for none. A claim of a policy that does
 * not exist is taken back, and then no Lazy policy waits.
 */
static struct entry *policy_of(struct overlay *overlay, struct queue_item *item)
{
    struct entry *claimed = claimed_of(overlay, item->template);
    const struct policy *p = entry_policy(claimed);
    const struct template_decision *d;

    if (p)
        return !p->deleting && policy_selects(claimed, item->template) ? claimed : NULL;
    d = decision_of(overlay, item->template);
    if (!claimed)
        return d->winner;
    if (d->binding)
        claims_strip(overlay, d->binding, claimed);
    claims_strip(overlay, item->template, claimed);
    item->by_karmada = false;
    return d->winner;
}

static bool is_static(const struct overlay *overlay)
{
    return overlay_context(overlay)->options.takeover == TAKEOVER_STATIC;
}

/*
 * Seed 001: the best policy takes over at the user's next change, whatever holds it; a change that
 * found no policy waits for one.
 */
static struct entry *static_policy_of(struct overlay *overlay, const struct queue_item *item)
{
    const struct template_decision *d = decision_of(overlay, item->template);
    const struct binding *b = entry_binding(d->binding);
    bool bound = b && b->has_placement;

    return item->by_karmada && bound && d->change_applied != CHANGE_NOT_APPLIED ? NULL : d->winner;
}

void detector_template(struct overlay *overlay, struct queue_item item)
{
    struct entry *policy;

    if (!entry_template(item.template) || is_ignored(overlay, item.template))
        return;
    policy = is_static(overlay) ? static_policy_of(overlay, &item) : policy_of(overlay, &item);
    if (!policy || lacks_override(overlay, policy))
        return;
    claims_put(overlay, item.template, policy);
    if (item.by_karmada && !is_static(overlay) && entry_policy(policy)->lazy)
        return;
    binder_apply(overlay, item.template, policy);
}

/* ---- policies ---- */

/* Because of a policy: to the static design (seed 001) that is never a change by a user. */
static void look_at(struct overlay *overlay, struct entry *template, bool by_karmada)
{
    overlay_enqueue(overlay, (struct queue_item){template, by_karmada || is_static(overlay)});
}

/*
 * The bindings of the policy, which Karmada finds by its id: a template that it selects is looked
 * at, any other loses its claim and is matched anew (cleanPPUnmatchedRBs, cleanCPPUnmatchedRBs).
 */
static void review_bindings(struct overlay *overlay, struct entry *policy)
{
    CLEANUP(entry_list_release)
    struct entry_list bindings = overlay_readers(policy, CLASS_BINDING);
    const struct policy *p = entry_policy(policy);

    for (size_t i = 0; i < bindings.count; i++) {
        const struct binding *b = entry_binding(bindings.items[i]);
        const struct binding_decision *d = binding_decision(bindings.items[i]);
        struct entry *template = d ? d->template : NULL;

        if (!b || !claim_is_of(b->claim, policy) || !entry_template(template))
            continue;
        if (policy_selects(policy, template)) {
            look_at(overlay, template, p->lazy);
            continue;
        }
        claims_strip(overlay, template, policy);
        claims_strip(overlay, bindings.items[i], policy);
        look_at(overlay, template, false);
    }
}

/*
 * True if Karmada has matched the template with another policy. One with half a claim is matched
 * anew at each of its changes, and does not wait for policies.
 */
static bool is_matched(const struct entry *template, const struct entry *policy)
{
    const struct template_decision *d = template_decision(template);

    for (uint32_t i = 0; d && i < d->candidate_count; i++) {
        if (d->candidates[i].policy != policy && candidate_eligible(&d->candidates[i]))
            return true;
    }
    return false;
}

void detector_waiting(struct overlay *overlay, struct entry *policy)
{
    CLEANUP(entry_list_release)
    struct entry_list templates = overlay_readers(policy, CLASS_TEMPLATE);
    const struct policy *p = entry_policy(policy);

    if (!p || lacks_override(overlay, policy))
        return;
    for (size_t i = 0; i < templates.count; i++) {
        const struct template *t = entry_template(templates.items[i]);

        if (t && !t->claim && policy_selects(policy, templates.items[i]) &&
            !(t->half_claim && is_matched(templates.items[i], policy)))
            look_at(overlay, templates.items[i], p->lazy);
    }
}

/* True if the policy may take a template from the one that holds it. */
static bool outranks(const struct entry *policy, const struct entry *holder)
{
    bool wide = policy->partition->type->def->cluster_scoped;
    bool holder_wide = holder->partition->type->def->cluster_scoped;

    if (wide != holder_wide)
        return !wide;
    return entry_policy(holder) && entry_policy(policy)->priority > entry_policy(holder)->priority;
}

/* One named selector of a policy with preemption Always (preemption.go). */
static void preempt(struct overlay *overlay, struct entry *policy,
                    const struct resource_selector *selector)
{
    const struct kind_def *def = policy->partition->type->def;
    const char *ns = def->cluster_scoped ? selector->ns : entry_ns(policy);
    struct entry *template, *holder;

    if (!selector->api_version || !selector->kind || !selector->name)
        return;
    template = store_find(
        overlay_context(overlay)->store,
        &(struct identity){selector->api_version, selector->kind, ns ? ns : "", selector->name});
    if (!entry_template(template) || entry_template(template)->deleting ||
        policy_excludes(entry_policy(policy), template))
        return;
    holder = claimed_of(overlay, template);
    if (!holder || holder == policy || !outranks(policy, holder))
        return;
    if (!overlay_gate(overlay, GATE_PREEMPTION)) {
        overlay_assume(overlay, ASSUMED_PREEMPTION_OFF);
        return;
    }
    overlay_assume(overlay, ASSUMED_PREEMPTION_ON);
    claims_put(overlay, template, policy);
    look_at(overlay, template, entry_policy(policy)->lazy);
}

static void preempt_all(struct overlay *overlay, struct entry *policy)
{
    const struct policy *p = entry_policy(policy);

    for (uint32_t i = 0; p->preempts && !p->deleting && i < p->selector_count; i++)
        preempt(overlay, policy, &p->selectors[i]);
}

static int by_priority(const void *a, const void *b)
{
    const struct policy *x = entry_policy(*(struct entry *const *)a);
    const struct policy *y = entry_policy(*(struct entry *const *)b);

    return (x->priority < y->priority) - (x->priority > y->priority);
}

/*
 * The priority of a policy has fallen: those that it has fallen below may preempt now, the highest
 * first (HandleDeprioritizedPropagationPolicy).
 */
static void let_others_preempt(struct overlay *overlay, const struct entry *policy, int32_t before)
{
    CLEANUP(entry_list_release) struct entry_list others = {0};
    const struct partition *p = policy->partition;
    int32_t now = entry_policy(policy)->priority;

    for (size_t i = 0; i < p->count; i++) {
        const struct policy *other = entry_policy(p->entries[i]);

        if (other && other->preempts && other->priority > now && other->priority < before)
            entry_list_add(&others, p->entries[i]);
    }
    if (others.count > 1)
        qsort(others.items, others.count, sizeof(struct entry *), by_priority);
    for (size_t i = 0; i < others.count; i++)
        preempt_all(overlay, others.items[i]);
}

/* Karmada failed to bring its user's change into the binding, and tries again. */
static bool is_behind(const struct template_decision *d)
{
    return d->state == STATE_STALE && d->reason == STALE_TEMPLATE_UPDATED;
}

/*
 * Karmada goes on trying to apply a policy to what it has failed to: by its own changes the policy
 * may have become one that can be applied. The decisions are those before them.
 */
static void retry_failures(struct overlay *overlay, const struct entry *policy)
{
    CLEANUP(entry_list_release)
    struct entry_list templates = overlay_readers(policy, CLASS_TEMPLATE);

    for (size_t i = 0; i < templates.count; i++) {
        const struct template_decision *d = template_decision(templates.items[i]);
        bool lacks_class =
            d && d->state == STATE_UNBOUND && d->reason == UNBOUND_PRIORITY_CLASS_MISSING;

        if (d && d->governing == policy && (lacks_class || is_behind(d)))
            look_at(overlay, templates.items[i], false);
    }
}

void detector_policy(struct overlay *overlay, struct entry *policy, const struct policy *old)
{
    const struct policy *p = entry_policy(policy);

    review_bindings(overlay, policy);
    retry_failures(overlay, policy);
    if (is_static(overlay) || lacks_override(overlay, policy))
        return;
    preempt_all(overlay, policy);
    if (old && p->priority < old->priority)
        let_others_preempt(overlay, policy, old->priority);
}

/* Karmada looks for the policy's templates by its selectors' kinds and namespaces. */
static bool cleans_up(const struct policy *p, const struct entry *policy,
                      const struct entry *template)
{
    for (uint32_t i = 0; i < p->selector_count; i++) {
        const struct resource_selector *s = &p->selectors[i];
        const char *ns = policy->partition->type->def->cluster_scoped ? s->ns : entry_ns(policy);

        if (s->api_version == template->partition->type->api_version &&
            s->kind == entry_kind(template) && (!ns || !*ns || ns == entry_ns(template)))
            return true;
    }
    return false;
}

/* True if the policy has claimed the template. Half a claim has an id: that of its binding. */
static bool has_id_of(const struct entry *template, const struct entry *policy)
{
    const struct template *t = entry_template(template);
    const struct template_decision *d = template_decision(template);
    const struct binding *b = d ? entry_binding(d->binding) : NULL;

    return t && claim_is_of(t->half_claim && b ? b->claim : t->claim, policy);
}

void detector_policy_gone(struct overlay *overlay, struct entry *policy)
{
    CLEANUP(entry_list_release)
    struct entry_list templates = overlay_readers(policy, CLASS_TEMPLATE);
    CLEANUP(entry_list_release)
    struct entry_list bindings = overlay_readers(policy, CLASS_BINDING);
    const struct policy *p = entry_policy(policy);

    for (size_t i = 0; i < templates.count; i++) {
        struct entry *template = templates.items[i];

        if (!cleans_up(p, policy, template) || !has_id_of(template, policy))
            continue;
        claims_strip(overlay, template, policy);
        look_at(overlay, template, false);
    }
    for (size_t i = 0; i < bindings.count; i++) {
        const struct binding *b = entry_binding(bindings.items[i]);

        if (b && claim_is_of(b->claim, policy))
            claims_strip(overlay, bindings.items[i], policy);
    }
}

void detector_retry(struct overlay *overlay, struct entry *policy)
{
    CLEANUP(entry_list_release)
    struct entry_list templates = overlay_readers(policy, CLASS_TEMPLATE);

    for (size_t i = 0; i < templates.count; i++) {
        const struct template_decision *d = template_decision(templates.items[i]);

        if (d && d->governing == policy && (d->state != STATE_STALE || is_behind(d)))
            look_at(overlay, templates.items[i], entry_policy(policy)->lazy);
    }
}
