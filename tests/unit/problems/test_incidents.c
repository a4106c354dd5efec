/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Incidents of a control plane: the problems that metrics and notifications show, by the minute.
 * tests/alerts/incidents.test compares its series with the texts here.
 */
#include "metrics/base/timestamp.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/problems/controller_progress.h"
#include "metrics/rules/problems/problem_list.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world_format.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };
enum { TEXT_MAX = 1 << 14, LEASE_READ_MS = 30 * SECOND };

/* 2026-01-10T00:00:00Z */
static const int64_t START_MS = INT64_C(1768003200000);

/* A component of Karmada and its Lease. */
struct component {
    bool runs;
    unsigned holder;
    int64_t acquired_ms;
    int64_t renewed_ms;
};

/* A control plane with the member clusters m1 and m2, and the problems that it has shown. */
struct incident {
    struct world world;
    struct component components[CONTROL_COUNT];
    int64_t now_ms;
    int64_t begin_ms;
    unsigned counts[PROBLEM_REASON_COUNT]; /* Shown in the last minute. */
    struct strbuf shown;                   /* A line for each minute with other problems. */
};

/* ---- objects ---- */

#define ID "'propagationpolicy.karmada.io/permanent-id':'id'"
#define WRITTEN(manager, path)                                                                     \
    "'managedFields':[{'manager':'" manager "','operation':'Update','time':'%s',"                  \
    "'fieldsType':'FieldsV1','fieldsV1':{'f:spec':{'" path "':{}}}}]"

/* Names of clusters in the placement of a policy. */
#define BOTH "m1','m2"

/* Writes the policy of all Deployments of the namespace team-NUMBER. */
static void put_policy(struct incident *in, unsigned ns, const char *allowed)
{
    char time[32];

    format_timestamp(in->now_ms, time);
    world_put_format(
        &in->world,
        "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"
        "'name':'p','namespace':'team-%u','labels':{" ID "}," WRITTEN(
            "kubectl",
            "f:placement") "},'spec':{'resourceSelectors':[{'apiVersion':'apps/v1',"
                           "'kind':'Deployment'}],'placement':{'clusterAffinity':{'clusterNames':["
                           "'%s']}}}}",
        ns, time, allowed);
}

/* Writes a template that its policy has claimed. */
static void put_template(struct incident *in, unsigned ns, unsigned number)
{
    char time[32];

    format_timestamp(in->now_ms, time);
    world_put_format(
        &in->world,
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'app-%u',"
        "'namespace':'team-%u','uid':'u-%u-%u','resourceVersion':'7','creationTimestamp':'%s',"
        "'labels':{" ID "},'annotations':{'propagationpolicy.karmada.io/namespace':'team-%u',"
        "'propagationpolicy.karmada.io/name':'p'}},'spec':{'replicas':2}}",
        number, ns, ns, number, time, ns);
}

/* Karmada writes a binding with the placement of the policy; `spec` and `status` are members. */
static void put_binding(struct incident *in, unsigned ns, unsigned number, const char *allowed,
                        const char *spec, const char *status)
{
    char time[32];

    format_timestamp(in->now_ms, time);
    world_put_format(
        &in->world,
        "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"
        "'name':'app-%u-deployment','namespace':'team-%u'," WRITTEN(
            "karmada-controller-manager",
            "f:placement") ",'labels':{" ID
                           "},'annotations':{'propagationpolicy.karmada.io/namespace':'team-%u',"
                           "'propagationpolicy.karmada.io/name':'p'}},'spec':{'resource':{"
                           "'apiVersion':'apps/v1','kind':'Deployment','namespace':'team-%u',"
                           "'name':'app-%u','uid':'u-%u-%u','resourceVersion':'7'},'replicas':2,"
                           "'placement':{'clusterAffinity':{'clusterNames':['%s']}}%s},"
                           "'status':{%s}}",
        number, ns, time, ns, ns, number, ns, number, allowed, spec, status);
}

