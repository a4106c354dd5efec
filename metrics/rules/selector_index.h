/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/selector.h"

/*
 * The selectors of all policies, in buckets by what a template must have for them to match:
 * apiVersion and kind, namespace, and then its name, or a label, or nothing. A search looks
 * into the few buckets that a template fits, and finds there almost only policies that select
 * it, however many policies there are.
 */
struct selector_index;

struct selector_index *selector_index_new(const struct store *store, uint64_t seed) MUST_USE;
/* Takes NULL. */
void selector_index_free(struct selector_index *index);

/*
 * Add or remove all selectors of a policy, those of `policy`: its new object, or its old one.
 * The index borrows them until they are removed.
 */
void selector_index_add(struct selector_index *index, struct entry *entry,
                        const struct policy *policy);
void selector_index_remove(struct selector_index *index, struct entry *entry,
                           const struct policy *policy);

/* A policy that selects a template by at least one selector. */
struct selection {
    struct entry *policy;
    enum selector_score score;
};

/*
 * The policies that select the template, each once with its best score, in no particular order;
 * exclusions and deletion are left to the caller. Borrowed from the index until the next call.
 */
const struct selection *selector_index_select(struct selector_index *index,
                                              const struct entry *template, size_t *out_count);

/* How many selectors, of policies in any namespace, are of this apiVersion and kind (shared). */
size_t selector_index_type_count(const struct selector_index *index, const char *api_version,
                                 const char *kind);

/*
 * Walk over every apiVersion and kind of which there is a selector, in no order: start with
 * *at = 0; false at the end. Shared texts. The index must not change during the walk.
 */
bool selector_index_next_type(const struct selector_index *index, size_t *at,
                              const char **api_version, const char **kind);

/* A number that changes whenever that set does. */
uint64_t selector_index_types_version(const struct selector_index *index);
