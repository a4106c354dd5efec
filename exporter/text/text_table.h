/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"
#include "metrics/explain/explanation.h"

/*
 * Text for people: tables whose columns line up, wrapped to the width of the
 * terminal, coloured only there. Everything is written to a buffer, which
 * output_flush() prints.
 */
enum {
    OUTPUT_WIDTH_DEFAULT = 80,
    OUTPUT_WIDTH_MIN = 40, /* Narrower terminals are treated as this wide. */
    OUTPUT_WIDTH_MAX = 10000,
};

struct output {
    struct strbuf text;
    unsigned width; /* In columns, OUTPUT_WIDTH_MIN or more; 0: no limit. */
    bool colour;
    bool redraws; /* A terminal, whose last line can be written over. */
};

/*
 * For what `fd` is: a terminal has a width and, unless NO_COLOR is set or TERM is
 * "dumb", colours. COLUMNS sets the width of anything. A file or a pipe has no limit.
 */
void output_init(struct output *o, int fd);
void output_release(struct output *o);

/* Send the text to `fd`. A closed pipe is an error, too. */
bool output_flush(struct output *o, int fd, struct error *err) MUST_USE;

enum output_style {
    STYLE_PLAIN,
    STYLE_HEADING, /* Bold */
    STYLE_FAINT,
    STYLE_BAD,     /* Red */
    STYLE_CAUTION, /* Yellow */
    STYLE_GOOD,    /* Green */
};

/* The text in a style. Not for texts from outside: those go through output_escape first. */
void output_add_styled(struct output *o, enum output_style style, const char *text);

/* Append a text made safe for a terminal: control characters become "\x1b", broken UTF-8 U+FFFD. */
void output_escape(struct strbuf *out, const char *text);

/* Appends a text of several lines, each made safe for a terminal. */
void output_escape_lines(struct strbuf *out, const char *text);

/* How many columns a text of output_escape is wide. */
size_t output_count_columns(const char *text);

/*
 * Append words so that no line passes `width` columns (0: no limit). The text,
 * which output_escape() made, begins at column `at`; further lines are indented by `indent`. A word
 * that does not fit a line is left whole.
 */
void output_wrap(struct strbuf *out, const char *text, size_t at, size_t indent, size_t width);

/*
 * Append words, made safe for a terminal, as lines of their own, all of them indented, and those
 * after the first deeper.
 */
void output_add_line(struct output *o, size_t indent, const char *text);

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

/* What `explain` prints, and /api/v1/explain answers as text. */

/* Print a finished explanation, made safe for a terminal and wrapped to the width. */
void explanation_print(const struct explanation *x, struct output *o);

/* Print one line of that. */
void explanation_print_line(struct output *o, enum explain_style style, const char *text);
