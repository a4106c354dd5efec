/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/families.h"

/*
 * Where the observe function of a family says what an entry gives to it.
 *
 * `row` counts through the enumerated labels, the last one fastest; the free
 * labels follow as texts in the order of the table, NULL for "".
 */

/* A NULL in front, because an array may not be empty. */
#define LABEL_LIST(...)  ((const char *const[]){NULL, ##__VA_ARGS__})
#define LABELS(...)      (LABEL_LIST(__VA_ARGS__) + 1)
#define LABEL_COUNT(...) (ARRAY_LEN(LABEL_LIST(__VA_ARGS__)) - 1)

#define SAMPLE(out, value, row, ...)                                                               \
    samples_add((out), (value), (row), LABEL_COUNT(__VA_ARGS__), LABELS(__VA_ARGS__))

/* As SAMPLE, but only the first of an entry for a row counts. */
#define SAMPLE_ONCE(out, value, row, ...)                                                          \
    samples_add_once((out), (value), (row), LABEL_COUNT(__VA_ARGS__), LABELS(__VA_ARGS__))

void samples_add(struct samples *out, int64_t value, unsigned row, size_t label_count,
                 const char *const *labels);
void samples_add_once(struct samples *out, int64_t value, unsigned row, size_t label_count,
                      const char *const *labels);

/* For those families that need more than the entry's own decision. */
const struct engine *samples_engine(const struct samples *out);
