/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/yaml/yaml_events.h"
#include "metrics/base/json.h"
#include "metrics/base/map.h"

/*
 * YAML as JSON trees, one document at a time, read as kubectl reads it: scalars
 * by scalar.h, merge keys (`<<`, where a key written out always wins), anchors
 * and aliases expanded, keys that are numbers or booleans turned into texts.
 *
 * Stricter than kubectl in one point: a key that appears twice in a mapping is
 * an error. The last one would win silently, and we would judge another policy
 * than the one that people see in the file.
 *
 * The time is proportional to the text. Aliases may add a fixed amount and a
 * multiple of the nodes that are written out.
 */
struct yaml_reader;

/*
 * Limits of the trees that are in memory at once: a document, or an item (see below) with the
 * members of its document that were read before, and the items before with an anchor.
 */
struct yaml_limits {
    size_t nodes_max;
    size_t bytes_max; /* Of keys and texts. */
    bool by_item;     /* Hand out the items of a list one by one. */
    bool as_written;  /* See yaml_read_config. */
    struct yaml_time_limit term;
};

enum yaml_outcome {
    YAML_READ_DOCUMENT,
    YAML_READ_ITEM,
    YAML_READ_END,
    YAML_READ_MALFORMED,
};

/* The context of `read` is borrowed until the reader is freed. */
struct yaml_reader *yaml_reader_new(yaml_read_fn *read, void *context,
                                    struct yaml_limits limits) MUST_USE;
/* Takes NULL. */
void yaml_reader_free(struct yaml_reader *reader);
/* For CLEANUP on a `struct yaml_reader *`. */
void yaml_reader_cleanup(struct yaml_reader **reader);

/*
 * The next document that is not empty, owned by the caller, and where it
 * begins; or the end; or the reason why this is no YAML, and where. Do not call
 * again after the end or a failure. No tree is nested deeper than JSON_DEPTH_MAX.
 *
 * With limits.by_item each element of a sequence `items` at the top of a document comes first, as
 * YAML_READ_ITEM; the document that follows has an empty array in that place.
 */
enum yaml_outcome yaml_reader_next(struct yaml_reader *reader, cJSON **out,
                                   struct json_position *where, struct error *err) MUST_USE;

/* The line on which a mapping of such a tree begins; 0 for anything else. */
size_t yaml_line(const cJSON *mapping);

/*
 * Reads a configuration file of at most YAML_CONFIG_MAX bytes. It has one document. The caller
 * gives the tree to secret_tree_cleanup(); it is NULL if the document is empty or null.
 *
 * The user of the tree knows the type of each value. `valuestring` of a scalar is therefore the
 * text as it is written, and also that of a number, a boolean, or a null, which is a cJSON_NULL.
 * Tags are ignored. Keys are such texts, too.
 *
 * Each node has its place: a member of a mapping that of its key. Errors begin with the path and
 * the place, and repeat no text of the file.
 */
enum { YAML_CONFIG_MAX = 1024 * 1024 };
bool yaml_read_config(const char *path, const char *text, size_t len, cJSON **out,
                      struct error *err) MUST_USE;

/* Puts the path and the place of a node of such a file before the reason. Returns false. */
bool yaml_fail(const char *path, const cJSON *node, struct error *err);

/*
 * A mapping of YAML while it is read. It answers in constant time which keys it
 * has, and keeps the values of `<<` until all of its own keys, which win, are read.
 */
struct mapping {
    cJSON *object;
    cJSON *merged; /* An array: the values of `<<`, borrowed, in the order of the text. */
    struct map seen;
    size_t count;
    uint64_t seed;
};
