/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/admission/admission.h"

#include "metrics/rules/admission/crd_fields.h"
#include "tests/unit/suite.h"

/*
 * Schemas of Karmada's kinds: rows have an object, the releases that refuse it or drop a field of
 * it, and the first finding. "1.13..1.19" are all releases. tests/conformance compares the verdicts
 * with those of Karmada.
 */

#define META                "\"metadata\":{\"name\":\"p\",\"namespace\":\"shop\"}"
#define POLICY_V1           "\"apiVersion\":\"policy.karmada.io/v1alpha1\","
#define SELECTORS           "\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}]"
#define OF_KIND(kind, spec) "{" POLICY_V1 "\"kind\":\"" kind "\"," META ",\"spec\":{" spec "}}"
#define POLICY(spec)        OF_KIND("PropagationPolicy", SELECTORS "," spec)
#define PLACED(placement)   POLICY("\"placement\":{" placement "}")
#define WITH_METADATA(metadata)                                                                    \
    "{" POLICY_V1 "\"kind\":\"PropagationPolicy\",\"metadata\":{\"name\":\"p\"," metadata          \
    "},\"spec\":{" SELECTORS "}}"
#define OVERRIDES(rule) OF_KIND("OverridePolicy", "\"overrideRules\":[{\"overriders\":{" rule "}}]")

