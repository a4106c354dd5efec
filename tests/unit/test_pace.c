/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/pace.h"

#include <setjmp.h>

#include <cmocka.h>

/* A page of a change at 1000, the last page at 1200; at most one a second, at least one in five. */
static struct pace_case {
    const char *name;
    int64_t changed_ms; /* 0: not at all. */
    int64_t deadline_ms;
} pace_cases[] = {
    {"nothing changed: refresh five seconds after the last page", 0, 6200},
    {"a change soon after another waits for its second", 1300, 2000},
    {"a change after a quiet time is due at once", 4000, 2000},
};

static void deadline(void **state)
{
    const struct pace_case *c = *state;
    struct pace p = {
        .interval_ms = 1000, .refresh_ms = 5000, .published_ms = 1000, .refreshed_ms = 1200};

    if (c->changed_ms)
        pace_change(&p, c->changed_ms);
    assert_int_equal(pace_deadline(&p), c->deadline_ms);
}

static void a_refresh_does_not_make_a_change_wait(void **state)
{
    struct pace p = {.interval_ms = 1000, .refresh_ms = 5000};

    (void)state;
    assert_int_equal(pace_publish(&p, 7000), 0);
    pace_change(&p, 7001);
    assert_in_range(pace_deadline(&p), 0, 7001);
}

static void the_oldest_change_tells_the_lag(void **state)
{
    struct pace p = {.interval_ms = 1000, .refresh_ms = 5000};

    (void)state;
    pace_change(&p, 3000);
    pace_change(&p, 3500);
    assert_int_equal(pace_publish(&p, 4000), 1000);
    assert_int_equal(pace_publish(&p, 4001), 0);
    assert_int_equal(pace_deadline(&p), 9001);
}

int main(void)
{
    const struct CMUnitTest plain[] = {
        cmocka_unit_test(a_refresh_does_not_make_a_change_wait),
        cmocka_unit_test(the_oldest_change_tells_the_lag),
    };
    struct CMUnitTest tests[ARRAY_LEN(pace_cases) + ARRAY_LEN(plain)];
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(pace_cases); i++)
        tests[n++] = (struct CMUnitTest){pace_cases[i].name, deadline, NULL, NULL, &pace_cases[i]};
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        tests[n++] = plain[i];
    return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
