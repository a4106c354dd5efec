/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/admission/admission.h"

#include "tests/unit/suite.h"

/* Webhooks of kinds that are no policies: rows have an object and the first finding. */

#define OBJECT(group, kind, spec)                                                                  \
    "{\"apiVersion\":\"" group ".karmada.io/v1alpha1\",\"kind\":\"" kind                           \
    "\",\"metadata\":{\"name\":\"x\",\"namespace\":\"a\"},\"spec\":{" spec "}}"
#define QUOTA(spec)  OBJECT("policy", "FederatedResourceQuota", spec)
#define TAINTS(list) OBJECT("policy", "ClusterTaintPolicy", "\"taints\":[" list "]")
#define TARGET(version, kind)                                                                      \
    "\"scaleTargetRef\":{\"apiVersion\":\"" version "\",\"kind\":\"" kind "\",\"name\":\"web\"}"
#define HPA(spec)      OBJECT("autoscaling", "FederatedHPA", TARGET("apps/v1", "Deployment") "," spec)
#define METRIC(metric) HPA("\"maxReplicas\":3,\"metrics\":[{" metric "}]")
#define SCALING(rules) HPA("\"maxReplicas\":3,\"behavior\":{\"scaleDown\":{" rules "}}")
#define CRON_OF(target, rules)                                                                     \
    OBJECT("autoscaling", "CronFederatedHPA", target ",\"rules\":[" rules "]")
#define CRON(rules)                CRON_OF(TARGET("apps/v1", "Deployment"), rules)
#define CRON_OF_HPA(rules)         CRON_OF(TARGET("autoscaling.karmada.io/v1alpha1", "FederatedHPA"), rules)
#define RULE(name, schedule, more) "{\"name\":\"" name "\",\"schedule\":\"" schedule "\"" more "}"
#define SCHEDULE(text)             CRON(RULE("r", text, ",\"targetReplicas\":1"))
#define SERVICE(spec)              OBJECT("networking", "MultiClusterService", spec)
#define CLUSTER_NAMED(name, spec)                                                                  \
    "{\"apiVersion\":\"cluster.karmada.io/"                                                        \
    "v1alpha1\",\"kind\":\"Cluster\",\"metadata\":{\"name\":\"" name "\"},\"spec\":{" spec "}}"
#define CLUSTER(spec) CLUSTER_NAMED("m1", "\"syncMode\":\"Push\"," spec)
#define CROSS         "\"types\":[\"CrossCluster\"]"

