/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/engine_state.h"

/* What spec.resource names. False if it names no template. */
static bool template_identity(const struct binding *b, struct identity *out)
{
    if (!*b->api_version || !*b->kind || !*b->name)
        return false;
    *out = (struct identity){b->api_version, b->kind, b->ns, b->name};
    return kind_of(b->api_version, b->kind)->class == CLASS_TEMPLATE;
}

struct entry *engine_template_of(const struct engine *e, const struct binding *b)
{
    struct identity id;

    return template_identity(b, &id) ? store_find(e->store, &id) : NULL;
}

/* As engine_template_of, but read: an absent template is remembered for the day it comes. */
static struct entry *read_template(struct engine *e, const struct binding *b)
{
    struct identity id;
    struct entry *template = template_identity(b, &id) ? store_refer(e->store, &id) : NULL;

    if (template)
        entry_list_add(&e->reads, template);
    return template && template->object ? template : NULL;
}

static struct identity referrer_identity(const struct referrer *r)
{
    const struct kind_def *row = kind_binding(false);

    return (struct identity){row->api_version, row->name, r->ns ? r->ns : "", r->name};
}

/* A template that is watched, because policies select its kind, and is not there. */
static bool lacks_template(const struct engine *e, const struct binding *b)
{
    struct identity id;

    return template_identity(b, &id) &&
           selector_index_type_count(e->index, b->api_version, b->kind) > 0;
}

/* Read the policy of the claim. The answer is what is broken about it: bits by defect. */
static uint8_t read_claim(struct engine *e, const struct binding *b)
{
    struct entry *claimed = b->claim ? engine_policy_of(e, b->claim) : NULL;

    if (!claimed)
        return 0;
    entry_list_add(&e->reads, claimed);
    return claim_holds(b->claim, claimed) ? 0 : 1u << DEFECT_DANGLING_CLAIM;
}

void engine_decide_binding(struct engine *e, struct entry *entry)
{
    const struct binding *b = entry->object;
    struct binding_decision *old = entry->decision;
    struct binding_decision *fresh = xcalloc(1, sizeof(*fresh));

    e->reads.count = 0;
    for (uint32_t i = 0; i < b->referrer_count; i++) {
        struct identity id = referrer_identity(&b->referrers[i]);
        struct entry *referrer = store_refer(e->store, &id);

        entry_list_add(&e->reads, referrer);
        if (referrer->object)
            read_template(e, referrer->object);
    }
    fresh->template = read_template(e, b);
    fresh->defects = read_claim(e, b);
    if (!fresh->template && lacks_template(e, b))
        fresh->defects |= 1u << DEFECT_MISSING_TEMPLATE;
    edges_replace(e->store, entry, e->reads.items, e->reads.count);
    fresh->dependency = dependency_decide(e, entry);
    if (old)
        free(old->dependency);
    free(old);
    entry->decision = fresh;
}

/* What the policy that governs a referrer's template says now; its binding where none does. */
static void set_current(struct ballot *ballot)
{
    const struct template_decision *d =
        ballot->template ? template_decision(ballot->template) : NULL;

    ballot->current = ballot->observed;
    ballot->counts_current = ballot->counts_observed;
    if (!d || !d->governing)
        return;
    ballot->current = d->vote;
    ballot->counts_current = d->propagates;
}

typedef void ballot_fn(void *context, const struct ballot *ballot);

static void observed_ballots(const struct engine *e, const struct binding *b, ballot_fn *each,
                             void *context)
{
    for (uint32_t i = 0; i < b->referrer_count; i++) {
        struct identity id = referrer_identity(&b->referrers[i]);
        struct entry *referrer = store_find(e->store, &id);
        const struct binding *r = referrer ? referrer->object : NULL;
        struct ballot ballot = {.binding = referrer};

        if (r) {
            ballot.template = engine_template_of(e, r);
            ballot.observed = vote_of(&r->propagation);
            ballot.counts_observed = true;
            set_current(&ballot);
        }
        each(context, &ballot);
    }
}

static int by_identity(const void *a, const void *b)
{
    return entry_compare(*(struct entry *const *)a, *(struct entry *const *)b);
}

static void derived_ballots(const struct entry *dependency, ballot_fn *each, void *context)
{
    struct entry_list referrers = {0};

    for (uint32_t i = 0; i < dependency->dependent_count; i++) {
        const struct template_decision *d = template_decision(dependency->dependents[i]);

        if (d && d->propagates)
            entry_list_add(&referrers, dependency->dependents[i]);
    }
    if (referrers.count > 1)
        qsort(referrers.items, referrers.count, sizeof(struct entry *), by_identity);
    for (size_t i = 0; i < referrers.count; i++) {
        const struct template_decision *d = template_decision(referrers.items[i]);

        each(context, &(struct ballot){
                          .template = referrers.items[i],
                          .observed = d->vote,
                          .current = d->vote,
                          .counts_observed = true,
                          .counts_current = true,
                      });
    }
    entry_list_release(&referrers);
}

void engine_ballots(const struct engine *e, const struct entry *dependency, ballot_fn *each,
                    void *context)
{
    if (entry_class(dependency) == CLASS_BINDING)
        observed_ballots(e, dependency->object, each, context);
    else
        derived_ballots(dependency, each, context);
}
