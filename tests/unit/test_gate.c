/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/gate.h"

#include "tests/unit/suite.h"

TEST(four_at_once)
{
    struct gate g;

    (void)state;
    gate_init(&g, 1000);
    for (unsigned i = 0; i < 4; i++)
        assert_true(gate_enter(&g, 1000));
    assert_false(gate_enter(&g, 100000));
    assert_int_equal(gate_due(&g), INT64_MAX);
    gate_leave(&g);
    assert_true(gate_enter(&g, 100000));
}

TEST(forty_at_first_then_twenty_a_second)
{
    unsigned entered = 0;
    struct gate g;

    (void)state;
    gate_init(&g, 0);
    while (gate_enter(&g, 0)) {
        gate_leave(&g);
        entered++;
    }
    assert_int_equal(entered, 40);
    assert_int_equal(gate_due(&g), 50);
    assert_false(gate_enter(&g, 49));
    assert_int_equal(gate_due(&g), 50);
    for (int64_t now_ms = 50; now_ms < 10050; now_ms++) {
        if (gate_enter(&g, now_ms)) {
            gate_leave(&g);
            entered++;
        }
    }
    assert_int_equal(entered, 40 + 200);
}

TEST(a_long_rest_saves_up_no_more_than_at_first)
{
    unsigned entered = 0;
    struct gate g;

    (void)state;
    gate_init(&g, 0);
    while (gate_enter(&g, 3600 * 1000)) {
        gate_leave(&g);
        entered++;
    }
    assert_int_equal(entered, 40);
}
