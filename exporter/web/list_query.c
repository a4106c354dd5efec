/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/list_query.h"

#include "exporter/options/option_value.h"
#include "exporter/web/api.h"
#include "metrics/base/number.h"
#include "metrics/base/suggest.h"

enum { MILLI = 1000 };

/* ---- words ---- */

/* Position of suggest_name() in the accepted values of a parameter. */
struct accepted_words {
    const char *const *names;
    size_t count;
    size_t at;
};

static const char *next_accepted_word(void *context)
{
    struct accepted_words *w = context;

    return w->at < w->count ? w->names[w->at++] : NULL;
}

static bool fail_unknown(const char *lacks, const char *value, const char *nearest,
                         struct error *err)
{
    return fail(err, "%s '%.64s'%s%s%s", lacks, value, nearest ? "; do you mean '" : "",
                nearest ? nearest : "", nearest ? "'?" : "");
}

bool find_word(const char *lacks, const char *value, const char *const *names, size_t count,
               int *index, struct error *err)
{
    struct accepted_words words = {names, count, 0};

    for (size_t i = 0; value && i < count; i++) {
        if (strcmp(names[i], value) == 0) {
            *index = (int)i;
            return true;
        }
    }
    return !value ||
           fail_unknown(lacks, value, suggest_name(value, next_accepted_word, &words), err);
}

bool parse_word(const char *what, const char *value, const char *const *names, size_t count,
                int *index, struct error *err)
{
    char lacks[64];

    snprintf(lacks, sizeof(lacks), "there is no %s", what);
    return find_word(lacks, value, names, count, index, err);
}

/* ---- columns ---- */

enum parameter list_column_parameter(const struct list_column *column)
{
    unsigned i = 0;

    while (i < PARAMETER_COUNT &&
           (!column->parameter || strcmp(parameter_names[i], column->parameter) != 0))
        i++;
    return (enum parameter)i;
}

const struct list_column *list_filter_column(const struct list *list, enum parameter parameter)
{
    for (const struct list_column *c = list->columns; c->name; c++) {
        if (list_column_parameter(c) == parameter)
            return c;
    }
    return NULL;
}

/* Position of suggest_name() in the columns of a list. */
static const char *next_column_name(void *context)
{
    const struct list_column **at = context;

    while ((*at)->name && ((*at)->flags & LIST_FILTER_ONLY))
        (*at)++;
    return (*at)->name ? (*at)++->name : NULL;
}

/* Stores the column with a name; returns false with the reason if there is none. */
static bool parse_column(const struct list *list, const char *name, const struct list_column **out,
                         struct error *err)
{
    const struct list_column *at = list->columns;

    *out = list_find_column(list, name);
    return (*out && !((*out)->flags & LIST_FILTER_ONLY)) ||
           fail_unknown("there is no column", name, suggest_name(name, next_column_name, &at), err);
}

/* ---- conditions ---- */

static bool has_numbers(const struct list_column *column)
{
    return column->kind == LIST_NUMBER || column->kind == LIST_CORES ||
           column->kind == LIST_BYTES || column->kind == LIST_TIME;
}

/* Parses a number in the unit of the column; of a column with times, an age. */
static bool parse_number(struct list_condition *c, int64_t now_ms, struct error *err)
{
    enum list_kind kind = c->column->kind;
    double number;
    int64_t age_ms;

    c->numeric = true;
    if (kind == LIST_TIME) {
        if (!parse_duration(c->text, &age_ms))
            return fail(err, "'%s' takes an age, such as 30m, 2h or 7d", c->column->name);
        c->number = (double)(now_ms - age_ms);
        /* A greater age is an earlier time. */
        if (c->comparison == LIST_MORE || c->comparison == LIST_LESS)
            c->comparison = c->comparison == LIST_MORE ? LIST_LESS : LIST_MORE;
        return true;
    }
    if (!parse_quantity(c->text, &number) || number > 1e15 || number < -1e15)
        return fail(err, "'%s' takes a number, such as 12, 1.5 or 4Gi", c->column->name);
    c->number = kind == LIST_NUMBER ? number : number * MILLI;
    return true;
}

