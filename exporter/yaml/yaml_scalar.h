/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * Types and values of YAML scalars, as kubectl reads them (sigs.k8s.io/yaml over go-yaml v2): words
 * by YAML 1.1, so that yes, no, on, off, y and n are booleans, octal numbers by YAML 1.1 and 1.2
 * (0644 and 0o644). Base-60 numbers such as 1:30, and dates, are texts.
 */
enum scalar_type { SCALAR_TEXT, SCALAR_NULL, SCALAR_BOOL, SCALAR_INT, SCALAR_FLOAT };

struct scalar {
    enum scalar_type type;
    bool boolean;      /* Value of SCALAR_BOOL. */
    bool fits_integer; /* `integer` is the value of SCALAR_INT. False for INT64_MIN. */
    int64_t integer;
    double number; /* Value of SCALAR_INT and SCALAR_FLOAT. */
};

/*
 * Stores type and value of a scalar. `tag` is a resolved tag such as "tag:yaml.org,2002:int", or
 * NULL; `plain` is false for a quoted text. Returns false with an error if the text does not match
 * a tag !!int, !!float, !!bool or !!null, and for !!binary. Any other tag makes the scalar a text.
 */
bool scalar_resolve(const char *text, const char *tag, bool plain, struct scalar *out,
                    struct error *err) MUST_USE;

/* Returns true if the text without quotes and tag is null. */
bool scalar_is_null(const char *text);

/*
 * Appends the scalar as a key, with numbers and booleans in the format of sigs.k8s.io/yaml. `text`
 * is the source text. Returns false with an error for null and integers with `fits_integer` false.
 */
bool scalar_append_key(const struct scalar *scalar, const char *text, struct strbuf *out,
                       struct error *err) MUST_USE;
