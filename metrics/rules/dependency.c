/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/dependency.h"

#include "metrics/model/template.h"

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

/* The sum over all referrers. */
struct count {
    struct tally observed[DEPENDENCY_FIELD_COUNT];
    struct tally current[DEPENDENCY_FIELD_COUNT];
    uint32_t referrers;
    uint32_t dangling;
    int64_t since_ms;
};

static void count_ballot(void *context, const struct ballot *ballot)
{
    struct count *c = context;
    const struct binding *b = ballot->binding ? ballot->binding->object : NULL;

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

/* What the binding has now; derived dependencies have nothing yet, so what they will get. */
static struct vote stored_values(const struct binding *b, const struct count *c)
{
    struct vote stored;

    if (b)
        return vote_of(&b->propagation);
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        stored.wants[i] = tally_resolved(&c->observed[i]);
    return stored;
}

static struct field_resolution resolve(const struct count *c, unsigned field, bool stored,
                                       bool attached)
{
    const struct tally *observed = &c->observed[field];
    const struct tally *current = &c->current[field];
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

struct dependency_decision *dependency_decide(const struct engine *e, const struct entry *entry)
{
    const struct binding *b = entry_class(entry) == CLASS_BINDING ? entry->object : NULL;
    bool attached = !b || !b->has_placement;
    struct count c = {0};

    /* With a placement of its own and nobody who requires it, it is no dependency. */
    if (b && !attached && b->referrer_count == 0)
        return NULL;
    engine_ballots(e, entry, count_ballot, &c);
    if (!b && c.referrers == 0)
        return NULL;

    struct dependency_decision *d = xcalloc(1, sizeof(*d));
    struct vote stored = stored_values(b, &c);
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        d->fields[i] = resolve(&c, i, stored.wants[i], attached);
    d->attached = attached;
    d->derived = !b;
    d->referrers = c.referrers;
    d->dangling = c.dangling;
    d->since_ms = b && b->changed_ms > c.since_ms ? b->changed_ms : c.since_ms;
    return d;
}
