/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/fail_on.h"
#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"
#include "metrics/rules/problems/problem_table.h"

/* A list that owns its texts. */
struct text_list {
    char **items;
    size_t count;
};

/* Types of the values of options. */
enum option_type {
    OPTION_TEXT,       /* Owned text. */
    OPTION_TEXTS,      /* List: one text for each time that the flag is given. */
    OPTION_NAMES,      /* List: like OPTION_TEXTS, but commas separate several names. */
    OPTION_UINT,       /* Integer from 0. */
    OPTION_DURATION,   /* Milliseconds. */
    OPTION_CHOICE,     /* Index of one choice. */
    OPTION_SET,        /* Comma-separated choices: bits by index. */
    OPTION_FLAG,       /* "true" or "false". */
    OPTION_FAIL_ON,    /* Value of fail_on_parse(). */
    OPTION_SEVERITIES, /* List of "PROBLEM=SEVERITY": like OPTION_NAMES, each problem once. */
    OPTION_PATIENCES,  /* List of "PROBLEM=DURATION": like OPTION_SEVERITIES. */
};

/* C types of the fields, by option type. */
#define OPTION_C_TEXT       char *
#define OPTION_C_TEXTS      struct text_list
#define OPTION_C_NAMES      struct text_list
#define OPTION_C_UINT       uint64_t
#define OPTION_C_DURATION   int64_t
#define OPTION_C_CHOICE     unsigned
#define OPTION_C_SET        unsigned
#define OPTION_C_FLAG       bool
#define OPTION_C_FAIL_ON    struct fail_on
#define OPTION_C_SEVERITIES struct text_list
#define OPTION_C_PATIENCES  struct text_list

/* Appends a copy of the text. */
void text_list_add(struct text_list *list, const char *text);
void text_list_release(struct text_list *list);
/* Removes the text with the index `at` from the list and returns it; the caller frees it. */
char *text_list_take(struct text_list *list, size_t at) MUST_USE;

/*
 * Parses `text` as a value of the type. Appends to a list; replaces any other value. `choices` are
 * the words of OPTION_CHOICE and OPTION_SET, with NULL at the end. Returns false and sets `err` if
 * the text is invalid: a list with commas may then have got the items before the invalid one;
 * fields of the other types keep their value.
 */
bool option_value_set(void *field, enum option_type type, const char *const *choices,
                      const char *text, struct error *err) MUST_USE;

/* Appends the choices as "a, b or c". */
void option_add_choices(struct strbuf *out, const char *const *choices);

/* Returns true if the field of the type is a struct text_list. */
bool option_type_is_list(enum option_type type);

/* Frees memory that the field owns: an OPTION_TEXT is then NULL, a list empty. */
void option_value_release(void *field, enum option_type type);

/* Returns true if two fields of this type have the same value. */
bool option_value_equal(const void *a, const void *b, enum option_type type) MUST_USE;

/*
 * Parses a duration such as "90s", "1h30m" or "0" into milliseconds. Units are ms, s, m, h, d and
 * w, in any order. Returns false if the text is malformed, a number has more than 15 digits, or the
 * sum exceeds INT64_MAX.
 */
bool parse_duration(const char *text, int64_t *out_ms) MUST_USE;

/* Longest patience and resolve delay of problems: ten years. */
#define PROBLEM_DURATION_MAX_MS (INT64_C(3650) * 24 * 3600 * 1000)

/* Writes the items of an OPTION_SEVERITIES or OPTION_PATIENCES, which are valid, to `settings`. */
void option_apply_problem_items(const struct text_list *items, enum option_type type,
                                struct problem_settings *settings);
