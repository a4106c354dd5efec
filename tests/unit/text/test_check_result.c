/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <unistd.h>

#include "exporter/text/check_text.h"

#include "tests/unit/evaluated.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

enum { TEXT_MAX = 64 * 1024, WIDTH = 80, HEADER_MAX_BYTES = 8 * 1024 };

/* ---- counts in the header ---- */

TEST(nonzero_counts_are_written_and_parsed)
{
    const struct problem_counts counts = {
        .severities = {[SEVERITY_WARNING] = 3},
        .open = {[PROBLEM_REASON_NOT_PROPAGATED_NO_MATCH] = 2, [PROBLEM_REASON_POLICY_TIE] = 1},
        .hidden = {[PROBLEM_REASON_NOT_DELIVERED_WAITING] = 4},
        .normal = {[NORMAL_KIND_NOT_SELECTED] = 17},
        .unread = 3,
        .missing = SIZE_MAX,
    };
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct problem_counts read;

    problem_counts_write(&counts, &text);
    assert_string_equal(text.data, "warning=3, not_propagated/no_match=2, policy_tie=1, "
                                   "hidden:not_delivered/waiting=4, "
                                   "normal:not_propagated/kind_not_selected=17, unread=3, "
                                   "missing=18446744073709551615");
    assert_true(problem_counts_read(text.data, &read));
    assert_memory_equal(&read, &counts, sizeof(read));
}

TEST(zero_counts_are_written_as_none)
{
    const struct problem_counts nothing = {.unread = 0};
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct problem_counts read = {.unread = 7};

    problem_counts_write(&nothing, &text);
    assert_string_equal(text.data, "none");
    assert_true(problem_counts_read(text.data, &read));
    assert_memory_equal(&read, &nothing, sizeof(read));
}

/* With large counts for every reason, the value is below the limit of an HTTP connection. */
TEST(counts_of_all_reasons_fit_into_a_header)
{
    struct problem_counts counts = {.unread = 100000, .missing = 100}, read;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(PROBLEM_COUNTS_MAX_BYTES);

    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++)
        counts.open[i] = 100000;
    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++)
        counts.normal[i] = 100000;
    problem_counts_write(&counts, &text);
    assert_in_range(text.len, 1, HEADER_MAX_BYTES);
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++)
        counts.hidden[i] = SIZE_MAX;
    strbuf_reset(&text);
    problem_counts_write(&counts, &text);
    assert_true(strbuf_ok(&text));
    assert_true(problem_counts_read(text.data, &read));
    assert_memory_equal(&read, &counts, sizeof(read));
}

TEST(unknown_names_are_ignored)
{
    struct problem_counts read;

    assert_true(
        problem_counts_read("novelty=4, hidden:x/y=2, normal:z=1, policy_tie=1,unread=2", &read));
    assert_int_equal(read.open[PROBLEM_REASON_POLICY_TIE], 1);
    assert_int_equal(read.unread, 2);
}

