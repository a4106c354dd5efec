/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/policy_versions.h"

static bool is_of(const void *item, const void *key)
{
    return ((const struct policy_history *)item)->policy == key;
}

void policy_versions_init(struct policy_versions *all, struct intern *strings, size_t limit)
{
    *all =
        (struct policy_versions){.by_policy = MAP_INIT(is_of), .strings = strings, .limit = limit};
}

void policy_versions_release(struct policy_versions *all)
{
    struct policy_history *h;

    for (size_t i = 0; i < all->touched_count; i++)
        policy_history_drop(all->touched[i], all->strings);
    for (size_t at = 0; (h = map_next(&all->by_policy, &at)) != NULL;)
        policy_history_drop(h, all->strings);
    map_release(&all->by_policy);
    free(all->touched);
}

static struct policy_history *find(const struct policy_versions *all, const struct entry *policy)
{
    return map_get(&all->by_policy, map_hash_address(policy), policy);
}

/* True if they are two policies of one name: the second was made after the first was deleted. */
static bool is_another(const struct policy *old, const struct policy *fresh)
{
    return (old->id && fresh->id && old->id != fresh->id) ||
           (old->created_ms && fresh->created_ms && old->created_ms != fresh->created_ms);
}

void policy_versions_changed(struct policy_versions *all, struct entry *policy,
                             const struct policy *old)
{
    const struct policy *fresh = entry_policy(policy);
    struct policy_history *h = find(all, policy);

    if (all->paused)
        return;
    if (h && (!fresh || is_another(old, fresh))) {
        map_take(&all->by_policy, map_hash_address(policy), policy);
        h->gone = true;
        policy_history_drop(h, all->strings);
        h = NULL;
    }
    if (!fresh)
        return;
    if (h) {
        policy_history_follow(h, all->strings, old);
        policy_history_trim(h, all->strings, all->limit);
        return;
    }
    map_add(&all->by_policy, map_hash_address(policy), policy_history_new(policy));
}

struct policy_history *policy_versions_hold(const struct policy_versions *all,
                                            const struct entry *policy)
{
    return policy_history_ref(find(all, policy));
}

static void touch(struct policy_versions *all, struct policy_history *h)
{
    if (h->touched)
        return;
    h->touched = true;
    if (all->touched_count == all->touched_capacity) {
        all->touched_capacity = all->touched_capacity ? 2 * all->touched_capacity : 16;
        all->touched =
            xreallocarray(all->touched, all->touched_capacity, sizeof(struct policy_history *));
    }
    all->touched[all->touched_count++] = policy_history_ref(h);
}

struct policy_version *policy_versions_enter(struct policy_versions *all, struct policy_history *h,
                                             const struct running *r)
{
    struct policy_version *v;

    if (!h)
        return NULL;
    v = all->paused ? policy_history_find(h, r) : policy_history_recover(h, r);
    if (!v)
        v = &h->unknown;
    v->templates++;
    policy_history_ref(h);
    touch(all, h);
    return v;
}

void policy_versions_leave(struct policy_versions *all, struct policy_version *v)
{
    struct policy_history *h;

    if (!v)
        return;
    h = v->history;
    v->templates--;
    touch(all, h);
    policy_history_drop(h, all->strings);
}

bool policy_versions_tell(struct policy_versions *all, size_t budget,
                          void (*decided)(void *context, struct entry *policy), void *context)
{
    for (; budget > 0 && all->touched_count > 0; budget--) {
        struct policy_history *h = all->touched[--all->touched_count];

        h->touched = false;
        if (!all->paused)
            policy_history_trim(h, all->strings, all->limit);
        if (decided && !h->gone)
            decided(context, h->policy);
        policy_history_drop(h, all->strings);
    }
    return all->touched_count == 0;
}
