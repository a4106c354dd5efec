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
struct writer {
    struct strbuf *out;
    unsigned lines;
    unsigned depth;
    bool comma; /* Something stands before it at this level. */
};

/* `bracket` is '{' or '['; every open has its close. */
void writer_open(struct writer *w, const char *key, char bracket);
void writer_close(struct writer *w, char bracket);

/* NULL is null. What is not UTF-8 becomes U+FFFD. */
void writer_text(struct writer *w, const char *key, const char *value);
void writer_int(struct writer *w, const char *key, int64_t value);
/* Finite. */
void writer_number(struct writer *w, const char *key, double value);
/* A value that is JSON already, on one line; NULL is null. */
void writer_json(struct writer *w, const char *key, const char *json);
void writer_bool(struct writer *w, const char *key, bool value);

/* The names of the bits that are set, as a list. */
void writer_names(struct writer *w, const char *key, unsigned bits, const char *const *names);
