/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/rows.h"
#include "metrics/expose/samples.h"

/*
 * Every series there is, kept up to date by what changed.
 *
 * What an entry gives is a list of (cell, value) that hangs on the entry
 * (`entry->contribution`). When the entry was looked at again, the new list is
 * given and the old one taken back; an unchanged list costs nothing more.
 *
 * The property that guards it: whatever happened before, the page equals that
 * of a fresh engine over the same objects, but for counters and FOLD_ONCE: those
 * tell what happened, not what is.
 */
struct series;

struct series_options {
    size_t detail_limit; /* Series shown of a family with one series an object. */
    bool opt_in;         /* Families that are off by default too. */
};
extern const struct series_options series_options_default;

/*
 * Series of an engine's decisions, of which it has made none yet; of NULL, of nobody's. Free them
 * before the engine.
 */
struct series *series_new(const struct engine *engine, const struct series_options *options,
                          uint64_t seed) MUST_USE;
/* What hangs on entries goes too. Takes NULL. */
void series_free(struct series *s);

/* An engine_observer's `decided`, with the series as its context. */
void series_decided(void *series, struct entry *entry);

/* Grows whenever what entries give changes: a page of the same number still says the same. */
uint64_t series_version(const struct series *s);

/*
 * Set one row of a FOLD_SET family that the table has, its labels as texts in
 * the order of the table. Gauges without labels are absent until set.
 */
#define SERIES_SET(s, name, value, ...)                                                            \
    series_set((s), (name), (value), LABEL_COUNT(__VA_ARGS__), LABELS(__VA_ARGS__))
void series_set(struct series *s, const char *name, double value, size_t label_count,
                const char *const *labels);

/* Forget all rows of a FOLD_SET family, before those that there are now are set. */
void series_clear(struct series *s, const char *name);

/* Count one observation in a FOLD_SET histogram without labels. */
void series_measure(struct series *s, const char *name, double value);

/* Bring up to date what comes from other rows, and sort all. Before reading through series_rows. */
void series_run(struct series *s);

/* The rows of families[index]; NULL if the family is not to be shown. */
const struct rows *series_rows(const struct series *s, size_t index);

/* How many blocks of these rows to show: the first ones, where the family is capped. */
size_t series_shown(const struct series *s, const struct rows *rows);
