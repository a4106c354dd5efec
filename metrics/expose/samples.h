/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"
#include "metrics/expose/family.h"
#include "metrics/expose/series.h"
#include "metrics/rules/connector_conflicts.h"

/*
 * Samples: the values that one entry contributes to series. While an entry is collected, its
 * samples are in a growing list (struct samples), afterwards in a packed list (struct
 * contribution), which entries with equal samples share.
 *
 * Each file collect_*.c has the functions that collect the samples of a group of families, and
 * below them the table of these families (family.h). The compiler reports a function that no row of
 * the table uses.
 */

/* Value that an entry contributes to a series. */
struct sample {
    struct series *series;
    int64_t value;
};

/*
 * Packed samples, one or more: a sample of 1, the usual value, takes the memory of one pointer.
 * Entries with equal samples share a contribution, such as the templates of one policy in one
 * namespace.
 */
struct contribution;

/* All contributions, found by their samples. */
struct contributions {
    struct map map;
    struct pool *memory; /* Pool of the contributions; NULL if there is no store. */
    uint64_t seed;       /* Seed of the hash function. */
};

void contributions_init(struct contributions *all, struct pool *memory, uint64_t seed);

/* Frees the map. All contributions must have been dropped. */
void contributions_release(struct contributions *all);

/* Returns a new reference to the contribution with these samples; NULL if `count` is 0. */
struct contribution *contribution_get_shared(struct contributions *all,
                                             const struct sample *samples, size_t count) MUST_USE;

/* Drops a reference. Accepts NULL. */
void contribution_drop(struct contributions *all, struct contribution *c);

/*
 * Stores the next sample of a contribution in `out`. Start with *at = 0. Returns false at the end.
 * In this and the following functions, a contribution of NULL has no samples.
 */
bool contribution_next(const struct contribution *c, size_t *at, struct sample *out);

/* Returns true if the contribution has exactly these samples in this order. */
bool contribution_equal(const struct contribution *c, const struct sample *samples, size_t count);

/* Returns true if the contribution has a sample of the series. */
bool contribution_has(const struct contribution *c, const struct series *series);

/* Returns the value of the first sample of a series; 0 if it has no sample. */
int64_t contribution_value(const struct contribution *c, const struct series *series);

/*
 * Samples of the entry that is being collected, appended by the `collect` functions of families.
 *
 * A series of a family is identified by its index and the values of the free labels. The index
 * numbers the combinations of enumerated values, the last label fastest: (first value) * (number of
 * second values) + (second value). The index is 0 without enumerated labels. Values of free labels
 * are texts in the order of the family's `labels`; NULL stands for "".
 */
struct samples {
    const struct engine *engine; /* Read by families that need more than the entry's decision. */
    struct family_state *family; /* Family that is being collected. */
    struct sample *items;
    size_t count;
    size_t capacity;
    struct strbuf key; /* Buffer for the key of a label set. */
};

void samples_init(struct samples *s, const struct engine *engine);
void samples_release(struct samples *s);

/* Array of texts after an unused NULL: without it, the array could be empty, which C forbids. */
#define LABEL_LIST(...)  ((const char *const[]){NULL, ##__VA_ARGS__})
#define LABELS(...)      (LABEL_LIST(__VA_ARGS__) + 1)
#define LABEL_COUNT(...) (ARRAY_LEN(LABEL_LIST(__VA_ARGS__)) - 1)

/* Appends a sample of the current family. */
#define SAMPLE(out, value, index, ...)                                                             \
    samples_add((out), (value), (index), LABEL_COUNT(__VA_ARGS__), LABELS(__VA_ARGS__))

/* Appends a sample of the current family unless `out` already has a sample of the same series. */
#define SAMPLE_ONCE(out, value, index, ...)                                                        \
    samples_add_once((out), (value), (index), LABEL_COUNT(__VA_ARGS__), LABELS(__VA_ARGS__))

void samples_add(struct samples *out, int64_t value, unsigned index, size_t label_count,
                 const char *const *labels);
void samples_add_once(struct samples *out, int64_t value, unsigned index, size_t label_count,
                      const char *const *labels);

/* Appends a sample of 1 for each set bit, by enumerated value. The family has no free labels. */
void samples_add_bits(struct samples *out, unsigned bits);

/* Appends a sample of a series of any family. */
void samples_add_to(struct samples *out, struct series *series, int64_t value);

/* Returns the label set of a family with these values of free labels; adds it if it is missing. */
struct label_set *samples_label_set(struct samples *s, struct family_state *family,
                                    size_t label_count, const char *const *labels);

/* Common values of family_def.classes. */
enum {
    EVENT_ENTRIES = 1u << CLASS_EVENT,
    TEMPLATE_ENTRIES = 1u << CLASS_TEMPLATE,
    POLICY_ENTRIES = 1u << CLASS_POLICY,
    BINDING_ENTRIES = 1u << CLASS_BINDING,
    CLUSTER_ENTRIES = 1u << CLASS_CLUSTER,
    LEASE_ENTRIES = 1u << CLASS_LEASE,
    /* A dependency without a binding is represented by its template. */
    DEPENDENCY_ENTRIES = BINDING_ENTRIES | TEMPLATE_ENTRIES,
};

#define FROM(entries, function) .classes = (entries), .collect = (function)

#define KIND_LABELS FREE_LABEL("api_group"), FREE_LABEL("kind")
#define POLICY_LABELS                                                                              \
    FREE_LABEL("policy_kind"), FREE_LABEL("policy_namespace"), FREE_LABEL("policy")
#define OBJECT_LABELS                                                                              \
    FREE_LABEL("namespace"), FREE_LABEL("api_group"), FREE_LABEL("kind"), FREE_LABEL("name")
