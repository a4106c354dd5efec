/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/discovery.h"

#include "exporter/system/file.h"
#include "tests/unit/suite.h"

#define AGGREGATED "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
#define PLAIN      "application/json"

/* Response to a request for `path`. The body has ' for "; "@name" stands for a recorded body. */
struct response {
    const char *path;
    unsigned http_status;
    const char *content_type;
    const char *body;
};

enum { RESPONSES_MAX = 8 };

static void append_body(const char *body, struct strbuf *out)
{
    char path[128];
    struct error err;

    if (body[0] == '@') {
        snprintf(path, sizeof(path), "tests/fixtures/protocol/%s.body", body + 1);
        if (!file_read(path, out, &err))
            fail_msg("%s", err.text);
        return;
    }
    for (; *body; body++)
        strbuf_addc(out, *body == '\'' ? '"' : *body);
}

/* Runs one round. Fails unless its requests match the paths of the responses, in this order. */
static void run_round(struct discovery *d, const struct response *responses)
{
    bool ended = false;

    discovery_begin(d);
    for (const struct response *a = responses; a->path; a++) {
        struct strbuf body = STRBUF_INIT(1 << 20);

        assert_false(ended);
        assert_non_null(discovery_path(d));
        assert_string_equal(discovery_path(d), a->path);
        append_body(a->body ? a->body : "", &body);
        ended = discovery_receive(
            d, &(struct discovery_reply){a->http_status, a->content_type, body.data, body.len});
        strbuf_release(&body);
    }
    assert_true(ended);
    assert_null(discovery_path(d));
}

#define GROUP(name, versions) "{'metadata':{'name':'" name "'},'versions':[" versions "]}"
#define VERSION(number, fresh, resources)                                                          \
    "{'version':'" number "','freshness':'" fresh "','resources':[" resources "]}"
#define RESOURCE(plural, kind)                                                                     \
    "{'resource':'" plural "','responseKind':{'kind':'" kind                                       \
    "'},'scope':'Namespaced','verbs':['delete','get','list','watch']}"
#define ALL(groups) "{'kind':'APIGroupDiscoveryList','items':[" groups "]}"
#define CORE_OK                                                                                    \
    {                                                                                              \
        "/api", 200, AGGREGATED, ALL(GROUP("", VERSION("v1", "Current", RESOURCE("pods", "Pod")))) \
    }
#define APIS(groups)                                                                               \
    {                                                                                              \
        "/apis", 200, AGGREGATED, ALL(groups)                                                      \
    }
#define FOO_FRESH GROUP("foo.example", VERSION("v1", "Current", RESOURCE("foos", "Foo")))

