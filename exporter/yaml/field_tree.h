/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/*
 * Positions of the fields of one object in a file: a tree of keys and list items without values.
 * Aliases and merge keys of YAML refer to other trees, and are not expanded.
 */

enum field_kind {
    FIELD_SCALAR,
    FIELD_MAPPING,
    FIELD_SEQUENCE,
    FIELD_ALIAS, /* See `target`. */
};

struct field_node {
    struct field_node *first; /* Members or items, in order. Owned. */
    struct field_node *last;
    struct field_node *next;
    const struct field_node *target; /* Node that an alias refers to; NULL if unknown. Borrowed. */
    struct json_position where;      /* Place of the key; without a key, of the value. */
    size_t offset;                   /* Offset of the value in bytes; only in JSON. */
    enum field_kind kind : 8;
    bool merges; /* The key `<<` of YAML. */
    char key[];  /* "" for an item and for the root. */
};

/* Returns a node without members. Copies `len` bytes of `key`. */
struct field_node *field_node_new(enum field_kind kind, const char *key, size_t len,
                                  struct json_position where) MUST_USE;
/* Frees the node and its members. Accepts NULL. */
void field_node_free(struct field_node *node);
/* For CLEANUP on a `struct field_node *`. */
void field_node_cleanup(struct field_node **node);

/* Appends a member or an item. The parent owns it. */
void field_node_add(struct field_node *parent, struct field_node *child);

/* Returns the last member with this key; NULL without one. Ignores merge keys. */
const struct field_node *field_node_member(const struct field_node *mapping, const char *key);

/*
 * Returns the position of the field with a path such as "spec.resourceSelectors[0].name", or of the
 * nearest field above that exists: at least that of the root. Keys with dots need no quotes. Of
 * equal keys the last counts; members of a mapping precede those that `<<` adds.
 */
struct json_position field_node_find(const struct field_node *root, const char *path);
