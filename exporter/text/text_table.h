/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"
#include "metrics/explain/explanation.h"

/*
 * Output for people: a buffer of text, wrapped to the width of the terminal, and coloured if the
 * terminal supports it. output_flush() prints the buffer.
 */
enum {
    OUTPUT_WIDTH_DEFAULT = 80, /* For terminals that report no width, and for the API. */
    OUTPUT_WIDTH_MIN = 40,     /* Smaller widths, except 0, are raised to this one. */
    OUTPUT_WIDTH_MAX = 10000,  /* Larger widths are ignored in COLUMNS, and refused in the API. */
};

struct output {
    struct strbuf text;
    unsigned width; /* Columns, at least OUTPUT_WIDTH_MIN; 0 for no limit. */
    bool colour;
    bool redraws; /* The terminal can overwrite its last line. */
};

/*
 * Creates an empty buffer with the properties of `fd`. The width is a valid value of COLUMNS, else
 * that of the terminal; other files have no limit. A terminal has colours unless NO_COLOR is not
 * empty or TERM is "dumb".
 */
void output_init(struct output *o, int fd);
void output_release(struct output *o);

/*
 * Writes the text to `fd` and empties the buffer. Returns false and sets `err` if the buffer has
 * overflowed, or if a write fails, as on a closed pipe; a part may then be written.
 */
bool output_flush(struct output *o, int fd, struct error *err) MUST_USE;

enum output_style {
    STYLE_PLAIN,
    STYLE_HEADING, /* Bold */
    STYLE_FAINT,
    STYLE_BAD,     /* Red */
    STYLE_CAUTION, /* Yellow */
    STYLE_GOOD,    /* Green */
};

/* Appends a text in a style. The caller escapes text from outside with output_escape(). */
void output_add_styled(struct output *o, enum output_style style, const char *text);

/*
 * Appends a bar without a newline, such as "[##........] 1 of 5", for a terminal that redraws its
 * last line. output_add_clear_line() removes the bar.
 */
void output_add_bar(struct output *o, size_t done, size_t total);
/* Removes the last line if it has no newline; nothing on other terminals and files. */
void output_add_clear_line(struct output *o);

/* Appends a heading "<title> (<count>)", wrapped, and a newline. */
void output_add_section(struct output *o, const char *title, size_t count);

/*
 * Appends a text that is safe for a terminal: each byte of an unsafe character (utf8_is_unsafe)
 * becomes an escape such as "\x1b", and malformed UTF-8 becomes U+FFFD.
 */
void output_escape(struct strbuf *out, const char *text);

/* Like output_escape(), but keeps newlines. */
void output_escape_lines(struct strbuf *out, const char *text);

/*
 * Appends the words of an escaped text, and breaks lines that would exceed `width` columns (0: no
 * limit). The first line begins at column `at` and keeps the first word; the other lines are
 * indented by `indent`. A word that is longer than a line is not broken.
 */
void output_wrap(struct strbuf *out, const char *text, size_t at, size_t indent, size_t width);

/*
 * Appends an escaped text of at most `width` columns. Replaces the middle of a longer text by
 * "...", because the beginning and the end of a name tell it from others. Width 0: no limit.
 */
void output_shorten(struct strbuf *out, const char *text, size_t width);

/*
 * Escapes a text and appends it, wrapped and with a newline. The first line is indented by `indent`
 * columns; the other lines are indented further.
 */
void output_add_line(struct output *o, size_t indent, const char *text);

enum { TABLE_COLUMNS_MAX = 12 };

struct table_cell {
    char *text; /* Owned; escaped. */
    enum output_style style;
};

/*
 * A table with aligned columns. Only the last column is wrapped, unless it is in `shortened`: users
 * copy the names in the other columns. If the terminal is too narrow, the columns in `shortened`
 * become narrower; if that is not enough, the last cell of a row stands on a line below.
 */
struct table {
    const char *headings[TABLE_COLUMNS_MAX]; /* Borrowed. */
    size_t column_count;
    unsigned indent;
    unsigned shortened; /* Columns to shorten in the middle: bits by index. */
    /*
     * The last cells are names of places: they stand on lines below rather than that a column
     * becomes very narrow, and only a cell that is wider than a line is shortened.
     */
    bool whole_last;
    struct table_cell *cells; /* Owned. */
    size_t cell_count;
};

/*
 * Returns an empty table. `headings` has column_count texts; NULL for a table without headings. The
 * caller releases the table.
 */
struct table table_make(const char *const *headings, size_t column_count, unsigned indent);
void table_release(struct table *t);

/* Adds a text, escaped and cut at 64 KiB, as the next cell. Cells are added row by row. */
void table_add(struct table *t, enum output_style style, const char *text);
/* Formats as printf(), then like table_add(); a result above 64 KiB becomes "". */
void table_addf(struct table *t, enum output_style style, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Adds a cell such as "Deployment default/app-a"; without the slash if `ns` is "". */
void table_add_object(struct table *t, const char *kind, const char *ns, const char *name);

/* Appends the table to the output. */
void table_print(const struct table *t, struct output *o);

/* Appends all lines of a finished explanation as explanation_print_line() does. */
void explanation_print(const struct explanation *x, struct output *o);

/*
 * Appends one line of an explanation in its style, escaped; wrapped, or shortened in the middle if
 * it is a heading or row.
 * Separates a heading from text before it by an empty line.
 */
void explanation_print_line(struct output *o, enum explain_style style, const char *text);

/* Used only by text_table.c and tests. */

/* Returns the width of an escaped text in columns. */
size_t output_count_columns(const char *text);