static const struct kind_case {
    const char *title;
    const char *json;
    const char *first; /* NULL: the object is accepted. */
} kind_cases[] = {
    {"a quota", QUOTA("\"overall\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}"), NULL},
    {"a quota that is assigned in full",
     QUOTA(
         "\"overall\":{\"cpu\":\"300m\"},\"staticAssignments\":[{\"clusterName\":\"m1\",\"hard\":{"
         "\"cpu\":\"100m\"}},{\"clusterName\":\"m2\",\"hard\":{\"cpu\":\"200m\"}}]"),
     NULL},
    {"a quota below its assignments",
     QUOTA("\"overall\":{\"cpu\":1},\"staticAssignments\":[{\"clusterName\":\"m1\",\"hard\":{"
           "\"cpu\":\"600m\"}},{\"clusterName\":\"m2\",\"hard\":{\"cpu\":\"600m\"}}]"),
     "spec.overall.cpu must be at least the sum of staticAssignments"},
    {"an assignment of another resource",
     QUOTA("\"overall\":{\"cpu\":1},\"staticAssignments\":[{\"clusterName\":\"m1\",\"hard\":{"
           "\"memory\":\"1Gi\"}}]"),
     "spec.staticAssignments[0].hard.memory needs an amount in spec.overall"},
    {"an assignment to an impossible Cluster",
     QUOTA("\"overall\":{},\"staticAssignments\":[{\"clusterName\":\"M_1\",\"hard\":{}}]"),
     "spec.staticAssignments[0].clusterName \"M_1\" is no valid name of a Cluster"},
    {"an assignment to a Cluster with a long name",
     QUOTA("\"overall\":{},\"staticAssignments\":[{\"clusterName\":"
           "\"mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm\",\"hard\":{}}]"),
     "spec.staticAssignments[0].clusterName must have at most 48 characters"},
    {"a quota of an unknown resource", QUOTA("\"overall\":{\"gpu\":1}"),
     "spec.overall.gpu is no resource of a quota, such as cpu, requests.memory or example.com/gpu"},
    {"a quota of an extended resource", QUOTA("\"overall\":{\"nvidia.com/gpu\":1}"), NULL},
    {"a negative quota", QUOTA("\"overall\":{\"cpu\":\"-1\"}"),
     "spec.overall.cpu must not be negative; spec.overall.cpu must be at least the sum of "
     "staticAssignments"},
    {"a null, which the API server drops", QUOTA("\"overall\":{\"cpu\":null}"), NULL},
    {"a quota that is no quantity", QUOTA("\"overall\":{\"cpu\":\"many\"}"),
     "spec.overall.cpu must be a quantity such as 500m or 1.5Gi"},

    {"two effects of one key",
     TAINTS("{\"key\":\"k\",\"effect\":\"NoSchedule\"},{\"key\":\"k\",\"effect\":\"NoExecute\"}"),
     "there is no kind ClusterTaintPolicy in policy.karmada.io/v1alpha1"},
    {"one effect of one key twice",
     TAINTS("{\"key\":\"k\",\"effect\":\"NoSchedule\",\"value\":\"1\"},{\"key\":\"j\",\"effect\":"
            "\"NoSchedule\"},{\"key\":\"k\",\"effect\":\"NoSchedule\",\"value\":\"2\"}"),
     "there is no kind ClusterTaintPolicy in policy.karmada.io/v1alpha1; spec.taints[2] has the "
     "key and effect of another taint"},

    {"a FederatedHPA",
     HPA("\"minReplicas\":1,\"maxReplicas\":3,\"metrics\":[{\"type\":\"Resource\",\"resource\":{"
         "\"name\":\"cpu\",\"target\":{\"type\":\"Utilization\",\"averageUtilization\":60}}}],"
         "\"behavior\":{\"scaleUp\":{\"selectPolicy\":\"Max\",\"policies\":[{\"type\":\"Percent\","
         "\"value\":10,\"periodSeconds\":60}]}}"),
     NULL},
    {"no replicas at the least", HPA("\"minReplicas\":0,\"maxReplicas\":3"),
     "spec.minReplicas must be at least 1"},
    {"no replicas at the most", HPA("\"maxReplicas\":0"), "spec.maxReplicas must be at least 1"},
    {"more at the least than at the most", HPA("\"minReplicas\":5,\"maxReplicas\":3"),
     "spec.maxReplicas must be at least minReplicas"},
    {"a reference without name",
     OBJECT("autoscaling", "FederatedHPA",
            "\"maxReplicas\":1,\"scaleTargetRef\":{\"kind\":\"Deployment\",\"name\":\"\"}"),
     "spec.scaleTargetRef.name is required"},
    {"an external metric",
     METRIC("\"type\":\"External\",\"external\":{\"metric\":{\"name\":\"m\"},\"target\":{\"type\":"
            "\"Value\",\"value\":1}}"),
     "spec.metrics[0].type must be Object, Pods, Resource or ContainerResource, not \"External\""},
    {"a metric of another type",
     METRIC("\"type\":\"Pods\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":\"Utilization\","
            "\"averageUtilization\":60}}"),
     "spec.metrics[0].pods is required with type Pods; spec.metrics[0].resource must not be set "
     "with type Pods"},
    {"a metric without target value",
     METRIC("\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":"
            "\"Utilization\"}}"),
     "spec.metrics[0].resource.target must have either averageUtilization or averageValue"},
    {"a window above an hour", SCALING("\"stabilizationWindowSeconds\":3601"),
     "spec.behavior.scaleDown.stabilizationWindowSeconds must be at most 3600"},
    {"an unknown selection", SCALING("\"selectPolicy\":\"Mean\""),
     "spec.behavior.scaleDown.selectPolicy must be Max, Min or Disabled, not \"Mean\""},
    {"an unknown type of scaling",
     SCALING("\"policies\":[{\"type\":\"Replicas\",\"value\":0,\"periodSeconds\":1801}]"),
     "spec.behavior.scaleDown.policies[0].type must be Pods or Percent, not \"Replicas\"; "
     "spec.behavior.scaleDown.policies[0].value must be at least 1; "
     "spec.behavior.scaleDown.policies[0].periodSeconds must be at most 1800"},

    {"a schedule", SCHEDULE("*/5 8-18 * * MON-FRI"), NULL},
    {"a tag", SCHEDULE("@daily"), NULL},
    {"a schedule with seconds", SCHEDULE("0 0 8 * * *"), NULL},
    {"a schedule of four fields", SCHEDULE("0 8 * *"),
     "spec.rules[0].schedule \"0 8 * *\" is no cron schedule"},
    {"a schedule in words", SCHEDULE("every day at 8:00"),
     "spec.rules[0].schedule \"every day at 8:00\" is no cron schedule"},
    {"minute 60", SCHEDULE("60 8 * * *"),
     "spec.rules[0].schedule \"60 8 * * *\" is no cron schedule"},
    {"two rules of one name",
     CRON(RULE("r", "* * * * *", ",\"targetReplicas\":0") "," RULE("r", "* * * * *",
                                                                   ",\"targetReplicas\":1")),
     "spec.rules has two rules with name \"r\""},
    {"a rule without replicas", CRON(RULE("r", "* * * * *", "")),
     "spec.rules[0].targetReplicas is required, unless the rule scales a FederatedHPA"},
    {"negative replicas", CRON(RULE("r", "* * * * *", ",\"targetReplicas\":-1")),
     "spec.rules[0].targetReplicas must be at least 0"},
    {"a rule that scales a FederatedHPA",
     CRON_OF_HPA(RULE("r", "* * * * *", ",\"targetMaxReplicas\":2")), NULL},
    {"a rule that scales a FederatedHPA to nothing", CRON_OF_HPA(RULE("r", "* * * * *", "")),
     "spec.rules[0].targetMaxReplicas or targetMinReplicas is required to scale a FederatedHPA"},
    {"more replicas of a FederatedHPA at the least",
     CRON_OF_HPA(RULE("r", "* * * * *", ",\"targetMinReplicas\":3,\"targetMaxReplicas\":2")),
     "spec.rules[0].targetMinReplicas must be at most targetMaxReplicas"},
    {"another kind of the group",
     CRON_OF(TARGET("autoscaling.karmada.io/v1alpha1", "CronFederatedHPA"),
             RULE("r", "* * * * *", "")),
     "spec.scaleTargetRef.kind must be FederatedHPA, not \"CronFederatedHPA\""},

    {"a service",
     SERVICE(CROSS ",\"ports\":[{\"name\":\"http\",\"port\":80}],\"providerClusters\":[{\"name\":"
                   "\"m1\"}]"),
     NULL},
    {"an unknown type", SERVICE("\"types\":[\"NodePort\"]"),
     "spec.types[0] must be CrossCluster or LoadBalancer, not \"NodePort\""},
    {"two types", SERVICE("\"types\":[\"CrossCluster\",\"LoadBalancer\"]"),
     "spec.types must not have more than one type"},
    {"two ports of one name",
     SERVICE(CROSS ",\"ports\":[{\"name\":\"a\",\"port\":1},{\"name\":\"a\",\"port\":2}]"),
     "spec.ports has two ports with name \"a\""},
    {"port 0, and a name in capitals", SERVICE(CROSS ",\"ports\":[{\"name\":\"HTTP\",\"port\":0}]"),
     "spec.ports[0].name \"HTTP\" is no valid name of a port; spec.ports[0].port must be at least "
     "1"},
    {"an impossible consumer", SERVICE(CROSS ",\"consumerClusters\":[{\"name\":\"m.1\"}]"),
     "spec.consumerClusters[0].name \"m.1\" is no valid name of a Cluster"},

    {"a Cluster",
     CLUSTER("\"region\":\"eu\",\"zones\":[\"a\",\"b\"],\"taints\":[{\"key\":\"k\","
             "\"value\":\"v\",\"effect\":\"NoExecute\"}]"),
     NULL},
    {"a Cluster without syncMode", CLUSTER_NAMED("m1", "\"region\":\"eu\""),
     "spec.syncMode is required: Push or Pull"},
    {"another syncMode", CLUSTER_NAMED("m1", "\"syncMode\":\"push\""),
     "spec.syncMode must be Push or Pull, not \"push\""},
    {"a Cluster with dots in its name", CLUSTER_NAMED("m.1", "\"syncMode\":\"Push\""),
     "metadata.name \"m.1\" is no valid name of a Cluster"},
    {"zone and zones", CLUSTER("\"zone\":\"a\",\"zones\":[\"a\"]"),
     "spec.zones must not be set with zone"},
    {"a region and a zone with spaces",
     CLUSTER("\"region\":\"the west\",\"zones\":[\"a\",\"b c\"]"),
     "spec.region \"the west\" is no valid label value; spec.zones[1] \"b c\" is no valid label "
     "value"},
    {"a taint with another effect",
     CLUSTER("\"taints\":[{\"key\":\"k\",\"effect\":\"PreferNoSchedule\"}]"),
     "spec.taints[0].effect must be NoSchedule or NoExecute, not \"PreferNoSchedule\""},
    {"a taint twice",
     CLUSTER("\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"},{\"key\":\"k\",\"value\":\"v\","
             "\"effect\":\"NoExecute\"}]"),
     "spec.taints[1] has the key and effect of another taint"},
    {"a reference to a Secret without namespace", CLUSTER("\"secretRef\":{\"name\":\"s\"}"),
     "spec.secretRef.namespace is required"},
};

