/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/text_table.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "metrics/base/number.h"
#include "metrics/base/utf8.h"

enum {
    TEXT_MAX = 1024 * 1024 * 1024,
    LINE_MAX_BYTES = 1024 * 1024,
    CONTINUATION_INDENT = 2,
    ELLIPSIS_COLUMNS = 3,
};

static const char *const escapes[] = {
    [STYLE_PLAIN] = "",       [STYLE_HEADING] = "\033[1m",  [STYLE_FAINT] = "\033[2m",
    [STYLE_BAD] = "\033[31m", [STYLE_CAUTION] = "\033[33m", [STYLE_GOOD] = "\033[32m",
};

static unsigned find_width(int fd, bool is_terminal)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size = {0};
    uint64_t width = 0;

    if (columns && parse_uint(columns, OUTPUT_WIDTH_MAX, &width))
        return width == 0 || width >= OUTPUT_WIDTH_MIN ? (unsigned)width : OUTPUT_WIDTH_MIN;
    if (!is_terminal)
        return 0;
    if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return OUTPUT_WIDTH_DEFAULT;
    return size.ws_col >= OUTPUT_WIDTH_MIN ? size.ws_col : OUTPUT_WIDTH_MIN;
}

void output_init(struct output *o, int fd)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    bool is_terminal = isatty(fd) == 1;
    bool redraws = is_terminal && !(terminal && strcmp(terminal, "dumb") == 0);

    /* https://no-color.org: an empty NO_COLOR has no effect. */
    *o = (struct output){
        .text = STRBUF_INIT(TEXT_MAX),
        .width = find_width(fd, is_terminal),
        .colour = redraws && !(no_colour && *no_colour != '\0'),
        .redraws = redraws,
    };
}

void output_release(struct output *o)
{
    strbuf_release(&o->text);
}

bool output_flush(struct output *o, int fd, struct error *err)
{
    size_t done = 0;

    if (!strbuf_ok(&o->text))
        return fail(err, "the output would be larger than %zu bytes", o->text.max);
    while (done < o->text.len) {
        ssize_t n = write(fd, o->text.data + done, o->text.len - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(err, "cannot write the output: %s", strerror(errno));
        done += (size_t)n;
    }
    strbuf_reset(&o->text);
    return true;
}

void output_add_styled(struct output *o, enum output_style style, const char *text)
{
    bool styled = o->colour && style != STYLE_PLAIN && *text != '\0';

    if (styled)
        strbuf_adds(&o->text, escapes[style]);
    strbuf_adds(&o->text, text);
    if (styled)
        strbuf_adds(&o->text, "\033[0m");
}

void output_add_bar(struct output *o, size_t done, size_t total)
{
    enum { BAR_COLUMNS = 40 };

    strbuf_addc(&o->text, '[');
    for (size_t i = 0; i < BAR_COLUMNS; i++)
        strbuf_addc(&o->text, i * total < done * BAR_COLUMNS ? '#' : '.');
    strbuf_addf(&o->text, "] %zu of %zu", done, total);
}

void output_add_clear_line(struct output *o)
{
    strbuf_adds(&o->text, o->redraws ? "\r\033[K" : "");
}

void output_add_section(struct output *o, const char *title, size_t count)
{
    CLEANUP(strbuf_release) struct strbuf heading = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&heading, "%s (%zu)", title, count);
    output_wrap(&lines, heading.data, 0, 0, o->width);
    output_add_styled(o, STYLE_HEADING, lines.data);
    strbuf_addc(&o->text, '\n');
}

void output_escape(struct strbuf *out, const char *text)
{
    while (*text != '\0') {
        const char *begin = text;
        uint32_t point = utf8_next(&text);

        if (point == UTF8_BROKEN)
            strbuf_adds(out, "\xEF\xBF\xBD");
        else if (!utf8_is_unsafe(point))
            strbuf_add(out, begin, (size_t)(text - begin));
        for (; utf8_is_unsafe(point) && begin < text; begin++)
            strbuf_addf(out, "\\x%02x", (unsigned char)*begin);
    }
}

void output_escape_lines(struct strbuf *out, const char *text)
{
    for (;;) {
        const char *newline = strchrnul(text, '\n');
        CLEANUP(free_cleanup) char *line = xmemdup0(text, (size_t)(newline - text));

        output_escape(out, line);
        if (*newline == '\0')
            return;
        strbuf_addc(out, '\n');
        text = newline + 1;
    }
}

size_t output_count_columns(const char *text)
{
    size_t columns = 0;

    /* Counts one column for each code point, also for wide characters. */
    for (; *text != '\0'; text++)
        columns += ((unsigned char)*text & 0xC0) != 0x80;
    return columns;
}

