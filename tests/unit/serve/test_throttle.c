/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/publisher.h"

#include "tests/unit/suite.h"

/* The last page with a change is at 1000 ms, and a refresh at 1200 ms. */
static struct deadline_case {
    const char *name;
    int64_t changed_ms; /* Time of another change; 0 without one. */
    int64_t deadline_ms;
} deadline_cases[] = {
    {"without a change the refresh is due five seconds after the last page", 0, 6200},
    {"a change soon after a page waits for the interval", 1300, 1900},
    {"a change after a quiet time is due at once", 4000, 1900},
};

TEST_ROWS(deadline_follows_the_last_pages, deadline_cases, name)
{
    const struct deadline_case *c = *state;
    struct throttle t;

    throttle_init(&t, 50, 900, 5000);
    throttle_change(&t, 500);
    throttle_publish(&t, 1000 * 1000, 1000);
    throttle_publish(&t, 1000 * 1000, 1200);
    if (c->changed_ms)
        throttle_change(&t, c->changed_ms);
    assert_int_equal(throttle_deadline(&t), c->deadline_ms);
}

static struct cost_case {
    const char *name;
    int64_t longest_ms;
    int64_t cost_us;
    int64_t interval_ms;
} cost_cases[] = {
    {"a page that costs nothing", 900, 0, 50},
    {"a cheap page", 900, 5000, 50},
    {"the interval is five times the cost", 900, 20 * 1000, 100},
    {"a part of a millisecond counts as one", 900, 20 * 1000 + 1, 101},
    {"the interval is at most longest_ms", 900, 500 * 1000, 900},
    {"longest_ms takes precedence over shortest_ms", 0, 500 * 1000, 0},
};

TEST_ROWS(interval_follows_the_cost, cost_cases, name)
{
    const struct cost_case *c = *state;
    struct throttle t;

    throttle_init(&t, 50, c->longest_ms, 5000);
    throttle_change(&t, 1000);
    throttle_publish(&t, c->cost_us, 1500);
    throttle_change(&t, 1501);
    assert_int_equal(throttle_deadline(&t), 1500 + c->interval_ms);
}

TEST(the_first_change_is_due_at_once)
{
    struct throttle t;

    throttle_init(&t, 50, 900, 5000);
    throttle_change(&t, 1);
    assert_true(throttle_deadline(&t) <= 1);
}

TEST(change_after_a_refresh_is_due_at_once)
{
    struct throttle t;

    throttle_init(&t, 50, 900, 5000);
    assert_int_equal(throttle_publish(&t, 0, 7000), 0);
    throttle_change(&t, 7001);
    assert_true(throttle_deadline(&t) <= 7001);
}

TEST(lag_is_the_wait_of_the_oldest_change)
{
    struct throttle t;

    throttle_init(&t, 50, 900, 5000);
    throttle_change(&t, 3000);
    throttle_change(&t, 3500);
    assert_int_equal(throttle_publish(&t, 10 * 1000, 4000), 1000);
    assert_int_equal(throttle_publish(&t, 0, 4001), 0);
    assert_int_equal(throttle_deadline(&t), 9001);
}
