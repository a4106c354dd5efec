/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/engine.h"

/*
 * THE table of metric families. A row is the whole family: its name and words,
 * its labels and what they may be, and the function that says what one entry
 * gives to it. Exposition, catalogue, documentation and the lint of rules and
 * boards all read this table; adding a family touches families.c alone.
 */

enum family_type { FAMILY_GAUGE, FAMILY_COUNTER, FAMILY_HISTOGRAM };
enum family_stability { STABILITY_STABLE, STABILITY_EXPERIMENTAL };

/* How what several entries give to one series comes together. */
enum family_fold {
    FOLD_SUM,   /* Whole numbers, added up. A 0 makes the row present and counts nothing. */
    FOLD_MIN,   /* The smallest, given in milliseconds, shown in seconds; no row while empty. */
    FOLD_ONSET, /* A counter of what entries give more than before; nothing takes it back. */
    FOLD_ONCE,  /* A histogram of the first thing that each gives, in milliseconds, for good. */
    FOLD_ZEROS, /* Counts the rows of family `of` that are 0 but present: see there. */
    FOLD_SET,   /* Not from entries: the exporter sets it. All own health is such. */
};

enum { FAMILY_LABELS_MAX = 10 };

/* A label; `values`, if known beforehand, makes all their rows present, zeros too. */
struct family_label {
    const char *name;
    const char *const *values;
    size_t value_count;
};

struct samples;

struct family {
    const char *name;
    const char *unit; /* NULL or the base unit that the name ends in. */
    const char *help;
    const char *bound; /* What limits the number of series, for people. */
    enum family_type type;
    enum family_stability stability;
    enum family_fold fold;
    bool milli;  /* FOLD_SUM: given in thousandths. */
    bool detail; /* One series an object: capped. */
    bool opt_in;
    struct family_label labels[FAMILY_LABELS_MAX + 1]; /* Ends with a NULL name. */
    /* Bits by object_class: whose entries give to it; 0 for FOLD_ZEROS and FOLD_SET. */
    unsigned classes;
    void (*observe)(const struct entry *entry, struct samples *out);
    /*
     * FOLD_ZEROS: the family looked at, and which of its rows by the enumerated
     * labels. Both families have the same first label; this one knows its values.
     */
    const char *of;
    unsigned of_row;
    const double *buckets; /* FAMILY_HISTOGRAM: upper bounds, ascending, without +Inf. */
    size_t bucket_count;
};

extern const struct family families[];
extern const size_t family_count;

/* The row of a name, NULL if there is none. */
const struct family *family_find(const char *name);

/* How many labels come before the enumerated ones, which are last. */
unsigned family_free_labels(const struct family *family);

/* How many rows the enumerated labels make: 1 without any. */
unsigned family_rows(const struct family *family);
