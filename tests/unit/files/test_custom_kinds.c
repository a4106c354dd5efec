/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/custom_kinds.h"

#include "exporter/files/manifest_problems.h"
#include "tests/unit/suite.h"

#define CRD(group, scope)                                                                          \
    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","           \
    "\"spec\":{\"group\":\"" group "\",\"names\":{\"kind\":\"Thing\"},\"scope\":\"" scope "\"}}"

static struct scope_case {
    const char *name;
    const char *api_version;
    const char *kind;
    const char *ns;
    const char *uid;
    const char *wanted; /* Namespace in the store; "" for a cluster-scoped object. */
    bool guessed;
    const char *definition; /* CustomResourceDefinition as JSON; NULL without a definition. */
} cases[] = {
    {.name = "a namespace in the manifest stays",
     .api_version = "apps/v1",
     .kind = "Deployment",
     .ns = "team",
     .wanted = "team"},
    {.name = "a workload without a namespace",
     .api_version = "apps/v1",
     .kind = "Deployment",
     .wanted = "given"},
    {.name = "an exported workload without a namespace",
     .api_version = "apps/v1",
     .kind = "Deployment",
     .uid = "1",
     .wanted = "given"},
    {.name = "the core group", .api_version = "v1", .kind = "ConfigMap", .wanted = "given"},
    {.name = "a Namespace", .api_version = "v1", .kind = "Namespace", .wanted = ""},
    {.name = "a Namespace of another group",
     .api_version = "example.org/v1",
     .kind = "Namespace",
     .wanted = "given",
     .guessed = true},
    {.name = "a ClusterRole",
     .api_version = "rbac.authorization.k8s.io/v1",
     .kind = "ClusterRole",
     .wanted = ""},
    {.name = "a ClusterRole with a namespace, as charts write it",
     .api_version = "rbac.authorization.k8s.io/v1",
     .kind = "ClusterRole",
     .ns = "team",
     .wanted = ""},
    {.name = "a ClusterRole of an older version",
     .api_version = "rbac.authorization.k8s.io/v1beta1",
     .kind = "ClusterRole",
     .wanted = ""},
    {.name = "a Role",
     .api_version = "rbac.authorization.k8s.io/v1",
     .kind = "Role",
     .wanted = "given"},
    {.name = "a CustomResourceDefinition",
     .api_version = "apiextensions.k8s.io/v1",
     .kind = "CustomResourceDefinition",
     .wanted = ""},
    {.name = "a PropagationPolicy",
     .api_version = "policy.karmada.io/v1alpha1",
     .kind = "PropagationPolicy",
     .wanted = "given"},
    {.name = "a ClusterPropagationPolicy",
     .api_version = "policy.karmada.io/v1alpha1",
     .kind = "ClusterPropagationPolicy",
     .wanted = ""},
    {.name = "a ResourceBinding",
     .api_version = "work.karmada.io/v1alpha2",
     .kind = "ResourceBinding",
     .wanted = "given"},
    {.name = "a ClusterResourceBinding",
     .api_version = "work.karmada.io/v1alpha2",
     .kind = "ClusterResourceBinding",
     .wanted = ""},
    {.name = "a member Cluster",
     .api_version = "cluster.karmada.io/v1alpha1",
     .kind = "Cluster",
     .wanted = ""},
    {.name = "a custom kind",
     .api_version = "example.org/v1",
     .kind = "Thing",
     .wanted = "given",
     .guessed = true},
    {.name = "an exported custom object without a namespace",
     .api_version = "example.org/v1",
     .kind = "Thing",
     .uid = "1",
     .wanted = "",
     .guessed = true},
    {.name = "a custom kind with a namespace",
     .api_version = "example.org/v1",
     .kind = "Thing",
     .ns = "team",
     .wanted = "team",
     .guessed = true},
    {.name = "a custom kind with a cluster-scoped definition",
     .api_version = "example.org/v2",
     .kind = "Thing",
     .ns = "team",
     .wanted = "",
     .guessed = true,
     .definition = CRD("example.org", "Cluster")},
    {.name = "a custom kind with a namespaced definition",
     .api_version = "example.org/v1",
     .kind = "Thing",
     .wanted = "given",
     .guessed = true,
     .definition = CRD("example.org", "Namespaced")},
    {.name = "a definition of the same kind in another group",
     .api_version = "example.com/v1",
     .kind = "Thing",
     .wanted = "given",
     .guessed = true,
     .definition = CRD("example.org", "Cluster")},
    {.name = "a definition does not change a kind of Kubernetes",
     .api_version = "apps/v1",
     .kind = "Thing",
     .wanted = "given",
     .definition = CRD("apps", "Cluster")},
};

