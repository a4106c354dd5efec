/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"

enum { ENVIRONMENTS_MAX = 64, ENVIRONMENT_NAME_MAX = 63 };

/* Set of PATHs that `check` evaluates apart from others: a value of --environment. */
struct environment {
    char *name; /* "" for the only one without --environment. Owned. */
    struct text_list paths;
};

struct environments {
    struct environment *items;
    size_t count; /* At least 1 after environments_parse(). */
};

/*
 * Parses the values of --environment, each NAME=PATH[,PATH], in their order; without a value, adds
 * one environment without a name and PATHs. Returns false with the reason if a value is malformed,
 * a name occurs twice or is no DNS label, or there are more than ENVIRONMENTS_MAX.
 */
bool environments_parse(const struct text_list *values, struct environments *out,
                        struct error *err) MUST_USE;
/* Accepts a struct of zeros, and the result of a failed environments_parse(). */
void environments_release(struct environments *e);
