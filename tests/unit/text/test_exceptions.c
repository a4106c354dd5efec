/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/exceptions.h"

#include "metrics/base/timestamp.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

static const char head[] = "- problem: policy_tie\n"
                           "  object: pp/shop/*\n"
                           "  reason: The new policy replaces the old one.\n"
                           "  until: 2027-01-31\n";

static int64_t at(const char *time)
{
    int64_t ms;

    assert_true(parse_timestamp(time, &ms));
    return ms;
}

static struct exceptions *read_text(const char *text)
{
    struct exceptions *x = exceptions_new("default");
    struct error err;

    if (!exceptions_read_text(x, "x.yaml", text, strlen(text), &err))
        fail_msg("%s", err.text);
    return x;
}

static const struct exception *find(struct exceptions *x, enum problem_reason reason,
                                    struct identity subject, const char *time, bool *expired)
{
    return exceptions_find(
        x, &(struct exception_query){.reason = reason, .subject = subject, .now_ms = at(time)},
        expired);
}

#define POLICY(ns, name)                                                                           \
    ((struct identity){"policy.karmada.io/v1alpha1", "PropagationPolicy", (ns), (name)})
#define BEFORE "2027-01-31T23:59:59Z"
#define AFTER  "2027-02-01T00:00:00Z"

TEST(an_exception_ends_after_its_day_in_utc)
{
    struct exceptions *x = read_text(head);
    bool expired;
    const struct exception *e =
        find(x, PROBLEM_REASON_POLICY_TIE, POLICY("shop", "a"), BEFORE, &expired);

    assert_non_null(e);
    assert_false(expired);
    assert_string_equal(e->reason, "The new policy replaces the old one.");
    assert_string_equal(e->until, "2027-01-31");
    assert_int_equal(e->line, 1);
    assert_ptr_equal(find(x, PROBLEM_REASON_POLICY_TIE, POLICY("shop", "a"), AFTER, &expired), e);
    assert_true(expired);
    assert_int_equal(e->covered, 2);
    exceptions_free(x);
}

TEST(an_exception_in_force_comes_before_an_expired_one)
{
    struct exceptions *x =
        read_text("- {problem: policy_tie, object: pp/shop/a, reason: old, until: 2026-01-31}\n"
                  "- {problem: policy_tie, object: pp/shop/*, reason: new, until: 2027-01-31}\n");
    bool expired;
    const struct exception *e =
        find(x, PROBLEM_REASON_POLICY_TIE, POLICY("shop", "a"), BEFORE, &expired);

    assert_false(expired);
    assert_string_equal(e->reason, "new");
    assert_true(exceptions_at(x, 0)->superseded);
    assert_int_equal(exceptions_at(x, 0)->covered, 0);
    exceptions_free(x);
}

static const struct fitting_case {
    const char *name;
    const char *problem;
    const char *object;
    struct identity subject;
    bool fits;
} fitting_cases[] = {
    {"a short name", "policy_tie", "pp/shop/a", POLICY("shop", "a"), true},
    {"the name in the output", "policy_tie", "PropagationPolicy shop/a", POLICY("shop", "a"), true},
    {"a kind in the plural", "policy_tie", "propagationpolicies/shop/a", POLICY("shop", "a"), true},
    {"a glob", "policy_tie", "pp/s?op/a*", POLICY("shop", "abc"), true},
    {"any kind", "policy_tie", "*/shop/a", POLICY("shop", "a"), true},
    {"a group", "policy_tie", "PropagationPolicy.policy.karmada.io/shop/a", POLICY("shop", "a"),
     true},
    {"another group", "policy_tie", "PropagationPolicy.karmada.io/shop/a", POLICY("shop", "a"),
     false},
    {"another kind", "policy_tie", "cpp/shop/a", POLICY("shop", "a"), false},
    {"another namespace", "policy_tie", "pp/shop/a", POLICY("other", "a"), false},
    {"another name", "policy_tie", "pp/shop/a", POLICY("shop", "ab"), false},
    {"the default namespace", "policy_tie", "pp/a", POLICY("default", "a"), true},
    {"no namespace", "policy_tie", "pp/a", POLICY("", "a"), true},
    {"not the default namespace", "policy_tie", "pp/a", POLICY("shop", "a"), false},
    {"another problem", "policy_unused", "pp/shop/a", POLICY("shop", "a"), false},
};

