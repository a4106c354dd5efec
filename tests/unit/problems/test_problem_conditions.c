/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/problem_conditions.h"

#include "metrics/base/timestamp.h"
#include "metrics/rules/rule.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { TEXT_MAX = 4096, CLUSTER_TARGETS = 20, MINUTE_MS = 60 * 1000 };

/* 2026-01-01T00:00:00Z, and the time of most tests: one hour later. */
static const int64_t start_ms = INT64_C(1767225600000);
static const int64_t now_ms = INT64_C(1767229200000);

static void put(struct world *w, const char *json)
{
    cJSON *tree = json_of(json);

    world_put(w, tree);
    cJSON_Delete(tree);
}

/*
 * Appends the conditions of an entry, without those of templates alone, such as
 * "policy_invalid/no_selector +60": the reason, and the seconds from start_ms to its time. "?"
 * marks an unknown condition.
 */
static void dump_conditions(const struct world *w, const struct entry *entry, struct strbuf *out)
{
    struct condition_list list = {0};
    int64_t due_ms = INT64_MAX;

    problem_conditions(engine_context_const(w->engine), entry, &list, &due_ms);
    for (size_t i = 0; i < list.count; i++) {
        const struct problem_reason_row *row = &problem_reasons[list.items[i].reason];

        if (problem_table[row->problem].line != LINE_NONE)
            continue;
        strbuf_addf(out, "%s%s", out->len > 0 ? ", " : "", problem_table[row->problem].name);
        strbuf_addf(out, "%s%s", *row->name ? "/" : "", row->name);
        strbuf_adds(out, list.items[i].unknown ? "?" : "");
        if (list.items[i].since_ms != 0)
            strbuf_addf(out, " %+" PRId64, (list.items[i].since_ms - start_ms) / 1000);
    }
    condition_list_release(&list);
}

static void assert_conditions(struct world *w, const struct entry *entry, const char *expected)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);

    assert_non_null(entry);
    dump_conditions(w, entry, &text);
    assert_string_equal(text.data ? text.data : "", expected);
}

/* ---- policies ---- */

#define POLICY_API "policy.karmada.io/v1alpha1"
#define POLICY(name, metadata, spec)                                                               \
    "{'apiVersion':'" POLICY_API "','kind':'PropagationPolicy','metadata':{'name':'" name          \
    "','namespace':'a','labels':{'propagationpolicy.karmada.io/permanent-id':'id-" name            \
    "'},'generation':1" metadata "},'spec':{" spec "}}"
#define WRITTEN     ",'creationTimestamp':'2026-01-01T00:01:00Z'"
#define DEPLOYMENTS "'resourceSelectors':[{'apiVersion':'apps/v1','kind':'Deployment'}]"
#define SELECTOR(fields)                                                                           \
    "'resourceSelectors':[{'apiVersion':'apps/v1','kind':'Deployment'" fields "}]"
#define CLAIM(policy)                                                                              \
    "'labels':{'propagationpolicy.karmada.io/permanent-id':'id-" policy "'},'annotations':{"       \
    "'propagationpolicy.karmada.io/namespace':'a','propagationpolicy.karmada.io/name':'" policy    \
    "'}"
#define TEMPLATE(name, metadata)                                                                   \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'" name                        \
    "','namespace':'a'" metadata "},'spec':{'replicas':2}}"
#define CREATED(time) ",'creationTimestamp':'2026-01-01T" time "Z'"

