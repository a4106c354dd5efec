/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/capacity.h"
#include "metrics/rules/engine_state.h"

static bool same_texts(const char *const *a, uint32_t a_count, const char *const *b,
                       uint32_t b_count)
{
    return a_count == b_count && (a_count == 0 || memcmp(a, b, a_count * sizeof(*a)) == 0);
}

static bool same_labels(const struct labels *a, const struct labels *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->items, b->items, a->count * sizeof(*a->items)) == 0);
}

static bool same_taints(const struct cluster *a, const struct cluster *b)
{
    return a->taint_count == b->taint_count &&
           (a->taint_count == 0 ||
            memcmp(a->taints, b->taints, a->taint_count * sizeof(*a->taints)) == 0);
}

/*
 * True if no placement can tell the two apart. Texts are shared, so that they are
 * compared as pointers. Clusters report what they have free every few seconds,
 * and that must not make every policy be looked at again.
 */
static bool same_to_placements(const struct cluster *a, const struct cluster *b)
{
    return a->provider == b->provider && a->region == b->region && a->deleting == b->deleting &&
           same_texts(a->zones, a->zone_count, b->zones, b->zone_count) &&
           same_labels(&a->labels, &b->labels) && same_taints(a, b);
}

void engine_cluster_changed(struct engine *e, const struct cluster *old,
                            const struct cluster *fresh)
{
    if (old && fresh && same_to_placements(old, fresh))
        return;
    placements_clusters_changed(e->placements);
    for (const struct type *type = store_types(e->store); type; type = type->next) {
        if (type->def->class == CLASS_POLICY)
            engine_mark_type(e, type);
    }
    for (size_t i = 0; i < e->placed_count; i++)
        engine_mark(e, e->placed[i]);
    /* Without bindings these are where their policies' placements lead. */
    if (e->derives)
        engine_mark_connectors(e);
}

/* What the policy that governs says of clusters. Policies are always looked at before templates. */
static const struct placed *placed_of(const struct template_decision *d)
{
    const struct policy_decision *policy = d->governing ? policy_decision(d->governing) : NULL;

    return policy ? policy->placed : NULL;
}

void engine_add_capacity(struct engine *e, struct entry *entry, struct template_decision *d)
{
    const struct binding *b = d->binding ? d->binding->object : NULL;

    if (d->state != STATE_STALE || !b || !b->has_placement)
        return;
    d->capacity = capacity_decide(store_strings(e->store), e->placements, placed_of(d), b);
    if (e->placed_count == e->placed_capacity) {
        e->placed_capacity = e->placed_capacity ? 2 * e->placed_capacity : 64;
        e->placed = xreallocarray(e->placed, e->placed_capacity, sizeof(struct entry *));
    }
    e->placed[e->placed_count++] = entry;
    d->capacity->position = (uint32_t)e->placed_count;
}

void engine_drop_capacity(struct engine *e, struct template_decision *d)
{
    struct capacity *c = d->capacity;

    if (!c)
        return;

    struct entry *moved = e->placed[--e->placed_count];

    if (c->position - 1 < e->placed_count) {
        struct template_decision *owner = moved->decision;

        e->placed[c->position - 1] = moved;
        owner->capacity->position = c->position;
    }
    d->capacity = NULL;
    capacity_free(store_strings(e->store), c);
}
