/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/row.h"

/*
 * The rows of all templates in the order of lists, as they are now and as they were: a view stays
 * as it is while the rows go on changing. Both share what did not change: rows are kept in chunks,
 * and a chunk that a view has is copied before it is changed.
 */
struct rows;
struct row_view;

struct rows *rows_new(struct store *store) MUST_USE;
/* NULL is fine. No view may be left. */
void rows_free(struct rows *rows);

/* The template's row is this from now on; it is moved. */
void rows_put(struct rows *rows, struct row *row);
/* It has none any more. */
void rows_remove(struct rows *rows, const struct entry *template);

/*
 * Let go of what was replaced and removed, and no view has: between the engine's runs, since an
 * entry that nobody holds is freed.
 */
void rows_tidy(struct rows *rows);

/* All rows as they are now, one holder of it; while nothing has changed it is the same view. */
struct row_view *rows_view(struct rows *rows) MUST_USE;
struct row_view *row_view_ref(struct row_view *view);
/* One holder less. NULL is fine. */
void row_view_drop(struct row_view *view);

/* A place in a view; all zero is its beginning. */
struct row_place {
    size_t chunk;
    size_t row;
};

/* True if a row is there. */
bool row_view_has(const struct row_view *view, struct row_place at);

/* The row there, and on to the next place; NULL behind the last. */
const struct row *row_view_next(const struct row_view *view, struct row_place *at);
