/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/binding.h"

#include "metrics/model/metadata.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

static struct binding *binding_of(struct reading *r, const char *text)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text);
    struct binding *b = binding_decode(&r->decode, json);

    if (!b)
        fail_msg("%s", r->err.text);
    return b;
}

TEST(all_fields_of_a_binding_are_decoded)
{
    CLEANUP(reading_release) struct reading r;

    reading_init(&r);

    struct binding *b = binding_of(
        &r,
        "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding',"
        "'metadata':{'name':'nginx-deployment','namespace':'test',"
        "'creationTimestamp':'1970-01-01T00:00:10Z','deletionTimestamp':'1970-01-01T00:00:40Z',"
        "'labels':{'propagationpolicy.karmada.io/permanent-id':'id1',"
        "'binding.karmada.io/managed-by':'MultiClusterService'},"
        "'annotations':{'propagationpolicy.karmada.io/namespace':'test',"
        "'propagationpolicy.karmada.io/name':'pp'},"
        "'managedFields':[{'time':'1970-01-01T00:00:30Z','fieldsV1':{'f:spec':{}}}]},"
        "'spec':{'resource':{'apiVersion':'apps/v1','kind':'Deployment','namespace':'test',"
        "'name':'nginx','uid':'u1','resourceVersion':'5'},"
        "'replicas':3,'replicaRequirements':{'resourceRequest':{'cpu':'250m','memory':'1Gi',"
        "'example.com/gpu':2,'pods':null}},"
        "'components':[{'name':'a'},{'name':'b'}],"
        "'clusters':[{'name':'m1','replicas':2},{'name':'m2'}],"
        "'requiredBy':[{'namespace':'test','name':'app-deployment','clusters':[]},{'name':'x'}],"
        "'placement':{'clusterAffinity':{'clusterNames':['m1']}},"
        "'conflictResolution':'Overwrite','preserveResourcesOnDeletion':true,"
        "'propagateDeps':true,'schedulePriority':{'priority':100}}}");

    assert_string_equal(b->scope->api_version, "apps/v1");
    assert_string_equal(b->scope->kind, "Deployment");
    assert_string_equal(b->scope->ns, "test");
    assert_string_equal(b->name, "nginx");
    assert_int_equal(b->uid_hash, uid_hash("u1"));
    assert_true(b->resource_version == 5);
    assert_int_equal(b->write.time_s, 30);
    assert_string_equal(b->claim->name, "pp");
    assert_string_equal(binding_rare(b)->managed_by, "MultiClusterService");
    assert_int_equal(b->created_s, 10);
    assert_int_equal(b->changed_s, 30);
    assert_true(b->deleting);
    assert_int_equal(b->replicas, 3);
    assert_int_equal(b->component_count, 2);
    assert_int_equal(b->request_count, 4);
    assert_string_equal(b->requests[0].resource, "cpu");
    assert_true(b->requests[0].amount == 0.25);
    assert_true(b->requests[1].amount == 1073741824);
    assert_string_equal(b->requests[2].resource, "example.com/gpu");
    assert_true(b->requests[2].amount == 2);
    assert_true(b->requests[3].amount == 0);
    assert_int_equal(b->cluster_count, 2);
    assert_string_equal(b->clusters[0].name, "m1");
    assert_int_equal(b->clusters[0].replicas, 2);
    assert_int_equal(b->clusters[1].replicas, 0);
    assert_int_equal(binding_rare(b)->referrer_count, 2);
    assert_string_equal(binding_rare(b)->referrers[0].ns, "test");
    assert_string_equal(binding_rare(b)->referrers[0].name, "app-deployment");
    assert_string_equal(binding_rare(b)->referrers[1].ns, "");
    assert_true(b->has_placement);
    assert_true(b->has_conflict_resolution);
    assert_text(b->propagation->placement, "{\"clusterAffinity\":{\"clusterNames\":[\"m1\"]}}");
    assert_text(b->propagation->schedule_priority, "{\"priority\":100}");
    assert_int_equal(b->propagation->preserve, OPTIONAL_TRUE);
    assert_true(b->propagation->propagate_deps);
    assert_null(b->applied_placement);
    binding_release(r.strings, b);
}

