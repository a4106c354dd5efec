/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/expose/problem_rows.h"
#include "metrics/rules/engine.h"
#include "metrics/simulate/plan.h"

/*
 * Decisions and plans as JSON (schemas: exporter/docs/). Lists are sorted, so reports over the same
 * objects are byte-equal. The engine must have evaluated all entries.
 */

/* Lists of the report that have places in files. */
enum report_file_list {
    REPORT_INVALID,       /* Files and documents that the exporter cannot use. */
    REPORT_DUPLICATES,    /* Objects that a later document declares again. */
    REPORT_REPEATED_KEYS, /* Keys that a mapping has twice. */
};

/* Element of one of these lists. Texts are borrowed. */
struct report_invalid {
    enum report_file_list list;
    const char *kind; /* Member "kind" in the report: "Manifest". */
    const char *path;
    size_t line;      /* 0 if unknown. */
    size_t column;    /* 0 if unknown. */
    const char *text; /* Description of the problem. */
};

/* Kustomization or Helm chart among the files. Texts are borrowed. */
struct report_rendering {
    const char *path;    /* Its folder; of one that is not rendered, its definition. */
    const char *kind;    /* "Kustomization", "Chart"; NULL if `message` is set. */
    const char *program; /* NULL if `message` is set, as is `version`. */
    const char *version;
    size_t objects;
    const char *message; /* Reason for not rendering it; NULL if it was rendered. */
};

/* File or document that is no Kubernetes object. Texts are borrowed. */
struct report_skipped {
    const char *kind; /* Identifier of what it looks like, such as "helm_template". */
    const char *path;
    size_t line; /* 0 if unknown. */
};

struct report_skipped_count {
    const char *kind;
    size_t count;
};

/* Data of files for the report, and its filter. All zero: no object comes from a file. */
struct report_files {
    const struct report_invalid *invalid;
    size_t invalid_count;
    const struct report_rendering *renderings;
    size_t rendering_count;
    const struct report_skipped *skipped; /* The first ones. */
    size_t skipped_count;
    const struct report_skipped_count *skipped_kinds; /* Numbers of all. */
    size_t skipped_kind_count;
    size_t excluded_files;   /* Files that patterns exclude. */
    size_t excluded_folders; /* Their files are not counted. */
    struct location_source locations;
    const struct problem_filter *problems; /* Problems in the report; NULL: all. */
    struct suppression_source suppressions;
    const char *suppressed; /* JSON of the member "suppressed"; NULL: no such member. */
    const char *exceptions; /* JSON of the member "exceptions"; NULL: no such member. */
};

/*
 * Appends the whole report, as a document, member or element. The elements of `files->invalid` are
 * in the lists "invalid", "duplicates" and "repeatedKeys"; "invalid" also has problems of policies,
 * and defects of templates and bindings. "renderings" is omitted if it is empty; "skipped" has
 * numbers and places of documents that are no objects. `files` may be NULL.
 */
void report_put(struct json_writer *w, const char *key, const struct engine *engine,
                const struct report_files *files);

/* Appends the report as a document with line breaks. Used only by tests. */
void report_write(const struct engine *engine, const struct report_files *files,
                  struct strbuf *out);

/* The order of the report: compares dependencies by kind, namespace and name of the resource. */
int dependency_compare(const struct entry *left, const struct entry *right);

/* Lists of the report for report_each_entry(). The entries of REPORT_CONFLICTS are dependencies. */
enum report_list { REPORT_POLICIES, REPORT_CONFLICTS, REPORT_LEASES };

typedef void report_entry_fn(void *context, const struct entry *entry);

/* Calls `each` for every entry that may have elements in a list, in the order of the report. */
void report_each_entry(const struct engine *engine, enum report_list list, report_entry_fn *each,
                       void *context);

/* Appends the elements of a list for one entry, one per line. */
void report_add_lines(const struct engine *engine, enum report_list list, const struct entry *entry,
                      struct strbuf *out);

/*
 * Appends the result of plan_finish() as one JSON document. CPU is in cores, memory in bytes.
 * Templates, conflicts and objects of the change have the places of `locations`; NULL omits them.
 * `fails` is the JSON text of the member "fails"; NULL omits the member. Calls plan_undo() if
 * conflicts vanish, because only the state before the change has their details.
 */
void report_plan(struct plan *p, const struct plan_result *r, const struct engine *engine,
                 const struct location_source *locations, const char *fails, struct strbuf *out);

/* Appends the document of report_plan(), without `fails`, as a member of the open object. */
void report_put_plan(struct json_writer *w, const char *key, struct plan *p,
                     const struct plan_result *r, const struct engine *engine);

/*
 * Appends an outcome as {state, reason, policy, clusters, outcome, outcomeReason, requiredBy}, with
 * "undetermined" instead of unknown clusters, and "requiredBy" only for attached templates; null if
 * the template does not exist.
 */
void report_put_outcome(struct json_writer *w, const char *key, const struct outcome *o);
