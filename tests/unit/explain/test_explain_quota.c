/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_quota.h"

#include "metrics/explain/explain.h"
#include "metrics/model/kind.h"

#include "tests/unit/suite.h"
#include "tests/unit/world_format.h"

enum { TEXT_MAX = 1 << 20 };

static const int64_t NOW_MS = INT64_C(1767225600000); /* 2026-01-01T00:00:00Z */

#define OVER                                                                                       \
    "denied the request: FederatedResourceQuota(a/limit) exceeded for resource cpu: requested sum" \
    " 4, limit 3."

/* `metadata` and `rest`: further members of metadata and of the object, each after a comma. */
static void put_quota(struct world *w, const char *name, const char *metadata, const char *spec,
                      const char *used)
{
    world_put_format(w,
                     "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'FederatedResourceQuota',"
                     "'metadata':{'name':'%s','namespace':'a'%s},'spec':{%s},'status':{"
                     "'overallUsed':{%s}}}",
                     name, metadata, spec, used);
}

static void put_template(struct world *w, const char *name, unsigned replicas)
{
    world_put_format(w,
                     "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'%s',"
                     "'namespace':'a'},'spec':{'replicas':%u,'template':{'spec':{'containers':[{"
                     "'name':'c','resources':{'requests':{'cpu':'1'}}}]}}}}",
                     name, replicas);
}

/* A binding that requests a core for each of `replicas` replicas; `placed` of them are on m1. */
static void put_binding(struct world *w, const char *name, unsigned replicas, unsigned placed,
                        const char *reason)
{
    world_put_format(w,
                     "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata'"
                     ":{'name':'%s-deployment','namespace':'a'},'spec':{'resource':{'apiVersion':"
                     "'apps/v1','kind':'Deployment','namespace':'a','name':'%s'},'replicas':%u,"
                     "'replicaRequirements':{'resourceRequest':{'cpu':'1'}},'placement':{"
                     "'clusterAffinity':{'clusterNames':['m1']}},'clusters':[{'name':'m1',"
                     "'replicas':%u}]},'status':{'conditions':[{'type':'Scheduled','status':'%s',"
                     "'reason':'%s','message':'%s'}]}}",
                     name, name, replicas, placed,
                     strcmp(reason, "Success") == 0 ? "True" : "False", reason,
                     strcmp(reason, "Success") == 0 ? "" : OVER);
}

/* A world with the quota "limit" and the policy "p", which places each Deployment on m1. */
static void init_world(struct world *w, const char *gates, const char *overall, const char *used)
{
    struct rules_options options = rules_options_default;

    options.feature_gates = gates;
    world_init(w, &options, 1);
    world_put_cluster(w, "m1", true, NOW_MS);
    world_put_format(w, "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy',"
                        "'metadata':{'name':'p','namespace':'a'},'spec':{'resourceSelectors':[{"
                        "'apiVersion':'apps/v1','kind':'Deployment'}],'placement':{"
                        "'clusterAffinity':{'clusterNames':['m1']}}}}");
    put_quota(w, "limit", "", overall, used);
}

static void add_line(void *context, enum explain_style style, const char *text)
{
    (void)style;
    strbuf_addf(context, "%s\n", text);
}

/* Checks the section "quotas" of the Deployment "web"; of the namespace if `template` is false. */
static void check_section(struct world *w, bool template, const char *wanted)
{
    CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(TEXT_MAX);
    struct explanation x;

    world_run(w, NOW_MS);
    explanation_init(&x);
    if (template)
        explain_object(w->engine, world_find(w, "apps/v1", "Deployment", "a", "web"), NOW_MS, &x);
    else
        assert_true(explain_namespace(w->engine, "a", NOW_MS, &x));
    explanation_finish(&x);
    explanation_each_line_of(&x, "quotas", add_line, &lines);
    assert_true(strbuf_ok(&x.json));
    explanation_release(&x);
    assert_string_equal(lines.len > 0 ? lines.data : "", wanted);
}

#define GATE             "FederatedQuotaEnforcement=true"
#define HEADING          "Quotas\n"
#define NAME             "FederatedResourceQuota a/limit"
#define TEMPLATE_COLUMNS "RESOURCE                   LIMIT        USED  THIS TEMPLATE  NEEDS MORE\n"

TEST(a_template_that_needs_room)
{
    struct world w;

    init_world(&w, GATE, "'overall':{'cpu':'3'}", "'cpu':'0'");
    put_template(&w, "web", 2);
    check_section(&w, true,
                  HEADING NAME ":\n" TEMPLATE_COLUMNS
                               "cpu                            3           0              0"
                               "           2\n");
    world_release(&w);
}

TEST(a_template_that_a_quota_refuses)
{
    struct world w;

    init_world(&w, GATE, "'overall':{'cpu':'3'}", "'cpu':'2'");
    put_template(&w, "web", 4);
    put_binding(&w, "web", 4, 2, "QuotaExceeded");
    check_section(&w, true,
                  HEADING NAME
                  ":\n" TEMPLATE_COLUMNS
                  "cpu                            3           2              2           2\n"
                  "Karmada refuses the template: " NAME " limits cpu to 3; 2 is used, and the "
                  "template needs 2 more.\n");
    check_section(&w, false,
                  HEADING NAME ":\nRESOURCE                   LIMIT        USED\n"
                               "cpu                            3           2\n"
                               "Refused templates (quota_exceeded): Deployment web.\n");
    put_quota(&w, "limit", "", "'overall':{'cpu':'4'}", "'cpu':'2'");
    check_section(&w, true,
                  HEADING NAME
                  ":\n" TEMPLATE_COLUMNS
                  "cpu                            4           2              2           2\n"
                  "The last attempt was refused. There is room for the template now; the scheduler "
                  "tries again within 10 seconds.\n");
    world_release(&w);
}

