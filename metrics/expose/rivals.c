/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/rivals.h"

#include "metrics/base/map.h"

bool rival_is_tie(const struct rival *rival)
{
    return rival->step == RANK_NAME && !rival->claims;
}

static bool is_rival(const void *item, const void *key)
{
    const struct rival *a = item, *b = key;

    return a->policy == b->policy && a->step == b->step && a->first == b->first &&
           a->claims == b->claims;
}

/* One template more of this sort. */
static void count_rival(struct map *found, const struct rival *key)
{
    const uint64_t words[] = {(uintptr_t)key->policy, key->step, key->first, key->claims};
    uint64_t hash = map_hash(words, sizeof(words), 0);
    struct rival *rival = map_get(found, hash, key);

    if (!rival) {
        rival = xmalloc(sizeof(*rival));
        *rival = *key;
        map_add(found, hash, rival);
    }
    rival->templates++;
}

/* The policy's own place among the eligible ones; NULL if it is not there. */
static const struct candidate *place_of(const struct template_decision *d,
                                        const struct entry *policy)
{
    for (uint32_t i = 0; i < d->candidate_count; i++) {
        if (d->candidates[i].policy == policy)
            return candidate_eligible(&d->candidates[i]) ? &d->candidates[i] : NULL;
    }
    return NULL;
}

static void count_template(struct map *found, const struct template_decision *d,
                           const struct entry *policy)
{
    const struct candidate *best = d->candidates, *own = place_of(d, policy);

    for (uint32_t i = 0; own && i < d->candidate_count; i++) {
        const struct candidate *other = &d->candidates[i];
        struct rival rival = {.policy = other->policy, .step = RANK_NAME};

        if (other == own || !candidate_eligible(other) || (own != best && other != best))
            continue;
        rival.first = candidate_compare(own, other, &rival.step) < 0;
        count_rival(found, &rival);
    }
    if (own && d->winner == policy && d->governing && d->governing != policy)
        count_rival(found,
                    &(struct rival){
                        .policy = d->governing, .step = RANK_NAME, .first = true, .claims = true});
}

static int by_weight(const void *a, const void *b)
{
    const struct rival *x = a, *y = b;

    if (rival_is_tie(x) != rival_is_tie(y))
        return rival_is_tie(x) ? -1 : 1;
    if (x->templates != y->templates)
        return x->templates > y->templates ? -1 : 1;
    if (x->policy != y->policy)
        return entry_compare(x->policy, y->policy);
    if (x->claims != y->claims)
        return x->claims - y->claims;
    return x->step != y->step ? (int)x->step - (int)y->step : x->first - y->first;
}

struct rivals rivals_of(const struct entry *policy)
{
    struct map found = MAP_INIT(is_rival);
    struct rivals out = {0};
    struct rival *rival;

    for (uint32_t i = 0; i < policy->reader_count; i++) {
        const struct template_decision *d = template_decision(policy->readers[i]);

        if (d && entry_exists(policy->readers[i]) && d->state != STATE_IGNORED)
            count_template(&found, d, policy);
    }
    out.items = xreallocarray(NULL, found.count + 1, sizeof(*out.items));
    for (size_t at = 0; (rival = map_next(&found, &at)) != NULL;) {
        out.items[out.count++] = *rival;
        free(rival);
    }
    map_release(&found);
    qsort(out.items, out.count, sizeof(*out.items), by_weight);
    return out;
}

void rivals_release(struct rivals *rivals)
{
    free(rivals->items);
    *rivals = (struct rivals){0};
}
