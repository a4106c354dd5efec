/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * In which values two texts of JSON differ, at the end of which path:
 * "clusterAffinity.clusterNames". Objects are compared member by member, lists of objects element
 * by element, anything else as a whole. For canonical texts (metrics/model/canonical_json.h), which
 * parse and have no null.
 */
struct difference {
    const char *path;   /* "" if the texts differ as a whole. */
    const char *before; /* JSON, NULL if there is no such value; so is the other. */
    const char *after;
};

typedef void difference_fn(void *context, const struct difference *difference);

/* Call `each` for every difference, in the order of the paths; the texts are borrowed. */
void differences_each(const char *before, const char *after, difference_fn *each, void *context);

/*
 * The same for people: one plain value a line, '-' for what is only before, '+' for what is only
 * after; of two lists of plain values the elements that the other one lacks. No quotes.
 */
struct difference_line {
    char sign;
    const char *path;
    const char *value;
};

typedef void difference_line_fn(void *context, const struct difference_line *line);
void difference_lines_each(const char *before, const char *after, difference_line_fn *each,
                           void *context);
