/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/admission/admission.h"

#include "tests/unit/suite.h"

/* Spec of a policy as a user writes it, and as a release stores it. */

#define SELECT                                                                                     \
    "\"resourceSelectors\":[{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"namespace\":\"shop\"}]"
#define DEFAULTS                                                                                   \
    "\"conflictResolution\":\"Abort\",\"preemption\":\"Never\",\"priority\":0,\"schedulerName\":"  \
    "\"default-scheduler\""
#define TOLERATION(taint)                                                                          \
    "{\"key\":\"cluster.karmada.io/" taint                                                         \
    "\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300}"

static const struct stored_case {
    const char *title;
    const char *kind;
    const char *spec;
    enum release release;
    const char *stored;
} stored_cases[] = {
    {"defaults, and the namespace of the policy", "PropagationPolicy",
     "\"resourceSelectors\":[{\"apiVersion\":\"v1\",\"kind\":\"Secret\"}]", RELEASE_1_19,
     SELECT "," DEFAULTS ",\"placement\":{}"},
    {"default tolerations", "PropagationPolicy", SELECT, RELEASE_1_14,
     SELECT "," DEFAULTS ",\"placement\":{\"clusterTolerations\":[" TOLERATION(
         "not-ready") "," TOLERATION("unreachable") "]}"},
    {"a toleration that differs in its time only", "PropagationPolicy",
     SELECT ",\"placement\":{\"clusterTolerations\":[{\"key\":\"cluster.karmada.io/"
            "unreachable\",\"operator\":"
            "\"Exists\",\"effect\":\"NoExecute\"}]}",
     RELEASE_1_13,
     SELECT "," DEFAULTS
            ",\"placement\":{\"clusterTolerations\":[{\"key\":\"cluster.karmada.io/unreachable\","
            "\"operator\":\"Exists\",\"effect\":\"NoExecute\"}," TOLERATION("not-ready") "]}"},
    {"fields of a later release", "PropagationPolicy",
     SELECT
     ",\"placement\":{\"workloadAffinity\":{\"affinity\":{\"groupByLabelKey\":\"a\"}}},\"odd\":1",
     RELEASE_1_16, SELECT "," DEFAULTS ",\"placement\":{}"},
    {"zero values, of which Go keeps those of pointers", "PropagationPolicy",
     SELECT ",\"association\":false,\"dependentOverrides\":[],\"preserveResourcesOnDeletion\":"
            "false,\"suspension\":{"
            "\"dispatching\":false},\"placement\":{\"clusterAffinity\":{\"labelSelector\":{"
            "\"matchLabels\":{}}}}",
     RELEASE_1_19,
     SELECT "," DEFAULTS
            ",\"preserveResourcesOnDeletion\":false,\"suspension\":{\"dispatching\":false},"
            "\"placement\":{\"clusterAffinity\":{\"labelSelector\":{}}}"},
    {"spread constraints", "PropagationPolicy",
     SELECT ",\"placement\":{\"spreadConstraints\":[{\"maxGroups\":0},{\"spreadByLabel\":\"x\","
            "\"minGroups\":2}]}",
     RELEASE_1_19,
     SELECT
     "," DEFAULTS
     ",\"placement\":{\"spreadConstraints\":[{\"spreadByField\":\"cluster\",\"minGroups\":1},"
     "{\"spreadByLabel\":\"x\",\"minGroups\":2}]}"},
    {"division of replicas", "PropagationPolicy",
     SELECT ",\"placement\":{\"replicaScheduling\":{}}", RELEASE_1_19,
     SELECT "," DEFAULTS
            ",\"placement\":{\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\","
            "\"replicaDivisionPreference\":\"Weighted\"}}"},
    {"the purge mode of 1.14", "PropagationPolicy",
     SELECT ",\"propagateDeps\":true,\"failover\":{\"application\":{\"decisionConditions\":{}}}",
     RELEASE_1_14,
     SELECT "," DEFAULTS
            ",\"propagateDeps\":true,\"failover\":{\"application\":{\"decisionConditions\":{"
            "\"tolerationSeconds\":300},\"purgeMode\":\"Graciously\",\"gracePeriodSeconds\":600}},"
            "\"placement\":{"
            "\"clusterTolerations\":[" TOLERATION("not-ready") "," TOLERATION("unreachable") "]}"},
    {"the purge mode of 1.15", "PropagationPolicy",
     SELECT ",\"propagateDeps\":true,\"failover\":{\"application\":{\"decisionConditions\":{}}}",
     RELEASE_1_15,
     SELECT "," DEFAULTS
            ",\"propagateDeps\":true,\"failover\":{\"application\":{\"decisionConditions\":{"
            "\"tolerationSeconds\":300},\"purgeMode\":\"Gracefully\",\"gracePeriodSeconds\":600}},"
            "\"placement\":{}"},
    {"ServiceImports", "PropagationPolicy",
     "\"resourceSelectors\":[{\"apiVersion\":\"multicluster.x-k8s.io/"
     "v1alpha1\",\"kind\":\"ServiceImport\"}]",
     RELEASE_1_19,
     "\"resourceSelectors\":[{\"apiVersion\":\"multicluster.x-k8s.io/"
     "v1alpha1\",\"kind\":\"ServiceImport\","
     "\"namespace\":\"shop\"}],\"propagateDeps\":true,\"placement\":{}," DEFAULTS},
    {"an OverridePolicy", "OverridePolicy",
     SELECT ",\"overrideRules\":[{\"overriders\":{\"plaintext\":[{\"path\":\"/"
            "a\",\"operator\":\"replace\"}],"
            "\"imageOverrider\":[]}}]",
     RELEASE_1_19,
     SELECT ",\"overriders\":{},\"overrideRules\":[{\"overriders\":{\"plaintext\":[{\"path\":\"/"
            "a\",\"operator\":"
            "\"replace\",\"value\":null}]}}]"},
    {"a ClusterOverridePolicy, which no webhook changes", "ClusterOverridePolicy",
     SELECT ",\"overrideRules\":[{\"odd\":1,\"overriders\":{\"imageOverrider\":[]}}]", RELEASE_1_19,
     SELECT ",\"overrideRules\":[{\"overriders\":{\"imageOverrider\":[]}}]"},
    {"any value of a patch", "OverridePolicy",
     "\"overriders\":{\"plaintext\":[{\"path\":\"/"
     "a\",\"operator\":\"add\",\"value\":{\"odd\":[\"\",false,0]}}]}",
     RELEASE_1_19,
     "\"overriders\":{\"plaintext\":[{\"path\":\"/"
     "a\",\"operator\":\"add\",\"value\":{\"odd\":[\"\",false,0]}}]}"},
};

TEST_ROWS(the_release_stores, stored_cases, title)
{
    const struct stored_case *c = *state;
    char text[2048];
    cJSON *object, *stored, *expected;

    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"policy.karmada.io/"
             "v1alpha1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"p\","
             "\"namespace\":\"shop\"},\"spec\":{%s}}",
             c->kind, c->spec);
    object = cJSON_Parse(text);
    snprintf(text, sizeof(text), "{%s}", c->stored);
    expected = cJSON_Parse(text);
    assert_non_null(object);
    assert_non_null(expected);
    stored = admission_make_stored(object, c->release);
    if (!cJSON_Compare(json_get(stored, "spec"), expected, true))
        fail_msg("%s", cJSON_PrintUnformatted(stored));
    cJSON_Delete(object);
    cJSON_Delete(stored);
    cJSON_Delete(expected);
}

TEST(an_unknown_kind_is_stored_as_it_is)
{
    cJSON *object = cJSON_Parse("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"odd\":null}");
    cJSON *stored = admission_make_stored(object, RELEASE_1_19);

    assert_true(cJSON_Compare(object, stored, true));
    cJSON_Delete(object);
    cJSON_Delete(stored);
}
