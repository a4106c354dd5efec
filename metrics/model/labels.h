/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/* One label. Shared texts; `value` may be "". */
struct label {
    const char *key;
    const char *value;
};

/* A list of labels; all zero is an empty one. */
struct labels {
    struct label *items;
    size_t count;
};

/* Read the map of texts `parent.key`. Release it also after a failure. */
void labels_decode(struct decode *d, const cJSON *parent, const char *path, const char *key,
                   struct labels *out);
void labels_release(struct intern *strings, struct labels *labels);

/* The value of a label by its shared key, NULL if there is none. */
const char *labels_get(const struct labels *labels, const char *shared_key);

enum label_operator {
    LABEL_IN,
    LABEL_NOT_IN,
    LABEL_EXISTS,
    LABEL_DOES_NOT_EXIST,
};

/* One requirement of a label selector. */
struct label_requirement {
    const char *key;
    enum label_operator op;
    const char **values;
    size_t value_count;
};

/*
 * A Kubernetes LabelSelector, with matchLabels as `In` requirements. All must hold. An invalid
 * one (unknown operator, values where the operator has none or none where it needs some, an
 * illegal key or value) matches nothing, as in apimachinery's LabelSelectorAsSelector; `invalid`
 * says why, else it is NULL.
 */
struct label_selector {
    struct label_requirement *items;
    size_t count;
    const char *invalid;
};

/* Read `parent.key`; NULL if absent. The caller frees it with label_selector_free(). */
struct label_selector *label_selector_decode(struct decode *d, const cJSON *parent,
                                             const char *path, const char *key);
/*
 * Read a selector as kubectl's -l takes it: "a=b,c!=d,e in (f,g),h notin (i),j,!k". NULL with the
 * reason if it is not valid.
 */
struct label_selector *label_selector_parse(struct intern *strings, const char *text,
                                            struct error *err) MUST_USE;
void label_selector_free(struct intern *strings, struct label_selector *selector);
/* True if both require the same, in the same order; two absent ones do too. */
bool label_selector_equal(const struct label_selector *a, const struct label_selector *b);