static const struct policy_case {
    const char *name;
    const char *policy;
    const char *expected;
} policy_cases[] = {
    {"used", POLICY("p", WRITTEN, DEPLOYMENTS), ""},
    {"no selector", POLICY("p", WRITTEN, ""),
     "policy_invalid/no_selector +60, policy_invalid/refused +60, policy_unused +60"},
    {"an invalid labelSelector",
     POLICY("p", "",
            SELECTOR(",'labelSelector':{'matchExpressions':[{'key':'a','operator':'x'}]}")),
     "policy_invalid/invalid_selector, policy_unused"},
    {"an invalid exclusion",
     POLICY("p", WRITTEN,
            DEPLOYMENTS ",'excludedResources':[{'apiVersion':'v1','kind':'Secret','labelSelector':{"
                        "'matchExpressions':[{'key':'a','operator':'x'}]}},{}]"),
     "policy_invalid/invalid_exclusion +60, policy_invalid/empty_exclusion +60"},
    {"a foreign namespace", POLICY("p", WRITTEN, SELECTOR(",'namespace':'b'")),
     "policy_invalid/foreign_namespace +60, policy_invalid/refused +60, policy_unused +60"},
    {"another version",
     POLICY("p", WRITTEN,
            "'resourceSelectors':[{'apiVersion':'apps/v1beta1','kind':'Deployment'}]"),
     "policy_invalid/unwatched_version +60, policy_unused +60"},
    {"preemption of all", POLICY("p", WRITTEN, DEPLOYMENTS ",'preemption':'Always'"),
     "policy_invalid/preemption_without_name +60, policy_invalid/refused +60"},
    {"a missing override policy", POLICY("p", WRITTEN, DEPLOYMENTS ",'dependentOverrides':['o']"),
     "policy_invalid/override_missing +60"},
    {"a refused source of PriorityClasses",
     POLICY("p", WRITTEN,
            DEPLOYMENTS ",'schedulePriority':{'priorityClassSource':'PodPriorityClass',"
                        "'priorityClassName':'high'}"),
     "policy_invalid/refused +60, policy_invalid/priority_class_missing +60"},
    {"deletion stuck",
     POLICY("p", WRITTEN ",'deletionTimestamp':'2026-01-01T00:02:00Z'", DEPLOYMENTS),
     "deletion_stuck/policy +120"},
    {"selects nothing", POLICY("p", WRITTEN, SELECTOR(",'name':'other'")), "policy_unused +60"},
    {"a text as priority", POLICY("p", "", DEPLOYMENTS ",'priority':'high'"),
     "policy_invalid/refused, policy_unused"},
    {"an object as list of selectors", POLICY("p", "", "'resourceSelectors':{}"),
     "policy_invalid/refused, policy_unused"},
    {"a list as placement", POLICY("p", "", DEPLOYMENTS ",'placement':[]"),
     "policy_invalid/refused, policy_unused"},
    {"a text as boolean, and a fraction",
     POLICY("p", "", DEPLOYMENTS ",'propagateDeps':'yes','priority':1.5"),
     "policy_invalid/refused, policy_unused"},
    {"a label value without quotes", POLICY("p", ",'annotations':{'a':true}", DEPLOYMENTS),
     "policy_invalid/refused"},
    {"excludes all it selects",
     POLICY("p", WRITTEN,
            DEPLOYMENTS ",'excludedResources':[{'apiVersion':'apps/v1','kind':'Deployment'}]"),
     "policy_unused +60"},
};

static const struct entry *find_policy(const struct world *w, const char *name)
{
    return world_find(w, POLICY_API, "PropagationPolicy", "a", name);
}

TEST_ROWS(each_defect_of_a_policy_is_a_condition, policy_cases, name)
{
    const struct policy_case *row = *state;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put(&w, TEMPLATE("web", ""));
    put(&w, "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass','metadata':{'name':'low'},"
            "'value':1}");
    put(&w, row->policy);
    world_run(&w, now_ms);
    assert_conditions(&w, find_policy(&w, "p"), row->expected);
    world_release(&w);
}

#define OVERRIDES(spec)                                                                            \
    "{'apiVersion':'" POLICY_API "','kind':'OverridePolicy','metadata':{'name':'o','namespace':"   \
    "'a'},'spec':{" spec "}}"

TEST(an_override_policy_with_a_value_of_a_wrong_type_is_refused)
{
    static const char *const texts[] = {
        OVERRIDES("'overrideRules':{}"),
        OVERRIDES("'overrideRules':[],'resourceSelectors':'all'"),
        OVERRIDES("'overrideRules':[{'overriders':{'plaintext':[{'path':1,'operator':'add'}]}}]"),
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct world w;

        world_init(&w, &rules_options_default, 1);
        put(&w, texts[i]);
        world_run(&w, now_ms);
        assert_conditions(&w, world_find(&w, POLICY_API, "OverridePolicy", "a", "o"),
                          "policy_invalid/refused");
        world_release(&w);
    }
}

