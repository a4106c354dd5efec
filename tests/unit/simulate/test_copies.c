/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/plan.h"

#include "tests/unit/bound_objects.h"
#include "tests/unit/planned.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* Copies in member clusters that a change does not reach, or does not remove. */

enum { NOW_MS = 1000 * 1000, STEPS_MAX = 4, TEXT_MAX = 256 };

/* ---- objects ---- */

#define TWO       "\"placement\":{\"clusterAffinity\":{\"clusterNames\":[\"member1\",\"member2\"]}}"
#define SUSPENDED ",\"suspension\":{\"dispatching\":true}"
#define SUSPENDED_ON(name)                                                                         \
    ",\"suspension\":{\"dispatchingOnClusters\":{\"clusterNames\":[\"" name "\"]}}"
#define PRESERVED ",\"preserveResourcesOnDeletion\":true"
#define SCALED(name, number)                                                                       \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"" name           \
    "\",\"namespace\":\"default\",\"uid\":\"u-" name "\"},\"spec\":{\"replicas\":" number          \
    ",\"template\":{}}}"
#define MEMBER(name)                                                                               \
    "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\",\"metadata\":{"          \
    "\"name\":\"" name "\"},\"status\":{\"apiEnablements\":[{\"groupVersion\":\"apps/v1\","        \
    "\"resources\":[{\"name\":\"deployments\",\"kind\":\"Deployment\"}]}],\"conditions\":[{"       \
    "\"type\":\"Ready\",\"status\":\"True\"},{\"type\":\"CompleteAPIEnablements\",\"status\":"     \
    "\"True\"}]}}"
#define APPLIED_ON(name) "\\\"clusterAffinity\\\":{\\\"clusterNames\\\":[\\\"" name "\\\"]}"
/* A binding of the Deployment web by the policy p; `more` are members of its spec. */
#define BOUND(more, status)                                                                        \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"web-deployment\",\"namespace\":\"default\",\"labels\":{"                           \
    "\"propagationpolicy.karmada.io/permanent-id\":\"id-p\"},\"annotations\":{"                    \
    "\"propagationpolicy.karmada.io/namespace\":\"default\","                                      \
    "\"propagationpolicy.karmada.io/name\":\"p\",\"policy.karmada.io/"                             \
    "applied-placement\":\"{" APPLIED_ON(                                                          \
        "member1") "}\"}},\"spec\":{\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":"            \
                   "\"Deployment\",\"namespace\":\"default\",\"name\":\"web\",\"uid\":\"u-web\","  \
                   "\"resourceVersion\":\"10\"},\"replicas\":2,\"replicaRequirements\":{},"        \
                   "\"conflictResolution\":\"Abort\"," ON("member1") more                          \
        ",\"clusters\":[{\"name\":"                                                                \
        "\"member1\",\"replicas\":2}]},\"status\":{\"conditions\":[{\"type\":\"Scheduled\","       \
        "\"status\":\"True\",\"reason\":\"Success\"}]" status "}}"
#define HAS_COPY                                                                                   \
    ",\"aggregatedStatus\":[{\"clusterName\":\"member1\",\"applied\":true,\"health\":\"Healthy\"}" \
    "]"
#define OTHER_SCHEDULER ",\"schedulerName\":\"other\""
#define WAITS           ",\"suspension\":{\"scheduling\":true}"

