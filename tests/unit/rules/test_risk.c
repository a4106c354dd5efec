/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/delivery.h"

#include "metrics/model/work.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { NOW_MS = 1000, TEXT_MAX = 1 << 14 };

#define ID "'propagationpolicy.karmada.io/permanent-id':'id'"
#define CLAIM                                                                                      \
    "'labels':{" ID "},'annotations':{'propagationpolicy.karmada.io/namespace':'a',"               \
    "'propagationpolicy.karmada.io/name':'p'}"
#define POLICY(more)                                                                               \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"           \
    "'name':'p','namespace':'a','labels':{" ID "}},'spec':{'resourceSelectors':[{"                 \
    "'apiVersion':'apps/v1','kind':'Deployment'}],'placement':{}" more "}}"
#define TEMPLATE                                                                                   \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web','namespace':'a'," CLAIM  \
    "},'spec':{'replicas':2}}"
#define BINDING(spec, status)                                                                      \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"               \
    "'name':'web-deployment','namespace':'a'," CLAIM "},'spec':{'resource':{"                      \
    "'apiVersion':'apps/v1','kind':'Deployment','namespace':'a','name':'web'},'replicas':2,"       \
    "'placement':{}" spec "},'status':{" status "}}"
#define PLACED      ",'clusters':[{'name':'m1','replicas':2}]"
#define TASKS(rest) PLACED ",'gracefulEvictionTasks':[{'fromCluster':'m2'" rest "}]"
#define SCHEDULED   "'conditions':[{'type':'Scheduled','status':'True'}]"
#define NOWHERE     "'conditions':[{'type':'Scheduled','status':'False','reason':'NoClusterFit'}]"
#define CLUSTER(ready)                                                                             \
    "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'m2'},"       \
    "'status':{'conditions':[{'type':'Ready','status':'" ready "'}]}}"
#define WORK(annotation, lists)                                                                    \
    "{'apiVersion':'work.karmada.io/v1alpha1','kind':'Work','metadata':{'name':'w',"               \
    "'namespace':'karmada-es-m1','annotations':{'resourcebinding.karmada.io/namespace':'a',"       \
    "'resourcebinding.karmada.io/name':'web-deployment','policy.karmada.io/" annotation "':" lists \
    "}}}"
#define LISTS "'[{\\'policyName\\':\\'x\\'},{\\'policyName\\':\\'y\\'}]'"
#define OVERRIDE(kind, meta)                                                                       \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'" kind "','metadata':{" meta "}}"
#define X_AND_Y                                                                                    \
    OVERRIDE("OverridePolicy", "'name':'x','namespace':'a'")                                       \
    "," OVERRIDE("OverridePolicy", "'name':'y','namespace':'a'")

static const struct risk_case {
    const char *name;
    const char *objects; /* Objects besides the template. */
    const char *risks;
} cases[] = {
    {"no risk", POLICY("") "," BINDING(PLACED, SCHEDULED), ""},
    {"evicted from a cluster that is ready",
     POLICY("") "," BINDING(TASKS(""), SCHEDULED) "," CLUSTER("True"), "ready_cluster_evicted "},
    {"evicted from a cluster that is not ready",
     POLICY("") "," BINDING(TASKS(""), SCHEDULED) "," CLUSTER("False"), ""},
    {"evicted from an unknown cluster", POLICY("") "," BINDING(TASKS(""), SCHEDULED), ""},
    {"evicted, and the copy is kept",
     POLICY("") "," BINDING(TASKS(",'suppressDeletion':true"), SCHEDULED) "," CLUSTER("True"), ""},
    {"the last copy is evicted",
     POLICY("") "," BINDING(",'gracefulEvictionTasks':[{'fromCluster':'m2'}]",
                            NOWHERE) "," CLUSTER("True"),
     "last_copy ready_cluster_evicted "},
    {"never placed", POLICY("") "," BINDING("", NOWHERE), ""},
    {"placed before, and now nowhere",
     POLICY("") "," BINDING("", "'lastScheduledTime':'2026-01-01T00:00:00Z'," NOWHERE),
     "placement_emptied "},
    {"placed before, and still placed",
     POLICY("") "," BINDING(PLACED, "'lastScheduledTime':'2026-01-01T00:00:00Z'," NOWHERE), ""},
    {"both listed override policies exist",
     POLICY("") "," BINDING(PLACED, SCHEDULED) "," WORK("applied-overrides", LISTS) "," X_AND_Y,
     ""},
    {"one listed override policy is deleted",
     POLICY("") "," BINDING(PLACED, SCHEDULED) "," WORK("applied-overrides", LISTS) "," OVERRIDE(
         "OverridePolicy", "'name':'x','namespace':'a'"),
     "override_still_listed "},
    {"the listed override policies are of another kind",
     POLICY("") "," BINDING(PLACED, SCHEDULED) "," WORK("applied-cluster-overrides",
                                                        LISTS) "," X_AND_Y,
     "override_still_listed "},
    {"the annotation of the Work is no JSON",
     POLICY("") "," BINDING(PLACED, SCHEDULED) "," WORK("applied-overrides", "'{\\'x\\':[1'"), ""},
    {"the annotation of the Work has no valid names",
     POLICY("") "," BINDING(PLACED, SCHEDULED) "," WORK(
         "applied-overrides", "'[1,{},{\\'policyName\\':7},{\\'policyName\\':\\'\\'},"
                              "{\\'policyName\\':\\'a/b\\'}]'"),
     ""},
    {"the Work is in a cluster that is no target",
     POLICY("") "," BINDING(",'clusters':[{'name':'m3','replicas':2}]",
                            SCHEDULED) "," WORK("applied-overrides", LISTS),
     ""},
};

