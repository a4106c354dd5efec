/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/rules/engine.h"

/*
 * What lists of templates say of one: a part of its decision, small enough to be kept as it was
 * while a client reads page after page. Members have the names of the report's.
 *
 * Threads read rows while the loop changes the store. A reader uses the members of a row and the
 * identities of its entries, which never change. It does not read an entry's object or decision:
 * a list that needs more gets a member here.
 */
struct row {
    struct entry *template; /* Entries are pinned and texts are shared: a row holds them. */
    struct entry *policy;   /* That wins a fresh match, and that it claims; NULL: none. */
    struct entry *claimed;
    const char *changed_by; /* As template_changer(); NULL if unknown. */
    const char *owner;      /* As template_owner(). */
    int64_t since_ms;       /* As template_since(); 0 if unknown. */
    uint32_t version;       /* Of the policy that it runs; 0 if unknown. */
    int32_t behind;         /* -1 if unknown. */
    uint32_t clusters;
    uint8_t state; /* The enums of struct template_decision. */
    uint8_t reason;
    uint8_t phase;
    uint8_t stage;
    uint8_t stage_reason;
    uint8_t actor; /* Who must act (enum actor). */
    bool since_seen;
    bool claimed_exists; /* The claimed policy existed. */
};

/*
 * Fill in the row of a decided template and hold what it names. Who must act depends on the rules
 * in force.
 */
void row_take(struct row *row, struct entry *template, enum takeover takeover);
/* Let go of what it names. */
void row_drop(struct row *row, struct store *store);
/* True if it says the same of the same template. */
bool row_equal(const struct row *a, const struct row *b);

/* Append the row as a JSON object on one line. */
void row_write(struct json_writer *w, const struct row *row);

/* Whom a list is about. What is NULL, or negative, is not asked for. */
struct row_filter {
    const char *ns;
    const char *kind; /* Without case. */
    const char *group;
    const char *policy; /* NAME, or NAMESPACE/NAME: what it is to follow or claims. */
    const char *owner;
    const char *name;
    const char *search; /* A part of the name, without case. */
    const char *reason;
    const char *stage;
    const char *actor;
    int state;
    int64_t version;
};

/* A filter that lets all through. */
#define ROW_FILTER_ALL ((struct row_filter){.state = -1, .version = -1})

bool row_matches(const struct row *row, const struct row_filter *filter);
/* True if it lets through the row that the template had before the transition, or after it. */
bool transition_matches(const struct transition *x, const struct row_filter *filter);

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
