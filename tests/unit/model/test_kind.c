/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/kind.h"

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

static struct kind_case {
    const char *api_version;
    const char *kind;
    enum object_class class;
    bool cluster_scoped;
    const char *read_as;
} kinds[] = {
    {"policy.karmada.io/v1alpha1", "PropagationPolicy", CLASS_POLICY, false,
     "policy.karmada.io/v1alpha1"},
    {"policy.karmada.io/v1beta1", "PropagationPolicy", CLASS_POLICY, false,
     "policy.karmada.io/v1alpha1"},
    {"policy.karmada.io/v1alpha1", "ClusterPropagationPolicy", CLASS_POLICY, true,
     "policy.karmada.io/v1alpha1"},
    {"policy.karmada.io/v1alpha1", "OverridePolicy", CLASS_OVERRIDE, false,
     "policy.karmada.io/v1alpha1"},
    {"policy.karmada.io/v1alpha1", "ClusterOverridePolicy", CLASS_OVERRIDE, true,
     "policy.karmada.io/v1alpha1"},
    {"work.karmada.io/v1alpha1", "ResourceBinding", CLASS_BINDING, false,
     "work.karmada.io/v1alpha2"},
    {"work.karmada.io/v1alpha2", "ResourceBinding", CLASS_BINDING, false,
     "work.karmada.io/v1alpha2"},
    {"work.karmada.io/v1alpha2", "ClusterResourceBinding", CLASS_BINDING, true,
     "work.karmada.io/v1alpha2"},
    {"cluster.karmada.io/v1alpha1", "Cluster", CLASS_CLUSTER, true, "cluster.karmada.io/v1alpha1"},
    {"v1", "Event", CLASS_EVENT, false, "v1"},
    {"events.k8s.io/v1", "Event", CLASS_EVENT, false, "v1"},
    {"cnrm.cloud.google.com/v1", "Namespace", CLASS_SETTING, true, "cnrm.cloud.google.com/v1"},
    {"cnrm.cloud.google.com/v1", "ConfigMap", CLASS_SETTING, false, "cnrm.cloud.google.com/v1"},
    {"policy.karmada.io/v1alpha1", "PriorityClass", CLASS_SETTING, true,
     "policy.karmada.io/v1alpha1"},
    {"scheduling.k8s.io/v1", "PriorityClass", CLASS_TEMPLATE, false, NULL},
    {"pubsub.cnrm.cloud.google.com/v1beta1", "PubSubTopic", CLASS_TEMPLATE, false, NULL},

    {"policy.karmada.io/v1alpha1", "FederatedResourceQuota", CLASS_QUOTA, false,
     "policy.karmada.io/v1alpha1"},
    {"policy.karmada.io/v1alpha1", "propagationpolicy", CLASS_OTHER, false, NULL},
    {"work.karmada.io/v1alpha1", "Work", CLASS_WORK, false, "work.karmada.io/v1alpha1"},
    {"work.karmada.io/v1alpha1", "PropagationPolicy", CLASS_OTHER, false, NULL},
    {"cluster.karmada.io/v1alpha1", "Anything", CLASS_OTHER, false, NULL},
    {"config.karmada.io/v1alpha1", "ResourceInterpreterCustomization", CLASS_OTHER, false, NULL},
    {"networking.karmada.io/v1alpha1", "MultiClusterService", CLASS_OTHER, false, NULL},
    {"autoscaling.karmada.io/v1alpha1", "FederatedHPA", CLASS_OTHER, false,
     "autoscaling.karmada.io/v1alpha1"},
    {"remedy.karmada.io/v1alpha1", "Remedy", CLASS_OTHER, false, NULL},
    {"apps.karmada.io/v1alpha1", "WorkloadRebalancer", CLASS_OTHER, false, NULL},

    {"v1", "ConfigMap", CLASS_TEMPLATE, false, NULL},
    {"v1", "PropagationPolicy", CLASS_TEMPLATE, false, NULL},
    {"apps/v1", "Deployment", CLASS_TEMPLATE, false, NULL},
    {"apps/v1", "Event", CLASS_TEMPLATE, false, NULL},
    {"search.karmada.io/v1alpha1", "ResourceRegistry", CLASS_TEMPLATE, false, NULL},
    {"example.policy.karmada.io/v1", "PropagationPolicy", CLASS_TEMPLATE, false, NULL},
    {"karmada.io/v1", "PropagationPolicy", CLASS_TEMPLATE, false, NULL},
    {"policy.karmada.io.example/v1", "PropagationPolicy", CLASS_TEMPLATE, false, NULL},
    {"cluster.x-k8s.io/v1", "Cluster", CLASS_TEMPLATE, false, NULL},
    {"", "", CLASS_TEMPLATE, false, NULL},
};

