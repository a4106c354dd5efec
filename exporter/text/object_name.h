/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"

/*
 * Objects as people name them: KIND[.GROUP]/[NAMESPACE/]NAME, with kinds as in kubectl: in any
 * case, plural, or short for the most common ones.
 */

/* Such a name, parsed; a part that is left out is NULL. The kind is as typed. */
struct object_name {
    char *kind;
    char *group;
    char *ns;
    char *name;
};

bool object_name_parse(const char *text, struct object_name *out, struct error *err) MUST_USE;
/* Also after a failure; all zero is released. */
void object_name_release(struct object_name *n);

/*
 * The object that somebody means. `classes` has a bit for each enum object_class that may be
 * meant. NULL, naming the nearest ones, if there is none, and naming all if there are several.
 */
const struct entry *object_find(const struct store *store, unsigned classes, const char *typed,
                                struct error *err) MUST_USE;

/*
 * The same where `ns` (NULL: any) is meant if the name has no namespace, as by kubectl's -n: an
 * object of a cluster-scoped kind is found as well.
 */
const struct entry *object_find_in_namespace(const struct store *store, unsigned classes,
                                             const char *typed, const char *ns,
                                             struct error *err) MUST_USE;

/*
 * The binding of the template that somebody means, which may not be known itself; NULL if there
 * is none, or there are several.
 */
const struct entry *object_find_binding(const struct store *store, const char *typed) MUST_USE;
