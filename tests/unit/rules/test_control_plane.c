/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/control_plane.h"

#include "tests/unit/suite.h"

static bool is_on(const char *text, enum gate gate)
{
    struct error err;
    gate_set gates;

    assert_true(gates_parse(text, &gates, &err));
    return gate_is_on(gates, gate);
}

TEST(unnamed_gates_have_karmadas_defaults)
{
    assert_false(is_on("", GATE_PREEMPTION));
    assert_true(is_on("", GATE_PROPAGATE_DEPS));
    assert_true(is_on("", GATE_PRIORITY_BASED_SCHEDULING));
}

TEST(a_named_gate_does_not_change_the_others)
{
    assert_true(is_on("PropagationPolicyPreemption=true", GATE_PREEMPTION));
    assert_false(is_on("Failover=true,PropagateDeps=false", GATE_PROPAGATE_DEPS));
    assert_true(is_on("Failover=true,PropagateDeps=false", GATE_FAILOVER));
    assert_false(is_on("Failover=true,PropagateDeps=false", GATE_PREEMPTION));
}

TEST(all_alpha_and_all_beta_do_not_change_named_gates)
{
    assert_true(is_on("AllAlpha=true", GATE_PREEMPTION));
    assert_false(is_on("AllAlpha=true", GATE_FAILOVER));
    assert_true(is_on("AllAlpha=true,AllBeta=true", GATE_FAILOVER));
    assert_false(is_on("PropagationPolicyPreemption=false,AllAlpha=true", GATE_PREEMPTION));
    assert_false(is_on("AllAlpha=true,PropagationPolicyPreemption=false", GATE_PREEMPTION));
}

/* Feature gates of Karmada, with their defaults in the newest release. */
static const struct {
    const char *name;
    bool fallback;
} known[] = {
    {"ContextualLogging", true},
    {"ControllerPriorityQueue", true},
    {"CustomizedClusterResourceModeling", true},
    {"Failover", false},
    {"FederatedQuotaEnforcement", false},
    {"GracefulEviction", true},
    {"LoggingAlphaOptions", false},
    {"LoggingBetaOptions", true},
    {"MultiClusterService", false},
    {"MultiplePodTemplatesScheduling", false},
    {"PriorityBasedScheduling", true},
    {"PropagateDeps", true},
    {"PropagationPolicyPreemption", false},
    {"ResourceQuotaEstimate", false},
    {"SchedulingOvercommitProtection", false},
    {"StatefulFailoverInjection", false},
    {"WorkloadAffinity", false},
};

TEST(every_gate_of_karmada_is_known)
{
    struct error err;
    gate_set defaults, set;

    assert_int_equal(ARRAY_LEN(known), GATE_COUNT);
    assert_true(gates_parse("", &defaults, &err));
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        char text[64];
        const char *at = text;
        size_t len;

        snprintf(text, sizeof(text), "%s=%s", known[i].name, known[i].fallback ? "false" : "true");
        assert_true(gates_parse(text, &set, &err));
        assert_null(gates_next_unknown(&at, &len));
        assert_string_equal(gate_name(i), known[i].name);
        assert_int_equal(gate_is_on(defaults, i), known[i].fallback);
        assert_int_equal(set, defaults ^ 1U << i);
    }
}

TEST(gates_are_parsed_as_by_karmada)
{
    assert_true(is_on("Failover=1", GATE_FAILOVER));
    assert_true(is_on("Failover=TRUE", GATE_FAILOVER));
    assert_true(is_on(" Failover = t ", GATE_FAILOVER));
    assert_true(is_on(",Failover=True,,", GATE_FAILOVER));
    assert_false(is_on("PropagateDeps=0", GATE_PROPAGATE_DEPS));
    assert_false(is_on("PropagateDeps=F,", GATE_PROPAGATE_DEPS));
}

TEST(an_unknown_gate_changes_nothing_and_is_returned)
{
    const char *at =
        "PolicyPreemption=true, Failover=true,failover=false,AllAlpha=true,AllBeta=1, X =0";
    struct error err;
    gate_set set, defaults;
    size_t len;

    assert_true(gates_parse("", &defaults, &err));
    assert_true(gates_parse("PolicyPreemption=true,failover=true", &set, &err));
    assert_int_equal(set, defaults);
    assert_memory_equal(gates_next_unknown(&at, &len), "PolicyPreemption", 16);
    assert_int_equal(len, 16);
    assert_memory_equal(gates_next_unknown(&at, &len), "failover", 8);
    assert_int_equal(len, 8);
    assert_memory_equal(gates_next_unknown(&at, &len), "X", 1);
    assert_int_equal(len, 1);
    assert_null(gates_next_unknown(&at, &len));
}

TEST(a_gate_without_a_boolean_is_rejected)
{
    static const char *const texts[] = {
        "Failover",  "Failover=yes", "Failover=",      "=true",      "=",
        "Foo=maybe", "Foo",          "Failover=trueX", "Foo=true=1", "Failover=true,Foo"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        char wanted[256];
        const char *last = strrchr(texts[i], ',') ? strrchr(texts[i], ',') + 1 : texts[i];
        struct error err;
        gate_set gates;

        snprintf(wanted, sizeof(wanted),
                 "'%s' is not a feature gate and its value, such as "
                 "'PropagationPolicyPreemption=true'",
                 last);
        assert_false(gates_parse(texts[i], &gates, &err));
        assert_string_equal(err.text, wanted);
    }
}
