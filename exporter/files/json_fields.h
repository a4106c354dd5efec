/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/yaml/field_tree.h"
#include "exporter/yaml/yaml_events.h"

/* Place of an object in its file. */
struct json_place {
    size_t line;
    size_t column;
    size_t offset; /* Orders the objects: start in bytes in a JSON file, a count in a YAML file. */
};

/*
 * Returns the fields of the JSON value that begins at `start`, which is the place of the first byte
 * from `read`; owned by the caller. Stops reading behind the value. Returns NULL if it is not
 * complete, is invalid, has more than `bytes_max` bytes, or is nested deeper than JSON_DEPTH_MAX.
 */
struct field_node *json_fields_read(yaml_read_fn *read, void *context, struct json_place start,
                                    size_t bytes_max) MUST_USE;