static const struct admission_case {
    const char *title;
    const char *json;
    const char *refused; /* "1.13..1.15", or NULL: no release. */
    const char *pruned;  /* Likewise. */
    const char *first;   /* First finding; NULL: none. */
} admission_cases[] = {
    {"a plain policy", PLACED(""), NULL, NULL, NULL},
    {"a kind of another group", "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deploymnt\"}", NULL, NULL,
     NULL},
    {"a kind of multicluster.x-k8s.io, which is a template",
     "{\"apiVersion\":\"multicluster.x-k8s.io/v1alpha1\",\"kind\":\"Odd\"}", NULL, NULL, NULL},
    {"a Cluster, of which the table has no fields",
     "{\"apiVersion\":\"cluster.karmada.io/"
     "v1alpha1\",\"kind\":\"Cluster\",\"spec\":{\"syncMode\":\"Pull\",\"odd\":1}}",
     NULL, NULL, NULL},

    {"excludedResources", POLICY("\"excludedResources\":[]"), NULL, "1.13..1.19",
     "spec.excludedResources is no field"},
    {"a misspelt field of the spec", POLICY("\"placment\":{}"), NULL, "1.13..1.19",
     "spec.placment is no field (the nearest is placement)"},
    {"a misspelt field of the placement", PLACED("\"clusterAfinity\":{}"), NULL, "1.13..1.19",
     "spec.placement.clusterAfinity is no field (the nearest is clusterAffinity)"},
    {"a field one level too high", POLICY("\"clusterAffinity\":{}"), NULL, "1.13..1.19",
     "spec.clusterAffinity is no field (there is spec.placement.clusterAffinity)"},
    {"a field of the spec in the object",
     "{" POLICY_V1 "\"kind\":\"PropagationPolicy\"," META ",\"placement\":{},\"spec\":{" SELECTORS
     "}}",
     NULL, "1.13..1.19", "placement is no field (there is spec.placement)"},
    {"a field of the spec in the placement", PLACED("\"propagateDeps\":true"), NULL, "1.13..1.19",
     "spec.placement.propagateDeps is no field (there is spec.propagateDeps)"},
    {"labels in a selector",
     OF_KIND("PropagationPolicy",
             "\"resourceSelectors\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"labels\":{}}]"),
     NULL, "1.13..1.19", "spec.resourceSelectors[0].labels is no field"},
    {"another letter case", POLICY("\"Priority\":1"), NULL, "1.13..1.19",
     "spec.Priority is no field (the nearest is priority)"},
    {"a field that came later", PLACED("\"workloadAffinity\":{}"), NULL, "1.13..1.16",
     "spec.placement.workloadAffinity is no field"},
    {"failover.cluster", POLICY("\"failover\":{\"cluster\":{}}"), NULL, "1.13..1.14",
     "spec.failover.cluster is no field"},
    {"overflowAffinities",
     PLACED("\"clusterAffinities\":[{\"affinityName\":\"a\",\"clusterNames\":[\"m\"],"
            "\"overflowAffinities\":[]}]"),
     NULL, "1.13..1.17", "spec.placement.clusterAffinities[0].overflowAffinities is no field"},
    {"a status of a policy",
     "{" POLICY_V1 "\"kind\":\"PropagationPolicy\"," META ",\"status\":{},\"spec\":{" SELECTORS
     "}}",
     NULL, "1.13..1.19", "status is no field"},
    {"a null in an unknown field", POLICY("\"odd\":null"), NULL, "1.13..1.19",
     "spec.odd is no field"},

    {"a selector without apiVersion",
     OF_KIND("PropagationPolicy",
             "\"resourceSelectors\":[{\"kind\":\"Secret\",\"name\":\"creds\"}]"),
     "1.13..1.19", NULL, "spec.resourceSelectors[0].apiVersion is required"},
    {"a selector without kind",
     OF_KIND("ClusterOverridePolicy", "\"resourceSelectors\":[{\"apiVersion\":\"v1\"}]"),
     "1.13..1.19", NULL, "spec.resourceSelectors[0].kind is required"},
    {"a null in a required field",
     OF_KIND("PropagationPolicy", "\"resourceSelectors\":[{\"apiVersion\":null,\"kind\":\"Pod\"}]"),
     "1.13..1.19", NULL, "spec.resourceSelectors[0].apiVersion is required"},
    {"no spec", "{" POLICY_V1 "\"kind\":\"PropagationPolicy\"," META "}", "1.13..1.19", NULL,
     "spec is required"},
    {"no selectors", OF_KIND("PropagationPolicy", ""), "1.13..1.19", NULL,
     "spec.resourceSelectors is required"},
    {"an empty list of selectors", OF_KIND("PropagationPolicy", "\"resourceSelectors\":[]"),
     "1.13..1.19", NULL, "spec.resourceSelectors must have at least 1 element"},
    {"a priority without source", POLICY("\"schedulePriority\":{\"priorityClassName\":\"x\"}"),
     "1.13..1.19", NULL, "spec.schedulePriority.priorityClassSource is required"},
    {"a quota without overall", OF_KIND("FederatedResourceQuota", ""), "1.13..1.19", NULL,
     "spec.overall is required"},
    {"a rebalancer without workloads",
     "{\"apiVersion\":\"apps.karmada.io/v1alpha1\",\"kind\":\"WorkloadRebalancer\"," META
     ",\"spec\":{}}",
     "1.13..1.19", NULL, "spec.workloads is required"},
    {"a rule without operator", OVERRIDES("\"plaintext\":[{\"path\":\"/a\",\"value\":1}]"),
     "1.13..1.19", NULL, "spec.overrideRules[0].overriders.plaintext[0].operator is required"},

    {"a value that is not allowed", POLICY("\"preemption\":\"Sometimes\""), "1.13..1.19", NULL,
     "spec.preemption must be Always or Never, not \"Sometimes\""},
    {"a misspelt value", POLICY("\"conflictResolution\":\"Overwite\""), "1.13..1.19", NULL,
     "spec.conflictResolution must be Abort or Overwrite, not \"Overwite\" (the nearest is "
     "Overwrite)"},
    {"an empty value", POLICY("\"conflictResolution\":\"\""), "1.13..1.19", NULL,
     "spec.conflictResolution must be Abort or Overwrite, not \"\""},
    {"a value of an older release",
     POLICY("\"propagateDeps\":true,\"failover\":{\"application\":{"
            "\"decisionConditions\":{},\"purgeMode\":\"Immediately\"}}"),
     "1.19.0-rc.0..1.19", NULL,
     "spec.failover.application.purgeMode must be Directly, Gracefully or Never, not "
     "\"Immediately\""},
    {"a value of a newer release",
     POLICY("\"propagateDeps\":true,\"failover\":{\"application\":{"
            "\"decisionConditions\":{},\"purgeMode\":\"Directly\"}}"),
     "1.13..1.14", NULL,
     "spec.failover.application.purgeMode must be Immediately, Graciously or Never, not "
     "\"Directly\""},
    {"a component in lower case",
     OVERRIDES("\"imageOverrider\":[{\"component\":\"tag\",\"operator\":\"add\",\"value\":\"x\"}]"),
     "1.13..1.19", NULL,
     "spec.overrideRules[0].overriders.imageOverrider[0].component must be Registry, Repository or "
     "Tag, not \"tag\" (the nearest is Tag)"},
    {"a kind that came later",
     "{" POLICY_V1
     "\"kind\":\"ClusterTaintPolicy\",\"metadata\":{\"name\":\"t\"},\"spec\":{\"taints\":[{"
     "\"key\":\"k\",\"effect\":\"NoExecute\"}]}}",
     "1.13..1.13", NULL, "there is no kind ClusterTaintPolicy in policy.karmada.io/v1alpha1"},

    {"a text instead of a number", POLICY("\"priority\":\"1\""), "1.13..1.19", NULL,
     "spec.priority must be a whole number"},
    {"a fraction", POLICY("\"priority\":1.5"), "1.13..1.19", NULL,
     "spec.priority must be a whole number"},
    {"a number above 32 bits", POLICY("\"priority\":2147483648"), "1.13..1.19", NULL,
     "spec.priority must fit in 32 bits"},
    {"a text instead of a boolean", POLICY("\"propagateDeps\":\"yes\""), "1.13..1.19", NULL,
     "spec.propagateDeps must be true or false"},
    {"an object instead of a list", PLACED("\"clusterTolerations\":{}"), "1.13..1.19", NULL,
     "spec.placement.clusterTolerations must be a list"},
    {"a text instead of an object", PLACED("\"clusterAffinity\":\"m1\""), "1.13..1.19", NULL,
     "spec.placement.clusterAffinity must be an object"},
    {"a number in a list of texts", PLACED("\"clusterAffinity\":{\"clusterNames\":[\"a\",1]}"),
     "1.13..1.19", NULL, "spec.placement.clusterAffinity.clusterNames[1] must be a string"},
    {"a null in a list", PLACED("\"clusterAffinity\":{\"clusterNames\":[null]}"), "1.13..1.19",
     NULL, "spec.placement.clusterAffinity.clusterNames[0] must be a string"},
    {"a weight of 0",
     PLACED(
         "\"replicaScheduling\":{\"weightPreference\":{\"staticWeightList\":[{\"targetCluster\":{},"
         "\"weight\":0}]}}"),
     "1.13..1.19", NULL,
     "spec.placement.replicaScheduling.weightPreference.staticWeightList[0].weight must be at "
     "least 1"},
    {"a map with a number",
     OVERRIDES("\"labelsOverrider\":[{\"operator\":\"add\",\"value\":{\"a\":1}}]"), "1.13..1.19",
     NULL, "spec.overrideRules[0].overriders.labelsOverrider[0].value.a must be a string"},
    {"an affinity name above 32 characters",
     PLACED("\"clusterAffinities\":[{\"affinityName\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}]"),
     "1.13..1.19", NULL,
     "spec.placement.clusterAffinities[0].affinityName must have at most 32 characters"},
    {"32 characters of two bytes are no 64 characters",
     "{\"apiVersion\":\"autoscaling.karmada.io/v1alpha1\",\"kind\":\"CronFederatedHPA\"," META
     ",\"spec\":{\"scaleTargetRef\":{\"kind\":\"Deployment\",\"name\":\"w\"},\"rules\":[{\"name\":"
     "\"éééééééééééééééééééééééééééééééé\",\"schedule\":\"* * * * *\",\"targetReplicas\":1}]}}",
     NULL, NULL, NULL},
    {"a history limit above 32",
     "{\"apiVersion\":\"autoscaling.karmada.io/v1alpha1\",\"kind\":\"CronFederatedHPA\"," META
     ",\"spec\":{\"scaleTargetRef\":{\"kind\":\"Deployment\",\"name\":\"w\"},\"rules\":[{\"name\":"
     "\"r\",\"schedule\":\"* * * * *\",\"failedHistoryLimit\":33}]}}",
     "1.13..1.19", NULL, "spec.rules[0].failedHistoryLimit must be at most 32"},
    {"any value of a patch",
     OVERRIDES("\"plaintext\":[{\"path\":\"/a\",\"operator\":\"add\",\"value\":"
               "{\"odd\":[1,{\"b\":null}]}}]"),
     NULL, NULL, NULL},

    {"an unknown kind", OF_KIND("PropagationPolcy", ""), "1.13..1.19", NULL,
     "there is no kind PropagationPolcy in policy.karmada.io/v1alpha1 (the nearest is "
     "PropagationPolicy in policy.karmada.io/v1alpha1)"},
    {"an unknown version",
     "{\"apiVersion\":\"policy.karmada.io/v1beta1\",\"kind\":\"OverridePolicy\"," META "}",
     "1.13..1.19", NULL,
     "there is no kind OverridePolicy in policy.karmada.io/v1beta1 (the nearest is OverridePolicy "
     "in "
     "policy.karmada.io/v1alpha1)"},
    {"a kind in another group of Karmada",
     "{\"apiVersion\":\"work.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\"," META "}",
     "1.13..1.19", NULL,
     "there is no kind PropagationPolicy in work.karmada.io/v1alpha1 (the nearest is "
     "PropagationPolicy in policy.karmada.io/v1alpha1)"},
    {"a group without version", "{\"apiVersion\":\"policy.karmada.io/\",\"kind\":\"X\"," META "}",
     "1.13..1.19", NULL, "there is no kind X in policy.karmada.io/"},
    {"an invalid name",
     "{" POLICY_V1
     "\"kind\":\"PropagationPolicy\",\"metadata\":{\"name\":\"My_Policy\"},\"spec\":{" SELECTORS
     "}}",
     "1.13..1.19", NULL, "metadata.name \"My_Policy\" is no valid name"},
    {"a label key with a space", WITH_METADATA("\"labels\":{\"a b\":\"c\"}"), "1.13..1.19", NULL,
     "metadata.labels has the invalid key \"a b\""},
    {"a label value with a space", WITH_METADATA("\"labels\":{\"team\":\"a b\"}"), "1.13..1.19",
     NULL, "metadata.labels has the invalid value \"a b\""},
    {"a label value above 63 characters",
     WITH_METADATA("\"labels\":{\"a\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                   "aaaaaaa\"}"),
     "1.13..1.19", NULL,
     "metadata.labels has the invalid value \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...\""},
    {"an empty label value, and a null", WITH_METADATA("\"labels\":{\"a\":\"\",\"b\":null}"), NULL,
     NULL, NULL},
    {"a label value without quotes", WITH_METADATA("\"labels\":{\"a\":true}"), "1.13..1.19", NULL,
     "metadata.labels.a must be a string"},
    {"a list of labels", WITH_METADATA("\"labels\":[\"a\"]"), "1.13..1.19", NULL,
     "metadata.labels must be an object"},
    {"an annotation key with two slashes", WITH_METADATA("\"annotations\":{\"a/b/c\":\"\"}"),
     "1.13..1.19", NULL, "metadata.annotations has the invalid key \"a/b/c\""},
    {"an annotation key in capitals, with any value",
     WITH_METADATA("\"annotations\":{\"Example.COM/Key\":\"a b\"}"), NULL, NULL, NULL},
    {"an annotation that is a number", WITH_METADATA("\"annotations\":{\"a\":1}"), "1.13..1.19",
     NULL, "metadata.annotations.a must be a string"},
    {"a label of a WorkloadRebalancer",
     "{\"apiVersion\":\"apps.karmada.io/v1alpha1\",\"kind\":\"WorkloadRebalancer\",\"metadata\":{"
     "\"name\":\"r\",\"labels\":{\"-\":\"\"}},\"spec\":{\"workloads\":[{\"apiVersion\":\"v1\","
     "\"kind\":\"Pod\",\"name\":\"p\"}]}}",
     "1.13..1.19", NULL, "metadata.labels has the invalid key \"-\""},
};

