/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/rules/engine.h"

/*
 * Lists of objects. One table of columns describes a list: JSON, NDJSON, CSV, the page, filters,
 * the order and the counts come from that table, so a new column is one row there.
 */

/* Kinds of values. The kind decides the form in JSON, the form on the page, and the order. */
enum list_kind {
    LIST_TEXT,
    LIST_WORD,     /* One of the column's words; `number` is its index, which orders. */
    LIST_SEVERITY, /* Like LIST_WORD; the page shows an icon. */
    LIST_PROBLEM,  /* Like LIST_WORD: the name of a problem; the page shows its title. */
    LIST_NUMBER,   /* Integer. */
    LIST_CORES,    /* CPU; `number` is in thousandths. */
    LIST_BYTES,    /* `number` is in thousandths of a byte. */
    /* `number` is in milliseconds since the epoch; `text` is set if that is the time of the first
     * observation. The page shows the age. */
    LIST_TIME,
    LIST_BOOL,      /* `number` is 0 or 1. */
    LIST_POLICY,    /* `entry` is a policy; `number` is 1 if the policy exists. */
    LIST_NAMESPACE, /* `text` is the name of a namespace. */
    LIST_CLUSTER,   /* `text` is the name of a member cluster. */
    /*
     * `entry` is a template or policy, without namespace; `text` the apiVersion if another object
     * has the same kind, else NULL. Only on pages.
     */
    LIST_OBJECT,
    LIST_DEPENDENCY, /* `entry` represents a dependency (resource_identity_of); only on pages. */
};

/* Value of a column in one row; borrowed from the row. */
struct list_value {
    bool known; /* False: null in JSON, an empty cell, and behind all other rows. */
    const char *text;
    int64_t number;
    const struct entry *entry;
};

static inline struct list_value list_text(const char *text)
{
    return (struct list_value){.known = text != NULL, .text = text};
}

static inline struct list_value list_number(int64_t number)
{
    return (struct list_value){.known = true, .number = number};
}

/* Returns a number that is unknown unless `known`. */
static inline struct list_value list_number_if(bool known, int64_t number)
{
    return (struct list_value){.known = known, .number = number};
}

/* Returns names[index]; unknown if `index` is not below `count`. */
static inline struct list_value list_word(const char *const *names, unsigned count, unsigned index)
{
    return index < count ? (struct list_value){.known = true, .text = names[index], .number = index}
                         : (struct list_value){0};
}

static inline struct list_value list_entry(const struct entry *entry, bool exists)
{
    return (struct list_value){.known = entry != NULL, .number = exists, .entry = entry};
}

/* Properties of columns, as bits. */
enum {
    LIST_PAGE_ONLY = 1,    /* Not in JSON and CSV. */
    LIST_IN_REPORT = 2,    /* In JSON by `put_report` of the list. */
    LIST_JSON_ONLY = 4,    /* Not in CSV. */
    LIST_OMIT_NULL = 8,    /* JSON omits the member if the value is unknown. */
    LIST_ANY_WORD = 16,    /* A filter takes other words than `words`, too. */
    LIST_FILTER_ONLY = 32, /* Not in JSON and CSV, and not on the page. */
    LIST_JSON_LAST = 64,   /* In JSON and CSV behind all other columns. */
    LIST_ANY_CASE = 128,   /* A filter compares the text regardless of case. */
    LIST_CONTAINS = 256,   /* A filter takes a part of the text, regardless of case. */
};

struct list_column {
    const char *name;    /* Member in JSON, title in CSV, value of the parameter `sort`. */
    const char *heading; /* Heading in the table of the page; NULL: see `before`. */
    /* Without heading: text between the cell so far and the value, which joins it unless the value
     * is unknown, "" or 0. NULL: not on the page. */
    const char *before;
    const char *style;     /* Class of the cells; NULL: no class. */
    const char *parameter; /* Parameter that filters by this column; NULL: only `where` does. */
    const char *const *words;
    unsigned word_count;
    enum list_kind kind;
    unsigned flags;
    struct list_value (*value)(const void *row);
    /* Replaces the comparison of a filter with the text of the value; may be NULL. */
    bool (*matches)(const void *row, const char *wanted);
    /* Returns true if the filter accepts the text; NULL: any text, or any of `words`. */
    bool (*accepts)(const char *wanted);
    const char *takes; /* Accepted texts, for errors; NULL: the filter takes words. */
    const char *then;  /* Name of the column that orders rows of equal values; may be NULL. */
    const char *const *parts; /* CSV has these members of an object; NULL: a plain value. */
};

