/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/* What the text of an option becomes, and the C type of the field it is kept in. */
enum option_type {
    OPTION_TEXT,     /* char *, owned */
    OPTION_TEXTS,    /* struct text_list: may be given several times */
    OPTION_NAMES,    /* The same, and several with commas. */
    OPTION_UINT,     /* uint64_t */
    OPTION_DURATION, /* int64_t, in milliseconds */
    OPTION_CHOICE,   /* unsigned: the place among the choices */
    OPTION_SET,      /* unsigned: a comma-separated list of choices, one bit each */
    OPTION_FLAG,     /* bool */
};

/* An owned list of owned texts. */
struct text_list {
    char **items;
    size_t count;
};

void text_list_add(struct text_list *list, const char *text);
void text_list_release(struct text_list *list);
/* Take the text at `at` out of the list, which has it. The caller frees it. */
char *text_list_take(struct text_list *list, size_t at) MUST_USE;

/*
 * Read `text` into the field of a type. A list grows by it; any other field is
 * replaced. `choices` ends with NULL and is only looked at for choices and sets.
 * A failure leaves the field as it was.
 */
bool option_value_set(void *field, enum option_type type, const char *const *choices,
                      const char *text, struct error *err) MUST_USE;

/* True for the types whose values a further one is added to. */
bool option_type_grows(enum option_type type);

/* Free what the field owns; it is empty and usable again. */
void option_value_release(void *field, enum option_type type);

/* True if two fields of a type hold the same value. */
bool option_value_same(const void *a, const void *b, enum option_type type) MUST_USE;

/* "90s", "1h30m", "250ms", "0"; units ms, s, m, h, d, w, from large to small or in any order. */
bool parse_duration(const char *text, int64_t *out_ms) MUST_USE;
