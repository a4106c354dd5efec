/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/platform.h"

#include "tests/unit/suite.h"

TEST(the_age_is_the_time_since_the_last_beat)
{
    struct heartbeat h;

    heartbeat_update(&h, 1000);
    assert_int_equal(heartbeat_age_ms(&h, 1000), 0);
    assert_int_equal(heartbeat_age_ms(&h, 12345), 11345);
    heartbeat_update(&h, 12000);
    assert_int_equal(heartbeat_age_ms(&h, 12345), 345);
}

/* The loop may beat after another thread reads the clock and before that thread reads the beat. */
TEST(a_beat_after_the_given_time_has_age_0)
{
    struct heartbeat h;

    heartbeat_update(&h, 1001);
    assert_int_equal(heartbeat_age_ms(&h, 1000), 0);
}