static const struct bad_case {
    const char *name;
    const char *text;
} bad_cases[] = {
    {"empty text", ""},
    {"no number", "warning"},
    {"an empty number", "warning="},
    {"no name", "=2"},
    {"a fraction", "warning=2.5"},
    {"a negative number", "warning=-1"},
    {"zero", "warning=0"},
    {"a number over SIZE_MAX", "warning=18446744073709551616"},
    {"a duplicate name", "warning=1, warning=2"},
    {"a comma at the end", "warning=1,"},
    {"an empty item", "warning=1,,info=1"},
    {"a blank before the sign", "warning =1"},
    {"none and a name", "none, warning=1"},
    {"a name that is too long",
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaaaaaaaaa=1"},
    {"a name without a number before a comma", "warning,info=1"},
};

TEST_ROWS(invalid_counts_are_refused, bad_cases, name)
{
    const struct bad_case *c = *state;
    struct problem_counts read = {.unread = 7};

    assert_false(problem_counts_read(c->text, &read));
    assert_int_equal(read.unread, 7);
}

/* Numbers of a header, a value of --fail-on, and whether the check fails. */
static const struct failing_case {
    const char *name;
    const char *counts;
    const char *fail_on;
    bool fails;
} failing_cases[] = {
    {"a severity", "warning=1, not_propagated/stuck=1", "warning", true},
    {"a higher severity", "critical=1, placement_lost/no_cluster_fit=1", "warning", true},
    {"a lower severity", "info=1, policy_unused=1", "warning", false},
    {"a problem", "info=1, policy_tie=1", "policy_tie", true},
    {"another problem", "info=1, policy_tie=1", "policy_unused", false},
    {"a reason", "warning=1, not_propagated/stuck=1", "not_propagated/stuck", true},
    {"another reason", "warning=1, not_propagated/stuck=1", "not_propagated/no_match", false},
    {"a hidden problem by its severity", "hidden:not_delivered/waiting=1", "info", false},
    {"a hidden problem by its name", "hidden:not_delivered/waiting=1", "not_delivered", true},
    {"a condition by the problem", "normal:not_propagated/waiting=1", "not_propagated", false},
    {"a condition by its name", "normal:not_propagated/waiting=1", "not_propagated/waiting", true},
    {"an empty value", "critical=1, placement_lost/no_cluster_fit=1", "", false},
};

TEST_ROWS(counts_fail_by_the_rules_of_fail_on, failing_cases, name)
{
    const struct failing_case *c = *state;
    struct problem_counts counts;
    struct fail_on fail_on;
    struct error err;

    assert_true(problem_counts_read(c->counts, &counts));
    assert_true(fail_on_parse(c->fail_on, &fail_on, &err));
    assert_int_equal(problem_counts_fail(&counts, &fail_on), c->fails);
}

/* ---- text ---- */

static const int64_t NOW_MS = INT64_C(1767225600000); /* 2026-01-01T00:00:00Z */

/* Evaluates objects.yaml of a folder by its relative path, so that places do not name the folder.
 */
static struct evaluation *evaluate_inside(const char *folder)
{
    int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct evaluation *e;

    assert_int_equal(chdir(folder), 0);
    e = evaluated_manifests("objects.yaml", NOW_MS);
    assert_int_equal(fchdir(before), 0);
    close(before);
    return e;
}

static void assert_text(const char *manifest, const char *fail_on, unsigned width,
                        const char *expected)
{
    char *folder = folder_make();
    struct output o = {.text = STRBUF_INIT(TEXT_MAX), .width = width};
    struct evaluation *e;
    struct check_result r;
    struct fail_on f;
    struct error err;

    folder_write(folder, "objects.yaml", manifest);
    e = evaluate_inside(folder);
    assert_true(fail_on_parse(fail_on, &f, &err));
    check_result_make(&r, e, NULL, NULL);
    check_result_print(&r, &f, false, NOW_MS, &o);
    assert_string_equal(o.text.data, expected);
    assert_int_equal(problem_counts_fail(&r.counts, &f),
                     strstr(o.text.data, " this check") && !strstr(o.text.data, "none fails"));
    check_result_release(&r);
    output_release(&o);
    evaluation_free(e);
    folder_remove(folder);
}

static void assert_text_with(const char *manifest, const char *fail_on, unsigned width,
                             const char *row, const char *summary)
{
    char *folder = folder_make();
    struct output o = {.text = STRBUF_INIT(TEXT_MAX), .width = width};
    struct evaluation *e;
    struct check_result r;
    struct fail_on f;
    struct error err;

    folder_write(folder, "objects.yaml", manifest);
    e = evaluate_inside(folder);
    assert_true(fail_on_parse(fail_on, &f, &err));
    check_result_make(&r, e, NULL, NULL);
    check_result_print(&r, &f, false, NOW_MS, &o);
    if (!strstr(o.text.data, row) || !strstr(o.text.data, summary))
        fail_msg("%s", o.text.data);
    check_result_release(&r);
    output_release(&o);
    evaluation_free(e);
    folder_remove(folder);
}

static void assert_summary(const char *manifest, const char *fail_on, const char *row,
                           const char *summary)
{
    assert_text_with(manifest, fail_on, 0, row, summary);
}

#define POLICY_OF_SECRETS                                                                          \
    "apiVersion: policy.karmada.io/v1alpha1\n"                                                     \
    "kind: PropagationPolicy\n"                                                                    \
    "metadata: {name: secrets, namespace: shop, creationTimestamp: '2025-12-27T00:00:00Z',\n"      \
    "  managedFields: [{manager: a, operation: Update, time: '2025-12-27T00:00:00Z',\n"            \
    "    fieldsV1: {'f:spec': {}}}],\n"                                                            \
    "  labels: {" CLAIM_LABEL "}}\n"                                                               \
    "spec: {resourceSelectors: [{apiVersion: v1, kind: Secret, name: a}]}\n"
#define CLAIM_LABEL "propagationpolicy.karmada.io/permanent-id: id"
#define CLAIM_ANNOTATIONS                                                                          \
    "propagationpolicy.karmada.io/namespace: shop, propagationpolicy.karmada.io/name: secrets"

/* Claimed four days before NOW_MS, and never bound. */
#define STUCK                                                                                      \
    POLICY_OF_SECRETS                                                                              \
    "---\n"                                                                                        \
    "apiVersion: v1\n"                                                                             \
    "kind: Secret\n"                                                                               \
    "metadata: {name: a, namespace: shop, uid: u, creationTimestamp: '2025-12-28T00:00:00Z',\n"    \
    "  managedFields: [{manager: a, operation: Update, time: '2025-12-28T00:00:00Z',\n"            \
    "    fieldsV1: {'f:data': {}}}],\n"                                                            \
    "  labels: {" CLAIM_LABEL "}, annotations: {" CLAIM_ANNOTATIONS "}}\n"

TEST(a_claimed_template_without_a_binding_is_named_and_fails)
{
    assert_text(STUCK, "warning,policy_tie", WIDTH,
                "Found 1 warning; 1 fails this check.\n"
                "Read 1 file with 1 template (1 unbound), 1 policy and 0 bindings.\n"
                "Karmada 1.19 (assumed; set --karmada.version).\n"
                "\n"
                "warning  not_propagated/stuck  Secret shop/a  for 4d\n"
                "  objects.yaml:9:1\n"
                "  Karmada has claimed Secret shop/a for PropagationPolicy shop/secrets but\n"
                "  created no binding, and does not try again by itself.\n"
                "  Action (Template owner): Read the Events of the template, because a webhook\n"
                "  may refuse the binding, then change the template.\n"
                "    with pp/shop/secrets  objects.yaml:1:1\n"
                "\n"
                "Fails by --fail-on warning,policy_tie: not_propagated/stuck of Secret shop/a.\n");
}

TEST(with_an_empty_value_no_problem_fails)
{
    assert_text(
        STUCK, "", 0,
        "Found 1 warning; none fails this check, because --fail-on is empty.\n"
        "Read 1 file with 1 template (1 unbound), 1 policy and 0 bindings.\n"
        "Karmada 1.19 (assumed; set --karmada.version).\n"
        "\n"
        "warning  not_propagated/stuck  Secret shop/a  for 4d\n"
        "  objects.yaml:9:1\n"
        "  Karmada has claimed Secret shop/a for PropagationPolicy shop/secrets but created "
        "no binding, and does not try again by itself.\n"
        "  Action (Template owner): Read the Events of the template, because a webhook may refuse "
        "the "
        "binding, then change the template.\n"
        "    with pp/shop/secrets  objects.yaml:1:1\n");
}

TEST(summary_and_sentences_are_wrapped)
{
    assert_text(STUCK, "", 60,
                "Found 1 warning; none fails this check, because --fail-on is\n"
                "empty.\n"
                "Read 1 file with 1 template (1 unbound), 1 policy and 0\n"
                "bindings.\n"
                "Karmada 1.19 (assumed; set --karmada.version).\n"
                "\n"
                "warning  not_propagated/stuck  Secret shop/a  for 4d\n"
                "  objects.yaml:9:1\n"
                "  Karmada has claimed Secret shop/a for PropagationPolicy\n"
                "  shop/secrets but created no binding, and does not try\n"
                "  again by itself.\n"
                "  Action (Template owner): Read the Events of the template,\n"
                "  because a webhook may refuse the binding, then change the\n"
                "  template.\n"
                "    with pp/shop/secrets  objects.yaml:1:1\n");
}

/* A long heading loses the object first, then the number of objects. */
TEST(an_object_has_its_own_line_on_a_narrow_terminal)
{
    static const char *const texts[][2] = {
        {"\nwarning  not_propagated/stuck  1 object\n",
         "\n    Secret shop/a         for 4d\n        objects.yaml:9:1\n"
         "    with pp/shop/secrets\n        objects.yaml:1:1\n"},
        {"\nwarning  not_propagated/stuck\n  1 object\n",
         "\n    Secret shop/a         for 4d\n        objects.yaml:9:1\n"},
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_text_with(STUCK, "critical", i == 0 ? 48 : 40, texts[i][0], texts[i][1]);
}

/* Not applied yet: normal in files. */
#define WAITING                                                                                    \
    POLICY_OF_SECRETS                                                                              \
    "---\n"                                                                                        \
    "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: shop}}\n"                       \
    "---\n"                                                                                        \
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: shop}}\n"

