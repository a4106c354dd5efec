/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/engine.h"

#include "tests/unit/page.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { OBJECTS_MAX = 6, TEXT_MAX_BYTES = 4096 };

#define OBJECT(version, kind, name, more)                                                          \
    "{'apiVersion':'" version "','kind':'" kind "','metadata':{'name':'" name                      \
    "','namespace':'default'" more "}}"
#define CLAIM(id)                                                                                  \
    ",'annotations':{'propagationpolicy.karmada.io/name':'p',"                                     \
    "'propagationpolicy.karmada.io/namespace':'default'},"                                         \
    "'labels':{'propagationpolicy.karmada.io/permanent-id':'" id "'}"
#define POLICY(name, id, version, kind)                                                            \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"           \
    "'name':'" name "','namespace':'default','labels':{"                                           \
    "'propagationpolicy.karmada.io/permanent-id':'" id "'}},'spec':{'resourceSelectors':[{"        \
    "'apiVersion':'" version "','kind':'" kind "'}],'placement':{}}}"
#define BINDING(name, version, kind, template, more)                                               \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{'name':'" name  \
    "','namespace':'default'" more "},'spec':{'placement':{},'resource':{'apiVersion':'" version   \
    "','kind':'" kind "','namespace':'default','name':'" template "'}}}"

/* Binding of a ConfigMap: its placement, its stored values, and its requiredBy; each may be "". */
#define SHARED(placement, stored, required)                                                        \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"               \
    "'name':'shared-configmap','namespace':'default'},'spec':{" placement stored                   \
    "'resource':{'apiVersion':'v1','kind':'ConfigMap','namespace':'default','name':'shared'},"     \
    "'requiredBy':[" required "]}}"
#define WEB_REQUIRES "{'namespace':'default','name':'web-deployment'}"
#define OVERWRITE    "'conflictResolution':'Overwrite',"
#define ABORT        "'conflictResolution':'Abort',"
#define SHARED_HAS   "ResourceBinding work.karmada.io/v1alpha2 shared-configmap: "

#define WEB         OBJECT("apps/v1", "Deployment", "web", "")
#define FOREIGN_WEB OBJECT("example.io/v1", "Deployment", "web", "")
#define ALL_APPS    POLICY("p", "1", "apps/v1", "Deployment")
#define ALL_FOREIGN POLICY("q", "2", "example.io/v1", "Deployment")

/*
 * Objects, and their expected defects: a line "Kind apiVersion name: defects" per object with
 * defects.
 */