static release_set releases_of(const char *text)
{
    release_set set = 0;
    bool inside = false;
    char name[16];

    for (unsigned i = 0; text && i < RELEASE_COUNT; i++) {
        snprintf(name, sizeof(name), "%.*s", (int)(strstr(text, "..") - text), text);
        inside = inside || strcmp(name, release_name((enum release)i)) == 0;
        set |= (release_set)((unsigned)inside << i);
        inside = inside && strcmp(strstr(text, "..") + 2, release_name((enum release)i)) != 0;
    }
    return set;
}

static struct admission *review_text(const char *json)
{
    cJSON *object = cJSON_Parse(json);
    struct admission *a;

    assert_non_null(object);
    a = admission_review(object);
    cJSON_Delete(object);
    return a;
}

TEST_ROWS(the_review_finds, admission_cases, title)
{
    const struct admission_case *c = *state;
    struct admission *a = review_text(c->json);
    char first[512] = "";

    if (a)
        snprintf(first, sizeof(first), "%s%s%s", a->items[0].field, *a->items[0].field ? " " : "",
                 a->items[0].text);
    assert_string_equal(first, c->first ? c->first : "");
    assert_int_equal(a ? a->refused : 0, releases_of(c->refused));
    assert_int_equal(a ? a->pruned : 0, releases_of(c->pruned));
    free(a);
}

