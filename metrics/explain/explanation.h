/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/base/json_writer.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/policy.h"
#include "metrics/rules/decision.h"

/*
 * Structure of an explanation, and the parts that explanations of all classes share. Facts are JSON
 * for programs, lines are text for people; both are written in one pass. Facts go to the member
 * `facts`, inside objects of explanation_open() and explanation_close(). Each object has its lines
 * except headings as the member "text".
 */

enum explain_style {
    EXPLAIN_HEADING,   /* Heading of a section; not in the JSON. */
    EXPLAIN_PARAGRAPH, /* One or two sentences. */
    EXPLAIN_DETAIL,    /* Detail of the line above. */
    EXPLAIN_ROW,       /* Table row: columns are aligned and never wrapped. */
};

enum { EXPLANATION_DEPTH_MAX = 16 };

/* Must not be moved between explanation_init() and explanation_release(). */
struct explanation {
    struct strbuf json;
    struct json_writer facts;
    struct explanation_line *lines;
    size_t line_count;
    size_t line_capacity;
    struct {
        size_t first_line;
        unsigned object; /* Level of the object that contains its lines. */
    } levels[EXPLANATION_DEPTH_MAX];
    unsigned depth;
    bool without_history; /* Omit the section "history". Set it after explanation_init(). */
};

/* Initializes an empty explanation and opens the outermost object. */
void explanation_init(struct explanation *x);
/* Closes the outermost object. Afterwards the explanation can be read. */
void explanation_finish(struct explanation *x);
void explanation_release(struct explanation *x);

/* Open and close an object or array; parameters as for json_writer_open(). */
void explanation_open(struct explanation *x, const char *key, char bracket);
void explanation_close(struct explanation *x, char bracket);

/*
 * Adds a line to the innermost open object, of any length. Control characters are not escaped:
 * output to a terminal must do it.
 */
void explanation_line(struct explanation *x, enum explain_style style, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* Calls `line` for each line in order; the text is borrowed. */
typedef void explain_fn(void *context, enum explain_style style, const char *text);
void explanation_each_line(const struct explanation *x, explain_fn *line, void *context);

/* ---- parts of explanations ---- */

enum { EXPLAIN_NAMES = 4 };

/* Context of the functions that write an explanation. */
struct explain_context {
    struct engine *engine;
    int64_t now_ms; /* Milliseconds since the epoch. */
    struct explanation *out;
    struct strbuf names[EXPLAIN_NAMES]; /* Memory for explain_name(). */
    unsigned next_name;                 /* Counter; the index in `names` modulo EXPLAIN_NAMES. */
};

/* Returns a name such as "Deployment default/web"; valid for EXPLAIN_NAMES - 1 further calls. */
const char *explain_name(struct explain_context *x, const struct entry *entry);

/* Opens the object `key` as a section with a heading. Close it with explanation_close(). */
void explain_open_section(struct explain_context *x, const char *key, const char *heading);

/* Add a line to the open section. */
#define explain_paragraph(x, ...) explanation_line((x)->out, EXPLAIN_PARAGRAPH, __VA_ARGS__)
#define explain_detail(x, ...)    explanation_line((x)->out, EXPLAIN_DETAIL, __VA_ARGS__)
#define explain_row(x, ...)       explanation_line((x)->out, EXPLAIN_ROW, __VA_ARGS__)

/* Adds the time `since_ms` as "since"; null if it is 0 (unknown). */
void explain_since(struct explain_context *x, int64_t since_ms);

/*
 * Adds the list "fields": differences of a binding from a policy; `fields` are bits by enum
 * drift_field.
 */
void explain_field_differences(struct explain_context *x, unsigned fields,
                               const struct entry *policy, const struct entry *binding);

/* Adds the replicas of a binding by cluster, and the last applied placement if it is outdated. */
void explain_assigned_replicas(struct explain_context *x, const struct binding *b);

/* Adds the section "requiredBy": the referrers of a dependency, their values and the result. */
void explain_referrers(struct explain_context *x, const struct entry *dependency);

/* Adds the section "broken": the defects of a template or a binding, if it has any. */
void explain_defects(struct explain_context *x, const struct entry *entry);

/* ---- fields that Karmada copies from policies into bindings ---- */

#define EXPLAIN_NOT_SET "(not set)"

/*
 * Returns the value of a field for people: text or JSON; EXPLAIN_NOT_SET if the field is not set.
 */
const char *explain_field_value(const struct propagation *p, enum drift_field field);
/* Returns the value of a field as JSON, in `out` or borrowed from `p`; NULL if it is not set. */
const char *explain_field_json(const struct propagation *p, enum drift_field field,
                               struct strbuf *out);

/* ---- differences of two JSON texts ---- */

/*
 * One differing value. Objects are compared by member, arrays of objects by element, all other
 * values as a whole. Both texts must be canonical (metrics/model/canonical_json.h): valid, without
 * null.
 */
struct difference {
    const char *path;   /* Such as "clusterAffinity.clusterNames"; "" for the texts as a whole. */
    const char *before; /* JSON; NULL if the value is missing. */
    const char *after;  /* JSON; NULL if the value is missing. */
};

typedef void difference_fn(void *context, const struct difference *difference);

/* Calls `each` for every difference, in the order of paths; the texts are borrowed. */
void differences_each(const char *before, const char *after, difference_fn *each, void *context);

/*
 * One differing plain value as a line for people. Arrays of plain values are compared by element:
 * an element that is in both has no line.
 */
struct difference_line {
    char sign; /* '-' if the value is only before, '+' if it is only after. */
    const char *path;
    const char *value; /* Strings without quotes. */
};

typedef void difference_line_fn(void *context, const struct difference_line *line);
void difference_lines_each(const char *before, const char *after, difference_line_fn *each,
                           void *context);
