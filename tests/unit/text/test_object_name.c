/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/object_name.h"

#include "metrics/rules/engine.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* A name as users type it, and its parts; "-" for a part that is omitted. */
static struct name_case {
    const char *typed;
    const char *parts; /* KIND VERSION GROUP NAMESPACE NAME; NULL if the name is malformed. */
} name_cases[] = {
    {"deploy/web", "deploy - - - web"},
    {"deploy/shop/web", "deploy - - shop web"},
    {"deployments.apps/shop/web", "deployments - apps shop web"},
    {"deployments.v1.apps/shop/web", "deployments v1 apps shop web"},
    {"things.v1beta2.example.org/it", "things v1beta2 example.org - it"},
    {"configmaps.v1./my-config", "configmaps v1  - my-config"},
    {"things.v1/it", "things - v1 - it"},
    {"things.vendor.org/it", "things - vendor.org - it"},
    {"things.v1x.example.org/it", "things - v1x.example.org - it"},
    {"web", NULL},
    {"/web", NULL},
    {"deploy/", NULL},
};

static const char *part(const char *text)
{
    return text ? text : "-";
}

TEST_ROWS(names_have_the_forms_of_kubectl, name_cases, typed)
{
    const struct name_case *c = *state;
    CLEANUP(object_name_release) struct object_name n = {0};
    struct error err;
    char parts[128];

    assert_int_equal(object_name_parse(c->typed, &n, &err), c->parts != NULL);
    if (!c->parts)
        return;
    snprintf(parts, sizeof(parts), "%s %s %s %s %s", n.kind, part(n.version), part(n.group),
             part(n.ns), n.name);
    assert_string_equal(parts, c->parts);
}

/* A name, and that of the Namespace; NULL if it names another object. */
static struct namespace_case {
    const char *typed;
    const char *name;
} namespace_cases[] = {
    {"ns/shop", "shop"},   {"Namespaces/shop", "shop"},           {"namespace.v1./shop", "shop"},
    {"ns/shop/web", NULL}, {"namespaces.example.org/shop", NULL}, {"deploy/shop", NULL},
};

TEST_ROWS(namespaces_are_found_by_their_kind, namespace_cases, typed)
{
    const struct namespace_case *c = *state;
    const char *name = NULL;

    assert_int_equal(object_name_is_namespace(c->typed, &name), c->name != NULL);
    if (c->name)
        assert_string_equal(name, c->name);
}

/* ---- objects by name ---- */

static void put_object(struct world *w, const char *api_version, const char *kind, const char *ns,
                       const char *name)
{
    char json[512];

    snprintf(json, sizeof(json),
             "{\"apiVersion\": \"%s\", \"kind\": \"%s\", \"metadata\": {\"namespace\": \"%s\", "
             "\"name\": \"%s\"}, \"spec\": {\"resourceSelectors\": [], \"placement\": {}}}",
             api_version, kind, ns, name);
    world_put_text(w, json);
}

static void put_objects(struct world *w)
{
    static const char *const namespaces[] = {"shop", "bank"};

    for (size_t i = 0; i < ARRAY_LEN(namespaces); i++) {
        put_object(w, "apps/v1", "Deployment", namespaces[i], "web");
        put_object(w, "v1", "ConfigMap", namespaces[i], "web");
    }
    put_object(w, "apps/v1", "Deployment", "shop", "api");
    put_object(w, "other.example.org/v1", "Deployment", "shop", "api");
    put_object(w, "apps/v1", "Deployment", "shop", "entry-1");
    put_object(w, "apps/v1", "Deployment", "shop", "entry-22");
    put_object(w, "rbac.authorization.k8s.io/v1", "ClusterRole", "", "reader");
    put_object(w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "shop", "web");
    put_object(w, "policy.karmada.io/v1alpha1", "ClusterPropagationPolicy", "", "entry-2");
}

/* A name as users type it, and the object or the error. */
static struct find_case {
    const char *typed;
    const char *ns;     /* Namespace of names that omit it; NULL for any. */
    const char *object; /* API version, kind, namespace and name; NULL if none or several fit. */
    const char *error;
} find_cases[] = {
    {"deploy/shop/web", NULL, "apps/v1 Deployment shop/web", NULL},
    {"Deployments.v1.apps/bank/web", NULL, "apps/v1 Deployment bank/web", NULL},
    {"deploy/web", "bank", "apps/v1 Deployment bank/web", NULL},
    {"deploy/shop/web", "bank", "apps/v1 Deployment shop/web", NULL},
    {"deploy.other.example.org/api", NULL, "other.example.org/v1 Deployment shop/api", NULL},
    {"clusterrole/reader", "shop", "rbac.authorization.k8s.io/v1 ClusterRole /reader", NULL},
    {"pp/web", NULL, "policy.karmada.io/v1alpha1 PropagationPolicy shop/web", NULL},
    {"cpp/entry-2", "shop", "policy.karmada.io/v1alpha1 ClusterPropagationPolicy /entry-2", NULL},
    {"deploy/web", NULL, NULL,
     "'deploy/web' could be any of Deployment.apps/bank/web, Deployment.apps/shop/web"},
    {"deploy/api", "shop", NULL,
     "'deploy/api' could be any of Deployment.apps/shop/api, "
     "Deployment.other.example.org/shop/api"},
    {"deploy/entry-1", "bank", NULL, "there is no 'deploy/bank/entry-1'"},
    {"deploy.v2.apps/shop/entry-1", NULL, NULL,
     "there is no 'deploy.v2.apps/shop/entry-1'; the nearest are Deployment.apps/shop/entry-1, "
     "Deployment.apps/shop/entry-22, ClusterPropagationPolicy.policy.karmada.io/entry-2"},
    {"deploy/entry-22x", NULL, NULL,
     "there is no 'deploy/entry-22x'; the nearest are Deployment.apps/shop/entry-22, "
     "ClusterPropagationPolicy.policy.karmada.io/entry-2"},
    {"deploy/nothing-like-it", NULL, NULL, "there is no 'deploy/nothing-like-it'"},
    {"web", "shop", NULL, "'web' names no object: write KIND[.GROUP]/[NAMESPACE/]NAME"},
};

TEST_ROWS(objects_are_found_by_name, find_cases, typed)
{
    const struct find_case *c = *state;
    const unsigned classes = 1U << CLASS_TEMPLATE | 1U << CLASS_POLICY;
    const struct entry *entry;
    struct error err = {0};
    struct world w;
    char text[256];

    world_init(&w, &rules_options_default, 1);
    put_objects(&w);
    entry = object_find_in_namespace(w.store, classes, c->typed, c->ns, &err);
    assert_int_equal(entry != NULL, c->object != NULL);
    if (entry) {
        snprintf(text, sizeof(text), "%s %s %s/%s", entry_type(entry)->api_version,
                 entry_kind(entry), entry_ns(entry), entry->name);
        assert_string_equal(text, c->object);
    } else {
        assert_string_equal(err.text, c->error);
    }
    world_release(&w);
}

TEST(an_object_of_another_class_is_not_found)
{
    struct error err;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put_objects(&w);
    assert_null(object_find(w.store, 1U << CLASS_POLICY, "deploy/shop/web", &err));
    world_release(&w);
}
