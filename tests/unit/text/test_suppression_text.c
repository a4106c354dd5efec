/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/suppression_text.h"

#include "tests/unit/evaluated.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

enum { TEXT_MAX = 64 * 1024 };

static const int64_t NOW_MS = INT64_C(1767225600000); /* 2026-01-01T00:00:00Z */

/* The policy has a defect, policy_invalid, which hides not_propagated of both templates. */
static const char manifest[] = "apiVersion: policy.karmada.io/v1alpha1\n"
                               "kind: PropagationPolicy\n"
                               "metadata: {name: all, namespace: shop}\n"
                               "spec:\n"
                               "  dependentOverrides: [missing]\n"
                               "  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]\n"
                               "---\n"
                               "apiVersion: v1\n"
                               "kind: ConfigMap\n"
                               "metadata: {name: a, namespace: shop}\n"
                               "---\n"
                               "apiVersion: v1\n"
                               "kind: ConfigMap\n"
                               "metadata: {name: b, namespace: shop}\n";

/* One evaluation of the manifest with suppressions. */
struct scene {
    char *folder;
    struct evaluation *evaluation;
    struct suppressions suppressions;
    struct check_result result;
    struct fail_on fail_on;
};

/* Evaluates with the exceptions of a text, and with the items as the baseline if there are any. */
static void open_scene(struct scene *s, const char *exceptions, const struct baseline_item *known,
                       size_t known_count)
{
    struct error err;

    *s = (struct scene){.folder = folder_make()};
    folder_write(s->folder, "objects.yaml", manifest);
    s->evaluation = evaluated_manifests(s->folder, NOW_MS);
    assert_true(fail_on_parse("warning", &s->fail_on, &err));
    s->suppressions = (struct suppressions){
        .exceptions = exceptions_new("default"), .environment = "", .now_ms = NOW_MS};
    if (!exceptions_read_text(s->suppressions.exceptions, "x.yaml", exceptions, strlen(exceptions),
                              &err))
        fail_msg("%s", err.text);
    if (known_count > 0)
        s->suppressions.baseline = baseline_new();
    for (size_t i = 0; i < known_count; i++)
        baseline_add(s->suppressions.baseline, "", &known[i]);
    check_result_make(&s->result, s->evaluation, NULL, &s->suppressions);
}

static void close_scene(struct scene *s)
{
    check_result_release(&s->result);
    exceptions_free(s->suppressions.exceptions);
    baseline_free(s->suppressions.baseline);
    evaluation_free(s->evaluation);
    folder_remove(s->folder);
}

static const struct baseline_item invalid_policy = {
    .reason = PROBLEM_REASON_POLICY_INVALID_OVERRIDE_MISSING,
    .subject = {"policy.karmada.io/v1alpha1", "PropagationPolicy", "shop", "all"}};

#define TEMPLATE(name)                                                                             \
    {                                                                                              \
        .reason = PROBLEM_REASON_NOT_PROPAGATED_OVERRIDE_MISSING, .subject = {                     \
            "v1",                                                                                  \
            "ConfigMap",                                                                           \
            "shop",                                                                                \
            (name)                                                                                 \
        }                                                                                          \
    }

static void assert_counts(const struct scene *s, const char *expected)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);

    strbuf_adds(&text, "Found");
    suppression_add_counts(&s->result, &text);
    assert_string_equal(text.data, expected);
}

TEST(without_suppressions_only_the_cause_counts)
{
    struct scene s;

    open_scene(&s, "", NULL, 0);
    assert_counts(&s, "Found");
    assert_int_equal(s.result.shown_count, 1);
    assert_int_equal(s.result.hidden_count, 2);
    assert_true(check_result_has_failure(&s.result, &s.fail_on));
    close_scene(&s);
}

TEST(a_new_problem_behind_a_known_one_counts)
{
    const struct baseline_item known[] = {invalid_policy, TEMPLATE("b")};
    struct scene s;

    open_scene(&s, "", known, ARRAY_LEN(known));
    assert_counts(&s, "Found; 2 known");
    assert_int_equal(s.result.hidden_count, 0);
    assert_int_equal(s.result.shown_count, 1);
    assert_string_equal(problem_name(s.result.shown[0]), "a");
    assert_int_equal(s.result.counts.severities[SEVERITY_WARNING], 1);
    assert_true(check_result_fails(&s.result, s.result.shown[0], &s.fail_on));
    assert_null(check_result_suppression(&s.result, s.result.shown[0]));
    assert_true(check_result_has_failure(&s.result, &s.fail_on));
    close_scene(&s);
}

