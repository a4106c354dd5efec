/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/list_table.h"

#include <strings.h>

#include "metrics/expose/policy_names.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/store.h"

enum {
    MILLI = 1000,
    CSV_COLUMNS_MAX = 64,
    PATH_MAX_BYTES = 128,
    SPLITS_MAX = 64, /* Splits of move_first_rows(); about 2 for each halving are usual. */
};

const char *const list_policy_parts[] = {"kind", "namespace", "name", NULL};
const char *const list_identity_parts[] = {"apiVersion", "kind", "namespace", "name", NULL};

const struct list_column *list_find_column(const struct list *list, const char *name)
{
    for (const struct list_column *c = list->columns; name && c->name; c++) {
        if (strcmp(c->name, name) == 0)
            return c;
    }
    return NULL;
}

/* ---- JSON and CSV ---- */

static void put_value(struct json_writer *w, const struct list_column *column,
                      const struct list_value *v)
{
    switch ((unsigned)column->kind) {
    case LIST_TEXT:
    case LIST_WORD:
    case LIST_SEVERITY:
    case LIST_PROBLEM:
    case LIST_NAMESPACE:
    case LIST_CLUSTER:
        json_writer_text(w, column->name, v->known ? v->text : NULL);
        return;
    case LIST_NUMBER:
        report_put_number_or_null(w, column->name, v->number, v->known);
        return;
    case LIST_CORES:
    case LIST_BYTES:
        if (v->known)
            json_writer_number(w, column->name, (double)v->number / MILLI);
        else
            json_writer_text(w, column->name, NULL);
        return;
    case LIST_TIME:
        report_put_time(w, column->name, v->known ? v->number : 0);
        return;
    case LIST_BOOL:
        if (v->known)
            json_writer_bool(w, column->name, v->number != 0);
        else
            json_writer_text(w, column->name, NULL);
        return;
    case LIST_POLICY:
        report_put_policy(w, column->name, policy_name_of(v->known ? v->entry : NULL));
        return;
    case LIST_OBJECT:
    case LIST_DEPENDENCY:
        break;
    }
    abort();
}

/* Appends the columns that have LIST_JSON_LAST, or those that do not, as `last` says. */
static void put_columns(struct json_writer *w, const struct list *list, const void *row, bool last)
{
    for (const struct list_column *c = list->columns; c->name; c++) {
        struct list_value v;

        if (!(c->flags & LIST_JSON_LAST) == last ||
            (c->flags & (LIST_PAGE_ONLY | LIST_IN_REPORT | LIST_FILTER_ONLY)))
            continue;
        v = c->value(row);
        if (v.known || !(c->flags & LIST_OMIT_NULL))
            put_value(w, c, &v);
    }
}

void list_write_row(struct json_writer *w, const struct list *list, const struct engine *engine,
                    const void *row)
{
    json_writer_open(w, NULL, '{');
    if (list->put_report)
        list->put_report(w, engine, row);
    put_columns(w, list, row, false);
    put_columns(w, list, row, true);
    json_writer_close(w, '}');
}

static void add_csv_column(char **columns, size_t *count, const char *name, const char *part)
{
    char path[PATH_MAX_BYTES];

    assert(*count + 1 < CSV_COLUMNS_MAX);
    snprintf(path, sizeof(path), "%s%s%s", name, part ? "." : "", part ? part : "");
    columns[(*count)++] = xstrdup(path);
}

/* Adds the columns that have LIST_JSON_LAST, or those that do not, as `last` says. */
static void add_csv_columns(const struct list *list, char **columns, size_t *count, bool last)
{
    for (const struct list_column *c = list->columns; c->name; c++) {
        const char *const *parts = c->kind == LIST_POLICY ? list_policy_parts : c->parts;

        if (!(c->flags & LIST_JSON_LAST) == last ||
            (c->flags & (LIST_PAGE_ONLY | LIST_FILTER_ONLY | LIST_JSON_ONLY)))
            continue;
        if (!parts)
            add_csv_column(columns, count, c->name, NULL);
        for (; parts && *parts; parts++)
            add_csv_column(columns, count, c->name, *parts);
    }
}

char **list_csv_columns(const struct list *list)
{
    char **columns = xcalloc(CSV_COLUMNS_MAX, sizeof(*columns));
    size_t count = 0;

    add_csv_columns(list, columns, &count, false);
    add_csv_columns(list, columns, &count, true);
    return columns;
}

