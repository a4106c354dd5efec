/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/test_suite.h"

#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

/* Reads a text as the file x.yaml; the error begins with "x.yaml" in place of its path. */
static bool read_text(const char *text, struct test_suite *suite, struct error *err)
{
    char *folder = folder_make();
    char *path = folder_path(folder, "x.yaml");
    char *at;
    bool fine;

    folder_write(folder, "x.yaml", text);
    fine = test_suite_read(suite, path, err);
    at = strstr(err->text, "x.yaml");
    if (!fine && at)
        memmove(err->text, at, strlen(at) + 1);
    free(path);
    folder_remove(folder);
    return fine;
}

#define CASE "tests:\n- name: a\n  expect:\n  - object: deploy/shop/web\n"
#define CHANGE                                                                                     \
    "tests:\n- name: a\n  change: {delete: pp/shop/a}\n  expect:\n  - object: deploy/shop/web\n"

/* Texts and their errors. */
static struct bad_text {
    const char *text;
    const char *error;
} bad_texts[] = {
    {"", "x.yaml: the file has no case: add a list 'tests'"},
    {"# nothing\n---\n", "x.yaml: the file has no case: add a list 'tests'"},
    {"tests: []\n", "x.yaml:1:1: 'tests' needs a list with at least one case"},
    {"tests: 1\n", "x.yaml:1:1: 'tests' needs a list with at least one case"},
    {"manifests: a\n", "x.yaml:1:1: 'tests' is missing"},
    {"- a\n", "x.yaml:1:1: the document needs a mapping"},
    {"tests: [a\n", NULL},
    {"test: []\n", "x.yaml:1:1: unknown name 'test'; did you mean 'tests'?"},
    {"zzzzzzzzzz: []\n", "x.yaml:1:1: unknown name 'zzzzzzzzzz'"},
    {CASE "    state: current\n---\ntests: []\n",
     "x.yaml:7:1: 'tests' needs a list with at least one case"},
    {"tests:\n- expect: [{object: deploy/a, state: current}]\n", "x.yaml:2:3: 'name' is missing"},
    {"tests:\n- name: ''\n", "x.yaml:2:3: 'name' needs a text"},
    {"tests:\n- name: a\n",
     "x.yaml:2:3: an element of the list needs 'expect' or 'problems': a case without them cannot "
     "fail"},
    {"tests:\n- name: a\n  expect: []\n",
     "x.yaml:3:3: 'expect' needs a list of objects with their expected fields"},
    {CASE, "x.yaml:4:5: 'deploy/shop/web' has no expectation: add a field such as clusters"},
    {"tests:\n- name: a\n  expect:\n  - state: current\n", "x.yaml:4:5: 'object' is missing"},
    {"tests:\n- name: a\n  expect:\n  - object: web\n    state: current\n", NULL},
    {CASE "    stat: current\n", "x.yaml:5:5: unknown name 'stat'; did you mean 'state'?"},
    {CASE "    state: curent\n",
     "x.yaml:5:5: 'curent' is no value of 'state'; did you mean 'current'?"},
    {CASE "    state: [current]\n", "x.yaml:5:5: 'state' needs one of current, stale, orphaned, "
                                    "pending, unbound, attached, ignored"},
    {CASE "    reason: policy_updatet\n",
     "x.yaml:5:5: 'policy_updatet' is no value of 'reason'; did you mean 'policy_updated'?"},
    {CASE "    policy: ''\n",
     "x.yaml:5:5: 'policy' needs pp/NAMESPACE/NAME, cpp/NAME, or null for no policy"},
    {CASE "    clusters: member1\n", "x.yaml:5:5: 'clusters' needs a mapping such as {member1: 2}, "
                                     "or a list of names; [] for none"},
    {CASE "    clusters: {member1: two}\n", "x.yaml:5:16: 'member1' needs a number of replicas"},
    {CASE "    clusters: [[a]]\n", "x.yaml:5:16: an element of the list needs a text"},
    {CASE "    replicas: -1\n", "x.yaml:5:5: 'replicas' needs a number of replicas"},
    {CASE "    replicas: 99999999999\n", "x.yaml:5:5: 'replicas' needs a number of replicas"},
    {CASE "    outcome: place\n",
     "x.yaml:5:5: 'place' is no value of 'outcome'; did you mean 'placed'?"},
    {CASE "    notOn: {member1: tant}\n",
     "x.yaml:5:13: 'tant' is no value of 'member1'; did you mean 'taint'?"},
    {CASE "    clusters: [b, a, b]\n", "x.yaml:5:22: 'b' is taken already, in line 5"},
    {CASE "    notOn: {}\n",
     "x.yaml:5:5: 'notOn' needs a mapping such as {member1: affinity}, or a list of names"},
    {CASE "    next: {}\n", "x.yaml:5:5: 'next' needs a field such as clusters"},
    {CASE "    exists: false\n    clusters: []\n",
     "x.yaml:6:5: 'clusters' needs an object that exists: remove the field, or 'exists: false'"},
    {CASE "    problems: []\n    exists: false\n",
     "x.yaml:5:5: 'problems' needs an object that exists: remove the field, or 'exists: false'"},
    {CASE "    problems: policy_tie\n",
     "x.yaml:5:5: 'problems' needs a list of problems; [] for none"},
    {CASE "    problems: [policy_tied]\n", NULL},
    {CASE "    problems: [warning]\n", NULL},
    {CASE "    problems: [{problem: policy_tie}]\n",
     "x.yaml:5:16: an element of the list needs a problem, such as policy_tie: the object is "
     "known"},
    {"tests:\n- name: a\n  problems: [{object: pp/a/b}]\n", "x.yaml:3:14: 'problem' is missing"},
    {CASE "    when: at_once\n", "x.yaml:5:5: 'when' needs a 'change' in the case"},
    {CHANGE "    when: at_onse\n",
     "x.yaml:6:5: 'at_onse' is no value of 'when'; did you mean 'at_once'?"},
    {CHANGE "    next: {when: never}\n", "x.yaml:6:12: unknown name 'when'"},
    {CHANGE "    exists: no\n", "x.yaml:6:5: 'exists' needs one of true, false"},
    {"tests:\n- name: a\n  change: {}\n  problems: []\n",
     "x.yaml:3:3: 'change' needs apply, objects, delete, lose or toKarmada"},
    {"tests:\n- name: a\n  change: {aply: a}\n",
     "x.yaml:3:12: unknown name 'aply'; did you mean 'apply'?"},
    {"tests:\n- name: a\n  change: {toKarmada: 1.99}\n", NULL},
    {"karmada: 1.99\ntests: []\n",
     "x.yaml:1:1: Karmada 1.99 is not known; the nearest known release is 1.19"},
    {"karmada: [new]\ntests: []\n", NULL},
    {"karmada: []\ntests: []\n", "x.yaml:1:1: 'karmada' needs a text or a list of texts"},
    {"featureGates: {Failover: maybe}\ntests: []\n",
     "x.yaml:1:16: 'Failover' needs one of true, false"},
    {"featureGates: {Failovr: true}\ntests: []\n",
     "x.yaml:1:1: unknown feature gate 'Failovr'; the nearest is 'Failover'"},
    {"takeover: sttic\ntests: []\n",
     "x.yaml:1:1: 'sttic' is no value of 'takeover'; did you mean 'static'?"},
    {"manifests: '-'\ntests: []\n",
     "x.yaml:1:1: 'manifests' needs the path of a file or folder: a test does not read standard "
     "input"},
    {"objects: [a]\ntests: []\n",
     "x.yaml:1:11: an element of the list needs apiVersion, kind and metadata"},
    {CASE "    state: current\n  - {object: deploy/shop/web, state: stale}\n",
     "x.yaml:6:6: object 'deploy/shop/web' is taken already, in line 4"},
    {"tests:\n- {name: b, problems: []}\n- {name: a, problems: []}\n---\n"
     "tests:\n- {name: b, problems: []}\n",
     "x.yaml:6:4: name 'b' is taken already, in line 2"},
};

