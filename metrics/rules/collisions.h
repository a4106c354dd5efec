/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/entry_list.h"

/*
 * Templates of which only one can have what several want. Two versions of one object
 * (in manifests) are no collision.
 */
struct collisions;

/* What they want. Its answers about a template stay the same while that is inside. */
struct collision_rule {
    uint64_t (*hash)(const struct entry *template, uint64_t seed);
    /* As struct map wants it: `key` is a template, `item` is for collisions_first(). */
    bool (*same)(const void *item, const void *key);
};
const struct entry *collisions_first(const void *item);

/*
 * The name of a binding: Karmada makes it of the template's name and kind in lower case,
 * without the API group. Two templates of a namespace that differ in nothing else want
 * one binding, and only one of them gets it.
 */
extern const struct collision_rule collision_binding_name;

/* The rule is borrowed. */
struct collisions *collisions_new(const struct collision_rule *rule, uint64_t seed) MUST_USE;
/* Takes NULL. */
void collisions_free(struct collisions *c);

/*
 * A template that wants something, not inside yet; and one that is inside goes.
 * Appends the others for which collisions_has has another answer from now on.
 */
void collisions_add(struct collisions *c, struct entry *template, struct entry_list *changed);
void collisions_remove(struct collisions *c, struct entry *template, struct entry_list *changed);

/* True if another template inside wants what this one does, which is inside. */
bool collisions_has(const struct collisions *c, const struct entry *template);
