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
    const char *wanted;
    bool guessed;
    const char *definition;
} cases[] = {
    {.name = "a namespace of its own stays",
     .api_version = "apps/v1",
     .kind = "Deployment",
     .ns = "team",
     .wanted = "team"},
    {.name = "a workload without one",
     .api_version = "apps/v1",
     .kind = "Deployment",
     .wanted = "given"},
    {.name = "a workload of a server cannot have lost it but by hand",
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
    {.name = "a ClusterRole that names a namespace, as charts do",
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
    {.name = "a definition",
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
    {.name = "a custom kind of a server",
     .api_version = "example.org/v1",
     .kind = "Thing",
     .uid = "1",
     .wanted = "",
     .guessed = true},
    {.name = "a custom kind that names a namespace",
     .api_version = "example.org/v1",
     .kind = "Thing",
     .ns = "team",
     .wanted = "team",
     .guessed = true},
    {.name = "a custom kind that its definition takes out of namespaces",
     .api_version = "example.org/v2",
     .kind = "Thing",
     .ns = "team",
     .wanted = "",
     .definition = CRD("example.org", "Cluster")},
    {.name = "a custom kind that its definition leaves in namespaces",
     .api_version = "example.org/v1",
     .kind = "Thing",
     .wanted = "given",
     .guessed = true,
     .definition = CRD("example.org", "Namespaced")},
    {.name = "the same kind of another group",
     .api_version = "example.com/v1",
     .kind = "Thing",
     .wanted = "given",
     .guessed = true,
     .definition = CRD("example.org", "Cluster")},
    {.name = "a definition cannot move a kind of Kubernetes",
     .api_version = "apps/v1",
     .kind = "Thing",
     .wanted = "given",
     .definition = CRD("apps", "Cluster")},
};

/* The namespace that the object of a case has after it was placed. */
static const char *placed(const struct scopes *scopes, const struct scope_case *c, cJSON *object,
                          bool *guessed)
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

TEST_ROWS(namespace_as_applied, cases, name)
{
    const struct scope_case *c = *state;
    CLEANUP(json_cleanup) cJSON *definition = cJSON_Parse(c->definition ? c->definition : "{}");
    CLEANUP(json_cleanup) cJSON *object = cJSON_CreateObject();
    struct scopes scopes;
    bool guessed = false;

    scopes_init(&scopes, "given");
    scopes_add_definition(&scopes, definition);
    assert_string_equal(placed(&scopes, c, object, &guessed), c->wanted);
    assert_int_equal(guessed, c->guessed);
    scopes_release(&scopes);
}

TEST(an_empty_namespace_is_none)
{
    CLEANUP(json_cleanup) cJSON *object = cJSON_CreateObject();
    struct scopes scopes;
    bool guessed = false;

    scopes_init(&scopes, "");
    assert_string_equal(
        placed(&scopes, &(struct scope_case){.api_version = "v1", .kind = "Secret", .ns = ""},
               object, &guessed),
        "default");
    scopes_release(&scopes);
}

TEST(what_is_no_object_of_kubernetes_is_left_alone)
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

TEST(a_definition_is_news_once)
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

TEST(no_more_definitions_are_remembered_than_promised)
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
