/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"

/*
 * A register of templates that finds collisions: templates that claim the same name or resource,
 * which only one of them can have (the name of a binding, a cloud resource). Two versions of one
 * object (in manifests) do not collide.
 */
struct name_collisions;

/*
 * The rule by which templates collide: those with the same key. The key of a template must not
 * change while it is in the register.
 */
struct collision_rule {
    uint64_t (*hash)(const struct entry *template, uint64_t seed);
    /*
     * Comparison function of struct map. `key` is a template; name_collisions_item_template() reads
     * `item`.
     */
    bool (*same)(const void *item, const void *key);
};
/* Returns a template of a map item, which stands for all templates with the same key. */
const struct entry *name_collisions_item_template(const void *item);

/*
 * Rule with the name of the binding as key. Karmada derives this name from the template's name and
 * lower-case kind without the API group (binding_name), so templates that differ only in the group
 * collide.
 */
extern const struct collision_rule collision_binding_name;

/* Returns an empty register. The rule is borrowed. */
struct name_collisions *name_collisions_new(const struct collision_rule *rule,
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

/*
 * Returns true if the template of another object has the same key. `template` must be registered.
 */
bool name_collisions_has_collision(const struct name_collisions *c, const struct entry *template);
/*
 * Returns how many templates of other objects have the same key. Stores the first `max` of them in
 * `out`, in the order of entry_compare().
 */
size_t name_collisions_list_others(const struct name_collisions *c, const struct entry *template,
                                   const struct entry **out, size_t max);