/* ---- ranges of releases ---- */

TEST(a_range_inside_the_releases_decides)
{
    struct admission *a =
        review_text(PLACED("\"workloadAffinity\":{\"affinity\":{\"groupByLabelKey\":"
                           "\"not ok\"}}"));
    struct release_range old = {RELEASE_1_13, RELEASE_1_16, RELEASE_GIVEN, false};
    struct release_range fresh = {RELEASE_1_17, RELEASE_1_19, RELEASE_GIVEN, false};
    struct release_range both = {RELEASE_1_16, RELEASE_1_17, RELEASE_OF_SERVER, false};
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);

    assert_int_equal(admission_prunes(a, old), RELEASE_ANSWER_YES);
    assert_int_equal(admission_refuses(a, old), RELEASE_ANSWER_NO);
    assert_int_equal(admission_prunes(a, fresh), RELEASE_ANSWER_NO);
    assert_int_equal(admission_refuses(a, fresh), RELEASE_ANSWER_YES);
    assert_int_equal(admission_prunes(a, both), RELEASE_ANSWER_DIFFERS);
    assert_int_equal(admission_refuses(a, both), RELEASE_ANSWER_DIFFERS);
    admission_add_text(a, old, true, &text);
    assert_string_equal(text.data, "spec.placement.workloadAffinity is no field");
    strbuf_reset(&text);
    admission_add_text(a, old, false, &text);
    assert_string_equal(text.data, "");
    free(a);
}

