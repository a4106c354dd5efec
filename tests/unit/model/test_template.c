/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/template.h"

#include "metrics/model/metadata.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

TEST(all_fields_of_a_template_are_decoded)
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
    assert_int_equal(template_labels(t).count, 3);
    assert_string_equal(template_label(t, intern_find(r.strings, "app")), "nginx");
    assert_string_equal(template_claim(t)->ns, "test");
    assert_string_equal(template_claim(t)->name, "pp");
    assert_string_equal(template_claim(t)->id, "id");
    assert_string_equal(template_claimed_by(t), "MultiClusterService");
    assert_int_equal(template_references(t).count, 1);
    assert_string_equal(t->references[0].name, "robot");
    assert_int_equal(template_replicas(t), 3);
    assert_int_equal(template_created_ms(t), 10000);
    assert_int_equal(template_changed_ms(t), 30000);
    assert_true(t->resource_version == 77);
    assert_int_equal(traces_generation(&t->traces), 4);
    assert_int_equal(t->uid_hash, uid_hash("u1"));
    assert_false(t->claim_incomplete);
    assert_true(t->deleting);
    template_release(r.strings, t);
}

static struct resolution_case {
    const char *name;
    const char *annotations;
    bool sets;
    bool overwrites;
} resolution_cases[] = {
    {"overwrite", "{'work.karmada.io/conflict-resolution':'overwrite'}", true, true},
    {"abort", "{'work.karmada.io/conflict-resolution':'abort'}", true, false},
    {"the word of a policy", "{'work.karmada.io/conflict-resolution':'Overwrite'}", false, false},
    {"an empty value", "{'work.karmada.io/conflict-resolution':''}", false, false},
    {"another key", "{'work.karmada.io/conflict':'overwrite'}", false, false},
    {"no annotation", "{}", false, false},
};

/* Karmada ignores other values of the annotation, and logs a warning. */
TEST_ROWS(only_two_values_of_the_annotation_set_the_conflict_resolution, resolution_cases, name)
{
    const struct resolution_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    char text[512];

    snprintf(text, sizeof(text),
             "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'x','annotations':%s}}",
             c->annotations);
    CLEANUP(json_cleanup) cJSON *json = json_of(text);

    reading_init(&r);

    struct template *t = template_decode(&r.decode, json);

    assert_non_null(t);
    assert_int_equal(t->sets_conflict_resolution, c->sets);
    assert_int_equal(t->overwrites, c->overwrites);
    template_release(r.strings, t);
}