/* Returns the position after `columns` characters of the text, or its end. */
static const char *skip_columns(const char *text, size_t columns)
{
    for (; *text != '\0' && columns > 0; columns--) {
        do
            text++;
        while (((unsigned char)*text & 0xC0) == 0x80);
    }
    return text;
}

void output_shorten(struct strbuf *out, const char *text, size_t width)
{
    size_t columns = output_count_columns(text);
    size_t rest = width > ELLIPSIS_COLUMNS ? width - ELLIPSIS_COLUMNS : 0;

    if (width == 0 || columns <= width) {
        strbuf_adds(out, text);
        return;
    }
    strbuf_add(out, text, (size_t)(skip_columns(text, rest - rest / 2) - text));
    strbuf_adds(out, "...");
    strbuf_adds(out, skip_columns(text, columns - rest / 2));
}

void output_wrap(struct strbuf *out, const char *text, size_t at, size_t indent, size_t width)
{
    bool line_has_word = false;

    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        size_t len = strcspn(text, " ");
        CLEANUP(free_cleanup) char *word = xmemdup0(text, len);
        size_t columns = output_count_columns(word);

        if (line_has_word && width > 0 && at + 1 + columns > width) {
            strbuf_addf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (line_has_word) {
            strbuf_addc(out, ' ');
            at++;
        }
        strbuf_adds(out, word);
        at += columns;
        line_has_word = true;
        text += len;
    }
}

void output_add_line(struct output *o, size_t indent, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(LINE_MAX_BYTES);

    output_escape(&safe, text);
    strbuf_addf(&o->text, "%*s", (int)indent, "");
    output_wrap(&o->text, safe.data, indent, indent + CONTINUATION_INDENT, o->width);
    strbuf_addc(&o->text, '\n');
}

/* ---- tables ---- */

enum {
    CELL_MAX = 64 * 1024,
    GAP = 2,
    LAST_COLUMN_MIN = 24,    /* Minimum width of the last column beside the others. */
    LAST_COLUMN_WANTED = 32, /* The other columns become narrower for it, but not for more. */
    SHORTENED_MIN = 12,      /* Minimum width of a column that is shortened. */
    BESIDE_WHOLE_MIN = 24,   /* The same beside a last column that stays whole. */
    STACKED_INDENT = 4,
};

struct table_layout {
    size_t widths[TABLE_COLUMNS_MAX];
    size_t last_at; /* First terminal column of the last table column. */
    bool stacked;   /* The last cell stands on a line below its row. */
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

    output_escape(&safe, text);
    /* The capacity is a power of two and doubles when the array is full. */
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

static bool is_shortened(const struct table *t, size_t column)
{
    return t->shortened >> column & 1;
}

/*
 * Makes the widest columns of `shortened` narrower, until the rows fit with `wanted` columns for
 * the last cell, or until these columns are at the minimum. Returns true if the rows fit.
 */
static bool shrink_columns(const struct table *t, unsigned width, size_t wanted, size_t minimum,
                           struct table_layout *l)
{
    size_t last = t->column_count - 1;

    for (size_t needed = l->last_at + wanted; width > 0 && needed > width; needed--) {
        size_t widest = t->column_count;

        for (size_t i = 0; i < t->column_count; i++) {
            if (is_shortened(t, i) && l->widths[i] > minimum &&
                (widest == t->column_count || l->widths[i] > l->widths[widest]))
                widest = i;
        }
        if (widest == t->column_count)
            return false;
        l->widths[widest]--;
        l->last_at -= widest < last;
    }
    return true;
}

/* Puts the last cells on lines below if the rows do not fit. */
static void stack_last_column(const struct table *t, unsigned width, struct table_layout *l)
{
    size_t last = t->column_count - 1, wanted = l->widths[last];

    if (t->whole_last) {
        struct table_layout shrunk = *l;

        l->stacked = last > 0 && !shrink_columns(t, width, wanted, BESIDE_WHOLE_MIN, &shrunk);
        if (!l->stacked)
            *l = shrunk;
        else
            (void)shrink_columns(t, width, 0, SHORTENED_MIN, l);
        return;
    }

    if (!is_shortened(t, last) && wanted > LAST_COLUMN_WANTED)
        wanted = LAST_COLUMN_WANTED;
    (void)shrink_columns(t, width, wanted, SHORTENED_MIN, l);
    l->stacked = width > 0 && last > 0 && l->last_at + l->widths[last] > width &&
                 l->last_at + LAST_COLUMN_MIN > width;
}

/* Returns true if a row has only its first text: it takes the whole line, whatever the columns. */
static bool is_line(const struct table *t, const struct table_cell *row)
{
    for (size_t i = 1; i < t->column_count; i++) {
        if (*row[i].text != '\0')
            return false;
    }
    return t->column_count > 1;
}

static struct table_layout make_table_layout(const struct table *t, unsigned width)
{
    size_t last = t->column_count - 1;
    struct table_layout l = {.last_at = t->indent};

