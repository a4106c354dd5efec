/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/object_name.h"

#include "tests/unit/suite.h"

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
