/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/name_collisions.h"

#include "metrics/base/handle_map.h"
#include "metrics/base/map.h"
#include "metrics/model/binding.h"

/* Several templates with the same key. */
struct group {
    const struct collision_rule *rule;
    struct entry_list members;
    size_t other_objects; /* Number of members that are another object than the first. */
};

struct name_collisions {
    struct handle_map single; /* Templates that no other one has the key of. */
    struct map groups;        /* The others; usually empty, which makes searches unnecessary. */
    const struct collision_rule *rule;
    uint64_t seed;
};

static bool is_group_of(const void *item, const void *key)
{
    const struct group *g = item;

    return g->rule->same(g->members.items[0], key);
}

/* Returns true if the templates of `item` and `key` have the same namespace and binding name. */
static bool has_same_binding_name(const void *item, const void *key)
{
    const struct entry *a = item, *b = key;
    CLEANUP(strbuf_release) struct strbuf a_name = STRBUF_INIT(BINDING_NAME_MAX);
    CLEANUP(strbuf_release) struct strbuf b_name = STRBUF_INIT(BINDING_NAME_MAX);

    if (a == b)
        return true;
    if (strcmp(entry_ns(a), entry_ns(b)) != 0)
        return false;
    binding_name(entry_kind(a), a->name, &a_name);
    binding_name(entry_kind(b), b->name, &b_name);
    return strcmp(a_name.data, b_name.data) == 0;
}

static uint64_t hash_binding_name(const struct entry *template, uint64_t seed)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(BINDING_NAME_MAX);
    const char *ns = entry_ns(template);

    binding_name(entry_kind(template), template->name, &name);
    return map_hash(name.data, name.len, map_hash(ns, strlen(ns), seed));
}

const struct collision_rule collision_binding_name = {hash_binding_name, has_same_binding_name};

static uint64_t hash_template_key(const struct name_collisions *c, const struct entry *template)
{
    return c->rule->hash(template, c->seed);
}

static bool is_same_object(const struct entry *a, const struct entry *b)
{
    const struct type *left = entry_type(a);
    const struct type *right = entry_type(b);

    return strcmp(left->group, right->group) == 0 && strcmp(left->kind, right->kind) == 0 &&
           strcmp(entry_ns(a), entry_ns(b)) == 0 && strcmp(a->name, b->name) == 0;
}

struct name_collisions *name_collisions_new(const struct pool *memory,
                                            const struct collision_rule *rule, uint64_t seed)
{
    struct name_collisions *c = xcalloc(1, sizeof(*c));

    c->single = HANDLE_MAP_INIT(memory, rule->same);
    c->groups = MAP_INIT(is_group_of);
    c->rule = rule;
    c->seed = seed;
    return c;
}

static void group_free(struct group *g)
{
    entry_list_release(&g->members);
    free(g);
}

void name_collisions_free(struct name_collisions *c)
{
    struct group *g;

    if (!c)
        return;
    for (size_t at = 0; (g = map_next(&c->groups, &at)) != NULL;)
        group_free(g);
    map_release(&c->groups);
    handle_map_release(&c->single);
    free(c);
}

/*
 * Counts g->other_objects again after `cause` was added or removed. If a collision begins or ends,
 * appends all other members to `affected`.
 */
static void recount_other_objects(struct group *g, const struct entry *cause,
                                  struct entry_list *affected)
{
    const struct entry_list *m = &g->members;
    bool collided = g->other_objects > 0;

    g->other_objects = 0;
    for (size_t i = 1; i < m->count; i++)
        g->other_objects += !is_same_object(m->items[0], m->items[i]);
    for (size_t i = 0; i < m->count && collided != (g->other_objects > 0); i++) {
        if (m->items[i] != cause)
            entry_list_add(affected, m->items[i]);
    }
}

void name_collisions_add(struct name_collisions *c, struct entry *template,
                         struct entry_list *affected)
{
    uint64_t hash = hash_template_key(c, template);
    struct entry *first = handle_map_take(&c->single, hash, template);
    struct group *g = first ? NULL : map_take(&c->groups, hash, template);

    if (!first && !g) {
        handle_map_add(&c->single, hash, template);
        return;
    }
    if (!g) {
        g = xcalloc(1, sizeof(*g));
        g->rule = c->rule;
        entry_list_add(&g->members, first);
    }
    entry_list_add(&g->members, template);
    recount_other_objects(g, template, affected);
    map_add(&c->groups, hash, g);
}

/* Removes a template from a group without keeping the order of the others. */
static void remove_member(struct entry_list *members, const struct entry *template)
{
    for (size_t i = 0; i < members->count; i++) {
        if (members->items[i] == template)
            members->items[i--] = members->items[--members->count];
    }
}

void name_collisions_remove(struct name_collisions *c, struct entry *template,
                            struct entry_list *affected)
{
    uint64_t hash = hash_template_key(c, template);
    struct group *g = map_take(&c->groups, hash, template);

    if (!g) {
        handle_map_take(&c->single, hash, template);
        return;
    }
    remove_member(&g->members, template);
    recount_other_objects(g, template, affected);
    if (g->members.count > 1) {
        map_add(&c->groups, hash, g);
        return;
    }
    handle_map_add(&c->single, hash, g->members.items[0]);
    group_free(g);
}

static const struct group *find_group(const struct name_collisions *c, const struct entry *template)
{
    return c->groups.count > 0 ? map_get(&c->groups, hash_template_key(c, template), template)
                               : NULL;
}

bool name_collisions_has_collision(const struct name_collisions *c, const struct entry *template)
{
    const struct group *g = find_group(c, template);

    return g && g->other_objects > 0;
}

size_t name_collisions_list_others(const struct name_collisions *c, const struct entry *template,
                                   const struct entry **out, size_t max)
{
    const struct group *g = find_group(c, template);
    size_t count = 0;

    for (size_t i = 0; g && i < g->members.count; i++) {
        const struct entry *other = g->members.items[i];
        size_t at = count < max ? count : max;

        if (is_same_object(other, template))
            continue;
        count++;
        /* Insert `other` into the sorted first `max`; the last of them may drop out. */
        for (; at > 0 && entry_compare(other, out[at - 1]) < 0; at--) {
            if (at < max)
                out[at] = out[at - 1];
        }
        if (at < max)
            out[at] = other;
    }
    return count;
}