TEST(smallest_delivered_generation_is_kept)
{
    CLEANUP(reading_release) struct reading r;

    reading_init(&r);

    struct binding *b = binding_of(
        &r, "{'metadata':{'name':'x'},'spec':{},'status':{'aggregatedStatus':["
            "{'clusterName':'a','status':{'resourceTemplateGeneration':5}},"
            "{'clusterName':'b','status':{'resourceTemplateGeneration':3}},{'clusterName':'c'}]}}");

    assert_int_equal(b->delivered_generation, 3);
    binding_release(r.strings, b);
}

/* aggregatedStatus is an object in place of the array: its members are not elements. */
TEST(aggregated_status_that_is_no_array_is_ignored)
{
    CLEANUP(reading_release) struct reading r;

    reading_init(&r);

    struct binding *b =
        binding_of(&r, "{'metadata':{'name':'x'},'spec':{},'status':{'aggregatedStatus':{"
                       "'a':{'clusterName':'a','status':{'resourceTemplateGeneration':5}}}}}");

    assert_int_equal(b->delivered_generation, 0);
    binding_release(r.strings, b);
}

TEST(binding_with_an_empty_spec_has_the_defaults)
{
    CLEANUP(reading_release) struct reading r;

    reading_init(&r);

    struct binding *b = binding_of(&r, "{'metadata':{'name':'x'},'spec':{}}");

    assert_string_equal(b->scope->api_version, "");
    assert_string_equal(b->scope->ns, "");
    assert_int_equal(b->uid_hash, uid_hash(""));
    assert_null(b->claim);
    assert_null(binding_rare(b)->managed_by);
    assert_false(b->has_placement || b->has_conflict_resolution || b->deleting);
    assert_int_equal(b->replicas, 0);
    assert_true(b->resource_version == 0);
    assert_int_equal(b->delivered_generation, 0);
    assert_text(b->propagation->scheduler_name, "default-scheduler");
    binding_release(r.strings, b);
}

/* Values of the annotation in which Karmada records the dependencies of a template as JSON. */
static struct dependencies_case {
    const char *name;
    const char *annotation; /* NULL if absent. */
    const char *text;       /* Expected dependencies; NULL if unknown. */
} dependencies_cases[] = {
    {"no annotation", NULL, NULL},
    {"an empty annotation", "", NULL},
    {"null instead of a list", "null", ""},
    {"an empty list", "[]", ""},
    {"two dependencies",
     "[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"namespace\":\"test\",\"name\":\"a\"},"
     "{\"apiVersion\":\"rbac/v1\",\"kind\":\"ClusterRole\",\"name\":\"b\"}]",
     "v1 ConfigMap test/a, rbac/v1 ClusterRole /b, "},
    {"a dependency by label selector",
     "[{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"namespace\":\"test\",\"labelSelector\":{}},"
     "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"namespace\":\"test\",\"name\":\"a\"}]",
     "v1 Secret test/a, "},
    {"elements of other types",
     "[1,null,\"x\",[],{},{\"apiVersion\":1,\"kind\":\"A\",\"name\":\"b\"},"
     "{\"apiVersion\":\"v1\",\"kind\":\"A\",\"name\":\"b\",\"namespace\":7}]",
     "v1 A /b, "},
    {"an object", "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"name\":\"a\"}", NULL},
    {"a string", "\"v1\"", NULL},
    {"truncated JSON", "[{\"apiVersion\":\"v1\"", NULL},
    {"text that is not JSON", "ConfigMap/a", NULL},
};

static const char dependencies_key[] = "resourcebinding.karmada.io/dependencies";

