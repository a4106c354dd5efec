/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/contribution.h"
#include "metrics/expose/family_state.h"

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
