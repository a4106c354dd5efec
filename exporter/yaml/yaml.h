/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/*
 * YAML as JSON trees, one document at a time, read as kubectl reads it: scalars
 * by scalar.h, merge keys (`<<`, where a key written out always wins), anchors
 * and aliases expanded, keys that are numbers or booleans turned into texts.
 *
 * Stricter than kubectl in one point: a key that appears twice in a mapping is
 * an error. The last one would win silently, and we would judge another policy
 * than the one that people see in the file.
 */
struct yaml_reader;

/* Of one document with its anchors expanded, against a billion laughs. */
struct yaml_limits {
    size_t nodes_max;
    size_t bytes_max; /* Of keys and texts. */
};

enum yaml_outcome { YAML_READ_DOCUMENT, YAML_READ_END, YAML_READ_MALFORMED };

/* `text` is borrowed, and read until the reader is freed. */
struct yaml_reader *yaml_reader_new(const char *text, size_t len,
                                    struct yaml_limits limits) MUST_USE;
/* Takes NULL. */
void yaml_reader_free(struct yaml_reader *reader);

/*
 * The next document that is not empty, owned by the caller, and where it
 * begins; or the end; or the reason why this is no YAML, and where. Do not call
 * again after the end or a failure. No tree is nested deeper than JSON_DEPTH_MAX.
 */
enum yaml_outcome yaml_reader_next(struct yaml_reader *reader, cJSON **out,
                                   struct json_position *where, struct error *err) MUST_USE;

/* The line on which a mapping of such a tree begins; 0 for anything else. */
size_t yaml_line(const cJSON *mapping);
