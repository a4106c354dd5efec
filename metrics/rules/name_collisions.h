/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"

/*
 * A register of templates that finds collisions: templates with the same key, such as the same name
 * of their bindings or the same cloud resource. One object can be several templates, with different
 * apiVersions in manifests; these do not collide.
 */
struct name_collisions;

/* Key of a register. The key of a template must not change while the register has the template. */
struct collision_rule {
    uint64_t (*hash)(const struct entry *template, uint64_t seed);
    /* Returns true if two templates have equal keys: the entries `item` and `template`. */
    bool (*same)(const void *item, const void *template);
};

/*
 * Rule with namespace and name of the binding as key. Karmada derives the name from the template's
 * name and lower-case kind without the API group (binding_name), so templates that differ only in
 * the group collide.
 */
extern const struct collision_rule collision_binding_name;

/* Returns an empty register of entries in the pool `memory`. The rule is borrowed. */
struct name_collisions *name_collisions_new(const struct pool *memory,
                                            const struct collision_rule *rule,
                                            uint64_t seed) MUST_USE;
/* Accepts NULL. */
void name_collisions_free(struct name_collisions *c);

/*
 * Adds a template that is not in the register, or removes one that is. Appends to `affected` the
 * other templates for which the result of name_collisions_has_collision() changes.
 */
void name_collisions_add(struct name_collisions *c, struct entry *template,
                         struct entry_list *affected);
void name_collisions_remove(struct name_collisions *c, struct entry *template,
                            struct entry_list *affected);

/* Returns true if a template of another object has the key of `template`, which is registered. */
bool name_collisions_has_collision(const struct name_collisions *c, const struct entry *template);
/*
 * Returns how many templates of other objects have the key of `template`. Stores the first `max` of
 * them in `out`, in the order of entry_compare().
 */
size_t name_collisions_list_others(const struct name_collisions *c, const struct entry *template,
                                   const struct entry **out, size_t max);