/* The scheduler placed the template on a cluster, where its copy has this health. */
static void put_placed_binding(struct incident *in, unsigned ns, unsigned number,
                               const char *allowed, const char *cluster, const char *tasks,
                               const char *health)
{
    char spec[512], status[512];

    snprintf(spec, sizeof(spec), ",'clusters':[{'name':'%s','replicas':2}]%s", cluster, tasks);
    snprintf(status, sizeof(status),
             "'lastScheduledTime':'2026-01-05T00:00:00Z','conditions':[{'type':'Scheduled',"
             "'status':'True','reason':'Success'}],'aggregatedStatus':[{'clusterName':'%s',"
             "'applied':true,'health':'%s'}]",
             cluster, health);
    put_binding(in, ns, number, allowed, spec, status);
}

static void put_good_binding(struct incident *in, unsigned ns, unsigned number, const char *cluster)
{
    put_placed_binding(in, ns, number, cluster, cluster, "", "Healthy");
}

/* The scheduler fails for a reason since `since_ms`; `was_placed`: it did not before. */
static void put_unplaced_binding(struct incident *in, unsigned ns, unsigned number,
                                 const char *allowed, const char *tasks, const char *reason,
                                 int64_t since_ms, bool was_placed)
{
    char status[512], time[32];

    format_timestamp(since_ms, time);
    snprintf(status, sizeof(status),
             "%s'conditions':[{'type':'Scheduled','status':'False','reason':'%s',"
             "'lastTransitionTime':'%s'}]",
             was_placed ? "'lastScheduledTime':'2026-01-05T00:00:00Z'," : "", reason, time);
    put_binding(in, ns, number, allowed, tasks, status);
}

/* Tasks that evict the copy on m1 from now on; Karmada ends them after ten minutes. */
struct tasks {
    char text[256];
};

static struct tasks evict_from_m1(const struct incident *in)
{
    struct tasks tasks;
    char time[32];

    format_timestamp(in->now_ms, time);
    snprintf(tasks.text, sizeof(tasks.text),
             ",'gracefulEvictionTasks':[{'fromCluster':'m1','purgeMode':'Gracefully',"
             "'reason':'TaintUntolerated','producer':'TaintManager','creationTimestamp':'%s'}]",
             time);
    return tasks;
}

/* Karmada could not apply the policy of a template, because a webhook refused the binding. */
static void put_refusal(struct incident *in, unsigned ns, unsigned number)
{
    char time[32];

    format_timestamp(in->now_ms, time);
    world_put_format(
        &in->world,
        "{'apiVersion':'v1','kind':'Event','metadata':{'name':'app-%u','namespace':'team-%u'},"
        "'reason':'ApplyPolicyFailed','involvedObject':{'apiVersion':'apps/v1',"
        "'kind':'Deployment','namespace':'team-%u','name':'app-%u','uid':'u-%u-%u'},"
        "'lastTimestamp':'%s'}",
        number, ns, ns, number, ns, number, time);
}

/* ---- time ---- */

/* Appends a line if the problems are others than a minute ago. */
static void note_problems(struct incident *in)
{
    const unsigned statuses = 1U << PROBLEM_OPEN | 1U << PROBLEM_RESOLVING;
    unsigned counts[PROBLEM_REASON_COUNT] = {0};
    const struct problem **list;
    const char *separator = ": ";
    size_t count;

    list = problems_list(engine_problems(in->world.engine), statuses, &count);
    for (size_t i = 0; i < count; i++)
        counts[list[i]->reason]++;
    free(list);
    if (memcmp(counts, in->counts, sizeof(counts)) == 0)
        return;
    memcpy(in->counts, counts, sizeof(counts));
    strbuf_addf(&in->shown, "%d", (int)((in->now_ms - in->begin_ms) / MINUTE));
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++) {
        if (counts[i] == 0)
            continue;
        strbuf_addf(&in->shown, "%s%s/%s %u", separator, problem_names[problem_reasons[i].problem],
                    problem_reasons[i].name, counts[i]);
        separator = ", ";
    }
    strbuf_addf(&in->shown, "%s\n", count == 0 ? ": nothing" : "");
}