static struct round_case {
    const char *name;
    struct response first[RESPONSES_MAX];
    struct response second[RESPONSES_MAX];
    const char *api_version;
    const char *kind;
    enum discovery_answer answer;
    const char *resource;
    bool failed; /* The last round fails. */
} rounds[] = {
    {"a core kind, from a real server",
     {{"/api", 200, AGGREGATED, "@api-aggregated"}, {"/apis", 200, AGGREGATED, "@apis-aggregated"}},
     {{.path = NULL}},
     "v1",
     "ConfigMap",
     DISCOVERY_SERVED,
     "configmaps",
     false},
    {"a kind of a group, from a real server",
     {{"/api", 200, AGGREGATED, "@api-aggregated"}, {"/apis", 200, AGGREGATED, "@apis-aggregated"}},
     {{.path = NULL}},
     "apps/v1",
     "Deployment",
     DISCOVERY_SERVED,
     "deployments",
     false},
    {"a policy, from a real server",
     {{"/api", 200, AGGREGATED, "@api-aggregated"}, {"/apis", 200, AGGREGATED, "@apis-aggregated"}},
     {{.path = NULL}},
     "policy.karmada.io/v1alpha1",
     "ClusterPropagationPolicy",
     DISCOVERY_SERVED,
     "clusterpropagationpolicies",
     false},
    {"a kind that cannot be watched",
     {{"/api", 200, AGGREGATED, "@api-aggregated"}, {"/apis", 200, AGGREGATED, "@apis-aggregated"}},
     {{.path = NULL}},
     "v1",
     "Binding",
     DISCOVERY_UNWATCHED,
     NULL,
     false},
    {"a version that is not served",
     {{"/api", 200, AGGREGATED, "@api-aggregated"}, {"/apis", 200, AGGREGATED, "@apis-aggregated"}},
     {{.path = NULL}},
     "apps/v1beta1",
     "Deployment",
     DISCOVERY_ABSENT,
     NULL,
     false},
    {"a group that is not served",
     {CORE_OK, APIS(FOO_FRESH)},
     {{.path = NULL}},
     "bar.example/v1",
     "Bar",
     DISCOVERY_ABSENT,
     NULL,
     false},
    {"a server without aggregated discovery",
     {{"/api", 200, PLAIN, "{'kind':'APIVersions','versions':['v1']}"},
      {"/apis", 200, PLAIN,
       "{'kind':'APIGroupList','groups':[{'name':'policy.karmada.io','versions':[{"
       "'groupVersion':'policy.karmada.io/v1alpha1'}],'preferredVersion':{"
       "'groupVersion':'policy.karmada.io/v1alpha1'}}]}"},
      {"/api/v1", 200, PLAIN, "@api-v1"},
      {"/apis/policy.karmada.io/v1alpha1", 200, PLAIN, "@apis-policy"}},
     {{.path = NULL}},
     "policy.karmada.io/v1alpha1",
     "OverridePolicy",
     DISCOVERY_SERVED,
     "overridepolicies",
     false},
    {"a version that fails is unknown, not absent",
     {{"/api", 200, PLAIN, "{'kind':'APIVersions','versions':['v1']}"},
      {"/apis", 200, PLAIN,
       "{'kind':'APIGroupList','groups':[{'versions':[{'groupVersion':'a/v1'}]}]}"},
      {"/api/v1", 200, PLAIN, "@api-v1"},
      {"/apis/a/v1", 503, "text/plain", "service unavailable"}},
     {{.path = NULL}},
     "a/v1",
     "A",
     DISCOVERY_UNKNOWN,
     NULL,
     false},
    {"an extension API server without core group",
     {{"/api", 404, "text/plain", "404 page not found"}, APIS(FOO_FRESH)},
     {{.path = NULL}},
     "foo.example/v1",
     "Foo",
     DISCOVERY_SERVED,
     "foos",
     false},
    {"no response",
     {{"/api", 0, NULL, NULL}, {"/apis", 0, NULL, NULL}},
     {{.path = NULL}},
     "v1",
     "Pod",
     DISCOVERY_UNKNOWN,
     NULL,
     true},
    {"an HTML page of a proxy",
     {{"/api", 200, "text/html", "<html>"}, {"/apis", 200, "text/html", "<html>"}},
     {{.path = NULL}},
     "v1",
     "Pod",
     DISCOVERY_UNKNOWN,
     NULL,
     true},
    {"a truncated document",
     {CORE_OK, {"/apis", 200, AGGREGATED, "{'kind':'APIGroupDiscoveryList','items':["}},
     {{.path = NULL}},
     "foo.example/v1",
     "Foo",
     DISCOVERY_UNKNOWN,
     NULL,
     true},
    {"/apis fails, /api does not",
     {CORE_OK, {"/apis", 503, NULL, NULL}},
     {{.path = NULL}},
     "v1",
     "Pod",
     DISCOVERY_SERVED,
     "pods",
     true},

    {"a version that becomes stale keeps its kinds",
     {CORE_OK, APIS(FOO_FRESH)},
     {CORE_OK, APIS(GROUP("foo.example", VERSION("v1", "Stale", "")))},
     "foo.example/v1",
     "Foo",
     DISCOVERY_SERVED,
     "foos",
     false},
    {"a version that was always stale is unknown",
     {CORE_OK, APIS(GROUP("foo.example", VERSION("v1", "Stale", "")))},
     {{.path = NULL}},
     "foo.example/v1",
     "Foo",
     DISCOVERY_UNKNOWN,
     NULL,
     false},
    {"a failed request keeps the known kinds",
     {CORE_OK, APIS(FOO_FRESH)},
     {CORE_OK, {"/apis", 500, NULL, NULL}},
     "foo.example/v1",
     "Foo",
     DISCOVERY_SERVED,
     "foos",
     true},
    {"a removed kind",
     {CORE_OK, APIS(FOO_FRESH)},
     {CORE_OK, APIS(GROUP("foo.example", VERSION("v1", "Current", "")))},
     "foo.example/v1",
     "Foo",
     DISCOVERY_ABSENT,
     NULL,
     false},
    {"a removed group",
     {CORE_OK, APIS(FOO_FRESH)},
     {CORE_OK, APIS("")},
     "foo.example/v1",
     "Foo",
     DISCOVERY_ABSENT,
     NULL,
     false},
    {"an added kind",
     {CORE_OK, APIS("")},
     {CORE_OK, APIS(FOO_FRESH)},
     "foo.example/v1",
     "Foo",
     DISCOVERY_SERVED,
     "foos",
     false},
};