TEST(kind_of_returns_the_class_and_scope)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct kind_def *row = kind_of(kinds[i].api_version, kinds[i].kind);

        if (row->class != kinds[i].class || row->cluster_scoped != kinds[i].cluster_scoped)
            fail_msg("%s %s", kinds[i].api_version, kinds[i].kind);
        assert_text(row->api_version, kinds[i].read_as);
        assert_true(row->decode && row->release);
        row->release(NULL, NULL);
    }
}

/* Without this test, an incomplete row could stop the watch of a kind without an error. */
TEST(each_row_defines_its_watch_and_callbacks)
{
    size_t count;
    const struct kind_def *table = kind_table(&count);

    for (const struct kind_def *def = table; def < table + count; def++) {
        bool watched =
            def->watch.when == WATCH_ALWAYS || def->watch.when == WATCH_WITH_CONNECTOR ||
            def->watch.when == WATCH_WITH_PRIORITY || def->watch.when == WATCH_WITH_WORKS ||
            def->watch.when == WATCH_WITH_OVERRIDES || def->watch.when == WATCH_IF_SERVED;

        if (def->watch.when == 0)
            fail_msg("%s of '%s' does not say when it is watched", def->name, def->group);
        if (watched && (!def->watch.resource || !*def->watch.resource))
            fail_msg("%s of '%s' is watched and has no resource", def->name, def->group);
        if (!def->decode || !def->release)
            fail_msg("%s of '%s' is not decoded or not released", def->name, def->group);
    }
    assert_int_equal(kind_of("apps/v1", "Deployment")->watch.when, WATCH_IF_SELECTED);
    assert_int_equal(kind_of("work.karmada.io/v1alpha1", "Work")->watch.when, WATCH_WITH_WORKS);
    assert_int_equal(kind_of("remedy.karmada.io/v1alpha1", "Remedy")->watch.when, WATCH_NEVER_USED);
}

TEST(kinds_of_both_scopes_are_found_by_scope)
{
    assert_string_equal(kind_of_policies(false)->name, "PropagationPolicy");
    assert_string_equal(kind_of_policies(true)->name, "ClusterPropagationPolicy");
    assert_string_equal(kind_of_bindings(false)->name, "ResourceBinding");
    assert_string_equal(kind_of_bindings(true)->name, "ClusterResourceBinding");
    assert_string_equal(kind_of_overrides(false)->name, "OverridePolicy");
    assert_string_equal(kind_of_overrides(true)->name, "ClusterOverridePolicy");
    assert_true(kind_of_policies(true)->cluster_scoped && !kind_of_policies(false)->cluster_scoped);
}

TEST(api_group_ends_at_the_slash)
{
    assert_int_equal(api_group_len("v1"), 0);
    assert_int_equal(api_group_len("apps/v1"), 4);
    assert_int_equal(api_group_len(""), 0);
}

/* Objects with elements in their lists, so that a test can replace each of these elements. */
#define METADATA                                                                                   \
    "'metadata':{'name':'x','namespace':'test','creationTimestamp':'2026-01-31T12:00:00Z',"        \
    "'labels':{'app':'a','propagationpolicy.karmada.io/permanent-id':'id'},"                       \
    "'annotations':{'propagationpolicy.karmada.io/namespace':'test',"                              \
    "'propagationpolicy.karmada.io/name':'pp'},"                                                   \
    "'managedFields':[{'time':'2026-01-31T12:00:00Z','fieldsV1':{'f:spec':{}}}]}"

