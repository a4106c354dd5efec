/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/admission/admission.h"

#include "tests/unit/suite.h"

/*
 * Rules of Karmada's validating webhooks: rows have the spec of a policy, the first release that
 * refuses it, and the first finding of that release. tests/conformance compares all verdicts with
 * those of Karmada.
 */

#define SELECTORS         "\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}]"
#define PLACED(placement) SELECTORS ",\"placement\":{" placement "}"
#define DYNAMIC                                                                                    \
    ",\"replicaScheduling\":{\"weightPreference\":{\"dynamicWeight\":\"AvailableReplicas\"}}"
#define APPLICATION(fields)                                                                        \
    SELECTORS                                                                                      \
    ",\"propagateDeps\":true,\"failover\":{\"application\":{\"decisionConditions\":{}," fields "}" \
    "}"
#define RULE(overriders) "\"overrideRules\":[{\"overriders\":{" overriders "}}]"

enum { ACCEPTED = RELEASE_COUNT }; /* No release refuses the policy. */

static const struct webhook_case {
    const char *title;
    const char *kind;
    const char *spec;
    unsigned since;
    unsigned until; /* Last release that refuses it. */
    const char *first;
} webhook_cases[] = {
#define PP  "PropagationPolicy"
#define CPP "ClusterPropagationPolicy"
#define OP  "OverridePolicy"
#define COP "ClusterOverridePolicy"
#define ALL RELEASE_1_13, RELEASE_1_19
#define NO  ACCEPTED, ACCEPTED, NULL
    {"both affinities", PP,
     PLACED("\"clusterAffinity\":{},\"clusterAffinities\":[{\"affinityName\":\"a\"}]"), ALL,
     "spec.placement must not have both clusterAffinity and clusterAffinities"},
    {"an empty list of groups beside clusterAffinity", PP,
     PLACED("\"clusterAffinity\":{},\"clusterAffinities\":[]"), NO},
    {"groups with one name", PP,
     PLACED("\"clusterAffinities\":[{\"affinityName\":\"a\"},{\"affinityName\":\"a\"}]"), ALL,
     "spec.placement.clusterAffinities has two groups with affinityName \"a\""},
    {"a group name that is no label key", CPP,
     PLACED("\"clusterAffinities\":[{\"affinityName\":\"a b\"}]"), ALL,
     "spec.placement.clusterAffinities[0] \"a b\" is no valid label key"},
    {"a group name with a prefix", PP,
     PLACED("\"clusterAffinities\":[{\"affinityName\":\"a.b/c\"}]"), NO},
    {"a field selector by country", PP,
     PLACED("\"clusterAffinity\":{\"fieldSelector\":{\"matchExpressions\":[{\"key\":\"country\","
            "\"operator\":"
            "\"In\",\"values\":[\"x\"]}]}}"),
     ALL,
     "spec.placement.clusterAffinity.fieldSelector must have keys provider, region or zone, not "
     "\"country\""},
    {"a field selector with Exists", PP,
     PLACED("\"clusterAffinity\":{\"fieldSelector\":{\"matchExpressions\":[{\"key\":\"zone\","
            "\"operator\":"
            "\"Exists\"}]}}"),
     ALL,
     "spec.placement.clusterAffinity.fieldSelector must have operators In or NotIn, not "
     "\"Exists\""},
    {"an operator of a label selector", PP,
     PLACED("\"clusterAffinity\":{\"labelSelector\":{\"matchExpressions\":[{\"key\":\"a\","
            "\"operator\":"
            "\"Bogus\"}]}}"),
     NO},
    {"a target of a static weight", PP,
     PLACED("\"replicaScheduling\":{\"weightPreference\":{\"staticWeightList\":[{\"weight\":1,"
            "\"targetCluster\":{\"fieldSelector\":{\"matchExpressions\":[{\"key\":\"country\","
            "\"operator\":\"In\"}]}}}]}}"),
     NO},
    {"overflow without division by capacity", PP,
     PLACED("\"clusterAffinities\":[{\"affinityName\":\"a\",\"clusterNames\":[\"m\"],"
            "\"overflowAffinities\":[{"
            "\"affinityName\":\"o\"}]}]"),
     RELEASE_1_18, RELEASE_1_19,
     "spec.placement.clusterAffinities[0].overflowAffinities needs replicaScheduling with "
     "dynamicWeight or Aggregated"},
    {"overflow of a group that selects all clusters", PP,
     PLACED("\"clusterAffinities\":[{\"affinityName\":\"a\",\"overflowAffinities\":[{"
            "\"affinityName\":\"o\"}]}]" DYNAMIC),
     RELEASE_1_18, RELEASE_1_19,
     "spec.placement.clusterAffinities[0].overflowAffinities needs an affinity of its own group"},
    {"overflow with the name of its group", PP,
     PLACED("\"clusterAffinities\":[{\"affinityName\":\"a\",\"labelSelector\":{},"
            "\"overflowAffinities\":[{"
            "\"affinityName\":\"a\"}]}]" DYNAMIC),
     RELEASE_1_18, RELEASE_1_19,
     "spec.placement.clusterAffinities[0].overflowAffinities[0].affinityName \"a\" is the name of "
     "another affinity"},
    {"two overflows of one name", PP,
     PLACED("\"clusterAffinities\":[{\"affinityName\":\"a\",\"labelSelector\":{},"
            "\"overflowAffinities\":[{"
            "\"affinityName\":\"o\"},{\"affinityName\":\"o\"}]}]" DYNAMIC),
     RELEASE_1_18, RELEASE_1_19,
     "spec.placement.clusterAffinities[0].overflowAffinities[1].affinityName \"o\" is the name of "
     "another affinity"},
    {"overflow with dynamic weights", PP,
     PLACED("\"clusterAffinities\":[{\"affinityName\":\"a\",\"labelSelector\":{},"
            "\"overflowAffinities\":[{"
            "\"affinityName\":\"o\"}]}]" DYNAMIC),
     NO},
    {"spread by field and label", PP,
     PLACED("\"spreadConstraints\":[{\"spreadByField\":\"cluster\",\"spreadByLabel\":\"x\"}]"), ALL,
     "spec.placement.spreadConstraints[0] must not have both spreadByField and spreadByLabel"},
    {"spread by label alone", PP, PLACED("\"spreadConstraints\":[{\"spreadByLabel\":\"x\"}]"), NO},
    {"spread without cluster", PP, PLACED("\"spreadConstraints\":[{\"spreadByField\":\"region\"}]"),
     ALL,
     "spec.placement.spreadConstraints needs a constraint by cluster beside the constraint by "
     "another field"},
    {"spread by region, and a constraint without field", PP,
     PLACED("\"spreadConstraints\":[{\"spreadByField\":\"region\"},{}]"), NO},
    {"spread by cluster twice, once by default", PP,
     PLACED("\"spreadConstraints\":[{},{\"spreadByField\":\"cluster\"}]"), ALL,
     "spec.placement.spreadConstraints has two constraints by cluster"},
    {"maxGroups below the default of minGroups", PP,
     PLACED("\"spreadConstraints\":[{\"maxGroups\":1}]"), NO},
    {"maxGroups below minGroups", PP,
     PLACED("\"spreadConstraints\":[{\"minGroups\":3,\"maxGroups\":2}]"), ALL,
     "spec.placement.spreadConstraints[0] must not have minGroups above maxGroups"},
    {"negative groups", CPP, PLACED("\"spreadConstraints\":[{\"minGroups\":-1}]"), ALL,
     "spec.placement.spreadConstraints[0] must not have a negative minGroups"},
    {"a comparing toleration", PP,
     PLACED("\"clusterTolerations\":[{\"key\":\"k\",\"operator\":\"Gt\",\"value\":\"1\"}]"),
     RELEASE_1_18, RELEASE_1_19,
     "spec.placement.clusterTolerations[0].operator must be Exists or Equal, not Gt"},
    {"an unknown operator of a toleration", PP,
     PLACED("\"clusterTolerations\":[{\"key\":\"k\",\"operator\":\"Bogus\"}]"), NO},
    {"equal keys of affinity and antiAffinity", PP,
     PLACED("\"workloadAffinity\":{\"affinity\":{\"groupByLabelKey\":\"a\"},\"antiAffinity\":{"
            "\"groupByLabelKey\":\"a\"}}"),
     RELEASE_1_17, RELEASE_1_19,
     "spec.placement.workloadAffinity must not have the same groupByLabelKey in affinity and "
     "antiAffinity"},

    {"failover without propagateDeps", PP,
     SELECTORS ",\"failover\":{\"application\":{\"decisionConditions\":{}}}", ALL,
     "spec.propagateDeps must be true with failover.application"},
    {"failover of a ServiceImport", PP,
     "\"failover\":{\"application\":{\"decisionConditions\":{}}},\"resourceSelectors\":[{"
     "\"apiVersion\":"
     "\"multicluster.x-k8s.io/v1alpha1\",\"kind\":\"ServiceImport\"}]",
     NO},
    {"a negative toleration time", PP,
     SELECTORS ",\"propagateDeps\":true,\"failover\":{\"application\":{\"decisionConditions\":{"
               "\"tolerationSeconds\":-1}}}",
     ALL, "spec.failover.application.decisionConditions.tolerationSeconds must not be negative"},
    {"a grace period by default", PP, APPLICATION("\"gracePeriodSeconds\":30"), NO},
    {"a grace period of 0", PP, APPLICATION("\"gracePeriodSeconds\":0"), ALL,
     "spec.failover.application.gracePeriodSeconds must be greater than 0"},
    {"a grace period with Never", PP,
     APPLICATION("\"purgeMode\":\"Never\",\"gracePeriodSeconds\":30"), ALL,
     "spec.failover.application.gracePeriodSeconds needs the graceful purgeMode"},
    {"a label name of a preserved state", PP,
     APPLICATION("\"statePreservation\":{\"rules\":[{\"aliasLabelName\":\"not "
                 "ok\",\"jsonPath\":\"{.a}\"}]}"),
     RELEASE_1_15, RELEASE_1_19,
     "spec.failover.application.statePreservation.rules[0].aliasLabelName \"not ok\" is no valid "
     "label key"},
    {"a selector of another namespace", PP,
     "\"resourceSelectors\":[{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"namespace\":\"other\"}]",
     RELEASE_1_17, RELEASE_1_19,
     "spec.resourceSelectors[0].namespace must be shop, the namespace of the policy"},
    {"a selector of another namespace in a cluster policy", CPP,
     "\"resourceSelectors\":[{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"namespace\":\"other\"}]",
     NO},
    {"preemption without names", PP, SELECTORS ",\"preemption\":\"Always\"", ALL,
     "spec.resourceSelectors[0].name is required with preemption Always"},
    {"both kinds of suspension", PP,
     SELECTORS
     ",\"suspension\":{\"dispatching\":true,\"dispatchingOnClusters\":{\"clusterNames\":[\"m\"]}}",
     ALL, "spec.suspension must not have both dispatching and dispatchingOnClusters"},

    {"rules and overriders", OP,
     RULE("") ",\"overriders\":{\"plaintext\":[{\"path\":\"/a\",\"operator\":\"remove\"}]}", ALL,
     "spec.overriders must not be set with overrideRules"},
    {"rules and deprecated fieldOverrider, which the webhook does not count", OP,
     RULE("") ",\"overriders\":{\"fieldOverrider\":[{\"fieldPath\":\"/"
              "a\",\"json\":[{\"operator\":\"remove\","
              "\"subPath\":\"/b\"}]}]}",
     NO},
    {"rules and targetCluster", OP, RULE("") ",\"targetCluster\":{}", ALL,
     "spec.targetCluster must not be set with overrideRules"},
    {"an empty list of rules and targetCluster", OP, "\"overrideRules\":[],\"targetCluster\":{}",
     NO},
    {"an empty list of rules and targetCluster, not mutated", COP,
     "\"overrideRules\":[],\"targetCluster\":{}", ALL,
     "spec.targetCluster must not be set with overrideRules"},
    {"a label with an invalid key", OP,
     RULE("\"labelsOverrider\":[{\"operator\":\"add\",\"value\":{\"a b\":\"c\"}}]"), ALL,
     "spec.overrideRules[0].overriders.labelsOverrider[0].value has the invalid key \"a b\""},
    {"a label with an invalid value", COP,
     RULE("\"labelsOverrider\":[{\"operator\":\"add\",\"value\":{\"a\":\"b c\"}}]"), ALL,
     "spec.overrideRules[0].overriders.labelsOverrider[0].value has the invalid value \"b c\""},
    {"an annotation with any value", OP,
     RULE("\"annotationsOverrider\":[{\"operator\":\"add\",\"value\":{\"A.b/c\":\"b c\"}}]"), NO},
    {"a path without slash", OP,
     RULE("\"imageOverrider\":[{\"component\":\"Tag\",\"operator\":\"remove\",\"predicate\":{"
          "\"path\":\"a\"}}]"),
     ALL,
     "spec.overrideRules[0].overriders.imageOverrider[0].predicate.path must begin with \"/\", not "
     "\"a\""},
    {"a fieldOverrider without patches", OP, RULE("\"fieldOverrider\":[{\"fieldPath\":\"/a\"}]"),
     RELEASE_1_18, RELEASE_1_19,
     "spec.overrideRules[0].overriders.fieldOverrider[0] must have json or yaml"},
    {"a patch that adds no value", OP,
     RULE("\"fieldOverrider\":[{\"fieldPath\":\"/"
          "a\",\"yaml\":[{\"operator\":\"add\",\"subPath\":\"/b\"}]}]"),
     ALL,
     "spec.overrideRules[0].overriders.fieldOverrider[0].yaml[0].value is required with operator "
     "add"},
    {"a patch that removes a value", OP,
     RULE("\"fieldOverrider\":[{\"fieldPath\":\"/"
          "a\",\"json\":[{\"operator\":\"remove\",\"subPath\":\"/b\","
          "\"value\":1}]}]"),
     ALL,
     "spec.overrideRules[0].overriders.fieldOverrider[0].json[0].value must not be set with "
     "operator remove"},
    {"an override selector of another namespace", OP,
     "\"resourceSelectors\":[{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"namespace\":\"other\"}]",
     RELEASE_1_17, RELEASE_1_19,
     "spec.resourceSelectors[0].namespace must be shop, the namespace of the policy"},
};

TEST_ROWS(the_webhook_refuses, webhook_cases, title)
{
    const struct webhook_case *c = *state;
    bool namespaced = strncmp(c->kind, "Cluster", 7) != 0;
    char text[2048], first[512] = "";
    unsigned refused = 0;
    cJSON *object;
    struct admission *a;

    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"policy.karmada.io/"
             "v1alpha1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"p\"%s},"
             "\"spec\":{%s}}",
             c->kind, namespaced ? ",\"namespace\":\"shop\"" : "", c->spec);
    object = cJSON_Parse(text);
    assert_non_null(object);
    a = admission_review(object);
    for (unsigned r = c->since; r < RELEASE_COUNT && r <= c->until; r++)
        refused |= 1U << r;
    for (uint32_t i = 0; a && i < a->count; i++) {
        if (!*first && !a->items[i].pruned)
            snprintf(first, sizeof(first), "%s %s", a->items[i].field, a->items[i].text);
    }
    assert_string_equal(first, c->first ? c->first : "");
    assert_int_equal(a ? a->refused : 0, refused);
    free(a);
    cJSON_Delete(object);
}
