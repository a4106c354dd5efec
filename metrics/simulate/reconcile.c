/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/reconcile.h"

#include "metrics/model/store.h"
#include "metrics/rules/policy_versions.h"
#include "metrics/rules/selector.h"
#include "metrics/simulate/detector.h"

/* ---- prediction for one template ---- */

/*
 * Returns true if only a change by its user makes Karmada process the template. Causes: another
 * policy governs it while its claim is incomplete; its binding is missing for too long
 * (UNBOUND_STUCK); only the value of a PriorityClass, which Karmada does not watch, drifts, and the
 * drift is not overdue.
 */
static bool needs_user_change(const struct entry *template, const struct template_decision *d)
{
    if (d->state == STATE_STALE && d->reason == STALE_POLICY_REPLACED)
        return entry_template(template)->claim_incomplete;
    if (d->state == STATE_UNBOUND)
        return d->reason == UNBOUND_STUCK;
    return d->priority_moved && d->phase == PHASE_DEFERRED;
}

/*
 * Returns true if Karmada is to remove the claim of a policy that no longer selects the template,
 * and the removal is not overdue.
 */
static bool is_claim_removal_due(const struct template_decision *d)
{
    return d->state == STATE_STALE && d->reason == STALE_SELECTOR_MISMATCH &&
           d->phase == PHASE_DEFERRED;
}

/*
 * Lets the simulated Karmada process the template, if no change by its user is needed for that.
 * Returns false if the simulation is incomplete.
 */
static bool simulate_pending_work(struct overlay *overlay, struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const struct policy *policy = d ? entry_policy(decision_governing(d)) : NULL;
    bool static_takeover = overlay_context(overlay)->options.takeover == TAKEOVER_STATIC;

    if (d && needs_user_change(template, d))
        return true;
    if (d && is_claim_removal_due(d))
        detector_on_policy_changed(overlay, decision_claimed(d), NULL);
    overlay_enqueue(overlay,
                    (struct queue_item){template, static_takeover || (policy && policy->lazy)});
    return simulation_process_queue(overlay);
}

void next_change_predict_outcomes(struct engine *e, const struct entry *template,
                                  void (*each)(void *context, const struct next_change *f),
                                  void *context)
{
    struct entry *entry = (struct entry *)(uintptr_t) template;
    struct overlay *overlay = overlay_new(e);
    struct next_change f = {0};

    outcome_read(overlay_context(overlay)->store, entry, &f.now);
    f.settled = simulate_pending_work(overlay, entry);
    outcome_read(overlay_context(overlay)->store, entry, &f.rest);
    simulation_touch_template(overlay, entry);
    f.settled &= simulation_process_queue(overlay);
    outcome_read(overlay_context(overlay)->store, entry, &f.next);
    f.assumptions = overlay_take_assumptions(overlay);
    each(context, &f);
    outcome_release(&f.now, overlay_context(overlay)->store);
    outcome_release(&f.rest, overlay_context(overlay)->store);
    outcome_release(&f.next, overlay_context(overlay)->store);
    overlay_free(overlay);
}

#define VERDICT_NAME(id, word, text) word,
#define VERDICT_TEXT(id, word, text) (text),
const char *const reconcile_verdict_names[] = {RECONCILE_VERDICTS(VERDICT_NAME)};
const char *const reconcile_verdict_texts[] = {RECONCILE_VERDICTS(VERDICT_TEXT)};

/* ---- check of one template ---- */

static bool runs_policy_version(const struct template_decision *d, const struct reconcile_filter *w)
{
    char hash[POLICY_VERSION_HASH_SIZE];

    if (!decision_version(d) || decision_version(d)->history->policy != w->policy ||
        policy_version_is_unknown(decision_version(d)))
        return false;
    policy_version_hash(decision_version(d), hash);
    return strcmp(w->version, hash) == 0;
}