static void check_risks(const struct world *w, const char *expected)
{
    unsigned risks = entry_risks(world_find(w, "apps/v1", "Deployment", "a", "web"));
    CLEANUP(strbuf_release) struct strbuf said = STRBUF_INIT(TEXT_MAX);

    for (unsigned i = 0; i < RISK_COUNT; i++) {
        if (risks & 1U << i)
            strbuf_addf(&said, "%s ", risk_names[i]);
    }
    assert_text(said.len > 0 ? said.data : "", expected);
}

TEST_ROWS(risks_follow_from_binding_and_work, cases, name)
{
    const struct risk_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf objects = STRBUF_INIT(TEXT_MAX);
    struct world w;

    strbuf_addf(&objects, "[" TEMPLATE ",%s]", c->objects);
    CLEANUP(json_cleanup) cJSON *all = json_of(objects.data);
    world_init(&w, &rules_options_default, 1);
    world_put_all(&w, all);
    world_run(&w, NOW_MS);
    check_risks(&w, c->risks);
    world_release(&w);
}

/* Deleting an override policy evaluates the templates with Works that list it. */
TEST(a_deleted_override_policy_is_still_listed)
{
    CLEANUP(json_cleanup)
    cJSON *all = json_of("[" TEMPLATE "," POLICY("") "," BINDING(PLACED, SCHEDULED) "," WORK(
        "applied-overrides", LISTS) "," X_AND_Y "]");
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_all(&w, all);
    world_run(&w, NOW_MS);
    check_risks(&w, "");
    store_remove(w.store, world_find(&w, "policy.karmada.io/v1alpha1", "OverridePolicy", "a", "y"));
    world_run(&w, NOW_MS);
    check_risks(&w, "override_still_listed ");
    engine_set_incomplete(w.engine, "policy.karmada.io/v1alpha1", "OverridePolicy", true);
    world_run(&w, NOW_MS);
    check_risks(&w, "");
    world_release(&w);
}

/* The template is current, but Karmada would not apply a change of it. */
TEST(a_binding_without_its_priority_class_is_frozen)
{
    CLEANUP(json_cleanup)
    cJSON *all = json_of("[" TEMPLATE "," POLICY(
        ",'schedulePriority':{'priorityClassSource':"
        "'KubePriorityClass','priorityClassName':'gone'}") "," BINDING(PLACED,
                                                                       SCHEDULED) ","
                                                                                  "{'apiVersion':'"
                                                                                  "scheduling.k8s."
                                                                                  "io/"
                                                                                  "v1','kind':'"
                                                                                  "PriorityClass','"
                                                                                  "metadata':{'"
                                                                                  "name':'x'},"
                                                                                  "'value':1}]");
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_all(&w, all);
    world_run(&w, NOW_MS);
    check_risks(&w, "frozen_by_priority_class ");
    world_release(&w);
}

/* The bindings of cluster-scoped templates have no priority. */
TEST(a_cluster_scoped_template_needs_no_priority_class)
{
    CLEANUP(json_cleanup)
    cJSON *all = json_of(
        "[{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRole','metadata':{"
        "'name':'web','labels':{'clusterpropagationpolicy.karmada.io/permanent-id':'id'},"
        "'annotations':{'clusterpropagationpolicy.karmada.io/name':'p'}}},"
        "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'ClusterPropagationPolicy','metadata':{"
        "'name':'p','labels':{'clusterpropagationpolicy.karmada.io/permanent-id':'id'}},'spec':{"
        "'resourceSelectors':[{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRole'}],"
        "'placement':{},'schedulePriority':{'priorityClassSource':'KubePriorityClass',"
        "'priorityClassName':'gone'}}},"
        "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ClusterResourceBinding','metadata':{"
        "'name':'web-clusterrole','labels':{"
        "'clusterpropagationpolicy.karmada.io/permanent-id':'id'},'annotations':{"
        "'clusterpropagationpolicy.karmada.io/name':'p'}},'spec':{'resource':{"
        "'apiVersion':'rbac.authorization.k8s.io/v1','kind':'ClusterRole','name':'web'},"
        "'placement':{}" PLACED "},'status':{" SCHEDULED "}},"
        "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass','metadata':{'name':'x'},"
        "'value':1}]");
    const struct entry *role;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_all(&w, all);
    world_run(&w, NOW_MS);
    role = world_find(&w, "rbac.authorization.k8s.io/v1", "ClusterRole", "", "web");
    assert_int_equal(template_decision(role)->stages.delivery.stage, STAGE_UNDISPATCHED);
    assert_int_equal(entry_risks(role), 0);
    world_release(&w);
}
