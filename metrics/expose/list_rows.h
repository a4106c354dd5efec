/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/list_table.h"
#include "metrics/expose/problem_rows.h"

/*
 * Rows of template lists, and immutable views of all rows. Clients can read a view page by
 * page while the store changes.
 */

/*
 * Data of one template in lists; the row pins its entries and holds references to its texts.
 *
 * Threads of the web server read rows while the event loop changes the store. These threads may
 * read the members of a row, and type, namespace and name of its entries, which never change; they
 * must not read the object or the decision of an entry, nor other types of its kind. A list that
 * needs more data gets a member here.
 */
struct row {
    struct entry *template;
    struct entry *policy;   /* Wins a fresh match; NULL without one or for an ignored template. */
    struct entry *claimed;  /* Claimed policy, existing or not; NULL without a claim. */
    const char *changed_by; /* See state_writer_of_template(); NULL if unknown. */
    const char *owner;      /* See template_owner(). */
    int64_t since_ms;       /* See template_since(); 0 if unknown. */
    struct worst_problem worst; /* Worst open problem of the template and its binding. */
    uint32_t version;     /* Number of the policy version that the template runs; 0 if unknown. */
    int32_t behind;       /* Number of newer versions; -1 if unknown. */
    uint32_t clusters;    /* Number of target clusters. */
    uint8_t state;        /* enum template_state */
    uint8_t reason;       /* Value of the enum that belongs to the state. */
    uint8_t phase;        /* enum stale_phase */
    uint8_t stage;        /* enum stage */
    uint8_t stage_reason; /* enum stage_reason */
    uint8_t actor;        /* enum actor: see template_actor(). */
    bool since_seen;      /* Member `seen` of struct since. */
    bool claimed_exists;  /* `claimed` existed when the row was made. */
    bool distinct;        /* entry_distinct_version() was not NULL when the row was made. */
};

/*
 * Fills the row of a decided template. Release the row with row_release(), or pass it to
 * rows_put().
 */
void row_init(struct row *row, struct entry *template, const struct engine *engine);

/* Drops the pins of the entries and the references to the texts of a row. */
void row_release(struct row *row, struct store *store);

/* Appends the row as a JSON object: list_write_row() of `template_list`. */
void row_write(struct json_writer *w, const struct row *row);

/* Columns of template lists. */
extern const struct list template_list;

/*
 * Returns true if the filter matches the template before or after the transition. The filter must
 * not use columns that struct moment lacks, such as owner, stage and actor.
 */
bool transition_matches(const struct transition *x, const struct list_filter *filter);

/*
 * Current rows of all templates, in the order of entry_compare(). A view is an immutable copy of
 * these rows. Views share chunks of rows: a shared chunk is copied before one of its rows changes.
 */
struct rows;
struct row_view;

struct rows *rows_new(struct store *store) MUST_USE;

/* Frees the rows. All views must have been dropped. Accepts NULL. */
void rows_free(struct rows *rows);

/* Inserts the row of a template, or replaces it. Takes over the pins and references of `row`. */
void rows_put(struct rows *rows, struct row *row);

/* Removes the row of a template, if there is one. */
void rows_remove(struct rows *rows, const struct entry *template);

/*
 * Releases replaced and removed rows that no view needs. Call this function only between runs of
 * the engine, because it can free entries.
 */
void rows_release_retired(struct rows *rows);

/* Returns a new reference to a view of the current rows: the same view until a row changes. */
struct row_view *rows_view(struct rows *rows) MUST_USE;

/* Returns `view` with one more reference. */
struct row_view *row_view_ref(struct row_view *view);

/* Drops a reference. Accepts NULL. */
void row_view_drop(struct row_view *view);

/*
 * Returns the bytes of outdated rows that are kept for this view or for other views of the same
 * rows.
 */
size_t row_views_bytes(const struct row_view *view);

/* Returns the number of rows of a view. */
size_t row_view_count(const struct row_view *view);

/* Position in a view; all zeros is the first row. */
struct row_position {
    size_t chunk;
    size_t row;
};

/* Returns true if the view has a row at this position. */
bool row_view_has_row(const struct row_view *view, struct row_position at);

/*
 * Returns the row at a position and moves the position to the next row; NULL after the last row.
 * The position must be all zeros, set by this function, or checked by row_view_has_row().
 */
const struct row *row_view_next_row(const struct row_view *view, struct row_position *at);

/* Used only by list_rows.c and tests. */

/* Returns true if all members are equal. */
bool row_equal(const struct row *a, const struct row *b);
