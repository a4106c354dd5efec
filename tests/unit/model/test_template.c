/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/template.h"

#include "metrics/model/metadata.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

TEST(a_whole_template_is_read)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup)
    cJSON *json = json_of(
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'nginx',"
        "'uid':'u1','resourceVersion':'77','generation':4,"
        "'labels':{'app':'nginx','propagationpolicy.karmada.io/permanent-id':'id',"
        "'resourcetemplate.karmada.io/claimed-by':'MultiClusterService'},"
        "'annotations':{'propagationpolicy.karmada.io/namespace':'test',"
        "'propagationpolicy.karmada.io/name':'pp'},"
        "'creationTimestamp':'1970-01-01T00:00:10Z','deletionTimestamp':'1970-01-01T00:00:40Z',"
        "'managedFields':[{'time':'1970-01-01T00:00:30Z','fieldsV1':{'f:spec':{}}}]},"
        "'spec':{'replicas':3,'template':{'spec':{'serviceAccountName':'robot'}}}}");

    reading_init(&r);

    struct template *t = template_decode(&r.decode, json);

    assert_non_null(t);
    assert_int_equal(t->labels.count, 3);
    assert_string_equal(labels_get(&t->labels, intern_find(r.strings, "app")), "nginx");
    assert_string_equal(t->claim->ns, "test");
    assert_string_equal(t->claim->name, "pp");
    assert_string_equal(t->claim->id, "id");
    assert_string_equal(t->claimed_by, "MultiClusterService");
    assert_int_equal(t->reference_count, 1);
    assert_string_equal(t->references[0].name, "robot");
    assert_int_equal(t->replicas, 3);
    assert_int_equal(t->created_ms, 10000);
    assert_int_equal(t->changed_ms, 30000);
    assert_true(t->resource_version == 77);
    assert_int_equal(t->traces.generation, 4);
    assert_int_equal(t->uid_hash, uid_hash("u1"));
    assert_false(t->claim_incomplete);
    assert_true(t->deleting);
    template_release(r.strings, t);
}

TEST(a_bare_template_has_nothing)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup)
    cJSON *json =
        json_of("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'x','labels':null}}");

    reading_init(&r);

    struct template *t = template_decode(&r.decode, json);

    assert_non_null(t);
    assert_int_equal(t->labels.count, 0);
    assert_null(t->labels.items);
    assert_null(t->claim);
    assert_null(t->claimed_by);
    assert_null(t->references);
    assert_int_equal(t->replicas, -1);
    assert_int_equal(t->created_ms, 0);
    assert_int_equal(t->changed_ms, 0);
    assert_true(t->resource_version == 0);
    assert_int_equal(t->uid_hash, uid_hash(""));
    assert_false(t->deleting);
    template_release(r.strings, t);
}

static struct replicas_case {
    const char *name;
    const char *json;
    int32_t replicas;
} replicas[] = {
    {"a Deployment says", "{'apiVersion':'apps/v1','kind':'Deployment','spec':{'replicas':0}}", 0},
    {"a Deployment does not say", "{'apiVersion':'apps/v1','kind':'Deployment','spec':{}}", 1},
    {"a Deployment's metadata", "{'apiVersion':'apps/v1','kind':'Deployment'}", -1},
    {"a StatefulSet", "{'apiVersion':'apps/v1','kind':'StatefulSet','spec':{'replicas':null}}", 1},
    {"a ReplicaSet", "{'apiVersion':'apps/v1','kind':'ReplicaSet','spec':{'replicas':7}}", 7},
    {"a Job has pods side by side",
     "{'apiVersion':'batch/v1','kind':'Job','spec':{'parallelism':4,'replicas':9}}", 4},
    {"a Job does not say", "{'apiVersion':'batch/v1','kind':'Job','spec':{}}", 1},
    {"a Pod is one", "{'apiVersion':'v1','kind':'Pod','spec':{'replicas':9}}", 1},
    {"a Pod's metadata", "{'apiVersion':'v1','kind':'Pod'}", -1},
    {"a custom resource says", "{'apiVersion':'x/v1','kind':'Game','spec':{'replicas':2}}", 2},
    {"a custom resource means something else",
     "{'apiVersion':'x/v1','kind':'Game','spec':{'replicas':{'min':1}}}", -1},
    {"a custom resource counts down", "{'apiVersion':'x/v1','kind':'Game','spec':{'replicas':-2}}",
     -1},
    {"a custom resource counts far",
     "{'apiVersion':'x/v1','kind':'Game','spec':{'replicas':3000000000}}", -1},
    {"a custom resource does not say", "{'apiVersion':'x/v1','kind':'Game','spec':{}}", -1},
    {"a custom resource's spec is a text", "{'apiVersion':'x/v1','kind':'Game','spec':'x'}", -1},
};