TEST_ROWS(wrong_files_are_refused_with_their_place, bad_texts, text)
{
    const struct bad_text *c = *state;
    struct test_suite suite;
    struct error err = {""};

    assert_false(read_text(c->text, &suite, &err));
    test_suite_release(&suite);
    if (c->error)
        assert_string_equal(err.text, c->error);
    else
        assert_int_equal(strncmp(err.text, "x.yaml:", strlen("x.yaml:")), 0);
}

TEST(large_files_are_refused)
{
    char *text = xcalloc(TEST_FILE_MAX_BYTES + 2, 1);
    struct test_suite suite;
    struct error err = {""};

    memset(text, '#', TEST_FILE_MAX_BYTES + 1);
    assert_false(read_text(text, &suite, &err));
    assert_non_null(strstr(err.text, "x.yaml"));
    test_suite_release(&suite);
    free(text);
}

TEST(cases_have_the_settings_of_their_document)
{
    struct test_suite suite;
    struct error err = {""};

    assert_true(read_text("karmada: 1.16\nobjects: [{a: 1}]\ntests:\n"
                          "- {name: a, problems: [], objects: [{a: '2'}]}\n"
                          "- {name: b, problems: [], karmada: [1.17, '1.18']}\n"
                          "---\n"
                          "tests:\n"
                          "- {name: c, problems: [], change: {objects: [{a: 1.5}]}}\n",
                          &suite, &err));
    assert_int_equal(suite.case_count, 3);

    const cJSON *release = test_first_text(test_case_setting(&suite.cases[0], "karmada"));

    assert_string_equal(release->valuestring, "1.16");
    assert_null(test_next_text(release));
    release = test_first_text(test_case_setting(&suite.cases[1], "karmada"));
    assert_string_equal(release->valuestring, "1.17");
    assert_string_equal(test_next_text(release)->valuestring, "1.18");
    assert_null(test_next_text(test_next_text(release)));
    assert_null(test_case_setting(&suite.cases[2], "karmada"));
    assert_null(test_first_text(NULL));

    /* Inline objects keep their types. */
    assert_true(cJSON_IsNumber(json_get(suite.cases[0].common_objects->child, "a")));
    assert_true(cJSON_IsString(json_get(suite.cases[0].objects->child, "a")));
    assert_ptr_equal(suite.cases[1].common_objects, suite.cases[0].common_objects);
    assert_null(suite.cases[1].objects);
    assert_null(suite.cases[2].common_objects);
    assert_float_equal(json_get(suite.cases[2].change_objects->child, "a")->valuedouble, 1.5, 0);
    test_suite_release(&suite);
}