TEST(without_findings_nothing_is_refused)
{
    struct release_range all = {RELEASE_1_13, RELEASE_1_19, RELEASE_ASSUMED, false};
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(16);

    assert_int_equal(admission_refuses(NULL, all), RELEASE_ANSWER_NO);
    assert_int_equal(admission_prunes(NULL, all), RELEASE_ANSWER_NO);
    admission_add_text(NULL, all, false, &text);
    assert_string_equal(text.data, "");
}

TEST(a_stored_object_has_no_dropped_fields)
{
    static const char json[] =
        "{" POLICY_V1
        "\"kind\":\"PropagationPolicy\",\"metadata\":{\"name\":\"p\",\"creationTimestamp\":"
        "\"2026-01-01T00:00:00Z\"},\"spec\":{" SELECTORS ",\"odd\":1%s}}";
    char text[512];
    cJSON *object;
    struct admission *a;

    snprintf(text, sizeof(text), json, "");
    object = cJSON_Parse(text);
    assert_null(admission_review_read(object));
    cJSON_Delete(object);
    snprintf(text, sizeof(text), json, ",\"preemption\":\"x\"");
    object = cJSON_Parse(text);
    a = admission_review_read(object);
    assert_non_null(a);
    assert_true(a->stored);
    assert_int_equal(a->pruned, 0);
    assert_int_equal(a->count, 1);
    assert_string_equal(a->items[0].field, "spec.preemption");
    free(a);
    cJSON_Delete(object);
}