TEST(template_with_a_name_only_has_the_defaults)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup)
    cJSON *json =
        json_of("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'x','labels':null}}");

    reading_init(&r);

    struct template *t = template_decode(&r.decode, json);

    assert_non_null(t);
    assert_int_equal(template_labels(t).count, 0);
    assert_int_equal(t->label_keys, 0);
    assert_null(template_claim(t));
    assert_null(template_claimed_by(t));
    assert_null(t->references);
    assert_int_equal(template_replicas(t), -1);
    assert_int_equal(template_created_ms(t), 0);
    assert_int_equal(template_changed_ms(t), 0);
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
    {"a Deployment with replicas",
     "{'apiVersion':'apps/v1','kind':'Deployment','spec':{'replicas':0}}", 0},
    {"a Deployment without replicas", "{'apiVersion':'apps/v1','kind':'Deployment','spec':{}}", 1},
    {"a Deployment without spec", "{'apiVersion':'apps/v1','kind':'Deployment'}", -1},
    {"a StatefulSet", "{'apiVersion':'apps/v1','kind':'StatefulSet','spec':{'replicas':null}}", 1},
    {"a ReplicaSet", "{'apiVersion':'apps/v1','kind':'ReplicaSet','spec':{'replicas':7}}", 7},
    {"a Job with parallelism",
     "{'apiVersion':'batch/v1','kind':'Job','spec':{'parallelism':4,'replicas':9}}", 4},
    {"a Job with fewer completions than parallelism",
     "{'apiVersion':'batch/v1','kind':'Job','spec':{'parallelism':4,'completions':2}}", 2},
    {"a Job with more completions than parallelism",
     "{'apiVersion':'batch/v1','kind':'Job','spec':{'parallelism':4,'completions':9}}", 4},
    {"a Job with completions only",
     "{'apiVersion':'batch/v1','kind':'Job','spec':{'completions':9}}", 1},
    {"a Job without parallelism", "{'apiVersion':'batch/v1','kind':'Job','spec':{}}", 1},
    {"a Pod", "{'apiVersion':'v1','kind':'Pod','spec':{'replicas':9}}", 1},
    {"a Pod without spec", "{'apiVersion':'v1','kind':'Pod'}", -1},
    {"a custom resource with replicas", "{'apiVersion':'x/v1','kind':'Game','spec':{'replicas':2}}",
     2},
    {"a custom resource with an object as replicas",
     "{'apiVersion':'x/v1','kind':'Game','spec':{'replicas':{'min':1}}}", -1},
    {"a custom resource with negative replicas",
     "{'apiVersion':'x/v1','kind':'Game','spec':{'replicas':-2}}", -1},
    {"a custom resource with replicas above 32 bits",
     "{'apiVersion':'x/v1','kind':'Game','spec':{'replicas':3000000000}}", -1},
    {"a custom resource without replicas", "{'apiVersion':'x/v1','kind':'Game','spec':{}}", -1},
    {"a custom resource with a string as spec", "{'apiVersion':'x/v1','kind':'Game','spec':'x'}",
     -1},
};

TEST_ROWS(replicas_are_decoded, replicas, name)
{
    const struct replicas_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(c->json);

    reading_init(&r);

    struct template *t = template_decode(&r.decode, json);

    assert_non_null(t);
    assert_int_equal(template_replicas(t), c->replicas);
    template_release(r.strings, t);
}

TEST(rejected_template_releases_its_strings)
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

TEST(claim_id_without_a_policy_name_is_incomplete)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup)
    cJSON *json = json_of("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'x',"
                          "'labels':{'propagationpolicy.karmada.io/permanent-id':'id'}}}");

    reading_init(&r);

    struct template *t = template_decode(&r.decode, json);

    assert_null(template_claim(t));
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
    {"no owner key", OWNED(LABELS ANNOTATIONS), NULL, NULL},
    {"no label and no annotation with the key", OWNED(LABELS ANNOTATIONS), "owner", NULL},
    {"the label", OWNED(LABELS), "team", "blue"},
    {"the annotation", OWNED(ANNOTATIONS), "team", "red"},
    {"the label before the annotation", OWNED(LABELS ANNOTATIONS), "team", "blue"},
    {"an annotation beside an empty label", OWNED(",'labels':{'team':''}" ANNOTATIONS), "team",
     "red"},
    {"a long name", OWNED(",'annotations':{'team':'" FOUR(SIXTY_FOUR) "'}"), "team",
     FOUR(SIXTY_FOUR)},
    {"a name that is too long", OWNED(",'annotations':{'team':'x" FOUR(SIXTY_FOUR) "'}"), "team",
     NULL},
    {"beside a claim",
     OWNED(",'labels':{'clusterpropagationpolicy.karmada.io/permanent-id':'id'},"
           "'annotations':{'clusterpropagationpolicy.karmada.io/name':'cpp','team':'red'}"),
     "team", "red"},
    {"a resource of Config Connector",
     "{'apiVersion':'storage.cnrm.cloud.google.com/v1beta1','kind':'StorageBucket','metadata':"
     "{'name':'x'" ANNOTATIONS "}}",
     "team", "red"},
};

/* Copies of the template with another claim, or without a claim, keep the owner. */
TEST_ROWS(owner_is_decoded, owners, name)
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
    pool_free(claimed);
    pool_free(unclaimed);
    template_release(r.strings, t);
}

