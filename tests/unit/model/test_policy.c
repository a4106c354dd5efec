/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/policy.h"

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

#define POLICY(spec)                                                                               \
    "{'kind':'PropagationPolicy','metadata':{'name':'pp','namespace':'test'},'spec':" spec "}"

static void free_policy(struct intern *strings, struct policy **p)
{
    policy_release(strings, *p);
    *p = NULL;
}

static struct policy *policy_of(struct reading *r, const char *text)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text);
    struct policy *p = policy_decode(&r->decode, json);

    if (!p)
        fail_msg("%s", r->err.text);
    return p;
}

TEST(all_fields_of_a_policy_are_decoded)
{
    CLEANUP(reading_release) struct reading r;

    reading_init(&r);

    struct policy *p = policy_of(
        &r, "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy',"
            "'metadata':{'name':'pp','namespace':'test','generation':7,"
            "'creationTimestamp':'1970-01-01T00:00:10Z','deletionTimestamp':'1970-01-01T00:00:40Z',"
            "'labels':{'propagationpolicy.karmada.io/permanent-id':'id1',"
            "'clusterpropagationpolicy.karmada.io/permanent-id':'id2'},"
            "'managedFields':[{'time':'1970-01-01T00:00:30Z','fieldsV1':{'f:spec':{}}}]},"
            "'spec':{'resourceSelectors':["
            "{'apiVersion':'apps/v1','kind':'Deployment','namespace':'test','name':'nginx'},"
            "{'apiVersion':'v1','kind':'Pod','labelSelector':{'matchLabels':{'app':'a'}}}],"
            "'excludedResources':[{'namespace':'other'},{},null],"
            "'dependentOverrides':['o1','o2'],'priority':-5,'preemption':'Always',"
            "'activationPreference':'Lazy','conflictResolution':'Overwrite','propagateDeps':true,"
            "'schedulerName':'mine','preserveResourcesOnDeletion':false,"
            "'placement':{'clusterAffinity':{'clusterNames':['m1']}},"
            "'failover':{'cluster':{}},'suspension':{'dispatching':true,'scheduling':true},"
            "'schedulePriority':{'priorityClassSource':'KubePriorityClass',"
            "'priorityClassName':'high'}}}");

    assert_int_equal(p->selector_count, 2);
    assert_string_equal(p->selectors[0].api_version, "apps/v1");
    assert_string_equal(p->selectors[0].kind, "Deployment");
    assert_string_equal(p->selectors[0].ns, "test");
    assert_string_equal(p->selectors[0].name, "nginx");
    assert_null(p->selectors[0].labels);
    assert_null(p->selectors[1].ns);
    assert_null(p->selectors[1].name);
    assert_int_equal(p->selectors[1].labels->count, 1);
    assert_int_equal(p->exclusion_count, 3);
    assert_string_equal(p->exclusions[0].ns, "other");
    assert_null(p->exclusions[0].kind);
    assert_null(p->exclusions[1].ns);
    assert_null(p->exclusions[2].ns);
    assert_int_equal(p->override_count, 2);
    assert_string_equal(p->overrides[1], "o2");
    assert_int_equal(p->priority, -5);
    assert_string_equal(p->id, "id1");
    assert_int_equal(p->generation, 7);
    assert_int_equal(p->created_ms, 10000);
    assert_int_equal(p->changed_ms, 30000);
    assert_true(p->lazy);
    assert_true(p->preempts);
    assert_true(p->deleting);
    assert_text(p->propagation->placement, "{\"clusterAffinity\":{\"clusterNames\":[\"m1\"]}}");
    assert_text(p->propagation->failover, "{\"cluster\":{\"purgeMode\":\"Gracefully\"}}");
    assert_text(p->propagation->suspension, "{\"dispatching\":true}");
    assert_text(p->propagation->scheduler_name, "mine");
    assert_text(p->propagation->schedule_priority,
                "{\"priorityClassName\":\"high\",\"priorityClassSource\":\"KubePriorityClass\"}");
    assert_int_equal(p->propagation->conflict_resolution, CONFLICT_RESOLUTION_OVERWRITE);
    assert_int_equal(p->propagation->preserve, OPTIONAL_FALSE);
    assert_true(p->propagation->propagate_deps);
    free_policy(r.strings, &p);
}

TEST(empty_spec_has_the_defaults_of_the_api)
{
    CLEANUP(reading_release) struct reading r;

    reading_init(&r);

    struct policy *p = policy_of(&r, POLICY("{}"));

    assert_int_equal(p->selector_count + p->exclusion_count + p->override_count, 0);
    assert_int_equal(p->priority, 0);
    assert_null(p->id);
    assert_false(p->lazy || p->preempts || p->deleting);
    assert_null(p->propagation->placement);
    assert_null(p->propagation->failover);
    assert_null(p->propagation->suspension);
    assert_null(p->propagation->schedule_priority);
    assert_text(p->propagation->scheduler_name, "default-scheduler");
    assert_int_equal(p->propagation->conflict_resolution, CONFLICT_RESOLUTION_ABORT);
    assert_int_equal(p->propagation->preserve, OPTIONAL_ABSENT);
    assert_false(p->propagation->propagate_deps);
    free_policy(r.strings, &p);
}

TEST(cluster_policy_has_the_id_of_the_cluster_label)
{
    CLEANUP(reading_release) struct reading r;

    reading_init(&r);

    struct policy *p = policy_of(&r, "{'kind':'ClusterPropagationPolicy','metadata':{'labels':{"
                                     "'propagationpolicy.karmada.io/permanent-id':'id1',"
                                     "'clusterpropagationpolicy.karmada.io/permanent-id':'id2'}}}");

    assert_text(p->id, "id2");
    free_policy(r.strings, &p);
}

