/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/options/fail_on.h"

#include "tests/unit/suite.h"

enum { TEXT_MAX = 16 * 1024, ROUNDS = 300 };

static struct fail_on parsed(const char *text)
{
    struct fail_on f;
    struct error err = {""};

    if (!fail_on_parse(text, &f, &err))
        fail_msg("%s: %s", text, err.text);
    return f;
}

TEST(a_severity_includes_the_higher_ones)
{
    assert_int_equal(parsed("critical").severities, 1U << SEVERITY_CRITICAL);
    assert_int_equal(parsed("warning").severities,
                     1U << SEVERITY_CRITICAL | 1U << SEVERITY_WARNING);
    assert_int_equal(parsed("info").severities,
                     1U << SEVERITY_CRITICAL | 1U << SEVERITY_WARNING | 1U << SEVERITY_INFO);
}

TEST(a_problem_has_all_its_reasons_and_no_condition)
{
    struct fail_on f = parsed("not_propagated");

    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++)
        assert_int_equal(fail_on_names_reason(&f, i),
                         problem_reasons[i].problem == PROBLEM_NOT_PROPAGATED);
    assert_int_equal(f.conditions, 0);
    assert_int_equal(f.severities, 0);
}

TEST(a_reason_has_its_condition_that_is_no_problem)
{
    struct fail_on no_match = parsed("not_propagated/no_match");
    struct fail_on not_selected = parsed("not_propagated/kind_not_selected");

    assert_true(fail_on_names_reason(&no_match, PROBLEM_REASON_NOT_PROPAGATED_NO_MATCH));
    assert_false(fail_on_names_reason(&no_match, PROBLEM_REASON_NOT_PROPAGATED_STUCK));
    assert_int_equal(no_match.conditions, 1U << NORMAL_NO_MATCH);
    assert_int_equal(parsed("not_propagated/waiting").conditions, 1U << NORMAL_WAITING);
    assert_int_equal(not_selected.conditions, 1U << NORMAL_KIND_NOT_SELECTED);
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++)
        assert_false(fail_on_names_reason(&not_selected, i));
}

TEST(an_empty_value_names_no_problem)
{
    struct fail_on empty = parsed(""), default_value = parsed("warning,policy_tie");

    assert_true(fail_on_is_empty(&empty));
    assert_false(fail_on_is_empty(&default_value));
    assert_true(fail_on_names_reason(&default_value, PROBLEM_REASON_POLICY_TIE));
    assert_false(fail_on_names_reason(&default_value, PROBLEM_REASON_POLICY_UNUSED));
}

/* Every name, and every pair of a name with the reasons of a problem, is the same after a write. */
TEST(a_written_value_is_parsed_as_the_same)
{
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++) {
        for (unsigned k = 0; fail_on_names[k]; k++) {
            const struct problem_reason_row *row = &problem_reasons[i];
            CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
            CLEANUP(strbuf_release) struct strbuf again = STRBUF_INIT(TEXT_MAX);
            struct fail_on first, second;

            strbuf_addf(&text, "%s%s%s,%s", problem_names[row->problem], *row->name ? "/" : "",
                        row->name, fail_on_names[k]);
            first = parsed(text.data);
            fail_on_write(&first, &again);
            second = parsed(again.data);
            assert_true(fail_on_equal(&first, &second));
        }
    }
}

TEST(names_for_completion_are_accepted_by_their_command)
{
    for (unsigned i = 0; fail_on_names[i]; i++) {
        struct fail_on f = parsed(fail_on_names[i]);
        struct error err;

        assert_int_equal(fail_on_accepted_by_check(&f, &err), fail_on_names_of_check() >> i & 1);
        assert_int_equal(fail_on_accepted_by_plan(&f, &err), fail_on_names_of_plan() >> i & 1);
    }
}

TEST(a_plan_fails_by_the_problems_that_it_makes_appear)
{
    struct fail_on f = parsed("orphaned,lost,dependency_conflict");

    assert_int_equal(fail_on_plan_failures(&f),
                     1U << PLAN_FAILURE_ORPHANED | 1U << PLAN_FAILURE_LOST |
                         1U << PLAN_FAILURE_DEPENDENCY_CONFLICT | 1U << PLAN_FAILURE_NOT_SIMULATED);
}

/* Consequences such as `move` are no outcomes: an object that is not simulated does not fail. */
TEST(names_of_outcomes_and_problems_include_effects_that_are_not_simulated)
{
    static const char *const including[] = {"nowhere",      "refused",  "ignored",
                                            "undetermined", "orphaned", "not_simulated"};
    static const char *const others[] = {"move", "lost", "wait", "overflow", "unsettled", ""};

    for (size_t i = 0; i < ARRAY_LEN(including); i++) {
        struct fail_on with = parsed(including[i]), without = parsed(others[i]);

        assert_true(fail_on_plan_failures(&with) & 1U << PLAN_FAILURE_NOT_SIMULATED);
        assert_false(fail_on_plan_failures(&without) & 1U << PLAN_FAILURE_NOT_SIMULATED);
    }
}

