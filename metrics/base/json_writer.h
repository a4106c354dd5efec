/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/*
 * JSON writer: appends to a buffer in the order of the calls and adds the commas. `key` is NULL for
 * elements of arrays and for the outermost value.
 */
struct json_writer {
    struct strbuf *out;
    unsigned lines; /* Values in 1 to `lines` brackets begin a new line; 0: one line for all. */
    unsigned depth;
    bool comma; /* The next value at this level needs a comma. */
};

/* Open and close an object ('{', '}') or array ('[', ']'). */
void json_writer_open(struct json_writer *w, const char *key, char bracket);
void json_writer_close(struct json_writer *w, char bracket);

/* Writes a string; NULL as null. Replaces invalid UTF-8 by U+FFFD. */
void json_writer_text(struct json_writer *w, const char *key, const char *value);
void json_writer_int(struct json_writer *w, const char *key, int64_t value);
/* Writes a number, which must be finite. */
void json_writer_number(struct json_writer *w, const char *key, double value);
/* Writes a value that is JSON text on one line, with json_escape(); NULL as null. */
void json_writer_raw_json(struct json_writer *w, const char *key, const char *json);
void json_writer_bool(struct json_writer *w, const char *key, bool value);

/* Writes an array with names[i] for each bit i that is set in `bits`. */
void json_writer_bit_names(struct json_writer *w, const char *key, unsigned bits,
                           const char *const *names);
