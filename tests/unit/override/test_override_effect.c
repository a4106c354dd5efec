/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/override/override_effect.h"

#include "metrics/model/store.h"
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
