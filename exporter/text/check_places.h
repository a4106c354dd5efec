/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/text/text_table.h"

/* Places in files of the objects of problems, for the text of `check`. */

/* Appends FILE:LINE:COLUMN without the parts that are unknown. */
void check_place_add(struct strbuf *out, const struct location *at);

/*
 * Appends the place of the field that causes the problem; without a problem, that of the name of
 * the template. Appends nothing if the object does not come from a file, nor for DUPLICATE_OBJECT:
 * its text has the places of all declarations.
 */
void check_place_add_subject(struct strbuf *out, const struct evaluation *e,
                             const struct problem *p, const struct entry *template);

/* Different places of the other objects of several problems: the first ones, and their number. */
struct related_places {
    struct related_place {
        const struct entry *object;
        struct location at;
    } items[10];
    size_t count;
};

/* Adds the places of the other objects of a problem (problem_each_object_location()). */
void related_places_add(struct related_places *places, const struct evaluation *e,
                        const struct problem *p);

/* Adds a row for each place, with the name of the object in the first and the place in the last
 * column. */
void related_places_add_rows(const struct related_places *places, struct table *t);