TEST_ROWS(an_exception_fits_problem_and_object, fitting_cases, name)
{
    const struct fitting_case *c = *state;
    struct strbuf text = STRBUF_INIT(1024);
    struct exceptions *x;
    bool expired;

    strbuf_addf(&text, "- problem: %s\n  object: '%s'\n  reason: r\n  until: 2027-01-31\n",
                c->problem, c->object);
    x = read_text(text.data);
    assert_int_equal(find(x, PROBLEM_REASON_POLICY_TIE, c->subject, BEFORE, &expired) != NULL,
                     c->fits);
    exceptions_free(x);
    strbuf_release(&text);
}

TEST(a_reason_limits_an_exception_to_it)
{
    struct exceptions *x = read_text(
        "- {problem: not_propagated/stuck, object: Secret/shop/a, reason: r, until: 2027-01-31}\n");
    const struct identity secret = {"v1", "Secret", "shop", "a"};
    bool expired;

    assert_non_null(find(x, PROBLEM_REASON_NOT_PROPAGATED_STUCK, secret, BEFORE, &expired));
    assert_null(find(x, PROBLEM_REASON_NOT_PROPAGATED_NO_MATCH, secret, BEFORE, &expired));
    exceptions_free(x);
}

TEST(a_condition_that_is_no_problem_can_have_an_exception)
{
    struct exceptions *x =
        read_text("- {problem: not_propagated/kind_not_selected, object: Secret/shop/a, reason: r, "
                  "until: 2027-01-31}\n");
    bool expired;

    assert_non_null(
        exceptions_find(x,
                        &(struct exception_query){.reason = PROBLEM_REASON_COUNT,
                                                  .condition = NORMAL_KIND_NOT_SELECTED,
                                                  .subject = {"v1", "Secret", "shop", "a"},
                                                  .now_ms = at(BEFORE)},
                        &expired));
    exceptions_free(x);
}

TEST(an_object_that_exists_is_noted)
{
    struct exceptions *x = read_text(head);

    exceptions_note_object(x, &POLICY("other", "a"));
    assert_false(exceptions_at(x, 0)->object_exists);
    exceptions_note_object(x, &POLICY("shop", "a"));
    assert_true(exceptions_at(x, 0)->object_exists);
    exceptions_free(x);
}

static const struct wrong_case {
    const char *name;
    const char *text;
    const char *error;
} wrong_cases[] = {
    {"no YAML", "a: [", "x.yaml:"},
    {"no list", "problem: policy_tie\n", "x.yaml:1:1: expected a list of exceptions"},
    {"no mapping", "- policy_tie\n", "x.yaml:1:3: an exception is a mapping"},
    {"an unknown key", "- problem: policy_tie\n  objects: a\n",
     "x.yaml:2:3: unknown key 'objects': an exception has problem, object, reason and until"},
    {"a missing key", "- problem: policy_tie\n  object: pp/a\n  until: 2027-01-31\n",
     "x.yaml:1:3: the exception has no 'reason'"},
    {"an empty value", "- problem: policy_tie\n  object: pp/a\n  until: 2027-01-31\n  reason:\n",
     "x.yaml:4:3: 'reason' has no text"},
    {"a blank reason",
     "- problem: policy_tie\n  object: pp/a\n  reason: ' '\n  until: 2027-01-31\n",
     "x.yaml:3:3: 'reason': the reason is empty"},
    {"an unknown problem",
     "- problem: policy_tei\n  object: pp/a\n  reason: r\n  until: 2027-01-31\n",
     "x.yaml:1:3: 'problem': "},
    {"a severity", "- problem: warning\n  object: pp/a\n  reason: r\n  until: 2027-01-31\n",
     "x.yaml:1:3: 'problem': 'warning' is not one problem"},
    {"two problems",
     "- problem: policy_tie,policy_unused\n  object: pp/a\n  reason: r\n  until: 2027-01-31\n",
     "is not one problem"},
    {"no object", "- problem: policy_tie\n  object: a\n  reason: r\n  until: 2027-01-31\n",
     "x.yaml:2:3: 'object': 'a' names no object"},
    {"a version",
     "- problem: policy_tie\n  object: Deployment.v1.apps/a\n  reason: r\n  until: 2027-01-31\n",
     "x.yaml:2:3: 'object': 'Deployment.v1.apps/a' has a version"},
    {"a day that does not exist",
     "- problem: policy_tie\n  object: pp/a\n  reason: r\n  until: 2027-02-30\n",
     "x.yaml:4:3: 'until': '2027-02-30' is no day: write YYYY-MM-DD"},
    {"a time",
     "- problem: policy_tie\n  object: pp/a\n  reason: r\n  until: 2027-02-01T00:00:00Z\n",
     "is no day"},
    {"a month", "- problem: policy_tie\n  object: pp/a\n  reason: r\n  until: 2027-02\n",
     "is no day"},
};