TEST_ROWS(rounds_determine_the_known_kinds, rounds, name)
{
    const struct round_case *c = *state;
    struct discovery *d = discovery_new();
    const struct api_resource *found = NULL;

    run_round(d, c->first);
    if (c->second[0].path)
        run_round(d, c->second);
    assert_int_equal(discovery_find(d, c->api_version, c->kind, &found), c->answer);
    assert_int_equal(discovery_succeeded(d), !c->failed);
    if (c->resource) {
        assert_non_null(found);
        assert_string_equal(found->resource, c->resource);
    }
    discovery_free(d);
}

static const struct response foo_served[] = {CORE_OK, APIS(FOO_FRESH), {.path = NULL}};
static const struct response foo_absent[] = {CORE_OK, APIS(""), {.path = NULL}};
static const struct response all_failed[] = {
    {"/api", 500, NULL, NULL}, {"/apis", 500, NULL, NULL}, {.path = NULL}};

TEST(version_changes_with_the_known_kinds)
{
    struct discovery *d = discovery_new();

    run_round(d, foo_served);
    uint64_t version = discovery_version(d);
    run_round(d, foo_served);
    assert_int_equal(discovery_version(d), version);
    run_round(d, foo_absent);
    assert_int_not_equal(discovery_version(d), version);
    discovery_free(d);
}

/* A stale version without kinds leaves Foo unknown; a current one proves that Foo is absent. */
TEST(version_changes_if_an_unknown_kind_becomes_absent)
{
    static const struct response stale[] = {
        CORE_OK, APIS(GROUP("example.io", VERSION("v1", "Stale", ""))), {NULL, 0, NULL, NULL}};
    static const struct response current[] = {
        CORE_OK, APIS(GROUP("example.io", VERSION("v1", "Current", ""))), {NULL, 0, NULL, NULL}};
    struct discovery *d = discovery_new();
    const struct api_resource *ignored;

    run_round(d, stale);
    uint64_t version = discovery_version(d);
    assert_int_equal(discovery_find(d, "example.io/v1", "Foo", &ignored), DISCOVERY_UNKNOWN);
    run_round(d, current);
    assert_int_not_equal(discovery_version(d), version);
    assert_int_equal(discovery_find(d, "example.io/v1", "Foo", &ignored), DISCOVERY_ABSENT);
    discovery_free(d);
}