static cJSON *binding_with_dependencies(const char *annotation)
{
    cJSON *json = json_of("{'metadata':{'name':'x','annotations':{}},'spec':{}}");
    cJSON *metadata = cJSON_GetObjectItem(json, "metadata");

    if (annotation)
        cJSON_AddStringToObject(cJSON_GetObjectItem(metadata, "annotations"), dependencies_key,
                                annotation);
    return json;
}

TEST_ROWS(recorded_dependencies_are_decoded, dependencies_cases, name)
{
    const struct dependencies_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = binding_with_dependencies(c->annotation);

    reading_init(&r);

    struct binding *b = binding_decode(&r.decode, json);
    assert_non_null(b);
    for (uint32_t i = 0; binding_rare(b)->recorded && i < binding_rare(b)->recorded->count; i++) {
        const struct identity *id = &binding_rare(b)->recorded->items[i];

        strbuf_addf(&text, "%s %s %s/%s, ", id->api_version, id->kind, id->ns, id->name);
    }
    assert_text(binding_rare(b)->recorded ? text.data : NULL, c->text);
    binding_release(r.strings, b);
}

TEST(more_than_4096_recorded_dependencies_are_unknown)
{
    for (unsigned count = 4096; count <= 4097; count++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1 << 20);
        CLEANUP(reading_release) struct reading r;

        for (unsigned i = 0; i < count; i++)
            strbuf_addf(&text, "%s{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"name\":\"%u\"}",
                        i > 0 ? "," : "[", i);
        strbuf_addc(&text, ']');

        CLEANUP(json_cleanup) cJSON *json = binding_with_dependencies(text.data);

        reading_init(&r);
        struct binding *b = binding_decode(&r.decode, json);
        assert_non_null(b);
        assert_int_equal(binding_rare(b)->recorded ? binding_rare(b)->recorded->count : 0,
                         count == 4096 ? count : 0);
        binding_release(r.strings, b);
    }
}

static struct placement_case {
    const char *name;
    const char *placement; /* NULL if absent. */
    bool has_placement;
    const char *text;
} placements[] = {
    {"no placement", NULL, false, NULL},
    {"a null placement", "null", false, NULL},
    {"an empty placement is a placement", "{}", true, NULL},
    {"a placement of empty parts", "{'clusterAffinity':{}}", true, NULL},
    {"a placement", "{'clusterAffinity':{'clusterNames':['m1']}}", true,
     "{\"clusterAffinity\":{\"clusterNames\":[\"m1\"]}}"},
};

TEST_ROWS(placement_is_decoded, placements, name)
{
    const struct placement_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of("{'metadata':{'name':'x'},'spec':{}}");

    if (c->placement)
        json_put(json, "spec.placement", json_of(c->placement));
    reading_init(&r);

    struct binding *b = binding_decode(&r.decode, json);

    assert_non_null(b);
    assert_int_equal(b->has_placement, c->has_placement);
    assert_text(b->propagation->placement, c->text);
    binding_release(r.strings, b);
}

/*
 * Values of the annotation applied-placement of the scheduler. The placement in the spec of the
 * binding is the same in all cases: cluster m1, and replica scheduling by default.
 */
static struct applied_case {
    const char *name;
    const char *applied;
    bool same;
    const char *text;
} applied[] = {
    {"the same placement with another order and defaults",
     "{\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\"},"
     "\"clusterAffinity\":{\"clusterNames\":[\"m1\"]}}",
     true, NULL},
    {"an older placement", "{\"clusterAffinity\":{\"clusterNames\":[\"m2\"]}}", false,
     "{\"clusterAffinity\":{\"clusterNames\":[\"m2\"]}}"},
    {"not JSON", "{\"clusterAffinity\":", false, NULL},
    {"not an object", "[\"m1\"]", false, NULL},
    {"null", "null", false, NULL},
    {"empty", "", false, NULL},
};