static enum api_version_answer answer_absent(const void *context, const char *api_version,
                                             const char *kind)
{
    (void)context;
    (void)api_version;
    return strcmp(kind, "Deployment") == 0 ? API_VERSION_ABSENT : API_VERSION_UNKNOWN;
}

TEST(a_kind_that_the_api_server_does_not_serve_makes_a_policy_invalid)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    engine_set_api_version_source(
        w.engine, (struct api_version_source){.judge = answer_absent, .context = NULL});
    put(&w, POLICY("p", WRITTEN, DEPLOYMENTS));
    world_run(&w, now_ms);
    assert_conditions(&w, find_policy(&w, "p"),
                      "policy_invalid/kind_not_served +60, policy_unused +60");
    world_release(&w);
}

TEST(unread_kinds_make_conditions_of_policies_unknown)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    engine_set_incomplete(w.engine, "apps/v1", "Deployment", true);
    engine_set_incomplete(w.engine, POLICY_API, "OverridePolicy", true);
    engine_set_incomplete(w.engine, "scheduling.k8s.io/v1", "PriorityClass", true);
    put(&w, POLICY("p", WRITTEN,
                   DEPLOYMENTS ",'dependentOverrides':['o'],'schedulePriority':{"
                               "'priorityClassSource':'KubePriorityClass',"
                               "'priorityClassName':'high'}"));
    world_run(&w, now_ms);
    assert_conditions(&w, find_policy(&w, "p"),
                      "policy_invalid/priority_class_missing?, policy_invalid/override_missing?, "
                      "policy_unused?");
    world_release(&w);
}

/* The tie begins with the last of policies and template; a later template does not move it. */
TEST(a_policy_that_wins_by_name_has_a_tie)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put(&w, TEMPLATE("web", CREATED("00:00:30")));
    put(&w, POLICY("a", CREATED("00:01:00"), DEPLOYMENTS));
    put(&w, POLICY("b", CREATED("00:02:00"), DEPLOYMENTS));
    put(&w, TEMPLATE("db", CREATED("00:03:00")));
    world_run(&w, now_ms);
    assert_conditions(&w, find_policy(&w, "a"), "policy_tie +120");
    assert_conditions(&w, find_policy(&w, "b"), "");
    put(&w, POLICY("b", CREATED("00:02:00"), DEPLOYMENTS ",'priority':-1"));
    world_run(&w, now_ms);
    assert_conditions(&w, find_policy(&w, "a"), "");
    world_release(&w);
}

TEST(a_policy_that_keeps_a_template_only_by_its_claim_is_outranked)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put(&w, POLICY("low", CREATED("00:01:00"), DEPLOYMENTS));
    put(&w, TEMPLATE("web", "," CLAIM("low") CREATED("00:00:30")));
    world_run(&w, now_ms);
    assert_conditions(&w, find_policy(&w, "low"), "");
    put(&w, POLICY("top", CREATED("00:05:00"), DEPLOYMENTS ",'priority':9"));
    world_run(&w, now_ms);
    assert_conditions(&w, find_policy(&w, "low"), "policy_outranked +300");
    assert_conditions(&w, find_policy(&w, "top"), "");
    /* An ignored template keeps no policy. */
    put(&w, "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web','namespace':'a',"
            "'labels':{'resourcetemplate.karmada.io/claimed-by':'x',"
            "'propagationpolicy.karmada.io/permanent-id':'id-low'},'annotations':{"
            "'propagationpolicy.karmada.io/namespace':'a',"
            "'propagationpolicy.karmada.io/name':'low'}}}");
    world_run(&w, now_ms);
    assert_conditions(&w, find_policy(&w, "low"), "policy_unused +60");
    world_release(&w);
}

TEST(a_claim_keeps_no_policy_under_static_rules)
{
    struct rules_options options = rules_options_default;
    struct world w;

    options.takeover = TAKEOVER_STATIC;
    world_init(&w, &options, 1);
    put(&w, POLICY("low", WRITTEN, DEPLOYMENTS));
    put(&w, POLICY("top", WRITTEN, DEPLOYMENTS ",'priority':9"));
    put(&w, TEMPLATE("web", "," CLAIM("low")));
    world_run(&w, now_ms);
    assert_conditions(&w, find_policy(&w, "low"), "");
    world_release(&w);
}