TEST_ROWS(a_wrong_file_is_refused_with_its_place, wrong_cases, name)
{
    const struct wrong_case *c = *state;
    struct exceptions *x = exceptions_new("default");
    struct error err;

    assert_false(exceptions_read_text(x, "x.yaml", c->text, strlen(c->text), &err));
    if (!strstr(err.text, c->error))
        fail_msg("%s", err.text);
    exceptions_free(x);
}

TEST(files_are_read_and_limited)
{
    char *folder = folder_make();
    char *path = folder_path(folder, "x.yaml");
    struct exceptions *x = exceptions_new("default");
    struct strbuf text = STRBUF_INIT(1 << 20);
    struct error err;

    folder_write(folder, "x.yaml", head);
    assert_true(exceptions_read_file(x, path, &err));
    assert_int_equal(exceptions_count(x), 1);
    for (unsigned i = 0; i < EXCEPTIONS_MAX; i++)
        strbuf_adds(&text, "- {problem: policy_tie, object: pp/a, reason: r, until: 2027-01-31}\n");
    assert_false(exceptions_read_text(x, "many.yaml", text.data, text.len, &err));
    assert_non_null(strstr(err.text, "many.yaml:10000:3: more than 10000 exceptions"));
    folder_unlink(folder, "x.yaml");
    assert_false(exceptions_read_file(x, path, &err));
    exceptions_free(x);
    strbuf_release(&text);
    free(path);
    folder_remove(folder);
}

/* ---- annotations ---- */

static const struct json_position place = {3, 1};

static const struct exception *find_at(struct exceptions *x, enum problem_reason reason,
                                       const char *path, struct json_position where)
{
    bool expired;

    return exceptions_find(x,
                           &(struct exception_query){.reason = reason,
                                                     .subject = POLICY("shop", "a"),
                                                     .path = path,
                                                     .where = where,
                                                     .now_ms = at(BEFORE)},
                           &expired);
}

TEST(an_annotation_has_an_exception_on_each_line_for_its_object)
{
    struct exceptions *x = exceptions_new("default");
    const struct exception *e;
    struct error err;

    exceptions_add_annotation(x,
                              "policy_tie until 2027-01-31: one: two\r\n"
                              "\n"
                              "  policy_unused until 2027-01-31: three \n",
                              "a.yaml", place);
    assert_int_equal(exceptions_error(x, &err), 0);
    assert_int_equal(exceptions_count(x), 2);
    e = find_at(x, PROBLEM_REASON_POLICY_TIE, "a.yaml", place);
    assert_string_equal(e->reason, "one: two");
    assert_null(e->object);
    assert_string_equal(find_at(x, PROBLEM_REASON_POLICY_UNUSED, "a.yaml", place)->reason, "three");
    assert_null(find_at(x, PROBLEM_REASON_POLICY_TIE, "b.yaml", place));
    assert_null(find_at(x, PROBLEM_REASON_POLICY_TIE, "a.yaml", (struct json_position){3, 2}));
    assert_null(find_at(x, PROBLEM_REASON_POLICY_TIE, NULL, place));
    /* A second reading of the file. */
    exceptions_add_annotation(x, "policy_tie until 2027-01-31: one: two", "a.yaml", place);
    assert_int_equal(exceptions_count(x), 2);
    exceptions_free(x);
}

static const struct wrong_case wrong_lines[] = {
    {"an empty line only", "policy_tie",
     "a.yaml:3: annotation karmada-policy-exporter/exceptions: "
     "'policy_tie' is no exception: write PROBLEM"},
    {"no reason", "policy_tie until 2027-01-31", "is no exception"},
    {"an empty reason", "policy_tie until 2027-01-31:", "the reason is empty"},
    {"no day", "policy_tie until soon: r", "'soon' is no day"},
    {"an unknown problem", "tie until 2027-01-31: r", "tie"},
    {"no text", NULL, "the value is no text"},
};

TEST_ROWS(a_wrong_annotation_is_kept_as_an_error, wrong_lines, name)
{
    const struct wrong_case *c = *state;
    struct exceptions *x = exceptions_new("default");
    struct error err;

    exceptions_add_annotation(x, c->text, "a.yaml", place);
    assert_int_equal(exceptions_error(x, &err), 1);
    if (!strstr(err.text, c->error))
        fail_msg("%s", err.text);
    assert_int_equal(exceptions_count(x), 0);
    exceptions_free(x);
}