TEST_ROWS(applied_placement_is_decoded, applied, name)
{
    const struct applied_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup)
    cJSON *json = json_of("{'metadata':{'name':'x','annotations':{}},'spec':{'placement':{"
                          "'clusterAffinity':{'clusterNames':['m1']},'replicaScheduling':{}}}}");

    cJSON_AddStringToObject(
        cJSON_GetObjectItem(cJSON_GetObjectItem(json, "metadata"), "annotations"),
        "policy.karmada.io/applied-placement", c->applied);
    reading_init(&r);

    struct binding *b = binding_decode(&r.decode, json);

    assert_non_null(b);
    if (c->same)
        assert_ptr_equal(b->applied_placement, b->propagation->placement);
    else
        assert_text(b->applied_placement, c->text);
    binding_release(r.strings, b);
}

static struct refused_case {
    const char *name;
    const char *path;
    const char *value;
    const char *error;
} refused[] = {
    {"a request that is no quantity", "spec.replicaRequirements.resourceRequest.memory", "'lots'",
     "'spec.replicaRequirements.resourceRequest.memory' must be a quantity such as 500m or 1.5Gi"},
    {"a negative request", "spec.replicaRequirements.resourceRequest.cpu", "'-1'",
     "'spec.replicaRequirements.resourceRequest.cpu' must be a quantity of at least 0 within "
     "the supported range"},
    {"a negative number", "spec.replicaRequirements.resourceRequest.cpu", "-1",
     "'spec.replicaRequirements.resourceRequest.cpu' must be a quantity of at least 0 within "
     "the supported range"},
    {"negative replicas", "spec.replicas", "-1",
     "'spec.replicas' must be between 0 and 2147483647"},
    {"negative replicas of a cluster", "spec.clusters[1].replicas", "-1",
     "'spec.clusters[].replicas' must be between 0 and 2147483647"},
    {"half a replica", "spec.clusters[1].replicas", "0.5",
     "'spec.clusters[].replicas' must be a whole number of at most 2^53"},
    {"an undefined conflict resolution", "spec.conflictResolution", "'Merge'",
     "'spec.conflictResolution' must be Abort or Overwrite"},
};

TEST_ROWS(invalid_field_is_rejected, refused, name)
{
    const struct refused_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup)
    cJSON *json = json_of("{'metadata':{'name':'x'},'spec':{'resource':{'name':'a'},'replicas':1,"
                          "'replicaRequirements':{'resourceRequest':{'cpu':'1'}},"
                          "'clusters':[{'name':'m1'},{'name':'m2'}],'requiredBy':[{'name':'y'}]}}");

    json_put(json, c->path, json_of(c->value));
    reading_init(&r);
    assert_null(binding_decode(&r.decode, json));
    assert_string_equal(r.err.text, c->error);
}

/* Names that Karmada (names.GenerateBindingName) returned for these templates. */
static struct name_case {
    const char *kind;
    const char *name;
    const char *binding;
} names[] = {
    {"Deployment", "nginx", "nginx-deployment"},
    {"ConfigMap", "my-config", "my-config-configmap"},
    {"ClusterRole", "system:controller:foo", "system.controller.foo-clusterrole"},
    {"CustomResourceDefinition", "foos.example.com", "foos.example.com-customresourcedefinition"},
    {"Role", "My:Role", "my.role-role"},
    {"ServiceAccount", "Foo", "foo-serviceaccount"},
    {"Secret", "a.b-c", "a.b-c-secret"},
    {"Namespace", "kube-system", "kube-system-namespace"},
    {"StatefulSet", "web-0", "web-0-statefulset"},
    {"PersistentVolumeClaim", "data", "data-persistentvolumeclaim"},
    {"ClusterRoleBinding", "a::b", "a..b-clusterrolebinding"},
    {"ClusterRole", "a&b$C", "a&b$c-clusterrole"},
};

TEST(binding_name_is_the_name_in_karmada)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(1024);

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        binding_name(names[i].kind, names[i].name, &name);
        assert_string_equal(name.data, names[i].binding);
    }
}
