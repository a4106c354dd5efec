/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cjson/cJSON.h>

#include "metrics/base/base.h"
#include "metrics/base/error.h"
#include "metrics/base/json_syntax.h"
#include "metrics/base/strbuf.h"

/*
 * Parsing of untrusted JSON with cJSON, access to its members, and escaping in JSON output. To
 * write documents, see json_writer.h.
 */

/*
 * Accessors to a member of `object`. They return the fallback, or NULL without that parameter, if
 * `object` is NULL or no object, or if the member is missing, null or of another type. Calls can be
 * nested. Keys are case-sensitive; of equal keys, the first counts. Results are borrowed.
 */
const cJSON *json_get(const cJSON *object, const char *key);
const char *json_str(const cJSON *object, const char *key, const char *fallback);
/* Returns the fallback also if the number has a fraction or is above 2^53 or below -2^53. */
int64_t json_int(const cJSON *object, const char *key, int64_t fallback);
bool json_bool(const cJSON *object, const char *key, bool fallback);
/* Returns NULL also for an object, because cJSON_ArrayForEach() would iterate over its members. */
const cJSON *json_array(const cJSON *object, const char *key);
/* Returns true if an element of the array is this text. `array` may be NULL. */
bool json_array_has_text(const cJSON *array, const char *text);

/* Returns `item` if it is an object, else NULL. For loops that use the keys of members. */
const cJSON *json_object_or_null(const cJSON *item);

/*
 * Position in a text. Lines and columns are counted from 1; a column is one Unicode code point, as
 * in libyaml.
 */
struct json_position {
    size_t line;
    size_t column;
};

/*
 * Parses exactly `len` bytes with one JSON value and optional white space around it. The caller
 * owns the tree. If the text is not valid, returns NULL, sets `err` and stores the position of the
 * fault in `where`, unless that is NULL. `json[len]` must be readable and NUL.
 *
 * Rejects text that cJSON accepts: invalid UTF-8, a byte order mark, NUL as a byte or as \u0000,
 * other characters below U+0020 except white space, and nesting deeper than JSON_DEPTH_MAX (in
 * ASCII text, an empty array or object may be one level deeper). Accepts harmless deviations from
 * RFC 8259, such as 007 for 7, 1. for 1, and a tab or line break in a string without an escape.
 */
cJSON *json_parse(const char *json, size_t len, struct json_position *where,
                  struct error *err) MUST_USE;

/* Returns line and column of a byte offset. */
struct json_position json_position_of(const char *text, size_t offset);

/* Frees the JSON tree of a variable that is declared with CLEANUP(json_cleanup). */
void json_cleanup(cJSON **tree);

/*
 * Appends `s` as a JSON string with its quotes. Escapes also the characters of utf8_is_unsafe(),
 * because a terminal may show the JSON. Replaces invalid UTF-8 by U+FFFD.
 */
void json_quote(struct strbuf *out, const char *s);

/*
 * Appends a complete JSON or YAML text. Escapes the characters of utf8_is_unsafe() except those
 * below U+0020, which are line breaks and indentation of the text. Replaces invalid UTF-8 by
 * U+FFFD. In YAML, the escaped characters must be in double-quoted scalars, which allow escapes.
 */
void json_escape(struct strbuf *out, const char *json);
