/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/control_plane_work.h"

#include "metrics/base/timestamp.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* Objects as JSON with ' in place of ". All are about the Deployment test/app. */
#define POLICY(name, time, spec)                                                                   \
    "{'apiVersion':'policy.karmada.io/"                                                            \
    "v1alpha1','kind':'PropagationPolicy','metadata':{'name':'" name                               \
    "','namespace':'test','labels':{'propagationpolicy.karmada.io/permanent-id':'" name            \
    "'},'managedFields':[{'manager':'kubectl','time':'2026-01-01T" time                            \
    "Z','fieldsV1':{'f:spec':{}}}]},'spec':{'resourceSelectors':[{'apiVersion':'apps/v1',"         \
    "'kind':'Deployment'" spec "}}"
#define ON(cluster) "}],'placement':{'clusterAffinity':{'clusterNames':['" cluster "']}}"
#define ELSEWHERE   ",'name':'other'"
#define LAZY        ",'activationPreference':'Lazy'"
#define PRIORITY                                                                                   \
    ",'schedulePriority':{'priorityClassSource':'KubePriorityClass','priorityClassName':'no'}"
#define OVERRIDE ",'dependentOverrides':['no']"
#define CLAIM(name)                                                                                \
    ",'labels':{'propagationpolicy.karmada.io/permanent-id':'" name                                \
    "'},'annotations':{'propagationpolicy.karmada.io/namespace':'test',"                           \
    "'propagationpolicy.karmada.io/name':'" name "'}"
#define UID ",'uid':'u'"
#define CREATED(time)                                                                              \
    ",'creationTimestamp':'2026-01-01T" time "Z','managedFields':[{'manager':'kubectl','time':"    \
    "'2026-01-01T" time "Z','fieldsV1':{'f:spec':{}}}]"
#define APP(metadata)                                                                              \
    "{'apiVersion':'apps/"                                                                         \
    "v1','kind':'Deployment','metadata':{'name':'app','namespace':'test'" metadata                 \
    "},'spec':{'replicas':1}}"
#define BINDING(metadata, spec, status)                                                            \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{'name':"        \
    "'app-deployment','namespace':'test'" metadata "},'spec':{'resource':{'apiVersion':"           \
    "'apps/v1','kind':'Deployment','namespace':'test','name':'app','uid':'u'},'replicas':1,"       \
    "'schedulerName':'default-scheduler','conflictResolution':'Abort'" spec "}" status "}"
#define BOUND_ON(cluster) ",'placement':{'clusterAffinity':{'clusterNames':['" cluster "']}}"
#define SCHEDULED                                                                                  \
    ",'status':{'conditions':[{'type':'Scheduled','status':'True','reason':'Success',"             \
    "'lastTransitionTime':'2026-01-01T11:00:00Z'}]}"
#define WRITTEN(time)                                                                              \
    ",'managedFields':[{'manager':'karmada','time':'2026-01-01T" time                              \
    "Z','fieldsV1':{'f:spec':{'f:resource':{}}}}]"
#define OTHER_CLASS                                                                                \
    "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass','metadata':{'name':'yes'},"       \
    "'value':7}"

static cJSON *parse(const char *text)
{
    CLEANUP(free_cleanup) char *copy = xstrdup(text);
    cJSON *json;

    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    json = cJSON_Parse(copy);
    if (!json)
        fail_msg("no JSON: %s", copy);
    return json;
}

static void put(struct world *w, const char *text)
{
    cJSON *json = parse(text);

    world_put(w, json);
    cJSON_Delete(json);
}

/* ---- decisions ---- */

enum { OBJECTS_MAX = 5 };

