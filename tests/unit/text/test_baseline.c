/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/baseline.h"

#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

#define REPORT(problems)                                                                           \
    "{\"apiVersion\": \"karmada-policy-exporter/v1\", \"problems\": [" problems "]}"
#define PROBLEM(name, reason, api_version, ns, object)                                             \
    "{\"problem\": \"" name "\", \"reason\": " reason ", \"status\": \"open\", \"subject\": "      \
    "{\"apiVersion\": \"" api_version "\", \"kind\": \"PropagationPolicy\", \"namespace\": \"" ns  \
    "\", \"name\": \"" object "\"}}"
#define TIE PROBLEM("policy_tie", "null", "policy.karmada.io/v1alpha1", "shop", "a")
#define STUCK                                                                                      \
    "{\"problem\": \"not_propagated\", \"reason\": \"stuck\", \"subject\": {\"apiVersion\": "      \
    "\"v1\", "                                                                                     \
    "\"kind\": \"Secret\", \"namespace\": \"shop\", \"name\": \"b\"}}"

static const struct baseline_item tie = {
    .reason = PROBLEM_REASON_POLICY_TIE,
    .subject = {"policy.karmada.io/v1alpha1", "PropagationPolicy", "shop", "a"}};

static struct baseline *read_text(const char *text)
{
    struct baseline *b = baseline_new();
    struct error err;

    if (!baseline_read_text(b, "r.json", text, strlen(text), &err))
        fail_msg("%s", err.text);
    return b;
}

TEST(a_problem_is_known_by_problem_reason_and_subject)
{
    struct baseline *b = read_text(REPORT(TIE ", " STUCK));
    struct baseline_item item = tie;

    assert_true(baseline_has(b, "", &item));
    item.subject.api_version = "policy.karmada.io/v1beta2";
    assert_true(baseline_has(b, "", &item));
    item.subject.api_version = "example.io/v1alpha1";
    assert_false(baseline_has(b, "", &item));
    item = tie;
    item.subject.ns = "other";
    assert_false(baseline_has(b, "", &item));
    item = tie;
    item.subject.name = "b";
    assert_false(baseline_has(b, "", &item));
    item = tie;
    item.subject.kind = "ClusterPropagationPolicy";
    assert_false(baseline_has(b, "", &item));
    item = tie;
    item.reason = PROBLEM_REASON_POLICY_UNUSED;
    assert_false(baseline_has(b, "", &item));
    assert_false(baseline_has(b, "prod", &tie));
    item = (struct baseline_item){.reason = PROBLEM_REASON_NOT_PROPAGATED_STUCK,
                                  .subject = {"v1", "Secret", "shop", "b"}};
    assert_true(baseline_has(b, "", &item));
    item.reason = PROBLEM_REASON_NOT_PROPAGATED_NO_MATCH;
    assert_false(baseline_has(b, "", &item));
    baseline_free(b);
}

TEST(problems_that_are_not_asked_for_are_gone)
{
    struct baseline *b = read_text(REPORT(TIE ", " STUCK ", " TIE));
    struct problem_filter filter = PROBLEM_FILTER_ALL;

    assert_int_equal(baseline_count_gone(b, "", &filter), 2);
    assert_true(baseline_has(b, "", &tie));
    assert_int_equal(baseline_count_gone(b, "", &filter), 1);
    assert_int_equal(baseline_count_gone(b, "prod", &filter), 0);
    filter.problem = PROBLEM_POLICY_TIE;
    assert_int_equal(baseline_count_gone(b, "", &filter), 0);
    filter.problem = PROBLEM_NOT_PROPAGATED;
    filter.reason = "no_match";
    assert_int_equal(baseline_count_gone(b, "", &filter), 0);
    filter.reason = "stuck";
    assert_int_equal(baseline_count_gone(b, "", &filter), 1);
    filter.ns = "sho";
    assert_int_equal(baseline_count_gone(b, "", &filter), 0);
    filter.ns = "shop";
    assert_int_equal(baseline_count_gone(b, "", &filter), 1);
    baseline_free(b);
}

TEST(problems_under_an_exception_are_not_known)
{
    struct baseline *b = read_text(REPORT(
        "{\"problem\": \"policy_tie\", \"suppressed\": {\"by\": \"exception\"}, \"subject\": "
        "{\"apiVersion\": \"policy.karmada.io/v1alpha1\", \"kind\": \"PropagationPolicy\", "
        "\"namespace\": \"shop\", \"name\": \"a\"}}, "
        "{\"problem\": \"policy_tie\", \"suppressed\": {\"by\": \"baseline\"}, \"subject\": "
        "{\"apiVersion\": \"policy.karmada.io/v1alpha1\", \"kind\": \"PropagationPolicy\", "
        "\"namespace\": \"shop\", \"name\": \"b\"}}"));
    struct baseline_item item = tie;

    assert_false(baseline_has(b, "", &item));
    item.subject.name = "b";
    assert_true(baseline_has(b, "", &item));
    baseline_free(b);
}

TEST(unknown_problems_are_counted)
{
    struct baseline *b =
        read_text(REPORT(PROBLEM("policy_of_tomorrow", "null", "a/v1", "n", "x") ", " PROBLEM(
            "not_propagated", "\"tomorrow\"", "a/v1", "n", "x") ", " TIE));

    assert_int_equal(baseline_unknown_count(b), 2);
    assert_true(baseline_has(b, "", &tie));
    baseline_free(b);
}

