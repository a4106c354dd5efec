/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/shared/list_limiter.h"

#include "tests/unit/suite.h"

TEST(four_at_once)
{
    struct list_limiter g;

    list_limiter_init(&g, 1000);
    for (unsigned i = 0; i < 4; i++)
        assert_true(list_limiter_enter(&g, 1000));
    assert_false(list_limiter_enter(&g, 100000));
    assert_int_equal(list_limiter_due(&g), INT64_MAX);
    list_limiter_leave(&g);
    assert_true(list_limiter_enter(&g, 100000));
}

TEST(forty_at_first_then_twenty_a_second)
{
    unsigned entered = 0;
    struct list_limiter g;

    list_limiter_init(&g, 0);
    while (list_limiter_enter(&g, 0)) {
        list_limiter_leave(&g);
        entered++;
    }
    assert_int_equal(entered, 40);
    assert_int_equal(list_limiter_due(&g), 50);
    assert_false(list_limiter_enter(&g, 49));
    assert_int_equal(list_limiter_due(&g), 50);
    for (int64_t now_ms = 50; now_ms < 10050; now_ms++) {
        if (list_limiter_enter(&g, now_ms)) {
            list_limiter_leave(&g);
            entered++;
        }
    }
    assert_int_equal(entered, 40 + 200);
}

TEST(a_long_rest_saves_up_no_more_than_at_first)
{
    unsigned entered = 0;
    struct list_limiter g;

    list_limiter_init(&g, 0);
    while (list_limiter_enter(&g, 3600 * 1000)) {
        list_limiter_leave(&g);
        entered++;
    }
    assert_int_equal(entered, 40);
}
