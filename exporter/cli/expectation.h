/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"

/* Comparison of the expectations of a test case (test_suite.h) with the decisions. */

/* An expectation that does not hold. Texts are owned; `why` is NULL if no cause is known. */
struct failed_expectation {
    struct json_position where; /* Of the expected value in the test file. */
    char *object;               /* Name of the object for people; NULL: the whole case. */
    char *field;                /* Name in the test file, such as "next.clusters". */
    char *expected;
    char *got;
    char *why;
};

struct failed_expectations {
    struct failed_expectation *items;
    size_t count;
};
void failed_expectations_release(struct failed_expectations *list);

/* The bindings before a change, to tell those that the simulated Karmada has written. */
struct present_bindings;
struct present_bindings *present_bindings_new(const struct store *store) MUST_USE;
/* Accepts NULL. */
void present_bindings_free(struct present_bindings *bindings);

/* State that expectations are compared with. The engine has no evaluation left to do. */
struct observation {
    const struct evaluation *evaluation;
    const struct plan_result *plan; /* Before plan_undo(); NULL without a change. */
    /* Objects of `expect` before the change, by index, pinned; NULL: there was none. */
    struct entry *const *objects;
    const struct present_bindings *bindings; /* Before the change; NULL without one. */
};

/*
 * Returns the object that an element of `expect` names; NULL with the reason in `err` if there is
 * none, or more than one.
 */
const struct entry *expectation_find_object(const struct evaluation *e, const cJSON *expectation,
                                            struct error *err);

/* Returns true if the case has an expectation about problems: they must have been judged. */
bool expectations_need_problems(const cJSON *test_case);

/* Returns true if a case has an expectation about the outcome of an object of its change. */
bool expectations_name_change(const cJSON *test_case, const struct change_object *object);

/*
 * Compares all expectations of the node of a case, and adds those that do not hold. Returns false
 * and sets `err`, with the position in the file `path`, if an expectation cannot hold for the kind
 * of its object.
 */
bool expectations_compare(const struct observation *o, const cJSON *test_case, const char *path,
                          struct failed_expectations *out, struct error *err) MUST_USE;