TEST(conditions_that_are_no_problem_are_not_listed)
{
    assert_text(WAITING, "info", WIDTH,
                "Found no problems.\n"
                "Read 1 file with 2 templates (1 pending, 1 unbound), 1 policy and 0 bindings.\n"
                "Not listed: 1 pending template of kinds that no policy selects.\n"
                "Karmada 1.19 (assumed; set --karmada.version).\n");
}

TEST(conditions_that_fail_on_names_are_listed)
{
    assert_text(WAITING, "not_propagated/waiting,not_propagated/kind_not_selected", WIDTH,
                "Found 2 conditions that are no problem; 2 fail this check.\n"
                "Read 1 file with 2 templates (1 pending, 1 unbound), 1 policy and 0 bindings.\n"
                "Karmada 1.19 (assumed; set --karmada.version).\n"
                "\n"
                "none  not_propagated/kind_not_selected  ConfigMap shop/b\n"
                "  objects.yaml:11:1\n"
                "  No policy selects objects of this kind, and no template with propagateDeps\n"
                "  requires the template.\n"
                "  Action: Create a policy that selects the template, if Karmada is to propagate\n"
                "  it.\n"
                "\n"
                "none  not_propagated/waiting  Secret shop/a\n"
                "  objects.yaml:9:1\n"
                "  A policy selects the template, and no client has applied the template yet.\n"
                "  Action: Apply the template to Karmada's API server.\n"
                "\n"
                "Fails by --fail-on not_propagated/waiting,not_propagated/kind_not_selected:\n"
                "not_propagated/kind_not_selected of ConfigMap shop/b, not_propagated/waiting of\n"
                "Secret shop/a.\n");
}

