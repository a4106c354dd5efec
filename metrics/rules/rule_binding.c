/* SPDX-License-Identifier: Apache-2.0 */

#include "metrics/rules/object_index.h"
#include "metrics/rules/problems/controller_progress.h"
#include "metrics/rules/refusals.h"
#include "metrics/rules/rule.h"

/* ---- rule of bindings ---- */

/* Marks the template of a binding: the template's decision reads the binding. Accepts NULL. */
static void mark_template_of_binding(struct rule_context *c, const struct binding *b)
{
    struct entry *template = b ? binding_template(c->store, b) : NULL;

    if (template)
        graph_mark(c->graph, template);
}

/* Counts a reference of a binding to a template that begins or ends; calls the observer. */
static void count_reference(struct rule_context *c, const struct identity *template, bool begins)
{
    if (begins)
        type_counts_add(&c->bound, template->api_version, template->kind);
    if (c->bound_observer.changed)
        c->bound_observer.changed(c->bound_observer.context, template);
    if (!begins)
        type_counts_remove(&c->bound, template->api_version, template->kind);
}

/*
 * Counts references anew if the binding begins or ceases to refer to a template, or refers to
 * another template than before.
 */
static void update_reference(struct rule_context *c, const struct binding *fresh,
                             const struct binding *old)
{
    struct identity id, old_id;
    bool refers = fresh && !binding_is_left_over(fresh) && binding_get_resource(fresh, &id);
    bool referred = old && !binding_is_left_over(old) && binding_get_resource(old, &old_id);

    if (refers && referred && strcmp(id.name, old_id.name) == 0 && id.ns == old_id.ns &&
        id.kind == old_id.kind && id.api_version == old_id.api_version)
        return;
    if (refers)
        count_reference(c, &id, true);
    if (referred)
        count_reference(c, &old_id, false);
}

static void binding_on_change(struct rule_context *c, struct entry *entry, const void *old)
{
    update_reference(c, entry_binding(entry), old);
    mark_template_of_binding(c, old);
    mark_template_of_binding(c, entry_binding(entry));
    graph_mark_readers(c->graph, entry);
}

/*
 * Returns the template of a binding; NULL if it does not exist, or spec.resource names no template.
 * Appends the template's entry, existing or not, to `reads`.
 */
static struct entry *read_bound_template(const struct rule_context *c, const struct binding *b,
                                         struct entry_list *reads)
{
    struct identity id;
    struct entry *template = binding_get_resource(b, &id) ? store_find_or_add(c->store, &id) : NULL;

    if (template)
        entry_list_add(reads, template);
    return template && entry_exists(template) ? template : NULL;
}

static void gather_binding_facts(const struct rule_context *c, struct entry *entry,
                                 struct gathered *out)
{
    const struct binding *b = entry_binding(entry);
    struct entry *claimed = b->claim ? find_or_add_claim_policy(c->store, b->claim) : NULL;

    for (uint32_t i = 0; i < binding_rare(b)->referrer_count; i++) {
        struct identity id = referrer_identity(&binding_rare(b)->referrers[i]);
        struct entry *referrer = store_find_or_add(c->store, &id);

        entry_list_add(&out->reads, referrer);
        if (entry_exists(referrer))
            read_bound_template(c, entry_binding(referrer), &out->reads);
    }
    dependency_referrers_gather(c->store, &c->incomplete, entry, &out->referrers);
    out->binding = (struct binding_facts){
        .binding = b,
        .template = read_bound_template(c, b, &out->reads),
        .claimed = claimed,
        .kind_read =
            selector_index_count_selectors(c->index, b->scope->api_version, b->scope->kind) > 0 &&
            !incomplete_has(&c->incomplete, b->scope->api_version, b->scope->kind),
    };
    if (claimed)
        entry_list_add(&out->reads, claimed);
}

/* Returns the defects of a binding as a dependency, bits by defect; 0 if `d` is NULL. */
static unsigned dependency_defects(const struct binding *b, const struct dependency_decision *d)
{
    enum defect differing =
        binding_rare(b)->referrer_count > 0 ? DEFECT_UNAPPLIED_RESOLUTION : DEFECT_UNCLEARED_FIELDS;
    unsigned defects = 0;

    if (!d)
        return 0;
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        defects |= (unsigned)d->fields[i].unapplied << differing;
        defects |= (unsigned)d->fields[i].overridden << DEFECT_OVERRIDDEN_VALUE;
    }
    return defects | (unsigned)(d->dangling > 0) << DEFECT_DANGLING_REFERENCE;
}

