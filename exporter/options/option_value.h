/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/* An owned list of owned texts. */
struct text_list {
    char **items;
    size_t count;
};

/* What the text of an option becomes. */
enum option_type {
    OPTION_TEXT,     /* Owned. */
    OPTION_TEXTS,    /* May be given several times. */
    OPTION_NAMES,    /* The same, and several with commas. */
    OPTION_UINT,     /* A whole number. */
    OPTION_DURATION, /* Milliseconds. */
    OPTION_CHOICE,   /* The place among the choices. */
    OPTION_SET,      /* A comma-separated list of choices, one bit each. */
    OPTION_FLAG,
};

/* The C type of the field that it is kept in. */
#define OPTION_C_TEXT     char *
#define OPTION_C_TEXTS    struct text_list
#define OPTION_C_NAMES    struct text_list
#define OPTION_C_UINT     uint64_t
#define OPTION_C_DURATION int64_t
#define OPTION_C_CHOICE   unsigned
#define OPTION_C_SET      unsigned
#define OPTION_C_FLAG     bool

void text_list_add(struct text_list *list, const char *text);
void text_list_release(struct text_list *list);
/* Move the text at `at` out of the list. The caller frees it. */
char *text_list_take(struct text_list *list, size_t at) MUST_USE;

/*
 * Parse `text` into the field of a type. A list grows by it; any other field is
 * replaced. `choices` ends with NULL and counts only for choices and sets. On a
 * failure the field keeps its value.
 */
bool option_value_set(void *field, enum option_type type, const char *const *choices,
                      const char *text, struct error *err) MUST_USE;

/* Append "a, b or c". */
void option_add_choices(struct strbuf *out, const char *const *choices);

/* True for lists: a further value is added to those before it. */
bool option_type_is_list(enum option_type type);

/* Free what the field owns; it is empty and usable again. */
void option_value_release(void *field, enum option_type type);

/* True if two fields of a type hold the same value. */
bool option_value_equal(const void *a, const void *b, enum option_type type) MUST_USE;

/* "90s", "1h30m", "250ms", "0"; units ms, s, m, h, d, w, in any order. */
bool parse_duration(const char *text, int64_t *out_ms) MUST_USE;