TEST(conditions_and_unread_documents_are_known)
{
    struct baseline *b = read_text(
        "{\"apiVersion\": \"karmada-policy-exporter/v1\", \"problems\": [], \"templates\": ["
        "{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"namespace\": \"shop\", \"name\": \"b\", "
        "\"state\": \"pending\", \"reason\": \"no_match\"}], \"invalid\": ["
        "{\"kind\": \"Manifest\", \"path\": \"x.yaml\", \"line\": 3, \"column\": 1, "
        "\"text\": \"bad \\\"thing\\\"\"}, "
        "{\"kind\": \"PropagationPolicy\", \"path\": \"y.yaml\", \"text\": \"t\"}]}");
    struct baseline_item item = {.reason = PROBLEM_REASON_COUNT,
                                 .condition = NORMAL_NO_MATCH,
                                 .subject = {"v1", "Secret", "shop", "b"}};

    assert_true(baseline_has(b, "", &item));
    item.condition = NORMAL_WAITING;
    assert_false(baseline_has(b, "", &item));
    /* The condition is no problem, so a problem of the same name is new. */
    item.reason = PROBLEM_REASON_NOT_PROPAGATED_NO_MATCH;
    assert_false(baseline_has(b, "", &item));
    assert_true(baseline_has_unread(b, "", "x.yaml", "bad \"thing\""));
    assert_false(baseline_has_unread(b, "", "x.yaml", "another thing"));
    assert_false(baseline_has_unread(b, "", "y.yaml", "t"));
    assert_false(baseline_has_unread(b, "prod", "x.yaml", "bad \"thing\""));
    baseline_free(b);
}

TEST(environments_are_kept_apart)
{
    struct baseline *b =
        read_text("{\"apiVersion\": \"karmada-policy-exporter/v1\", \"environments\": ["
                  "{\"name\": \"prod\", \"report\": " REPORT(
                      TIE) "}, {\"name\": \"test\", \"report\": " REPORT("") "}]}");

    assert_true(baseline_has_environment(b, "prod"));
    assert_true(baseline_has_environment(b, "test"));
    assert_false(baseline_has_environment(b, ""));
    assert_true(baseline_has(b, "prod", &tie));
    assert_false(baseline_has(b, "test", &tie));
    assert_false(baseline_has(b, "", &tie));
    baseline_free(b);
}

TEST(a_report_may_be_yaml)
{
    struct baseline *b = read_text("apiVersion: karmada-policy-exporter/v1\n"
                                   "problems:\n"
                                   "- problem: policy_tie\n"
                                   "  reason: null\n"
                                   "  subject: {apiVersion: policy.karmada.io/v1alpha1, kind: "
                                   "PropagationPolicy, namespace: shop, name: a}\n");

    assert_true(baseline_has_environment(b, ""));
    assert_true(baseline_has(b, "", &tie));
    baseline_free(b);
}

static const struct bad_case {
    const char *name;
    const char *text;
    const char *error;
} bad_cases[] = {
    {"an empty file", "", "the file is empty"},
    {"a cut report", "{\"apiVersion\": \"karmada-policy-exporter/v1\", \"problems\": [",
     "line 1, column "},
    {"no mapping", "[]", "no report"},
    {"another document", "apiVersion: v1\nkind: List\n", "apiVersion is 'v1'"},
    {"another version", "{\"apiVersion\": \"karmada-policy-exporter/v2\", \"problems\": []}",
     "apiVersion is 'karmada-policy-exporter/v2' and not 'karmada-policy-exporter/v1'"},
    {"no problems", "{\"apiVersion\": \"karmada-policy-exporter/v1\", \"kind\": \"Plan\"}",
     "the list 'problems' is missing"},
    {"problems that are no list",
     "{\"apiVersion\": \"karmada-policy-exporter/v1\", \"problems\": {}}",
     "the list 'problems' is missing"},
    {"an environment without a name",
     "{\"apiVersion\": \"karmada-policy-exporter/v1\", \"environments\": [{\"report\": {}}]}",
     "lacks 'name' or 'report'"},
    {"an environment of another version",
     "{\"environments\": [{\"name\": \"prod\", \"report\": {\"apiVersion\": \"v9\"}}]}",
     "environment 'prod': no report"},
    {"broken YAML", "a: [b\n", "line "},
};

TEST_ROWS(another_file_is_refused, bad_cases, name)
{
    const struct bad_case *c = *state;
    struct baseline *b = baseline_new();
    struct error err;

    assert_false(baseline_read_text(b, "r.json", c->text, strlen(c->text), &err));
    if (!strstr(err.text, c->error) || strncmp(err.text, "r.json: ", 8) != 0)
        fail_msg("%s", err.text);
    baseline_free(b);
}

TEST(odd_values_in_a_report_are_harmless)
{
    struct baseline *b =
        read_text(REPORT("null, 3, \"x\", [], {}, {\"problem\": 1, \"subject\": []}, "
                         "{\"problem\": \"policy_tie\", \"subject\": null}, " TIE));

    assert_true(baseline_has(b, "", &tie));
    assert_int_equal(baseline_unknown_count(b), 6);
    baseline_free(b);
}

TEST(a_report_is_read_from_a_file)
{
    char *folder = folder_make();
    char *path = folder_path(folder, "r.json");
    struct baseline *b = baseline_new();
    struct error err;

    folder_write(folder, "r.json", REPORT(TIE));
    assert_true(baseline_read_report(b, path, &err));
    assert_true(baseline_has(b, "", &tie));
    folder_unlink(folder, "r.json");
    assert_false(baseline_read_report(b, path, &err));
    baseline_free(b);
    free(path);
    folder_remove(folder);
}