/* Work at noon. */
static const struct work_case {
    const char *title;
    const char *objects[OBJECTS_MAX];
    enum work_kind kind;
    enum takeover takeover;
    const char *made; /* Time of the change; NULL: not checked. */
    bool stuck;
} work_cases[] = {
    {"a current template",
     {POLICY("p", "11:00:00", ON("m1")), APP(UID CLAIM("p")),
      BINDING(CLAIM("p"), BOUND_ON("m1"), SCHEDULED)},
     .kind = WORK_COUNT},
    {"a changed policy",
     {POLICY("p", "11:00:00", ON("m2")), APP(UID CLAIM("p")),
      BINDING(CLAIM("p"), BOUND_ON("m1"), SCHEDULED)},
     .kind = WORK_POLICIES,
     .made = "11:00:00"},
    {"a policy changed within the grace",
     {POLICY("p", "11:59:30", ON("m2")), APP(UID CLAIM("p")),
      BINDING(CLAIM("p"), BOUND_ON("m1"), SCHEDULED)},
     .kind = WORK_POLICIES,
     .made = "11:59:30"},
    {"a changed Lazy policy",
     {POLICY("p", "11:00:00", ON("m2") LAZY), APP(UID CLAIM("p") CREATED("10:00:00")),
      BINDING(CLAIM("p"), BOUND_ON("m1"), SCHEDULED)},
     .kind = WORK_COUNT},
    {"a changed Lazy policy, and a later change of the template",
     {POLICY("p", "11:00:00", ON("m2") LAZY), APP(UID CLAIM("p") CREATED("11:30:00")),
      BINDING(CLAIM("p"), BOUND_ON("m1"), SCHEDULED)},
     .kind = WORK_POLICIES,
     .made = "11:30:00"},
    {"a changed policy with static takeover",
     {POLICY("p", "11:00:00", ON("m2")), APP(UID CLAIM("p") CREATED("10:00:00")),
      BINDING(CLAIM("p"), BOUND_ON("m1"), SCHEDULED)},
     .kind = WORK_COUNT,
     .takeover = TAKEOVER_STATIC},
    {"a changed policy without its PriorityClass",
     {POLICY("p", "11:00:00", ON("m2") PRIORITY), APP(UID CLAIM("p")), OTHER_CLASS,
      BINDING(CLAIM("p"), BOUND_ON("m1"), SCHEDULED)},
     .kind = WORK_COUNT},
    {"another policy took over",
     {POLICY("p", "11:00:00", ON("m1")), APP(UID CLAIM("p")),
      BINDING(CLAIM("q"), BOUND_ON("m1"), SCHEDULED)},
     .kind = WORK_POLICIES,
     .made = "11:00:00"},
    {"a policy that no longer selects the template",
     {POLICY("p", "11:00:00", ELSEWHERE ON("m1")), APP(UID CLAIM("p")),
      BINDING(CLAIM("p"), BOUND_ON("m1"), SCHEDULED)},
     .kind = WORK_COUNT},
    {"a deleted policy",
     {APP(UID CLAIM("p")), BINDING(CLAIM("p"), BOUND_ON("m1"), SCHEDULED)},
     .kind = WORK_COUNT},
    {"a changed template",
     {POLICY("p", "11:00:00", ON("m1")), APP(UID CLAIM("p") CREATED("11:30:00")),
      BINDING(CLAIM("p") WRITTEN("11:10:00"), BOUND_ON("m1"), SCHEDULED)},
     .kind = WORK_TEMPLATES,
     .made = "11:30:00"},
    {"a template without a claim and a binding",
     {POLICY("p", "11:00:00", ON("m1")), APP(UID CREATED("11:20:00"))},
     .kind = WORK_TEMPLATES,
     .made = "11:20:00"},
    {"a template that no client has applied yet",
     {POLICY("p", "11:00:00", ON("m1")), APP("")},
     .kind = WORK_COUNT},
    {"a claimed template without a binding",
     {POLICY("p", "11:00:00", ON("m1")), APP(UID CLAIM("p") CREATED("11:59:30"))},
     .kind = WORK_TEMPLATES,
     .made = "11:59:30"},
    {"a claimed template without a binding after the grace",
     {POLICY("p", "11:00:00", ON("m1")), APP(UID CLAIM("p") CREATED("11:20:00"))},
     .kind = WORK_COUNT,
     .stuck = true},
    {"a new template without the PriorityClass",
     {POLICY("p", "11:00:00", ON("m1") PRIORITY), OTHER_CLASS, APP(UID CREATED("11:20:00"))},
     .kind = WORK_COUNT},
    {"a new template without the override policy",
     {POLICY("p", "11:00:00", ON("m1") OVERRIDE), APP(UID CREATED("11:20:00"))},
     .kind = WORK_COUNT},
    {"a template that a Lazy policy claimed",
     {POLICY("p", "11:00:00", ON("m1") LAZY), APP(UID CLAIM("p") CREATED("10:00:00"))},
     .kind = WORK_COUNT},
    {"a template that a Lazy policy claimed, and that was changed",
     {POLICY("p", "11:00:00", ON("m1") LAZY), APP(UID CLAIM("p") CREATED("11:20:00"))},
     .kind = WORK_TEMPLATES,
     .made = "11:20:00"},
    {"a template without a policy", {APP(UID)}, .kind = WORK_COUNT},
};

