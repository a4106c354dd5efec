/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"
#include "metrics/expose/family.h"
#include "metrics/expose/series.h"
#include "metrics/rules/connector_conflicts.h"

struct series;

/* One number that an entry contributes, and the series that it counts in. */
struct sample {
    struct series *series;
    int64_t value;
};

/*
 * What one entry contributes, packed: most samples are a 1, which costs no more than the
 * pointer to its series. Each object of a control plane has a contribution, and those that
 * contribute the same have one together: the templates of a policy in a namespace mostly do.
 */
struct contribution;

/* The contributions there are. All must have been dropped before it is released. */
struct contributions {
    struct map map;
    uint64_t seed;
};
void contributions_init(struct contributions *all, uint64_t seed);
void contributions_release(struct contributions *all);

/* The contribution of these samples, one holder more; NULL for no samples. */
struct contribution *contribution_share(struct contributions *all, const struct sample *samples,
                                        size_t count) MUST_USE;
/* One holder less. Takes NULL. */
void contribution_drop(struct contributions *all, struct contribution *c);

/* Walk over the samples: start with *at = 0; false at the end. NULL has none. */
bool contribution_next(const struct contribution *c, size_t *at, struct sample *out);

bool contribution_equal(const struct contribution *c, const struct sample *samples, size_t count);
bool contribution_has(const struct contribution *c, const struct series *series);
/* The value for a series; 0 if there is none. */
int64_t contribution_value(const struct contribution *c, const struct series *series);

/*
 * What one entry contributes to the families; their collect functions add to it.
 *
 * `index` counts through the values of the enumerated labels, the last label fastest, and is
 * 0 without any; the free labels follow as texts in the order of the row, NULL for "".
 */
struct samples {
    const struct engine *engine; /* For families that need more than the entry's own decision. */
    struct family_state *family; /* The one that is being collected. */
    struct sample *items;
    size_t count;
    size_t capacity;
    struct strbuf key; /* Memory for label sets to be looked up. */
};

void samples_init(struct samples *s, const struct engine *engine);
void samples_release(struct samples *s);

/* A NULL in front, because an array may not be empty. */
#define LABEL_LIST(...)  ((const char *const[]){NULL, ##__VA_ARGS__})
#define LABELS(...)      (LABEL_LIST(__VA_ARGS__) + 1)
#define LABEL_COUNT(...) (ARRAY_LEN(LABEL_LIST(__VA_ARGS__)) - 1)

#define SAMPLE(out, value, index, ...)                                                             \
    samples_add((out), (value), (index), LABEL_COUNT(__VA_ARGS__), LABELS(__VA_ARGS__))

/* As SAMPLE, but an entry's second sample for the same series is dropped. */
#define SAMPLE_ONCE(out, value, index, ...)                                                        \
    samples_add_once((out), (value), (index), LABEL_COUNT(__VA_ARGS__), LABELS(__VA_ARGS__))

void samples_add(struct samples *out, int64_t value, unsigned index, size_t label_count,
                 const char *const *labels);
void samples_add_once(struct samples *out, int64_t value, unsigned index, size_t label_count,
                      const char *const *labels);

/* A sample of 1 for each bit that is set, for families with one enumerated label alone. */
void samples_add_bits(struct samples *out, unsigned bits);

/* A sample for a series that is at hand. */
void samples_add_to(struct samples *out, struct series *series, int64_t value);

/* The label set of a family that these free labels name, made if there is none. */
struct label_set *samples_label_set(struct samples *s, struct family_state *family,
                                    size_t label_count, const char *const *labels);

/*
 * What the files collect_*.c have in common; nobody else includes this.
 *
 * Each of them has the functions that collect a group of families, and below them the rows
 * of the group. A function without a row is an error to the compiler: it is unused.
 */

/* Whose entries contribute to a family. */
enum {
    EVENT_ENTRIES = 1u << CLASS_EVENT,
    TEMPLATE_ENTRIES = 1u << CLASS_TEMPLATE,
    POLICY_ENTRIES = 1u << CLASS_POLICY,
    BINDING_ENTRIES = 1u << CLASS_BINDING,
    CLUSTER_ENTRIES = 1u << CLASS_CLUSTER,
    LEASE_ENTRIES = 1u << CLASS_LEASE,
    DEPENDENCY_ENTRIES =
        BINDING_ENTRIES | TEMPLATE_ENTRIES, /* Templates where they have no binding. */
};

#define FROM(entries, function) .classes = (entries), .collect = (function)

#define KIND_LABELS FREE_LABEL("api_group"), FREE_LABEL("kind")
#define POLICY_LABELS                                                                              \
    FREE_LABEL("policy_kind"), FREE_LABEL("policy_namespace"), FREE_LABEL("policy")
#define OBJECT_LABELS                                                                              \
    FREE_LABEL("namespace"), FREE_LABEL("api_group"), FREE_LABEL("kind"), FREE_LABEL("name")
