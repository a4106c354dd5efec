/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"

/*
 * A register of templates that finds those which want the same thing, where only one can have
 * it: a binding's name, a cloud resource. Two versions of one object (in manifests) do not
 * collide.
 */
struct name_collisions;

/* What they want. The answers about a template must not change while it is in the register. */
struct collision_rule {
    uint64_t (*hash)(const struct entry *template, uint64_t seed);
    /* The comparison of struct map: `key` is a template, `item` is for name_collisions_first(). */
    bool (*same)(const void *item, const void *key);
};
/* One of the templates that want what this item of the map is about. */
const struct entry *name_collisions_first(const void *item);

/*
 * The name of a binding: Karmada makes it from the template's name and kind in lower case,
 * without the API group (binding_name). Two templates of a namespace that differ in nothing else
 * collide.
 */
extern const struct collision_rule collision_binding_name;

/* The rule is borrowed. */
struct name_collisions *name_collisions_new(const struct collision_rule *rule,
                                            uint64_t seed) MUST_USE;
/* Takes NULL. */
void name_collisions_free(struct name_collisions *c);

/*
 * Put a template in that is not in the register, or remove one that is. The other templates
 * whose answer of name_collisions_has() changes by that are appended to `affected`.
 */
void name_collisions_add(struct name_collisions *c, struct entry *template,
                         struct entry_list *affected);
void name_collisions_remove(struct name_collisions *c, struct entry *template,
                            struct entry_list *affected);

/* True if another template in the register wants the same. This one must be in it. */
bool name_collisions_has(const struct name_collisions *c, const struct entry *template);
/* How many others want the same: the first `max` of them, in the order of lists, go to `out`. */
size_t name_collisions_others(const struct name_collisions *c, const struct entry *template,
                              const struct entry **out, size_t max);
