/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"

/*
 * An explanation while it is made and after: facts as JSON for programs, and lines for people.
 * Both come out of one walk. Facts are members that are written to `facts`, inside objects that
 * explanation_open() and explanation_close() bracket. Lines are told in between; each object ends
 * with its lines as the member "text", so that whoever reads the JSON reads all that people do.
 *
 * Between init and release it must not be moved.
 */
enum explain_style {
    EXPLAIN_HEADING,   /* Begins a section; no part of the JSON. */
    EXPLAIN_PARAGRAPH, /* A sentence or two. */
    EXPLAIN_DETAIL,    /* Belongs below the line before it. */
    EXPLAIN_ROW,       /* Of a table: its columns line up, and it is never wrapped. */
};

enum { EXPLANATION_DEPTH_MAX = 16 };

struct explanation {
    struct strbuf json;
    struct writer facts;
    struct explanation_line *lines;
    size_t line_count;
    size_t line_capacity;
    struct {
        size_t first_line;
        unsigned object; /* The level of the object that its lines belong to. */
    } levels[EXPLANATION_DEPTH_MAX];
    unsigned depth;
    bool without_history; /* Leave out what is remembered. To be set after explanation_init(). */
};

/* Empty, with the outermost object open. */
void explanation_init(struct explanation *x);
/* Close the outermost object: from here on it can be read. */
void explanation_finish(struct explanation *x);
void explanation_release(struct explanation *x);

/* `bracket` and `key` as for writer_open(). */
void explanation_open(struct explanation *x, const char *key, char bracket);
void explanation_close(struct explanation *x, char bracket);

/* A line about the innermost open object. Any length; not made safe for a terminal. */
void explanation_line(struct explanation *x, enum explain_style style, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* Called for each line in turn; the text is borrowed. */
typedef void explain_fn(void *context, enum explain_style style, const char *text);
void explanation_lines(const struct explanation *x, explain_fn *line, void *context);