static void expect_time(int64_t ms, const char *time)
{
    char text[32];

    format_timestamp(ms, text);
    assert_string_equal(text + strlen("2026-01-01T"), time);
}

/* Puts the objects and decides about them at noon. */
static void decide_at_noon(struct world *w, const struct rules_options *options,
                           const char *const *objects, size_t count)
{
    int64_t noon_ms;

    assert_true(parse_timestamp("2026-01-01T12:00:00Z", &noon_ms));
    world_init(w, options, 1);
    for (size_t i = 0; i < count && objects[i]; i++)
        put(w, objects[i]);
    world_run(w, noon_ms);
}

TEST_ROWS(work_of_the_controllers, work_cases, title)
{
    const struct work_case *row = *state;
    struct rules_options options = rules_options_default;
    struct found_work found;
    const struct entry *app;
    struct world w;

    options.takeover = row->takeover;
    decide_at_noon(&w, &options, row->objects, OBJECTS_MAX);
    app = world_find(&w, "apps/v1", "Deployment", "test", "app");
    found = find_controller_work(&options, app, template_decision(app));
    assert_int_equal(found.kind, row->kind);
    assert_int_equal(found.stuck, row->stuck);
    if (row->made) {
        char expected[32];

        snprintf(expected, sizeof(expected), "%sZ", row->made);
        expect_time(found.made_ms, expected);
    }
    world_release(&w);
}

/* A binding, and whether the scheduler has work about it. */
static const struct scheduler_case {
    const char *title;
    const char *binding;
    bool has_work;
} scheduler_cases[] = {
    {"never scheduled", BINDING(CLAIM("p"), BOUND_ON("m1"), ""), true},
    {"scheduled", BINDING(CLAIM("p"), BOUND_ON("m1"), SCHEDULED), false},
    {"suspended", BINDING(CLAIM("p"), BOUND_ON("m1") ",'suspension':{'scheduling':true}", ""),
     false},
    {"no cluster fits",
     BINDING(CLAIM("p"), BOUND_ON("m1"),
             ",'status':{'conditions':[{'type':'Scheduled','status':'False','reason':"
             "'NoClusterFit'}]}"),
     false},
};

TEST_ROWS(work_of_the_scheduler, scheduler_cases, title)
{
    const struct scheduler_case *row = *state;
    const char *objects[] = {POLICY("p", "11:00:00", ON("m1")), APP(UID CLAIM("p")), row->binding};
    const struct entry *app;
    struct world w;

    decide_at_noon(&w, &rules_options_default, objects, ARRAY_LEN(objects));
    app = world_find(&w, "apps/v1", "Deployment", "test", "app");
    assert_int_equal(find_scheduler_work(template_decision(app)).kind,
                     row->has_work ? WORK_SCHEDULING : WORK_COUNT);
    world_release(&w);
}

/* The binding of a ConfigMap that the app requires. */
#define SHARED(value, referrers)                                                                   \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{'name':"        \
    "'shared-configmap','namespace':'test'},'spec':{'resource':{'apiVersion':'v1','kind':"         \
    "'ConfigMap','namespace':'test','name':'shared'},'conflictResolution':'" value                 \
    "','requiredBy':[" referrers "]}}"
#define BY(name) "{'namespace':'test','name':'" name "'}"

static const struct dependency_case {
    const char *title;
    const char *binding;
    bool has_work;
} dependency_cases[] = {
    {"the resolved value", SHARED("Abort", BY("app-deployment")), false},
    {"another value", SHARED("Overwrite", BY("app-deployment")), true},
    {"a referrer that does not exist",
     SHARED("Overwrite", BY("app-deployment") "," BY("gone-deployment")), false},
    {"no referrer is left", SHARED("Overwrite", ""), true},
};