static struct defect_case {
    const char *name;
    const char *objects[OBJECTS_MAX];
    const char *text;
} defect_cases[] = {
    {"two groups, one binding name",
     {WEB, FOREIGN_WEB, ALL_APPS, ALL_FOREIGN},
     "Deployment apps/v1 web: binding_name_collision\n"
     "Deployment example.io/v1 web: binding_name_collision\n"},
    {"a template without a policy takes no binding name", {WEB, FOREIGN_WEB, ALL_APPS}, ""},
    {"two versions of one object are no collision",
     {WEB, OBJECT("apps/v1beta1", "Deployment", "web", ""), ALL_APPS,
      POLICY("q", "2", "apps/v1beta1", "Deployment")},
     ""},
    {"a claim of a missing policy",
     {OBJECT("apps/v1", "Deployment", "web", CLAIM("1"))},
     "Deployment apps/v1 web: dangling_claim\n"},
    {"a claim of an existing policy",
     {OBJECT("apps/v1", "Deployment", "web", CLAIM("1")), ALL_APPS},
     ""},
    {"a claim of a policy that was created again",
     {OBJECT("apps/v1", "Deployment", "web", CLAIM("0")), ALL_APPS},
     "Deployment apps/v1 web: dangling_claim\n"},
    {"an incomplete claim does not count", {OBJECT("apps/v1", "Deployment", "web", CLAIM(""))}, ""},
    {"the claim of an ignored template does not count",
     {OBJECT("apps/v1", "Deployment", "web",
             ",'annotations':{'propagationpolicy.karmada.io/name':'p',"
             "'propagationpolicy.karmada.io/namespace':'default'},"
             "'labels':{'propagationpolicy.karmada.io/permanent-id':'1',"
             "'resourcetemplate.karmada.io/claimed-by':'somebody'}")},
     ""},
    {"a claim on the binding",
     {WEB, BINDING("web-deployment", "apps/v1", "Deployment", "web", CLAIM("1"))},
     "ResourceBinding work.karmada.io/v1alpha2 web-deployment: dangling_claim\n"},
    {"a binding without its template",
     {ALL_APPS, BINDING("web-deployment", "apps/v1", "Deployment", "web", "")},
     "ResourceBinding work.karmada.io/v1alpha2 web-deployment: missing_template\n"},
    {"a template of an unwatched kind may exist",
     {BINDING("web-deployment", "apps/v1", "Deployment", "web", ""), ALL_FOREIGN},
     ""},
    {"a binding that names no template",
     {ALL_APPS, BINDING("web-deployment", "apps/v1", "Deployment", "", "")},
     ""},
    {"a dependency with the resolved value",
     {SHARED("", ABORT, WEB_REQUIRES),
      BINDING("web-deployment", "apps/v1", "Deployment", "web", "")},
     ""},
    {"a dependency without the resolved value",
     {SHARED("", OVERWRITE, WEB_REQUIRES),
      BINDING("web-deployment", "apps/v1", "Deployment", "web", "")},
     SHARED_HAS "unapplied_resolution\n"},
    {"a dependency without the resolved value of another field",
     {SHARED("", "'preserveResourcesOnDeletion':true,", WEB_REQUIRES),
      BINDING("web-deployment", "apps/v1", "Deployment", "web", "")},
     SHARED_HAS "unapplied_resolution\n"},
    {"no referrer left, and Abort, the default", {SHARED("", ABORT, "")}, ""},
    {"no referrer left, and an explicit false",
     {SHARED("", ABORT "'preserveResourcesOnDeletion':false,", "")},
     ""},
    {"no referrer left, and a field is not cleared",
     {SHARED("", OVERWRITE, "")},
     SHARED_HAS "uncleared_fields\n"},
    {"no referrer left, and the other field is not cleared",
     {SHARED("", "'preserveResourcesOnDeletion':true,", "")},
     SHARED_HAS "uncleared_fields\n"},
    {"a derived referrer does not clear fields",
     {SHARED("", OVERWRITE, ""),
      "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'new','namespace':'default'},"
      "'spec':{'template':{'spec':{'volumes':[{'configMap':{'name':'shared'}}]}}}}",
      "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"
      "'name':'n','namespace':'default'},'spec':{'propagateDeps':true," OVERWRITE
      "'placement':{},'resourceSelectors':[{'apiVersion':'apps/v1','kind':'Deployment'}]}}"},
     SHARED_HAS "uncleared_fields\n"},
    {"a dangling reference", {SHARED("", ABORT, WEB_REQUIRES)}, SHARED_HAS "dangling_reference\n"},
    {"a dangling reference, and a value from no referrer",
     {SHARED("", OVERWRITE, WEB_REQUIRES)},
     SHARED_HAS "dangling_reference unapplied_resolution\n"},
    {"the policy of the dependency sets another value",
     {SHARED("'placement':{},", OVERWRITE, WEB_REQUIRES),
      BINDING("web-deployment", "apps/v1", "Deployment", "web", "")},
     SHARED_HAS "overridden_value\n"},
    {"the policy of the dependency sets the same value",
     {SHARED("'placement':{},", ABORT, WEB_REQUIRES),
      BINDING("web-deployment", "apps/v1", "Deployment", "web", "")},
     ""},
    {"a value from the policy of the dependency may stay",
     {SHARED("'placement':{},", OVERWRITE, "")},
     ""},
};

static void put(struct world *w, const char *object)
{
    char json[TEXT_MAX_BYTES];

    snprintf(json, sizeof(json), "%s", object);
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    world_put_text(w, json);
}

static struct entry *find_entry(const struct world *w, const char *object)
{
    char json[TEXT_MAX_BYTES];
    struct identity id;
    struct error err;

