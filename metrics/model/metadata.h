/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"
#include "metrics/model/decode.h"

/* No name of an object is longer, in bytes (Kubernetes: DNS subdomains). */
enum { OBJECT_NAME_MAX = 253 };

/* What identifies an object. Cluster-scoped objects have the namespace "". Borrowed texts. */
struct identity {
    const char *api_version;
    const char *kind;
    const char *ns;
    const char *name;
};

/*
 * 32-bit FNV-1a of metadata.uid; its last bit decides ties when replicas are divided (Karmada >=
 * 1.16). That of "" stands for an unknown one.
 */
uint32_t uid_hash(const char *uid);

/* True if both are known, and of different objects. */
bool uid_hashes_differ(uint32_t a, uint32_t b);

/*
 * What is left of metadata.resourceVersion of an object where only few bytes are to be had: the
 * low 32 bits of the number that it is, a hash of any other, 0 if there is none.
 */
uint32_t version_mark(const cJSON *json);
/* The same of a text. */
uint32_t version_mark_of(const char *version);

/* True if `a` is the newer one of two numbers of which neither is 2^31 versions older. */
static inline bool version_mark_is_newer(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

/* Read the identity of an object; false if anything but the namespace is missing. */
bool identity_read(const cJSON *json, struct identity *out, struct error *err) MUST_USE;

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