/* Appends a condition after a check of its value. */
static bool add_condition(struct list_filter *filter, struct list_condition c, int64_t now_ms,
                          struct error *err)
{
    const struct list_column *column = c.column;
    const char *parameter = column->parameter ? column->parameter : column->name;
    bool ordered = c.comparison == LIST_MORE || c.comparison == LIST_LESS;
    int ignored;

    if (column->accepts && !column->accepts(c.text))
        return column->takes ? fail(err, "'%s' takes %s", parameter, column->takes)
                             : fail(err, "there is no %s '%.64s'", parameter, c.text);
    if (column->words && !(column->flags & LIST_ANY_WORD) &&
        !parse_word(parameter, c.text, column->words, column->word_count, &ignored, err))
        return false;
    if (has_numbers(column) && (ordered || !column->matches) && !parse_number(&c, now_ms, err))
        return false;
    if (!has_numbers(column) && ordered)
        return fail(err, "the column '%s' has no numbers: use '=' or '!='", column->name);
    return list_filter_add(filter, c) || fail(err, "there are too many conditions");
}

/* Splits a text such as "stale>0" at its operator; returns false if it has none. */
static bool split_condition(char *text, struct list_condition *out)
{
    char *at = text + strcspn(text, "=<>!");

    switch (*at) {
    case '=':
        out->comparison = LIST_EQUAL;
        break;
    case '>':
        out->comparison = LIST_MORE;
        break;
    case '<':
        out->comparison = LIST_LESS;
        break;
    case '!':
        if (at[1] != '=')
            return false;
        out->comparison = LIST_DIFFERENT;
        *at++ = '\0';
        break;
    default:
        return false;
    }
    *at = '\0';
    out->text = at + 1;
    return true;
}

/* Parses the conditions of the parameter `where`, which commas separate. */
static bool parse_where(const struct list *list, int64_t now_ms, struct list_query *out,
                        struct error *err)
{
    char *rest = out->where, *part;

    while (rest && (part = strsep(&rest, ",")) != NULL) {
        struct list_condition c = {0};

        if (!split_condition(part, &c))
            return fail(err, "'where' takes conditions such as stale>0 or owner=shop, separated "
                             "by commas");
        if (!parse_column(list, part, &c.column, err) ||
            !add_condition(&out->filter, c, now_ms, err))
            return false;
    }
    return true;
}

static bool parse_sort(const struct list *list, const char *sort, struct list_order *out,
                       struct error *err)
{
    if (!sort)
        return true;
    out->reverse = *sort == '-';
    return parse_column(list, sort + out->reverse, &out->column, err);
}

static bool parse_query(const struct query *q, const struct list *list, int64_t now_ms,
                        struct list_query *out, struct error *err)
{
    for (unsigned i = 0; i < PARAMETER_COUNT; i++) {
        struct list_condition c = {.text = q->values[i]};

        if (!c.text)
            continue;
        c.column = list_filter_column(list, (enum parameter)i);
        if (c.column && !add_condition(&out->filter, c, now_ms, err))
            return false;
    }
    return parse_where(list, now_ms, out, err) &&
           parse_sort(list, q->values[PARAMETER_SORT], &out->order, err);
}

bool list_query_from_request(struct queued_request *request, const struct list *list,
                             int64_t now_ms, struct list_query *out)
{
    const char *where = request->query.values[PARAMETER_WHERE];
    struct error err;

    *out = (struct list_query){.where = where ? xstrdup(where) : NULL};
    if (parse_query(&request->query, list, now_ms, out, &err))
        return true;
    api_refuse(request, MHD_HTTP_BAD_REQUEST, err.text);
    return false;
}

void list_query_release(struct list_query *q)
{
    free(q->where);
    *q = (struct list_query){0};
}