/* Completes the object with the case, and calls custom_kinds_complete_object(). Returns the
 * namespace. */
static const char *set_namespace(const struct custom_kinds *kinds, const struct scope_case *c,
                                 cJSON *object, bool *guessed)
{
    cJSON *metadata = cJSON_AddObjectToObject(object, "metadata");

    cJSON_AddStringToObject(object, "apiVersion", c->api_version);
    cJSON_AddStringToObject(object, "kind", c->kind);
    if (c->ns)
        cJSON_AddStringToObject(metadata, "namespace", c->ns);
    if (c->uid)
        cJSON_AddStringToObject(metadata, "uid", c->uid);
    custom_kinds_complete_object(kinds, object, guessed);
    return json_str(metadata, "namespace", "");
}

TEST_ROWS(namespace_is_that_of_kubectl_apply, cases, name)
{
    const struct scope_case *c = *state;
    CLEANUP(json_cleanup) cJSON *definition = cJSON_Parse(c->definition ? c->definition : "{}");
    CLEANUP(json_cleanup) cJSON *object = cJSON_CreateObject();
    struct custom_kinds kinds;
    bool guessed = false;

    custom_kinds_init(&kinds, "given");
    custom_kinds_add_definition(&kinds, definition, NULL);
    assert_string_equal(set_namespace(&kinds, c, object, &guessed), c->wanted);
    assert_int_equal(guessed, c->guessed);
    custom_kinds_release(&kinds);
}

TEST(empty_namespaces_mean_the_namespace_default)
{
    CLEANUP(json_cleanup) cJSON *object = cJSON_CreateObject();
    struct custom_kinds kinds;
    bool guessed = false;

    custom_kinds_init(&kinds, "");
    assert_string_equal(
        set_namespace(&kinds, &(struct scope_case){.api_version = "v1", .kind = "Secret", .ns = ""},
                      object, &guessed),
        "default");
    custom_kinds_release(&kinds);
}

TEST(objects_without_apiVersion_or_kind_are_accepted)
{
    static const char *const texts[] = {"{}", "[]", "1", "{\"metadata\":[]}",
                                        "{\"metadata\":{\"namespace\":1}}"};
    struct custom_kinds kinds;
    bool guessed = false;

    custom_kinds_init(&kinds, "given");
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        CLEANUP(json_cleanup) cJSON *object = cJSON_Parse(texts[i]);

        custom_kinds_complete_object(&kinds, object, &guessed);
    }
    custom_kinds_release(&kinds);
}

/* Returns true if the definition, as the content of a file, changes the identity of objects. */
static bool add_in_file(struct custom_kinds *kinds, const char *definition)
{
    CLEANUP(json_cleanup) cJSON *object = cJSON_Parse(definition);

    custom_kinds_add_definition(kinds, object, NULL);
    return custom_kinds_end_file(kinds);
}

TEST(a_definition_is_new_only_once)
{
    struct custom_kinds kinds;

    custom_kinds_init(&kinds, "given");
    assert_true(add_in_file(&kinds, CRD("example.org", "Cluster")));
    assert_false(add_in_file(&kinds, CRD("example.org", "Cluster")));
    assert_false(add_in_file(&kinds, CRD("example.net", "Namespaced")));
    assert_true(add_in_file(&kinds, CRD("example.com", "Cluster")));
    assert_true(add_in_file(&kinds, CRD("example.com", "Namespaced")));
    custom_kinds_release(&kinds);
}

TEST(definitions_above_the_maximum_are_not_stored)
{
    struct custom_kinds kinds;
    char text[512];

    custom_kinds_init(&kinds, "given");
    for (unsigned i = 0; i <= CUSTOM_KINDS_MAX; i++) {
        snprintf(
            text, sizeof(text),
            "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
            "\"spec\":{\"group\":\"g%u\",\"names\":{\"kind\":\"K\"},\"scope\":\"Cluster\"}}",
            i);
        assert_int_equal(add_in_file(&kinds, text), i < CUSTOM_KINDS_MAX);
    }
    assert_int_equal(kinds.count, CUSTOM_KINDS_MAX);
    custom_kinds_release(&kinds);
}

/* ---- versions ---- */

#define VERSIONED_CRD(versions)                                                                    \
    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","           \
    "\"spec\":{\"group\":\"shop.example\",\"names\":{\"kind\":\"Widget\"},\"scope\":"              \
    "\"Namespaced\",\"versions\":[" versions "]}}"
#define SERVED(name)   "{\"name\":\"" name "\",\"served\":true}"
#define UNSERVED(name) "{\"name\":\"" name "\",\"served\":false}"

