/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/findings_format.h"

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

enum { TEXT_MAX = 1 << 20 };

static const struct findings_end found = {.exit_status = 1, .complete = true};

/* Returns a finding with the texts of the tests. */
static struct finding make(const char *rule, enum finding_level level, const char *name)
{
    return (struct finding){.rule = rule,
                            .level = level,
                            .severity = SEVERITY_WARNING,
                            .object = {"apps/v1", "Deployment", "shop", name},
                            .subject = name,
                            .message = "It fails.",
                            .action = "Correct it.",
                            .place = {"./app.yaml", 3, 7}};
}

static void add(struct findings *f, const char *rule, enum finding_level level, const char *name)
{
    struct finding finding = make(rule, level, name);

    findings_add(f, &finding);
}

static void assert_written(const struct findings *f, enum output_format format,
                           const struct findings_end *end, const char *part)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);

    findings_write(f, format, end, &out);
    assert_true(strbuf_ok(&out));
    if (!strstr(out.data, part))
        fail_msg("no '%s' in:\n%s", part, out.data);
}

/* ---- list ---- */

TEST(findings_are_sorted_by_level_and_keep_their_order)
{
    static const char *const expected[] = {"b", "d", "c", "a", "accepted", "passed"};
    struct finding accepted = make("policy_tie", FINDING_ERROR, "accepted");
    struct finding passed = make("expectation", FINDING_ERROR, "passed");
    struct findings f;

    findings_init(&f, "check");
    accepted.suppression = FINDING_IN_BASELINE;
    passed.passed = true;
    findings_add(&f, &passed);
    findings_add(&f, &accepted);
    add(&f, "policy_unused", FINDING_NOTE, "a");
    add(&f, "policy_tie", FINDING_ERROR, "b");
    add(&f, "not_propagated/no_match", FINDING_WARNING, "c");
    add(&f, "policy_tie", FINDING_ERROR, "d");
    findings_finish(&f);
    assert_int_equal(f.count, ARRAY_LEN(expected));
    for (size_t i = 0; i < f.count; i++)
        assert_string_equal(f.items[i].subject, expected[i]);
    assert_int_equal(findings_count(&f, FINDING_ERROR), 2);
    assert_int_equal(findings_count(&f, FINDING_NOTE), 1);
    findings_release(&f);
}

/* A pair of findings, and whether they have one fingerprint. */
static const struct fingerprint_case {
    const char *name;
    struct finding other;
    bool equal;
} fingerprint_cases[] = {
    {"another line", {.rule = "policy_tie", .object = {"apps/v1", "Deployment", "a", "x"}}, true},
    {"another version of the API",
     {.rule = "policy_tie", .object = {"apps/v2", "Deployment", "a", "x"}},
     true},
    {"another group", {.rule = "policy_tie", .object = {"b/v1", "Deployment", "a", "x"}}, false},
    {"another name", {.rule = "policy_tie", .object = {"apps/v1", "Deployment", "a", "y"}}, false},
    {"another namespace",
     {.rule = "policy_tie", .object = {"apps/v1", "Deployment", "b", "x"}},
     false},
    {"another rule",
     {.rule = "policy_unused", .object = {"apps/v1", "Deployment", "a", "x"}},
     false},
    {"another environment",
     {.rule = "policy_tie",
      .object = {"apps/v1", "Deployment", "a", "x"},
      .environment = "production"},
     false},
};

TEST_ROWS(a_fingerprint_is_that_of_rule_subject_and_environment, fingerprint_cases, name)
{
    const struct fingerprint_case *c = *state;
    struct findings f;

    findings_init(&f, "check");
    findings_add(&f, &(struct finding){.rule = "policy_tie",
                                       .object = {"apps/v1", "Deployment", "a", "x"},
                                       .place = {"a.yaml", 1, 1}});
    findings_add(&f, &c->other);
    assert_int_equal(f.items[0].fingerprint == f.items[1].fingerprint, c->equal);
    findings_finish(&f);
    assert_true(f.items[0].fingerprint != f.items[1].fingerprint);
    findings_release(&f);
}

TEST(paths_are_relative_to_the_working_directory)
{
    struct findings f;

    findings_init(&f, "check");
    free(f.folder);
    f.folder = xstrdup("/repo");
    assert_string_equal(findings_relative_path(&f, "/repo/a.yaml"), "a.yaml");
    assert_string_equal(findings_relative_path(&f, "/repository/a.yaml"), "/repository/a.yaml");
    assert_string_equal(findings_relative_path(&f, "././/a.yaml"), "a.yaml");
    assert_string_equal(findings_relative_path(&f, "../a.yaml"), "../a.yaml");
    assert_string_equal(findings_relative_path(&f, "-"), "-");
    findings_release(&f);
}

