/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/base/strbuf.h"
#include "metrics/expose/family.h"

/*
 * Numbers that come and go, of which only the smallest is ever asked for.
 *
 * Two heaps: the numbers, and those of them that were removed while they were
 * not the smallest. The two tops never agree, so the first heap's top is the
 * answer, and the second heap never outgrows half of the first for long.
 * All zeros is an empty multiset.
 */
struct heap {
    int64_t *values;
    size_t count;
    size_t capacity;
};

struct multiset {
    struct heap present;
    struct heap removed;
};

/* Free the numbers; the multiset is empty and usable again. */
void multiset_release(struct multiset *m);

void multiset_add(struct multiset *m, int64_t value);

/* Remove one `value`, which must be there. */
void multiset_remove(struct multiset *m, int64_t value);

/* The smallest number; false if there is none. */
bool multiset_min(const struct multiset *m, int64_t *out);

/*
 * The series that one family has now, each with its text made beforehand: a page is texts
 * and numbers, one after another. Only where few of many are shown (`sparse`) the texts would
 * cost more memory than they spare time.
 *
 * A label set is one combination of values of the free labels, with a series for each
 * combination of the enumerated ones. It is found by the text of its labels, so that what
 * reads the same is the same, and it is freed some time after its last reference has gone.
 */
struct series {
    struct label_set *set;
    union {
        int64_t sum;              /* AGGREGATE_SUM, _INCREASE, _ZEROS */
        double number;            /* AGGREGATE_NONE, _FIRST */
        struct multiset *minimum; /* AGGREGATE_MIN */
    };
    const char *text; /* `name{labels} `; NULL where it is made when it is shown. */
};

/*
 * Add to the sum of a series. Beyond 64 bits it wraps, so that a subtraction undoes an addition
 * whatever was sent.
 */
static inline void series_add(struct series *series, int64_t value)
{
    series->sum = (int64_t)((uint64_t)series->sum + (uint64_t)value);
}

struct label_set {
    struct family_state *family;
    char *key; /* The free labels as text; the series' texts follow in the same memory. */
    uint32_t
        references; /* Samples that contribute to it, and the registry where it is permanent. */
    uint32_t zeros; /* How many of the samples are 0, only to have the series present. */
    bool gone;      /* Without references; still in `sets`. */
    bool folded;    /* Not shown: its numbers are in the rest. */
    struct series series[];
};

/* What the series of a label set differ in; the same for all label sets of a family. */
struct series_text {
    const char *suffix; /* Of the name: "", "_bucket", ... */
    char *labels;       /* `reason="x",phase="y"` */
};

struct family_state {
    const struct family_def *def;
    unsigned series_count;     /* Of each label set. */
    struct series_text *texts; /* By series. */
    unsigned *order;           /* Series as they are shown. */
    unsigned shown_count;      /* Of these. */
    uint64_t seed;
    struct map by_key;
    struct label_set **sets; /* The first `sorted` are in the order of their keys. */
    size_t count;
    size_t sorted;
    size_t capacity;
    size_t gone;             /* How many of `sets` are. */
    struct label_set **rest; /* What is folded, added up, by the labels that are left; sorted. */
    size_t rest_count;
    size_t folded;        /* How many of `sets` are. */
    size_t folded_series; /* How many series they have that are not 0. */
};

void family_state_init(struct family_state *f, const struct family_def *def, uint64_t seed);
void family_state_release(struct family_state *f);

/* Append `name="value"` to the text of a key, after a comma if it is not the first. */
void label_key_add(struct strbuf *key, const char *name, const char *value);

/* The label set of a key, made without references if there is none. */
struct label_set *family_state_get(struct family_state *f, const struct strbuf *key);

static inline void label_set_ref(struct label_set *set)
{
    set->references++;
}

/* One reference less; after the last one nobody finds or shows the label set any more. */
void label_set_unref(struct label_set *set);

/* Append the text of a series, made beforehand or not. */
void series_add_text(struct strbuf *out, const struct series *series);

/* No set is folded any more. */
void family_state_unfold(struct family_state *f);

/*
 * Hides a set and adds its numbers to the rest, whose first `labels` labels have the value of
 * family_rest_value. Only families of AGGREGATE_SUM.
 */
void family_state_fold(struct family_state *f, struct label_set *set, unsigned labels);

/* Free what is gone and sort the rest: sets[0] to sets[count - 1] are what there is to show. */
void family_state_sort(struct family_state *f);

/* Free all label sets, whoever refers to them. */
void family_state_clear(struct family_state *f);

/*
 * Label values come from names that users chose, and one that a scraper refuses
 * would cost it the whole page.
 */

/* How long a value may become, in bytes before escaping. */
enum { LABEL_VALUE_MAX = 1024 };

/*
 * Append `value`, NULL as "", as it stands between the quotes of a label: what is
 * not UTF-8 and what is a control character as U+FFFD, the backslash and the quote
 * escaped. A longer one is cut on a character and ends in "..." and the hash of the
 * whole, so that two of them rarely become one.
 */
void label_text_add(struct strbuf *out, const char *value);