static const struct copies_case {
    const char *name;
    const char *policy;           /* Members of the policy's spec beside the selector. */
    const char *binding;          /* NULL: web does not exist before the change. */
    const char *steps[STEPS_MAX]; /* JSON texts to apply; "-" and a name: an object to delete. */
    const char *after; /* "<outcome> <reason> <cluster>:<replicas>[!] ..."; NULL: no row. */
    const char *sums;  /* "<cluster>:<before>-><after> ..." */
} cases[] = {
    {"a new template under a policy that suspends dispatching",
     TWO SUSPENDED,
     NULL,
     {SCALED("web", "2")},
     "nowhere suspended member1:2! member2:2!",
     ""},
    {"a new template and one suspended cluster",
     TWO SUSPENDED_ON("member2"),
     NULL,
     {SCALED("web", "2")},
     "placed scheduled member1:2 member2:2!",
     "member1:0->2"},
    {"a new template and a suspended cluster that is no target",
     ON("member1") SUSPENDED_ON("x"),
     NULL,
     {SCALED("web", "2")},
     "placed scheduled member1:2",
     "member1:0->2"},
    {"a policy begins to suspend dispatching",
     ON("member1"),
     BOUND("", ""),
     {POLICY("p", SELECTS("web") "," ON("member1") SUSPENDED)},
     "placed kept member1:2!",
     "member1:2->2"},
    {"a policy that suspends dispatching adds a cluster",
     ON("member1") SUSPENDED,
     BOUND(SUSPENDED, HAS_COPY),
     {POLICY("p", SELECTS("web") "," TWO SUSPENDED)},
     "placed kept member1:2! member2:2!",
     "member1:2->2"},
    {"a policy that suspends dispatching moves the template",
     ON("member1") SUSPENDED,
     BOUND(SUSPENDED, HAS_COPY),
     {POLICY("p", SELECTS("web") "," ON("member2") SUSPENDED)},
     "nowhere suspended member2:2!",
     "member1:2->0"},
    {"a scaled template with a copy",
     ON("member1") SUSPENDED,
     BOUND(SUSPENDED, HAS_COPY),
     {SCALED("web", "5")},
     "placed kept member1:5!",
     "member1:2->2"},
    {"a scaled template without a copy",
     ON("member1") SUSPENDED,
     BOUND(SUSPENDED, ""),
     {SCALED("web", "5")},
     "nowhere suspended member1:5!",
     "member1:0->0"},
    {"the suspension ends",
     ON("member1") SUSPENDED,
     BOUND(SUSPENDED, ""),
     {POLICY("p", SELECTS("web") "," ON("member1"))},
     "placed scheduled member1:2",
     "member1:0->2"},
    {"a scale, then a suspension, then a scale",
     ON("member1"),
     BOUND("", ""),
     {SCALED("web", "3"), POLICY("p", SELECTS("web") "," ON("member1") SUSPENDED),
      SCALED("web", "4")},
     "placed kept member1:4!",
     "member1:2->2"},

    {"a scaled template while scheduling is suspended",
     ON("member1"),
     BOUND(WAITS, HAS_COPY),
     {SCALED("web", "5")},
     "placed kept member1:2",
     "member1:2->2"},
    {"another scale while scheduling is suspended",
     ON("member1"),
     BOUND(WAITS, ""),
     {SCALED("web", "5"), SCALED("web", "6")},
     "placed kept member1:2",
     "member1:2->2"},
    {"a new placement while scheduling is suspended",
     ON("member1"),
     BOUND(WAITS, ""),
     {POLICY("p", SELECTS("web") "," ON("member2"))},
     "placed kept member1:2",
     "member1:2->2"},
    {"an equal scale while scheduling is suspended",
     ON("member1"),
     BOUND(WAITS, ""),
     {SCALED("web", "2")},
     NULL,
     ""},

    {"a new template of another scheduler",
     ON("member1") OTHER_SCHEDULER,
     NULL,
     {SCALED("web", "2")},
     "undetermined other_scheduler",
     ""},
    {"a scaled template of another scheduler",
     ON("member1") OTHER_SCHEDULER,
     BOUND(OTHER_SCHEDULER, HAS_COPY),
     {SCALED("web", "5")},
     "undetermined other_scheduler member1:2",
     "member1:2->2"},

    {"a policy that preserves copies moves the template",
     ON("member1") PRESERVED,
     BOUND(PRESERVED, ""),
     {POLICY("p", SELECTS("web") "," ON("member2") PRESERVED)},
     "placed scheduled member2:2",
     "member1:2->2 member2:0->2"},
    {"a policy moves the template and begins to preserve copies",
     ON("member1"),
     BOUND("", ""),
     {POLICY("p", SELECTS("web") "," ON("member2") PRESERVED)},
     "placed scheduled member2:2",
     "member1:2->0 member2:0->2"},
    {"a policy moves the template without preserving copies",
     ON("member1"),
     BOUND("", ""),
     {POLICY("p", SELECTS("web") "," ON("member2"))},
     "placed scheduled member2:2",
     "member1:2->0 member2:0->2"},
    {"a binding that preserves copies is deleted",
     ON("member1") PRESERVED,
     BOUND(PRESERVED, ""),
     {"-ResourceBinding"},
     "nowhere stuck",
     "member1:2->2"},
    {"a binding that does not preserve copies is deleted",
     ON("member1"),
     BOUND("", ""),
     {"-ResourceBinding"},
     "nowhere stuck",
     "member1:2->0"},
    {"a cluster is deleted, and copies are preserved",
     ON("member1") PRESERVED,
     BOUND(PRESERVED, ""),
     {"-Cluster"},
     "nowhere no_cluster_fit",
     "member1:2->2"},
    {"a cluster is deleted",
     ON("member1"),
     BOUND("", ""),
     {"-Cluster"},
     "nowhere no_cluster_fit",
     "member1:2->0"},
};