/* ---- rules ---- */

TEST(every_problem_condition_and_result_of_a_plan_has_a_rule)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(TEXT_MAX);

    for (unsigned i = 0; i < PROBLEM_REASON_COUNT + NORMAL_CONDITION_COUNT + PLAN_FAILURE_COUNT;
         i++) {
        CLEANUP(finding_rule_release) struct finding_rule rule;

        strbuf_reset(&name);
        if (i < PROBLEM_REASON_COUNT)
            strbuf_addf(&name, "%s%s%s", problem_names[problem_reasons[i].problem],
                        *problem_reasons[i].name ? "/" : "", problem_reasons[i].name);
        else if (i < PROBLEM_REASON_COUNT + NORMAL_CONDITION_COUNT)
            strbuf_adds(&name, normal_condition_names[i - PROBLEM_REASON_COUNT]);
        else
            strbuf_addf(&name, "plan/%s",
                        plan_failure_names[i - PROBLEM_REASON_COUNT - NORMAL_CONDITION_COUNT]);
        finding_rule_describe(name.data, &rule);
        assert_string_not_equal(rule.description.data, name.data);
        assert_true(rule.description.data[rule.description.len - 1] == '.');
        assert_true(rule.help_url.len > 0 || i >= PROBLEM_REASON_COUNT);
    }
}

TEST(an_unknown_rule_has_its_name_as_title)
{
    CLEANUP(finding_rule_release) struct finding_rule rule;

    finding_rule_describe("novelty/x", &rule);
    assert_string_equal(rule.title.data, "novelty/x");
    assert_string_equal(rule.description.data, "novelty/x");
    assert_int_equal(rule.level, FINDING_WARNING);
}

/* ---- environments and suppressions ---- */

/* Findings of two environments, of which one has a finding. */
static void make_environments(struct findings *f)
{
    struct finding finding = make("policy_tie", FINDING_ERROR, "Deployment shop/web");

    findings_init(f, "check");
    findings_add_environment(f, "staging");
    finding.environment = "production";
    findings_add(f, &finding);
    findings_finish(f);
}

TEST(each_environment_is_a_run_and_a_suite)
{
    struct findings f;

    make_environments(&f);
    assert_written(&f, OUTPUT_SARIF, &found, "\"id\":\"karmada-policy-exporter/check/staging/\"");
    assert_written(&f, OUTPUT_SARIF, &found,
                   "\"id\":\"karmada-policy-exporter/check/production/\"");
    assert_written(&f, OUTPUT_JUNIT, &found,
                   "<testsuites name=\"karmada-policy-exporter\" tests=\"2\" failures=\"1\" "
                   "errors=\"0\">\n"
                   "  <testsuite name=\"staging\" tests=\"1\" failures=\"0\" errors=\"0\" "
                   "skipped=\"0\">\n"
                   "    <testcase name=\"no findings\" classname=\"check\"/>\n"
                   "  </testsuite>\n"
                   "  <testsuite name=\"production\" tests=\"1\" failures=\"1\"");
    assert_written(&f, OUTPUT_GITLAB, &found, "\"description\":\"production: It fails.");
    assert_written(&f, OUTPUT_GITHUB, &found, "title=policy_tie::production: It fails. Correct");
    assert_written(&f, OUTPUT_MARKDOWN, &found, "<br>production: Deployment shop/web<br>");
    findings_release(&f);
}

TEST(an_accepted_finding_is_named_and_does_not_fail)
{
    struct finding finding = make("policy_tie", FINDING_ERROR, "Deployment shop/web");
    struct findings f;

    findings_init(&f, "check");
    finding.suppression = FINDING_EXCEPTED_BY_FILE;
    finding.justification = "until the migration ends";
    finding.baseline = true;
    findings_add(&f, &finding);
    finding.suppression = FINDING_IN_BASELINE;
    finding.justification = NULL;
    findings_add(&f, &finding);
    findings_finish(&f);
    assert_written(&f, OUTPUT_SARIF, &found,
                   "\"baselineState\":\"new\",\n"
                   "     \"suppressions\":[{\"kind\":\"external\",\"justification\":\"until the "
                   "migration ends\"}]");
    assert_written(&f, OUTPUT_SARIF, &found, "\"baselineState\":\"unchanged\"");
    assert_written(&f, OUTPUT_JUNIT, &found, "skipped=\"2\"");
    assert_written(&f, OUTPUT_JUNIT, &found,
                   "<skipped message=\"exception: until the migration ends\"/>");
    assert_written(&f, OUTPUT_GITLAB, &found, "[]\n");
    assert_written(&f, OUTPUT_GITHUB, &found, "The check has no findings.\n");
    assert_written(&f, OUTPUT_MARKDOWN, &found,
                   "<details><summary>2 accepted findings: in the baseline, or with an exception");
    assert_written(&f, OUTPUT_MARKDOWN, &found, "<br>Accepted: until the migration ends |");
    findings_release(&f);
}

