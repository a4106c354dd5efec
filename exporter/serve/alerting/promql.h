/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <regex.h>

#include "exporter/serve/alerting/series_store.h"

/*
 * The part of PromQL that the bundled rules are written in, read and evaluated as Prometheus does.
 * What is not in it (subqueries, `without`, `ignoring`, `bool`, most functions, an instant selector
 * with all labels of its target matched without `on`) is an error when it is read, never another
 * answer: tests hold every rule to what promtool says of it.
 */
enum promql_kind { PROMQL_NUMBER, PROMQL_TEXT, PROMQL_SELECTOR, PROMQL_CALL, PROMQL_BINARY };

/* Operators and functions; aggregations are calls with `names`. */
enum promql_op {
    PROMQL_OR,
    PROMQL_AND,
    PROMQL_UNLESS,
    PROMQL_EQUAL,
    PROMQL_NOT_EQUAL,
    PROMQL_AT_LEAST,
    PROMQL_AT_MOST,
    PROMQL_ABOVE,
    PROMQL_BELOW,
    PROMQL_PLUS,
    PROMQL_MINUS,
    PROMQL_TIMES,
    PROMQL_DIVIDED,
    PROMQL_SUM,
    PROMQL_MAX,
    PROMQL_MIN,
    PROMQL_COUNT,
    PROMQL_TOPK,
    PROMQL_LAST,
    PROMQL_LOWEST,
    PROMQL_HIGHEST,
    PROMQL_INCREASE,
    PROMQL_RATE,
    PROMQL_CHANGES,
    PROMQL_ABSENT,
    PROMQL_TIME,
    PROMQL_CLAMP_MIN,
    PROMQL_LABEL_REPLACE,
    PROMQL_QUANTILE,
};

struct promql_matcher {
    char *label;
    char *value;
    bool regex;
    bool negative;
    regex_t compiled; /* If it is one. */
};

struct promql {
    enum promql_kind kind;
    enum promql_op op;
    double number;
    char *text; /* A text, or the family of a selector. */
    struct promql_matcher *matchers;
    size_t matcher_count;
    int64_t range_ms; /* 0: an instant. */
    int64_t offset_ms;
    struct name_list names; /* Of by, or of on. */
    bool named;             /* It has a by or an on. */
    bool many;              /* group_left. */
    struct promql *parts[5];
    size_t part_count;
};

/* NULL, saying where it is not understood. */
struct promql *promql_parse(const char *text, struct error *err) MUST_USE;
/* NULL is fine. */
void promql_free(struct promql *p);

/* Does the label match? */
bool promql_matches(const struct promql_matcher *m, const struct label_list *labels);

/* Call for each selector in it. */
void promql_each_selector(const struct promql *p,
                          void (*each)(void *context, const struct promql *selector),
                          void *context);

/* What it is at a moment. Texts are borrowed of the store and of the expression. */
struct vector promql_eval(const struct promql *p, const struct series_store *store,
                          int64_t now_ms) MUST_USE;