/* ---- bindings and dependencies ---- */

#define BINDING(kind, name, metadata, spec)                                                        \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"               \
    "'name':'" name "','namespace':'a','generation':1" metadata "},'spec':{'resource':{"           \
    "'apiVersion':'" kind ",'namespace':'a','name':'web'}" spec "}}"
#define CONFIG   "v1','kind':'ConfigMap'"
#define WORKLOAD "apps/v1','kind':'Deployment'"
#define REQUIRED(a, b)                                                                             \
    ",'requiredBy':[{'namespace':'a','name':'" a "'},{'namespace':'a','name':'" b "'}]"
#define CONFIGMAP "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'web','namespace':'a'}}"
#define REFERRER(name, spec)                                                                       \
    BINDING(WORKLOAD, name, CREATED("00:02:00"), ",'placement':{},'clusters':[]" spec)

static const struct binding_case {
    const char *name;
    const char *binding; /* Binding of the ConfigMap; x and y are its referrers. */
    const char *expected;
} binding_cases[] = {
    {"referrers request different values", BINDING(CONFIG, "web-configmap", "", REQUIRED("x", "y")),
     "dependency_conflict/ConflictResolution +120, dependency_not_resolved/ConflictResolution "
     "+120"},
    {"the resolved value is stored",
     BINDING(CONFIG, "web-configmap", CREATED("00:03:00"),
             REQUIRED("x", "y") ",'conflictResolution':'Overwrite'"),
     "dependency_conflict/ConflictResolution +180"},
    {"referrers agree, and the value is not cleared",
     BINDING(CONFIG, "web-configmap", "", REQUIRED("x", "x") ",'preserveResourcesOnDeletion':true"),
     "dependency_not_resolved/PreserveResourcesOnDeletion +120"},
    {"not cleared without referrers",
     BINDING(CONFIG, "web-configmap", CREATED("00:03:00"), ",'conflictResolution':'Overwrite'"),
     "dependency_not_resolved/ConflictResolution +180"},
    {"its own policy overrides the value",
     BINDING(CONFIG, "web-configmap", CREATED("00:03:00"), REQUIRED("y", "y") ",'placement':{}"),
     "value_overridden/ConflictResolution +180"},
    {"a referrer is missing", BINDING(CONFIG, "web-configmap", "", REQUIRED("x", "z")),
     "reference_broken/required_by_missing"},
    {"a deleted binding has no broken reference",
     BINDING(CONFIG, "web-configmap", ",'deletionTimestamp':'2026-01-01T00:04:00Z'",
             REQUIRED("x", "z")),
     "deletion_stuck/binding +240"},
    {"its claim freezes the template, which has the problem",
     BINDING(CONFIG, "web-configmap", "," CLAIM("gone"), REQUIRED("x", "x")), ""},
};

static const struct entry *find_binding(const struct world *w, const char *name)
{
    return world_find(w, "work.karmada.io/v1alpha2", "ResourceBinding", "a", name);
}

static void put_referrers(struct world *w)
{
    put(w, POLICY("p", WRITTEN,
                  "'resourceSelectors':[{'apiVersion':'v1','kind':'ConfigMap','name':'none'}]"));
    put(w, REFERRER("x", ""));
    put(w, REFERRER("y", ",'conflictResolution':'Overwrite'"));
}

TEST_ROWS(each_defect_of_a_binding_is_a_condition, binding_cases, name)
{
    const struct binding_case *row = *state;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put_referrers(&w);
    put(&w, CONFIGMAP);
    put(&w, row->binding);
    world_run(&w, now_ms);
    assert_conditions(&w, find_binding(&w, "web-configmap"), row->expected);
    world_release(&w);
}

TEST(a_binding_without_its_template_has_a_broken_reference)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put_referrers(&w);
    put(&w, BINDING(CONFIG, "web-configmap", "", REQUIRED("x", "x")));
    world_run(&w, now_ms);
    assert_conditions(&w, find_binding(&w, "web-configmap"), "reference_broken/template_missing");
    engine_set_incomplete(w.engine, "v1", "ConfigMap", true);
    world_run(&w, now_ms);
    assert_conditions(&w, find_binding(&w, "web-configmap"), "reference_broken/template_missing?");
    world_release(&w);
}

