/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/rate_limit.h"

#include "tests/unit/suite.h"

enum { SECOND = 1000000000 };

TEST(without_an_interval_there_is_no_limit)
{
    struct rate_limit r = {.interval_ns = 0};

    for (int i = 0; i < 1000; i++)
        assert_true(rate_limit_allow(&r, 5));
}

TEST(a_burst_is_followed_by_one_call_per_interval)
{
    struct rate_limit r = {.interval_ns = SECOND, .burst = 3};
    int64_t now_ns = 7LL * SECOND;

    for (int i = 0; i < 3; i++)
        assert_true(rate_limit_allow(&r, now_ns));
    assert_false(rate_limit_allow(&r, now_ns));
    assert_false(rate_limit_allow(&r, now_ns + SECOND - 1));
    assert_true(rate_limit_allow(&r, now_ns + SECOND));
    assert_false(rate_limit_allow(&r, now_ns + SECOND));
    assert_false(rate_limit_allow(&r, now_ns + 2LL * SECOND - 1));
}

TEST(a_pause_refills_the_bucket_up_to_the_burst)
{
    struct rate_limit r = {.interval_ns = SECOND, .burst = 2};
    int64_t now_ns = 1;

    assert_true(rate_limit_allow(&r, now_ns));
    now_ns += 1000LL * SECOND;
    assert_true(rate_limit_allow(&r, now_ns));
    assert_true(rate_limit_allow(&r, now_ns));
    assert_false(rate_limit_allow(&r, now_ns));
}

TEST(refused_calls_take_no_token)
{
    struct rate_limit r = {.interval_ns = SECOND, .burst = 1};

    assert_true(rate_limit_allow(&r, 0));
    for (int64_t at = 1; at < SECOND; at += SECOND / 10)
        assert_false(rate_limit_allow(&r, at));
    assert_true(rate_limit_allow(&r, SECOND));
}

TEST(a_burst_of_0_refuses_all_calls)
{
    struct rate_limit r = {.interval_ns = SECOND, .burst = 0};

    assert_false(rate_limit_allow(&r, 0));
}