static void read_leases(struct incident *in)
{
    for (unsigned i = 0; i < CONTROL_COUNT; i++) {
        struct component *c = &in->components[i];
        char holder[32];

        if (c->runs)
            c->renewed_ms = in->now_ms;
        snprintf(holder, sizeof(holder), "pod-%u", c->holder);
        controller_progress_lease(engine_progress(in->world.engine), (enum control_component)i,
                                  holder, c->renewed_ms, c->acquired_ms, in->now_ms);
    }
}

/* Lets time pass until a minute of the incident. */
static void pass_until(struct incident *in, unsigned minute)
{
    while (in->now_ms < in->begin_ms + (int64_t)minute * MINUTE) {
        world_pass(&in->world, &in->now_ms, LEASE_READ_MS);
        read_leases(in);
        world_run(&in->world, in->now_ms);
        if ((in->now_ms - in->begin_ms) % MINUTE == 0)
            note_problems(in);
    }
}

/* Another holder of the Lease begins to run. */
static void start_component(struct incident *in, enum control_component component)
{
    struct component *c = &in->components[component];

    c->runs = true;
    c->holder++;
    c->acquired_ms = in->now_ms;
    read_leases(in);
}

/* Returns a control plane on which so many templates of each namespace run on m1 for an hour. */
static struct incident incident_with(unsigned namespaces, unsigned templates)
{
    struct problem_options options = {.history_limit = 10};
    struct incident in = {.now_ms = START_MS, .begin_ms = START_MS, .shown = STRBUF_INIT(TEXT_MAX)};

    problem_settings_reset(&options.settings);
    world_init(&in.world, &rules_options_default, 1);
    world_put_cluster(&in.world, "m1", true, in.now_ms);
    world_put_cluster(&in.world, "m2", true, in.now_ms);
    for (unsigned ns = 0; ns < namespaces; ns++) {
        put_policy(&in, ns, "m1");
        for (unsigned i = 0; i < templates; i++) {
            put_template(&in, ns, i);
            put_good_binding(&in, ns, i, "m1");
        }
    }
    world_run(&in.world, in.now_ms);
    engine_judge_problems(in.world.engine, &options);
    for (unsigned i = 0; i < CONTROL_COUNT; i++)
        in.components[i] = (struct component){true, 1, START_MS - 24 * HOUR, START_MS};
    pass_until(&in, 60);
    assert_text(in.shown.data ? in.shown.data : "", "");
    in.begin_ms = in.now_ms;
    return in;
}

/* Lets the hour pass. Fails unless these problems were shown, each line from a minute on. */
static void assert_shown(struct incident *in, const char *expected)
{
    pass_until(in, 60);
    assert_text(in->shown.data ? in->shown.data : "", expected);
    strbuf_release(&in->shown);
    world_release(&in->world);
}

/* ---- member clusters ---- */

enum { EVICTED_NAMESPACES = 3, STAYING_NAMESPACES = 3, PER_NAMESPACE = 4 };

/* Lets the templates of the first namespaces run on both clusters. */
static void allow_both(struct incident *in)
{
    for (unsigned ns = 0; ns < EVICTED_NAMESPACES; ns++) {
        put_policy(in, ns, BOTH);
        for (unsigned i = 0; i < PER_NAMESPACE; i++)
            put_placed_binding(in, ns, i, BOTH, "m1", "", "Healthy");
    }
}

/* Karmada moves the templates of the first namespaces to m2. */
static void replace_evicted(struct incident *in, const char *tasks, const char *health)
{
    for (unsigned ns = 0; ns < EVICTED_NAMESPACES; ns++) {
        for (unsigned i = 0; i < PER_NAMESPACE; i++)
            put_placed_binding(in, ns, i, BOTH, "m2", tasks, health);
    }
}

/*
 * Karmada taints the cluster after five minutes, and templates tolerate that for five more. The
 * replacements are healthy after ten minutes. The templates of three namespaces stay on m1.
 */
TEST(member_cluster_down)
{
    struct incident in = incident_with(EVICTED_NAMESPACES + STAYING_NAMESPACES, PER_NAMESPACE);

    allow_both(&in);
    world_put_cluster(&in.world, "m1", false, in.now_ms);
    pass_until(&in, 10);
    replace_evicted(&in, evict_from_m1(&in).text, "Unhealthy");
    pass_until(&in, 20);
    replace_evicted(&in, "", "Healthy");
    assert_shown(&in, "5: member_cluster_unavailable/not_ready 1\n"
                      "16: eviction_stuck/replacing 12, member_cluster_unavailable/not_ready 1\n"
                      "25: member_cluster_unavailable/not_ready 1\n");
}

