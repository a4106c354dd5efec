/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"
#include "metrics/rules/graph.h"
#include "metrics/rules/selector.h"

/*
 * Indexes of selectors and references: the selectors of all policies, the number of references to
 * each kind, and the version of each kind that Karmada watches.
 */

/* ---- selectors of policies ---- */

/*
 * The selectors of all policies, in buckets by the properties that a template must have: apiVersion
 * and kind, namespace, and optionally its name or one label. A search reads only the few buckets
 * that fit the template; its cost hardly depends on the number of policies.
 */
struct selector_index;

struct selector_index *selector_index_new(const struct store *store, uint64_t seed) MUST_USE;
/* Accepts NULL. */
void selector_index_free(struct selector_index *index);

/*
 * Adds or removes the selectors of a policy. `policy` is the new object, or the old one for a
 * removal. The index borrows the selectors until they are removed.
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
 * Returns the policies that select the template, each once with its best score, in no order. The
 * caller checks exclusions and deletion. Borrowed from the index until the next call.
 */
const struct selection *selector_index_find_policies(struct selector_index *index,
                                                     const struct entry *template,
                                                     size_t *out_count);

/* Returns how many selectors of all policies name this apiVersion and kind, which are interned. */
size_t selector_index_type_count(const struct selector_index *index, const char *api_version,
                                 const char *kind);

/*
 * Iterates over every apiVersion and kind that a selector names, in no order: start with *at = 0.
 * Returns false at the end. The texts are interned. The index must not change meanwhile.
 */
bool selector_index_next_type(const struct selector_index *index, size_t *at,
                              const char **api_version, const char **kind);

/* Returns a number that changes whenever the set of apiVersions and kinds in selectors changes. */
uint64_t selector_index_types_version(const struct selector_index *index);

/* ---- references to kinds ---- */

/*
 * Numbers of references to each apiVersion and kind. These texts are interned by the holders of the
 * references, which keep them until type_counts_remove().
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
 * Iterates over every type with references: start with *at = 0. Returns false at the end. No count
 * may change meanwhile. The order is that of the first references, so that equal histories cause
 * equal sequences of requests to an API server.
 */
bool type_counts_next(const struct type_counts *c, size_t *at, const char **api_version,
                      const char **kind);

/* ---- watched versions of kinds ---- */

/*
 * Karmada watches one version of each kind, the one that the API server prefers; a policy that
 * names another version selects nothing. With files as source the preferred version is unknown: a
 * version counts as unwatched if all objects of the kind have other versions.
 */

/* Answer of an API server about one apiVersion and kind. */
enum api_version_answer {
    API_VERSION_UNKNOWN,
    API_VERSION_WATCHED,
    API_VERSION_UNWATCHED, /* Another version is preferred, or the kind cannot be watched. */
};

/* Source of answers about apiVersions. All zero: without an API server all are unknown. */
struct api_version_source {
    enum api_version_answer (*judge)(const void *context, const char *api_version,
                                     const char *kind);
    const void *context;
};

/* Returns true if Karmada watches another version of the kind than this one. */
bool api_version_is_unwatched(const struct store *store, const struct api_version_source *judge,
                              const char *api_version, const char *kind);

/*
 * Handles a template that was created (`old` is NULL), deleted or replaced: marks the policies if
 * it is the first or was the last object of its version, and some policy names a version of its
 * kind.
 */
void api_versions_mark_policies(const struct selector_index *index, struct graph *graph,
                                const struct entry *template, const void *old);
