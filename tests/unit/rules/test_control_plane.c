/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/control_plane.h"

#include "tests/unit/suite.h"

static bool is_on(const char *text, enum gate gate)
{
    struct error err;
    gate_set gates;

    assert_true(gates_parse(text, RELEASE_NEWEST, &gates, &err));
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
    assert_true(gates_parse("", RELEASE_NEWEST, &defaults, &err));
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        char text[64];
        const char *at = text;
        size_t len;

        snprintf(text, sizeof(text), "%s=%s", known[i].name, known[i].fallback ? "false" : "true");
        assert_true(gates_parse(text, RELEASE_NEWEST, &set, &err));
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

    assert_true(gates_parse("", RELEASE_NEWEST, &defaults, &err));
    assert_true(gates_parse("PolicyPreemption=true,failover=true", RELEASE_NEWEST, &set, &err));
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
        assert_false(gates_parse(texts[i], RELEASE_NEWEST, &gates, &err));
        assert_string_equal(err.text, wanted);
    }
}

/* ---- gates by release (Karmada: pkg/features/features.go at each tag) ---- */

enum { NO = -1, OFF, ON };

static struct gate_history {
    const char *name;
    int defaults[RELEASE_COUNT]; /* NO: the release does not have the gate. */
} histories[] = {
    {"ContextualLogging", {NO, NO, ON, ON, ON, ON, ON, ON}},
    {"ControllerPriorityQueue", {NO, NO, OFF, OFF, ON, ON, ON, ON}},
    {"CustomizedClusterResourceModeling", {ON, ON, ON, ON, ON, ON, ON, ON}},
    {"Failover", {OFF, OFF, OFF, OFF, OFF, OFF, OFF, OFF}},
    {"FederatedQuotaEnforcement", {NO, OFF, OFF, OFF, OFF, OFF, OFF, OFF}},
    {"GracefulEviction", {ON, ON, ON, ON, ON, ON, ON, ON}},
    {"LoggingAlphaOptions", {NO, NO, OFF, OFF, OFF, OFF, OFF, OFF}},
    {"LoggingBetaOptions", {NO, NO, ON, ON, ON, ON, ON, ON}},
    {"MultiClusterService", {OFF, OFF, OFF, OFF, OFF, OFF, OFF, OFF}},
    {"MultiplePodTemplatesScheduling", {NO, NO, OFF, OFF, OFF, OFF, OFF, OFF}},
    {"PriorityBasedScheduling", {OFF, OFF, OFF, OFF, OFF, OFF, OFF, ON}},
    {"PropagateDeps", {ON, ON, ON, ON, ON, ON, ON, ON}},
    {"PropagationPolicyPreemption", {OFF, OFF, OFF, OFF, OFF, OFF, OFF, OFF}},
    {"ResourceQuotaEstimate", {OFF, OFF, OFF, OFF, OFF, OFF, OFF, OFF}},
    {"SchedulingOvercommitProtection", {NO, NO, NO, NO, NO, OFF, OFF, OFF}},
    {"StatefulFailoverInjection", {OFF, OFF, OFF, OFF, OFF, OFF, OFF, OFF}},
    {"WorkloadAffinity", {NO, NO, NO, NO, OFF, OFF, OFF, OFF}},
};

TEST_ROWS(a_gate_has_the_default_of_its_release, histories, name)
{
    const struct gate_history *row = *state;
    size_t gate = (size_t)(row - histories);
    char text[64];

    assert_string_equal(gate_name((enum gate)gate), row->name);
    snprintf(text, sizeof(text), "%s=true", row->name);
    for (unsigned release = 0; release < RELEASE_COUNT; release++) {
        const char *at = text;
        enum gate foreign;
        gate_set defaults, named;
        struct error err;
        bool absent = row->defaults[release] == NO;

        assert_true(gates_parse("", (enum release)release, &defaults, &err));
        assert_true(gates_parse(text, (enum release)release, &named, &err));
        assert_int_equal(gate_is_on(defaults, (enum gate)gate), row->defaults[release] == ON);
        assert_int_equal(gate_is_on(named, (enum gate)gate), !absent);
        assert_int_equal(gates_next_foreign(&at, (enum release)release, &foreign), absent);
        assert_int_equal(release >= gate_since((enum gate)gate), !absent);
        if (absent)
            assert_int_equal(foreign, gate);
    }
}

TEST(the_stage_of_a_gate_is_that_of_its_release)
{
    gate_set set;
    struct error err;

    assert_true(gates_parse("AllAlpha=true", RELEASE_1_16, &set, &err));
    assert_true(gate_is_on(set, GATE_PRIORITY_BASED_SCHEDULING));
    assert_true(gate_is_on(set, GATE_CONTROLLER_PRIORITY_QUEUE));
    assert_false(gate_is_on(set, GATE_WORKLOAD_AFFINITY));
    assert_true(gates_parse("AllAlpha=true", RELEASE_1_17, &set, &err));
    assert_true(gate_is_on(set, GATE_WORKLOAD_AFFINITY));
    assert_true(gates_parse("AllBeta=false", RELEASE_1_17, &set, &err));
    assert_false(gate_is_on(set, GATE_CONTROLLER_PRIORITY_QUEUE));
    assert_true(gates_parse("AllBeta=false", RELEASE_1_19, &set, &err));
    assert_false(gate_is_on(set, GATE_PRIORITY_BASED_SCHEDULING));
}

TEST(an_inverted_behaviour_is_the_only_difference)
{
    for (unsigned i = 0; i < BEHAVIOUR_COUNT; i++) {
        enum release inverted = release_inverting(RELEASE_1_16, (enum behaviour)i);

        for (unsigned k = 0; k < BEHAVIOUR_COUNT; k++)
            assert_int_equal(release_has(inverted, (enum behaviour)k),
                             release_has(RELEASE_1_16, (enum behaviour)k) != (i == k));
    }
}

TEST(behaviours_differ_between_the_releases_around_their_first_one)
{
    behaviour_set set = behaviours_that_differ(RELEASE_1_17, RELEASE_1_18);

    assert_true(set >> BEHAVIOUR_ANY_ZONE & 1);
    assert_false(set >> BEHAVIOUR_WEBSTER_DIVISION & 1);
    assert_int_equal(behaviours_that_differ(RELEASE_1_18, RELEASE_1_18), 0);
    assert_true(behaviours_that_differ(RELEASE_1_18, RELEASE_1_17) == set);
}

TEST(names_of_behaviours_are_in_lower_case)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(64);

    behaviour_append_name(BEHAVIOUR_WEBSTER_DIVISION, &name);
    assert_string_equal(name.data, "webster_division");
}