/* A ClusterTaintPolicy evicts at once, and three templates of the next namespace fit m1 only. */
TEST(member_cluster_down_only_copies)
{
    enum { ONLY = EVICTED_NAMESPACES, COUNT = 3 };
    struct incident in = incident_with(ONLY + 1, PER_NAMESPACE);
    struct tasks tasks;
    int64_t evicted_ms;

    allow_both(&in);
    world_put_cluster(&in.world, "m1", false, in.now_ms);
    pass_until(&in, 1);
    evicted_ms = in.now_ms;
    tasks = evict_from_m1(&in);
    replace_evicted(&in, tasks.text, "Unhealthy");
    for (unsigned i = 0; i < COUNT; i++)
        put_unplaced_binding(&in, ONLY, i, "m1", tasks.text, "NoClusterFit", evicted_ms, true);
    pass_until(&in, 11);
    replace_evicted(&in, "", "Healthy");
    for (unsigned i = 0; i < COUNT; i++)
        put_unplaced_binding(&in, ONLY, i, "m1", "", "NoClusterFit", evicted_ms, true);
    assert_shown(
        &in, "2: last_copy_at_risk/cluster_not_ready 3\n"
             "5: last_copy_at_risk/cluster_not_ready 3, member_cluster_unavailable/not_ready 1\n"
             "7: last_copy_at_risk/cluster_not_ready 3, eviction_stuck/replacing 12, "
             "member_cluster_unavailable/not_ready 1\n"
             "13: last_copy_at_risk/cluster_not_ready 3, placement_lost/no_cluster_fit 3, "
             "eviction_stuck/replacing 12, member_cluster_unavailable/not_ready 1\n"
             "16: placement_lost/no_cluster_fit 3, member_cluster_unavailable/not_ready 1\n");
}

/* ---- components of Karmada ---- */

/* The policies change while the controllers do not run; a new holder does all work. */
TEST(controllers_dead)
{
    struct incident in = incident_with(3, PER_NAMESPACE);

    in.components[CONTROL_CONTROLLERS].runs = false;
    pass_until(&in, 1);
    for (unsigned ns = 0; ns < 3; ns++)
        put_policy(&in, ns, "m2");
    pass_until(&in, 30);
    start_component(&in, CONTROL_CONTROLLERS);
    pass_until(&in, 32);
    for (unsigned ns = 0; ns < 3; ns++) {
        for (unsigned i = 0; i < PER_NAMESPACE; i++)
            put_good_binding(&in, ns, i, "m2");
    }
    assert_shown(&in, "5: controllers_stuck/not_running 1\n"
                      "35: nothing\n");
}

/* New templates that no scheduler places. */
static void put_waiting_templates(struct incident *in)
{
    for (unsigned ns = 0; ns < 3; ns++) {
        put_template(in, ns, PER_NAMESPACE);
        put_binding(in, ns, PER_NAMESPACE, "m1", "", "'conditions':[]");
    }
}

static void place_waiting_templates(struct incident *in)
{
    for (unsigned ns = 0; ns < 3; ns++)
        put_good_binding(in, ns, PER_NAMESPACE, "m1");
}

TEST(scheduler_dead)
{
    struct incident in = incident_with(3, PER_NAMESPACE);

    in.components[CONTROL_SCHEDULER].runs = false;
    put_waiting_templates(&in);
    pass_until(&in, 20);
    start_component(&in, CONTROL_SCHEDULER);
    pass_until(&in, 22);
    place_waiting_templates(&in);
    assert_shown(&in, "5: scheduler_stuck/not_running 1\n"
                      "25: nothing\n");
}

