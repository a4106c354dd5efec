/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/template_expectation.h"

/* Comparison of the expectations of a test case (test_suite.h) with the decisions. */

/* The bindings before a change, to tell those that the simulated Karmada has written. */
struct present_bindings;
struct present_bindings *present_bindings_new(const struct store *store) MUST_USE;
/* Accepts NULL. */
void present_bindings_free(struct present_bindings *bindings);

/*
 * Returns the object that an element of `expect` names; NULL with the reason in `err` unless
 * exactly one object fits.
 */
const struct entry *expectation_find_object(const struct evaluation *e, const cJSON *expectation,
                                            struct error *err);

/* Returns true if the case has an expectation about problems: they must have been judged. */
bool expectations_need_problems(const cJSON *test_case);

/* Returns true if the case has an expectation about next changes: `simulation` must be set. */
bool expectations_need_simulation(const cJSON *test_case);

/* Returns true if a case has an expectation about the outcome of an object of its change. */
bool expectations_name_change(const cJSON *test_case, const struct change_object *object);

/*
 * Compares all expectations of the node of a case, and adds those that do not hold. Returns false
 * and sets `err`, with the position in the file `path`, if an expectation cannot hold for the kind
 * of its object.
 */
bool expectations_compare(const struct observation *o, const cJSON *test_case, const char *path,
                          struct failed_expectations *out, struct error *err) MUST_USE;