TEST_ROWS(work_about_dependencies, dependency_cases, title)
{
    const struct dependency_case *row = *state;
    const char *objects[] = {
        POLICY("p", "11:00:00", ON("m1") ",'propagateDeps':true"), APP(UID CLAIM("p")),
        BINDING(CLAIM("p"), BOUND_ON("m1") ",'propagateDeps':true", SCHEDULED), row->binding};
    const struct entry *shared;
    struct world w;

    decide_at_noon(&w, &rules_options_default, objects, ARRAY_LEN(objects));
    shared =
        world_find(&w, "work.karmada.io/v1alpha2", "ResourceBinding", "test", "shared-configmap");
    assert_int_equal(find_dependency_work(dependency_decision(shared)).kind,
                     row->has_work ? WORK_DEPENDENCIES : WORK_COUNT);
    world_release(&w);
}

TEST(a_claim_counts_once_it_was_seen_to_be_written)
{
    struct template_decision before = {.state = STATE_UNBOUND};
    struct template_decision after = {.state = STATE_UNBOUND, .own_claim = true};

    assert_false(was_claimed(NULL, &after));
    assert_true(was_claimed(&before, &after));
    assert_false(was_claimed(&after, &after));
    assert_false(was_claimed(&after, &before));
    before.first_run = true;
    assert_false(was_claimed(&before, &after));
}

/* ---- writes ---- */

#define FROM(version)                                                                              \
    ",'resource':{'apiVersion':'apps/v1','kind':'Deployment','namespace':'test',"                  \
    "'name':'app','uid':'u','resourceVersion':'" version "'}"
#define WITH_CLUSTER                                                                               \
    ",'placement':{'clusterAffinity':{'clusterNames':['m1']}},'clusters':[{'name':'m1'}]"
#define WHEN_SCHEDULED(time)                                                                       \
    ",'status':{'lastScheduledTime':'2026-01-01T" time "Z','conditions':[{'type':'Scheduled',"     \
    "'status':'True','reason':'Success'}]}"

/* Two versions of a binding. */
static const struct write_case {
    const char *title;
    const char *old; /* NULL: the binding is new. */
    const char *fresh;
    bool written;
    unsigned kinds; /* Bits by work_kind. */
    bool scheduled;
} write_cases[] = {
    {"a new binding", NULL, BINDING("", BOUND_ON("m1"), ""), true, 1U << WORK_TEMPLATES, false},
    {"no difference", BINDING("", BOUND_ON("m1"), ""), BINDING("", BOUND_ON("m1"), ""), false, 0,
     false},
    {"another placement", BINDING("", BOUND_ON("m1"), ""), BINDING("", BOUND_ON("m2"), ""), true,
     1U << WORK_POLICIES, false},
    {"another claim", BINDING(CLAIM("p"), BOUND_ON("m1"), ""),
     BINDING(CLAIM("q"), BOUND_ON("m1"), ""), true, 1U << WORK_POLICIES, false},
    {"a created again binding", BINDING(",'uid':'1'", BOUND_ON("m1"), ""),
     BINDING(",'uid':'2'", BOUND_ON("m1"), ""), true, 1U << WORK_TEMPLATES, false},
    {"a later write without a difference", BINDING(WRITTEN("10:00:00"), BOUND_ON("m1"), ""),
     BINDING(WRITTEN("10:00:01"), BOUND_ON("m1"), ""), true, 0, false},
    {"a first result of the scheduler", BINDING("", BOUND_ON("m1"), ""),
     BINDING("", WITH_CLUSTER, WHEN_SCHEDULED("10:00:00")), false, 0, true},
    {"a later result of the scheduler", BINDING("", WITH_CLUSTER, WHEN_SCHEDULED("10:00:00")),
     BINDING("", WITH_CLUSTER, WHEN_SCHEDULED("10:00:01")), false, 0, true},
    {"the scheduler cannot place it", BINDING("", BOUND_ON("m1"), SCHEDULED),
     BINDING("", BOUND_ON("m1"),
             ",'status':{'conditions':[{'type':'Scheduled','status':'False','reason':"
             "'NoClusterFit'}]}"),
     false, 0, true},
    {"the scheduler observed a generation",
     BINDING(",'generation':2", BOUND_ON("m1"), ",'status':{'schedulerObservedGeneration':1}"),
     BINDING(",'generation':2", BOUND_ON("m1"), ",'status':{'schedulerObservedGeneration':2}"),
     false, 0, true},
    {"a generation that the scheduler has not observed",
     BINDING(",'generation':2", BOUND_ON("m1"), ",'status':{'schedulerObservedGeneration':2}"),
     BINDING(",'generation':3", BOUND_ON("m1"), ",'status':{'schedulerObservedGeneration':2}"),
     false, 0, false},
    {"another referrer", SHARED("Abort", BY("a")), SHARED("Abort", BY("a") "," BY("b")), true,
     1U << WORK_DEPENDENCIES, false},
    {"another value of a dependency", SHARED("Abort", BY("a")), SHARED("Overwrite", BY("a")), true,
     1U << WORK_DEPENDENCIES, false},
};

