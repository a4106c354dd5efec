/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/serve/alerting/vector.h"
#include "metrics/base/error.h"

/*
 * What the families that rules look at have been lately: a Prometheus of one target, as far as
 * the bundled rules need one. Pages of metrics go in, and what is recorded; each series keeps its
 * numbers for as long as the widest window that a rule has for its family.
 */
struct series_store;

struct point {
    int64_t at_ms;
    double value;
    bool gone; /* The series has ended here, as a page without it says. */
};

/* One series, its points by time. All of it belongs to the store. */
struct stored_series {
    struct label_list labels;
    struct point *points;
    size_t count;
    size_t capacity;
    char *text;      /* Its labels as they came, by which it is found ... */
    char *parts;     /* ... and taken apart: what `labels` points into. */
    uint64_t number; /* Of the page that had it last. */
    bool gone;
};

/* `fixed` are labels that every series has, as those of a target; their texts are borrowed. */
struct series_store *series_store_new(const struct label_list *fixed, uint64_t seed) MUST_USE;
void series_store_free(struct series_store *s);

/* A family is wanted, for so long. No other is kept. */
void series_store_want(struct series_store *s, const char *family, int64_t keep_ms);

/*
 * Note a page of metrics in Prometheus' text format, as of `now_ms`: a series of a family that was
 * on a page and is not on this one has ended. A line that is not of that format is left out.
 */
void series_store_page(struct series_store *s, const char *text, int64_t now_ms);

/* The same for one family that a rule records. */
void series_store_record(struct series_store *s, const char *family, const struct vector *v,
                         int64_t now_ms);

/* Add one number to a series, by its labels as a page writes them: "a="b",c="d"". */
void series_store_add(struct series_store *s, const char *family, const char *labels,
                      struct point point);

/* The series of a family, `*out_count` of them, borrowed until something is added. */
struct stored_series *const *series_store_get(const struct series_store *s, const char *family,
                                              size_t *out_count);
