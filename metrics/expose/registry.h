/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/exporter_families.h"
#include "metrics/expose/samples.h"
#include "metrics/expose/series.h"

/*
 * Registry: the series of all families. After each evaluation of an entry, the registry adds its
 * new samples to the series and removes the old ones, which `entry->contribution` keeps. Equal
 * samples cost no update.
 *
 * Invariant: the page equals the page of a fresh engine over the same objects, except for families
 * about the exporter itself and families that depend on past observations (family_remembers).
 */
struct registry;

struct registry_options {
    /* Maximal number of series of each `detail` family, and of namespaces (LIMIT_BY_NAMESPACE). */
    size_t detail_limit;
    size_t policy_limit; /* Maximal number of policies (LIMIT_BY_POLICY). */
    /* Maximal number of series with names, for each problem and namespace (problem_families.h). */
    size_t problem_limit;
    bool opt_in; /* Includes families that are off by default. */
};
extern const struct registry_options registry_options_default;

/*
 * Returns a registry for an engine that has not made any decisions yet; free it before the engine.
 * If `engine` is NULL, no entry has samples: only the families of the exporter itself are useful.
 * `seed` is for hash maps.
 */
struct registry *registry_new(const struct engine *engine, const struct registry_options *options,
                              uint64_t seed) MUST_USE;

/* Frees the registry and the contributions of all entries. Accepts NULL. */
void registry_free(struct registry *r);

/*
 * Replaces the samples of an entry after its evaluation. Callback `decided` of an engine_observer;
 * the context is the registry.
 */
void registry_update_entry(void *registry, struct entry *entry);

/*
 * Removes the series of `detail` families to save memory or, if `shown`, restores them. Visits
 * every entry; all must have been evaluated. Until `detail` families are restored, the values of
 * OWN_DETAIL_DROPPED are their numbers of series at the removal. Does nothing without a change.
 */
void registry_show_details(struct registry *r, bool shown);

/*
 * Sets one series of a family about the exporter itself; not for histograms. The values of labels
 * follow as texts, in the order of the family's `labels`. A gauge without labels is absent until it
 * is set.
 */
#define REGISTRY_SET(r, family, value, ...)                                                        \
    registry_set((r), (family), (value), LABEL_COUNT(__VA_ARGS__), LABELS(__VA_ARGS__))
void registry_set(struct registry *r, enum own_family family, double value, size_t label_count,
                  const char *const *labels);

/* Removes all series of a family about the exporter itself: a gauge, or a family with labels. */
void registry_clear_family(struct registry *r, enum own_family family);

/*
 * For problem_families_fill(): removes the series of all families of problems, so that they can be
 * filled anew. Returns false, and removes nothing, if the last call had the same version.
 */
bool registry_begin_problems(struct registry *r, uint64_t version);

/*
 * Returns the value of a series of a family of problems, valid until the series are removed; 0 if
 * the series is new. `family` is an enum problem_family. Label values that differ only in bytes
 * that are not UTF-8 or in control characters have the same series.
 */
#define PROBLEM_VALUE(r, family, ...)                                                              \
    registry_problem_value((r), (family), LABEL_COUNT(__VA_ARGS__), LABELS(__VA_ARGS__))
double *registry_problem_value(struct registry *r, unsigned family, size_t label_count,
                               const char *const *labels);

/* Returns registry_options.problem_limit. */
size_t registry_problem_limit(const struct registry *r);

/* Counts a value in a histogram without labels, a family about the exporter itself. */
void registry_observe(struct registry *r, enum own_family family, double value);

/*
 * Prepares the page: sorts the label sets, selects the policies and namespaces to show, and
 * computes the families that count other series or omitted ones (OWN_DETAIL_DROPPED). Call it
 * after the last change and before exposition_write().
 */
void registry_prepare(struct registry *r);

/*
 * Returns the state of family_at(index); NULL if the family is not to be shown: it is off, this
 * release of Karmada does not support it, or not all clusters, Events or leases that it needs have
 * been read.
 */
const struct family_state *registry_family(const struct registry *r, size_t index);

/*
 * Returns the number of elements of `family->sets` that a page can show, from the first on: all or,
 * in `detail` families, at most detail_limit. Folded label sets among them are not shown.
 */
size_t registry_listed_set_count(const struct registry *r, const struct family_state *family);

/* Used only by tests. */

/* Returns how often the samples of any entry have changed. */
uint64_t registry_change_count(const struct registry *r);
