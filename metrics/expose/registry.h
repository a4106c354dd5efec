/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/exporter_families.h"
#include "metrics/expose/samples.h"
#include "metrics/expose/series.h"

/*
 * Every series there is, kept up to date by what changed.
 *
 * What an entry contributes is a list of (series, value) that hangs on the entry
 * (`entry->contribution`). When the entry was evaluated again, the new list is added and
 * the old one removed; an unchanged list costs nothing more.
 *
 * The property that guards it: whatever happened before, the page equals that of a fresh
 * engine over the same objects, but for the families that say what happened, not what is
 * (family_remembers).
 */
struct registry;

struct registry_options {
    /* Series of a family with one series per object; namespaces of families by namespace. */
    size_t detail_limit;
    size_t policy_limit; /* Policies of families by policy. */
    bool opt_in;         /* Families that are off by default too. */
};
extern const struct registry_options registry_options_default;

/*
 * Series of an engine's decisions, of which it has made none yet; without an engine (NULL)
 * those of own health alone. Free the registry before the engine.
 */
struct registry *registry_new(const struct engine *engine, const struct registry_options *options,
                              uint64_t seed) MUST_USE;
/* Frees the contributions that hang on entries, too. Takes NULL. */
void registry_free(struct registry *r);

/* An engine_observer's `decided`, with the registry as its context. */
void registry_decided(void *registry, struct entry *entry);

/*
 * Leave the families with one series an object out, and free what they hold, or bring them back.
 * Visits every entry: all have to be evaluated. While they are out, the counts of what is left
 * out are those of when they went.
 */
void registry_show_details(struct registry *r, bool shown);

/* Grows whenever what entries contribute changes: a page of the same number is still true. */
uint64_t registry_version(const struct registry *r);

/*
 * Set one series of an own family; its labels follow as texts in the order of its row.
 * A gauge without labels is absent until it is set.
 */
#define REGISTRY_SET(r, family, value, ...)                                                        \
    registry_set((r), (family), (value), LABEL_COUNT(__VA_ARGS__), LABELS(__VA_ARGS__))
void registry_set(struct registry *r, enum own_family family, double value, size_t label_count,
                  const char *const *labels);

/* Remove all series of an own family with labels, before those that there are now are set. */
void registry_clear(struct registry *r, enum own_family family);

/* Count one value in an own histogram without labels. */
void registry_count(struct registry *r, enum own_family family, double value);

/*
 * Compute the series that count other series, sort all, and choose the policies that are shown:
 * due after the last change before they are shown (exposition_write).
 */
void registry_prepare(struct registry *r);

/* The state of family_at(index); NULL if the family is not to be shown. */
const struct family_state *registry_family(const struct registry *r, size_t index);

/* How many label sets of a family to show: the first ones, where the family is capped. */
size_t registry_shown(const struct registry *r, const struct family_state *family);

/*
 * Limits of policies and namespaces on a page. Families by policy show the same policies, and
 * families by namespace the same namespaces, so that the families join. The numbers of the others
 * are added up in the rest, so that sums stay complete. Families whose rows do not add up
 * (`no_rest`) have no rest.
 *
 * The policies and namespaces with the highest weight (`weigh`) are shown; of equal ones, the
 * first in byte order.
 */

struct policy_limits {
    size_t policies;
    size_t namespaces;
    size_t details; /* Series of a family with one series per object. */
    /*
     * Size of a page. Fewer namespaces are shown if the page is larger with all of them; their
     * families keep an eighth of the size in any case.
     */
    size_t page_bytes;
};

/*
 * Folds the policies and namespaces beyond the limits and unfolds all others. Each family is
 * sorted, or its `def` is NULL.
 */
void policy_limit_apply(struct family_state *families, size_t count,
                        const struct policy_limits *limits);