static struct binding *decode_binding(const struct store *store, const char *text)
{
    struct error err = {""};
    struct decode d = store_make_decoder(store, &err);
    cJSON *json = text ? parse(text) : NULL;
    struct binding *b = json ? binding_decode(&d, json) : NULL;

    assert_true(!text || b);
    cJSON_Delete(json);
    return b;
}

TEST_ROWS(a_write_belongs_to_work, write_cases, title)
{
    const struct write_case *row = *state;
    struct store *store = store_new(1);
    struct binding *old = decode_binding(store, row->old);
    struct binding *fresh = decode_binding(store, row->fresh);
    unsigned kinds;

    assert_int_equal(was_written(old, fresh, &kinds), row->written);
    assert_int_equal(kinds, row->kinds);
    assert_int_equal(was_scheduled(old, fresh), row->scheduled);
    if (old)
        binding_release(store_string_pool(store), old);
    binding_release(store_string_pool(store), fresh);
    store_free(store);
}

/* ---- bindings of other shards ---- */

/* A version of a binding, and the components that wrote it since the version before. */
struct other_version {
    unsigned name;
    const char *written;   /* Time of the day; NULL: unknown. */
    const char *scheduled; /* Likewise. */
    unsigned expected;     /* Bits by enum control_component. */
};

enum { CONTROLLERS = 1U << CONTROL_CONTROLLERS, SCHEDULER = 1U << CONTROL_SCHEDULER };

static unsigned note_other(struct other_bindings *o, unsigned name, const char *written,
                           const char *scheduled, const char *now)
{
    char text[1024];
    int64_t now_ms;
    cJSON *json;
    unsigned result;

    snprintf(text, sizeof(text),
             "{'metadata':{'namespace':'a','name':'b%u','managedFields':[{'manager':'karmada',"
             "'time':'%s','fieldsV1':{'f:spec':{'f:resource':{}}}},{'manager':'user','subresource':"
             "'status','time':"
             "'2026-01-01T23:00:00Z','fieldsV1':{'f:metadata':{}}}]},'status':{"
             "'lastScheduledTime':'%s','conditions':[{'type':'Scheduled','status':'True'}]}}",
             name, written ? written : "", scheduled ? scheduled : "");
    assert_true(parse_timestamp(now, &now_ms));
    json = parse(text);
    result = other_bindings_note(o, json, now_ms);
    cJSON_Delete(json);
    return result;
}

#define NOON "2026-01-01T12:00:00Z"

TEST(a_write_of_a_binding_of_another_shard_counts_once)
{
    static const struct other_version versions[] = {
        {0, "2026-01-01T11:00:00Z", "2026-01-01T11:00:01Z", CONTROLLERS | SCHEDULER},
        {0, "2026-01-01T11:00:00Z", "2026-01-01T11:00:01Z", 0},
        {0, "2026-01-01T11:00:01Z", "2026-01-01T11:00:01Z", CONTROLLERS},
        {0, "2026-01-01T11:00:01Z", "2026-01-01T11:00:02Z", SCHEDULER},
        {0, "2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z", 0}, /* A restore of etcd. */
        {1, "2026-01-01T11:00:01Z", NULL, CONTROLLERS},         /* In the same second. */
        {2, NULL, NULL, 0},
        {3, "2100-01-01T00:00:00Z", "1901-01-01T00:00:00Z", CONTROLLERS},
        {3, "2100-01-01T00:00:00Z", "noon", 0},
        {4, "9999-01-01T00:00:00Z", "9999-01-01T00:00:00Z", 0},
        {4, "2026-01-01T11:00:00Z", NULL, CONTROLLERS},
    };
    struct other_bindings o;

    other_bindings_init(&o, 1);
    for (size_t i = 0; i < ARRAY_LEN(versions); i++)
        assert_int_equal(
            note_other(&o, versions[i].name, versions[i].written, versions[i].scheduled, NOON),
            versions[i].expected);
    other_bindings_release(&o);
}