/* Columns of the worst open problem of a row (problem_rows.h). */
#define LIST_PROBLEM_COLUMNS(severity_value, problem_value, since_value)                           \
    {.name = "severity",                                                                           \
     .heading = "Problem",                                                                         \
     .style = "problem",                                                                           \
     .parameter = "severity",                                                                      \
     .kind = LIST_SEVERITY,                                                                        \
     .words = severity_names,                                                                      \
     .word_count = SEVERITY_COUNT,                                                                 \
     .flags = LIST_JSON_LAST,                                                                      \
     .then = "problemSince",                                                                       \
     .value = (severity_value)},                                                                   \
        {.name = "problem",                                                                        \
         .before = " ",                                                                            \
         .parameter = "problem",                                                                   \
         .kind = LIST_PROBLEM,                                                                     \
         .words = problem_names,                                                                   \
         .word_count = PROBLEM_COUNT,                                                              \
         .flags = LIST_JSON_LAST,                                                                  \
         .value = (problem_value)},                                                                \
    {                                                                                              \
        .name = "problemSince", .kind = LIST_TIME, .flags = LIST_JSON_LAST, .value = (since_value) \
    }

/* Column with an integer. `more`: flags. */
#define LIST_NUMBER_COLUMN(column, title, function, more)                                          \
    {                                                                                              \
        .name = (column), .heading = (title), .style = "number", .kind = LIST_NUMBER,              \
        .flags = (more), .value = (function)                                                       \
    }

/* Members of a policy, and of an identity, for `parts`. */
extern const char *const list_policy_parts[];
extern const char *const list_identity_parts[];

struct list {
    const char *kind;                  /* Member "kind" of the JSON document. */
    const struct list_column *columns; /* Ends with a column without name. */
    size_t row_size;
    const char *counted[4]; /* Columns with `words`: the page links to the rows of each word. */
    /*
     * Returns the rows of all objects, `*count` elements of `row_size` bytes, ordered by name of
     * the object; the caller frees the array. The engine must have evaluated all entries; the rows
     * are valid until it runs again. NULL for templates, which have views (list_rows.h).
     */
    void *(*gather)(const struct engine *engine, size_t *count);
    /* Appends the members that the report has, too, to the open object; may be NULL. */
    void (*put_report)(struct json_writer *w, const struct engine *engine, const void *row);
};

/* Returns the column with a name; NULL if there is none. */
const struct list_column *list_find_column(const struct list *list, const char *name);

/* ---- JSON and CSV ---- */

/* Appends a row as a JSON object. `engine` is for `put_report`; NULL for lists without it. */
void list_write_row(struct json_writer *w, const struct list *list, const struct engine *engine,
                    const void *row);

/*
 * Returns the columns for csv_add_row(): paths of members in the JSON of list_write_row(). Free
 * them with list_free_csv_columns().
 */
char **list_csv_columns(const struct list *list) MUST_USE;
void list_free_csv_columns(char **columns);

/* ---- filters ---- */

enum list_comparison { LIST_EQUAL, LIST_DIFFERENT, LIST_MORE, LIST_LESS };

/* Condition on one column. */
struct list_condition {
    const struct list_column *column;
    enum list_comparison comparison;
    const char *text; /* Borrowed; for LIST_EQUAL and LIST_DIFFERENT. */
    double number;    /* In the unit of the column; used if `numeric`. */
    bool numeric;
};

enum { LIST_CONDITIONS_MAX = 40 };

/* Conditions that must all hold. */
struct list_filter {
    struct list_condition conditions[LIST_CONDITIONS_MAX];
    size_t count;
};

/* Appends a condition; returns false if there is no place for it. */
bool list_filter_add(struct list_filter *filter, struct list_condition condition) MUST_USE;

/* Returns true if the row fulfils all conditions, except those on the column `except` (or NULL). */
bool list_matches(const struct list_filter *filter, const void *row,
                  const struct list_column *except);

/* ---- order and counts ---- */

/* Column that orders rows; a NULL column keeps the order in which the rows were gathered. */
struct list_order {
    const struct list_column *column;
    bool reverse; /* Rows without a value stay last. */
};

/* Rows of a list. The rows are borrowed, the array is owned. */
struct list_selection {
    const void **rows;
    size_t count;
};

/* Returns all rows of an array that list->gather() returned. */
struct list_selection list_all(const struct list *list, const void *rows, size_t count) MUST_USE;
void list_selection_release(struct list_selection *s);

/* Keeps the rows that match, in the order; rows of equal values stay in their order. */
void list_select(struct list_selection *s, const struct list_filter *filter,
                 struct list_order order);

/*
 * Orders the rows as list_select() does, but only from the index `first` to the index before `end`:
 * these rows are those of the whole order. The other rows are in no order. Much faster than the
 * whole order if the part is small.
 */
void list_order_part(struct list_selection *s, struct list_order order, size_t first, size_t end);

/*
 * Adds to counts[i] the number of rows with the word `i` of a column that fulfil all conditions on
 * other columns.
 */
void list_count_words(const struct list_selection *s, const struct list_filter *filter,
                      const struct list_column *column, size_t *counts);
