/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Each macro defines a unit test as a function and registers it:
 *
 *     TEST(an_empty_map_has_no_entries)
 *     {
 *         ...
 *     }
 *
 * Each program links suite.c. Its main() runs the registered tests in source order, as one cmocka
 * group that has the name of the program. An argument is a pattern with '*' and '?': only tests
 * with a matching name run.
 */

/* Before cmocka.h: its macro fail() would break the declaration of the function fail(). */
#include "metrics/base/error.h"

#include <setjmp.h>

#include <cmocka.h>

/* Defines one test; *state is NULL. */
#define TEST(function) TEST_WITH(function, NULL, NULL)

/* Defines one test with set_up(state) and tear_down(state), which return 0 on success. */
#define TEST_WITH(function, set_up, tear_down)                                                     \
    SUITE_TEST(function, suite_add(__LINE__, #function, NULL, function, NULL, set_up, tear_down))

/*
 * Defines a test for each row of a table; *state points to the row. `title` is a member with a
 * text. The name of the test is the function and the text, or the function only if the text is
 * NULL.
 */
#define TEST_ROWS(function, table, title)                                                          \
    SUITE_TEST(function, for (size_t i = 0; i < ARRAY_LEN(table); i++)                             \
                             suite_add(__LINE__, #function, (table)[i].title, function,            \
                                       &(table)[i], NULL, NULL))

/*
 * For generated rows: defines a function that runs before main() and registers tests with ADD_TEST.
 * Define the test function before it. ADD_TEST copies the title.
 */
#define MADE_TESTS(maker) __attribute__((constructor)) static void maker(void)
#define ADD_TEST(function, title, row)                                                             \
    suite_add(__LINE__, #function, title, function, row, NULL, NULL)

/* At most once per program: functions to run before the first and after the last test, or NULL. */
#define SUITE_WITH(set_up, tear_down)                                                              \
    __attribute__((constructor)) static void suite_fixtures(void)                                  \
    {                                                                                              \
        suite_set_fixtures(set_up, tear_down);                                                     \
    }                                                                                              \
    _Static_assert(1, "so that a semicolon may follow")

/* ---- implementation of the macros ---- */

#define SUITE_TEST(function, enrol)                                                                \
    static void function(void **state);                                                            \
    __attribute__((constructor)) static void enrol_##function(void)                                \
    {                                                                                              \
        enrol;                                                                                     \
    }                                                                                              \
    static void function(void **state __attribute__((unused)))

void suite_add(int line, const char *function, const char *title, CMUnitTestFunction test,
               const void *row, CMFixtureFunction set_up, CMFixtureFunction tear_down);
void suite_set_fixtures(CMFixtureFunction set_up, CMFixtureFunction tear_down);
