/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* Length of the valid UTF-8 character at `s` (1 to 4), or 0. Stops at NUL: needs no length. */
unsigned utf8_char_len(const char *s);

/*
 * Where to cut a text of more than `len` bytes: the largest length up to `len` that does not end
 * inside a character; `len` itself in what is no UTF-8.
 */
size_t utf8_boundary(const char *text, size_t len);