/* The template's own claim is of the same missing policy: one problem, about the template. */
TEST(a_binding_does_not_repeat_the_missing_claim_of_its_template)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put(&w, BINDING(WORKLOAD, "web-deployment", "," CLAIM("gone"), ",'placement':{}"));
    put(&w, TEMPLATE("web", "," CLAIM("gone")));
    world_run(&w, now_ms);
    assert_conditions(&w, find_binding(&w, "web-deployment"), "");
    put(&w, POLICY("p", WRITTEN, DEPLOYMENTS));
    put(&w, TEMPLATE("web", "," CLAIM("p")));
    world_run(&w, now_ms);
    assert_conditions(&w, find_binding(&w, "web-deployment"), "reference_broken/claim_missing");
    world_release(&w);
}

#define SETS(value) ",'annotations':{'work.karmada.io/conflict-resolution':'" value "'}"
#define SETS_WITH_CLAIM(value)                                                                     \
    ",'labels':{'propagationpolicy.karmada.io/permanent-id':'id-p'},'annotations':{"               \
    "'propagationpolicy.karmada.io/namespace':'a','propagationpolicy.karmada.io/name':'p',"        \
    "'work.karmada.io/conflict-resolution':'" value "'}"
#define EDITED                                                                                     \
    ",'managedFields':[{'manager':'kubectl','operation':'Update','time':'2026-01-01T00:05:00Z',"   \
    "'fieldsV1':{'f:spec':{}}}]"
#define WEB_BINDING(spec)                                                                          \
    BINDING(WORKLOAD, "web-deployment", "," CLAIM("p"), ",'placement':{}" spec)

static const struct annotation_case {
    const char *name;
    const char *template;
    const char *policy; /* Value of conflictResolution. */
    const char *binding;
    const char *expected;
} annotation_cases[] = {
    {"the policy has another value", TEMPLATE("web", SETS("overwrite") EDITED), "Abort", NULL,
     "value_overridden/ConflictResolution +300"},
    {"the policy overwrites", TEMPLATE("web", SETS("abort")), "Overwrite", NULL,
     "value_overridden/ConflictResolution"},
    {"both have one value", TEMPLATE("web", SETS("overwrite")), "Overwrite", NULL, ""},
    {"an invalid value", TEMPLATE("web", SETS("Overwrite")), "Abort", NULL, ""},
    {"the binding has another value", TEMPLATE("web", SETS_WITH_CLAIM("overwrite")), "Abort",
     WEB_BINDING(""), "value_overridden/ConflictResolution"},
    /* The annotation counts against the binding, which Karmada has not updated yet. */
    {"the binding has the value", TEMPLATE("web", SETS_WITH_CLAIM("overwrite")), "Abort",
     WEB_BINDING(",'conflictResolution':'Overwrite'"), ""},
};

TEST_ROWS(the_annotation_of_a_template_overrides_the_value_of_its_policy, annotation_cases, name)
{
    const struct annotation_case *row = *state;
    struct world w;
    char policy[1024];

    snprintf(policy, sizeof(policy), POLICY("p", WRITTEN, DEPLOYMENTS ",'conflictResolution':'%s'"),
             row->policy);
    world_init(&w, &rules_options_default, 1);
    put(&w, policy);
    put(&w, row->template);
    if (row->binding)
        put(&w, row->binding);
    world_run(&w, now_ms);
    assert_conditions(&w, world_find(&w, "apps/v1", "Deployment", "a", "web"), row->expected);
    world_release(&w);
}

TEST(a_template_that_no_policy_selects_has_no_value_to_override)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put(&w, TEMPLATE("web", SETS("overwrite")));
    world_run(&w, now_ms);
    assert_conditions(&w, world_find(&w, "apps/v1", "Deployment", "a", "web"), "");
    world_release(&w);
}

