/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/base/strbuf.h"
#include "metrics/expose/family.h"

/*
 * Series of one metric family: label sets, their values and their text on the page.
 *
 * A label set is one combination of values of the free labels. It has a series for each combination
 * of values of the enumerated labels or, in a histogram, for each bucket, the sum and the count.
 * The key of a label set is the text of its free labels. A label set is freed some time after its
 * last reference was dropped.
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
 * A number that is removed while it is not the minimum stays in `present`, and is added to
 * `removed`. The minima of two heaps that are not empty always differ, so the minimum of `present`
 * is that of the multiset. multiset_remove() compacts both heaps when `removed` gets too large.
 */
struct multiset {
    struct heap present;
    struct heap removed;
};

/* Frees the numbers. The multiset is then empty and can be used again. */
void multiset_release(struct multiset *m);

void multiset_add(struct multiset *m, int64_t value);

/* Removes `value` once; the multiset must contain it. */
void multiset_remove(struct multiset *m, int64_t value);

/* Stores the minimum in `out`. Returns false if the multiset is empty. */
bool multiset_min(const struct multiset *m, int64_t *out);

/* ---- series and label sets ---- */

struct series {
    struct label_set *set;
    union {
        int64_t sum;              /* Used for AGGREGATE_SUM, _INCREASE, _ZEROS, _PRESENT. */
        double number;            /* Used for AGGREGATE_PROBLEMS, _NONE, _FIRST, _WAIT. */
        struct multiset *minimum; /* Used for AGGREGATE_MIN; owned. */
    };
};

/* Adds to the sum of a series. The sum wraps at 64 bits: a subtraction undoes any addition. */
static inline void series_add(struct series *series, int64_t value)
{
    series->sum = (int64_t)((uint64_t)series->sum + (uint64_t)value);
}

struct label_set {
    struct family_state *family;
    char *key;           /* Owned text of the free labels. */
    char *texts;         /* Owned; see family_state_keep_texts(). NULL: not kept. */
    uint32_t references; /* Number of samples of entries, and of references by the registry. */
    uint32_t zeros;      /* AGGREGATE_SUM: number of samples that are 0. */
    bool gone;           /* The last reference was dropped, but the set is still in `sets`. */
    bool folded;         /* Not shown: see family_state_fold_set(). */
    struct series series[];
};

/* Text of the series with one index, without name and free labels: the same in all label sets. */
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
    size_t gone;             /* Number of `sets` that are gone. */
    struct label_set **rest; /* Rest sets, which folded sets are added to; sorted by key. */
    size_t rest_count;
    size_t folded;        /* Number of `sets` that are folded. */
    size_t folded_series; /* Number of series other than 0 in folded sets. */
};

void family_state_init(struct family_state *f, const struct family_def *def, uint64_t seed);
void family_state_release(struct family_state *f);

/* Returns the label set with this key. Adds it, without references, if it is missing. */
struct label_set *family_state_find_or_add_set(struct family_state *f, const struct strbuf *key);

static inline void label_set_ref(struct label_set *set)
{
    set->references++;
}

/* Drops a reference. With the last one, the label set is no longer found, and may be freed. */
void label_set_unref(struct label_set *set);

/*
 * Keeps the texts of the series that a page shows, because pages are written more often than labels
 * change: those of the rest sets, and of the first `listed` sets that are not folded. Frees the
 * texts of other sets. In `sparse` families, most series are not shown, and no text is kept.
 */
void family_state_keep_texts(struct family_state *f, size_t listed);

/* Appends the text of a series, `name{labels} `. */
void series_add_text(struct strbuf *out, const struct series *series);

/* Shows all folded label sets again and frees the rest sets. */
void family_state_unfold_sets(struct family_state *f);

/*
 * Folds a label set: hides it and, unless the family has `no_rest`, adds its values to a rest set.
 * The first `labels` labels of the rest set have the value of family_rest_value(), the others are
 * those of `set`. For AGGREGATE_SUM only.
 */
void family_state_fold_set(struct family_state *f, struct label_set *set, unsigned labels);

/* Frees the label sets that are gone and sorts the others. */
void family_state_sort_sets(struct family_state *f);

/* Frees all label sets, even with references. */
void family_state_clear_sets(struct family_state *f);

/* ---- label values ---- */

/* Maximal length of a label value, in bytes after replacement by U+FFFD and before escaping. */
enum { LABEL_VALUE_MAX = 1024 };

/*
 * Appends a label value, escaped for a pair of quotes; NULL is "". Bytes that are not UTF-8 and
 * control characters become U+FFFD: Prometheus rejects a whole page for one invalid value. If the
 * replaced value is above LABEL_VALUE_MAX, it is cut after a character and ends with "..." and a
 * hash of the whole `value`, so that long values stay distinct.
 */
void label_text_add(struct strbuf *out, const char *value);

/* Appends `name="value"` to a key, after a comma unless the key is empty. */
void label_key_add(struct strbuf *key, const char *name, const char *value);