/* A new holder counts as reading everything for 20 minutes. */
TEST(scheduler_dead_next_one_hangs)
{
    struct incident in = incident_with(3, PER_NAMESPACE);

    in.components[CONTROL_SCHEDULER].runs = false;
    put_waiting_templates(&in);
    pass_until(&in, 20);
    start_component(&in, CONTROL_SCHEDULER);
    assert_shown(&in, "5: scheduler_stuck/not_running 1\n"
                      "25: nothing\n"
                      "35: not_scheduled/waiting 3\n"
                      "43: scheduler_stuck/no_progress 1\n");
}

TEST(scheduler_hangs)
{
    struct incident in = incident_with(3, PER_NAMESPACE);

    put_waiting_templates(&in);
    pass_until(&in, 45);
    place_waiting_templates(&in);
    assert_shown(&in, "10: not_scheduled/waiting 3\n"
                      "13: scheduler_stuck/no_progress 1\n"
                      "50: nothing\n");
}

/* ---- policies, quota, webhook ---- */

/* The placement names no cluster that exists: Karmada deletes the copies, and makes no new ones. */
TEST(bad_edit_of_a_policy)
{
    enum { NAMESPACES = 12, TEMPLATES = 20, NEW_NAMESPACES = 3, NEW = 2 };
    struct incident in = incident_with(NAMESPACES, TEMPLATES);

    for (unsigned ns = 0; ns < NAMESPACES; ns++)
        put_policy(&in, ns, "m9");
    pass_until(&in, 2);
    for (unsigned ns = 0; ns < NAMESPACES; ns++) {
        for (unsigned i = 0; i < TEMPLATES; i++)
            put_unplaced_binding(&in, ns, i, "m9", "", "NoClusterFit", in.now_ms, true);
        for (unsigned i = 0; ns < NEW_NAMESPACES && i < NEW; i++) {
            put_template(&in, ns, TEMPLATES + i);
            put_unplaced_binding(&in, ns, TEMPLATES + i, "m9", "", "NoClusterFit", in.now_ms,
                                 false);
        }
    }
    pass_until(&in, 25);
    for (unsigned ns = 0; ns < NAMESPACES; ns++) {
        put_policy(&in, ns, "m1");
        for (unsigned i = 0; i < TEMPLATES + (ns < NEW_NAMESPACES ? NEW : 0); i++)
            put_good_binding(&in, ns, i, "m1");
    }
    assert_shown(&in, "4: placement_lost/cluster_gone 240\n"
                      "12: placement_lost/cluster_gone 240, not_scheduled/no_cluster_fit 6\n"
                      "30: nothing\n");
}

TEST(quota_full)
{
    enum { FIRST = 3, ALL = 90 };
    struct incident in = incident_with(1, PER_NAMESPACE);

    for (unsigned i = 0; i < ALL; i++) {
        unsigned number = PER_NAMESPACE + i;

        if (i == FIRST)
            pass_until(&in, 15);
        put_template(&in, 0, number);
        put_unplaced_binding(&in, 0, number, "m1", "", "QuotaExceeded", in.now_ms, false);
    }
    pass_until(&in, 45);
    for (unsigned i = 0; i < ALL; i++)
        put_good_binding(&in, 0, PER_NAMESPACE + i, "m1");
    assert_shown(&in, "10: not_scheduled/quota_exceeded 3\n"
                      "25: not_scheduled/quota_exceeded 90\n"
                      "50: nothing\n");
}

/* The policies of three namespaces change, and a webhook refuses each write of a binding. */
TEST(webhook_refuses)
{
    struct incident in = incident_with(3, PER_NAMESPACE);

    for (unsigned ns = 0; ns < 3; ns++) {
        put_policy(&in, ns, "m2");
        for (unsigned i = 0; i < PER_NAMESPACE; i++)
            put_refusal(&in, ns, i);
    }
    pass_until(&in, 45);
    for (unsigned ns = 0; ns < 3; ns++) {
        for (unsigned i = 0; i < PER_NAMESPACE; i++)
            put_good_binding(&in, ns, i, "m2");
    }
    assert_shown(&in, "3: controllers_stuck/all_refused 1\n"
                      "22: controllers_stuck/all_refused 1, policy_not_in_force/policy_updated 12\n"
                      "50: nothing\n");
}