static const char policy_json[] =
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy'," METADATA
    ",'spec':{'resourceSelectors':[{'apiVersion':'v1','kind':'Pod','labelSelector':"
    "{'matchLabels':{'a':'b'},'matchExpressions':[{'key':'a','operator':'In','values':['b']}]}}],"
    "'excludedResources':[{'namespace':'n'}],'dependentOverrides':['o'],'placement':{},"
    "'suspension':{'dispatching':false}}}";

static const char binding_json[] =
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding'," METADATA
    ",'spec':{'resource':{'apiVersion':'v1','kind':'Pod','name':'a'},'replicas':1,"
    "'replicaRequirements':{'resourceRequest':{'cpu':'1'}},'clusters':[{'name':'m'}],"
    "'requiredBy':[{'name':'b'}],'components':[]}}";

static const char cluster_json[] =
    "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster'," METADATA
    ",'spec':{'zones':['z'],'taints':[{'key':'k'}]},'status':{'conditions':[{'type':'Ready'}],"
    "'resourceSummary':{'allocatable':{'cpu':'1'},'allocated':{'cpu':'1'}}}}";

static const char event_json[] = "{'apiVersion':'v1','kind':'Event'," METADATA
                                 ",'reason':'DependencyPolicyConflict','involvedObject':{},"
                                 "'regarding':{},'series':{}}";

static const char deployment_json[] =
    "{'apiVersion':'apps/v1','kind':'Deployment'," METADATA ",'spec':{'template':{'spec':{}}}}";

static const char job_json[] = "{'apiVersion':'batch/v1','kind':'Job'," METADATA ",'spec':{}}";

static const char work_json[] = "{'apiVersion':'work.karmada.io/v1alpha1','kind':'Work'," METADATA
                                ",'spec':{'workload':{'manifests':[{'metadata':{}}]}}}";

static const char override_event_json[] =
    "{'apiVersion':'v1','kind':'Event'," METADATA ",'reason':'ApplyOverridePolicyFailed',"
    "'message':'Apply override policy(a/b) for cluster(m) failed.',"
    "'involvedObject':{'apiVersion':'apps/v1','kind':'Deployment','name':'x'},'series':{}}";

static const char override_json[] =
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'OverridePolicy'," METADATA
    ",'spec':{'resourceSelectors':[{'apiVersion':'v1','kind':'Pod'}],'overrideRules':[{"
    "'targetCluster':{'labelSelector':{},'fieldSelector':{'matchExpressions':[{'key':'region',"
    "'operator':'Exists'}]}},'overriders':{'plaintext':[{'path':'/a'}],'fieldOverrider':[],"
    "'imageOverrider':[{'predicate':{'path':'/a'}}],'labelsOverrider':[]}}]}}";

static const char old_override_json[] =
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'ClusterOverridePolicy'," METADATA
    ",'spec':{'targetCluster':{},'overriders':{}}}";