/* ---- bad input ---- */

TEST(ten_thousand_unknown_fields_are_counted_but_not_listed)
{
    cJSON *object = cJSON_Parse(PLACED(""));
    cJSON *spec = cJSON_GetObjectItem(object, "spec");
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    struct release_range newest = {RELEASE_1_19, RELEASE_1_19, RELEASE_GIVEN, false};
    struct admission *a;
    char name[32];

    for (int i = 0; i < 10000; i++) {
        snprintf(name, sizeof(name), "odd-%d", i);
        cJSON_AddTrueToObject(spec, name);
    }
    a = admission_review(object);
    assert_int_equal(a->count, 32);
    assert_int_equal(a->refused, 0);
    assert_int_equal(a->pruned, 0xff);
    admission_add_text(a, newest, true, &text);
    assert_non_null(strstr(text.data, "; and 29 more"));
    free(a);
    cJSON_Delete(object);
}

TEST(equal_names_in_a_long_list_are_found)
{
    cJSON *object = cJSON_Parse(PLACED("\"clusterAffinities\":[]"));
    cJSON *list = cJSON_GetObjectItem(
        cJSON_GetObjectItem(cJSON_GetObjectItem(object, "spec"), "placement"), "clusterAffinities");
    struct admission *a;
    char name[32];

    for (int i = 0; i < 20000; i++) {
        cJSON *group = cJSON_CreateObject();

        snprintf(name, sizeof(name), "g%d", i % 19999);
        cJSON_AddStringToObject(group, "affinityName", name);
        cJSON_AddItemToArray(list, group);
    }
    a = admission_review(object);
    assert_int_equal(a->count, 1);
    assert_string_equal(a->items[0].field, "spec.placement.clusterAffinities");
    assert_string_equal(a->items[0].text, "has two groups with affinityName \"g0\"");
    free(a);
    cJSON_Delete(object);
}

TEST(hostile_names_are_escaped_and_cut)
{
    struct admission *a =
        review_text(POLICY("\"\\u001b[31m\\u202e0123456789012345678901234567890123456"
                           "78901234567890\":1"));

    assert_null(strchr(a->items[0].field, 0x1b));
    assert_true(strlen(a->items[0].field) < 300);
    free(a);
}

TEST(values_that_are_no_objects_have_no_findings_or_are_refused)
{
    static const char *const texts[] = {"null",
                                        "1",
                                        "[]",
                                        "{}",
                                        "\"x\"",
                                        "{\"apiVersion\":1}",
                                        "{\"apiVersion\":\"policy.karmada.io\",\"kind\":\"X\"}"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct admission *a = review_text(texts[i]);

        assert_null(a);
        free(a);
    }
    struct admission *a = review_text("{" POLICY_V1 "\"kind\":[]}");

    assert_int_equal(a->refused, 0xff);
    free(a);
}

/* ---- random objects ---- */

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static cJSON *random_scalar(uint32_t *seed)
{
    static const char *const texts[] = {
        "",       "Divided", "cluster", "zone",  "In",       "Gt",         "Gracefully", "Always",
        "a/b/c",  "x y",     "shop",    "other", "apps/v1",  "Deployment", "/data",      "add",
        "remove", "Tag",     "Lazy",    "m1",    "Weighted", "Graciously",
    };

    switch (next_random(seed) % 8) {
    case 0:
        return cJSON_CreateNull();
    case 1:
        return cJSON_CreateBool(next_random(seed) % 2);
    case 2:
        return cJSON_CreateNumber((double)(next_random(seed) % 7) - 2);
    case 3:
        return cJSON_CreateNumber(1e300);
    default:
        return cJSON_CreateString(texts[next_random(seed) % ARRAY_LEN(texts)]);
    }
}