TEST_ROWS(the_webhooks_of_other_kinds_refuse, kind_cases, title)
{
    const struct kind_case *c = *state;
    const struct release_range all = {RELEASE_1_13, RELEASE_1_19, RELEASE_GIVEN, false};
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    cJSON *object = cJSON_Parse(c->json);
    struct admission *a;

    assert_non_null(object);
    a = admission_review(object);
    admission_add_text(a, all, false, &text);
    assert_string_equal(text.data ? text.data : "", c->first ? c->first : "");
    free(a);
    cJSON_Delete(object);
}

/* A hostile object must not keep the exporter busy: the test would take minutes. */
TEST(long_lists_are_reviewed_in_time)
{
    enum { COUNT = 60000 };
    cJSON *quota = cJSON_Parse(QUOTA("\"overall\":{},\"staticAssignments\":[{\"clusterName\":\"m\","
                                     "\"hard\":{}}]"));
    cJSON *policy = cJSON_Parse(TAINTS(""));
    cJSON *spec = cJSON_GetObjectItem(quota, "spec"), *taints;
    cJSON *hard = cJSON_GetObjectItem(
        cJSON_GetArrayItem(cJSON_GetObjectItem(spec, "staticAssignments"), 0), "hard");
    char name[32];

    taints = cJSON_GetObjectItem(cJSON_GetObjectItem(policy, "spec"), "taints");
    for (int i = 0; i < COUNT; i++) {
        cJSON *taint = cJSON_CreateObject();

        snprintf(name, sizeof(name), "example.com/r%d", i);
        cJSON_AddItemToObject(hard, name, cJSON_CreateNumber(1));
        cJSON_AddItemToObject(cJSON_GetObjectItem(spec, "overall"), name, cJSON_CreateNumber(1));
        cJSON_AddStringToObject(taint, "key", name);
        cJSON_AddStringToObject(taint, "effect", "NoSchedule");
        cJSON_AddItemToArray(taints, taint);
    }
    free(admission_review(quota));
    free(admission_review(policy));
    cJSON_Delete(quota);
    cJSON_Delete(policy);
}
