/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/yaml/field_tree.h"
#include "exporter/yaml/yaml.h"

/*
 * Receives the fields of the wanted object with this index. The tree is valid during the call.
 */
typedef void yaml_fields_fn(void *context, size_t index, const struct field_node *object);

/* Objects to find. */
struct wanted_objects {
    const struct json_position *positions; /* Sorted. */
    size_t count;
    yaml_fields_fn *each;
    void *context;
};

/*
 * Reads the YAML text from `read` up to the last wanted object, and calls wanted->each for every
 * object that begins at one of the positions. An object is the root of a document, an item of a
 * list, or an alias in its place (yaml_reader_next()). Stops without an error at text that
 * yaml_reader_next() rejects, and at objects above the limits. At most one object, and the nodes
 * with an anchor of its document, are in memory.
 */
void yaml_fields_read(yaml_read_fn *read, void *context, struct yaml_limits limits,
                      const struct wanted_objects *wanted);
