/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/platform.h"

#include "tests/unit/suite.h"

TEST(age_is_since_the_last_beat)
{
    struct heartbeat h;

    heartbeat_beat(&h, 1000);
    assert_int_equal(heartbeat_age_ms(&h, 1000), 0);
    assert_int_equal(heartbeat_age_ms(&h, 12345), 11345);
    heartbeat_beat(&h, 12000);
    assert_int_equal(heartbeat_age_ms(&h, 12345), 345);
}

/* The loop may beat between another thread's look at the clock and at the heart. */
TEST(a_beat_after_the_look_at_the_clock_is_no_age)
{
    struct heartbeat h;

    heartbeat_beat(&h, 1001);
    assert_int_equal(heartbeat_age_ms(&h, 1000), 0);
}