static struct version_case {
    const char *name;
    const char *api_version;
    const char *kind;
    const char *definition;
    enum api_version_answer answer; /* About the version as written. */
    const char *wanted;             /* apiVersion in the store. */
} version_cases[] = {
    {"the preferred version", "autoscaling/v2", "HorizontalPodAutoscaler", NULL,
     API_VERSION_WATCHED, "autoscaling/v2"},
    {"another version", "autoscaling/v1", "HorizontalPodAutoscaler", NULL, API_VERSION_UNWATCHED,
     "autoscaling/v2"},
    {"a version that is gone", "autoscaling/v2beta2", "HorizontalPodAutoscaler", NULL,
     API_VERSION_UNSERVED, "autoscaling/v2beta2"},
    {"a removed CronJob", "batch/v1beta1", "CronJob", NULL, API_VERSION_UNSERVED, "batch/v1beta1"},
    {"a removed budget", "policy/v1beta1", "PodDisruptionBudget", NULL, API_VERSION_UNSERVED,
     "policy/v1beta1"},
    {"a beta of a cluster-scoped kind", "networking.k8s.io/v1beta1", "ServiceCIDR", NULL,
     API_VERSION_UNWATCHED, "networking.k8s.io/v1"},
    {"the core group", "v1", "ConfigMap", NULL, API_VERSION_WATCHED, "v1"},
    {"a version of the core group that does not exist", "v2", "ConfigMap", NULL,
     API_VERSION_UNSERVED, "v2"},
    {"a kind that no group has", "apps/v1", "Deploymnet", NULL, API_VERSION_ABSENT, "apps/v1"},
    {"a kind without its group", "v1", "Deployment", NULL, API_VERSION_ABSENT, "v1"},
    {"a group of an extension", "gateway.networking.k8s.io/v1", "Gateway", NULL,
     API_VERSION_UNKNOWN, "gateway.networking.k8s.io/v1"},
    {"a kind that is in another group", "extensions/v1beta1", "Ingress", NULL, API_VERSION_ABSENT,
     "extensions/v1beta1"},
    {"a custom kind without a definition", "shop.example/v1", "Widget", NULL, API_VERSION_UNKNOWN,
     "shop.example/v1"},
    {"a custom kind with one version", "shop.example/v1", "Widget", VERSIONED_CRD(SERVED("v1")),
     API_VERSION_WATCHED, "shop.example/v1"},
    {"general availability before beta, whatever the order", "shop.example/v1beta1", "Widget",
     VERSIONED_CRD(SERVED("v1beta1") "," SERVED("v1")), API_VERSION_UNWATCHED, "shop.example/v1"},
    {"numbers are no texts", "shop.example/v9", "Widget",
     VERSIONED_CRD(SERVED("v9") "," SERVED("v10")), API_VERSION_UNWATCHED, "shop.example/v10"},
    {"a version that is not served is not preferred", "shop.example/v1", "Widget",
     VERSIONED_CRD(SERVED("v1") "," UNSERVED("v2")), API_VERSION_WATCHED, "shop.example/v1"},
    {"an object in a version that is not served", "shop.example/v2", "Widget",
     VERSIONED_CRD(SERVED("v1") "," UNSERVED("v2")), API_VERSION_UNSERVED, "shop.example/v2"},
    {"a definition of which no version is served", "shop.example/v1", "Widget",
     VERSIONED_CRD(UNSERVED("v1")), API_VERSION_UNKNOWN, "shop.example/v1"},
    {"other names come last, in byte order", "shop.example/zeta", "Widget",
     VERSIONED_CRD(SERVED("zeta") "," SERVED("beta") "," SERVED("v1alpha1")), API_VERSION_UNWATCHED,
     "shop.example/v1alpha1"},
    {"the same kind in another group", "other.example/v1beta1", "Widget",
     VERSIONED_CRD(SERVED("v1beta1") "," SERVED("v1")), API_VERSION_UNKNOWN,
     "other.example/v1beta1"},
    {"Karmada's own kinds keep their version", "policy.karmada.io/v1alpha1", "PropagationPolicy",
     NULL, API_VERSION_UNKNOWN, "policy.karmada.io/v1alpha1"},
};

TEST_ROWS(an_object_has_one_identity_in_all_versions, version_cases, name)
{
    const struct version_case *c = *state;
    CLEANUP(json_cleanup) cJSON *object = cJSON_CreateObject();
    struct custom_kinds kinds;
    struct api_version_source source;
    bool guessed = false;

    custom_kinds_init(&kinds, "given");
    add_in_file(&kinds, c->definition ? c->definition : "{}");
    source = custom_kinds_api_versions(&kinds);
    assert_int_equal(api_version_judge(&source, c->api_version, c->kind), c->answer);
    cJSON_AddStringToObject(object, "apiVersion", c->api_version);
    cJSON_AddStringToObject(object, "kind", c->kind);
    custom_kinds_complete_object(&kinds, object, &guessed);
    assert_string_equal(json_str(object, "apiVersion", ""), c->wanted);
    custom_kinds_release(&kinds);
}

