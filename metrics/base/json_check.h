/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

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
 * True if the bytes are all printable ASCII and white space, without \u escapes, as most objects
 * of a cluster are: then cJSON's own checks are enough.
 */
bool json_is_plain(const char *json, size_t len);