/* Pairs of specs of policies or bindings; the test compares their decoded fields. */
static struct pair_case {
    const char *name;
    const char *a;
    const char *b;
    bool equal;
} pairs[] = {
    {"no placement and an empty one", "{}", "{'placement':{}}", true},
    {"placements with and without defaults",
     "{'placement':{'replicaScheduling':{'replicaDivisionPreference':'Weighted'}}}",
     "{'placement':{'replicaScheduling':{'replicaDivisionPreference':'Weighted',"
     "'replicaSchedulingType':'Divided'},'clusterTolerations':[]}}",
     true},
    {"other clusters", "{'placement':{'clusterAffinity':{'clusterNames':['m1']}}}",
     "{'placement':{'clusterAffinity':{'clusterNames':['m2']}}}", false},
    {"no conflict resolution and Abort", "{}", "{'conflictResolution':'Abort'}", true},
    {"an empty conflict resolution", "{'conflictResolution':''}", "{'conflictResolution':'Abort'}",
     true},
    {"Overwrite", "{}", "{'conflictResolution':'Overwrite'}", false},
    {"no scheduler and the default", "{}", "{'schedulerName':'default-scheduler'}", true},
    {"another scheduler", "{}", "{'schedulerName':'mine'}", false},
    {"absent is not false", "{}", "{'preserveResourcesOnDeletion':false}", false},
    {"null is absent", "{}", "{'preserveResourcesOnDeletion':null}", true},
    {"propagateDeps false and absent", "{'propagateDeps':false}", "{}", true},
    {"propagateDeps true and absent", "{'propagateDeps':true}", "{}", false},
    {"suspension of scheduling is ignored", "{'suspension':{'dispatching':true}}",
     "{'suspension':{'dispatching':true,'scheduling':true}}", true},
    {"suspension of dispatching", "{'suspension':{'scheduling':true}}",
     "{'suspension':{'dispatching':true,'scheduling':true}}", false},
    {"failover with and without defaults", "{'failover':{'cluster':{}}}",
     "{'failover':{'cluster':{'purgeMode':'Gracefully'}}}", true},
};

TEST_ROWS(propagation_fields_are_equal_or_not, pairs, name)
{
    const struct pair_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json_a = json_of(c->a);
    CLEANUP(json_cleanup) cJSON *json_b = json_of(c->b);
    struct propagation a;
    struct propagation b;

    reading_init(&r);
    propagation_decode(&r.decode, json_a, &a);
    propagation_decode(&r.decode, json_b, &b);
    assert_false(r.decode.failed);
    assert_int_equal(a.placement == b.placement && a.failover == b.failover &&
                         a.suspension == b.suspension && a.scheduler_name == b.scheduler_name &&
                         a.conflict_resolution == b.conflict_resolution &&
                         a.preserve == b.preserve && a.propagate_deps == b.propagate_deps,
                     c->equal);
    propagation_release(r.strings, &a);
    propagation_release(r.strings, &b);
}

static struct switch_case {
    const char *name;
    const char *spec;
    const char *switches; /* Digits of lazy, preempts and propagate_deps. */
} switches[] = {
    {"Lazy", "{'activationPreference':'Lazy'}", "100"},
    {"lazy in lower case is not Lazy", "{'activationPreference':'lazy'}", "000"},
    {"Never", "{'preemption':'Never'}", "000"},
    {"Always", "{'preemption':'Always'}", "010"},
    {"association is ignored", "{'association':true}", "000"},
    {"a selected ServiceImport enables propagateDeps",
     "{'resourceSelectors':[{'apiVersion':'v1','kind':'Pod'},"
     "{'apiVersion':'multicluster.x-k8s.io/v1alpha1','kind':'ServiceImport'}]}",
     "001"},
    {"a ServiceImport of another version",
     "{'resourceSelectors':[{'apiVersion':'multicluster.x-k8s.io/v1beta1',"
     "'kind':'ServiceImport'},{'kind':'ServiceImport'},{}]}",
     "000"},
    {"the lowest priority", "{'priority':-2147483648}", "000"},
};

TEST_ROWS(switches_are_decoded, switches, name)
{
    const struct switch_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(POLICY("{}"));
    char found[8];

    json_put(json, "spec", json_of(c->spec));
    reading_init(&r);

    struct policy *p = policy_decode(&r.decode, json);

    assert_non_null(p);
    snprintf(found, sizeof(found), "%d%d%d", p->lazy, p->preempts, p->propagation->propagate_deps);
    assert_string_equal(found, c->switches);
    free_policy(r.strings, &p);
}

TEST(undefined_conflict_resolution_is_rejected)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(POLICY("{'conflictResolution':'overwrite'}"));

    reading_init(&r);
    assert_null(policy_decode(&r.decode, json));
    assert_string_equal(r.err.text, "'spec.conflictResolution' must be Abort or Overwrite");
}

TEST(priority_above_32_bits_is_rejected)
{
    static const char *const specs[] = {"{'priority':2147483648}", "{'priority':-2147483649}"};

    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        CLEANUP(reading_release) struct reading r;
        CLEANUP(json_cleanup) cJSON *json = json_of(POLICY("{}"));

        json_put(json, "spec", json_of(specs[i]));
        reading_init(&r);
        assert_null(policy_decode(&r.decode, json));
        assert_string_equal(r.err.text, "'spec.priority' must fit in 32 bits");
    }
}
