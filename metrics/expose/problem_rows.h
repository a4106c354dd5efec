/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/expose/policy_names.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/problems/problem_list.h"

/* Rows of problems in the report and in lists, as JSON, NDJSON and CSV; and their filters. */

/* Place of an object in a file. Texts are borrowed. */
struct location {
    const char *file;
    size_t line;   /* From 1 on; 0 if unknown. */
    size_t column; /* From 1 on; 0 if unknown. */
};

/* Source of the places of objects. All zero: no object comes from a file. */
struct location_source {
    /*
     * Stores the place of a field of the object in `out`; returns false if the object does not come
     * from a file. `field` is a path such as "spec.resourceSelectors[0].name"; "" is the object. If
     * the file does not have the field, the place is that of the nearest field above.
     */
    bool (*find)(const void *context, const struct entry *entry, const char *field,
                 struct location *out);
    /*
     * Stores the place of the declaration that is `index` + 1 declarations before that of find(),
     * which counts; returns false if there are fewer.
     */
    bool (*find_earlier)(const void *context, const struct entry *entry, size_t index,
                         struct location *out);
    /*
     * Stores the place of the first fault of a file or PATH that cannot be read; returns false
     * without one. May be NULL.
     */
    bool (*find_fault)(const void *context, const char *path, struct location *out);
    const void *context;
};

/*
 * Appends the place of a field as a member {file, line, column}. Returns false, and appends
 * nothing, if the object does not come from a file, or `locations` is NULL.
 */
bool location_write(struct json_writer *w, const char *key, const struct location_source *locations,
                    const struct entry *entry, const char *field);

/* Appends a policy with the place of its field, like location_write(); null if `name` is unknown.
 */
void policy_write(struct json_writer *w, const char *key, struct policy_name name,
                  const struct location_source *locations, const struct entry *policy,
                  const char *field);

/*
 * Stores the place of the field that causes the problem, or of the fault of a file. Returns false
 * if the subject does not come from a file.
 */
bool problem_find_location(const struct engine *e, const struct problem *p,
                           const struct location_source *locations, struct location *out);

/* `at` is NULL if the object does not come from a file. */
typedef void related_location_fn(void *context, const struct entry *related,
                                 const struct location *at);

/*
 * Calls `each` for every other party of the problem (problem_each_related()), and for each
 * declaration of the subject that does not count: the last 100 ones of DUPLICATE_OBJECT.
 */
void problem_each_related_location(const struct engine *e, const struct problem *p,
                                   const struct location_source *locations,
                                   related_location_fn *each, void *context);

/* Like problem_each_related_location(), but also for a policy that is a cause of the problem. */
void problem_each_object_location(const struct engine *e, const struct problem *p,
                                  const struct location_source *locations,
                                  related_location_fn *each, void *context);

/*
 * Appends the instance as a JSON object. All decisions must be up to date. Two calls over the same
 * objects and times append the same bytes.
 */
void problem_write(struct json_writer *w, const struct engine *e, const struct problem *p,
                   const struct location_source *locations);

/* Columns for csv_add_row(): paths of members in the JSON of problem_write(). Ends with NULL. */
extern const char *const problem_columns[];

/*
 * Appends an array `key` with the instances of which problem_or_cause_matches() is true (NULL:
 * all), in the order of problems_list(); an empty array before engine_judge_problems(). Instances
 * that `suppressions`, which may be NULL, suppresses have a member "suppressed".
 */
struct problem_filter;
struct suppression_source;
void problems_write(struct json_writer *w, const char *key, const struct engine *e,
                    const struct location_source *locations, const struct problem_filter *filter,
                    const struct suppression_source *suppressions);

/* Why an instance does not count. Texts are borrowed. */
struct suppression {
    const char *by;     /* "baseline" or "exception". */
    const char *reason; /* Reason of an exception; else NULL, as the members below. */
    const char *until;  /* YYYY-MM-DD. */
    struct location at;
};

/* Source of the suppressions of instances, for problems_write(). All zero: all instances count. */
struct suppression_source {
    /* Stores the suppression of the instance; returns false if it counts. */
    bool (*find)(const void *context, const struct problem *p, struct suppression *out);
    const void *context;
};

/* Conditions that must all hold. Members that are NULL, or have a ..._COUNT, are no condition. */
struct problem_filter {
    enum problem_id problem;
    enum problem_severity severity;
    const char *reason;
    const char *ns; /* "" selects subjects without a namespace. */
    const char *owner;
    const char *policy; /* NAME or NAMESPACE/NAME. */
    const char *search; /* Part of NAMESPACE/NAME of the subject, in any case. */
    /* Problem that hides the instance; `cause_subject` is NAME or NAMESPACE/NAME of its subject. */
    enum problem_id cause;
    const char *cause_subject;
};

/* Filter that matches all instances. */
#define PROBLEM_FILTER_ALL                                                                         \
    ((struct problem_filter){                                                                      \
        .problem = PROBLEM_COUNT, .severity = SEVERITY_COUNT, .cause = PROBLEM_COUNT})

bool problem_matches(const struct problems *ps, const struct problem *p,
                     const struct problem_filter *filter);

/* Like problem_matches(), but also true for a hidden instance if its cause matches. */
bool problem_or_cause_matches(const struct problems *ps, const struct problem *p,
                              const struct problem_filter *filter);

/* ---- resolved instances ---- */

/*
 * Appends a resolved instance as a JSON object: the members of problem_write() that do not need the
 * objects, with the status "resolved", and its times.
 */
void resolved_problem_write(struct json_writer *w, const struct resolved_problem *r);

/* Columns for csv_add_row(), as problem_columns. */
extern const char *const resolved_problem_columns[];

/*
 * Like problem_matches(), with the severity at the resolution. A filter with a `cause` matches no
 * resolved instance.
 */
bool resolved_problem_matches(const struct resolved_problem *r,
                              const struct problem_filter *filter);

/* ---- the worst problem of an object ---- */

/* Worst open problem of an object, for its row in a list. */
struct worst_problem {
    int64_t since_ms; /* Milliseconds since the epoch; 0 if unknown. */
    uint8_t problem;  /* enum problem_id; PROBLEM_COUNT without a problem. */
    uint8_t severity; /* enum problem_severity; SEVERITY_COUNT without a problem. */
    uint8_t actor;    /* enum actor; ACTOR_NONE without a problem. */
};

#define NO_PROBLEM                                                                                 \
    ((struct worst_problem){                                                                       \
        .problem = PROBLEM_COUNT, .severity = SEVERITY_COUNT, .actor = ACTOR_NONE})

/*
 * Replaces the worst problem by an instance, if that is open and worse: severity, then since
 * (oldest first, unknown last), then problem. Returns true if the instance is open.
 */
bool worst_problem_add(struct worst_problem *worst, const struct problems *ps,
                       const struct problem *p);

/* Returns the worst problem about an entry. Accepts NULL for both. */
struct worst_problem worst_problem_of(const struct problems *ps, const struct entry *entry);

/* Returns the worst problem of a decided template and of its binding; `ps` may be NULL. */
struct worst_problem worst_problem_of_template(const struct problems *ps,
                                               const struct entry *template);

/*
 * Returns the role that must act on a decided template: that of its worst problem, else
 * responsible_actor().
 */
enum actor template_actor(const struct engine *e, const struct entry *template);