static struct wrong_case {
    const char *json;
    const char *path;
    const char *value;
} wrong[] = {
    {policy_json, "metadata", "[]"},
    {policy_json, "metadata.labels", "'x'"},
    {policy_json, "metadata.generation", "'1'"},
    {policy_json, "metadata.generation", "1.5"},
    {policy_json, "metadata.creationTimestamp", "1"},
    {policy_json, "metadata.creationTimestamp", "'2026-13-01T00:00:00Z'"},
    {policy_json, "metadata.deletionTimestamp", "true"},
    {policy_json, "metadata.managedFields", "{}"},
    {policy_json, "metadata.managedFields[0].time", "'now'"},
    {policy_json, "spec", "'x'"},
    {policy_json, "spec.resourceSelectors", "{}"},
    {policy_json, "spec.resourceSelectors[0]", "'Pod'"},
    {policy_json, "spec.resourceSelectors[0].apiVersion", "1"},
    {policy_json, "spec.resourceSelectors[0].kind", "[]"},
    {policy_json, "spec.resourceSelectors[0].namespace", "{}"},
    {policy_json, "spec.resourceSelectors[0].name", "5"},
    {policy_json, "spec.resourceSelectors[0].labelSelector", "[]"},
    {policy_json, "spec.resourceSelectors[0].labelSelector.matchLabels", "[]"},
    {policy_json, "spec.resourceSelectors[0].labelSelector.matchLabels.a", "true"},
    {policy_json, "spec.resourceSelectors[0].labelSelector.matchExpressions", "{}"},
    {policy_json, "spec.resourceSelectors[0].labelSelector.matchExpressions[0]", "1"},
    {policy_json, "spec.resourceSelectors[0].labelSelector.matchExpressions[0].key", "1"},
    {policy_json, "spec.resourceSelectors[0].labelSelector.matchExpressions[0].operator", "1"},
    {policy_json, "spec.resourceSelectors[0].labelSelector.matchExpressions[0].values", "'b'"},
    {policy_json, "spec.excludedResources", "'x'"},
    {policy_json, "spec.excludedResources[0]", "'x'"},
    {policy_json, "spec.excludedResources[0].namespace", "1"},
    {policy_json, "spec.dependentOverrides", "'o'"},
    {policy_json, "spec.dependentOverrides", "[1]"},
    {policy_json, "spec.placement", "[]"},
    {policy_json, "spec.failover", "'x'"},
    {policy_json, "spec.suspension", "true"},
    {policy_json, "spec.suspension.dispatching", "'true'"},
    {policy_json, "spec.suspension.dispatchingOnClusters", "[]"},
    {policy_json, "spec.schedulePriority", "1"},
    {policy_json, "spec.schedulerName", "1"},
    {policy_json, "spec.conflictResolution", "1"},
    {policy_json, "spec.conflictResolution", "'Retry'"},
    {policy_json, "spec.preserveResourcesOnDeletion", "'false'"},
    {policy_json, "spec.propagateDeps", "1"},
    {policy_json, "spec.priority", "'1'"},
    {policy_json, "spec.priority", "4294967296"},
    {policy_json, "spec.preemption", "true"},
    {policy_json, "spec.activationPreference", "{}"},

    {binding_json, "metadata", "1"},
    {binding_json, "metadata.labels", "[]"},
    {binding_json, "metadata.annotations", "[]"},
    {binding_json, "spec", "[]"},
    {binding_json, "spec.resource", "'x'"},
    {binding_json, "spec.resource.apiVersion", "1"},
    {binding_json, "spec.resource.kind", "1"},
    {binding_json, "spec.resource.namespace", "1"},
    {binding_json, "spec.resource.name", "1"},
    {binding_json, "spec.resource.uid", "1"},
    {binding_json, "spec.replicas", "'1'"},
    {binding_json, "spec.replicas", "-1"},
    {binding_json, "spec.replicaRequirements", "[]"},
    {binding_json, "spec.replicaRequirements.resourceRequest", "[]"},
    {binding_json, "spec.replicaRequirements.resourceRequest.cpu", "'x'"},
    {binding_json, "spec.replicaRequirements.resourceRequest.cpu", "true"},
    {binding_json, "spec.clusters", "{}"},
    {binding_json, "spec.clusters[0]", "'m'"},
    {binding_json, "spec.clusters[0].name", "1"},
    {binding_json, "spec.clusters[0].replicas", "'1'"},
    {binding_json, "spec.requiredBy", "{}"},
    {binding_json, "spec.requiredBy[0]", "[]"},
    {binding_json, "spec.requiredBy[0].name", "1"},
    {binding_json, "spec.requiredBy[0].namespace", "1"},
    {binding_json, "spec.components", "{}"},
    {binding_json, "spec.placement", "'x'"},
    {binding_json, "spec.suspension", "[]"},
    {binding_json, "spec.conflictResolution", "'retry'"},
    {binding_json, "spec.preserveResourcesOnDeletion", "0"},

    {cluster_json, "metadata.labels", "{'a':1}"},
    {cluster_json, "metadata.deletionTimestamp", "'x'"},
    {cluster_json, "spec", "1"},
    {cluster_json, "spec.provider", "1"},
    {cluster_json, "spec.region", "[]"},
    {cluster_json, "spec.zone", "1"},
    {cluster_json, "spec.zones", "'z'"},
    {cluster_json, "spec.zones", "[{}]"},
    {cluster_json, "spec.taints", "{}"},
    {cluster_json, "spec.taints[0]", "'k'"},
    {cluster_json, "spec.taints[0].key", "1"},
    {cluster_json, "spec.taints[0].value", "1"},
    {cluster_json, "spec.taints[0].effect", "1"},
    {cluster_json, "status", "'x'"},
    {cluster_json, "status.conditions", "{}"},
    {cluster_json, "status.conditions[0]", "'Ready'"},
    {cluster_json, "status.conditions[0].type", "1"},
    {cluster_json, "status.conditions[0].status", "true"},
    {cluster_json, "status.resourceSummary", "[]"},
    {cluster_json, "status.resourceSummary.allocatable", "[]"},
    {cluster_json, "status.resourceSummary.allocatable.cpu", "'much'"},
    {cluster_json, "status.resourceSummary.allocated", "1"},
    {cluster_json, "status.resourceSummary.allocated.cpu", "'-1'"},

    {event_json, "reason", "1"},
    {event_json, "message", "1"},
    {event_json, "note", "{}"},
    {event_json, "count", "'1'"},
    {event_json, "deprecatedCount", "[]"},
    {event_json, "series", "[]"},
    {event_json, "series.count", "'1'"},
    {event_json, "involvedObject", "[]"},
    {event_json, "involvedObject.kind", "1"},
    {event_json, "involvedObject.namespace", "1"},
    {event_json, "involvedObject.name", "1"},
    {event_json, "regarding", "1"},
    {event_json, "metadata.uid", "1"},

    {override_event_json, "message", "1"},
    {override_event_json, "involvedObject", "[]"},
    {override_event_json, "involvedObject.apiVersion", "1"},
    {override_event_json, "involvedObject.kind", "1"},
    {override_event_json, "involvedObject.namespace", "1"},
    {override_event_json, "involvedObject.name", "1"},
    {override_event_json, "involvedObject.uid", "1"},
    {override_event_json, "lastTimestamp", "'yesterday'"},
    {override_event_json, "firstTimestamp", "1"},
    {override_event_json, "eventTime", "[]"},
    {override_event_json, "series", "[]"},
    {override_event_json, "series.lastObservedTime", "1"},
    {override_event_json, "metadata.creationTimestamp", "'x'"},

    {deployment_json, "metadata", "'x'"},
    {deployment_json, "metadata.labels", "[]"},
    {deployment_json, "metadata.labels", "{'a':1}"},
    {deployment_json, "metadata.annotations", "1"},
    {deployment_json, "metadata.creationTimestamp", "'x'"},
    {deployment_json, "metadata.deletionTimestamp", "1"},
    {deployment_json, "metadata.managedFields", "1"},
    {deployment_json, "spec", "[]"},
    {deployment_json, "spec.replicas", "'3'"},
    {deployment_json, "spec.replicas", "-1"},
    {deployment_json, "spec.template", "[]"},
    {deployment_json, "spec.template.spec", "[]"},
    {deployment_json, "spec.template.spec.volumes", "{}"},
    {job_json, "spec.parallelism", "'3'"},

    {work_json, "metadata", "[]"},
    {work_json, "metadata.labels", "1"},
    {work_json, "metadata.labels", "{'resourcebinding.karmada.io/permanent-id':1}"},
    {work_json, "metadata.annotations", "[]"},
    {work_json, "metadata.annotations", "{'resourcebinding.karmada.io/name':1}"},
    {work_json, "metadata.annotations", "{'resourcebinding.karmada.io/namespace':1}"},
    {work_json, "metadata.annotations", "{'clusterresourcebinding.karmada.io/name':[]}"},
    {work_json, "metadata.creationTimestamp", "'x'"},
    {work_json, "metadata.deletionTimestamp", "1"},
    {work_json, "spec", "[]"},
    {work_json, "spec.suspendDispatching", "'true'"},
    {work_json, "spec.workload", "[]"},
    {work_json, "spec.workload.manifests", "{}"},

    {override_json, "metadata", "[]"},
    {override_json, "metadata.creationTimestamp", "'x'"},
    {override_json, "spec", "[]"},
    {override_json, "spec.resourceSelectors", "{}"},
    {override_json, "spec.resourceSelectors[0].kind", "1"},
    {override_json, "spec.overrideRules", "{}"},
    {override_json, "spec.overrideRules[0]", "'x'"},
    {override_json, "spec.overrideRules[0].targetCluster", "'m1'"},
    {override_json, "spec.overrideRules[0].targetCluster.clusterNames", "'m1'"},
    {override_json, "spec.overrideRules[0].targetCluster.clusterNames", "[1]"},
    {override_json, "spec.overrideRules[0].targetCluster.exclude", "{}"},
    {override_json, "spec.overrideRules[0].targetCluster.labelSelector", "[]"},
    {override_json, "spec.overrideRules[0].targetCluster.labelSelector.matchLabels", "[]"},
    {override_json, "spec.overrideRules[0].targetCluster.fieldSelector", "[]"},
    {override_json, "spec.overrideRules[0].targetCluster.fieldSelector.matchExpressions", "{}"},
    {override_json, "spec.overrideRules[0].targetCluster.fieldSelector.matchExpressions[0].key",
     "1"},
    {override_json, "spec.overrideRules[0].overriders", "[]"},
    {override_json, "spec.overrideRules[0].overriders.plaintext", "{}"},
    {override_json, "spec.overrideRules[0].overriders.fieldOverrider", "'x'"},
    {override_json, "spec.overrideRules[0].overriders.imageOverrider", "1"},
    {override_json, "spec.overrideRules[0].overriders.labelsOverrider", "{}"},
    {old_override_json, "spec.targetCluster", "[]"},
    {old_override_json, "spec.targetCluster.clusterNames", "{}"},
    {old_override_json, "spec.overriders", "[]"},
    {old_override_json, "spec.overriders.plaintext", "true"},
    {override_json, "metadata.managedFields", "1"},
};

