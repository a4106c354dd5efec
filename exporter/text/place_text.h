/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/text/text_table.h"

/* Places in files as text: FILE:LINE:COLUMN. */

/* Appends FILE:LINE:COLUMN without the parts that are unknown; nothing without a file. */
void place_add(struct strbuf *out, const struct location *at);

/*
 * Appends the place of the field that causes the problem; without a problem, that of the name of
 * the template. Appends nothing if the object does not come from a file, nor for DUPLICATE_OBJECT:
 * its text has the places of all declarations.
 */
void place_add_of_subject(struct strbuf *out, const struct evaluation *e, const struct problem *p,
                          const struct entry *template);

/* Different places of the other objects of several problems: the first ones, and their number. */
struct place_list {
    struct place_of_object {
        const struct entry *object;
        struct location at;
    } items[10];
    size_t count;
};

/* Adds the places of the other objects of a problem (problem_each_object_location()). */
void place_list_add(struct place_list *places, const struct evaluation *e, const struct problem *p);

/* Adds a row for each place, with the name of the object in the first and the place in the last
 * column. */
void place_list_add_rows(const struct place_list *places, struct table *t);
