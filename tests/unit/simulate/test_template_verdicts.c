/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/template_verdicts.h"

#include "metrics/expose/verdict_text.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { TEXT_MAX = 1 << 16 };

static const int64_t NOW_MS = INT64_C(1767225600000);

/* Puts an object; the text has ' in place of ". */
static void put(struct world *w, const char *format, const char *a, const char *b, const char *c)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    const char *values[] = {a, b, c};
    size_t next = 0;

    for (const char *at = format; *at; at++) {
        if (*at == '%')
            strbuf_adds(&text, values[next++]);
        else
            strbuf_addc(&text, *at);
    }
    for (size_t i = 0; i < text.len; i++)
        text.data[i] = text.data[i] == '\'' ? '"' : text.data[i];
    world_put_text(w, text.data);
}

/*
 * Clusters: m1 and m2 in the region eu, m3 in us with a taint, m4 without region and with another
 * label, m5 that does not serve Deployments.
 */
static void put_clusters(struct world *w)
{
    static const char cluster[] =
        "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'%',"
        "'labels':{'env':'prod'}},'spec':{%}%}";
    static const char served[] =
        ",'status':{'apiEnablements':[{'groupVersion':'apps/v1','resources':[{'kind':'Deployment'}]"
        "}],'conditions':[{'type':'CompleteAPIEnablements','status':'True'}]}";
    static const char other[] =
        ",'status':{'apiEnablements':[{'groupVersion':'v1','resources':[{'kind':'Secret'}]}],"
        "'conditions':[{'type':'CompleteAPIEnablements','status':'True'}]}";

    put(w, cluster, "m1", "'region':'eu'", served);
    put(w, cluster, "m2", "'region':'eu'", served);
    put(w, cluster, "m3",
        "'region':'us','taints':[{'key':'gpu','value':'true','effect':'NoSchedule'}]", served);
    put(w,
        "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'m4',"
        "'labels':{'env':'test'}},'spec':{}%}",
        served, "", "");
    put(w, cluster, "m5", "'region':'us'", other);
}

/* Parts of placements. */
#define NAMES(names)  "'clusterAffinity':{'clusterNames':[" names "]}"
#define ALL           "'clusterAffinity':{}"
#define STATIC(names) STATIC_WEIGHTS("{'targetCluster':{'clusterNames':[" names "]},'weight':1}")
#define STATIC_WEIGHTS(list)                                                                       \
    "'replicaScheduling':{'replicaSchedulingType':'Divided','replicaDivisionPreference':"          \
    "'Weighted','weightPreference':{'staticWeightList':[" list "]}}"
#define DYNAMIC                                                                                    \
    "'replicaScheduling':{'replicaSchedulingType':'Divided','replicaDivisionPreference':"          \
    "'Weighted','weightPreference':{'dynamicWeight':'AvailableReplicas'}}"
#define GROUPS                                                                                     \
    "'clusterAffinities':[{'affinityName':'a','clusterNames':['m3']},{'affinityName':'b',"         \
    "'clusterNames':['m1']},{'affinityName':'c','clusterNames':['m2','m3']}]"
#define SPREAD                                                                                     \
    "'spreadConstraints':[{'spreadByField':'region','minGroups':1,'maxGroups':1},"                 \
    "{'spreadByField':'cluster','minGroups':1}]"