/* Appends `path` without the indexes of elements, as in error messages. */
static void append_without_indexes(const char *path, struct strbuf *out)
{
    for (; *path; path++) {
        bool is_index = path[0] >= '0' && path[0] <= '9';

        if (!is_index)
            strbuf_addc(out, *path);
    }
}

static void *decode_with(struct reading *r, const char *text, const struct wrong_case *change)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text);

    if (change)
        json_put(json, change->path, json_of(change->value));

    const struct kind_def *row =
        kind_of(json_str(json, "apiVersion", ""), json_str(json, "kind", ""));
    void *object = row->decode(&r->decode, json);

    row->release(r->strings, object);
    return object;
}

TEST_ROWS(wrong_type_is_rejected_at, wrong, path)
{
    const struct wrong_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(1024);

    reading_init(&r);
    append_without_indexes(c->path, &path);
    assert_null(decode_with(&r, c->json, c));
    if (!strstr(r.err.text, path.data))
        fail_msg("%s does not name %s", r.err.text, path.data);
}

TEST(valid_objects_are_decoded)
{
    static const char *const texts[] = {
        policy_json,
        binding_json,
        cluster_json,
        event_json,
        deployment_json,
        job_json,
        override_json,
        old_override_json,
        "{'apiVersion':'work.karmada.io/v1alpha1','kind':'Work'}",
        policy_json,
        binding_json,
        cluster_json,
        event_json,
        deployment_json,
        job_json,
        override_json,
        work_json,
        "{'apiVersion':'remedy.karmada.io/v1alpha1','kind':'Remedy'}",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        CLEANUP(reading_release) struct reading r;

        reading_init(&r);
        if (!decode_with(&r, texts[i], NULL))
            fail_msg("%s", r.err.text);
    }
}
