/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"
#include "metrics/model/decode.h"

/* Metadata of an object: identity, UID, resourceVersion, labels and label selectors. */

/* Maximum length of an object name in bytes (Kubernetes: DNS subdomain). */
enum { OBJECT_NAME_MAX = 253 };

/* Identity of an object. The namespace of cluster-scoped objects is "". Borrowed texts. */
struct identity {
    const char *api_version;
    const char *kind;
    const char *ns;
    const char *name;
};

/* Type and namespace of objects. Interned texts; "" if unset. */
struct object_scope {
    const char *api_version;
    const char *kind;
    const char *ns;
};

/*
 * Sets `out` to the identity of an object, borrowed from `json`. Returns false with the reason in
 * `err` if the apiVersion, kind or name is missing, empty or no string.
 */
bool identity_read(const cJSON *json, struct identity *out, struct error *err) MUST_USE;

/*
 * Returns the 32-bit FNV-1a hash of metadata.uid; the hash of "" stands for an unknown UID.
 * Karmada >= 1.16 breaks ties in the division of replicas by the lowest bit of this hash.
 */
uint32_t uid_hash(const char *uid);

/* Returns true if the UIDs of both uid_hash() values are known and differ. */
bool uid_hashes_differ(uint32_t a, uint32_t b);

/*
 * Returns metadata.resourceVersion in 32 bits: the low bits of a number, or a hash if the text is
 * not a 64-bit number; 0 if absent.
 */
uint32_t short_version_of_object(const cJSON *json);
/* Like short_version_of_object(), for the text of a resourceVersion. */
uint32_t short_version_of_text(const char *version);

/* Returns true if `a` is newer than `b`. Both are numbers that differ by less than 2^31. */
static inline bool short_version_is_newer(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

/* Return true if a text is a valid label key, label value ("" is one), or name of an object. */
bool label_key_is_valid(const char *key);
bool label_value_is_valid(const char *value);
bool object_name_is_valid(const char *name);

/*
 * Label of an object that Karmada's webhook protects against deletion, with the value "Always"
 * (Karmada: pkg/webhook/resourcedeletionprotection).
 */
#define DELETION_PROTECTION_LABEL "resourcetemplate.karmada.io/deletion-protected"

/* Returns true if the metadata of an object have DELETION_PROTECTION_LABEL with this value. */
bool deletion_is_protected(const cJSON *metadata);

/* One label. Interned texts; `value` may be "". */
struct label {
    const char *key;
    const char *value;
};

/*
 * A list of labels; all zero is an empty list. Read it with labels_at() or labels_get(). The labels
 * are `items` or, if that is NULL, pairs of `keys` and `values`: handles of texts in `memory`.
 */
struct labels {
    const struct label *items;
    const pool_handle *keys;
    const pool_handle *values;
    const struct pool *memory;
    size_t count;
};

/* Returns a label; `index` is below labels->count. */
static inline struct label labels_at(const struct labels *labels, size_t index)
{
    if (labels->items)
        return labels->items[index];
    return (struct label){intern_at(labels->memory, labels->keys[index]),
                          intern_at(labels->memory, labels->values[index])};
}

/*
 * Sets `out` to the map of strings `parent.key`; its items are an interned block. Release `out`
 * also after an error.
 */
void labels_decode(struct decode *d, const cJSON *parent, const char *path, const char *key,
                   struct labels *out);
void labels_release(struct intern *strings, struct labels *labels);

/* Returns the labels with these items: an interned block, or NULL for an empty list. */
static inline struct labels labels_of_block(const struct label *items)
{
    return (struct labels){.items = items, .count = items ? intern_len(items) / sizeof(*items) : 0};
}

/*
 * Packed labels have four bytes for each label, and share the list of their keys: `values` of the
 * owner, and the handle of an interned block of key handles; 0 without labels. API servers reject
 * long labels: of keys and values, only the first LABEL_TEXT_MAX bytes are kept. More than
 * PACKED_LABELS_MAX labels are an error, because the block of their keys has no handle.
 */
enum { LABEL_TEXT_MAX = 1024, PACKED_LABELS_MAX = 512 };

/* Returns the number of values for which packed_labels_decode() needs room. */
size_t packed_labels_count(const cJSON *parent, const char *key);
/*
 * Stores the handles of the values of the map of strings `parent.key` in `values`, and returns the
 * handle of the keys. Release the labels also after an error.
 */
pool_handle packed_labels_decode(struct decode *d, const cJSON *parent, const char *path,
                                 const char *key, pool_handle *values);
void packed_labels_release(struct intern *strings, pool_handle keys, const pool_handle *values);

/* Returns packed labels as a list that is valid as long as they are. */
static inline struct labels labels_of_packed(const struct pool *memory, pool_handle keys,
                                             const pool_handle *values)
{
    const pool_handle *block = intern_at(memory, keys);

    return (struct labels){.keys = block,
                           .values = values,
                           .memory = memory,
                           .count = block ? intern_len(block) / sizeof(*block) : 0};
}

/* Returns the value of the label `shared_key`, an interned string; NULL if it is absent. */
const char *labels_get(const struct labels *labels, const char *shared_key);

enum label_operator {
    LABEL_IN,
    LABEL_NOT_IN,
    LABEL_EXISTS,
    LABEL_DOES_NOT_EXIST,
};

/* One requirement of a label selector. Interned texts. */
struct label_requirement {
    const char *key;
    enum label_operator op;
    const char **values;
    size_t value_count;
};

/*
 * A Kubernetes LabelSelector: all requirements must hold; matchLabels are `In` requirements. An
 * invalid selector (unknown operator, missing or extra values, illegal key or value) matches
 * nothing, as in apimachinery's LabelSelectorAsSelector.
 */
struct label_selector {
    struct label_requirement *items;
    size_t count;
    const char *invalid; /* Reason why the selector is invalid; NULL if it is valid. */
};

/*
 * Returns the selector `parent.key`; NULL if absent. A requirement with an unknown operator is left
 * out and makes the selector invalid. Free the selector with label_selector_free().
 */
struct label_selector *label_selector_decode(struct decode *d, const cJSON *parent,
                                             const char *path, const char *key);
/*
 * Parses a selector in the syntax of kubectl -l: "a=b,c!=d,e in (f,g),h notin (i),j,!k". Returns
 * NULL with the reason in `err` if the text is invalid. Free it with label_selector_free().
 */
struct label_selector *label_selector_parse(struct intern *strings, const char *text,
                                            struct error *err) MUST_USE;
/* Frees a selector, which may be NULL. */
void label_selector_free(struct intern *strings, struct label_selector *selector);
/*
 * Returns true if two selectors of one string pool have equal requirements in equal order and the
 * same `invalid`, or both are NULL.
 */
bool label_selector_equal(const struct label_selector *a, const struct label_selector *b);