/* Without bindings, as in manifests, the conflict is about the template of the dependency. */
TEST(a_dependency_without_binding_has_the_conditions_itself)
{
    struct world w;

#define USER(name)                                                                                 \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'" name                        \
    "','namespace':'a'},'spec':{'template':{'spec':{'volumes':[{'configMap':{'name':'web'}}]}}}}"
    world_init(&w, &rules_options_default, 1);
    put(&w, POLICY("p", WRITTEN, SELECTOR(",'name':'one'") ",'propagateDeps':true"));
    put(&w, POLICY("q", WRITTEN,
                   SELECTOR(",'name':'two'") ",'propagateDeps':true,"
                                             "'conflictResolution':'Overwrite'"));
    put(&w, CONFIGMAP);
    put(&w, USER("one"));
    put(&w, USER("two"));
    world_run(&w, now_ms);
    assert_conditions(&w, world_find(&w, "v1", "ConfigMap", "a", "web"),
                      "dependency_conflict/ConflictResolution");
    world_release(&w);
}

/* The bindings still agree; the policies of their templates do not. */
TEST(a_conflict_of_the_present_policies_is_predicted)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put(&w, POLICY("p", WRITTEN,
                   DEPLOYMENTS ",'propagateDeps':true,"
                               "'conflictResolution':'Overwrite'"));
    put(&w, TEMPLATE("web", "," CLAIM("p")));
    put(&w, BINDING(WORKLOAD, "web-deployment", "," CLAIM("p"), ",'placement':{}"));
    put(&w, REFERRER("x", ""));
    put(&w, CONFIGMAP);
    put(&w, BINDING(CONFIG, "web-configmap", "", REQUIRED("web-deployment", "x")));
    /* The template of x does not exist, so that its binding's values count. */
    put(&w, "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"
            "'name':'x','namespace':'a'},'spec':{'resource':{'apiVersion':'apps/v1','kind':"
            "'Deployment','namespace':'a','name':'x'},'placement':{}}}");
    world_run(&w, now_ms);
    assert_conditions(&w, find_binding(&w, "web-configmap"),
                      "conflict_predicted/ConflictResolution");
    world_release(&w);
}

/* ---- member clusters ---- */

#define CLUSTER_API "cluster.karmada.io/v1alpha1"
#define CLUSTER(name, status)                                                                      \
    "{'apiVersion':'" CLUSTER_API "','kind':'Cluster','metadata':{'name':'" name                   \
    "','labels':{'name':'" name "'}},'status':{" status "}}"
#define READY(value)                                                                               \
    "'conditions':[{'type':'Ready','status':'" value                                               \
    "','lastTransitionTime':'2026-01-01T00:06:00Z'}]"

static const struct entry *find_cluster(const struct world *w, const char *name)
{
    return world_find(w, CLUSTER_API, "Cluster", "", name);
}

/* Puts templates with bindings to `m1`; that cluster refuses the first `refused` of them. */
static void put_targets(struct world *w, unsigned count, unsigned refused)
{
    put(w, POLICY("p", WRITTEN, DEPLOYMENTS));
    for (unsigned i = 0; i < count; i++) {
        char json[2048];

        snprintf(json, sizeof(json), TEMPLATE("t%u", "," CLAIM("p")), i);
        put(w, json);
        snprintf(json, sizeof(json),
                 "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"
                 "'name':'t%u-deployment','namespace':'a'," CLAIM(
                     "p") "},'spec':{'resource':{"
                          "'apiVersion':'apps/v1','kind':'Deployment','namespace':'a','name':'t%u'}"
                          ",'placement':{},'replicas':2,'clusters':[{'name':'m1','replicas':2}]},"
                          "'status':{'conditions':[{'type':'Scheduled','status':'True'}],"
                          "'aggregatedStatus':[{'clusterName':'m1',%s}]}}",
                 i, i, i < refused ? "'appliedMessage':'invalid'" : "'applied':true");
        put(w, json);
    }
}