TEST(owner_that_is_no_string_is_rejected)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(OWNED(",'annotations':{'team':7}"));

    reading_init(&r);
    r.decode.owner_key = "team";
    assert_null(template_decode(&r.decode, json));
    assert_string_equal(r.err.text, "'metadata.annotations.team' must be a string, found a number");
}

/* Returns a version of a template that was last changed at second 7. */
static struct template template_version(uint64_t version, uint32_t generation)
{
    return (struct template){.resource_version = version,
                             .changed = 7000,
                             .uid_hash = 1,
                             .traces = {.has_generation = true, .number = generation}};
}

TEST(user_version_is_a_lower_bound_after_a_relist)
{
    struct template first = template_version(10, 1), status = template_version(11, 1);
    struct template changed = template_version(12, 2), later = template_version(13, 2);
    struct template relisted = template_version(20, 5), restored = template_version(15, 6);
    struct template other = template_version(30, 7);

    template_inherit(&status, &first, false);
    assert_true(status.user_version == 0 && !status.user_change_observed && !status.undated);
    template_inherit(&changed, &status, false);
    assert_true(changed.user_version == 12 && !changed.user_version_is_lower &&
                changed.user_change_observed);
    /* The managedFields of the changed version have no later time. */
    assert_true(changed.undated);
    template_set_change_time(&changed, 9000);
    assert_true(template_changed_ms(&changed) == 9000 && !changed.undated);
    template_inherit(&later, &changed, false);
    assert_true(later.user_version == 12 && template_changed_ms(&later) == 9000);
    template_inherit(&relisted, &later, true);
    assert_true(relisted.user_version == 13 && relisted.user_version_is_lower);
    template_inherit(&restored, &relisted, true);
    assert_true(restored.user_version == 0 && !restored.user_change_observed &&
                template_changed_ms(&restored) == 7000);
    other.uid_hash = 2;
    template_inherit(&other, &relisted, true);
    assert_true(other.user_version == 0 && !other.user_change_observed);
}

/* The manager is known only if the time of the last change is from its managedFields entry. */
TEST(changed_by_is_the_manager_at_the_change_time)
{
    struct template first = template_version(10, 1), removed = template_version(11, 2);
    struct template status = template_version(12, 2), changed = template_version(13, 3);

    const struct template_shared by_kubectl = {.changed_by = "kubectl"};
    const struct template_shared by_helm = {.changed_by = "helm"};

    first.shared = removed.shared = status.shared = &by_kubectl;
    changed.shared = &by_helm;
    template_set_changed_ms(&changed, 20000);
    assert_string_equal(template_changed_by(&first), "kubectl");
    /* A removal of fields leaves neither a time nor a manager in managedFields. */
    template_inherit(&removed, &first, false);
    template_set_change_time(&removed, 9000);
    assert_null(template_changed_by(&removed));
    template_inherit(&status, &removed, false);
    assert_true(template_changed_ms(&status) == 9000);
    assert_null(template_changed_by(&status));
    template_inherit(&changed, &status, false);
    template_set_change_time(&changed, 21000);
    assert_true(template_changed_ms(&changed) == 20000);
    assert_string_equal(template_changed_by(&changed), "helm");
    template_apply_user_change(&changed, &first, 14);
    assert_null(template_changed_by(&changed));
}

/*
 * Lists in place of maps. Elements of a list have no keys, so they must not be decoded as members.
 */
static struct list_case {
    const char *name;
    const char *json; /* Members of metadata, after the name. */
    const char *spec;
    bool refused; /* The list makes the template invalid; other lists are ignored. */
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

TEST_ROWS(list_in_place_of_a_map_has_no_members, lists, name)
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
        assert_int_equal(t->label_keys, 0);
        assert_int_equal(t->traces.user_keys, 0);
        assert_null(template_requests(t));
    }
    template_release(r.strings, t);
}
