/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/text/output.h"

/*
 * Rows of cells whose columns line up. Only the last column is wrapped: names
 * must stay whole, to be copied. Where the terminal is too narrow for that, the
 * last column goes under its row.
 */
enum { TABLE_COLUMNS_MAX = 6 };

struct table_cell {
    char *text; /* Safe for a terminal. */
    enum output_style style;
};

struct table {
    const char *headings[TABLE_COLUMNS_MAX]; /* Borrowed. */
    size_t column_count;
    unsigned indent;
    struct table_cell *cells;
    size_t cell_count;
};

/* An empty table. `headings` are column_count texts; NULL for none. */
struct table table_make(const char *const *headings, size_t column_count, unsigned indent);
void table_release(struct table *t);

/* Add the next cell, row by row. */
void table_add(struct table *t, enum output_style style, const char *text);
void table_addf(struct table *t, enum output_style style, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* A cell with "Deployment default/app-a"; objects without a namespace have no slash. */
void table_add_object(struct table *t, const char *kind, const char *ns, const char *name);

void table_print(const struct table *t, struct output *o);
