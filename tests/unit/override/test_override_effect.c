/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/override/override_effect.h"

#include "metrics/model/store.h"
#include "metrics/rules/override/override_check.h"
#include "tests/unit/reading.h"
#include "tests/unit/world.h"

#include "tests/unit/suite.h"

/* The vectors of Karmada (tests/conformance/overrides.c) compare all rules. */

#define CONFIG_MAP                                                                                 \
    "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','namespace':'test',"             \
    "'labels':{'a':'b'}},'data':{'x':'1'}}"
#define POLICY(kind, metadata, spec)                                                               \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'" kind "','metadata':{" metadata           \
    "},'spec':{" spec "}}"
#define WRITE(path, value)                                                                         \
    "'overrideRules':[{'overriders':{'plaintext':[{'path':'" path                                  \
    "','operator':'add','value':'" value "'}]}}]"

static struct override_effect effect_of(struct world *w, const cJSON *object)
{
    const struct override_subject subject = {
        .store = w->store,
        .template = world_find(w, "v1", "ConfigMap", "test", "c"),
        .object = object,
        .release = {RELEASE_NEWEST, RELEASE_NEWEST, RELEASE_GIVEN, false},
    };
    CLEANUP(override_selection_release)
    struct override_selection selection = override_selection_make(w->store, subject.template);

    return override_effect_make(&subject, &selection, "m1", NULL);
}

static void put(struct world *w, const char *text)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text);

    world_put(w, json);
}

TEST(rules_apply_in_order_until_one_fails)
{
    CLEANUP(json_cleanup) cJSON *object = json_of(CONFIG_MAP);
    struct override_effect effect;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put(&w, CONFIG_MAP);
    put(&w, POLICY("OverridePolicy", "'name':'z','namespace':'test'", WRITE("/none/x", "1")));
    put(&w, POLICY("OverridePolicy", "'name':'b','namespace':'test'", WRITE("/data/x", "1")));
    put(&w, POLICY("ClusterOverridePolicy", "'name':'y'", WRITE("/data/y", "2")));
    effect = effect_of(&w, object);
    assert_int_equal(effect.applied_count, 2);
    assert_string_equal(effect.applied[0].policy->name, "y");
    assert_int_equal(effect.applied[0].changes.count, 1);
    assert_string_equal(effect.applied[0].changes.items[0].path, "/data/y");
    assert_string_equal(effect.applied[1].policy->name, "b");
    assert_int_equal(effect.applied[1].changes.count, 0);
    assert_string_equal(effect.failed_policy->name, "z");
    assert_null(effect.result);
    assert_int_equal(effect.changes.count, 0);
    override_effect_release(&effect);
    world_release(&w);
}

TEST(changed_labels_select_other_policies)
{
    CLEANUP(json_cleanup) cJSON *object = json_of(CONFIG_MAP);
    struct override_effect effect;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put(&w, CONFIG_MAP);
    put(&w, POLICY("ClusterOverridePolicy", "'name':'y'", WRITE("/metadata/labels/a", "c")));
    put(&w, POLICY("OverridePolicy", "'name':'old','namespace':'test'",
                   "'resourceSelectors':[{'apiVersion':'v1','kind':'ConfigMap','labelSelector':{"
                   "'matchLabels':{'a':'b'}}}]," WRITE("/data/x", "old")));
    put(&w, POLICY("OverridePolicy", "'name':'new','namespace':'test'",
                   "'resourceSelectors':[{'apiVersion':'v1','kind':'ConfigMap','labelSelector':{"
                   "'matchLabels':{'a':'c'}}}]," WRITE("/data/x", "new")));
    effect = effect_of(&w, object);
    assert_int_equal(effect.applied_count, 2);
    assert_string_equal(effect.applied[1].policy->name, "new");
    assert_int_equal(effect.changes.count, 2);
    assert_string_equal(effect.changes.items[0].path, "/data/x");
    assert_string_equal(effect.changes.items[0].from->valuestring, "1");
    assert_string_equal(effect.changes.items[0].to->valuestring, "new");
    override_effect_release(&effect);
    world_release(&w);
}

TEST(differences_are_sorted_by_path)
{
    CLEANUP(json_cleanup) cJSON *from = json_of("{'b':[1,2],'a':{'x':1},'c':'1','e':null}");
    CLEANUP(json_cleanup) cJSON *to = json_of("{'a':{'x':1,'y/z':2},'b':[1],'c':1,'e':null}");
    struct override_changes changes;

    override_changes_find(from, to, &changes);
    assert_int_equal(changes.count, 3);
    assert_string_equal(changes.items[0].path, "/a/y~1z");
    assert_null(changes.items[0].from);
    assert_string_equal(changes.items[1].path, "/b/1");
    assert_null(changes.items[1].to);
    assert_string_equal(changes.items[2].path, "/c");
    override_changes_release(&changes);
}

/* ---- rules that cannot fail ---- */

#define DEPLOYMENT                                                                                 \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'c','namespace':'test'},"      \
    "'spec':{'replicas':2,'paused':false,'template':{'spec':{'serviceAccountName':'a',"            \
    "'containers':[{'name':'a','image':'reg.io/a:1'}]}}}}"