void list_free_csv_columns(char **columns)
{
    for (size_t i = 0; columns[i]; i++)
        free(columns[i]);
    free(columns);
}

/* ---- filters ---- */

bool list_filter_add(struct list_filter *filter, struct list_condition condition)
{
    if (filter->count == LIST_CONDITIONS_MAX)
        return false;
    filter->conditions[filter->count++] = condition;
    return true;
}

/* Returns true if the text is that of the value: of a policy, its name. */
static bool has_text(const struct list_column *column, const struct list_value *v, const char *text)
{
    switch ((unsigned)column->kind) {
    case LIST_BOOL:
        return strcmp(v->number ? "true" : "false", text) == 0;
    case LIST_POLICY:
        return policy_has_name(v->entry, text);
    default:
        if (!v->text)
            return false;
        if (column->flags & LIST_CONTAINS)
            return strcasestr(v->text, text);
        return (column->flags & LIST_ANY_CASE ? strcasecmp : strcmp)(v->text, text) == 0;
    }
}

static bool holds(const struct list_condition *c, const void *row)
{
    const struct list_column *column = c->column;
    bool different = c->comparison == LIST_DIFFERENT;
    struct list_value v;

    if (column->matches && !c->numeric)
        return column->matches(row, c->text) != different;
    v = column->value(row);
    if (!v.known)
        return different;
    if (c->comparison == LIST_MORE)
        return (double)v.number > c->number;
    if (c->comparison == LIST_LESS)
        return (double)v.number < c->number;
    return (c->numeric ? (double)v.number == c->number : has_text(column, &v, c->text)) !=
           different;
}

bool list_matches(const struct list_filter *filter, const void *row,
                  const struct list_column *except)
{
    for (size_t i = 0; i < filter->count; i++) {
        if (filter->conditions[i].column != except && !holds(&filter->conditions[i], row))
            return false;
    }
    return true;
}

/* ---- order and counts ---- */

struct list_selection list_all(const struct list *list, const void *rows, size_t count)
{
    struct list_selection s = {.count = count};

    s.rows = xreallocarray(NULL, count + 1, sizeof(*s.rows));
    for (size_t i = 0; i < count; i++)
        s.rows[i] = (const char *)rows + i * list->row_size;
    return s;
}

void list_selection_release(struct list_selection *s)
{
    free(s->rows);
    *s = (struct list_selection){0};
}

/* Row that is being sorted; `value` is that of the first column of the order. */
struct sorted_row {
    struct list_value value;
    const void *row;
    size_t position; /* Index before the sort. */
};

/* Argument of compare_rows(). */
struct sorting {
    const struct list_column *column;
    const struct list_column *then; /* NULL without a second column. */
    bool reverse;
};

static int compare_entries(const struct entry *a, const struct entry *b)
{
    int order = strcmp(a->name, b->name);

    order = order ? order : strcmp(entry_ns(a), entry_ns(b));
    return order ? order : strcmp(entry_kind(a), entry_kind(b));
}

static int compare_dependencies(const struct entry *a, const struct entry *b)
{
    struct identity left = resource_identity_of(a), right = resource_identity_of(b);
    int order = strcmp(left.name, right.name);

    order = order ? order : strcmp(left.ns, right.ns);
    return order ? order : strcmp(left.kind, right.kind);
}

/* Compares two known values. */
static int compare_values(enum list_kind kind, const struct list_value *a,
                          const struct list_value *b)
{
    switch ((unsigned)kind) {
    case LIST_TEXT:
    case LIST_NAMESPACE:
    case LIST_CLUSTER:
        return strcmp(a->text, b->text);
    case LIST_POLICY:
    case LIST_OBJECT:
        return compare_entries(a->entry, b->entry);
    case LIST_DEPENDENCY:
        return compare_dependencies(a->entry, b->entry);
    default:
        return (a->number > b->number) - (a->number < b->number);
    }
}

