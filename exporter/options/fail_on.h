/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"
#include "metrics/rules/problems/problem_table.h"

/*
 * Value of --fail-on: what makes the exit status of `check` and `plan` 1. The text is a list with
 * commas of problems, PROBLEM/REASON, severities and, for `plan`, consequences of the change.
 */

/*
 * Results of a plan that --fail-on can name, with their words: problems that the change makes
 * appear, then consequences.
 */
#define PLAN_FAILURES(ROW)                                                                         \
    ROW(DEPENDENCY_CONFLICT, "dependency_conflict")                                                \
    ROW(POLICY_NOT_IN_FORCE, "policy_not_in_force")                                                \
    ROW(NOT_PROPAGATED, "not_propagated")                                                          \
    ROW(ORPHANED, "orphaned")                                                                      \
    ROW(OVERRIDE_FAILED, "override_failed")                                                        \
    /* A template leaves or reaches a cluster, or its replicas there change. */                    \
    ROW(MOVE, "move")                                                                              \
    /* No policy governs the template any more, or lost clusters have its only copies. */          \
    ROW(LOST, "lost")                                                                              \
    /* A template becomes current only at its user's next change. */                               \
    ROW(WAIT, "wait")                                                                              \
    /* A cluster gets more than its free capacity. */                                              \
    ROW(OVERFLOW, "overflow")                                                                      \
    /* The target clusters cannot be computed (enum undetermined_reason). */                       \
    ROW(UNDETERMINED, "undetermined")                                                              \
    /* Karmada's controllers do not reach a stable state. */                                       \
    ROW(UNSETTLED, "unsettled")                                                                    \
    /* Karmada removes a template from all clusters, or finds no cluster for it. */                \
    ROW(NOWHERE, "nowhere")                                                                        \
    /* The API server, a webhook or the scheduler refuses an object of the change. */              \
    ROW(REFUSED, "refused")                                                                        \
    /* Karmada ignores an object of the change. */                                                 \
    ROW(IGNORED, "ignored")                                                                        \
    /* Any name of an outcome or problem includes this one. */                                     \
    ROW(NOT_SIMULATED, "not_simulated")

#define PLAN_FAILURE_ENUMERATOR(id, word) PLAN_FAILURE_##id,
enum plan_failure {
    PLAN_FAILURES(PLAN_FAILURE_ENUMERATOR) PLAN_FAILURE_COUNT,
    PLAN_FAILURE_FIRST_CONSEQUENCE = PLAN_FAILURE_MOVE,
};
extern const char *const plan_failure_names[PLAN_FAILURE_COUNT];

/* Conditions of templates that are no problem, but that --fail-on can name for `check`. */
enum normal_condition {
    NORMAL_KIND_NOT_SELECTED, /* Pending: no policy selects the kind. */
    NORMAL_NO_MATCH,          /* Pending, and not meant to be propagated. */
    NORMAL_WAITING,           /* Unbound in files: no client has applied the objects yet. */
    NORMAL_CONDITION_COUNT,
};
/* Words of the conditions: PROBLEM/REASON. */
extern const char *const normal_condition_names[NORMAL_CONDITION_COUNT];

enum { REASON_WORDS = (PROBLEM_REASON_COUNT + 63) / 64 };

/* All zero is the empty value, with which no problem fails. */
struct fail_on {
    uint64_t reasons[REASON_WORDS]; /* Bits by enum problem_reason; a problem has those of all. */
    unsigned severities;            /* Bits by enum problem_severity, the higher ones included. */
    unsigned conditions;            /* Bits by enum normal_condition. */
    unsigned consequences;          /* Bits by enum plan_failure. */
};

/*
 * Parses a value. Returns false and sets `err`, without a change of `out`, if a name is unknown:
 * the error suggests the nearest name, or the problem that replaces a class of earlier releases.
 */
bool fail_on_parse(const char *text, struct fail_on *out, struct error *err) MUST_USE;

/* Appends a text that fail_on_parse() turns into the same value; "" for the empty value. */
void fail_on_write(const struct fail_on *f, struct strbuf *out);

bool fail_on_equal(const struct fail_on *a, const struct fail_on *b);
bool fail_on_is_empty(const struct fail_on *f);

/* Returns true if the value names the problem of the reason, or the reason itself. */
bool fail_on_names_reason(const struct fail_on *f, enum problem_reason reason);

/*
 * Returns false and sets `err` if the value names something that the command never reports, which
 * could not make it fail. `check` reports no consequences. `plan` reports the problems of
 * PLAN_FAILURES without their reasons, and no severities.
 */
bool fail_on_accepted_by_check(const struct fail_on *f, struct error *err) MUST_USE;
bool fail_on_accepted_by_plan(const struct fail_on *f, struct error *err) MUST_USE;

/* Returns the results of a plan that the value names: bits by enum plan_failure. */
unsigned fail_on_plan_failures(const struct fail_on *f);

/*
 * Names for help and completion, without reasons: severities, problems, consequences. Ends with
 * NULL.
 */
extern const char *const fail_on_names[];
/* Return the names that the command accepts: bits by index in fail_on_names. */
uint64_t fail_on_names_of_check(void);
uint64_t fail_on_names_of_plan(void);
