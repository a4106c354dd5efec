/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/base/json_writer.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/policy.h"
#include "metrics/rules/decision.h"

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
    struct json_writer facts;
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

/* `bracket` and `key` as for json_writer_open(). */
void explanation_open(struct explanation *x, const char *key, char bracket);
void explanation_close(struct explanation *x, char bracket);

/* A line about the innermost open object. Any length; not made safe for a terminal. */
void explanation_line(struct explanation *x, enum explain_style style, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* Called for each line in turn; the text is borrowed. */
typedef void explain_fn(void *context, enum explain_style style, const char *text);
void explanation_lines(const struct explanation *x, explain_fn *line, void *context);

/* What the explanations of templates, policies and bindings have in common. */

enum { EXPLAIN_NAMES = 4 };

/* An explanation that is being made. */
struct explaining {
    struct engine *engine;
    int64_t now_ms; /* The time it is. */
    struct explanation *out;
    struct strbuf names[EXPLAIN_NAMES]; /* Memory for explain_name(). */
    unsigned turn;
};

/* "Deployment default/web"; true until the EXPLAIN_NAMES-th next call. */
const char *explain_name(struct explaining *x, const struct entry *entry);

/* Open the object `key`, which is a section with this heading. */
void explain_section(struct explaining *x, const char *key, const char *heading);

/* A line of a section. */
#define explain_say(x, ...)    explanation_line((x)->out, EXPLAIN_PARAGRAPH, __VA_ARGS__)
#define explain_detail(x, ...) explanation_line((x)->out, EXPLAIN_DETAIL, __VA_ARGS__)
#define explain_row(x, ...)    explanation_line((x)->out, EXPLAIN_ROW, __VA_ARGS__)

/* "since", null if unknown. */
void explain_since(struct explaining *x, int64_t since_ms);

/* "fields": each field in which a binding differs from a policy, value by value. */
void explain_fields(struct explaining *x, unsigned fields, const struct entry *policy,
                    const struct entry *binding);

/* Where a binding's replicas are, and whether the scheduler has yet to look at it again. */
void explain_assigned(struct explaining *x, const struct binding *b);

/* The section "requiredBy": who requires a dependency, what each wants, and what comes of it. */
void explain_required(struct explaining *x, const struct entry *dependency);

/* The section "broken": the defects of a template or a binding, if it has any. */
void explain_defects(struct explaining *x, const struct entry *entry);

/* The values of the fields that Karmada copies from policies into bindings. */

#define EXPLAIN_NOT_SET "(not set)"

/* A copied field's value, as text; EXPLAIN_NOT_SET if there is none. */
const char *explain_field_value(const struct propagation *p, enum drift_field field);
/* A copied field's value as JSON, in `out` or borrowed from `p`; NULL if it is not set. */
const char *explain_field_json(const struct propagation *p, enum drift_field field,
                               struct strbuf *out);

/*
 * In which values two texts of JSON differ, at the end of which path:
 * "clusterAffinity.clusterNames". Objects are compared member by member, lists of objects element
 * by element, anything else as a whole. For canonical texts (metrics/model/canonical_json.h), which
 * parse and have no null.
 */
struct difference {
    const char *path;   /* "" if the texts differ as a whole. */
    const char *before; /* JSON, NULL if there is no such value; so is the other. */
    const char *after;
};

typedef void difference_fn(void *context, const struct difference *difference);

/* Call `each` for every difference, in the order of the paths; the texts are borrowed. */
void differences_each(const char *before, const char *after, difference_fn *each, void *context);

/*
 * The same for people: one plain value a line, '-' for what is only before, '+' for what is only
 * after; of two lists of plain values the elements that the other one lacks. No quotes.
 */
struct difference_line {
    char sign;
    const char *path;
    const char *value;
};

typedef void difference_line_fn(void *context, const struct difference_line *line);
void difference_lines_each(const char *before, const char *after, difference_line_fn *each,
                           void *context);