/* Compares values of a column; unknown ones come last, also in reverse. */
static int compare_column(const struct list_column *column, const struct list_value *a,
                          const struct list_value *b, bool reverse)
{
    int order;

    if (!a->known || !b->known)
        return (int)b->known - (int)a->known;
    order = compare_values(column->kind, a, b);
    return reverse ? -order : order;
}

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct sorted_row *a = left, *b = right;
    const struct sorting *s = context;
    int order = compare_column(s->column, &a->value, &b->value, s->reverse);

    if (order == 0 && s->then) {
        struct list_value first = s->then->value(a->row), second = s->then->value(b->row);

        order = compare_column(s->then, &first, &second, s->reverse);
    }
    return order ? order : (a->position > b->position) - (a->position < b->position);
}

/* Returns the column `name` of the list that `column` is in; NULL if there is none. */
static const struct list_column *find_sibling(const struct list_column *column, const char *name)
{
    const struct list_column *c = column;

    /* The column that orders next stands behind the column. */
    while (name && c->name && strcmp(c->name, name) != 0)
        c++;
    return name && c->name ? c : NULL;
}

static void swap_rows(struct sorted_row *a, struct sorted_row *b)
{
    struct sorted_row held = *a;

    *a = *b;
    *b = held;
}

/*
 * Moves the rows that are before the median of three rows to the start, the others to the end.
 * Returns the index of the median.
 */
static size_t split_rows(struct sorted_row *rows, size_t count, struct sorting *sorting)
{
    struct sorted_row *low = &rows[0], *median = &rows[count / 2], *high = &rows[count - 1];
    size_t before = 0;

    if (compare_rows(median, low, sorting) < 0)
        swap_rows(median, low);
    if (compare_rows(high, median, sorting) < 0)
        swap_rows(high, median);
    if (compare_rows(median, low, sorting) < 0)
        swap_rows(median, low);
    swap_rows(median, high);
    for (size_t i = 0; i + 1 < count; i++) {
        if (compare_rows(&rows[i], high, sorting) < 0)
            swap_rows(&rows[i], &rows[before++]);
    }
    swap_rows(&rows[before], high);
    return before;
}

/* Moves the first `wanted` rows of the order to the start, in any order among them. */
static void move_first_rows(struct sorted_row *rows, size_t count, size_t wanted,
                            struct sorting *sorting)
{
    for (unsigned splits = 0; wanted > 0 && wanted < count; splits++) {
        size_t before;

        /* Bad medians, as of rows that were arranged for them, must not cost more than a sort. */
        if (splits == SPLITS_MAX) {
            qsort_r(rows, count, sizeof(*rows), compare_rows, sorting);
            return;
        }
        before = split_rows(rows, count, sorting);
        if (before >= wanted) {
            count = before;
        } else {
            rows += before + 1;
            count -= before + 1;
            wanted -= before + 1;
        }
    }
}

void list_order_part(struct list_selection *s, struct list_order order, size_t first, size_t end)
{
    struct sorting sorting = {order.column, find_sibling(order.column, order.column->then),
                              order.reverse};
    CLEANUP(free_cleanup)
    struct sorted_row *sorted = xreallocarray(NULL, s->count + 1, sizeof(*sorted));

    assert(first <= end && end <= s->count);
    for (size_t i = 0; i < s->count; i++)
        sorted[i] = (struct sorted_row){order.column->value(s->rows[i]), s->rows[i], i};
    move_first_rows(sorted, s->count, first, &sorting);
    move_first_rows(&sorted[first], s->count - first, end - first, &sorting);
    if (end - first > 1)
        qsort_r(&sorted[first], end - first, sizeof(*sorted), compare_rows, &sorting);
    for (size_t i = 0; i < s->count; i++)
        s->rows[i] = sorted[i].row;
}

void list_select(struct list_selection *s, const struct list_filter *filter,
                 struct list_order order)
{
    size_t count = 0;

    for (size_t i = 0; i < s->count; i++) {
        if (list_matches(filter, s->rows[i], NULL))
            s->rows[count++] = s->rows[i];
    }
    s->count = count;
    if (order.column)
        list_order_part(s, order, 0, count);
}

void list_count_words(const struct list_selection *s, const struct list_filter *filter,
                      const struct list_column *column, size_t *counts)
{
    for (size_t i = 0; i < s->count; i++) {
        struct list_value v = column->value(s->rows[i]);

        if (v.known && v.number < (int64_t)column->word_count &&
            list_matches(filter, s->rows[i], column))
            counts[v.number]++;
    }
}