/* Returns true if the filter matches a template that is not ignored and not in deletion. */
static bool matches_filter(const struct reconcile_filter *w, const struct entry *template)
{
    const struct template *t = entry_template(template);
    const struct template_decision *d = template_decision(template);
    const struct entry *policy = d && decision_governing(d) ? decision_governing(d)
                                 : d                        ? decision_claimed(d)
                                                            : NULL;

    const struct labels labels = t ? template_labels(t) : (struct labels){0};

    if (!t || !d || d->state == STATE_IGNORED || t->deleting ||
        (w->ns && strcmp(entry_ns(template), w->ns) != 0) ||
        (w->labels && !label_selector_matches(w->labels, &labels)) ||
        (w->version && !runs_policy_version(d, w)))
        return false;
    if (w->undo)
        return t->reconciled &&
               (!w->policy || w->policy == policy || w->policy == decision_claimed(d));
    return !w->policy || w->policy == policy ||
           (d->state == STATE_STALE && w->policy == decision_claimed(d));
}

/* Returns why a change by the user cannot bring the template to a policy; else RECONCILE_MOVES. */
static enum reconcile_verdict find_obstacle(const struct template_decision *d)
{
    const struct policy_decision *policy =
        decision_governing(d) ? policy_decision(decision_governing(d)) : NULL;
    const struct dependency_decision *dependency = decision_dependency(d) ? decision_dependency(d)
                                                   : decision_binding(d)
                                                       ? dependency_decision(decision_binding(d))
                                                       : NULL;

    if (policy && policy->override_missing)
        return RECONCILE_OVERRIDE_MISSING;
    if (policy && policy->priority.state == PRIORITY_MISSING)
        return RECONCILE_PRIORITY_CLASS_MISSING;
    for (unsigned i = 0; d->state == STATE_ATTACHED && dependency && i < DEPENDENCY_FIELD_COUNT;
         i++) {
        if (dependency->fields[i].conflict)
            return RECONCILE_CONFLICT;
    }
    if (d->state == STATE_STALE && d->reason == STALE_SELECTOR_MISMATCH)
        return RECONCILE_LABEL_DRIFT;
    if (d->state == STATE_STALE && d->reason == STALE_POLICY_GONE)
        return RECONCILE_POLICY_GONE;
    return d->state == STATE_ORPHANED ? RECONCILE_ORPHANED : RECONCILE_MOVES;
}

/* Context of set_verdict_by_outcomes(). */
struct reconcile_check {
    const struct reconcile_filter *filter;
    enum reconcile_verdict verdict;
};

static void set_verdict_by_outcomes(void *context, const struct next_change *f)
{
    struct reconcile_check *q = context;

    if (!f->settled || f->next.state != STATE_CURRENT)
        q->verdict = RECONCILE_IN_VAIN;
    else if (q->filter->policy && f->next.policy != q->filter->policy)
        q->verdict = RECONCILE_OTHER_POLICY;
    else if (outcome_equal(&f->rest, &f->next))
        q->verdict = RECONCILE_BY_ITSELF;
}

enum reconcile_verdict reconcile_find_verdict(struct engine *e,
                                              const struct reconcile_filter *filter,
                                              const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    struct reconcile_check q = {filter, RECONCILE_MOVES};

    if (!matches_filter(filter, template))
        return RECONCILE_UNRELATED;
    if (filter->undo)
        return RECONCILE_MOVES;
    if (d->state == STATE_CURRENT)
        return RECONCILE_CURRENT;
    q.verdict = find_obstacle(d);
    if (q.verdict == RECONCILE_MOVES && d->state != STATE_STALE)
        return RECONCILE_UNRELATED;
    if (q.verdict == RECONCILE_MOVES)
        next_change_predict_outcomes(e, template, set_verdict_by_outcomes, &q);
    return q.verdict;
}

/* ---- lists of checked templates ---- */

static void append_item(struct reconcile_list *list, struct reconcile_item item)
{
    list->items = xreallocarray(list->items, list->count + 1, sizeof(*list->items));
    list->items[list->count++] = item;
}

