/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/object_index.h"

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

#define METADATA   "'metadata':{'name':'web','namespace':'test'}"
#define DEPLOYMENT "'apiVersion':'apps/v1','kind':'Deployment'," METADATA
#define MOUNTING                                                                                   \
    "{" DEPLOYMENT ",'spec':{'template':{'spec':{'volumes':[{'configMap':{'name':'a'}}]}}}}"
#define NOTED                                                                                      \
    "[{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"namespace\":\"test\",\"name\":\"b\"},"          \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"OverridePolicy\","                  \
    "\"namespace\":\"test\",\"name\":\"c\"}]"

/* Template, dependencies annotation of its binding, and the expected dependencies. */
static struct dependencies_case {
    const char *name;
    const char *template;
    const char *noted; /* NULL: no binding. */
    bool known;
    const char *text;
} cases[] = {
    {"the spec", MOUNTING, NULL, true, "ConfigMap test/a "},
    {"the spec overrides the annotation", MOUNTING, NOTED, true, "ConfigMap test/a "},
    {"a spec without references", "{" DEPLOYMENT ",'spec':{}}", NOTED, true, ""},
    {"only metadata, no binding", "{" DEPLOYMENT "}", NULL, false, ""},
    {"only metadata: the annotation counts, except policies", "{" DEPLOYMENT "}", NOTED, true,
     "Secret test/b "},
    {"only metadata, an annotation without dependencies", "{" DEPLOYMENT "}", "null", true, ""},
    {"only metadata, an invalid annotation", "{" DEPLOYMENT "}", "x", false, ""},
    {"a kind that needs a resource interpreter",
     "{'apiVersion':'apps.kruise.io/v1alpha1','kind':'CloneSet'," METADATA ",'spec':{}}", NOTED,
     true, "Secret test/b "},
    {"a ServiceImport by name; references by label are skipped",
     "{'apiVersion':'multicluster.x-k8s.io/v1alpha1','kind':'ServiceImport'," METADATA "}", NULL,
     true, "Service test/derived-web "},
};

static cJSON *make_annotated_binding(const char *noted)
{
    cJSON *json = json_of("{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding',"
                          "'metadata':{'name':'web-deployment','namespace':'test',"
                          "'annotations':{}},'spec':{}}");
    cJSON *metadata = cJSON_GetObjectItem(json, "metadata");

    cJSON_AddStringToObject(cJSON_GetObjectItem(metadata, "annotations"),
                            "resourcebinding.karmada.io/dependencies", noted);
    return json;
}

TEST_ROWS(dependencies_come_from_spec_or_binding, cases, name)
{
    const struct dependencies_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);
    CLEANUP(entry_list_release) struct entry_list list = {0};
    CLEANUP(json_cleanup) cJSON *template = json_of(c->template);
    CLEANUP(json_cleanup) cJSON *binding = make_annotated_binding(c->noted ? c->noted : "");
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put(&w, template);
    world_put(&w, binding);

    const struct entry *entry = world_find(&w, json_str(template, "apiVersion", ""),
                                           json_str(template, "kind", ""), "test", "web");
    const struct entry *noting =
        world_find(&w, "work.karmada.io/v1alpha2", "ResourceBinding", "test", "web-deployment");

    assert_int_equal(
        list_template_dependencies(w.store, entry, c->noted ? entry_binding(noting) : NULL, &list),
        c->known);
    for (size_t i = 0; i < list.count; i++)
        strbuf_addf(&text, "%s %s/%s ", entry_kind(list.items[i]), entry_ns(list.items[i]),
                    list.items[i]->name);
    assert_string_equal(text.data, c->text);
    world_release(&w);
}