TEST(definitions_with_a_choice_of_versions_affect_earlier_objects)
{
    struct custom_kinds kinds;
    uint64_t version;

    custom_kinds_init(&kinds, "given");
    assert_false(add_in_file(&kinds, VERSIONED_CRD(SERVED("v1"))));
    version = kinds.version;
    assert_true(add_in_file(&kinds, VERSIONED_CRD(SERVED("v1") "," SERVED("v2"))));
    assert_true(kinds.version > version);
    version = kinds.version;
    assert_false(add_in_file(&kinds, VERSIONED_CRD(SERVED("v2") "," SERVED("v1"))));
    assert_true(kinds.version == version);
    assert_true(add_in_file(&kinds, VERSIONED_CRD(SERVED("v2"))));
    custom_kinds_release(&kinds);
}

/* Otherwise two files with different definitions of a kind would be read again for ever. */
TEST(the_definition_in_the_last_file_counts)
{
    CLEANUP(json_cleanup) cJSON *one = cJSON_Parse(VERSIONED_CRD(SERVED("v1")));
    CLEANUP(json_cleanup)
    cJSON *both = cJSON_Parse(VERSIONED_CRD(SERVED("v1") "," SERVED("v2")));
    struct manifest_file *first = manifest_file_new("a.yaml", 0);
    struct manifest_file *last = manifest_file_new("b.yaml", 0);
    struct custom_kinds kinds;

    custom_kinds_init(&kinds, "given");
    custom_kinds_add_definition(&kinds, both, last);
    assert_true(custom_kinds_end_file(&kinds));
    custom_kinds_add_definition(&kinds, one, first);
    assert_false(custom_kinds_end_file(&kinds));
    assert_string_equal(kinds.items->versions, "v2 v1");
    custom_kinds_forget_file(&kinds, last);
    custom_kinds_add_definition(&kinds, one, first);
    assert_true(custom_kinds_end_file(&kinds));
    assert_string_equal(kinds.items->versions, "v1");
    custom_kinds_release(&kinds);
    manifest_file_free(first);
    manifest_file_free(last);
}

TEST(imported_kinds_have_the_same_versions)
{
    struct custom_kinds kinds, copy;
    struct api_version_source source;

    custom_kinds_init(&kinds, "given");
    custom_kinds_init(&copy, "given");
    add_in_file(&kinds, VERSIONED_CRD(SERVED("v1") "," SERVED("v2")));
    custom_kinds_import(&copy, &kinds);
    source = custom_kinds_api_versions(&copy);
    assert_int_equal(api_version_judge(&source, "shop.example/v1", "Widget"),
                     API_VERSION_UNWATCHED);
    custom_kinds_release(&kinds);
    custom_kinds_release(&copy);
}

/* The versions of an API server count for the objects of a planned change. */
static enum api_version_answer judge_foo(const void *context, const char *api_version,
                                         const char *kind)
{
    (void)context;
    (void)kind;
    return strcmp(api_version, "foo.example/v3") == 0 ? API_VERSION_WATCHED : API_VERSION_UNWATCHED;
}

static bool prefer_foo(const void *context, const char *api_version, const char *kind,
                       struct strbuf *out)
{
    (void)context;
    (void)api_version;
    (void)kind;
    strbuf_adds(out, "foo.example/v3");
    return true;
}

TEST(a_server_decides_the_version_of_templates_only)
{
    const struct api_version_source server = {.judge = judge_foo, .preferred = prefer_foo};
    const struct api_version_source none = {0};
    CLEANUP(json_cleanup)
    cJSON *foo = cJSON_Parse("{\"apiVersion\":\"foo.example/v1\",\"kind\":\"Foo\"}");
    CLEANUP(json_cleanup)
    cJSON *binding =
        cJSON_Parse("{\"apiVersion\":\"work.karmada.io/v1alpha1\",\"kind\":\"ResourceBinding\"}");

    set_preferred_version(&none, foo);
    assert_string_equal(json_str(foo, "apiVersion", ""), "foo.example/v1");
    set_preferred_version(&server, foo);
    assert_string_equal(json_str(foo, "apiVersion", ""), "foo.example/v3");
    set_preferred_version(&server, binding);
    assert_string_equal(json_str(binding, "apiVersion", ""), "work.karmada.io/v1alpha1");
}