TEST_ROWS(reads_replicas, replicas, name)
{
    const struct replicas_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(c->json);

    reading_init(&r);

    struct template *t = template_decode(&r.decode, json);

    assert_non_null(t);
    assert_int_equal(t->replicas, c->replicas);
    template_release(r.strings, t);
}

TEST(half_a_template_leaves_nothing_behind)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup)
    cJSON *json =
        json_of("{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'nginx',"
                "'labels':{'app':'nginx','clusterpropagationpolicy.karmada.io/permanent-id':'id'},"
                "'annotations':{'clusterpropagationpolicy.karmada.io/name':'cpp'}},"
                "'spec':{'template':{'spec':{'serviceAccountName':'robot','volumes':{}}}}}");

    reading_init(&r);
    assert_null(template_decode(&r.decode, json));
    assert_string_equal(r.err.text,
                        "'spec.template.spec.volumes' must be an array, found an object");
}

TEST(the_id_of_a_claim_alone_is_half_a_claim)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup)
    cJSON *json = json_of("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'x',"
                          "'labels':{'propagationpolicy.karmada.io/permanent-id':'id'}}}");

    reading_init(&r);

    struct template *t = template_decode(&r.decode, json);

    assert_null(t->claim);
    assert_true(t->claim_incomplete);
    template_release(r.strings, t);
}

#define OWNED(metadata) "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'x'" metadata "}}"
#define LABELS          ",'labels':{'app':'shop','team':'blue'}"
#define ANNOTATIONS     ",'annotations':{'team':'red','note':'a'}"
#define SIXTY_FOUR      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define FOUR(text)      text text text text

static struct owner_case {
    const char *name;
    const char *json;
    const char *key;
    const char *owner;
} owners[] = {
    {"nobody asks", OWNED(LABELS ANNOTATIONS), NULL, NULL},
    {"neither says", OWNED(LABELS ANNOTATIONS), "owner", NULL},
    {"the label", OWNED(LABELS), "team", "blue"},
    {"the annotation", OWNED(ANNOTATIONS), "team", "red"},
    {"the label before the annotation", OWNED(LABELS ANNOTATIONS), "team", "blue"},
    {"an empty label says nothing", OWNED(",'labels':{'team':''}" ANNOTATIONS), "team", "red"},
    {"a long name", OWNED(",'annotations':{'team':'" FOUR(SIXTY_FOUR) "'}"), "team",
     FOUR(SIXTY_FOUR)},
    {"what is too long for a name", OWNED(",'annotations':{'team':'x" FOUR(SIXTY_FOUR) "'}"),
     "team", NULL},
    {"beside a claim",
     OWNED(",'labels':{'clusterpropagationpolicy.karmada.io/permanent-id':'id'},"
           "'annotations':{'clusterpropagationpolicy.karmada.io/name':'cpp','team':'red'}"),
     "team", "red"},
    {"of what Config Connector manages",
     "{'apiVersion':'storage.cnrm.cloud.google.com/v1beta1','kind':'StorageBucket','metadata':"
     "{'name':'x'" ANNOTATIONS "}}",
     "team", "red"},
};

/* Also with another claim it is as it was. */
TEST_ROWS(tells_whose_it_is, owners, name)
{
    const struct owner_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(c->json);
    const struct claim claim = {"ns", "pp", "id", false};

    reading_init(&r);
    r.decode.owner_key = c->key;

    struct template *t = template_decode(&r.decode, json);

    assert_non_null(t);
    struct template *claimed = template_copy_with_claim(t, &claim);
    struct template *unclaimed = template_copy_with_claim(t, NULL);

    assert_text(template_owner(t), c->owner);
    assert_text(template_owner(claimed), c->owner);
    assert_text(template_owner(unclaimed), c->owner);
    assert_ptr_equal(template_connector(claimed), template_connector(t));
    free(claimed);
    free(unclaimed);
    template_release(r.strings, t);
}

TEST(an_owner_is_a_text)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(OWNED(",'annotations':{'team':7}"));

    reading_init(&r);
    r.decode.owner_key = "team";
    assert_null(template_decode(&r.decode, json));
    assert_string_equal(r.err.text, "'metadata.annotations.team' must be a string, found a number");
}

/* A version of a ConfigMap, with 7 as the time of its last write. */
static struct template version_of(uint64_t version, uint32_t generation)
{
    return (struct template){.resource_version = version,
                             .changed_ms = 7000,
                             .uid_hash = 1,
                             .traces = {.generation = generation}};
}

