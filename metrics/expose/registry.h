/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/exporter_families.h"
#include "metrics/expose/samples.h"
#include "metrics/expose/series.h"

/*
 * Series of all families, updated after each evaluation of an entry.
 *
 * The samples of an entry are stored in `entry->contribution`. After an evaluation, the registry
 * adds the new samples and removes the old ones; equal samples cost no update.
 *
 * Invariant: the page equals the page of a fresh engine over the same objects, except for families
 * with past observations (family_remembers).
 */
struct registry;

struct registry_options {
    /* Maximal number of series per `detail` family, and of namespaces per POLICY_LIMIT_NAMESPACE.
     */
    size_t detail_limit;
    size_t policy_limit; /* Maximal number of policies in families with POLICY_LIMIT_POLICY. */
    bool opt_in;         /* Includes families that are off by default. */
};
extern const struct registry_options registry_options_default;

/*
 * Returns a registry for an engine that has not made any decisions yet; with NULL, a registry that
 * has only the families of the exporter itself. `seed` is for hash maps. Free the registry before
 * the engine.
 */
struct registry *registry_new(const struct engine *engine, const struct registry_options *options,
                              uint64_t seed) MUST_USE;

/* Frees the registry and the contributions of all entries. Accepts NULL. */
void registry_free(struct registry *r);

/*
 * Updates the series of an entry after its evaluation. For `decided` of an engine_observer; the
 * context is the registry.
 */
void registry_update_entry(void *registry, struct entry *entry);

/*
 * Removes the families with one series per object to save memory, or restores them. Visits every
 * entry; all must have been evaluated. While the families are removed, the page has the number of
 * their series at the removal (OWN_DETAIL_DROPPED).
 */
void registry_show_details(struct registry *r, bool shown);

/*
 * Sets one series of a family of the exporter. Values of labels follow as texts in the order of the
 * row. A gauge without labels is absent until it is set.
 */
#define REGISTRY_SET(r, family, value, ...)                                                        \
    registry_set((r), (family), (value), LABEL_COUNT(__VA_ARGS__), LABELS(__VA_ARGS__))
void registry_set(struct registry *r, enum own_family family, double value, size_t label_count,
                  const char *const *labels);

/* Removes all series of a family of the exporter with labels, before new series are set. */
void registry_clear_family(struct registry *r, enum own_family family);

/* Counts a value in a histogram of the exporter without labels. */
void registry_observe(struct registry *r, enum own_family family, double value);

/*
 * Computes the series that count other series, sorts all series, and selects the policies and
 * namespaces that are shown. Call after the last change and before exposition_write().
 */
void registry_prepare(struct registry *r);

/*
 * Returns the state of family_at(index); NULL if the family is off, not supported by Karmada, or
 * incomplete because its objects have not all been read.
 */
const struct family_state *registry_family(const struct registry *r, size_t index);

/*
 * Returns the number of label sets that the page shows, from the first on; `detail` families are
 * limited.
 */
size_t registry_shown_count(const struct registry *r, const struct family_state *family);

/* For tests. */

/* Returns a number that changes with each change of the samples of entries. */
uint64_t registry_version(const struct registry *r);

/* Limits of the policies and namespaces on a page. */
struct policy_limits {
    size_t policies;
    size_t namespaces;
    size_t details; /* Maximal number of series of a family with one series per object. */
    /*
     * Maximal size of a page. If the page is larger, fewer namespaces are shown; families by
     * namespace keep at least an eighth of the size.
     */
    size_t page_bytes;
};

/*
 * Folds the policies and namespaces beyond the limits and unfolds all others. Each family must be
 * sorted, or its `def` NULL.
 *
 * Families by policy show the same policies, and families by namespace the same namespaces, so that
 * queries can join the families. The values of hidden ones are added up in common series, so that
 * sums stay complete; families with `no_rest` drop them. The policies and namespaces with the
 * highest weights (`weigh`) are shown; with equal weights, the first in byte order.
 */
void policy_limit_apply(struct family_state *families, size_t count,
                        const struct policy_limits *limits);