/* A template with its policy or binding, and the verdict of each cluster. */
static struct verdict_case {
    const char *name;
    const char *policy;  /* Placement of the policy; NULL without a policy. */
    const char *binding; /* Placement of the binding; NULL without a binding. */
    const char *spec;    /* Other members of the binding's spec. */
    const char *status;  /* Status of the binding; NULL: the scheduler has applied the placement. */
    const char *expected;
} verdict_cases[] = {
    {"filters, without a binding", ALL, NULL, NULL, NULL,
     "m1 target (predicted, 2 replicas), m2 target (predicted, 2 replicas), "
     "m3 taint (spec.taints gpu=true:NoSchedule is not tolerated), m4 target (predicted, 2 "
     "replicas), "
     "m5 api_not_served (status.apiEnablements lacks apps/v1 Deployment)"},
    {"each condition of an affinity",
     "'clusterAffinity':{'exclude':['m1'],'clusterNames':['m3','m4'],'labelSelector':{"
     "'matchLabels':{'env':'prod'}},'fieldSelector':{'matchExpressions':[{'key':'region',"
     "'operator':'In','values':['us']}]}}",
     NULL, NULL, NULL,
     "m1 affinity (clusterAffinity.exclude lists m1), "
     "m2 affinity (clusterAffinity.fieldSelector needs region in (us) (cluster: region=eu)), "
     "m3 taint (spec.taints gpu=true:NoSchedule is not tolerated), "
     "m4 affinity (clusterAffinity.labelSelector needs env in (prod) (cluster: env=test)), "
     "m5 affinity (clusterAffinity.clusterNames lists only m3, m4)"},
    {"spread constraints that are not met",
     ALL ",'spreadConstraints':[{'spreadByField':'cluster','minGroups':9}]", NULL, NULL, NULL,
     "m1 spread_constraint (spreadConstraints[0] (cluster, at least 9) is not met: too few "
     "clusters), "
     "m2 spread_constraint (spreadConstraints[0] (cluster, at least 9) is not met: too few "
     "clusters), "
     "m3 taint (spec.taints gpu=true:NoSchedule is not tolerated), "
     "m4 spread_constraint (spreadConstraints[0] (cluster, at least 9) is not met: too few "
     "clusters), "
     "m5 api_not_served (status.apiEnablements lacks apps/v1 Deployment)"},
    {"a property of a spread constraint, and an unknown selection", ALL "," SPREAD, NULL, NULL,
     NULL,
     "m1 undetermined (the spread constraints choose by free capacity (spread_constraints)), "
     "m2 undetermined (the spread constraints choose by free capacity (spread_constraints)), "
     "m3 taint (spec.taints gpu=true:NoSchedule is not tolerated), "
     "m4 spread_property (spreadConstraints[0].spreadByField is region (cluster: no region)), "
     "m5 api_not_served (status.apiEnablements lacks apps/v1 Deployment)"},
    {"static weights", NAMES("'m1','m2'") "," STATIC("'m1'"), NULL, NULL, NULL,
     "m1 target (predicted, 2 replicas), "
     "m2 weight_zero (no entry of weightPreference.staticWeightList matches the cluster), "
     "m3 affinity (clusterAffinity.clusterNames lists only m1, m2), "
     "m4 affinity (clusterAffinity.clusterNames lists only m1, m2), "
     "m5 affinity (clusterAffinity.clusterNames lists only m1, m2)"},
    {"the free capacity decides", NAMES("'m1','m2'") "," DYNAMIC, NULL, NULL, NULL,
     "m1 undetermined (the free capacity of the clusters decides (dynamic_weight)), "
     "m2 undetermined (the free capacity of the clusters decides (dynamic_weight)), "
     "m3 affinity (clusterAffinity.clusterNames lists only m1, m2), "
     "m4 affinity (clusterAffinity.clusterNames lists only m1, m2), "
     "m5 affinity (clusterAffinity.clusterNames lists only m1, m2)"},
    {"affinity groups: the group that is about to be used", GROUPS, NULL, NULL, NULL,
     "m1 target (predicted, 2 replicas; other groups: a: affinity, c: affinity), "
     "m2 affinity (clusterAffinities[2] (c) allows it, but is not in use; other groups: "
     "a: affinity, c: allowed), "
     "m3 affinity (clusterAffinities[0] (a) allows it, but is not in use; other groups: "
     "a: taint, c: taint), "
     "m4 affinity (clusterAffinities[1].clusterNames lists only m1; other groups: a: affinity, "
     "c: affinity), "
     "m5 affinity (clusterAffinities[1].clusterNames lists only m1; other groups: a: affinity, "
     "c: affinity)"},
    {"the binding's placement, not that of the policy", ALL, NAMES("'m1'"),
     "'clusters':[{'name':'m1','replicas':2}]", NULL,
     "m1 target (2 replicas), m2 affinity (clusterAffinity.clusterNames lists only m1), "
     "m3 affinity (clusterAffinity.clusterNames lists only m1), m4 affinity "
     "(clusterAffinity.clusterNames lists only m1), "
     "m5 affinity (clusterAffinity.clusterNames lists only m1)"},
    {"an orphan", NULL, NAMES("'m1'"), "'clusters':[{'name':'m1','replicas':2}]", NULL,
     "m1 target (2 replicas), m2 affinity (clusterAffinity.clusterNames lists only m1), "
     "m3 affinity (clusterAffinity.clusterNames lists only m1), m4 affinity "
     "(clusterAffinity.clusterNames lists only m1), "
     "m5 affinity (clusterAffinity.clusterNames lists only m1)"},
    {"a target that the next scheduling removes", NULL, NAMES("'m2','m5'"),
     "'clusters':[{'name':'m1','replicas':2},{'name':'m5','replicas':2}]", NULL,
     "m1 target (2 replicas; the next scheduling removes it (affinity): "
     "clusterAffinity.clusterNames lists only "
     "m2, m5), m2 target (predicted, 2 replicas), m3 affinity (clusterAffinity.clusterNames lists "
     "only m2, m5), "
     "m4 affinity (clusterAffinity.clusterNames lists only m2, m5), m5 target (2 replicas)"},
    {"a settled division", NULL, NAMES("'m1','m2'") "," DYNAMIC,
     "'clusters':[{'name':'m1','replicas':2}]", NULL,
     "m1 target (2 replicas), m2 replicas_exhausted (other clusters have all replicas (2)), "
     "m3 affinity (clusterAffinity.clusterNames lists only m1, m2), "
     "m4 affinity (clusterAffinity.clusterNames lists only m1, m2), "
     "m5 affinity (clusterAffinity.clusterNames lists only m1, m2)"},
    {"a settled division, and a cluster that the next scheduling adds", NULL,
     NAMES("'m1','m2'") "," STATIC("'m1','m2'"), "'clusters':[{'name':'m1','replicas':2}]", NULL,
     "m1 target (2 replicas), m2 replicas_exhausted (other clusters have all replicas (2); the "
     "next scheduling adds it (target)), m3 affinity (clusterAffinity.clusterNames lists only m1, "
     "m2), "
     "m4 affinity (clusterAffinity.clusterNames lists only m1, m2), "
     "m5 affinity (clusterAffinity.clusterNames lists only m1, m2)"},
    {"an eviction", NULL, NAMES("'m1','m2'"),
     "'clusters':[{'name':'m1','replicas':2}],'gracefulEvictionTasks':[{'fromCluster':'m2',"
     "'producer':'TaintManager','reason':'TaintUntolerated'}]",
     NULL,
     "m1 target (2 replicas), m2 evicting (gracefulEvictionTasks has a task of TaintManager "
     "TaintUntolerated), "
     "m3 affinity (clusterAffinity.clusterNames lists only m1, m2), "
     "m4 affinity (clusterAffinity.clusterNames lists only m1, m2), "
     "m5 affinity (clusterAffinity.clusterNames lists only m1, m2)"},
    {"another scheduler", NULL, NAMES("'m1'"), "'schedulerName':'mine'", NULL,
     "m1 undetermined (another scheduler decides (other_scheduler)), m2 undetermined (another "
     "scheduler decides (other_scheduler)), "
     "m3 undetermined (another scheduler decides (other_scheduler)), m4 undetermined (another "
     "scheduler decides (other_scheduler)), "
     "m5 undetermined (another scheduler decides (other_scheduler))"},
    {"suspended scheduling", NULL, NAMES("'m1'"), "'suspension':{'scheduling':true}", NULL,
     "m1 undetermined (scheduling is suspended), m2 affinity (clusterAffinity.clusterNames lists "
     "only m1), "
     "m3 affinity (clusterAffinity.clusterNames lists only m1), m4 affinity "
     "(clusterAffinity.clusterNames lists only m1), "
     "m5 affinity (clusterAffinity.clusterNames lists only m1)"},
    {"a binding that others require", NULL, NULL,
     "'requiredBy':[{'namespace':'default','name':'x-deployment','clusters':[{'name':'m2'}]}]",
     NULL, "m2 required (by ResourceBinding default/x-deployment)"},
    {"no policy", NULL, NULL, NULL, NULL, ""},
};

