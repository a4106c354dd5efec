/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"
#include "metrics/rules/engine.h"

/* What a metric family is: its name and words, its labels, and where its numbers come from. */

enum family_type { FAMILY_GAUGE, FAMILY_COUNTER, FAMILY_HISTOGRAM };
enum family_stability { STABILITY_STABLE, STABILITY_EXPERIMENTAL };

/* How the samples of several entries become the value of one series. */
enum family_aggregation {
    AGGREGATE_SUM,      /* Whole numbers, added up. A sample of 0 only makes the series present. */
    AGGREGATE_MIN,      /* The smallest, in milliseconds, shown in seconds; absent while empty. */
    AGGREGATE_INCREASE, /* A counter: how much samples grew, and never what they shrank. */
    AGGREGATE_FIRST,    /* A histogram of each entry's first sample, in milliseconds, for good. */
    AGGREGATE_WAIT,     /* A histogram of how long entries waited: see `ended`. */
    AGGREGATE_ZEROS,    /* How many series of family `of` are 0 but present: see there. */
    AGGREGATE_PRESENT,  /* How many label sets of family `of` are above 0 in the same series. */
    AGGREGATE_NONE,     /* Set by the exporter (own_families.h); no entry contributes. */
};

enum { FAMILY_LABELS_MAX = 10 };

/*
 * A label is free, its values come with the objects, or enumerated: all its values are
 * known, and the series of all of them are present, zeros too. The enumerated ones are last.
 */
struct family_label {
    const char *name;
    const char *const *values; /* NULL if it is free. */
    size_t value_count;
};

#define FREE_LABEL(label)                                                                          \
    {                                                                                              \
        .name = (label)                                                                            \
    }
#define ENUM_LABEL(label, names)                                                                   \
    {                                                                                              \
        .name = (label), .values = (names), .value_count = ARRAY_LEN(names)                        \
    }

struct samples;
struct label_set;

/*
 * Sets whose policy or namespace is beyond a limit are added up in the rest (fold.h). The values
 * name the first labels.
 */
enum fold {
    POLICY_LIMIT_NONE,
    POLICY_LIMIT_POLICY,    /* policy_kind, policy_namespace, policy */
    POLICY_LIMIT_NAMESPACE, /* namespace */
    POLICY_LIMIT_COUNT,
};

/* The first number by which two differ tells which one is worse: the one with more. */
enum { POLICY_LIMIT_WEIGHTS = 3 };

struct family_def {
    const char *name;
    const char *unit; /* NULL or the base unit that the name ends in. */
    const char *help;
    const char *bound; /* What limits the number of series; NULL: its enumerated labels alone. */
    enum family_type type;
    enum family_stability stability;
    enum family_aggregation aggregation;
    bool milli;  /* AGGREGATE_SUM: samples are in thousandths. */
    bool sparse; /* Series that are 0 are not shown. */
    bool detail; /* One series an object: capped. */
    enum fold fold;
    bool no_rest; /* Its rows do not add up: what is folded has none. */
    /*
     * Adds the weights of a label set. Weights of a policy: its overdue, deferred and all
     * templates; of a namespace: its templates.
     */
    void (*weigh)(const struct label_set *rows, int64_t weight[POLICY_LIMIT_WEIGHTS]);
    /* What was seen before counts, too: a fresh engine over the same objects says less. */
    bool remembers;
    bool opt_in;
    bool of_process; /* A counter that goes on over a reload; others begin anew. */
    struct family_label labels[FAMILY_LABELS_MAX + 1]; /* Ends with a NULL name. */
    /* Whose entries contribute, bits by object_class, and what they do: see samples.h. */
    unsigned classes;
    void (*collect)(const struct entry *entry, struct samples *out);
    /*
     * AGGREGATE_ZEROS: the family looked at, and which of its series by the enumerated
     * labels. Both families have the same first label; this one knows its values.
     * AGGREGATE_PRESENT: the family looked at; both have the same enumerated labels.
     */
    const char *of;
    unsigned of_index;
    /* What it counts exists with the Karmada that there is; else it is left out. NULL: always. */
    bool (*supported)(const struct engine *engine);
    /* Of two enumerated labels: which pairs of their values there are. NULL: all. */
    bool (*pairs)(unsigned first, unsigned last);
    /*
     * AGGREGATE_WAIT: a sample is when an entry began to wait, in milliseconds since the epoch.
     * Once it has none, or another, it is counted if what it waited for has come.
     */
    bool (*ended)(const struct entry *entry);
    const double *buckets; /* FAMILY_HISTOGRAM: upper bounds, ascending, without +Inf. */
    size_t bucket_count;
};

/* True if more than the objects that there are now counts in it: what was seen before does, too. */
static inline bool family_remembers(const struct family_def *f)
{
    return f->remembers || f->aggregation == AGGREGATE_INCREASE ||
           f->aggregation == AGGREGATE_FIRST || f->aggregation == AGGREGATE_WAIT;
}

/* Returns the number of labels that name a policy or a namespace. */
unsigned family_fold_labels(enum fold fold);

/* Returns the value of these labels in the rest: "" for policies, "_others" for namespaces. */
const char *family_rest_value(enum fold fold);

/* "gauge", "counter" or "histogram". */
const char *family_type_name(enum family_type type);

/* How many labels are free; they come before the enumerated ones. */
unsigned family_free_labels(const struct family_def *family);

/* How many series the enumerated labels make of each set of free ones: 1 without any. */
unsigned family_series_per_set(const struct family_def *family);
/* True if the family has the series of this index (struct samples) in each set. */
bool family_has_series(const struct family_def *family, unsigned index);

/*
 * All metric families, in the order of the page. Exposition, catalogue, documentation and
 * the lint of rules and boards read them here.
 *
 * A family is one row: in the file of its group, beside the function that collects it, or in
 * own_families.h if the exporter sets it about itself. Nothing else lists families by hand:
 * METRICS.md and the golden pages are written by `make golden`.
 */
struct family_group {
    const struct family_def *families;
    size_t count;
};

extern const struct family_group template_families;
extern const struct family_group stage_families;
extern const struct family_group policy_families;
extern const struct family_group version_families;
extern const struct family_group binding_families;
extern const struct family_group dependency_families;
extern const struct family_group capacity_families;
extern const struct family_group connector_families;
extern const struct family_group own_families; /* The last, by enum own_family. */

/* How many families there are in all groups. */
size_t family_count(void);

/* The family of an index below family_count(). */
const struct family_def *family_at(size_t index);

/* The family of a name, NULL if there is none. */
const struct family_def *family_find(const char *name);

/* All families (families.h) as a list for documentation and for programs that check names. */

/* Each family as a row of a Markdown table, in the order of the page. */
void catalogue_markdown(struct strbuf *out);

/* The same as a JSON array of {name, type, unit, help, labels, stability, bound, detail, optIn}. */
void catalogue_json(struct strbuf *out);