static const struct check_row {
    const char *title, *kind, *overriders;
    bool cannot_fail;
} checks[] = {
    {"a number for a number", "OverridePolicy",
     "'plaintext':[{'path':'/spec/replicas','operator':'replace','value':3}]", true},
    {"a text for a number", "OverridePolicy",
     "'plaintext':[{'path':'/spec/replicas','operator':'replace','value':'3'}]", false},
    {"a fraction", "OverridePolicy",
     "'plaintext':[{'path':'/spec/replicas','operator':'replace','value':1.5}]", false},
    {"a missing field", "OverridePolicy",
     "'plaintext':[{'path':'/spec/none','operator':'replace','value':3}]", false},
    {"an element that is no object", "OverridePolicy", "'plaintext':[[1]]", false},
    {"an element of images that is no object", "OverridePolicy", "'imageOverrider':[['x']]", false},
    {"a text for a text", "OverridePolicy",
     "'plaintext':[{'path':'/spec/template/spec/serviceAccountName','operator':'replace',"
     "'value':'b'}]",
     true},
    {"a text beside images", "OverridePolicy",
     "'imageOverrider':[{'component':'Tag','operator':'remove'}],'plaintext':[{'path':"
     "'/spec/template/spec/containers/0/image','operator':'replace','value':'B'}]",
     false},
    {"a removed field", "OverridePolicy",
     "'plaintext':[{'path':'/spec/paused','operator':'remove'}]", false},
    {"the kind", "OverridePolicy", "'plaintext':[{'path':'/kind','operator':'replace','value':''}]",
     false},
    {"a registry", "OverridePolicy",
     "'imageOverrider':[{'component':'Registry','operator':'replace','value':'b.io'}]", true},
    {"a registry that is no domain", "OverridePolicy",
     "'imageOverrider':[{'component':'Registry','operator':'replace','value':'b//'}]", false},
    {"an image by its path", "OverridePolicy",
     "'imageOverrider':[{'component':'Tag','operator':'remove','predicate':{'path':'/x'}}]", false},
    {"args", "OverridePolicy",
     "'argsOverrider':[{'containerName':'a','operator':'add','value':['x']}]", true},
    {"a label", "OverridePolicy", "'labelsOverrider':[{'operator':'add','value':{'a':'b'}}]", true},
    {"a label with an escape", "OverridePolicy",
     "'labelsOverrider':[{'operator':'add','value':{'a~0':'b'}}]", false},
    {"a label without other policies", "ClusterOverridePolicy",
     "'labelsOverrider':[{'operator':'add','value':{'a':'b'}}]", true},
    {"a namespace without other policies", "ClusterOverridePolicy",
     "'plaintext':[{'path':'/metadata/namespace','operator':'replace','value':'b'}]", false},
    {"a field", "OverridePolicy",
     "'fieldOverrider':[{'fieldPath':'/x','json':[{'subPath':'/a','operator':'remove'}]}]", false},
};

TEST_ROWS(most_rules_cannot_fail, checks, title)
{
    const struct check_row *row = *state;
    CLEANUP(json_cleanup) cJSON *object = json_of(DEPLOYMENT);
    CLEANUP(override_selection_release) struct override_selection selection = {0};
    bool namespaced = strcmp(row->kind, "OverridePolicy") == 0;
    char policy[1024];
    struct world w;

    snprintf(policy, sizeof(policy),
             "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'%s','metadata':{'name':'o'%s},"
             "'spec':{'overrideRules':[{'overriders':{%s}}]}}",
             row->kind, namespaced ? ",'namespace':'test'" : "", row->overriders);
    world_init(&w, &rules_options_default, 1);
    put(&w, DEPLOYMENT);
    put(&w, policy);
    selection =
        override_selection_make(w.store, world_find(&w, "apps/v1", "Deployment", "test", "c"));
    assert_int_equal(selection.count, 1);
    assert_int_equal(overrides_cannot_fail(&selection, object), row->cannot_fail);
    world_release(&w);
}

/* The OverridePolicy selects the template only after the ClusterOverridePolicy has set the label.
 */
TEST(a_label_may_select_another_policy_that_fails)
{
    CLEANUP(json_cleanup) cJSON *object = json_of(DEPLOYMENT);
    CLEANUP(override_selection_release) struct override_selection selection = {0};
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put(&w, DEPLOYMENT);
    put(&w, "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'ClusterOverridePolicy',"
            "'metadata':{'name':'o'},'spec':{'overrideRules':[{'overriders':{'labelsOverrider':"
            "[{'operator':'add','value':{'a':'b'}}]}}]}}");
    put(&w, "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'OverridePolicy',"
            "'metadata':{'name':'o','namespace':'test'},'spec':{'resourceSelectors':["
            "{'apiVersion':'apps/v1','kind':'Deployment','labelSelector':{'matchLabels':{'a':'b'}}}"
            "],'overrideRules':[{'overriders':{'plaintext':[{'path':'/none/a','operator':'remove'}]"
            "}}]}}");
    selection =
        override_selection_make(w.store, world_find(&w, "apps/v1", "Deployment", "test", "c"));
    assert_int_equal(selection.count, 1);
    assert_false(overrides_cannot_fail(&selection, object));
    world_release(&w);
}