TEST(a_cluster_with_targets_is_unavailable_if_gone_or_not_ready)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put_targets(&w, 1, 0);
    world_run(&w, now_ms);
    /* No Cluster was read, as with most manifests. */
    assert_conditions(&w, find_cluster(&w, "m1"), "");
    put(&w, CLUSTER("m2", READY("False")));
    world_run(&w, now_ms);
    assert_conditions(&w, find_cluster(&w, "m1"), "member_cluster_unavailable/gone");
    /* No template is placed on it. */
    assert_conditions(&w, find_cluster(&w, "m2"), "");
    engine_set_incomplete(w.engine, CLUSTER_API, "Cluster", true);
    world_run(&w, now_ms);
    assert_conditions(&w, find_cluster(&w, "m1"), "member_cluster_unavailable/gone?");
    engine_set_incomplete(w.engine, CLUSTER_API, "Cluster", false);
    put(&w, CLUSTER("m1", READY("Unknown")));
    world_run(&w, now_ms);
    assert_conditions(&w, find_cluster(&w, "m1"), "member_cluster_unavailable/not_ready +360");
    put(&w, CLUSTER("m1", "'conditions':[{'type':'Ready','status':'False',"
                          "'lastTransitionTime':'soon'}]"));
    world_run(&w, now_ms);
    assert_conditions(&w, find_cluster(&w, "m1"), "member_cluster_unavailable/not_ready");
    put(&w, CLUSTER("m1", READY("True")));
    world_run(&w, now_ms);
    assert_conditions(&w, find_cluster(&w, "m1"), "");
    world_release(&w);
}

static const struct {
    const char *name;
    unsigned targets;
    unsigned refused;
    const char *expected;
} refused_cases[] = {
    {"nine of nine", 9, 9, ""},
    {"ten of ten", 10, 10, "member_cluster_unavailable/refusing"},
    {"ten of twenty", 20, 10, ""},
    {"eleven of twenty", 20, 11, "member_cluster_unavailable/refusing"},
};

TEST(a_cluster_refuses_from_ten_targets_and_half_of_all)
{
    for (size_t i = 0; i < ARRAY_LEN(refused_cases); i++) {
        struct world w;

        world_init(&w, &rules_options_default, 1);
        put(&w, CLUSTER("m1", READY("True")));
        put_targets(&w, refused_cases[i].targets, refused_cases[i].refused);
        world_run(&w, now_ms);
        assert_conditions(&w, find_cluster(&w, "m1"), refused_cases[i].expected);
        world_release(&w);
    }
}

TEST(a_cluster_flaps_until_an_hour_after_the_first_of_seven_changes)
{
    struct condition_list list = {0};
    int64_t due_ms = INT64_MAX;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put_targets(&w, 1, 0);
    put(&w, CLUSTER("m1", READY("False")));
    for (unsigned i = 0; i < 7; i++) {
        world_run(&w, now_ms + i * MINUTE_MS);
        put(&w, i % 2 ? CLUSTER("m1", READY("False")) : CLUSTER("m1", READY("True")));
    }
    world_run(&w, now_ms + 7 * MINUTE_MS);
    assert_conditions(&w, find_cluster(&w, "m1"), "member_cluster_unavailable/flapping");
    problem_conditions(engine_context_const(w.engine), find_cluster(&w, "m1"), &list, &due_ms);
    condition_list_release(&list);
    assert_int_equal(due_ms, now_ms + 61 * MINUTE_MS);
    world_run(&w, due_ms);
    assert_conditions(&w, find_cluster(&w, "m1"), "");
    world_release(&w);
}

/* ---- capacity ---- */

#define MOVING(request)                                                                            \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"               \
    "'name':'web-deployment','namespace':'a'," CLAIM(                                              \
        "p") "},'spec':{'resource':{"                                                              \
             "'apiVersion':'apps/v1','kind':'Deployment','namespace':'a','name':'web'},"           \
             "'placement':{'clusterAffinity':{'clusterNames':['m1']}},'replicas':2,"               \
             "'clusters':[{'name':'m1','replicas':2}],'replicaRequirements':{'resourceRequest':"   \
             "{" request "}}}}"
#define TO_M2 DEPLOYMENTS ",'placement':{'clusterAffinity':{'clusterNames':['m2']}}"
#define AMOUNTS(allocatable, allocated)                                                            \
    READY("True")                                                                                  \
    ",'resourceSummary':{'allocatable':{" allocatable "},'allocated':{" allocated "}}"

