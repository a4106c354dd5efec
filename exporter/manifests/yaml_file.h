/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/manifests/json_file.h"
#include "exporter/manifests/limits.h"
#include "exporter/yaml/yaml.h"

/*
 * A YAML file on its way to objects: its text; then the objects of all its
 * documents, items of lists one by one, kept as JSON text, because a tree takes
 * ten times the room; then one tree at a time.
 */
struct yaml_object {
    size_t line;
    size_t begin; /* Its JSON in `objects`. */
    size_t len;
};

struct yaml_file {
    struct manifest_limits limits;
    struct strbuf text;
    struct yaml_text source; /* What is left of `text`. */
    struct yaml_reader *reader;
    struct strbuf json;
    struct yaml_object *objects;
    size_t count;
    size_t capacity;
    size_t handed_out;
    size_t too_large; /* The line of an object over its limit, or 0. */
};

void yaml_file_init(struct yaml_file *y, const struct manifest_limits *limits);
void yaml_file_release(struct yaml_file *y);

/* The next bytes. False once there are more than the limit. */
bool yaml_file_add(struct yaml_file *y, const char *bytes, size_t len) MUST_USE;

/* After all bytes: parse one document. */
enum yaml_outcome yaml_file_parse(struct yaml_file *y, struct json_position *where,
                                  struct error *err) MUST_USE;

/* After all documents: hand out one object. False if there was none left. */
bool yaml_file_hand_out(struct yaml_file *y, json_object_fn *each, void *context) MUST_USE;
