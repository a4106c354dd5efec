/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/dependency.h"

#include "metrics/rules/links.h"

struct vote vote_of(const struct propagation *p)
{
    return (struct vote){{
        [DEPENDENCY_CONFLICT_RESOLUTION] = p->conflict_resolution == CONFLICT_RESOLUTION_OVERWRITE,
        [DEPENDENCY_PRESERVE] = p->preserve == OPTIONAL_TRUE,
    }};
}

bool vote_equal(const struct vote *a, const struct vote *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* ---- ballots ---- */

static void add_ballot(struct ballot_list *list, struct ballot ballot)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = xreallocarray(list->items, list->capacity, sizeof(*list->items));
    }
    list->items[list->count++] = ballot;
}

void ballot_list_release(struct ballot_list *list)
{
    free(list->items);
    *list = (struct ballot_list){0};
}

/*
 * The ballot of an element of spec.requiredBy. What it currently wants is what the policy that
 * governs its template says, or, without such a policy, what its binding says.
 */
static struct ballot observed_ballot(const struct store *s, const struct referrer *referrer)
{
    struct identity id = referrer_identity(referrer);
    struct ballot ballot = {.binding = store_find(s, &id)};
    const struct binding *b = entry_binding(ballot.binding);
    const struct template_decision *d;

    if (!b)
        return ballot;
    ballot.template = binding_template(s, b);
    ballot.observed = ballot.current = vote_of(&b->propagation);
    ballot.counts_observed = ballot.counts_current = true;
    d = ballot.template ? template_decision(ballot.template) : NULL;
    if (d && d->governing) {
        ballot.current = d->vote;
        ballot.counts_current = d->propagates;
    }
    return ballot;
}

static int by_template(const void *a, const void *b)
{
    const struct ballot *x = a, *y = b;

    return entry_compare(x->template, y->template);
}

static void gather_derived(const struct entry *dependency, struct ballot_list *out)
{
    size_t first = out->count;

    for (uint32_t i = 0; i < dependency->reader_count; i++) {
        const struct template_decision *d = template_decision(dependency->readers[i]);

        if (d && d->propagates)
            add_ballot(out, (struct ballot){
                                .template = dependency->readers[i],
                                .observed = d->vote,
                                .current = d->vote,
                                .counts_observed = true,
                                .counts_current = true,
                            });
    }
    if (out->count - first > 1)
        qsort(out->items + first, out->count - first, sizeof(*out->items), by_template);
}

void ballots_gather(const struct store *s, const struct entry *dependency, struct ballot_list *out)
{
    const struct binding *b = entry_binding(dependency);

    if (entry_class(dependency) == CLASS_TEMPLATE)
        gather_derived(dependency, out);
    for (uint32_t i = 0; b && i < b->referrer_count; i++)
        add_ballot(out, observed_ballot(s, &b->referrers[i]));
}

/* ---- the decision ---- */

/* The sum over all referrers. */
struct count {
    struct tally observed[DEPENDENCY_FIELD_COUNT];
    struct tally current[DEPENDENCY_FIELD_COUNT];
    uint32_t referrers;
    uint32_t dangling;
    int64_t since_ms;
};

static void count_ballot(struct count *c, const struct ballot *ballot)
{
    const struct binding *b = entry_binding(ballot->binding);

    if (ballot->binding && !b) {
        c->dangling++;
        return;
    }
    c->referrers += ballot->counts_observed;
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        c->observed[i].count[ballot->observed.wants[i]] += ballot->counts_observed;
        c->current[i].count[ballot->current.wants[i]] += ballot->counts_current;
    }
    if (b && b->changed_ms > c->since_ms)
        c->since_ms = b->changed_ms;
}

static struct field_resolution resolve(const struct tally *observed, const struct tally *current,
                                       bool stored, bool attached)
{
    bool resolved = tally_resolved(observed);
    bool differs = stored != resolved;

    return (struct field_resolution){
        .conflict = attached && tally_conflict(observed),
        .resolved = resolved,
        .stored = stored,
        .unapplied = attached && differs,
        .overridden = !attached && differs,
        .ahead = attached && tally_conflict(current),
        .predicted = attached && !tally_conflict(observed) && tally_conflict(current),
        .predicted_resolved = tally_resolved(current),
    };
}

struct dependency_decision *dependency_decide(const struct binding *b,
                                              const struct ballot_list *ballots)
{
    bool attached = !b || !b->has_placement;
    struct count c = {0};

    /* With a placement of its own and nobody who requires it, it is no dependency. */
    if (b && !attached && b->referrer_count == 0)
        return NULL;
    for (size_t i = 0; i < ballots->count; i++)
        count_ballot(&c, &ballots->items[i]);
    if (!b && c.referrers == 0)
        return NULL;

    struct dependency_decision *d = xcalloc(1, sizeof(*d));
    struct vote stored = b ? vote_of(&b->propagation) : (struct vote){0};
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        /* A derived one has no binding yet: it will store what is resolved. */
        bool value = b ? stored.wants[i] : tally_resolved(&c.observed[i]);

        d->fields[i] = resolve(&c.observed[i], &c.current[i], value, attached);
    }
    d->attached = attached;
    d->derived = !b;
    d->referrers = c.referrers;
    d->dangling = c.dangling;
    d->since_ms = b && b->changed_ms > c.since_ms ? b->changed_ms : c.since_ms;
    return d;
}
