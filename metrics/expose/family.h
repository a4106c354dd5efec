/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"
#include "metrics/rules/engine.h"

/*
 * Metric families: definitions, lookup by index or name, and the catalogue of METRICS.md and
 * `metrics --output json`.
 *
 * Each family is one row of a table: in the collect_*.c file of its group, with the function that
 * collects its samples, in problem_families.h if it describes problems, or in exporter_families.h
 * if it describes the exporter itself. No other list of families is written by hand: `make golden`
 * writes METRICS.md and the golden pages.
 */

enum family_type { FAMILY_GAUGE, FAMILY_COUNTER, FAMILY_HISTOGRAM };
enum family_stability { STABILITY_STABLE, STABILITY_EXPERIMENTAL };

/* Computation of the values of a family from the samples of entries. */
enum family_aggregation {
    AGGREGATE_SUM,      /* Sum of whole numbers. A sample of 0 makes its label set present. */
    AGGREGATE_MIN,      /* Minimum of milliseconds, exposed in seconds; absent without samples. */
    AGGREGATE_INCREASE, /* Counter: sum of all increases of samples; decreases do not count. */
    AGGREGATE_FIRST,    /* Histogram, in seconds, of the first sample of each entry, in ms. */
    AGGREGATE_WAIT,     /* Histogram of waiting times: see `ended`. */
    AGGREGATE_ZEROS,    /* Number of label sets with 0 in the series `counted_index`: see `of`. */
    AGGREGATE_PRESENT,  /* By series, the number of label sets of `of` in which it is above 0. */
    AGGREGATE_PROBLEMS, /* Set from the problems (problem_families.h); entries have no samples. */
    AGGREGATE_NONE,     /* Set by the exporter (exporter_families.h); entries have no samples. */
};

enum { FAMILY_LABELS_MAX = 12 };

/*
 * Labels are free (the values come from objects) or enumerated (the possible values are fixed). If
 * a label set is present, it has a series for each combination of enumerated values, also if the
 * value of the series is 0; exceptions are `sparse`, `pairs` and AGGREGATE_MIN. Enumerated labels
 * follow the free ones.
 */
