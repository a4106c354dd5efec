/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A unit test is a function that one of these macros opens; it is enrolled by being written:
 *
 *     TEST(an_empty_map_has_nothing)
 *     {
 *         ...
 *     }
 *
 * Each program links suite.c, whose main() runs what was enrolled, in the order of the source, as
 * one group of cmocka's that has the program's name. An argument picks tests by name: a pattern
 * with '*' and '?'.
 */

/* First, because cmocka's fail() is a macro that our fail()'s declaration would be taken for. */
#include "metrics/base/error.h"

#include <setjmp.h>

#include <cmocka.h>

/* One test. It gets NULL in *state. */
#define TEST(function) TEST_WITH(function, NULL, NULL)

/* One test between set_up(state) and tear_down(state), which answer 0 unless they failed. */
#define TEST_WITH(function, set_up, tear_down)                                                     \
    SUITE_TEST(function, suite_add(__LINE__, #function, NULL, function, NULL, set_up, tear_down))

/*
 * A test for each row of a table above it: *state points to the row. The member `title` of the row
 * is a text, and the test's name is that of the function and the title; a title of NULL adds
 * nothing.
 */
#define TEST_ROWS(function, table, title)                                                          \
    SUITE_TEST(function, for (size_t i = 0; i < ARRAY_LEN(table); i++)                             \
                             suite_add(__LINE__, #function, (table)[i].title, function,            \
                                       &(table)[i], NULL, NULL))

/*
 * For rows that are made and not written: opens a function that runs before main(), and that
 * enrols its tests by ADD_TEST. The test function stands above it. The title is copied.
 */
#define MADE_TESTS(maker) __attribute__((constructor)) static void maker(void)
#define ADD_TEST(function, title, row)                                                             \
    suite_add(__LINE__, #function, title, function, row, NULL, NULL)

/* Written once in a program: what runs before its first test and after its last; either is NULL. */
#define SUITE_WITH(set_up, tear_down)                                                              \
    __attribute__((constructor)) static void suite_fixtures(void)                                  \
    {                                                                                              \
        suite_set_fixtures(set_up, tear_down);                                                     \
    }                                                                                              \
    _Static_assert(1, "so that a semicolon may follow")

/* ---- what the macros are made of ---- */

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