/* Returns a value for a field that often fits, with unknown fields and wrong types between. */
static cJSON *random_value(uint32_t *seed, enum crd_type type, uint16_t first, uint16_t count,
                           unsigned depth)
{
    bool object = type == CRD_OBJECT, array = type == CRD_ARRAY;
    cJSON *value;

    if ((!object && !array) || depth == 0 || next_random(seed) % 16 == 0)
        return random_scalar(seed);
    value = array ? cJSON_CreateArray() : cJSON_CreateObject();
    for (uint16_t i = 0; i < count; i++) {
        const struct crd_field *field = &crd_fields[first + i];
        bool wanted = array || (field->flags & CRD_REQUIRED) || next_random(seed) % 3 == 0;

        for (unsigned n = array ? next_random(seed) % 3 : wanted; n > 0; n--) {
            cJSON *item = random_value(seed, field->type, field->first, field->count, depth - 1);

            if (array)
                cJSON_AddItemToArray(value, item);
            else
                cJSON_AddItemToObject(value, next_random(seed) % 20 ? field->name : "odd", item);
        }
    }
    return value;
}

static cJSON *random_object(uint32_t *seed)
{
    static const char *const kinds[] = {"PropagationPolicy", "ClusterPropagationPolicy",
                                        "OverridePolicy", "ClusterOverridePolicy"};
    const char *name = kinds[next_random(seed) % ARRAY_LEN(kinds)];
    const struct crd_kind *kind = crd_kinds;

    while (strcmp(kind->kind, name) != 0)
        kind++;
    cJSON *object = random_value(seed, CRD_OBJECT, kind->first, kind->count, 9);

    if (!cJSON_IsObject(object))
        return object;
    cJSON_DeleteItemFromObject(object, "apiVersion");
    cJSON_DeleteItemFromObject(object, "kind");
    cJSON_DeleteItemFromObject(object, "metadata");
    cJSON_AddStringToObject(object, "apiVersion", "policy.karmada.io/v1alpha1");
    cJSON_AddStringToObject(object, "kind", name);
    cJSON_AddItemToObject(object, "metadata",
                          cJSON_Parse("{\"name\":\"p\",\"namespace\":\"shop\"}"));
    return object;
}

/* Returns true if two parts of a path that follow each other are equal, as in "spec.a.a". */
static bool has_doubled_part(const char *path)
{
    for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
        const char *part = dot;
        size_t len = strcspn(dot + 1, ".[");

        while (part > path && part[-1] != '.')
            part--;
        if (strcspn(part, ".[") == len && memcmp(part, dot + 1, len) == 0)
            return true;
    }
    return false;
}

/*
 * The object that a release stores has no field that the release drops. If the release accepts the
 * object, it also accepts the stored one, and stores that as it is.
 */
static size_t check_stored(const cJSON *object, enum release release)
{
    struct release_range range = {release, release, RELEASE_GIVEN, false};
    struct admission *before = admission_review(object);
    bool accepted = admission_refuses(before, range) == RELEASE_ANSWER_NO;
    cJSON *stored = admission_make_stored(object, release);
    struct admission *after = admission_review(stored);
    cJSON *again = admission_make_stored(stored, release);

    for (uint32_t i = 0; before && i < before->count; i++)
        assert_false(has_doubled_part(before->items[i].field));
    assert_int_equal(admission_prunes(after, range), RELEASE_ANSWER_NO);
    if (accepted) {
        assert_int_equal(admission_refuses(after, range), RELEASE_ANSWER_NO);
        assert_true(cJSON_Compare(stored, again, true));
    }
    cJSON_Delete(again);
    cJSON_Delete(stored);
    free(after);
    free(before);
    return accepted;
}

TEST(stored_objects_are_stable)
{
    uint32_t seed = 38;
    size_t accepted = 0;

    for (int i = 0; i < 4000; i++) {
        cJSON *object = random_object(&seed);

        if (cJSON_IsObject(object)) {
            for (unsigned r = 0; r < RELEASE_COUNT; r++)
                accepted += check_stored(object, (enum release)r);
        }
        cJSON_Delete(object);
    }
    assert_true(accepted > 100);
}
