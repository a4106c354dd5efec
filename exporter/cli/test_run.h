/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/command.h"
#include "exporter/cli/expectation.h"
#include "exporter/cli/test_suite.h"

/* Runs of test cases: manifests are read, a change is simulated, expectations are compared. */

enum test_status {
    TEST_PASSED,
    TEST_FAILED, /* An expectation does not hold. */
    TEST_BROKEN, /* An input is missing or invalid. */
    TEST_STATUS_COUNT,
};
/* Names of the enumerators in JSON. */
extern const char *const test_status_names[TEST_STATUS_COUNT];

/* Result of one case in one release. */
struct test_result {
    const struct test_suite *suite; /* Borrowed, as is the case. */
    const struct test_case *test_case;
    const char *release; /* Text of `karmada`; NULL if the file does not set it. Borrowed. */
    enum test_status status;
    struct failed_expectations failures;
    struct text_list errors; /* Of TEST_BROKEN; each with file, line and column where known. */
};
void test_result_release(struct test_result *r);

/*
 * Evaluations of manifests, so that cases with the same manifests and settings read them once. Free
 * it with test_runner_free().
 */
struct test_runner;
struct test_runner *test_runner_new(const struct invocation *invocation) MUST_USE;
void test_runner_free(struct test_runner *r);

/*
 * Runs a case. `release` is an element of its setting `karmada`; NULL without the setting. Prints
 * warnings. The caller releases the result.
 */
struct test_result test_run(struct test_runner *r, const struct test_suite *suite,
                            const struct test_case *test_case, const cJSON *release);
