/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/*
 * JSON, written straight into a buffer in the order of the calls, so that equal
 * input is equal bytes. Commas are the writer's business. Down to `lines` levels
 * everything begins a line of its own; 0 writes one line for all.
 *
 * `key` is NULL for elements of a list and for the outermost value.
 */
struct json_writer {
    struct strbuf *out;
    unsigned lines;
    unsigned depth;
    bool comma; /* Something stands before it at this level. */
};

/* `bracket` is '{' or '['; every open has its close. */
void json_writer_open(struct json_writer *w, const char *key, char bracket);
void json_writer_close(struct json_writer *w, char bracket);

/* NULL is null. What is not UTF-8 becomes U+FFFD. */
void json_writer_text(struct json_writer *w, const char *key, const char *value);
void json_writer_int(struct json_writer *w, const char *key, int64_t value);
/* Finite. */
void json_writer_number(struct json_writer *w, const char *key, double value);
/* A value that is JSON already, on one line; NULL is null. */
void json_writer_json(struct json_writer *w, const char *key, const char *json);
void json_writer_bool(struct json_writer *w, const char *key, bool value);

/* The names of the bits that are set, as a list. */
void json_writer_names(struct json_writer *w, const char *key, unsigned bits,
                       const char *const *names);