    snprintf(json, sizeof(json), "%s", object);
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    CLEANUP(json_cleanup) cJSON *tree = cJSON_Parse(json);
    assert_true(identity_read(tree, &id, &err));
    return store_find(w->store, &id);
}

static void append_defects(const struct entry *entry, struct strbuf *out)
{
    const char *between = ": ";

    if (entry_defects(entry) == 0)
        return;
    strbuf_addf(out, "%s %s %s", entry_kind(entry), entry_type(entry)->api_version, entry->name);
    for (unsigned i = 0; i < DEFECT_COUNT; i++) {
        if (!(entry_defects(entry) & 1U << i))
            continue;
        strbuf_addf(out, "%s%s", between, defect_names[i]);
        between = " ";
    }
    strbuf_addc(out, '\n');
}

TEST_ROWS(defects_are_found, defect_cases, name)
{
    const struct defect_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);
    struct world w;

    world_init(&w, &rules_options_default, 1);
    for (size_t i = 0; i < OBJECTS_MAX && c->objects[i]; i++)
        put(&w, c->objects[i]);
    world_run(&w, 0);
    for (size_t i = 0; i < OBJECTS_MAX && c->objects[i]; i++)
        append_defects(find_entry(&w, c->objects[i]), &text);
    assert_string_equal(text.data, c->text);
    world_release(&w);
}

/* Defects change with other objects, without a change of the object that has them. */
TEST(defects_follow_changes_of_other_objects)
{
    struct world w;
    static const char binding[] =
        BINDING("web-deployment", "apps/v1", "Deployment", "web", CLAIM("1"));

    world_init(&w, &rules_options_default, 1);
    put(&w, binding);
    world_run(&w, 0);
    assert_int_equal(entry_defects(find_entry(&w, binding)), 1U << DEFECT_DANGLING_CLAIM);
    put(&w, ALL_APPS);
    world_run(&w, 0);
    assert_int_equal(entry_defects(find_entry(&w, binding)), 1U << DEFECT_MISSING_TEMPLATE);
    put(&w, WEB);
    world_run(&w, 0);
    assert_int_equal(entry_defects(find_entry(&w, binding)), 0);
    put(&w, FOREIGN_WEB);
    put(&w, ALL_FOREIGN);
    world_run(&w, 0);
    assert_int_equal(entry_defects(find_entry(&w, WEB)), 1U << DEFECT_NAME_COLLISION);
    store_remove(w.store, find_entry(&w, ALL_FOREIGN));
    world_run(&w, 0);
    assert_int_equal(entry_defects(find_entry(&w, WEB)), 0);
    store_remove(w.store, find_entry(&w, WEB));
    world_run(&w, 0);
    assert_int_equal(entry_defects(find_entry(&w, binding)), 1U << DEFECT_MISSING_TEMPLATE);
    store_remove(w.store, find_entry(&w, ALL_APPS));
    world_run(&w, 0);
    assert_int_equal(entry_defects(find_entry(&w, binding)), 1U << DEFECT_DANGLING_CLAIM);
    world_release(&w);
}

/* Karmada before 1.16 applies the value of the last referrer: that is no defect. */
TEST(unapplied_resolutions_exist_from_karmada_1_16_on)
{
    static const struct {
        const char *version;
        unsigned defects;
    } rows[] = {{"v1.15.3", 0}, {"1.16", 1U << DEFECT_UNAPPLIED_RESOLUTION}};
    static const char shared[] = SHARED("", OVERWRITE, WEB_REQUIRES);
    static const char family[] = "karmada_dependency_unapplied_resolutions{";

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rules_options rules = rules_options_default;
        struct world w;

        rules.karmada_version = rows[i].version;
        world_init(&w, &rules, 1);
        struct registry *r = page_registry(&w, &registry_options_default);
        put(&w, shared);
        put(&w, BINDING("web-deployment", "apps/v1", "Deployment", "web", ""));
        world_run(&w, 0);
        assert_int_equal(entry_defects(find_entry(&w, shared)), rows[i].defects);
        CLEANUP(free_cleanup) char *page = page_of(r);
        assert_int_equal(strstr(page, family) != NULL, rows[i].defects != 0);
        registry_free(r);
        world_release(&w);
    }
}