/* Karmada before 1.15.5 sets another reason; the message names the quota. */
TEST(a_template_that_a_quota_refuses_with_the_reason_of_old_releases)
{
    struct world w;

    init_world(&w, GATE, "'overall':{'cpu':'3'}", "'cpu':'2'");
    put_quota(&w, "other", "", "'overall':{}", "");
    put_template(&w, "web", 4);
    put_binding(&w, "web", 4, 2, "SchedulerError");
    check_section(&w, false,
                  HEADING NAME ":\nRESOURCE                   LIMIT        USED\n"
                               "cpu                            3           2\n"
                               "Refused templates (quota_exceeded): Deployment web.\n"
                               "FederatedResourceQuota a/other limits nothing: spec.overall has no "
                               "amount.\n");
    world_release(&w);
}

TEST(limits_that_do_not_work_as_they_look)
{
    struct world w;

    init_world(&w, GATE,
               "'overall':{'cpu':'1','pods':'5'},'staticAssignments':[{'clusterName':'m1','hard':"
               "{'cpu':'1'}}]",
               "'cpu':'3'");
    put_template(&w, "web", 2);
    put_binding(&w, "web", 2, 2, "Success");
    check_section(
        &w, false,
        HEADING NAME
        ":\nRESOURCE                   LIMIT        USED\n"
        "cpu                            1           3\n"
        "pods                           5     ignored\n"
        "cpu: the status of the quota has 3, the bindings have 2. Karmada counts the bindings "
        "again "
        "every 5 minutes.\n"
        "cpu: the use is above the limit. Karmada takes nothing away, and refuses each change of "
        "the usage that does not end within the limit, also a change to less.\n"
        "pods: Karmada ignores this limit. It compares the names of requests in bindings, such as "
        "cpu, memory and example.com/gpu.\n"
        "staticAssignments: Karmada creates a ResourceQuota in m1. It limits the pods there; the "
        "scheduler does not consider it.\n");
    world_release(&w);
}

TEST(a_quota_in_deletion_still_limits)
{
    struct world w;

    init_world(&w, GATE, "'overall':{'cpu':'3'}", "");
    put_quota(&w, "limit", ",'deletionTimestamp':'2026-01-01T00:00:00Z'", "'overall':{'cpu':'3'}",
              "");
    check_section(&w, false,
                  HEADING NAME ", in deletion: it limits the namespace until it is gone:\n"
                               "RESOURCE                   LIMIT        USED\n"
                               "cpu                            3           0\n");
    world_release(&w);
}

TEST(templates_that_compete)
{
    struct world w;

    init_world(&w, GATE, "'overall':{'cpu':'3'}", "");
    put_template(&w, "web", 2);
    put_template(&w, "other", 2);
    put_template(&w, "too-large", 4);
    check_section(&w, true,
                  HEADING NAME
                  ":\n" TEMPLATE_COLUMNS
                  "cpu                            3           0              0           2\n"
                  "1 other template of the namespace needs 2 of cpu as well, and there is no room "
                  "for all: the order in which Karmada handles them decides.\n");
    world_release(&w);
}

TEST(quotas_without_the_gate)
{
    struct world w;

    init_world(&w, "", "'overall':{'cpu':'3'}", "");
    put_template(&w, "web", 2);
    check_section(&w, true,
                  HEADING "The scheduler does not enforce the limits of FederatedResourceQuota "
                          "limit: FederatedQuotaEnforcement is off (--karmada.feature-gates).\n");
    put_binding(&w, "web", 4, 2, "QuotaExceeded");
    check_section(&w, true,
                  HEADING "Karmada has refused templates of the namespace because of a quota, so "
                          "the gate is on. Set --karmada.feature-gates FederatedQuotaEnforcement="
                          "true.\n");
    world_release(&w);
}

TEST(no_section_without_quota_or_requests)
{
    struct world w;

    init_world(&w, GATE, "'overall':{'cpu':'3'}", "");
    world_put_format(&w, "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web',"
                         "'namespace':'a'},'spec':{'replicas':2}}");
    check_section(&w, true, "");
    put_template(&w, "web", 2);
    store_remove(w.store, world_find(&w, QUOTA_API_VERSION, QUOTA_KIND, "a", "limit"));
    check_section(&w, true, "");
    check_section(&w, false, "");
    world_release(&w);
}

TEST(quotas_that_are_not_read)
{
    struct world w;

    init_world(&w, GATE, "'overall':{'cpu':'3'}", "");
    put_template(&w, "web", 2);
    engine_set_incomplete(w.engine, QUOTA_API_VERSION, QUOTA_KIND, true);
    check_section(&w, true,
                  HEADING "Unknown: the FederatedResourceQuotas have not been read. Grant the "
                          "exporter list and watch of federatedresourcequotas.\n");
    world_release(&w);
}