/* The version of the last change by a user; a lower bound across a relist. */
TEST(the_version_of_a_users_change_is_kept)
{
    struct template first = version_of(10, 1), status = version_of(11, 1);
    struct template changed = version_of(12, 2), later = version_of(13, 2);
    struct template relisted = version_of(20, 5), restored = version_of(15, 6);
    struct template other = version_of(30, 7);

    template_inherit(&status, &first, false);
    assert_true(status.user_version == 0 && !status.user_change_observed && !status.undated);
    template_inherit(&changed, &status, false);
    assert_true(changed.user_version == 12 && !changed.user_version_is_lower &&
                changed.user_change_observed);
    /* Its managedFields have no later time. */
    assert_true(changed.undated);
    template_set_change_time(&changed, 9000);
    assert_true(changed.changed_ms == 9000 && !changed.undated);
    template_inherit(&later, &changed, false);
    assert_true(later.user_version == 12 && later.changed_ms == 9000);
    template_inherit(&relisted, &later, true);
    assert_true(relisted.user_version == 13 && relisted.user_version_is_lower);
    template_inherit(&restored, &relisted, true);
    assert_true(restored.user_version == 0 && !restored.user_change_observed &&
                restored.changed_ms == 7000);
    other.uid_hash = 2;
    template_inherit(&other, &relisted, true);
    assert_true(other.user_version == 0 && !other.user_change_observed);
}

/* Only where the time of the last change is one that somebody signed. */
TEST(the_changer_is_whose_the_time_is)
{
    struct template first = version_of(10, 1), removed = version_of(11, 2);
    struct template status = version_of(12, 2), changed = version_of(13, 3);

    first.changed_by = removed.changed_by = status.changed_by = "kubectl";
    changed.changed_by = "helm";
    changed.changed_ms = 20000;
    assert_string_equal(template_changed_by(&first), "kubectl");
    /* Who removes what others wrote leaves no time, and no name. */
    template_inherit(&removed, &first, false);
    template_set_change_time(&removed, 9000);
    assert_null(template_changed_by(&removed));
    template_inherit(&status, &removed, false);
    assert_true(status.changed_ms == 9000);
    assert_null(template_changed_by(&status));
    template_inherit(&changed, &status, false);
    template_set_change_time(&changed, 21000);
    assert_true(changed.changed_ms == 20000);
    assert_string_equal(template_changed_by(&changed), "helm");
    template_apply_user_change(&changed, &first, 14);
    assert_null(template_changed_by(&changed));
}

/* Elements of a list have no names: what reads them as members of a map must not. */
static struct list_case {
    const char *name;
    const char *json; /* The members after the name of the metadata and of the object. */
    const char *spec;
    bool refused; /* Labels count; who wrote what is only taken into account. */
} lists[] = {
    {"labels", "'labels':['a']", "{}", true},
    {"annotations", "'annotations':['a',{}]", "{}", true},
    {"fields", "'managedFields':[{'time':'1970-01-01T00:00:30Z','fieldsV1':['a']}]", "{}", true},
    {"fields of metadata",
     "'managedFields':[{'time':'1970-01-01T00:00:30Z','fieldsV1':{'f:metadata':['a']}}]", "{}",
     false},
    {"fields of labels",
     "'managedFields':[{'time':'1970-01-01T00:00:30Z','fieldsV1':{'f:metadata':"
     "{'f:labels':['a'],'f:annotations':[1]}}}]",
     "{}", false},
    {"fields of a spec",
     "'managedFields':[{'time':'1970-01-01T00:00:30Z','fieldsV1':{'f:spec':['a',{'f:x':{}}]}}]",
     "{}", false},
    {"requests", "'generation':1",
     "{'replicas':1,'template':{'spec':{'containers':[{'resources':{'requests':['a']}}],"
     "'initContainers':[{'resources':{'requests':['a']}}],'overhead':['a']}}}",
     false},
    {"volumes", "'generation':1", "{'template':{'spec':{'volumes':{'a':['b']}}}}", true},
};

TEST_ROWS(a_list_where_a_map_belongs_has_no_members, lists, name)
{
    const struct list_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    char text[512];

    snprintf(text, sizeof(text),
             "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'x',%s},'spec':%s}",
             c->json, c->spec);
    CLEANUP(json_cleanup) cJSON *json = json_of(text);
    reading_init(&r);

    struct template *t = template_decode(&r.decode, json);

    assert_int_equal(!t, c->refused);
    if (t) {
        assert_int_equal(t->labels.count, 0);
        assert_int_equal(t->traces.user_keys, 0);
        assert_null(t->requests);
    }
    template_release(r.strings, t);
}
