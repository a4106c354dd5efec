/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/publisher.h"

#include "tests/unit/suite.h"

/* The last page of a change at 1000, the last page at 1200; at least one in five seconds. */
static struct deadline_case {
    const char *name;
    int64_t changed_ms; /* 0: not at all. */
    int64_t deadline_ms;
} deadline_cases[] = {
    {"nothing changed: refresh five seconds after the last page", 0, 6200},
    {"a change soon after another waits for its turn", 1300, 1900},
    {"a change after a quiet time is due at once", 4000, 1900},
};

TEST_ROWS(deadline, deadline_cases, name)
{
    const struct deadline_case *c = *state;
    struct throttle p;

    throttle_init(&p, 50, 900, 5000);
    throttle_change(&p, 500);
    throttle_publish(&p, 1000, 1000);
    throttle_publish(&p, 1000, 1200);
    if (c->changed_ms)
        throttle_change(&p, c->changed_ms);
    assert_int_equal(throttle_deadline(&p), c->deadline_ms);
}

static struct cost_case {
    const char *name;
    int64_t longest_ms;
    int64_t cost_ms;
    int64_t interval_ms;
} cost_cases[] = {
    {"a page that costs nothing", 900, 0, 50},
    {"a cheap page", 900, 5, 50},
    {"a page takes a fifth of the time", 900, 20, 100},
    {"but changes wait no longer than told", 900, 500, 900},
    {"however short that is", 0, 500, 0},
};

TEST_ROWS(cost, cost_cases, name)
{
    const struct cost_case *c = *state;
    struct throttle p;

    throttle_init(&p, 50, c->longest_ms, 5000);
    throttle_change(&p, 1000);
    throttle_publish(&p, c->cost_ms, 1000 + c->cost_ms);
    throttle_change(&p, 1001 + c->cost_ms);
    assert_int_equal(throttle_deadline(&p), 1000 + c->cost_ms + c->interval_ms);
}

TEST(the_first_change_is_due_at_once)
{
    struct throttle p;

    throttle_init(&p, 50, 900, 5000);
    throttle_change(&p, 1);
    assert_true(throttle_deadline(&p) <= 1);
}

TEST(a_refresh_does_not_make_a_change_wait)
{
    struct throttle p;

    throttle_init(&p, 50, 900, 5000);
    assert_int_equal(throttle_publish(&p, 0, 7000), 0);
    throttle_change(&p, 7001);
    assert_true(throttle_deadline(&p) <= 7001);
}

TEST(the_oldest_change_tells_the_lag)
{
    struct throttle p;

    throttle_init(&p, 50, 900, 5000);
    throttle_change(&p, 3000);
    throttle_change(&p, 3500);
    assert_int_equal(throttle_publish(&p, 10, 4000), 1000);
    assert_int_equal(throttle_publish(&p, 0, 4001), 0);
    assert_int_equal(throttle_deadline(&p), 9001);
}