TEST(gates_are_a_mapping_or_a_text)
{
    CLEANUP(strbuf_release) struct strbuf gates = STRBUF_INIT(1 << 10);
    struct test_suite suite;
    struct error err = {""};

    assert_true(read_text("featureGates: {Failover: true, PropagateDeps: false}\ntests:\n"
                          "- {name: a, problems: []}\n"
                          "- {name: b, problems: [], featureGates: 'Failover=false'}\n",
                          &suite, &err));
    test_add_gates(test_case_setting(&suite.cases[0], "featureGates"), &gates);
    assert_string_equal(gates.data, "Failover=true,PropagateDeps=false");
    strbuf_reset(&gates);
    test_add_gates(test_case_setting(&suite.cases[1], "featureGates"), &gates);
    assert_string_equal(gates.data, "Failover=false");
    test_suite_release(&suite);
}

TEST(paths_are_relative_to_the_file)
{
    static const struct {
        const char *folder;
        const char *path;
        const char *full;
    } rows[] = {{"tests/", "a.yaml", "tests/a.yaml"},
                {"tests/", "../a", "tests/../a"},
                {"tests/", "/a", "/a"},
                {"", "a", "a"}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct test_suite suite = {.folder = xstrdup(rows[i].folder)};
        char *full = test_resolve_path(&suite, rows[i].path);

        assert_string_equal(full, rows[i].full);
        free(full);
        free(suite.folder);
    }
}
