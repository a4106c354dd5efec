/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/base/base.h"

static struct {
    struct CMUnitTest *tests;
    int *lines; /* Source line of each test. */
    size_t count;
    CMFixtureFunction set_up;
    CMFixtureFunction tear_down;
} suite;

void suite_add(int line, const char *function, const char *title, CMUnitTestFunction test,
               const void *row, CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    size_t at = suite.count;
    char *name = NULL;

    if (asprintf(&name, title ? "%s: %s" : "%s", function, title) < 0)
        abort();
    suite.tests = xreallocarray(suite.tests, suite.count + 1, sizeof(*suite.tests));
    suite.lines = xreallocarray(suite.lines, suite.count + 1, sizeof(*suite.lines));
    /* The order of constructors is unspecified: keeps the tests sorted by source line. */
    for (; at > 0 && suite.lines[at - 1] > line; at--) {
        suite.tests[at] = suite.tests[at - 1];
        suite.lines[at] = suite.lines[at - 1];
    }
    suite.lines[at] = line;
    suite.tests[at] = (struct CMUnitTest){
        .name = name,
        .test_func = test,
        .setup_func = set_up,
        .teardown_func = tear_down,
        .initial_state = (void *)(uintptr_t)row,
    };
    suite.count++;
}

void suite_set_fixtures(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    suite.set_up = set_up;
    suite.tear_down = tear_down;
}

int main(int argc, char **argv)
{
    const char *name = program_invocation_short_name;
    int failed;

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    name += strncmp(name, "test_", 5) == 0 ? 5 : 0;
    failed = _cmocka_run_group_tests(name, suite.tests, suite.count, suite.set_up, suite.tear_down);
    for (size_t i = 0; i < suite.count; i++)
        free((void *)(uintptr_t)suite.tests[i].name);
    free(suite.tests);
    free(suite.lines);
    return failed;
}
