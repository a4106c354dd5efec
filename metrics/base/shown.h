/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Configuration value in an error message: its first SHOWN_MAX characters on one line, and "..." if
 * there are more. Characters of utf8_is_unsafe() and invalid UTF-8 are escaped, such as \x0a.
 * Values are cut because a secret may be in the wrong field, such as a PEM block instead of a path.
 * Messages about fields for secrets must not show the value at all.
 */
enum {
    SHOWN_MAX = 40,
    SHOWN_BYTES = SHOWN_MAX * 6 + 4, /* Six bytes for an escape, four for "..." and NUL. */
};

struct shown {
    char text[SHOWN_BYTES];
};

/* Returns the text as a message shows it: fail(err, "'%s' is no number", shown(value).text). */
struct shown shown(const char *value);

/* Like shown(), for the first `len` bytes of a text. */
struct shown shown_part(const char *value, size_t len);