TEST(known_problems_do_not_fail)
{
    const struct baseline_item known[] = {invalid_policy, TEMPLATE("a"), TEMPLATE("b"),
                                          TEMPLATE("gone")};
    struct scene s;

    open_scene(&s, "", known, ARRAY_LEN(known));
    assert_counts(&s, "Found; 3 known");
    assert_int_equal(s.result.shown_count + s.result.hidden_count, 0);
    assert_int_equal(s.result.numbers.gone, 1);
    assert_int_equal(s.result.suppressed_count, 3);
    for (size_t i = 0; i < s.result.suppressed_count; i++)
        assert_false(check_result_fails(&s.result, s.result.suppressed[i].problem, &s.fail_on));
    assert_false(check_result_has_failure(&s.result, &s.fail_on));
    close_scene(&s);
}

TEST(a_known_problem_leaves_its_new_cause_alone)
{
    const struct baseline_item known[] = {TEMPLATE("a")};
    struct scene s;

    open_scene(&s, "", known, ARRAY_LEN(known));
    assert_counts(&s, "Found; 1 known");
    assert_int_equal(s.result.shown_count, 1);
    assert_string_equal(problem_name(s.result.shown[0]), "all");
    assert_int_equal(s.result.hidden_count, 1);
    close_scene(&s);
}

#define POLICY_UNTIL(day)                                                                          \
    "- {problem: policy_invalid, object: pp/shop/all, reason: r, until: " day "}\n"

TEST(an_exception_covers_hidden_problems_and_comes_before_the_baseline)
{
    const struct baseline_item known[] = {invalid_policy};
    struct scene s;

    open_scene(&s, POLICY_UNTIL("2026-01-01"), known, ARRAY_LEN(known));
    assert_counts(&s, "Found; 3 excepted");
    assert_int_equal(exceptions_at(s.suppressions.exceptions, 0)->covered, 1);
    for (size_t i = 0; i < s.result.suppressed_count; i++)
        assert_non_null(s.result.suppressed[i].exception);
    assert_int_equal(s.result.numbers.gone, 0);
    assert_false(check_result_has_failure(&s.result, &s.fail_on));
    close_scene(&s);
}

TEST(an_expired_exception_fails_also_if_the_baseline_has_the_problem)
{
    const struct baseline_item known[] = {invalid_policy, TEMPLATE("a"), TEMPLATE("b")};
    struct output o = {.text = STRBUF_INIT(TEXT_MAX), .width = 80};
    struct fail_on other, empty;
    struct error err;
    struct scene s;

    open_scene(&s, POLICY_UNTIL("2025-12-31"), known, ARRAY_LEN(known));
    assert_counts(&s, "Found; 2 known");
    assert_int_equal(s.result.expired_count, 1);
    assert_true(fail_on_parse("critical", &other, &err));
    assert_true(check_result_has_failure(&s.result, &other));
    assert_true(check_result_fails(&s.result, s.result.shown[0], &other));
    assert_false(check_result_is_named(&s.result, s.result.shown[0], &other));
    assert_true(fail_on_parse("", &empty, &err));
    assert_false(check_result_has_failure(&s.result, &empty));
    assert_false(check_result_fails(&s.result, s.result.shown[0], &empty));
    suppression_print_expired(&s.result, &o);
    assert_string_equal(
        o.text.data,
        "\nExpired exceptions (1)\n"
        "  x.yaml:1:3: expired after 2025-12-31; it covered\n"
        "  policy_invalid/override_missing of PropagationPolicy shop/all (r). Solve the\n"
        "  problem, or agree on a later date.\n");
    output_release(&o);
    close_scene(&s);
}

TEST(unused_exceptions_are_told_apart)
{
    struct output o = {.text = STRBUF_INIT(TEXT_MAX), .width = 0};
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(TEXT_MAX);
    struct scene s;

    open_scene(&s,
               POLICY_UNTIL("2026-02-01")
                   POLICY_UNTIL("2025-12-31") "- {problem: policy_tie, object: pp/shop/all, "
                                              "reason: r, until: 2025-12-31}\n"
                                              "- {problem: policy_tie, object: pp/shop/none, "
                                              "reason: r, until: 2026-12-31}\n",
               NULL, 0);
    exceptions_print_unused(s.suppressions.exceptions, NOW_MS, &o);
    assert_string_equal(
        o.text.data,
        "\nUnused exceptions (3)\n"
        "  x.yaml:2:3: the exception for policy_invalid has expired, and a later one covers its "
        "problem. Remove it.\n"
        "  x.yaml:3:3: the exception for policy_tie of pp/shop/all covers no problem and has "
        "expired. Remove it.\n"
        "  x.yaml:4:3: the exception for policy_tie names pp/shop/none, and no such object exists. "
        "Correct the object, or remove the exception.\n");
    exceptions_write(s.suppressions.exceptions, NOW_MS, &json);
    assert_non_null(strstr(json.data, "\"state\":\"used\""));
    assert_non_null(strstr(json.data, "\"state\":\"unused\""));
    output_release(&o);
    close_scene(&s);
}
