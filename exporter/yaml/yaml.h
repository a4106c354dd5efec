/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/yaml/yaml_events.h"
#include "metrics/base/json.h"

/*
 * Reads YAML documents as JSON trees, like kubectl: scalars as in yaml_scalar.h, aliases expanded,
 * merge keys (`<<`), which never replace a key of the mapping, and keys that are numbers or
 * booleans converted to texts.
 *
 * A key that appears twice in a mapping is an error, unless the caller receives such keys: then the
 * last value counts, as in kubectl.
 *
 * The time is proportional to the length of the text, because aliases and merge keys may copy only
 * a fixed number of nodes and bytes, and a multiple of those in the text.
 */
struct yaml_reader;

/*
 * Limits of the trees in memory. Without by_item, these are one document. With by_item, these are
 * one item, the members of its document before the items, and earlier items with an anchor.
 */
struct yaml_limits {
    size_t nodes_max;
    size_t bytes_max;  /* Bytes of keys and scalars, also of those that aliases copy. */
    bool by_item;      /* Return the items of a list one by one. */
    bool as_written;   /* Read scalars as texts, see yaml_read_config(). */
    bool one_document; /* Refuse a second document. */
    struct yaml_time_limit term;
};

enum yaml_outcome {
    YAML_READ_DOCUMENT,
    YAML_READ_ITEM,
    YAML_READ_END,
    YAML_READ_MALFORMED,
};

/* Returns a reader of the text from `read`. Borrows `context`, the context of `read`. */
struct yaml_reader *yaml_reader_new(yaml_read_fn *read, void *context,
                                    struct yaml_limits limits) MUST_USE;
/* Receives a key that its mapping has already, and the position of the key. */
typedef void repeated_key_fn(void *context, const char *key, struct json_position where);

/*
 * Lets the last value of a repeated key count, and passes each such key to `receive`. The items of
 * a list that are returned one by one must not be repeated. Call it before any reading.
 */
void yaml_reader_receive_repeated_keys(struct yaml_reader *reader, repeated_key_fn *receive,
                                       void *context);

/* Accepts NULL. */
void yaml_reader_free(struct yaml_reader *reader);
/* For CLEANUP on a `struct yaml_reader *`. */
void yaml_reader_cleanup(struct yaml_reader **reader);

/*
 * Stores the next document that is neither empty nor null, owned by the caller, and its first line
 * and column. Returns YAML_READ_END after the last document. After YAML_READ_MALFORMED, `where` and
 * `err` have position and reason. The function must not be called again after YAML_READ_END or
 * YAML_READ_MALFORMED. No tree has more than JSON_DEPTH_MAX levels.
 *
 * With limits.by_item, each element of the sequence `items` of a document's root is returned first,
 * as YAML_READ_ITEM, and the document follows with an empty array as `items`. A sequence with an
 * anchor stays in the document.
 */
enum yaml_outcome yaml_reader_next(struct yaml_reader *reader, cJSON **out,
                                   struct json_position *where, struct error *err) MUST_USE;

/* Returns the text around the place of an error, borrowed until the next call with the reader. */
struct yaml_excerpt yaml_reader_excerpt(const struct yaml_reader *reader);

/* Returns line and column at which a mapping of yaml_reader_next() starts; zeros for other nodes.
 */
struct json_position yaml_position(const cJSON *mapping);

enum { YAML_CONFIG_MAX = 1024 * 1024 };

/*
 * Parses a configuration file of one document; `len` is at most YAML_CONFIG_MAX. Stores the tree,
 * which the caller gives to secret_json_cleanup(), or NULL if the document is empty or null.
 * Returns false with an error that begins with path, line and column and repeats no text of the
 * file.
 *
 * The code that uses the tree defines the types. So `valuestring` of each scalar is the text
 * without quotes, also of a number or a boolean; a null is a cJSON_NULL with its text. Keys are
 * such texts, too, and tags are ignored.
 *
 * Each node has a position for yaml_fail(): the position of its key, or without a key of its start.
 */
bool yaml_read_config(const char *path, const char *text, size_t len, cJSON **out,
                      struct error *err) MUST_USE;

/* Returns the position of a node of a tree that was read `as_written`. */
struct json_position yaml_written_position(const cJSON *node);

/* Prepends path, line and column of a node that was read `as_written` to the error. Returns false.
 */
bool yaml_fail(const char *path, const cJSON *node, struct error *err);
