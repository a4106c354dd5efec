/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/compressed_queue.h"
#include "exporter/files/json_file.h"
#include "exporter/files/limits.h"
#include "exporter/yaml/yaml.h"

/*
 * A YAML file on its way to objects: its text, compressed; then the objects of all its documents,
 * items of lists one by one, as compressed JSON, because a tree takes ten times the room; then one
 * tree at a time. Text and JSON are freed as they are read.
 */
struct yaml_file {
    struct manifest_limits limits;
    struct compressed_queue text;
    struct yaml_reader *reader;
    struct compressed_queue json; /* A struct yaml_object before the JSON of each object. */
    size_t count;                 /* Objects in `json` at the end of the text. */
    size_t handed_out;            /* Objects that have been taken from `json`. */
    size_t order;                 /* Objects that have been handed out, lists in lists expanded. */
    struct yaml_list *lists;      /* Lists with items that inherit a kind. */
    size_t list_count;
    bool inherits;      /* The current document has items that inherit its kind. */
    size_t failed_line; /* Line of the object that exceeds a limit; else 0. */
    bool full;          /* The limit is that of the file, not that of the object. */
};

void yaml_file_init(struct yaml_file *y, const struct manifest_limits *limits);
void yaml_file_release(struct yaml_file *y);

/* Appends the next bytes. Returns false beyond the limit. */
bool yaml_file_add(struct yaml_file *y, const char *bytes, size_t len) MUST_USE;

/* After all bytes: parses one document, or one item of a list. */
enum yaml_outcome yaml_file_parse(struct yaml_file *y, struct json_position *where,
                                  struct error *err) MUST_USE;

/* After all documents: hands out one object, or those of one list. Returns false at the end. */
bool yaml_file_hand_out(struct yaml_file *y, json_object_fn *each, void *context) MUST_USE;
