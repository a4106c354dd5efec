/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/base/strbuf.h"
#include "metrics/expose/family.h"

/*
 * Series of one metric family: label sets, their values and their text on the page.
 *
 * A label set is one combination of values of the free labels, with a series for each combination
 * of the enumerated labels. The key is the text of the free labels: label sets with the same text
 * are the same. A label set is freed some time after its last reference was dropped.
 */

/* ---- multiset with minimum ---- */

struct heap {
    int64_t *values;
    size_t count;
    size_t capacity;
};

/*
 * Multiset with fast access to the minimum; all zeros is an empty multiset.
 *
 * `removed` has the numbers that were removed while they were not the minimum. The minima of the
 * two heaps always differ, so the minimum of `present` is that of the multiset. `removed` is
 * emptied when it has more than half as many numbers as `present`.
 */
struct multiset {
    struct heap present;
    struct heap removed;
};

/* Frees the numbers. The multiset is empty and can be used again. */
void multiset_release(struct multiset *m);

void multiset_add(struct multiset *m, int64_t value);

/* Removes one `value`, which must be present. */
void multiset_remove(struct multiset *m, int64_t value);

/* Stores the minimum in `out`. Returns false if the multiset is empty. */
bool multiset_min(const struct multiset *m, int64_t *out);

/* ---- series and label sets ---- */

struct series {
    struct label_set *set;
    union {
        int64_t sum;              /* For AGGREGATE_SUM, _INCREASE, _ZEROS, _PRESENT. */
        double number;            /* For AGGREGATE_NONE, _FIRST, _WAIT. */
        struct multiset *minimum; /* For AGGREGATE_MIN. */
    };
    /*
     * `name{labels} `, stored because a page is written more often than labels change. NULL in
     * `sparse` families: most of their series are not shown, and the texts would take memory.
     */
    const char *text;
};

/*
 * Adds to the sum of a series. The sum wraps at 64 bits, so that a subtraction undoes any
 * addition, even of values that overflow.
 */
static inline void series_add(struct series *series, int64_t value)
{
    series->sum = (int64_t)((uint64_t)series->sum + (uint64_t)value);
}

struct label_set {
    struct family_state *family;
    char *key;           /* Owned text of the free labels; the texts of the series follow it. */
    uint32_t references; /* Samples of entries, and the registry if the label set is permanent. */
    uint32_t zeros;      /* Number of samples that are 0. */
    bool gone;           /* The set has no references, but is still in `sets`. */
    bool folded;         /* Not shown: added to a set in `rest`. */
    struct series series[];
};

/* Text that distinguishes the series of a label set; equal for all label sets of a family. */
struct series_text {
    const char *suffix; /* Suffix of the name: "", "_bucket", ... */
    char *labels;       /* Enumerated labels: `reason="x",phase="y"`. */
};

struct family_state {
    const struct family_def *def;
    unsigned series_count;     /* Number of series in each label set. */
    struct series_text *texts; /* Texts by index of the series. */
    unsigned *order;           /* Indexes of the possible series in the order of the page. */
    unsigned shown_count;      /* Number of indexes in `order`. */
    uint64_t seed;             /* Seed of the hash function. */
    struct map by_key;
    struct label_set **sets; /* The first `sorted` are sorted by key. */
    size_t count;
    size_t sorted;
    size_t capacity;
    size_t gone;             /* Number of `sets` without references. */
    struct label_set **rest; /* Sums of the folded sets by their remaining labels; sorted. */
    size_t rest_count;
    size_t folded;        /* Number of `sets` that are folded. */
    size_t folded_series; /* Series in folded sets that are not 0. */
};

void family_state_init(struct family_state *f, const struct family_def *def, uint64_t seed);
void family_state_release(struct family_state *f);

/* Returns the label set with this key; a new one without references if necessary. */
struct label_set *family_state_get_set(struct family_state *f, const struct strbuf *key);

static inline void label_set_ref(struct label_set *set)
{
    set->references++;
}

/* Drops a reference. Without references, a label set is no longer found or shown. */
void label_set_unref(struct label_set *set);

/* Appends the text of a series, `name{labels} `. */
void series_add_text(struct strbuf *out, const struct series *series);

/* Shows all folded label sets again and frees the common sets in `rest`. */
void family_state_unfold_sets(struct family_state *f);

/*
 * Folds a label set: hides it and adds its values to a common set in `rest`. The first `labels`
 * labels of that set have the value of family_rest_value(). For families with AGGREGATE_SUM.
 */
void family_state_fold_set(struct family_state *f, struct label_set *set, unsigned labels);

/* Frees the label sets without references and sorts the others. */
void family_state_sort_sets(struct family_state *f);

/* Frees all label sets, even with references. */
void family_state_clear_sets(struct family_state *f);

/* ---- label values ---- */

/* Maximal length of a label value, in bytes before escaping. */
enum { LABEL_VALUE_MAX = 1024 };

/*
 * Appends a label value, escaped for a pair of quotes; NULL is "". Values come from names that
 * users choose, and Prometheus rejects a whole page with one invalid value: bytes that are not
 * UTF-8 and control characters become U+FFFD. A value above LABEL_VALUE_MAX is cut after a
 * character and ends with "..." and a hash of the whole value to keep long values distinct.
 */
void label_text_add(struct strbuf *out, const char *value);

/* Appends `name="value"` to a key, after a comma unless the key is empty. */
void label_key_add(struct strbuf *key, const char *name, const char *value);
