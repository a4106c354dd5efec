/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cjson/cJSON.h>

#include "metrics/base/json_syntax.h"

/*
 * Parser for objects of which only some members are read. It checks the syntax of the whole text,
 * but makes a tree of the members that a filter keeps. Filters are constant tables with one row for
 * each member that is known.
 *
 * Filtered trees are for readers that use the first of equal keys, as the accessors in json.h do.
 * Keys with an escape sequence match no row.
 */

/* Handling of a value. */
enum json_filter_action {
    JSON_FILTER_KEEP,
    JSON_FILTER_DROP,
    JSON_FILTER_OBJECT,   /* Applies `inside` to an object; keeps other values. */
    JSON_FILTER_ELEMENTS, /* Applies `inside` to the objects in an array; keeps other values. */
};

/* Condition under which a row applies; if it does not apply, the value is kept. */
enum json_filter_condition {
    JSON_FILTER_ALWAYS,
    JSON_FILTER_MARK, /* Always; marks the text if the value is an integer above 0. */
    JSON_FILTER_IF_MARKED,
};

struct json_filter {
    const struct json_filter_row *rows;
    unsigned row_count; /* At most 64. */
    /* KEEP, DROP, or OBJECT for the members without a row: objects become empty objects. */
    enum json_filter_action others;
};

struct json_filter_row {
    const char *key; /* Without characters that JSON escapes. */
    enum json_filter_action action;
    const struct json_filter *inside; /* For OBJECT and ELEMENTS; NULL keeps no members. */
    enum json_filter_condition condition;
};

/* Initializers of filters and rows. */
#define JSON_FILTER_OF(table, action_of_others)                                                    \
    {                                                                                              \
        .rows = (table), .row_count = ARRAY_LEN(table), .others = (action_of_others)               \
    }
#define JSON_ROW_KEEP(name)                                                                        \
    {                                                                                              \
        .key = (name)                                                                              \
    }
#define JSON_ROW_DROP(name)                                                                        \
    {                                                                                              \
        .key = (name), .action = JSON_FILTER_DROP                                                  \
    }
/* Of an object, only the existence is read. */
#define JSON_ROW_PRESENT(name) JSON_ROW_OBJECT(name, NULL)
#define JSON_ROW_OBJECT(name, filter)                                                              \
    {                                                                                              \
        .key = (name), .action = JSON_FILTER_OBJECT, .inside = (filter)                            \
    }
#define JSON_ROW_ELEMENTS(name, filter)                                                            \
    {                                                                                              \
        .key = (name), .action = JSON_FILTER_ELEMENTS, .inside = (filter)                          \
    }

/* Memory of trees. Zero bytes are an empty memory. */
struct json_memory {
    struct json_block *blocks;
};

/* Frees the memory with all its trees. The memory is then empty. */
void json_memory_release(struct json_memory *m);

/*
 * Parses an object of `len` bytes without the members that `filter` drops; NULL keeps all members.
 * Returns a tree in `memory`, or NULL if json_find_fault() would find a fault in the text, if it is
 * no object, or if the tree would have more than `max_values` values. Numbers above a limit of
 * cJSON are no fault in members that are dropped. `json[len]` must be readable and NUL.
 *
 * The nodes have the flag cJSON_IsReference, and cJSON must not free or change them.
 */
cJSON *json_filter_parse(const struct json_filter *filter, const char *json, size_t len,
                         size_t max_values, struct json_memory *memory) MUST_USE;

/*
 * Like json_filter_parse(), for a text that begins with an object. Sets `used` to the length of the
 * object; does not check the text after it.
 */
cJSON *json_filter_parse_first(const struct json_filter *filter, const char *json, size_t len,
                               size_t max_values, struct json_memory *memory,
                               size_t *used) MUST_USE;

/*
 * Set the text of a string, or of the first member `key` of an object, in a tree of cJSON or of
 * json_filter_parse(). `key` and `text` must stay valid as long as the tree. `m` is the memory of
 * the tree; a tree of cJSON does not use it.
 */
void json_set_text(cJSON *item, const char *text);
void json_set_member_text(struct json_memory *m, cJSON *object, const char *key, const char *text);