/* Returns an item that pins its template and policy. */
static struct reconcile_item make_item(const struct entry *template, enum reconcile_verdict verdict)
{
    const struct template_decision *d = template_decision(template);
    const struct policy *policy = entry_policy(decision_governing(d));
    struct reconcile_item item = {
        .template = (struct entry *)(uintptr_t) template,
        .verdict = verdict,
        .becomes = d->state,
        .policy = policy ? decision_governing(d) : NULL,
        .generation = policy ? policy->generation : 0,
    };

    store_pin(item.template);
    if (item.policy)
        store_pin(item.policy);
    return item;
}

static int by_template(const void *key, const void *row)
{
    return entry_compare(key, ((const struct plan_template *)row)->template);
}

/*
 * Plans the change of all chosen templates together. Without `undo`, moves templates that do not
 * become current to the list `left`. Returns false if any template was moved: the plan is then for
 * too many templates.
 */
static bool plan_chosen_templates(struct reconcile *r, const struct reconcile_filter *filter,
                                  bool admit)
{
    struct reconcile_list *chosen = &r->chosen;
    size_t kept = 0;

    r->plan = plan_new(r->engine);
    if (admit)
        plan_admit_manifests(r->plan);
    for (size_t i = 0; i < chosen->count; i++)
        plan_touch_template(r->plan, chosen->items[i].template);
    r->result = plan_finish(r->plan);
    for (size_t i = 0; i < chosen->count; i++) {
        struct reconcile_item item = chosen->items[i];

        const struct plan_template *row =
            r->result->template_count == 0
                ? NULL
                : bsearch(item.template, r->result->templates, r->result->template_count,
                          sizeof(*r->result->templates), by_template);

        /* A template that is not in the result keeps its state. */
        if (row)
            item.becomes = row->after.state;
        if (filter->undo || item.becomes == STATE_CURRENT) {
            chosen->items[kept++] = item;
            continue;
        }
        item.verdict = RECONCILE_NOT_TOGETHER;
        append_item(&r->left, item);
    }

    bool all = kept == chosen->count;

    chosen->count = kept;
    return all;
}

struct reconcile *reconcile_new(struct engine *e, const struct reconcile_filter *filter, bool admit)
{
    CLEANUP(listing_release)
    struct listing all = listing_make(engine_store(e), CLASS_TEMPLATE);
    struct reconcile *r = xcalloc(1, sizeof(*r));

    r->engine = e;
    for (size_t i = 0; i < all.count; i++) {
        const struct entry *template = all.entries[i];
        enum reconcile_verdict verdict = reconcile_find_verdict(e, filter, template);

        if (verdict == RECONCILE_CURRENT) {
            r->current++;
            r->reconciled += entry_template(template)->reconciled;
        } else if (verdict == RECONCILE_MOVES && filter->max > 0 &&
                   r->chosen.count >= filter->max) {
            r->beyond++;
        } else if (verdict == RECONCILE_MOVES) {
            append_item(&r->chosen, make_item(template, verdict));
        } else if (verdict != RECONCILE_UNRELATED) {
            append_item(&r->left, make_item(template, verdict));
        }
    }
    while (!plan_chosen_templates(r, filter, admit))
        reconcile_end_plan(r);
    return r;
}

void reconcile_end_plan(struct reconcile *r)
{
    plan_free(r->plan);
    r->plan = NULL;
    r->result = NULL;
}

static void release_list(struct store *store, struct reconcile_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        store_unpin(store, list->items[i].template);
        if (list->items[i].policy)
            store_unpin(store, list->items[i].policy);
    }
    free(list->items);
}

void reconcile_free(struct reconcile *r)
{
    if (!r)
        return;
    reconcile_end_plan(r);

    struct store *store = engine_context(r->engine)->store;

    release_list(store, &r->chosen);
    release_list(store, &r->left);
    free(r);
}

bool reconcile_is_as_planned(const struct reconcile_item *item)
{
    const struct template_decision *d = template_decision(item->template);
    const struct policy *policy = d ? entry_policy(decision_governing(d)) : NULL;

    return d && (decision_governing(d) ? policy && decision_governing(d) == item->policy &&
                                             policy->generation == item->generation
                                       : !item->policy);
}
