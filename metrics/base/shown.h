/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Configuration value in an error message: its first SHOWN_MAX characters on one line, "..." if
 * there are more, and escapes such as \x0a for control characters. Values are cut because a secret
 * may be in the wrong field, such as a PEM block instead of a path. Messages about fields for
 * secrets must not show the value at all.
 */
enum {
    SHOWN_MAX = 40,
    SHOWN_BYTES = SHOWN_MAX * 6 + 4, /* Six bytes for an escape, four for "..." and NUL. */
};

struct shown {
    char text[SHOWN_BYTES];
};

/* Returns the text for a message: fail(err, "'%s' is no number", shown(value).text). */
struct shown shown(const char *value);

/* Returns the text of the first `len` bytes of a value. */
struct shown shown_part(const char *value, size_t len);
