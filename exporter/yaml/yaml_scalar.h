/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * What an unquoted word of YAML means: kubectl's answer (sigs.k8s.io/yaml over
 * go-yaml v2), which is YAML 1.1 for words (yes, no, on, off, y and n are
 * booleans) and for octals (0644), YAML 1.2 besides (0o644), and neither for
 * 1:30 and for dates, which stay texts.
 */
enum scalar_type { SCALAR_TEXT, SCALAR_NULL, SCALAR_BOOL, SCALAR_INT, SCALAR_FLOAT };

struct scalar {
    enum scalar_type type;
    bool truth;
    bool fits; /* The whole number is in `whole`, exactly. */
    int64_t whole;
    double number;
};

/*
 * `tag` is the resolved one ("tag:yaml.org,2002:int") or NULL; `plain` says that
 * the text was not quoted. Fails where a tag asks for what the text is not, and
 * for !!binary, whose bytes JSON could not carry.
 */
bool scalar_resolve(const char *text, const char *tag, bool plain, struct scalar *out,
                    struct error *err) MUST_USE;

/* Returns true if the unquoted word means null. */
bool scalar_is_null(const char *text);

/*
 * Append the scalar as a key: numbers and booleans are written as
 * sigs.k8s.io/yaml writes them. Fails for null, which cannot be a key.
 */
bool scalar_key(const struct scalar *scalar, const char *text, struct strbuf *out,
                struct error *err) MUST_USE;