struct family_label {
    const char *name;
    const char *const *values; /* Possible values; NULL for a free label. */
    size_t value_count;        /* 0 for a free label. */
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
 * Limit that applies to a family: the number of policies, or the number of namespaces on a page.
 * Label sets of other policies or namespaces are folded: they are hidden and, unless the family has
 * `no_rest`, their values are added up in common label sets, the rest sets. The first labels of a
 * limited family name the policy or the namespace.
 */
enum limit_kind {
    LIMIT_NONE,
    LIMIT_BY_POLICY,    /* First labels: policy_kind, policy_namespace, policy. */
    LIMIT_BY_NAMESPACE, /* First label: namespace. */
    LIMIT_KIND_COUNT,
};

/* Weights by which the shown policies and namespaces are selected, most important first. */
enum {
    WEIGHT_OVERDUE,  /* Number of overdue templates of a policy (policy_of_stale_template). */
    WEIGHT_DEFERRED, /* Number of deferred templates of a policy (policy_of_stale_template). */
    WEIGHT_CLAIMED,  /* Number of templates that a policy has claimed. */
    LIMIT_WEIGHTS,
    WEIGHT_TEMPLATES = 0, /* Number of templates of a namespace. */
};

struct family_def {
    const char *name;
    const char *unit; /* Base unit, as in the name; NULL without a unit. */
    const char *help;
    const char *bound; /* Maximal number of series, as text; NULL: computed from the labels. */
    enum family_type type;
    enum family_stability stability;
    enum family_aggregation aggregation;
    bool milli;  /* Samples of AGGREGATE_SUM are in thousandths. */
    bool sparse; /* Series that are 0 are not shown. */
    bool detail; /* Series of single objects, limited by registry_options.detail_limit. */
    enum limit_kind limit_kind;
    bool no_rest; /* Folded label sets are hidden, not added up: their sums mean nothing. */
    /* Adds the weights of a label set to `weight` of its policy or namespace. NULL: no weights. */
    void (*weigh)(const struct label_set *set, int64_t weight[LIMIT_WEIGHTS]);
    /* Set if family_remembers() cannot derive the result from the aggregation. */
    bool remembers;
    bool opt_in;     /* Off by default: see struct registry_options. */
    bool of_process; /* Counter that continues after a reload; other counters restart. */
    struct family_label labels[FAMILY_LABELS_MAX + 1]; /* Ends with a NULL name. */
    unsigned classes; /* Classes of entries for `collect`, bits by enum object_class. */
    /* Appends the samples of an entry: see samples.h. */
    void (*collect)(const struct entry *entry, struct samples *out);
    /*
     * AGGREGATE_ZEROS: `of` names the counted family, and `counted_index` is the index (struct
     * samples) of the counted series in each of its label sets. A label set counts if that series
     * is 0 and an entry has a sample of 0 in the set. The first label of both families is the same;
     * in this family, it is enumerated. AGGREGATE_PRESENT: `of` names the counted family. Both
     * families have the same enumerated labels, and each series counts the series of the same
     * labels that are above 0.
     */
    const char *of;
    unsigned counted_index;
    /* Returns false if this release of Karmada makes all samples impossible. NULL: always true. */
    bool (*supported)(const struct engine *engine);
    /* Returns true if a pair of values of the two enumerated labels can occur. NULL: all can. */
    bool (*pairs)(unsigned first, unsigned last);
    /*
     * AGGREGATE_WAIT: a sample is the start of a wait, in milliseconds since the epoch. When the
     * sample is removed or replaced, the waiting time is counted if the entry has a decision and
     * `ended` returns true for it.
     */
    bool (*ended)(const struct entry *entry);
    const double *buckets; /* FAMILY_HISTOGRAM: upper bounds, ascending, without +Inf. */
    size_t bucket_count;
};

/*
 * Returns true if values depend on past observations, not on the present objects alone: those of a
 * fresh engine over the same objects differ.
 */
static inline bool family_remembers(const struct family_def *f)
{
    return f->remembers || f->aggregation == AGGREGATE_INCREASE ||
           f->aggregation == AGGREGATE_FIRST || f->aggregation == AGGREGATE_WAIT;
}

/* Returns the number of labels that name a policy or a namespace; 0 for LIMIT_NONE. */
unsigned family_limit_label_count(enum limit_kind limit_kind);

/*
 * Returns the value that the labels of a policy ("") or namespace ("_others") have in rest sets;
 * "" for LIMIT_NONE.
 */
const char *family_rest_value(enum limit_kind limit_kind);

/* Returns "gauge", "counter" or "histogram". */
const char *family_type_name(enum family_type type);

/* Returns the number of free labels; they precede the enumerated ones. */
unsigned family_free_label_count(const struct family_def *family);

/* Returns the number of combinations of values of the enumerated labels; 1 without such labels. */
unsigned family_series_per_set(const struct family_def *family);

/* Returns false if `pairs` excludes the series with this index (struct samples). */
bool family_has_series(const struct family_def *family, unsigned index);

/* Families about one subject: a table in collect_*.c, problem_families.c or exporter_families.c. */
struct family_group {
    const struct family_def *families;
    size_t count;
};

extern const struct family_group
    problem_families; /* First group; indexed by enum problem_family. */
extern const struct family_group template_families;
extern const struct family_group stage_families;
extern const struct family_group policy_families;
extern const struct family_group version_families;
extern const struct family_group binding_families;
extern const struct family_group dependency_families;
extern const struct family_group capacity_families;
extern const struct family_group connector_families;
extern const struct family_group own_families; /* Last group; indexed by enum own_family. */

/* Returns the number of families in all groups. */
size_t family_count(void);

/* Returns the family at an index below family_count(), in the order of the page. */
const struct family_def *family_at(size_t index);

/* Appends METRICS.md: each family as a row of a Markdown table, in the order of the page. */
void catalogue_add_markdown(struct strbuf *out);

/*
 * Appends all families as a JSON array of {name, type, unit, help, labels, stability, bound,
 * detail, optIn, remembers}.
 */
void catalogue_add_json(struct strbuf *out);

/* Used only by tests. */

/* Returns the family with this name; NULL if unknown. */
const struct family_def *family_find(const char *name);
