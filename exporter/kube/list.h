/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/reflector.h"

/* The reflectors of a source: those of the kinds that are always watched, then others. */
struct reflector_list {
    struct reflector_context *context; /* Borrowed. */
    struct reflector **items;
    size_t count;
    size_t always_count;
    struct watch_counts past; /* Of reflectors that are gone. */
};

/*
 * Have a resource watched where the namespace filter allows: everywhere at once, or, where
 * namespaces are named, in each of them. Of those beyond always_count, `wanted` is set.
 */
void reflector_list_want(struct reflector_list *l, struct reflector_spec spec, bool namespaced);
/* The same of every kind whose row says so. `awaited`: of these none is optional. */
void reflector_list_want_kinds(struct reflector_list *l, enum watch_condition when, bool awaited);

/* Nothing beyond always_count is wanted, until it is said anew. */
void reflector_list_unwant(struct reflector_list *l);
/* End the watches that are not wanted, and remove their objects; tell the others what to keep. */
void reflector_list_drop_unwanted(struct reflector_list *l);

/* End all watches; the objects stay in the store. */
void reflector_list_release(struct reflector_list *l);
