/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"
#include "metrics/rules/graph.h"
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

/*
 * How often each apiVersion and kind is referred to: which kinds are, and whether that set has
 * changed. All texts are shared, and borrowed for as long as their count is not 0.
 */
struct type_counts {
    struct map types;
    struct type_count **order; /* The same, as they came. */
    size_t count;
    uint64_t seed;
    uint64_t version; /* Changes whenever a type comes or goes. */
};

void type_counts_init(struct type_counts *c, uint64_t seed);
void type_counts_release(struct type_counts *c);

/* One reference more, or one less. */
void type_counts_add(struct type_counts *c, const char *api_version, const char *kind);
void type_counts_remove(struct type_counts *c, const char *api_version, const char *kind);

/* How many references there are. */
size_t type_counts_get(const struct type_counts *c, const char *api_version, const char *kind);

/*
 * Walk over every type that is referred to, in the order in which they came to be: the same
 * history asks a server the same questions in the same order. Start with *at = 0; false at the
 * end. No count may change during the walk.
 */
bool type_counts_next(const struct type_counts *c, size_t *at, const char **api_version,
                      const char **kind);

/*
 * Which version of a kind Karmada looks at: the one that the API server prefers. A policy that
 * names another one selects nothing. Where no API server says so, in files, versions are matched
 * as they are written, and a policy names another one if objects have only others.
 */

/* An API server's answer about one apiVersion and kind. */
enum api_version_answer {
    API_VERSION_UNKNOWN,
    API_VERSION_WATCHED,
    API_VERSION_UNWATCHED, /* Another one is preferred, or the kind cannot be watched. */
};

/* Who knows; all zero: nobody. */
struct api_version_judge {
    enum api_version_answer (*judge)(const void *context, const char *api_version,
                                     const char *kind);
    const void *context;
};

/* True if Karmada looks at another version of the kind than this. */
bool api_version_is_unwatched(const struct store *store, const struct api_version_judge *judge,
                              const char *api_version, const char *kind);

/*
 * A template came (`old` is NULL), went or was replaced. Mark the policies if it is the first or
 * was the last of its version, and some policy names another version of its kind.
 */
void api_versions_changed(const struct selector_index *index, struct graph *graph,
                          const struct entry *template, const void *old);
