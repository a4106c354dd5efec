/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cjson/cJSON.h>

#include "metrics/base/base.h"
#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * Reading of untrusted JSON with cJSON, and escaping in JSON output. json_writer.h writes whole
 * documents.
 */

/* Maximum nesting of JSON arrays and objects. */
enum { JSON_DEPTH_MAX = 128 };

/* Result of the syntax check of a JSON text. */
struct json_fault {
    const char *reason; /* Static text; NULL if the JSON is valid. */
    size_t offset;      /* Offset of the fault in bytes; 0 if the JSON is valid. */
};

/*
 * Checks that `len` bytes are one JSON value (RFC 8259), with optional white space around it, as
 * json_parse() does. `json[len]` must be readable and NUL. Allocates no memory.
 */
struct json_fault json_find_fault(const char *json, size_t len) MUST_USE;

/*
 * Accessors to a member of `object`. They return the fallback (NULL for pointers) if `object` is
 * NULL or no object, or if the member is missing, null or of another type, so that calls can be
 * chained. Keys are case-sensitive. Results are borrowed from the tree.
 */
const cJSON *json_get(const cJSON *object, const char *key);
const char *json_str(const cJSON *object, const char *key, const char *fallback);
int64_t json_int(const cJSON *object, const char *key, int64_t fallback);
bool json_bool(const cJSON *object, const char *key, bool fallback);
/* Returns the member if it is an array, else NULL: cJSON would also iterate over an object. */
const cJSON *json_array(const cJSON *object, const char *key);

/* Returns the item if it is an object, else NULL: only children of objects have keys. */
const cJSON *json_object_or_null(const cJSON *item);

/* Position in a text, counted from 1; columns in bytes. */
struct json_position {
    size_t line;
    size_t column;
};

/*
 * Parses exactly `len` bytes with one JSON value and optional white space around it. Rejects
 * invalid UTF-8, NUL as a byte or as \u0000, and nesting deeper than JSON_DEPTH_MAX, which cJSON
 * would accept. Accepts these harmless deviations: 007 for 7, 1. for 1, and a raw tab or newline in
 * a string. `json[len]` must be readable and NUL. Returns NULL and sets `err`, and `where` unless
 * it is NULL, if the text is not valid. The caller owns the tree.
 */
cJSON *json_parse(const char *json, size_t len, struct json_position *where,
                  struct error *err) MUST_USE;

/* Returns line and column of a byte offset. */
struct json_position json_position_of(const char *text, size_t offset);

/* Frees the JSON tree of a variable that is declared with CLEANUP(json_cleanup). */
void json_cleanup(cJSON **tree);

/*
 * Appends `s` as a JSON string with its quotes. Escapes also the characters of utf8_is_unsafe(),
 * since a terminal may show the JSON; replaces invalid UTF-8 by U+FFFD.
 */
void json_quote(struct strbuf *out, const char *s);

/*
 * Appends a complete JSON or YAML text and escapes the characters of utf8_is_unsafe(), except ASCII
 * controls, which are outside of strings in both formats. In YAML, all other such characters must
 * be in double-quoted scalars.
 */
void json_escape(struct strbuf *out, const char *json);