static void put_policy(struct world *w, const char *placement)
{
    put(w,
        "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"
        "'name':'p','namespace':'default'},'spec':{'resourceSelectors':[{'apiVersion':'apps/v1',"
        "'kind':'Deployment'}],'placement':{%}}}",
        placement, "", "");
}

/* Puts the binding of the template; the scheduler has applied its placement. */
static void put_binding(struct world *w, const struct verdict_case *c)
{
    CLEANUP(strbuf_release) struct strbuf applied = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf placement = STRBUF_INIT(TEXT_MAX);

    if (c->binding) {
        strbuf_addf(&placement, ",'placement':{%s}", c->binding);
        strbuf_adds(&applied, "'policy.karmada.io/applied-placement':'{");
        for (const char *at = c->binding; *at; at++)
            strbuf_adds(&applied, *at == '\'' ? "\\'" : (char[]){*at, '\0'});
        strbuf_adds(&applied, "}'");
    }
    put(w,
        "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{'name':"
        "'web-deployment','namespace':'default','labels':{},'annotations':{%}},'spec':{"
        "'resource':{'apiVersion':'apps/v1','kind':'Deployment','namespace':'default','name':'web',"
        "'uid':'u'},'replicas':2,'replicaRequirements':{}%,%}}",
        applied.data, placement.data, c->spec ? c->spec : "'clusters':[]");
}

