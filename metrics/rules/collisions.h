/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/edges.h"

/*
 * Templates whose bindings have one name. Karmada makes it of the template's name and kind
 * in lower case, without the API group: two templates of a namespace that differ in nothing
 * else want one binding, and only one of them gets it.
 *
 * Two versions of one object (in manifests) are no collision.
 */
struct collisions;

struct collisions *collisions_new(uint64_t seed) MUST_USE;
/* Takes NULL. */
void collisions_free(struct collisions *c);

/*
 * A template that has or wants a binding, not inside yet; and one that is inside goes.
 * Appends the others for which collisions_has has another answer from now on.
 */
void collisions_add(struct collisions *c, struct entry *template, struct entry_list *changed);
void collisions_remove(struct collisions *c, struct entry *template, struct entry_list *changed);

/* True if another template inside wants the binding of this one, which is inside. */
bool collisions_has(const struct collisions *c, const struct entry *template);
