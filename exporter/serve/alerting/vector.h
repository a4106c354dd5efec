/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * What an expression of the rules gives: samples, each a number with its labels. Labels are in the
 * order of their names, none of them is empty, and their texts are borrowed: of the store, of the
 * expression, or of whoever added them.
 */
struct label_pair {
    const char *name;
    const char *value;
};

struct label_list {
    struct label_pair *items; /* Owned. */
    size_t count;
};

struct vector_sample {
    struct label_list labels;
    double value;
};

struct vector {
    struct vector_sample *items;
    size_t count;
    size_t capacity;
    bool scalar; /* One number without labels, as 5 or time() is. */
};

/* Names of labels, as those of by (...). */
struct name_list {
    char **items;
    size_t count;
};

void label_list_release(struct label_list *l);
struct label_list label_list_copy(const struct label_list *l) MUST_USE;
/* Give a label another value; "" removes it. */
void label_list_set(struct label_list *l, const char *name, const char *value);
/* "" if there is none. */
const char *label_list_get(const struct label_list *l, const char *name);
/* Those with one of the names. */
struct label_list label_list_keep(const struct label_list *l,
                                  const struct name_list *names) MUST_USE;
/* As strcmp. */
int label_list_compare(const struct label_list *a, const struct label_list *b);

void vector_release(struct vector *v);
/* Moves the labels in. */
void vector_add(struct vector *v, struct label_list labels, double value);
struct vector vector_scalar(double value) MUST_USE;

/* A sample of a vector with the labels that it is found by. */
struct keyed {
    struct label_list key; /* Owned. */
    const struct vector_sample *sample;
};

/* All samples in the order of their labels of these names (NULL: of all their labels). */
struct keyed *vector_keys(const struct vector *v, const struct name_list *names) MUST_USE;
void vector_keys_free(struct keyed *keys, size_t count);
/* The first sample of that key; NULL if there is none. */
const struct vector_sample *vector_keys_find(const struct keyed *keys, size_t count,
                                             const struct label_list *key);