static void init_world(struct world *w, const struct verdict_case *c)
{
    world_init(w, &rules_options_default, 1);
    put_clusters(w);
    put(w,
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web','namespace':"
        "'default','uid':'u'},'spec':{'replicas':2,'template':{}}}",
        "", "", "");
    if (c->policy)
        put_policy(w, c->policy);
    if (c->binding || c->spec)
        put_binding(w, c);
    world_run(w, NOW_MS);
}

static const struct entry *find_template(const struct world *w)
{
    return world_find(w, "apps/v1", "Deployment", "default", "web");
}

static void print_verdicts(const struct cluster_verdicts *v, struct strbuf *out)
{
    for (size_t i = 0; i < v->count; i++) {
        CLEANUP(strbuf_release) struct strbuf reason = STRBUF_INIT(TEXT_MAX);

        verdict_add_reason(&v->items[i], &reason);
        strbuf_addf(out, "%s%s %s", i > 0 ? ", " : "", v->items[i].cluster->name,
                    verdict_word(v->items[i].kind));
        if (reason.len > 0)
            strbuf_addf(out, " (%s)", reason.data);
    }
}

TEST_ROWS(each_cluster_has_a_verdict, verdict_cases, name)
{
    const struct verdict_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf actual = STRBUF_INIT(TEXT_MAX);
    struct world w;

    init_world(&w, c);
    {
        CLEANUP(cluster_verdicts_release)
        struct cluster_verdicts v = template_verdicts(w.engine, find_template(&w));

        print_verdicts(&v, &actual);
        assert_int_equal(v.has_placement, *c->expected != '\0');
    }
    assert_string_equal(actual.data, c->expected);
    world_release(&w);
}

/* The verdict about one cluster equals that in the list of all clusters. */
TEST_ROWS(one_cluster_has_the_verdict_of_the_list, verdict_cases, name)
{
    struct cluster_verdicts list;
    struct world w;

    init_world(&w, *state);
    list = template_verdicts(w.engine, find_template(&w));
    for (size_t i = 0; i < list.count; i++) {
        struct cluster_verdict one;

        assert_true(template_verdict_of_cluster(w.engine, find_template(&w), list.items[i].cluster,
                                                false, &one));
        assert_int_equal(one.kind, list.items[i].kind);
        assert_int_equal(one.next, list.items[i].next);
        cluster_verdict_release(&one);
    }
    cluster_verdicts_release(&list);
    world_release(&w);
}

/* A placement with workloadAffinity, and the groups of the binding; the cluster m1 is a target of
 * the other. */
static struct workload_case {
    const char *name;
    const char *groups; /* spec.workloadAffinityGroups of both bindings. */
    const char *gates;
    const char *expected;
} workload_cases[] = {
    {"workloads that run together", "{'affinityGroup':'app=a'}", "WorkloadAffinity=true",
     "m1 target (predicted, 2 replicas), m2 workload_affinity (the other workloads of "
     "workloadAffinityGroups exclude it (app=a))"},
    {"workloads that run apart", "{'antiAffinityGroup':'app=a'}", "WorkloadAffinity=true",
     "m1 workload_affinity (the other workloads of workloadAffinityGroups exclude it (app=a)), "
     "m2 target (predicted, 2 replicas)"},
    {"without the gate", "{'antiAffinityGroup':'app=a'}", "",
     "m1 target (predicted, 2 replicas), m2 target (predicted, 2 replicas)"},
    {"no groups", "{}", "WorkloadAffinity=true",
     "m1 target (predicted, 2 replicas), m2 target (predicted, 2 replicas)"},
};

