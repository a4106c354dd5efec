/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/yaml/yaml_events.h"

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
    struct yaml_term term;
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
