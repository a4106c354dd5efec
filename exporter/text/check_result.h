/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/options/fail_on.h"
#include "exporter/text/baseline.h"
#include "exporter/text/exceptions.h"
#include "metrics/base/map.h"
#include "metrics/base/strbuf.h"
#include "metrics/expose/problem_rows.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/engine.h"

/*
 * HTTP header of /api/v1/report with numbers of problems, from which `check --server` derives its
 * exit status: "warning=2, not_propagated/no_match=2, hidden:not_delivered/waiting=1, unread=1", or
 * "none". Severities and problems count open and resolving instances. "hidden:" counts hidden
 * instances, "normal:" conditions of --fail-on that are no problem.
 */
#define PROBLEM_COUNTS_HEADER "Karmada-Problems"

/* Maximum length of the value of PROBLEM_COUNTS_HEADER. */
enum { PROBLEM_COUNTS_MAX_BYTES = 24 * 1024 };

struct problem_counts {
    size_t severities[SEVERITY_COUNT];
    size_t open[PROBLEM_REASON_COUNT]; /* Includes resolving instances. */
    size_t hidden[PROBLEM_REASON_COUNT];
    size_t normal[NORMAL_CONDITION_COUNT];
    size_t unread;  /* `unread` of struct check_result, plus 1 if the asset file has a problem. */
    size_t missing; /* Kinds that the API server did not deliver (missing_kind_is_failure). */
};

/* Sentences about the conditions that are no problem, by enum normal_condition. */
struct normal_condition_text {
    const char *cause;
    const char *action;
};
extern const struct normal_condition_text normal_condition_texts[NORMAL_CONDITION_COUNT];

/* Appends PROBLEM/REASON, or PROBLEM if the reason has no name. */
void problem_reason_name_add(struct strbuf *out, enum problem_reason reason);

/* Appends the value of PROBLEM_COUNTS_HEADER, which omits counts of 0. */
void problem_counts_write(const struct problem_counts *c, struct strbuf *out);

/*
 * Parses the value of PROBLEM_COUNTS_HEADER. Ignores unknown names, which an exporter of another
 * version may send. Returns false, without a change of `out`, if the value is malformed.
 */
bool problem_counts_read(const char *text, struct problem_counts *out) MUST_USE;

/*
 * Returns true if --fail-on names something that exists: a severity counts open and resolving
 * instances, a problem or reason hidden ones, too.
 */
bool problem_counts_fail(const struct problem_counts *c, const struct fail_on *fail_on);

/*
 * Sets the filter of --problem and --namespace: `text` is PROBLEM or PROBLEM/REASON, "" for all;
 * `ns` is NULL for all namespaces. The filter borrows both. Returns false and sets `err` if a name
 * is unknown: the error suggests the nearest one.
 */
bool problem_filter_parse(const char *text, const char *ns, struct problem_filter *out,
                          struct error *err) MUST_USE;

struct hidden_problem {
    const struct problem *problem;
    size_t position; /* In the order of the contract. */
};

/* Known problems and exceptions that check_result_make() applies. */
struct suppressions {
    struct baseline *baseline;     /* Borrowed; NULL without --baseline. */
    struct exceptions *exceptions; /* Borrowed. */
    const char *environment;       /* Borrowed; "" without --environment. */
    int64_t now_ms;                /* Time at which exceptions end or not; since the epoch. */
};

/* Instance that does not count, because the baseline has it or an exception covers it. */
struct suppressed_problem {
    const struct problem *problem;
    const struct exception *exception; /* Borrowed; NULL: the baseline has the problem. */
};

/* Instance, among those of `shown`, that an exception covered until it expired. */
struct expired_problem {
    const struct problem *problem; /* NULL: a condition that is no problem, of `template`. */
    const struct entry *template;
    enum normal_condition condition;
    const struct exception *exception; /* Borrowed. */
};

