/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/discovery.h"

#include "exporter/system/file.h"
#include "tests/unit/suite.h"

#define AGGREGATED "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
#define PLAIN      "application/json"

/* One answer: to `path`, with ' for " in the body; "@name" is a recorded body. */
struct answer {
    const char *path;
    unsigned http_status;
    const char *content_type;
    const char *body;
};

enum { ANSWERS_MAX = 8 };

static void body_of(const char *body, struct strbuf *out)
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

/* Play one round: every request must be the one that is answered, in order. */
static void overlay(struct discovery *d, const struct answer *answers)
{
    bool ended = false;

    discovery_begin(d);
    for (const struct answer *a = answers; a->path; a++) {
        struct strbuf body = STRBUF_INIT(1 << 20);

        assert_false(ended);
        assert_non_null(discovery_path(d));
        assert_string_equal(discovery_path(d), a->path);
        body_of(a->body ? a->body : "", &body);
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
    struct answer first[ANSWERS_MAX];
    struct answer second[ANSWERS_MAX];
    const char *api_version;
    const char *kind;
    enum discovery_answer answer;
    const char *resource;
    bool failed; /* The last round did not succeed. */
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
    {"a version each, from a server that cannot say it at once",
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
    {"a server of extensions has no core group",
     {{"/api", 404, "text/plain", "404 page not found"}, APIS(FOO_FRESH)},
     {{.path = NULL}},
     "foo.example/v1",
     "Foo",
     DISCOVERY_SERVED,
     "foos",
     false},
    {"nothing came back",
     {{"/api", 0, NULL, NULL}, {"/apis", 0, NULL, NULL}},
     {{.path = NULL}},
     "v1",
     "Pod",
     DISCOVERY_UNKNOWN,
     NULL,
     true},
    {"the page of a proxy",
     {{"/api", 200, "text/html", "<html>"}, {"/apis", 200, "text/html", "<html>"}},
     {{.path = NULL}},
     "v1",
     "Pod",
     DISCOVERY_UNKNOWN,
     NULL,
     true},
    {"a document cut short",
     {CORE_OK, {"/apis", 200, AGGREGATED, "{'kind':'APIGroupDiscoveryList','items':["}},
     {{.path = NULL}},
     "foo.example/v1",
     "Foo",
     DISCOVERY_UNKNOWN,
     NULL,
     true},
    {"one part fails, the other is known",
     {CORE_OK, {"/apis", 503, NULL, NULL}},
     {{.path = NULL}},
     "v1",
     "Pod",
     DISCOVERY_SERVED,
     "pods",
     true},

    {"a stale version counts as it was before",
     {CORE_OK, APIS(FOO_FRESH)},
     {CORE_OK, APIS(GROUP("foo.example", VERSION("v1", "Stale", "")))},
     "foo.example/v1",
     "Foo",
     DISCOVERY_SERVED,
     "foos",
     false},
    {"a stale version that never was fresh is unknown",
     {CORE_OK, APIS(GROUP("foo.example", VERSION("v1", "Stale", "")))},
     {{.path = NULL}},
     "foo.example/v1",
     "Foo",
     DISCOVERY_UNKNOWN,
     NULL,
     false},
    {"a list that fails deletes nothing",
     {CORE_OK, APIS(FOO_FRESH)},
     {CORE_OK, {"/apis", 500, NULL, NULL}},
     "foo.example/v1",
     "Foo",
     DISCOVERY_SERVED,
     "foos",
     true},
    {"a kind that went",
     {CORE_OK, APIS(FOO_FRESH)},
     {CORE_OK, APIS(GROUP("foo.example", VERSION("v1", "Current", "")))},
     "foo.example/v1",
     "Foo",
     DISCOVERY_ABSENT,
     NULL,
     false},
    {"a group that went",
     {CORE_OK, APIS(FOO_FRESH)},
     {CORE_OK, APIS("")},
     "foo.example/v1",
     "Foo",
     DISCOVERY_ABSENT,
     NULL,
     false},
    {"a kind that came",
     {CORE_OK, APIS("")},
     {CORE_OK, APIS(FOO_FRESH)},
     "foo.example/v1",
     "Foo",
     DISCOVERY_SERVED,
     "foos",
     false},
};

TEST_ROWS(round_by_round, rounds, name)
{
    const struct round_case *c = *state;
    struct discovery *d = discovery_new();
    const struct api_resource *found = NULL;

    overlay(d, c->first);
    if (c->second[0].path)
        overlay(d, c->second);
    assert_int_equal(discovery_find(d, c->api_version, c->kind, &found), c->answer);
    assert_int_equal(discovery_succeeded(d), !c->failed);
    if (c->resource) {
        assert_non_null(found);
        assert_string_equal(found->resource, c->resource);
    }
    discovery_free(d);
}

static const struct answer one[] = {CORE_OK, APIS(FOO_FRESH), {.path = NULL}};
static const struct answer other[] = {CORE_OK, APIS(""), {.path = NULL}};
static const struct answer broken[] = {
    {"/api", 500, NULL, NULL}, {"/apis", 500, NULL, NULL}, {.path = NULL}};

TEST(the_version_moves_with_what_is_known)
{
    struct discovery *d = discovery_new();

    overlay(d, one);
    uint64_t version = discovery_version(d);
    overlay(d, one);
    assert_int_equal(discovery_version(d), version);
    overlay(d, other);
    assert_int_not_equal(discovery_version(d), version);
    discovery_free(d);
}

/* Nothing but whether it could be read: a kind of it was not known before, and is absent now. */
TEST(the_version_moves_with_what_could_be_read)
{
    static const struct answer stale[] = {
        CORE_OK, APIS(GROUP("example.io", VERSION("v1", "Stale", ""))), {NULL, 0, NULL, NULL}};
    static const struct answer current[] = {
        CORE_OK, APIS(GROUP("example.io", VERSION("v1", "Current", ""))), {NULL, 0, NULL, NULL}};
    struct discovery *d = discovery_new();
    const struct api_resource *ignored;

    overlay(d, stale);
    uint64_t version = discovery_version(d);
    assert_int_equal(discovery_find(d, "example.io/v1", "Foo", &ignored), DISCOVERY_UNKNOWN);
    overlay(d, current);
    assert_int_not_equal(discovery_version(d), version);
    assert_int_equal(discovery_find(d, "example.io/v1", "Foo", &ignored), DISCOVERY_ABSENT);
    discovery_free(d);
}

/* However often it fails in between, what was known stays, and nothing more is kept. */
TEST(failures_in_a_row_keep_what_was_known)
{
    const struct api_resource *found = NULL;
    struct discovery *d = discovery_new();

    overlay(d, one);
    for (unsigned i = 0; i < 3; i++) {
        overlay(d, broken);
        assert_int_equal(discovery_find(d, "foo.example/v1", "Foo", &found), DISCOVERY_SERVED);
        assert_int_equal(discovery_find(d, "foo.example/v1", "Bar", &found), DISCOVERY_UNKNOWN);
    }
    overlay(d, other);
    assert_int_equal(discovery_find(d, "foo.example/v1", "Foo", &found), DISCOVERY_ABSENT);
    discovery_free(d);
}

TEST(a_round_can_be_left_unfinished)
{
    struct discovery *d = discovery_new();

    assert_null(discovery_path(d));
    discovery_begin(d);
    discovery_begin(d);
    assert_string_equal(discovery_path(d), "/api");
    assert_false(discovery_receive(d, &(struct discovery_reply){200, AGGREGATED, "{}", 2}));
    discovery_free(d);
}

TEST(the_newest_sound_version_is_preferred)
{
    static const struct answer answers[] = {
        CORE_OK,
        APIS(
            GROUP("a", VERSION("v3", "Stale", RESOURCE("as", "A")) "," VERSION(
                           "v2", "Current", RESOURCE("as", "A")) "," VERSION("v1", "Current",
                                                                             RESOURCE("as", "A")))),
        {.path = NULL},
    };
    struct discovery *d = discovery_new();
    const struct api_resource *found = NULL;

    overlay(d, answers);
    assert_int_equal(discovery_find(d, "a/v3", "A", &found), DISCOVERY_UNWATCHED);
    assert_false(found->preferred);
    assert_int_equal(discovery_find(d, "a/v2", "A", &found), DISCOVERY_SERVED);
    assert_true(found->preferred);
    assert_ptr_equal(discovery_find_preferred(d, "a/v1", "A"), found);
    assert_int_equal(discovery_find(d, "a/v1", "A", &found), DISCOVERY_UNWATCHED);
    assert_false(found->preferred);
    discovery_free(d);
}

/* As kubectl: the core group before all others, of those the one that comes first. */
TEST(a_name_of_several_groups_is_that_of_the_first)
{
    static const struct answer answers[] = {
        CORE_OK,
        APIS(GROUP("a", VERSION("v1", "Current", RESOURCE("gadgets", "Gadget"))) "," GROUP(
            "b", VERSION("v1", "Current", RESOURCE("gadgets", "Gadget")))),
        {.path = NULL},
    };
    struct discovery *d = discovery_new();

    overlay(d, answers);
    assert_string_equal(discovery_find_by_name(d, "gadgets", NULL)->api_version, "a/v1");
    assert_string_equal(discovery_find_by_name(d, "Gadget", "b")->api_version, "b/v1");
    assert_null(discovery_find_by_name(d, "gadgets", "c"));
    discovery_free(d);
}

/* client-go: the preferred version where it has the kind, else the first one that does. */
TEST(a_kind_of_an_older_version_alone_is_looked_at_there)
{
    static const struct answer answers[] = {
        CORE_OK,
        APIS(GROUP("a", VERSION("v3", "Current", RESOURCE("as", "A")) "," VERSION(
                            "v2", "Current",
                            RESOURCE("as", "A") "," RESOURCE(
                                "bs", "B")) "," VERSION("v1", "Current", RESOURCE("bs", "B")))),
        {.path = NULL},
    };
    struct discovery *d = discovery_new();
    const struct api_resource *found = NULL;

    overlay(d, answers);
    assert_int_equal(discovery_find(d, "a/v3", "A", &found), DISCOVERY_SERVED);
    assert_int_equal(discovery_find(d, "a/v2", "A", &found), DISCOVERY_UNWATCHED);
    assert_int_equal(discovery_find(d, "a/v2", "B", &found), DISCOVERY_SERVED);
    assert_int_equal(discovery_find(d, "a/v1", "B", &found), DISCOVERY_UNWATCHED);
    assert_string_equal(discovery_find_preferred(d, "a/v1", "B")->api_version, "a/v2");
    assert_null(discovery_find_preferred(d, "v1", "B"));
    discovery_free(d);
}