    assert(t->column_count > 0);
    for (size_t i = 0; i < t->column_count; i++)
        l.widths[i] = t->headings[i] ? output_count_columns(t->headings[i]) : 0;
    for (size_t i = 0; i < t->cell_count; i++) {
        bool ignored = is_line(t, &t->cells[i - i % t->column_count]);
        size_t columns = ignored ? 0 : output_count_columns(t->cells[i].text);

        if (columns > l.widths[i % t->column_count])
            l.widths[i % t->column_count] = columns;
    }
    for (size_t i = 0; i < last; i++)
        l.last_at += l.widths[i] + GAP;
    stack_last_column(t, width, &l);
    if (l.stacked)
        l.last_at = t->indent + STACKED_INDENT;
    return l;
}

static void add_spaces(struct output *o, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        strbuf_addc(&o->text, ' ');
}

/* Appends the rest of a column of `width`, and the gap behind it, after a cell of `columns`. */
static void end_cell(struct output *o, size_t width, size_t columns)
{
    add_spaces(o, (columns < width ? width - columns : 0) + GAP);
}

/* Ends the line without trailing spaces. */
static void end_line(struct output *o)
{
    while (o->text.len > 0 && o->text.data[o->text.len - 1] == ' ')
        o->text.data[--o->text.len] = '\0';
    strbuf_addc(&o->text, '\n');
}

static void print_row(const struct table *t, const struct table_layout *l, struct output *o,
                      const struct table_cell *row)
{
    CLEANUP(strbuf_release) struct strbuf wrapped = STRBUF_INIT(2 * CELL_MAX);
    size_t last = t->column_count - 1;
    size_t whole = o->width > t->indent ? o->width - t->indent : 0;

    add_spaces(o, t->indent);
    for (size_t i = 0; i < last; i++) {
        CLEANUP(strbuf_release) struct strbuf cell = STRBUF_INIT(2 * CELL_MAX);

        output_shorten(&cell, row[i].text,
                       is_line(t, row)      ? whole
                       : is_shortened(t, i) ? l->widths[i]
                                            : 0);
        output_add_styled(o, row[i].style, cell.data);
        if (!l->stacked || i + 1 < last)
            end_cell(o, l->widths[i], output_count_columns(cell.data));
    }
    if (l->stacked && *row[last].text != '\0') {
        end_line(o);
        add_spaces(o, l->last_at);
    }
    if (is_shortened(t, last) && !l->stacked)
        output_shorten(&wrapped, row[last].text, l->widths[last]);
    else if (t->whole_last && o->width > 0)
        output_shorten(&wrapped, row[last].text, o->width - l->last_at);
    else
        output_wrap(&wrapped, row[last].text, l->last_at, l->last_at, o->width);
    output_add_styled(o, row[last].style, wrapped.data);
    end_line(o);
}

void table_print(const struct table *t, struct output *o)
{
    struct table_layout l = make_table_layout(t, o->width);

    assert(t->cell_count % t->column_count == 0);
    if (t->headings[0])
        add_spaces(o, t->indent);
    /* A stacked column has no heading. */
    for (size_t i = 0; t->headings[0] && i < t->column_count - l.stacked; i++) {
        bool ends = i + 1 == t->column_count - l.stacked;

        output_add_styled(o, STYLE_FAINT, t->headings[i]);
        if (ends)
            end_line(o);
        else
            end_cell(o, l.widths[i], output_count_columns(t->headings[i]));
    }
    for (size_t i = 0; i < t->cell_count; i += t->column_count)
        print_row(t, &l, o, &t->cells[i]);
}

enum { INDENT = 2, DETAIL_INDENT = 5 };

void explanation_print_line(struct output *o, enum explain_style style, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    size_t indent = style == EXPLAIN_DETAIL ? DETAIL_INDENT : INDENT;

    output_escape(&safe, text);
    if (style == EXPLAIN_HEADING) {
        strbuf_adds(&o->text, o->text.len > 0 ? "\n" : "");
        output_shorten(&line, safe.data, o->width);
        output_add_styled(o, STYLE_HEADING, line.data);
    } else {
        strbuf_addf(&o->text, "%*s", (int)indent, "");
        if (style == EXPLAIN_ROW)
            output_shorten(&o->text, safe.data, o->width > indent ? o->width - indent : 0);
        else
            output_wrap(&o->text, safe.data, indent, indent, o->width);
    }
    strbuf_addc(&o->text, '\n');
}

static void print_line(void *context, enum explain_style style, const char *text)
{
    explanation_print_line(context, style, text);
}

void explanation_print(const struct explanation *x, struct output *o)
{
    explanation_each_line(x, print_line, o);
}