/* Karmada's clock is ahead: the times that were dropped are later than the latest time that counts.
 */
TEST(a_time_in_the_future_counts_once_after_it_was_dropped)
{
    struct other_bindings o;

    other_bindings_init(&o, 1);
    for (unsigned i = 0; i < OTHER_BINDINGS_MAX + 1; i++)
        assert_int_equal(note_other(&o, i, "2026-01-01T12:01:00Z", NULL, NOON), CONTROLLERS);
    /* The list is read again, at once and later. */
    for (unsigned i = 0; i < OTHER_BINDINGS_MAX + 1; i++) {
        assert_int_equal(note_other(&o, i, "2026-01-01T12:01:00Z", NULL, NOON), 0);
        assert_int_equal(note_other(&o, i, "2026-01-01T12:01:00Z", NULL, "2026-01-01T12:00:30Z"),
                         0);
    }
    /* A later write of a binding that was dropped counts. */
    assert_int_equal(note_other(&o, 0, "2026-01-01T12:01:01Z", NULL, "2026-01-01T12:02:00Z"),
                     CONTROLLERS);
    other_bindings_release(&o);
}

/* The API server limits a list to the kept bindings: others are first read when they change. */
TEST(writes_before_a_list_without_other_bindings_do_not_count)
{
    struct other_bindings o;
    int64_t noon_ms;

    assert_true(parse_timestamp(NOON, &noon_ms));
    other_bindings_init(&o, 1);
    assert_int_equal(note_other(&o, 0, "2026-01-01T12:00:05Z", NULL, NOON), CONTROLLERS);
    other_bindings_skip_list(&o, noon_ms);
    assert_int_equal(note_other(&o, 1, "2026-01-01T11:59:59Z", "2026-01-01T12:00:00Z", NOON), 0);
    assert_int_equal(note_other(&o, 1, "2026-01-01T12:00:01Z", NULL, NOON), CONTROLLERS);
    assert_int_equal(note_other(&o, 2, NULL, "2026-01-01T12:00:01Z", NOON), SCHEDULER);
    /* The times of known bindings stay, and later lists do not go back. */
    other_bindings_skip_list(&o, noon_ms - 60 * 1000);
    assert_int_equal(note_other(&o, 0, "2026-01-01T12:00:05Z", NULL, NOON), 0);
    assert_int_equal(note_other(&o, 3, "2026-01-01T12:00:00Z", NULL, NOON), 0);
    other_bindings_release(&o);
}

/* Old versions of bindings that are not kept do not count again, and new ones do. */
TEST(the_times_of_few_bindings_are_kept)
{
    struct other_bindings o;

    other_bindings_init(&o, 1);
    assert_int_equal(note_other(&o, 0, "2100-01-01T00:00:00Z", NULL, "2026-01-01T00:00:00Z"),
                     CONTROLLERS);
    for (unsigned i = 1; i < 3 * OTHER_BINDINGS_MAX; i++) {
        char written[32];

        format_timestamp(INT64_C(1767225600000) + (int64_t)i * 1000, written);
        assert_int_equal(note_other(&o, i, written, NULL, written), CONTROLLERS);
        assert_true(o.times.count <= OTHER_BINDINGS_MAX);
    }
    assert_int_equal(note_other(&o, 1, "2026-01-01T00:00:01Z", NULL, NOON), 0);
    assert_int_equal(note_other(&o, 1, "2026-01-01T11:00:00Z", NULL, NOON), CONTROLLERS);
    other_bindings_release(&o);
}