static const struct {
    const char *name;
    const char *request; /* Request of each of two replicas that move from m1 to m2. */
    const char *status;  /* Status of m2. */
    const char *expected;
} capacity_cases[] = {
    {"enough", "'cpu':'1'", AMOUNTS("'cpu':'4','pods':'10'", "'cpu':'1'"), ""},
    {"exactly 80 percent", "'cpu':'2'", AMOUNTS("'cpu':'5','pods':'10'", ""), ""},
    {"more than 80 percent", "'cpu':'2','memory':'1Gi'",
     AMOUNTS("'cpu':'5','memory':'2Gi','pods':'10'", "'cpu':'100m'"),
     "drift_exceeds_capacity/cpu, drift_exceeds_capacity/memory"},
    {"no room at all", "'ephemeral-storage':'1Gi'",
     AMOUNTS("'ephemeral-storage':'1Gi','pods':'1'", "'ephemeral-storage':'1Gi'"),
     "drift_exceeds_capacity/pods, drift_exceeds_capacity/ephemeral-storage"},
    {"resources that the cluster lacks", "'a.example/gpu':'1','b.example/gpu':'1'",
     AMOUNTS("'pods':'10'", ""), "drift_exceeds_capacity/other"},
    {"unknown resources", "'cpu':'1'", READY("True"), ""},
};

TEST(arriving_replicas_need_four_fifths_of_the_room_at_most)
{
    for (size_t i = 0; i < ARRAY_LEN(capacity_cases); i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
        struct world w;

        world_init(&w, &rules_options_default, 1);
        put(&w, CLUSTER("m1", READY("True")));
        strbuf_addf(&text, CLUSTER("m2", "%s"), capacity_cases[i].status);
        put(&w, text.data);
        put(&w, POLICY("p", WRITTEN, TO_M2));
        put(&w, TEMPLATE("web", "," CLAIM("p")));
        strbuf_reset(&text);
        strbuf_addf(&text, MOVING("%s"), capacity_cases[i].request);
        put(&w, text.data);
        world_run(&w, now_ms);
        assert_conditions(&w, find_cluster(&w, "m2"), capacity_cases[i].expected);
        assert_conditions(&w, find_cluster(&w, "m1"), "");
        world_release(&w);
    }
}

/* ---- leases ---- */

/* Times are seconds after start_ms. No namespace has the id x. */
static const struct {
    const char *name;
    const char *holder;
    int expires_s;
    int snapshot_s;
    const char *expected;
} lease_cases[] = {
    {"held", ",'holder':'abc'", 3600 + 1500, 3590, ""},
    {"expired", ",'holder':'abc'", 3000, 3590, "lease_at_risk/expired +3000"},
    {"expiring", ",'holder':'abc'", 3600 + 600, 3590, "lease_at_risk/expiring +3000"},
    {"unknown holder", ",'holder':'x'", 3600 + 1500, 3590, "lease_at_risk/unknown_holder"},
    {"expired, by an unknown holder", ",'holder':'x'", 3000, 3590, "lease_at_risk/expired +3000"},
    {"expired since the snapshot", ",'holder':'abc'", 3500, 3400, "lease_at_risk/expired?"},
    {"without a holder", "", 3000, 3590, ""},
};

TEST(each_risk_of_a_lease_is_a_condition)
{
    for (size_t i = 0; i < ARRAY_LEN(lease_cases); i++) {
        char json[512];
        struct world w;

        world_init(&w, &rules_options_default, 1);
        put(&w, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'namespace-id',"
                "'namespace':'cnrm-system'},'data':{'default':'abc'}}");
        snprintf(json, sizeof(json),
                 "{'apiVersion':'cloudasset.googleapis.com/v1','kind':'Asset','metadata':{"
                 "'name':'//pubsub.googleapis.com/projects/p/topics/t'},'assetType':"
                 "'pubsub.googleapis.com/Topic','snapshotMilliseconds':%" PRId64
                 ",'expiration':'%" PRId64 "'%s}",
                 start_ms + lease_cases[i].snapshot_s * INT64_C(1000),
                 start_ms / 1000 + lease_cases[i].expires_s, lease_cases[i].holder);
        put(&w, json);
        world_run(&w, now_ms);
        assert_conditions(&w,
                          world_find(&w, "cloudasset.googleapis.com/v1", "Asset", "",
                                     "//pubsub.googleapis.com/projects/p/topics/t"),
                          lease_cases[i].expected);
        world_release(&w);
    }
}