/* The defect of the policy hides that it is unused. */
#define UNUSED                                                                                     \
    "apiVersion: policy.karmada.io/v1alpha1\n"                                                     \
    "kind: PropagationPolicy\n"                                                                    \
    "metadata: {name: p, namespace: shop}\n"                                                       \
    "spec:\n"                                                                                      \
    "  resourceSelectors: [{apiVersion: v1, kind: Secret, labelSelector: {matchLabels: {a b: "     \
    "c}}}]\n"

TEST(hidden_problems_stand_below_their_cause)
{
    static const char row[] = "      hides policy_unused of PropagationPolicy shop/p\n";

    assert_summary(UNUSED, "critical", row,
                   "Found 1 warning, 1 hidden problem; none fails this check.\n");
    assert_summary(UNUSED, "info", row, "Found 1 warning, 1 hidden problem; 1 fails this check.\n");
    assert_summary(UNUSED, "policy_unused", row,
                   "Found 1 warning, 1 hidden problem; 1 fails this check.\n");
    assert_summary(UNUSED, "warning,policy_unused", row,
                   "Found 1 warning, 1 hidden problem; 2 fail this check.\n");
}

TEST(documents_that_are_not_read_are_listed)
{
    assert_summary(STUCK "---\n{apiVersion: v1, kind: Secret}\n", "", "Not read (1)\n",
                   "because --fail-on is empty. Not everything could be read.\n");
    assert_summary("just text\n", "",
                   "\nSkipped 1 document that is no Kubernetes object: ", "Found no problems.\n");
}
