/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/declarations.h"

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

/* Completes the object with the case, and calls scopes_set_namespace(). Returns the namespace. */
static const char *set_namespace(const struct scopes *scopes, const struct scope_case *c,
                                 cJSON *object, bool *guessed)
{
    cJSON *metadata = cJSON_AddObjectToObject(object, "metadata");

    cJSON_AddStringToObject(object, "apiVersion", c->api_version);
    cJSON_AddStringToObject(object, "kind", c->kind);
    if (c->ns)
        cJSON_AddStringToObject(metadata, "namespace", c->ns);
    if (c->uid)
        cJSON_AddStringToObject(metadata, "uid", c->uid);
    scopes_set_namespace(scopes, object, guessed);
    return json_str(metadata, "namespace", "");
}

TEST_ROWS(namespace_is_that_of_kubectl_apply, cases, name)
{
    const struct scope_case *c = *state;
    CLEANUP(json_cleanup) cJSON *definition = cJSON_Parse(c->definition ? c->definition : "{}");
    CLEANUP(json_cleanup) cJSON *object = cJSON_CreateObject();
    struct scopes scopes;
    bool guessed = false;

    scopes_init(&scopes, "given");
    scopes_add_definition(&scopes, definition);
    assert_string_equal(set_namespace(&scopes, c, object, &guessed), c->wanted);
    assert_int_equal(guessed, c->guessed);
    scopes_release(&scopes);
}

TEST(empty_namespaces_mean_the_namespace_default)
{
    CLEANUP(json_cleanup) cJSON *object = cJSON_CreateObject();
    struct scopes scopes;
    bool guessed = false;

    scopes_init(&scopes, "");
    assert_string_equal(
        set_namespace(&scopes,
                      &(struct scope_case){.api_version = "v1", .kind = "Secret", .ns = ""}, object,
                      &guessed),
        "default");
    scopes_release(&scopes);
}

TEST(objects_without_apiVersion_or_kind_are_accepted)
{
    static const char *const texts[] = {"{}", "[]", "1", "{\"metadata\":[]}",
                                        "{\"metadata\":{\"namespace\":1}}"};
    struct scopes scopes;
    bool guessed = false;

    scopes_init(&scopes, "given");
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        CLEANUP(json_cleanup) cJSON *object = cJSON_Parse(texts[i]);

        scopes_set_namespace(&scopes, object, &guessed);
    }
    scopes_release(&scopes);
}

TEST(a_definition_is_new_only_once)
{
    CLEANUP(json_cleanup) cJSON *definition = cJSON_Parse(CRD("example.org", "Cluster"));
    CLEANUP(json_cleanup) cJSON *other = cJSON_Parse(CRD("example.com", "Cluster"));
    CLEANUP(json_cleanup) cJSON *namespaced = cJSON_Parse(CRD("example.net", "Namespaced"));
    struct scopes scopes;

    scopes_init(&scopes, "given");
    assert_true(scopes_add_definition(&scopes, definition));
    assert_false(scopes_add_definition(&scopes, definition));
    assert_false(scopes_add_definition(&scopes, namespaced));
    assert_true(scopes_add_definition(&scopes, other));
    scopes_release(&scopes);
}

TEST(definitions_above_the_maximum_are_not_stored)
{
    struct scopes scopes;
    char text[512];

    scopes_init(&scopes, "given");
    for (unsigned i = 0; i <= SCOPES_MAX; i++) {
        snprintf(
            text, sizeof(text),
            "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
            "\"spec\":{\"group\":\"g%u\",\"names\":{\"kind\":\"K\"},\"scope\":\"Cluster\"}}",
            i);
        CLEANUP(json_cleanup) cJSON *definition = cJSON_Parse(text);
        assert_int_equal(scopes_add_definition(&scopes, definition), i < SCOPES_MAX);
    }
    scopes_release(&scopes);
}