static void apply_step(struct world *w, struct plan *p, const char *step)
{
    if (strcmp(step, "-ResourceBinding") == 0)
        plan_delete(p, world_find(w, "work.karmada.io/v1alpha2", "ResourceBinding", "default",
                                  "web-deployment"));
    else if (strcmp(step, "-Cluster") == 0)
        plan_delete(p, world_find(w, CLUSTER_API_VERSION, CLUSTER_KIND, "", "member1"));
    else
        planned_apply(p, step);
}

static void init_world(struct world *w, const struct copies_case *c)
{
    char policy[2048];

    snprintf(policy, sizeof(policy), POLICY("p", SELECTS("web") ",%s"), c->policy);
    world_init(w, &rules_options_default, 1);
    world_put_text(w, MEMBER("member1"));
    world_put_text(w, MEMBER("member2"));
    world_put_text(w, policy);
    if (c->binding) {
        world_put_text(w, TEMPLATE("web", "," CLAIM("p")));
        world_put_text(w, c->binding);
    }
    world_run(w, NOW_MS);
}

static void describe_outcome(const struct outcome *o, char text[TEXT_MAX])
{
    int len = snprintf(text, TEXT_MAX, "%s %s", prediction_names[o->predicted.outcome],
                       o->predicted.reason);

    for (uint32_t i = 0; i < o->cluster_count; i++)
        len += snprintf(text + len, TEXT_MAX - (size_t)len, " %s:%d%s", o->clusters[i].name,
                        (int)o->clusters[i].replicas, o->clusters[i].item.suspended ? "!" : "");
}

static void describe_sums(const struct plan_result *r, char text[TEXT_MAX])
{
    int len = 0;

    text[0] = '\0';
    for (size_t i = 0; i < r->clusters.count; i++)
        len += snprintf(text + len, TEXT_MAX - (size_t)len, "%s%s:%d->%d", len > 0 ? " " : "",
                        r->clusters.items[i].name, (int)r->clusters.items[i].replicas[PLAN_BEFORE],
                        (int)r->clusters.items[i].replicas[PLAN_AFTER]);
}

TEST_ROWS(copies_in_member_clusters, cases, name)
{
    const struct copies_case *c = *state;
    const struct plan_result *r;
    const struct plan_template *row;
    struct world w;
    char text[TEXT_MAX];

    init_world(&w, c);
    struct plan *p = plan_new(w.engine);
    for (size_t i = 0; i < STEPS_MAX && c->steps[i]; i++)
        apply_step(&w, p, c->steps[i]);
    r = plan_finish(p);
    row = planned_row(r, "web");
    assert_int_equal(row != NULL, c->after != NULL);
    if (row) {
        describe_outcome(&row->after, text);
        assert_string_equal(text, c->after);
    }
    describe_sums(r, text);
    assert_string_equal(text, c->sums);
    plan_free(p);
    world_release(&w);
}