TEST_ROWS(other_workloads_exclude_clusters, workload_cases, name)
{
    static const char binding[] =
        "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{'name':"
        "'%-deployment','namespace':'default'},'spec':{'resource':{'apiVersion':'apps/v1','kind':"
        "'Deployment','namespace':'default','name':'%'},'replicas':2,'replicaRequirements':{},"
        "'placement':{'clusterAffinity':{'clusterNames':['m1','m2']},'workloadAffinity':{'affinity'"
        ":{'groupByLabelKey':'app'}}},%}}";
    const struct workload_case *c = *state;
    struct rules_options options = rules_options_default;
    CLEANUP(strbuf_release) struct strbuf actual = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf spec = STRBUF_INIT(TEXT_MAX);
    struct cluster_verdicts v;
    struct world w;

    options.feature_gates = c->gates;
    world_init(&w, &options, 1);
    put_clusters(&w);
    put(&w,
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web','namespace':"
        "'default'},'spec':{'replicas':2,'template':{}}}",
        "", "", "");
    strbuf_addf(&spec, "'workloadAffinityGroups':%s", c->groups);
    put(&w, binding, "web", "web", spec.data);
    strbuf_adds(&spec, ",'clusters':[{'name':'m1','replicas':2}]");
    put(&w, binding, "other", "other", spec.data);
    world_run(&w, NOW_MS);
    v = template_verdicts(w.engine, find_template(&w));
    v.count = v.count > 2 ? 2 : v.count;
    print_verdicts(&v, &actual);
    v.count = 5;
    cluster_verdicts_release(&v);
    assert_string_equal(actual.data, c->expected);
    world_release(&w);
}

TEST(a_policy_without_template_has_the_filters_that_need_none)
{
    CLEANUP(strbuf_release) struct strbuf actual = STRBUF_INIT(TEXT_MAX);
    const struct verdict_case c = {.policy = "'clusterAffinity':{'exclude':['m4']}"};
    struct cluster_verdicts v;
    struct world w;

    init_world(&w, &c);
    v = policy_verdicts(w.engine, world_find(&w, "policy.karmada.io/v1alpha1", "PropagationPolicy",
                                             "default", "p"));
    print_verdicts(&v, &actual);
    assert_string_equal(
        actual.data,
        "m1 allowed, m2 allowed, m3 taint (spec.taints gpu=true:NoSchedule is not tolerated), "
        "m4 affinity (clusterAffinity.exclude lists m4), m5 allowed");
    cluster_verdicts_release(&v);
    world_release(&w);
}

TEST(a_cluster_has_the_templates_that_are_not_placed_there)
{
    const struct verdict_case c = {.policy = ALL};
    struct template_rejections r;
    struct world w;

    init_world(&w, &c);
    r = template_rejections_of(w.engine,
                               world_find(&w, "cluster.karmada.io/v1alpha1", "Cluster", "", "m3"));
    assert_int_equal(r.count, 1);
    assert_ptr_equal(r.templates[0], find_template(&w));
    assert_int_equal(r.kinds[0], CLUSTER_VERDICT_TAINT);
    assert_int_equal(r.counts[CLUSTER_VERDICT_TAINT], 1);
    template_rejections_release(&r);
    r = template_rejections_of(w.engine,
                               world_find(&w, "cluster.karmada.io/v1alpha1", "Cluster", "", "m1"));
    assert_int_equal(r.count, 0);
    template_rejections_release(&r);
    world_release(&w);
}

TEST(the_summary_counts_clusters_by_verdict)
{
    CLEANUP(strbuf_release) struct strbuf actual = STRBUF_INIT(TEXT_MAX);
    const struct verdict_case c = {.policy = NAMES("'m3','m5'")};
    struct cluster_verdicts v;
    struct world w;

    init_world(&w, &c);
    v = template_verdicts(w.engine, find_template(&w));
    verdicts_add_summary(&v, &actual);
    assert_string_equal(actual.data, "Placed in no member cluster; not placed: affinity 3, "
                                     "api_not_served 1, taint 1.");
    cluster_verdicts_release(&v);
    world_release(&w);
}