TEST(failed_rounds_keep_the_known_kinds)
{
    const struct api_resource *found = NULL;
    struct discovery *d = discovery_new();

    run_round(d, foo_served);
    for (unsigned i = 0; i < 3; i++) {
        run_round(d, all_failed);
        assert_int_equal(discovery_find(d, "foo.example/v1", "Foo", &found), DISCOVERY_SERVED);
        assert_int_equal(discovery_find(d, "foo.example/v1", "Bar", &found), DISCOVERY_UNKNOWN);
    }
    run_round(d, foo_absent);
    assert_int_equal(discovery_find(d, "foo.example/v1", "Foo", &found), DISCOVERY_ABSENT);
    discovery_free(d);
}

TEST(unfinished_round_can_be_restarted)
{
    struct discovery *d = discovery_new();

    assert_null(discovery_path(d));
    discovery_begin(d);
    discovery_begin(d);
    assert_string_equal(discovery_path(d), "/api");
    assert_false(discovery_receive(d, &(struct discovery_reply){200, AGGREGATED, "{}", 2}));
    discovery_free(d);
}

TEST(newest_current_version_is_preferred)
{
    static const struct response responses[] = {
        CORE_OK,
        APIS(
            GROUP("a", VERSION("v3", "Stale", RESOURCE("as", "A")) "," VERSION(
                           "v2", "Current", RESOURCE("as", "A")) "," VERSION("v1", "Current",
                                                                             RESOURCE("as", "A")))),
        {.path = NULL},
    };
    struct discovery *d = discovery_new();
    const struct api_resource *found = NULL;

    run_round(d, responses);
    assert_int_equal(discovery_find(d, "a/v3", "A", &found), DISCOVERY_UNWATCHED);
    assert_false(found->preferred);
    assert_int_equal(discovery_find(d, "a/v2", "A", &found), DISCOVERY_SERVED);
    assert_true(found->preferred);
    assert_ptr_equal(discovery_find_preferred(d, "a/v1", "A"), found);
    assert_int_equal(discovery_find(d, "a/v1", "A", &found), DISCOVERY_UNWATCHED);
    assert_false(found->preferred);
    discovery_free(d);
}

/* As in kubectl, the groups are searched in the order of discovery. */
TEST(name_in_several_groups_is_resolved_to_the_first)
{
    static const struct response responses[] = {
        CORE_OK,
        APIS(GROUP("a", VERSION("v1", "Current", RESOURCE("gadgets", "Gadget"))) "," GROUP(
            "b", VERSION("v1", "Current", RESOURCE("gadgets", "Gadget")))),
        {.path = NULL},
    };
    struct discovery *d = discovery_new();

    run_round(d, responses);
    assert_string_equal(discovery_find_by_name(d, "gadgets", NULL)->api_version, "a/v1");
    assert_string_equal(discovery_find_by_name(d, "Gadget", "b")->api_version, "b/v1");
    assert_null(discovery_find_by_name(d, "gadgets", "c"));
    discovery_free(d);
}

/* As in client-go, the preferred version counts if it has the kind, else the first that has it. */
TEST(kind_only_in_older_versions_is_watched_in_the_first_of_them)
{
    static const struct response responses[] = {
        CORE_OK,
        APIS(GROUP("a", VERSION("v3", "Current", RESOURCE("as", "A")) "," VERSION(
                            "v2", "Current",
                            RESOURCE("as", "A") "," RESOURCE(
                                "bs", "B")) "," VERSION("v1", "Current", RESOURCE("bs", "B")))),
        {.path = NULL},
    };
    struct discovery *d = discovery_new();
    const struct api_resource *found = NULL;

    run_round(d, responses);
    assert_int_equal(discovery_find(d, "a/v3", "A", &found), DISCOVERY_SERVED);
    assert_int_equal(discovery_find(d, "a/v2", "A", &found), DISCOVERY_UNWATCHED);
    assert_int_equal(discovery_find(d, "a/v2", "B", &found), DISCOVERY_SERVED);
    assert_int_equal(discovery_find(d, "a/v1", "B", &found), DISCOVERY_UNWATCHED);
    assert_string_equal(discovery_find_preferred(d, "a/v1", "B")->api_version, "a/v2");
    assert_null(discovery_find_preferred(d, "v1", "B"));
    discovery_free(d);
}
