/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cjson/cJSON.h>

#include "metrics/base/base.h"
#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/* How deep arrays and objects may be nested in each other. */
enum { JSON_DEPTH_MAX = 128 };

/* What is wrong with a text that should be JSON: a constant text, and the byte where it shows. */
struct json_fault {
    const char *reason; /* NULL if nothing is wrong. */
    size_t offset;
};

/*
 * Check `len` bytes against the JSON grammar (RFC 8259): one value, white space
 * around it. Refuses, beyond the grammar, \u0000 and nesting deeper than
 * JSON_DEPTH_MAX; accepts what json_parse does: 007, "1." and a raw tab or
 * newline in a string. `json[len]` must be readable and NUL. Needs no memory.
 */
struct json_fault json_check(const char *json, size_t len) MUST_USE;

/*
 * Reading JSON that we do not control, and writing JSON that others parse.
 *
 * Every accessor takes NULL, or an item of any type, and answers the fallback
 * when the member is missing, null, or of another type: look-ups chain without
 * checks. Keys are compared with case. Answers are borrowed from the tree and
 * end with it.
 */
const cJSON *json_get(const cJSON *object, const char *key);
const char *json_str(const cJSON *object, const char *key, const char *fallback);
int64_t json_int(const cJSON *object, const char *key, int64_t fallback);
bool json_bool(const cJSON *object, const char *key, bool fallback);
/* The member if it is an array, else NULL: cJSON would step through an object as through a list. */
const cJSON *json_array(const cJSON *object, const char *key);

/* The item if it is an object, else NULL: elements of anything else have no name to ask for. */
const cJSON *json_members(const cJSON *item);

/* Where a text stops being JSON, counted from 1; columns in bytes. */
struct json_position {
    size_t line;
    size_t column;
};

/*
 * Parse exactly `len` bytes holding one JSON value; white space around it is
 * fine, anything else after it is an error. Refuses what cJSON would accept and
 * a cluster never sends: invalid UTF-8, a NUL byte raw or as \u0000, nesting
 * deeper than JSON_DEPTH_MAX. Accepts what does no harm: 007 for 7, 1. for 1, and
 * a raw tab or newline in a string. `json[len]` must be readable and NUL. Returns
 * NULL with the reason, and the place if `where` is not NULL.
 */
cJSON *json_parse(const char *json, size_t len, struct json_position *where,
                  struct error *err) MUST_USE;

/* Line and column of a byte offset. */
struct json_position json_position_of(const char *text, size_t offset);

/* For CLEANUP on a `cJSON *`. */
void json_cleanup(cJSON **tree);

/*
 * Appends `s` as a JSON string with its quotes. Escapes also what utf8_is_unsafe() names, since a
 * terminal may show the JSON; invalid UTF-8 becomes U+FFFD.
 */
void json_quote(struct strbuf *out, const char *s);

/*
 * Appends a JSON or YAML text of another writer with the same escapes: JSON has these characters in
 * strings only, and in the YAML they must be in double-quoted scalars only. Keeps ASCII controls,
 * which neither format has in strings.
 */
void json_escape(struct strbuf *out, const char *json);
