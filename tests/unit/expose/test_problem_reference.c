/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/problem_reference.h"

#include "metrics/base/json.h"
#include "metrics/expose/problem_text.h"
#include "metrics/rules/problems/problem_hiding.h"
#include "tests/unit/suite.h"

enum { TEXT_MAX = 1 << 20 };

static const struct patience_case {
    const char *title;
    uint32_t seconds;
} patience_cases[] = {{"0s", 0},     {"90s", 90},   {"1m", 60},
                      {"90m", 5400}, {"6h", 21600}, {"7d", 604800}};

TEST_ROWS(a_patience_has_the_largest_unit_that_divides_it, patience_cases, title)
{
    const struct patience_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);

    problem_add_patience(&out, c->seconds);
    assert_string_equal(out.data, c->title);
}

static void check_sentence(void (*add)(enum problem_reason reason, struct strbuf *out),
                           enum problem_reason reason)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);

    add(reason, &out);
    assert_true(out.len > 1 && out.data[out.len - 1] == '.');
    assert_in_range(out.data[0], 'A', 'Z');
    assert_null(strpbrk(out.data, "{}[]|"));
    assert_null(strstr(out.data, "  "));
    assert_null(strstr(out.data, " ."));
}

TEST(sentences_of_each_reason_are_complete_without_objects)
{
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++) {
        check_sentence(problem_reason_add_cause, (enum problem_reason)i);
        check_sentence(problem_reason_add_action, (enum problem_reason)i);
        check_sentence(problem_reason_add_end, (enum problem_reason)i);
    }
}

TEST(sentences_name_the_kind_of_subject)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);

    problem_reason_add_cause(PROBLEM_REASON_TEMPLATE_FROZEN_SELECTOR_MISMATCH, &out);
    assert_string_equal(out.data,
                        "The policy has claimed the template but no longer selects it, so "
                        "that Karmada propagates no change of the template.");
    strbuf_reset(&out);
    problem_reason_add_cause(PROBLEM_REASON_DEPENDENCY_CONFLICT_CONFLICT_RESOLUTION, &out);
    assert_string_equal(out.data, "Referrers of the dependency request different values of "
                                  "spec.conflictResolution.");
}

TEST(a_reason_names_the_problems_that_can_hide_it)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);

    problem_reason_add_causes(PROBLEM_REASON_NOT_SCHEDULED_NO_CLUSTER_FIT, "`", &out);
    assert_int_equal(out.len, 0);
    problem_reason_add_causes(PROBLEM_REASON_NOT_DELIVERED_WAITING, "`", &out);
    assert_string_equal(out.data, "`controllers_stuck`, `policy_not_in_force`, `template_frozen`, "
                                  "`not_propagated`, `member_cluster_unavailable`");
    assert_true(
        problem_can_hide_reason(PROBLEM_SCHEDULER_STUCK, PROBLEM_REASON_NOT_SCHEDULED_WAITING));
}

TEST(json_has_each_problem_and_reason)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);
    const cJSON *each, *reason;
    unsigned problem = 0, reasons = 0;

    problem_reference_add_json(&out);

    CLEANUP(json_cleanup) cJSON *document = cJSON_Parse(out.data);

    cJSON_ArrayForEach (each, document) {
        assert_string_equal(json_get(each, "problem")->valuestring, problem_names[problem++]);
        assert_non_null(strstr(json_get(each, "alert")->valuestring, "Karmada"));
        cJSON_ArrayForEach (reason, json_get(each, "reasons"))
            assert_string_equal(json_get(reason, "reason")->valuestring,
                                problem_reasons[reasons++].name);
    }
    assert_int_equal(problem, PROBLEM_COUNT);
    assert_int_equal(reasons, PROBLEM_REASON_COUNT);
}

TEST(markdown_has_a_section_for_each_problem)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);

    problem_reference_add_markdown(&out);
    assert_true(strbuf_ok(&out));
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        char heading[64];

        snprintf(heading, sizeof(heading), "\n\n## %s\n\nSeverity ", problem_names[i]);
        if (!strstr(out.data, heading))
            fail_msg("no section '%s'", problem_names[i]);
    }
}
