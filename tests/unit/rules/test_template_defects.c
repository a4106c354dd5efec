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

/* A ConfigMap's binding: `placement` of its own or none, what it has stored, and who requires it.
 */
#define SHARED(placement, stored, required)                                                        \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"               \
    "'name':'shared-configmap','namespace':'default'},'spec':{" placement stored                   \
    "'resource':{'apiVersion':'v1','kind':'ConfigMap','namespace':'default','name':'shared'},"     \
    "'requiredBy':[" required "]}}"
#define WEB_REQUIRES "{'namespace':'default','name':'web-deployment'}"
#define OVERWRITE    "'conflictResolution':'Overwrite',"
#define ABORT        "'conflictResolution':'Abort',"
#define SAYS         "ResourceBinding work.karmada.io/v1alpha2 shared-configmap: "

#define WEB         OBJECT("apps/v1", "Deployment", "web", "")
#define FOREIGN_WEB OBJECT("example.io/v1", "Deployment", "web", "")
#define ALL_APPS    POLICY("p", "1", "apps/v1", "Deployment")
#define ALL_FOREIGN POLICY("q", "2", "example.io/v1", "Deployment")

/* What is broken among some objects: "Kind apiVersion name: defects" a line, in their order. */
static struct defect_case {
    const char *name;
    const char *objects[OBJECTS_MAX];
    const char *text;
} defect_cases[] = {
    {"two groups, one binding name",
     {WEB, FOREIGN_WEB, ALL_APPS, ALL_FOREIGN},
     "Deployment apps/v1 web: binding_name_collision\n"
     "Deployment example.io/v1 web: binding_name_collision\n"},
    {"who gets no binding takes nobody's", {WEB, FOREIGN_WEB, ALL_APPS}, ""},
    {"two versions of one object are no collision",
     {WEB, OBJECT("apps/v1beta1", "Deployment", "web", ""), ALL_APPS,
      POLICY("q", "2", "apps/v1beta1", "Deployment")},
     ""},
    {"a claim of a policy that is not there",
     {OBJECT("apps/v1", "Deployment", "web", CLAIM("1"))},
     "Deployment apps/v1 web: dangling_claim\n"},
    {"a claim of a policy that is there",
     {OBJECT("apps/v1", "Deployment", "web", CLAIM("1")), ALL_APPS},
     ""},
    {"a claim of a policy that was created again",
     {OBJECT("apps/v1", "Deployment", "web", CLAIM("0")), ALL_APPS},
     "Deployment apps/v1 web: dangling_claim\n"},
    {"half a claim is none", {OBJECT("apps/v1", "Deployment", "web", CLAIM(""))}, ""},
    {"what Karmada never considers claims nothing",
     {OBJECT("apps/v1", "Deployment", "web",
             ",'annotations':{'propagationpolicy.karmada.io/name':'p',"
             "'propagationpolicy.karmada.io/namespace':'default'},"
             "'labels':{'propagationpolicy.karmada.io/permanent-id':'1',"
             "'resourcetemplate.karmada.io/claimed-by':'somebody'}")},
     ""},
    {"a binding's own claim",
     {WEB, BINDING("web-deployment", "apps/v1", "Deployment", "web", CLAIM("1"))},
     "ResourceBinding work.karmada.io/v1alpha2 web-deployment: dangling_claim\n"},
    {"a binding without its template",
     {ALL_APPS, BINDING("web-deployment", "apps/v1", "Deployment", "web", "")},
     "ResourceBinding work.karmada.io/v1alpha2 web-deployment: missing_template\n"},
    {"a template of a kind that nobody watches may well exist",
     {BINDING("web-deployment", "apps/v1", "Deployment", "web", ""), ALL_FOREIGN},
     ""},
    {"a binding that names no template",
     {ALL_APPS, BINDING("web-deployment", "apps/v1", "Deployment", "", "")},
     ""},
    {"a dependency that has what results",
     {SHARED("", ABORT, WEB_REQUIRES),
      BINDING("web-deployment", "apps/v1", "Deployment", "web", "")},
     ""},
    {"a dependency that has not",
     {SHARED("", OVERWRITE, WEB_REQUIRES),
      BINDING("web-deployment", "apps/v1", "Deployment", "web", "")},
     SAYS "unapplied_resolution\n"},
    {"a dependency that has not in the other field",
     {SHARED("", "'preserveResourcesOnDeletion':true,", WEB_REQUIRES),
      BINDING("web-deployment", "apps/v1", "Deployment", "web", "")},
     SAYS "unapplied_resolution\n"},
    {"nothing requires it any more, and its fields are cleared: Abort is the default",
     {SHARED("", ABORT, "")},
     ""},
    {"an explicit false is what Karmada itself writes",
     {SHARED("", ABORT "'preserveResourcesOnDeletion':false,", "")},
     ""},
    {"nothing requires it any more, and a field is not cleared",
     {SHARED("", OVERWRITE, "")},
     SAYS "uncleared_fields\n"},
    {"nothing requires it any more, and the other field is not cleared",
     {SHARED("", "'preserveResourcesOnDeletion':true,", "")},
     SAYS "uncleared_fields\n"},
    {"an application that is new clears nothing",
     {SHARED("", OVERWRITE, ""),
      "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'new','namespace':'default'},"
      "'spec':{'template':{'spec':{'volumes':[{'configMap':{'name':'shared'}}]}}}}",
      "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"
      "'name':'n','namespace':'default'},'spec':{'propagateDeps':true," OVERWRITE
      "'placement':{},'resourceSelectors':[{'apiVersion':'apps/v1','kind':'Deployment'}]}}"},
     SAYS "uncleared_fields\n"},
    {"a reference that leads nowhere",
     {SHARED("", ABORT, WEB_REQUIRES)},
     SAYS "dangling_reference\n"},
    {"one that leads nowhere, and no value from it",
     {SHARED("", OVERWRITE, WEB_REQUIRES)},
     SAYS "dangling_reference unapplied_resolution\n"},
    {"its own policy stands against the others",
     {SHARED("'placement':{},", OVERWRITE, WEB_REQUIRES),
      BINDING("web-deployment", "apps/v1", "Deployment", "web", "")},
     SAYS "overridden_value\n"},
    {"its own policy wants the same",
     {SHARED("'placement':{},", ABORT, WEB_REQUIRES),
      BINDING("web-deployment", "apps/v1", "Deployment", "web", "")},
     ""},
    {"what its own policy set is nobody's to clear",
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

static struct entry *find(const struct world *w, const char *object)
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

static void describe(const struct entry *entry, struct strbuf *out)
{
    const char *between = ": ";

    if (entry_defects(entry) == 0)
        return;
    strbuf_addf(out, "%s %s %s", entry_kind(entry), entry->partition->type->api_version,
                entry->name);
    for (unsigned i = 0; i < DEFECT_COUNT; i++) {
        if (!(entry_defects(entry) & 1U << i))
            continue;
        strbuf_addf(out, "%s%s", between, defect_names[i]);
        between = " ";
    }
    strbuf_addc(out, '\n');
}

TEST_ROWS(finds, defect_cases, name)
{
    const struct defect_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);
    struct world w;

    world_init(&w, &rules_options_default, 1);
    for (size_t i = 0; i < OBJECTS_MAX && c->objects[i]; i++)
        put(&w, c->objects[i]);
    world_run(&w, 0);
    for (size_t i = 0; i < OBJECTS_MAX && c->objects[i]; i++)
        describe(find(&w, c->objects[i]), &text);
    assert_string_equal(text.data, c->text);
    world_release(&w);
}

/* Each defect goes when another object comes or goes, without a change of its own. */
TEST(defects_follow_what_they_are_about)
{
    struct world w;
    static const char binding[] =
        BINDING("web-deployment", "apps/v1", "Deployment", "web", CLAIM("1"));

    world_init(&w, &rules_options_default, 1);
    put(&w, binding);
    world_run(&w, 0);
    assert_int_equal(entry_defects(find(&w, binding)), 1U << DEFECT_DANGLING_CLAIM);
    put(&w, ALL_APPS);
    world_run(&w, 0);
    assert_int_equal(entry_defects(find(&w, binding)), 1U << DEFECT_MISSING_TEMPLATE);
    put(&w, WEB);
    world_run(&w, 0);
    assert_int_equal(entry_defects(find(&w, binding)), 0);
    put(&w, FOREIGN_WEB);
    put(&w, ALL_FOREIGN);
    world_run(&w, 0);
    assert_int_equal(entry_defects(find(&w, WEB)), 1U << DEFECT_NAME_COLLISION);
    store_remove(w.store, find(&w, ALL_FOREIGN));
    world_run(&w, 0);
    assert_int_equal(entry_defects(find(&w, WEB)), 0);
    store_remove(w.store, find(&w, WEB));
    world_run(&w, 0);
    assert_int_equal(entry_defects(find(&w, binding)), 1U << DEFECT_MISSING_TEMPLATE);
    store_remove(w.store, find(&w, ALL_APPS));
    world_run(&w, 0);
    assert_int_equal(entry_defects(find(&w, binding)), 1U << DEFECT_DANGLING_CLAIM);
    world_release(&w);
}

/* Karmada before 1.16 takes over what the last of the referrers wants: that is no fault of it. */
TEST(only_a_karmada_that_resolves_fails_to)
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
        assert_int_equal(entry_defects(find(&w, shared)), rows[i].defects);
        CLEANUP(free_cleanup) char *page = page_of(r);
        assert_int_equal(strstr(page, family) != NULL, rows[i].defects != 0);
        registry_free(r);
        world_release(&w);
    }
}
