/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/gates.h"

#include "tests/unit/suite.h"

static bool is_on(const char *text, enum gate gate)
{
    struct error err;
    gate_set gates;

    assert_true(gates_parse(text, &gates, &err));
    return gate_is_on(gates, gate);
}

TEST(nothing_named_is_as_karmada_has_it)
{
    assert_false(is_on("", GATE_PREEMPTION));
    assert_true(is_on("", GATE_PROPAGATE_DEPS));
    assert_true(is_on("", GATE_PRIORITY_BASED_SCHEDULING));
}

TEST(a_named_gate_is_as_named_and_the_others_as_before)
{
    assert_true(is_on("PropagationPolicyPreemption=true", GATE_PREEMPTION));
    assert_false(is_on("Failover=true,PropagateDeps=false", GATE_PROPAGATE_DEPS));
    assert_true(is_on("Failover=true,PropagateDeps=false", GATE_FAILOVER));
    assert_false(is_on("Failover=true,PropagateDeps=false", GATE_PREEMPTION));
}

TEST(a_whole_stage_is_switched_but_for_what_is_named)
{
    assert_true(is_on("AllAlpha=true", GATE_PREEMPTION));
    assert_false(is_on("AllAlpha=true", GATE_FAILOVER));
    assert_true(is_on("AllAlpha=true,AllBeta=true", GATE_FAILOVER));
    assert_false(is_on("PropagationPolicyPreemption=false,AllAlpha=true", GATE_PREEMPTION));
    assert_false(is_on("AllAlpha=true,PropagationPolicyPreemption=false", GATE_PREEMPTION));
}

TEST(what_is_no_gate_is_refused_by_name)
{
    static const struct {
        const char *text;
        const char *message;
    } rows[] = {
        {"PolicyPreemption=true", "Karmada has no feature gate 'PolicyPreemption'"},
        {"Failover", "'Failover' is not a feature gate and its value, such as "
                     "'PropagationPolicyPreemption=true'"},
        {"Failover=yes", "'Failover=yes' is not a feature gate and its value, such as "
                         "'PropagationPolicyPreemption=true'"},
        {"Failover=true,,", "'' is not a feature gate and its value, such as "
                            "'PropagationPolicyPreemption=true'"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error err;
        gate_set gates;

        assert_false(gates_parse(rows[i].text, &gates, &err));
        assert_string_equal(err.text, rows[i].message);
    }
}