TEST(passed_expectations_are_tests_without_findings)
{
    struct finding finding = make("expectation", FINDING_NOTE, "web is on member1");
    struct findings f;

    findings_init(&f, "test");
    finding.passed = true;
    findings_add(&f, &finding);
    findings_finish(&f);
    assert_written(&f, OUTPUT_JUNIT, &found,
                   "<testcase name=\"web is on member1\" classname=\"test.expectation\">"
                   "</testcase>\n");
    assert_written(&f, OUTPUT_SARIF, &found, "\"results\":[]");
    assert_written(&f, OUTPUT_MARKDOWN, &found, "<summary>1 expectation holds</summary>");
    findings_release(&f);
}

TEST(missing_data_without_a_finding_is_an_error)
{
    const struct findings_end incomplete = {.exit_status = 3, .complete = false};
    struct findings f;

    findings_init(&f, "check");
    findings_finish(&f);
    assert_written(&f, OUTPUT_JUNIT, &incomplete, "errors=\"1\"");
    assert_written(&f, OUTPUT_JUNIT, &incomplete, "<error type=\"data_incomplete\"");
    assert_written(&f, OUTPUT_SARIF, &incomplete, "\"executionSuccessful\":false");
    assert_written(&f, OUTPUT_SARIF, &incomplete, "Not all inputs could be read.");
    assert_written(&f, OUTPUT_GITHUB, &incomplete, " Not all inputs could be read.\n");
    assert_written(&f, OUTPUT_MARKDOWN, &incomplete, "**Failed**: ");
    findings_release(&f);
}

TEST(relations_without_a_place_are_in_the_message)
{
    struct finding finding = make("policy_tie", FINDING_ERROR, "pp/shop/a");
    struct finding *kept;
    struct findings f;

    findings_init(&f, "check");
    kept = findings_add(&f, &finding);
    finding_add_relation(&f, kept, NULL, "pp/shop/b");
    finding_add_relation(&f, kept, &(struct location){"./b.yaml", 2, 1}, "pp/shop/c");
    findings_finish(&f);
    assert_written(&f, OUTPUT_SARIF, &found, "Correct it. Related: pp/shop/b.\"");
    assert_written(&f, OUTPUT_SARIF, &found,
                   "\"relatedLocations\":[{\"id\":2,\"physicalLocation\":{\"artifactLocation\":{"
                   "\"uri\":\"b.yaml\"");
    assert_written(&f, OUTPUT_JUNIT, &found, "Related: pp/shop/c b.yaml:2:1\n");
    findings_release(&f);
}

/* ---- summary ---- */

static const struct summary_case {
    const char *name;
    unsigned errors;
    unsigned notes;
    const char *expected;
} summary_cases[] = {
    {"nothing", 0, 0, "The check has no findings."},
    {"one that does not fail", 0, 1, "1 finding; none fails the check."},
    {"two that do not fail", 0, 2, "2 findings; none fails the check."},
    {"one that fails", 1, 0, "1 finding fails the check."},
    {"all fail", 2, 0, "2 findings fail the check."},
    {"one of three", 1, 2, "1 of 3 findings fails the check."},
    {"two of three", 2, 1, "2 of 3 findings fail the check."},
};

TEST_ROWS(the_summary_counts_findings, summary_cases, name)
{
    const struct summary_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct findings f;

    findings_init(&f, "check");
    for (unsigned i = 0; i < c->errors; i++)
        add(&f, "policy_tie", FINDING_ERROR, "a");
    for (unsigned i = 0; i < c->notes; i++)
        add(&f, "policy_tie", FINDING_NOTE, "a");
    findings_add_summary(&f, &text);
    assert_string_equal(text.data, c->expected);
    findings_release(&f);
}
