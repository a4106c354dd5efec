/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"
#include "metrics/rules/graph.h"
#include "metrics/rules/selector.h"

/*
 * Indexes of selectors and references: the selectors of all policies, and the number of references
 * to each kind.
 */

/* ---- selectors of policies ---- */

/*
 * The selectors of all policies, in buckets by the properties that a template must have: apiVersion
 * and kind, namespace, and optionally its name or one label. A search reads only the few buckets
 * that fit the template, so the number of policies hardly affects the time of a search.
 */
struct selector_index;

/* Returns an empty index. Borrows the store. `seed` is the seed of its hashes. */
struct selector_index *selector_index_new(const struct store *store, uint64_t seed) MUST_USE;
/* Accepts NULL. */
void selector_index_free(struct selector_index *index);

/*
 * Add or remove the selectors of `policy`, the new or the old object of the entry. The index
 * borrows the selectors until they are removed.
 */
void selector_index_add(struct selector_index *index, struct entry *entry,
                        const struct policy *policy);
void selector_index_remove(struct selector_index *index, struct entry *entry,
                           const struct policy *policy);

/* A policy with at least one selector that selects a template. */
struct selection {
    struct entry *policy;
    enum selector_score score;
};

/*
 * Returns the policies that select the template, each once with its best score, in no order.
 * Includes policies that exclude the template or are in deletion. The template must have an object.
 * The result is borrowed from the index until the next call.
 */
const struct selection *selector_index_find_policies(struct selector_index *index,
                                                     const struct entry *template,
                                                     size_t *out_count);

/*
 * Returns a policy with a selector that would select the template if the selector named the
 * template's API version, and not another one of the same kind. Policies that exclude the template
 * or are in deletion do not count. Returns NULL if there is no such policy. The template must have
 * an object.
 */
struct entry *selector_index_find_other_version(struct selector_index *index,
                                                const struct entry *template,
                                                struct release_range release);

/*
 * A broad selector selects templates of a kind by labels or as a whole, not by name, and belongs to
 * a policy that is not in deletion.
 *
 * Returns true if a policy that applies to the template's namespace has a broad selector of the
 * template's kind, which need not select the template. Stores in *since_ms the time since which
 * such selectors exist, as far as the policies prove it; 0 if unknown.
 */
bool selector_index_find_broad(const struct selector_index *index, const struct entry *template,
                               int64_t *since_ms);
/*
 * Returns true if the index has a broad selector of the kind and namespace of `selector`, which is
 * one of `policy`. Returns false if `selector` names a foreign namespace.
 */
bool selector_index_has_broad(const struct selector_index *index, const struct entry *policy,
                              const struct resource_selector *selector);

/*
 * Adds or removes a selector of a policy that is not in the store: for the next three functions
 * only. The caller holds the interned texts meanwhile.
 */
void selector_index_add_kind(struct selector_index *index, const char *api_version,
                             const char *kind);
void selector_index_remove_kind(struct selector_index *index, const char *api_version,
                                const char *kind);

/* Returns how many selectors of all policies name this apiVersion and kind, which are interned. */
size_t selector_index_count_selectors(const struct selector_index *index, const char *api_version,
                                      const char *kind);

/*
 * Iterates over every apiVersion and kind that a selector names, as type_counts_next() does: start
 * with *at = 0. Returns false at the end. The texts are interned; NULL if the selector does not set
 * them. The index must not change meanwhile.
 */
bool selector_index_next_type(const struct selector_index *index, size_t *at,
                              const char **api_version, const char **kind);

/* Returns a number that changes whenever the set of apiVersions and kinds in selectors changes. */
uint64_t selector_index_types_version(const struct selector_index *index);

/* ---- references to kinds ---- */

/*
 * Number of references to each apiVersion and kind. Both texts are interned or NULL; the caller of
 * type_counts_add() holds them until type_counts_remove().
 */
struct type_counts {
    struct map types;
    struct type_count **order; /* All types of the map, in the order of their first reference. */
    size_t count;
    uint64_t seed;
    uint64_t version; /* Changes whenever the set of types changes. */
};

void type_counts_init(struct type_counts *c, uint64_t seed);
void type_counts_release(struct type_counts *c);

/* Adds or removes one reference to an apiVersion and kind. */
void type_counts_add(struct type_counts *c, const char *api_version, const char *kind);
void type_counts_remove(struct type_counts *c, const char *api_version, const char *kind);

/* Returns the number of references to an apiVersion and kind. */
size_t type_counts_get(const struct type_counts *c, const char *api_version, const char *kind);

/*
 * Iterates over every type with references, in the order in which the types got their first
 * reference. Start with *at = 0. Returns false at the end. No count may change meanwhile.
 */
bool type_counts_next(const struct type_counts *c, size_t *at, const char **api_version,
                      const char **kind);
