/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/table.h"

enum {
    CELL_MAX = 64 * 1024,
    GAP = 2,
    LAST_COLUMN_MIN = 24, /* Narrower than this is no column to read. */
    HANGING = 4,
};

struct layout {
    size_t widths[TABLE_COLUMNS_MAX];
    size_t last_at; /* Where the last column begins. */
    bool stacked;   /* It goes under its row. */
};

struct table table_make(const char *const *headings, size_t column_count, unsigned indent)
{
    struct table t = {.column_count = column_count, .indent = indent};

    assert(column_count > 0 && column_count <= TABLE_COLUMNS_MAX);
    for (size_t i = 0; headings && i < column_count; i++)
        t.headings[i] = headings[i];
    return t;
}

void table_release(struct table *t)
{
    for (size_t i = 0; i < t->cell_count; i++)
        free(t->cells[i].text);
    free(t->cells);
    *t = (struct table){0};
}

void table_add(struct table *t, enum output_style style, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(CELL_MAX);
    size_t len;

    output_safe(&safe, text);
    /* The room doubles each time it is full, which is whenever the count is a power of two. */
    if ((t->cell_count & (t->cell_count - 1)) == 0)
        t->cells =
            xreallocarray(t->cells, t->cell_count ? t->cell_count * 2 : 1, sizeof(*t->cells));
    t->cells[t->cell_count++] = (struct table_cell){strbuf_take(&safe, &len), style};
}

void table_addf(struct table *t, enum output_style style, const char *fmt, ...)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(CELL_MAX);
    va_list args;

    va_start(args, fmt);
    strbuf_vaddf(&text, fmt, args);
    va_end(args);
    table_add(t, style, text.data);
}

void table_add_object(struct table *t, const char *kind, const char *ns, const char *name)
{
    table_addf(t, STYLE_PLAIN, "%s %s%s%s", kind, ns, *ns != '\0' ? "/" : "", name);
}

static struct layout make_layout(const struct table *t, unsigned width)
{
    size_t last = t->column_count - 1;
    struct layout l = {.last_at = t->indent};
    size_t natural;

    assert(t->column_count > 0);
    for (size_t i = 0; i < t->column_count; i++)
        l.widths[i] = t->headings[i] ? output_columns(t->headings[i]) : 0;
    for (size_t i = 0; i < t->cell_count; i++) {
        size_t columns = output_columns(t->cells[i].text);

        if (columns > l.widths[i % t->column_count])
            l.widths[i % t->column_count] = columns;
    }
    for (size_t i = 0; i < last; i++)
        l.last_at += l.widths[i] + GAP;
    natural = l.last_at + l.widths[last];
    l.stacked = width > 0 && last > 0 && natural > width && l.last_at + LAST_COLUMN_MIN > width;
    if (l.stacked)
        l.last_at = t->indent + HANGING;
    return l;
}

static void pad(struct output *o, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        strbuf_addc(&o->text, ' ');
}

static void end_line(struct output *o)
{
    while (o->text.len > 0 && o->text.data[o->text.len - 1] == ' ')
        o->text.data[--o->text.len] = '\0';
    strbuf_addc(&o->text, '\n');
}

static void print_row(const struct table *t, const struct layout *l, struct output *o,
                      const struct table_cell *row)
{
    CLEANUP(strbuf_release) struct strbuf wrapped = STRBUF_INIT(2 * CELL_MAX);
    size_t last = t->column_count - 1;

    pad(o, t->indent);
    for (size_t i = 0; i < last; i++) {
        output_styled(o, row[i].style, row[i].text);
        if (!l->stacked || i + 1 < last)
            pad(o, l->widths[i] + GAP - output_columns(row[i].text));
    }
    if (l->stacked && *row[last].text != '\0') {
        strbuf_addc(&o->text, '\n');
        pad(o, l->last_at);
    }
    output_wrap(&wrapped, row[last].text, l->last_at, l->last_at, o->width);
    output_styled(o, row[last].style, wrapped.data);
    end_line(o);
}

void table_print(const struct table *t, struct output *o)
{
    struct layout l = make_layout(t, o->width);

    assert(t->cell_count % t->column_count == 0);
    if (t->headings[0])
        pad(o, t->indent);
    /* A last column that is stacked has no heading. */
    for (size_t i = 0; t->headings[0] && i < t->column_count - l.stacked; i++) {
        bool ends = i + 1 == t->column_count - l.stacked;

        output_styled(o, STYLE_FAINT, t->headings[i]);
        if (ends)
            end_line(o);
        else
            pad(o, l.widths[i] + GAP - output_columns(t->headings[i]));
    }
    for (size_t i = 0; i < t->cell_count; i += t->column_count)
        print_row(t, &l, o, &t->cells[i]);
}