static void *decide_binding(const struct gathered *g, int64_t *due_ms)
{
    const struct binding_facts *f = &g->binding;
    const struct binding *b = f->binding;
    struct binding_decision *d = pool_alloc_zeroed(g->memory, sizeof(*d));
    struct dependency_decision *dependency;
    struct identity id;

    (void)due_ms;
    d->template_handle = pool_handle_of(f->template);
    if (b->claim && !claim_policy_exists(b->claim, f->claimed))
        d->defects |= 1u << DEFECT_DANGLING_CLAIM;
    /* Unless the kind is selected and completely read, the template may exist. */
    if (!f->template && f->kind_read && binding_get_resource(b, &id))
        d->defects |= 1u << DEFECT_MISSING_TEMPLATE;
    dependency = dependency_decide(g->memory, b, &g->referrers, g->release);
    d->dependency_handle = pool_handle_of(dependency);
    d->defects |= (uint8_t)dependency_defects(b, dependency);
    return d;
}

static void release_binding_decision(const struct rule_context *c, void *decision)
{
    struct binding_decision *d = decision;

    (void)c;
    if (d)
        pool_free(binding_decision_dependency(d));
    pool_free(d);
}

/*
 * The members `equal` and `mark_readers` are not set: the readers of a binding depend on its object
 * alone, and binding_on_change() marks them.
 */
const struct rule rule_binding = {
    .rank = RULE_RANK_BINDING,
    .changed = binding_on_change,
    .gather = gather_binding_facts,
    .decide = decide_binding,
    .release = release_binding_decision,
};

/* ---- rule of Works ---- */

/* Marks the templates of all bindings. */
static void mark_bound_templates(struct rule_context *c)
{
    for (const struct type *type = store_first_type(c->store); type; type = type->next) {
        if (type->def->class != CLASS_BINDING)
            continue;
        for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
            for (size_t i = 0; i < p->count; i++)
                mark_template_of_binding(c, entry_binding(partition_entry(p, i)));
        }
    }
}

void rule_update_works_known(struct rule_context *c)
{
    bool incomplete = incomplete_classes(&c->incomplete) & 1u << CLASS_WORK;
    bool known = !incomplete && (c->works.followed || store_object_count(c->store, CLASS_WORK) > 0);

    if (known == c->works.known)
        return;
    c->works.known = known;
    mark_bound_templates(c);
}

/* Marks the template of the binding that a Work belongs to. Accepts NULL. */
static void mark_template_of_work(struct rule_context *c, const struct work *work)
{
    const struct kind_def *def;

    if (!work || !work->binding_name)
        return;
    def = kind_of_bindings(!*work->binding_ns);
    mark_template_of_binding(
        c, entry_binding(
               store_find(c->store, &(struct identity){def->api_version, def->name,
                                                       work->binding_ns, work->binding_name})));
}

static void work_on_change(struct rule_context *c, struct entry *entry, const void *old)
{
    if (works_update(&c->works, entry, old)) {
        mark_template_of_work(c, old);
        mark_template_of_work(c, entry_work(entry));
    }
    rule_update_works_known(c);
}

const struct rule rule_work = {.rank = RULE_RANK_LAST, .changed = work_on_change};

/* ---- rule of Events ---- */

static void mark_template_of_event(struct rule_context *c, const struct event *event)
{
    struct entry *template = override_event_template(&c->override_events, event);

    if (template)
        graph_mark(c->graph, template);
}

static void event_on_change(struct rule_context *c, struct entry *entry, const void *old)
{
    struct entry *refused = refused_template(&c->refusals, entry_event(entry));

    conflict_events_update(&c->conflict_events, entry, old);
    /* Its evaluation reports the Event to controller_progress_note(). */
    if (refusals_update(&c->refusals, entry, old) && refused)
        graph_mark(c->graph, refused);
    if (!override_events_update(&c->override_events, entry, old))
        return;
    mark_template_of_event(c, old);
    mark_template_of_event(c, entry_event(entry));
}

const struct rule rule_event = {.rank = RULE_RANK_LAST, .changed = event_on_change};