/* Numbers of suppressed problems, and of conditions that are no problem. */
struct suppressed_counts {
    size_t known;    /* In the baseline. */
    size_t excepted; /* Covered by an exception. */
    size_t gone;     /* In the baseline, and no problem any more. */
    size_t unread;   /* Unread documents that are in the baseline. */
};

/* Problems of an evaluation, for `check` and for /api/v1/report. */
struct check_result {
    const struct evaluation *evaluation;
    struct problem_filter filter; /* Only problems that it selects are in the result. */
    /*
     * Instances that count, in the order of the contract: open and resolving ones, and hidden ones
     * that are new although the baseline has their cause.
     */
    const struct problem **shown;
    size_t shown_count;
    struct suppressed_problem *suppressed; /* In the order of the contract. Owned. */
    size_t suppressed_count;
    struct map suppressed_by_problem; /* The elements of `suppressed`. */
    struct expired_problem *expired;  /* Each fails the check. Owned. */
    size_t expired_count;
    struct map expired_by_problem; /* The problems of `expired`. */
    struct suppressed_counts numbers;
    const struct suppressions *suppressions; /* Borrowed; may be NULL. */
    struct hidden_problem *hidden;           /* Sorted by the address of their cause. Owned. */
    size_t hidden_count;
    size_t pending_count; /* Problems that are younger than their patience. */
    struct entry_list normal[NORMAL_CONDITION_COUNT]; /* Templates, sorted. */
    struct entry_list not_placed; /* Templates that Karmada will not place (below), sorted. */
    struct problem_counts counts;
    size_t states[STATE_COUNT]; /* Templates by state. */
    size_t objects;             /* Of all kinds. */
    size_t templates;
    size_t not_selected; /* Pending templates of kinds that no policy selects. */
    size_t policies;
    size_t bindings;
    size_t unread; /* Problems of manifests for which check_result_is_unread() is true. */
    /* False if a file, a document or a kind could not be read, except those of the baseline. */
    bool complete;
};

/*
 * Collects the problems, and the governed templates without a binding that Karmada is predicted to
 * place nowhere or to refuse (predict_template()). The evaluation must have no object left to
 * evaluate; it must outlive the result and stay unchanged until check_result_release(). Before
 * evaluation_judge_problems() there are no problems. `filter` selects problems; NULL: all. Its
 * texts must outlive the result, as must `suppressions`, which may be NULL.
 *
 * An exception also covers the problems that the covered one hides. In force, it comes before the
 * baseline. Expired, it keeps the baseline from suppressing its problem.
 */
void check_result_make(struct check_result *r, const struct evaluation *e,
                       const struct problem_filter *filter,
                       const struct suppressions *suppressions);
void check_result_release(struct check_result *r);

/* Returns the index in r->hidden of the first problem that `cause` hides, or of a later one. */
size_t check_result_find_hidden(const struct check_result *r, const struct problem *cause);

/* Returns true if the problem counts, and --fail-on names it, or its severity if it is shown. */
bool check_result_is_named(const struct check_result *r, const struct problem *p,
                           const struct fail_on *fail_on);

/*
 * Returns true if the problem fails the check: check_result_is_named(), or its exception has
 * expired and --fail-on is not empty.
 */
bool check_result_fails(const struct check_result *r, const struct problem *p,
                        const struct fail_on *fail_on);

/* Returns true if anything fails the check. */
bool check_result_has_failure(const struct check_result *r, const struct fail_on *fail_on);

/* Returns the suppression of an instance; NULL if it counts. */
const struct suppressed_problem *check_result_suppression(const struct check_result *r,
                                                          const struct problem *p);

/* Returns true if the problem of the manifests blocks the evaluation. */
bool check_result_is_unread(const struct check_result *r, const struct manifest_problem *p);
/* Returns true if it blocks the evaluation, and the baseline has it: the check does not fail. */
bool check_result_is_known_unread(const struct check_result *r, const struct manifest_problem *p);
