/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/base/json_writer.h"
#include "metrics/expose/problem_rows.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/policy.h"
#include "metrics/rules/decision.h"

/*
 * Structure of an explanation, and the parts that explanations of several classes share. Facts are
 * JSON for programs, lines are text for people; both are written in one pass. Write facts with
 * json_writer.h to the member `facts`, and open objects that have lines with explanation_open().
 * The JSON of such an object contains the lines, except headings, as member "text".
 */

enum explain_style {
    EXPLAIN_HEADING,   /* Heading of a section; not in the JSON. */
    EXPLAIN_PARAGRAPH, /* One or two sentences. */
    EXPLAIN_DETAIL,    /* Detail of the line above. */
    EXPLAIN_ROW,       /* Table row: columns are aligned and never wrapped. */
};

enum { EXPLANATION_DEPTH_MAX = 16 };

/*
 * Maximal size, in bytes, of a buffer for a part of an explanation, such as a list of names. The
 * append that would exceed the maximum and all later ones are left out.
 */
enum { EXPLAIN_VALUE_MAX_BYTES = 1 << 24 };

/* Must not be moved between explanation_init() and explanation_release(). */
struct explanation {
    struct strbuf json;
    struct json_writer facts;
    struct explanation_line *lines;
    size_t line_count;
    size_t line_capacity;
    struct {
        size_t first_line; /* Number of lines before the level was opened. */
        unsigned object;   /* Index of the innermost object, which gets the lines of the level. */
    } levels[EXPLANATION_DEPTH_MAX]; /* Open objects and arrays; `depth` of them are used. */
    unsigned depth;
    const char *section; /* Key of the open section: a member of the outermost object, or "verdict";
                            NULL outside. */
    /* Set these after explanation_init(). */
    bool without_history;             /* Omit the section "history". */
    struct location_source locations; /* Places of objects in files; all zero: none. */
};

/* Initializes an empty explanation and opens the outermost object. */
void explanation_init(struct explanation *x);
/* Closes the outermost object: `json` is then complete, if strbuf_ok(). */
void explanation_finish(struct explanation *x);
void explanation_release(struct explanation *x);

/* Open and close an object or array in the JSON; parameters as for json_writer_open(). */
void explanation_open(struct explanation *x, const char *key, char bracket);
void explanation_close(struct explanation *x, char bracket);

/*
 * Adds a line to the innermost open object; a text above 256 MiB becomes an empty line. Control
 * characters are not escaped: code that writes to a terminal must escape them.
 */
void explanation_add_line(struct explanation *x, enum explain_style style, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

typedef void explain_fn(void *context, enum explain_style style, const char *text);
/* Calls `line` for each line in order; the text is borrowed. */
void explanation_each_line(const struct explanation *x, explain_fn *line, void *context);
/* Calls `line` for the lines of one section. `section`: key of a member of the outermost object. */
void explanation_each_line_of(const struct explanation *x, const char *section, explain_fn *line,
                              void *context);
/* Calls `line` for the lines in no section of an array that ends with NULL. */
void explanation_each_other_line(const struct explanation *x, const char *const *sections,
                                 explain_fn *line, void *context);

/* ---- parts of explanations ---- */

enum { EXPLAIN_NAMES = 4 };

/* Context of the functions that write an explanation. */
struct explain_context {
    struct engine *engine;
    int64_t now_ms; /* Milliseconds since the epoch. */
    struct explanation *out;
    struct strbuf names[EXPLAIN_NAMES]; /* Memory for explain_name(). */
    unsigned next_name;                 /* Counter; the index in `names` modulo EXPLAIN_NAMES. */
    bool judged; /* A problem of the object was explained, with its actor and action. */
};

/* Returns a name such as "Deployment default/web"; valid during EXPLAIN_NAMES - 1 further calls. */
const char *explain_name(struct explain_context *x, const struct entry *entry);

/* Opens a section: the object `key` with a heading. Close the object with explanation_close(). */
void explain_open_section(struct explain_context *x, const char *key, const char *heading);

/* Add a line to the open section. */
#define explain_paragraph(x, ...) explanation_add_line((x)->out, EXPLAIN_PARAGRAPH, __VA_ARGS__)
#define explain_detail(x, ...)    explanation_add_line((x)->out, EXPLAIN_DETAIL, __VA_ARGS__)
#define explain_row(x, ...)       explanation_add_line((x)->out, EXPLAIN_ROW, __VA_ARGS__)

/* Adds the time `since_ms` as "since", and as a line; null and no line if 0 (unknown). */
void explain_since(struct explain_context *x, int64_t since_ms);

/*
 * Adds the list "fields": the differences of a binding from a policy in `fields`, bits by enum
 * drift_field. The list is empty if the policy or the binding does not exist.
 */
void explain_field_differences(struct explain_context *x, unsigned fields,
                               const struct entry *policy, const struct entry *binding);

/* Adds the plain values in a JSON text as details, "path: value"; EXPLAIN_NOT_SET for NULL. */
void explain_json(struct explain_context *x, const char *json);

/*
 * Adds the replicas of a binding by cluster; an empty list for NULL. If the scheduler has not
 * applied the binding's placement yet, also adds the placement that it applied last.
 */
void explain_assigned_replicas(struct explain_context *x, const struct binding *b);

/*
 * Adds the section "requiredBy": the referrers of a dependency, the values that they request, and
 * the resulting values. Adds nothing if `dependency` is NULL or has no dependency_decision(), or if
 * `referrers` and `dangling` of that decision are 0.
 */
void explain_referrers(struct explain_context *x, const struct entry *dependency);

/* Adds the section "broken": the defects of a template or a binding, if it has any. */
void explain_defects(struct explain_context *x, const struct entry *entry);

/* ---- fields that Karmada copies from policies into bindings ---- */

#define EXPLAIN_NOT_SET "(not set)"

/* Returns the value of a field as JSON: in `out`, borrowed from `p` or static; NULL if not set. */
const char *explain_field_json(const struct propagation *p, enum drift_field field,
                               struct strbuf *out);

/* ---- differences of two JSON texts ---- */

/*
 * One differing value. Objects are compared by member, arrays of objects by index, all other values
 * as a whole.
 */
struct difference {
    const char *path;   /* Example: "clusterAffinity.clusterNames"; "" for the whole texts. */
    const char *before; /* JSON; NULL if the value is missing. */
    const char *after;  /* JSON; NULL if the value is missing. */
};

typedef void difference_fn(void *context, const struct difference *difference);

/*
 * Calls `each` for every difference of two JSON texts, by member name and index; the texts in the
 * difference are borrowed. Both texts must be canonical (metrics/model/canonical_json.h): valid,
 * without null. NULL is a missing value.
 */
void differences_each(const char *before, const char *after, difference_fn *each, void *context);

/*
 * One differing plain value as a line for people. An element that two arrays of plain values have
 * in common has no line. If the arrays differ only in the order or the repetition of elements, each
 * array is one line.
 */
struct difference_line {
    char sign; /* '-' if the value is only before, '+' if it is only after. */
    const char *path;
    const char *value; /* Strings without quotes. */
};

typedef void difference_line_fn(void *context, const struct difference_line *line);
/* Calls `each` for the lines of each difference of two texts: first those with '-', then '+'. */
void difference_lines_each(const char *before, const char *after, difference_line_fn *each,
                           void *context);