static const struct refused_case {
    const char *name;
    const char *text;
    const char *error;
} refused_cases[] = {
    {"a name with a typing error", "dependency_conflit",
     "there is no problem 'dependency_conflit'; did you mean 'dependency_conflict'?"},
    {"a severity with a typing error", "waring",
     "there is no problem 'waring'; did you mean 'warning'?"},
    {"the beginning of a severity, which is also similar to another name", "warn",
     "there is no problem 'warn'; did you mean 'warning'?"},
    {"the beginning of a problem", "cloud_resource",
     "there is no problem 'cloud_resource'; did you mean 'cloud_resource_conflict'?"},
    {"an unknown name", "everything", "there is no problem or severity 'everything'"},
    {"a former class with one problem", "conflict",
     "there is no problem 'conflict': dependency_conflict replaces it"},
    {"a former class with several problems", "warning,overdue",
     "there is no problem 'overdue': policy_not_in_force and template_frozen replace it"},
    {"a former class in files", "unbound",
     "there is no problem 'unbound': not_propagated replaces it; for manifests "
     "not_propagated/waiting"},
    {"a reason with a typing error", "not_propagated/no_macht",
     "not_propagated has no reason 'no_macht'; did you mean 'no_match'?"},
    {"a reason of another problem", "member_cluster_unavailable/stuck",
     "member_cluster_unavailable has no reason 'stuck'; its reasons are gone, not_ready, flapping, "
     "refusing"},
    {"a reason of a problem without reasons", "orphaned/gone",
     "orphaned has no reasons: write it without '/gone'"},
    {"an empty reason", "not_propagated/",
     "not_propagated has no reason ''; its reasons are override_missing, namesake, "
     "priority_class_missing, stuck, not_claimed, waiting, policy_deleting, no_match, policy_gone, "
     "kind_not_selected"},
    {"an unknown problem with a reason", "not_propagatd/no_match",
     "there is no problem 'not_propagatd'; did you mean 'not_propagated'?"},
    {"a comma at the end", "warning,", "nothing follows the last comma"},
    {"an empty name", "warning,,info", "a name is empty"},
    {"upper case", "WARNING", "there is no problem or severity 'WARNING'"},
    {"a control character", "\x1b[2J", "there is no problem or severity '\\x1b[2J'"},
};

TEST_ROWS(invalid_values_are_refused, refused_cases, name)
{
    const struct refused_case *c = *state;
    struct fail_on f = {.severities = 7};
    struct error err = {""};

    assert_false(fail_on_parse(c->text, &f, &err));
    assert_string_equal(err.text, c->error);
    assert_int_equal(f.severities, 7);
}

static const struct command_case {
    const char *name;
    const char *text;
    bool plan;
    const char *error;
} command_cases[] = {
    {"check with a consequence", "warning,move", false,
     "'move' is a consequence of a change, which only 'plan' reports"},
    {"plan with another problem", "move,unhealthy", true, "'plan' does not report 'unhealthy'"},
    {"plan with a reason", "not_propagated/stuck", true,
     "'plan' reports 'not_propagated' only without a reason"},
    {"plan with a condition", "not_propagated/kind_not_selected", true,
     "'plan' reports 'not_propagated' only without a reason"},
    {"plan with a severity", "warning", true,
     "'plan' does not report problems by severity: name the problems"},
};

TEST_ROWS(commands_refuse_what_they_never_report, command_cases, name)
{
    const struct command_case *c = *state;
    struct fail_on f = parsed(c->text);
    struct error err = {""};

    assert_false(c->plan ? fail_on_accepted_by_plan(&f, &err)
                         : fail_on_accepted_by_check(&f, &err));
    assert_string_equal(err.text, c->error);
}

/* Random bytes between valid names never crash, and a refused value changes nothing. */
TEST(random_values_are_parsed_or_refused)
{
    static const char letters[] = "_/,not_propagated/no_match,warning,\xff\x01";
    uint32_t seed = 1;

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct fail_on f = {.severities = 7};
        char text[64] = "";
        struct error err;

        for (unsigned i = 0; i < sizeof(text) - 1; i++) {
            seed = seed * 1664525 + 1013904223;
            text[i] = letters[(seed >> 16) % (sizeof(letters) - 1)];
        }
        if (!fail_on_parse(text, &f, &err))
            assert_int_equal(f.severities, 7);
    }
}
