/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/scheduling/scheduling.h"

#include "metrics/base/number.h"
#include "metrics/model/canonical_json.h"
#include "metrics/model/metadata.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

/* ---- a plane with clusters ---- */

static const char served[] = "[{'groupVersion':'apps/v1','resources':[{'kind':'Deployment'}]}]";
static const char other[] = "[{'groupVersion':'v1','resources':[{'kind':'ConfigMap'}]}]";

/* Properties of a cluster in a text such as "m1 m2+taint+zone:z1". */
static const struct trait {
    const char *name; /* A name that ends in ':' takes a value. */
    const char *path;
    const char *json; /* The value replaces '*'. */
} traits[] = {
    {"taint", "spec.taints", "[{'key':'k','effect':'NoSchedule'}]"},
    {"evicts", "spec.taints", "[{'key':'k','effect':'NoExecute'}]"},
    {"prefers", "spec.taints", "[{'key':'k','effect':'PreferNoSchedule'}]"},
    {"deleting", "metadata.deletionTimestamp", "'2026-01-01T00:00:00Z'"},
    {"lost", "status.apiEnablements", other},
    {"noapis", "status.apiEnablements", "[]"},
    {"partial", "status.conditions", "[{'type':'CompleteAPIEnablements','status':'False'}]"},
    {"bare", "status", "{}"},
    {"zone:", "spec.zones", "['*']"},
    {"zones:", "spec.zones", "['*','z9']"},
    {"region:", "spec.region", "'*'"},
    {"provider:", "spec.provider", "'*'"},
    {"label:", "metadata.labels", "{'l':'*'}"},
};

static void put_trait(cJSON *cluster, const char *text)
{
    for (size_t i = 0; i < ARRAY_LEN(traits); i++) {
        size_t len = strlen(traits[i].name);
        bool valued = traits[i].name[len - 1] == ':';
        char json[256];

        if (strncmp(text, traits[i].name, len) != 0 || (!valued && text[len]))
            continue;
        snprintf(json, sizeof(json), "{'v':%s}", traits[i].json);

        char *star = strchr(json, '*');
        char rest[256];

        if (star) {
            snprintf(rest, sizeof(rest), "%s", star + 1);
            snprintf(star, sizeof(json) - (size_t)(star - json), "%s%s", text + len, rest);
        }
        cJSON *tree = json_of(json);

        json_put(cluster, traits[i].path, cJSON_DetachItemFromObject(tree, "v"));
        cJSON_Delete(tree);
        return;
    }
    fail_msg("no trait '%s'", text);
}

static cJSON *make_cluster(char *text)
{
    char *state = NULL;
    const char *name = strtok_r(text, "+", &state);
    char json[512];

    snprintf(json, sizeof(json),
             "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'%s'}"
             ",'spec':{},'status':{'apiEnablements':%s,'conditions':[{'type':'Ready','status':"
             "'True'},{'type':'CompleteAPIEnablements','status':'True'}]}}",
             name, served);
    cJSON *cluster = json_of(json);

    for (const char *trait; (trait = strtok_r(NULL, "+", &state));)
        put_trait(cluster, trait);
    return cluster;
}

struct plane {
    struct store *store;
    struct placements *placements;
};

static void plane_init(struct plane *p, const char *clusters)
{
    CLEANUP(free_cleanup) char *copy = xstrdup(clusters);
    char *state = NULL;
    struct error err;

    p->store = store_new(1);
    p->placements = placements_new(p->store, 1);
    for (char *text = strtok_r(copy, " ", &state); text; text = strtok_r(NULL, " ", &state)) {
        cJSON *cluster = make_cluster(text);

        assert_int_not_equal(store_put(p->store, cluster, (struct origin){1, 1}, &err),
                             STORE_REJECTED);
        cJSON_Delete(cluster);
    }
    placements_mark_outdated(p->placements);
}

static void plane_release(struct plane *p)
{
    placements_free(p->placements);
    store_free(p->store);
}

/* ---- one binding, scheduled by every release ---- */

/* The binding; without `applied`, a binding with targets was scheduled with its placement. */
struct input {
    const char *clusters;
    const char *placement;
    int32_t replicas;    /* -1: the template has no replicas. */
    const char *targets; /* "m1:2 m2:0"; NULL: never scheduled. */
    const char *applied;
    const char *evicting; /* Cluster of an eviction task, or NULL. */
    const char *observed; /* Affinity group of the last scheduling, or NULL. */
    bool reschedule;
    uint32_t components;
    const char *uid; /* NULL: "b", which prefers larger names. */
};

static void read_targets(struct intern *strings, const char *text, struct binding *b)
{
    CLEANUP(free_cleanup) char *copy = xstrdup(text);
    struct target_cluster *targets = NULL;
    char *state = NULL;

    for (char *at = strtok_r(copy, " ", &state); at; at = strtok_r(NULL, " ", &state)) {
        char *colon = strchr(at, ':');
        uint64_t replicas = 0;

        assert_true(colon && parse_uint(colon + 1, INT32_MAX, &replicas));
        *colon = '\0';
        targets = xreallocarray(targets, b->cluster_count + 1, sizeof(*targets));
        targets[b->cluster_count++] =
            (struct target_cluster){.name = intern_add(strings, at), .replicas = (int32_t)replicas};
    }
    b->clusters = targets;
}

static void print_result(const struct schedule_result *r, struct strbuf *out)
{
    strbuf_reset(out);
    if (!r->runs)
        strbuf_adds(out, "kept");
    else if (!r->targets.determined)
        strbuf_addf(out, "? %s", undetermined_reason_names[r->targets.reason]);
    else if (r->scheduled == SCHEDULED_ERROR)
        strbuf_adds(out, "error");
    else if (r->scheduled == SCHEDULED_NO_CLUSTER_FIT)
        strbuf_adds(out, "nowhere");
    else if (r->targets.count == 0)
        strbuf_adds(out, "empty");
    for (uint32_t i = 0; i < r->targets.count; i++)
        strbuf_addf(out, "%s%s:%" PRId32, i > 0 ? " " : "", r->targets.clusters[i].name,
                    r->targets.clusters[i].replicas);
}

/* An input that is prepared for the scheduler. */
struct prepared {
    struct plane plane;
    struct binding binding;
    struct object_scope scope;
    struct propagation propagation;
    struct binding_rare rare;
    struct eviction eviction;
    struct status_problem problem;
    struct scheduling s;
    const struct resolved_placement *applied;
};

static const char *canonical(struct plane *p, const char *placement)
{
    struct error err;
    struct decode d = {.strings = store_string_pool(p->store), .err = &err};
    cJSON *json = json_of(placement);
    const char *text = canonical_text(&d, json, CANONICAL_PLACEMENT);

    cJSON_Delete(json);
    return text;
}

static void prepare(const struct input *in, struct prepared *p)
{
    struct binding *b = &p->binding;

    *p = (struct prepared){0};
    plane_init(&p->plane, in->clusters);

    struct intern *strings = store_string_pool(p->plane.store);

    p->scope = (struct object_scope){intern_add(strings, "apps/v1"),
                                     intern_add(strings, "Deployment"), ""};
    b->scope = &p->scope;
    b->replicas = in->replicas > 0 ? in->replicas : 0;
    b->has_requirements = in->replicas >= 0;
    b->component_count = in->components;
    b->uid_hash = uid_hash(in->uid ? in->uid : "b");
    b->status.reschedule_requested = in->reschedule;
    p->rare.observed_affinity = in->observed ? intern_add(strings, in->observed) : NULL;
    b->rare = &p->rare;
    if (in->targets)
        read_targets(strings, in->targets, b);
    if (in->evicting) {
        p->eviction.cluster = in->evicting;
        p->problem = (struct status_problem){.evictions = &p->eviction, .eviction_count = 1};
        b->status.problem = &p->problem;
    }
    b->propagation = &p->propagation;
    p->propagation.placement = canonical(&p->plane, in->placement);
    b->applied_placement = canonical(&p->plane, in->applied ? in->applied : in->placement);
    p->s.placements = p->plane.placements;
    p->s.binding = b;
    p->s.resolved = placements_ref(p->s.placements, b->propagation->placement);
    p->applied = placements_ref(p->s.placements, b->applied_placement);
    p->s.applied = in->targets ? p->applied->placement : NULL;
}

static void prepared_release(struct prepared *p)
{
    struct intern *strings = store_string_pool(p->plane.store);
    struct binding *b = &p->binding;

    placements_drop(p->s.placements, p->applied);
    placements_drop(p->s.placements, p->s.resolved);
    intern_drop(strings, b->propagation->placement);
    intern_drop(strings, b->applied_placement);
    intern_drop(strings, p->rare.observed_affinity);
    intern_drop(strings, p->scope.api_version);
    intern_drop(strings, p->scope.kind);
    for (uint32_t i = 0; i < b->cluster_count; i++)
        intern_drop(strings, b->clusters[i].name);
    free((void *)(uintptr_t)b->clusters);
    plane_release(&p->plane);
}

/* Sets the releases, and resolves the placements for them. */
static void set_range(struct prepared *p, unsigned oldest, unsigned newest)
{
    placements_set_release(
        p->s.placements,
        (struct release_range){(enum release)oldest, (enum release)newest, RELEASE_GIVEN, false});
    placements_drop(p->s.placements,
                    placements_ref(p->s.placements, p->binding.propagation->placement));
}

/* A binding, and the results of the releases before a behaviour and of those with it. */
struct release_case {
    const char *name;
    struct input in;
    enum behaviour behaviour;
    const char *before; /* NULL: like `since`. */
    const char *since;
};

static void check_release(struct prepared *p, const struct release_case *c, unsigned release,
                          struct strbuf *actual)
{
    struct schedule_result result;
    bool has = !c->before || release_has((enum release)release, c->behaviour);

    set_range(p, release, release);
    scheduling_run(&p->s, (enum release)release, &result);
    print_result(&result, actual);
    if (strcmp(actual->data, has ? c->since : c->before) != 0)
        fail_msg("%s: '%s', not '%s'", release_name((enum release)release), actual->data,
                 has ? c->since : c->before);
    schedule_result_release(store_string_pool(p->plane.store), &result);
}

/* All releases in one range: the result is undetermined if it depends on the release. */
static void check_range(struct prepared *p, const struct release_case *c, struct strbuf *actual)
{
    struct schedule_result result;

    set_range(p, RELEASE_1_13, RELEASE_NEWEST);
    scheduling_run_in_range(&p->s, false, &result);
    print_result(&result, actual);
    assert_string_equal(actual->data, c->before ? "? release" : c->since);
    schedule_result_release(store_string_pool(p->plane.store), &result);
}

static void results_follow_the_release(void **state)
{
    const struct release_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf actual = STRBUF_INIT(4096);
    struct prepared p;

    prepare(&c->in, &p);
    for (unsigned release = 0; release < RELEASE_COUNT; release++)
        check_release(&p, c, release, &actual);
    check_range(&p, c, &actual);
    prepared_release(&p);
}

/* For results that are the same in all releases. */
#define NO_BEHAVIOUR BEHAVIOUR_COUNT

#define ALL          "{}"
#define DUPLICATED   "{'replicaScheduling':{'replicaSchedulingType':'Duplicated'}}"
#define EQUAL        "{'replicaScheduling':{'replicaSchedulingType':'Divided'}}"
#define AGGREGATED   "{'replicaScheduling':{'replicaDivisionPreference':'Aggregated'}}"
#define DYNAMIC      "{'replicaScheduling':{'weightPreference':{'dynamicWeight':'AvailableReplicas'}}}"
#define NAMES(names) "{'clusterAffinity':{'clusterNames':[" names "]}}"
#define ZONES(op, values)                                                                          \
    "{'clusterAffinity':{'fieldSelector':{'matchExpressions':[{'key':'zone','operator':'" op       \
    "','values':[" values "]}]}}}"
#define WEIGHTS(a, b)                                                                              \
    "{'replicaScheduling':{'weightPreference':{'staticWeightList':[{'targetCluster':{"             \
    "'clusterNames':['m1']},'weight':" a "},{'targetCluster':{'clusterNames':['m2']},'weight':" b  \
    "}]}}}"
#define SPREAD(rest) "{'spreadConstraints':[" rest "]}"

static struct release_case deleting_cases[] = {
    {"divided replicas leave",
     {.clusters = "m1 m2+deleting", EQUAL, 4, "m1:2 m2:2"},
     BEHAVIOUR_LEAVES_DELETING_CLUSTER,
     "kept",
     "m1:4"},
    {"duplicated replicas leave",
     {.clusters = "m1 m2+deleting", DUPLICATED, 4, "m1:4 m2:4"},
     BEHAVIOUR_LEAVES_DELETING_CLUSTER,
     "m1:4 m2:4",
     "m1:4"},
    {"a template without replicas leaves",
     {.clusters = "m1 m2+deleting", ALL, -1, "m1:0 m2:0"},
     BEHAVIOUR_LEAVES_DELETING_CLUSTER,
     "m1:0 m2:0",
     "m1:0"},
    {"the only cluster",
     {.clusters = "m1+deleting", DUPLICATED, 4, "m1:4"},
     BEHAVIOUR_LEAVES_DELETING_CLUSTER,
     "m1:4",
     "nowhere"},
    {"the only cluster of a division",
     {.clusters = "m1+deleting", EQUAL, 4, "m1:4"},
     BEHAVIOUR_LEAVES_DELETING_CLUSTER,
     "kept",
     "nowhere"},
    {"a cluster that is no target does not matter",
     {.clusters = "m1 m2+deleting", EQUAL, 4, "m1:4"},
     NO_BEHAVIOUR,
     NULL,
     "kept"},
    {"a first scheduling",
     {.clusters = "m1 m2+deleting", DUPLICATED, 1},
     BEHAVIOUR_LEAVES_DELETING_CLUSTER,
     "m1:1 m2:1",
     "m1:1"},
    {"a weighted division",
     {.clusters = "m1+deleting m2", WEIGHTS("3", "1"), 4, "m1:3 m2:1"},
     BEHAVIOUR_LEAVES_DELETING_CLUSTER,
     "kept",
     "m2:4"},
    {"a cluster that is gone triggers nothing",
     {.clusters = "m1", EQUAL, 4, "m1:2 m2:2"},
     NO_BEHAVIOUR,
     NULL,
     "kept"},
    {"duplicated replicas leave a cluster that is gone",
     {.clusters = "m1", DUPLICATED, 4, "m1:4 m2:4"},
     NO_BEHAVIOUR,
     NULL,
     "m1:4"},
    {"of two clusters both",
     {.clusters = "m1+deleting m2+deleting", DUPLICATED, 4, "m1:4 m2:4"},
     BEHAVIOUR_LEAVES_DELETING_CLUSTER,
     "m1:4 m2:4",
     "nowhere"},
};

TEST_ROWS(a_cluster_in_deletion_is_left, deleting_cases, name)
{
    results_follow_the_release(state);
}

static struct release_case zero_cases[] = {
    {"duplicated",
     {.clusters = "m1", DUPLICATED, 0, "m1:2"},
     BEHAVIOUR_ZERO_REPLICAS_NOWHERE,
     "m1:0",
     "empty"},
    {"without scheduling",
     {.clusters = "m1", ALL, 0, "m1:2"},
     BEHAVIOUR_ZERO_REPLICAS_NOWHERE,
     "m1:0",
     "empty"},
    {"divided",
     {.clusters = "m1 m2", EQUAL, 0, "m1:1 m2:1"},
     BEHAVIOUR_ZERO_REPLICAS_NOWHERE,
     "m1:0 m2:0",
     "empty"},
    {"weighted",
     {.clusters = "m1 m2", WEIGHTS("1", "2"), 0, "m1:1 m2:2"},
     BEHAVIOUR_ZERO_REPLICAS_NOWHERE,
     "m1:0 m2:0",
     "empty"},
    {"aggregated",
     {.clusters = "m1 m2", AGGREGATED, 0, "m1:3"},
     BEHAVIOUR_ZERO_REPLICAS_NOWHERE,
     "m1:0 m2:0",
     "empty"},
    {"dynamic weight",
     {.clusters = "m1 m2", DYNAMIC, 0, "m1:3"},
     BEHAVIOUR_ZERO_REPLICAS_NOWHERE,
     "m1:0 m2:0",
     "empty"},
    {"a new binding",
     {.clusters = "m1 m2", DUPLICATED, 0},
     BEHAVIOUR_ZERO_REPLICAS_NOWHERE,
     "m1:0 m2:0",
     "empty"},
    {"a new divided binding",
     {.clusters = "m1 m2", EQUAL, 0},
     BEHAVIOUR_ZERO_REPLICAS_NOWHERE,
     "m1:0 m2:0",
     "empty"},
    {"no replicas before, divided",
     {.clusters = "m1 m2", EQUAL, 0, "m1:0"},
     BEHAVIOUR_ZERO_REPLICAS_NOWHERE,
     "m1:0 m2:0",
     "kept"},
    {"no cluster fits",
     {.clusters = "m1", NAMES("'m9'"), 0, "m1:2"},
     NO_BEHAVIOUR,
     NULL,
     "nowhere"},
    {"a kind without replicas",
     {.clusters = "m1 m2", EQUAL, -1, "m1:0"},
     NO_BEHAVIOUR,
     NULL,
     "m1:0 m2:0"},
};

TEST_ROWS(a_workload_without_replicas_is_placed_nowhere, zero_cases, name)
{
    results_follow_the_release(state);
}

static struct release_case eviction_cases[] = {
    {"the cluster of a task is no candidate",
     {.clusters = "m1 m2", ALL, 3, "m2:2", .evicting = "m1"},
     NO_BEHAVIOUR,
     NULL,
     "m2:3"},
    {"a target with a task",
     {.clusters = "m1 m2", ALL, 3, "m1:3 m2:3", .evicting = "m1"},
     NO_BEHAVIOUR,
     NULL,
     "m2:3"},
    {"the only cluster",
     {.clusters = "m1", ALL, 3, "m1:3", .evicting = "m1"},
     NO_BEHAVIOUR,
     NULL,
     "nowhere"},
    {"divided, the replicas are assigned",
     {.clusters = "m1 m2", EQUAL, 3, "m2:3", .evicting = "m1"},
     NO_BEHAVIOUR,
     NULL,
     "kept"},
    {"divided, the replicas grow",
     {.clusters = "m1 m2", EQUAL, 4, "m2:3", .evicting = "m1"},
     NO_BEHAVIOUR,
     NULL,
     "m2:4"},
    {"divided, replicas are missing",
     {.clusters = "m1 m2 m3", EQUAL, 4, "m2:2", .evicting = "m1"},
     NO_BEHAVIOUR,
     NULL,
     "m2:2 m3:2"},
    {"weighted",
     {.clusters = "m1 m2", WEIGHTS("9", "1"), 5, "m2:1", .evicting = "m1"},
     NO_BEHAVIOUR,
     NULL,
     "m2:5"},
    {"a kind without replicas",
     {.clusters = "m1 m2", ALL, -1, "m1:0", .evicting = "m1"},
     NO_BEHAVIOUR,
     NULL,
     "m2:0"},
    {"a task of another cluster",
     {.clusters = "m1 m2", ALL, 1, "m1:1", .evicting = "m9"},
     NO_BEHAVIOUR,
     NULL,
     "m1:1 m2:1"},
    {"a cluster that the placement does not allow",
     {.clusters = "m1 m2", NAMES("'m2'"), 2, "m2:1", .evicting = "m1"},
     NO_BEHAVIOUR,
     NULL,
     "m2:2"},
    {"aggregated, the replicas are assigned to others",
     {.clusters = "m1 m2", AGGREGATED, 2, "m2:3", .evicting = "m1"},
     NO_BEHAVIOUR,
     NULL,
     "m2:2"},
};

TEST_ROWS(a_cluster_that_is_evicted_is_no_candidate, eviction_cases, name)
{
    results_follow_the_release(state);
}

static struct release_case api_cases[] = {
    {"a target stays",
     {.clusters = "m1+lost", ALL, 3, "m1:2"},
     BEHAVIOUR_KEEPS_LOST_API,
     "nowhere",
     "m1:3"},
    {"a target stays while the list is incomplete",
     {.clusters = "m1+lost+partial", ALL, 3, "m1:2"},
     NO_BEHAVIOUR,
     NULL,
     "m1:3"},
    {"a new cluster", {.clusters = "m1+lost m2", ALL, 3}, NO_BEHAVIOUR, NULL, "m2:3"},
    {"a new cluster with an incomplete list",
     {.clusters = "m1+lost+partial m2", ALL, 3},
     NO_BEHAVIOUR,
     NULL,
     "m2:3"},
    {"the only cluster", {.clusters = "m1+lost", ALL, 3}, NO_BEHAVIOUR, NULL, "nowhere"},
    {"a divided target stays",
     {.clusters = "m1+lost m2", EQUAL, 4, "m1:1 m2:1"},
     BEHAVIOUR_KEEPS_LOST_API,
     "m2:4",
     "m1:2 m2:2"},
    {"nothing triggers a division",
     {.clusters = "m1+lost m2", EQUAL, 2, "m1:1 m2:1"},
     NO_BEHAVIOUR,
     NULL,
     "kept"},
    {"a target that the placement does not allow",
     {.clusters = "m1+lost m2", NAMES("'m2'"), 1, "m1:1"},
     NO_BEHAVIOUR,
     NULL,
     "m2:1"},
    {"a weighted target stays",
     {.clusters = "m1+lost m2", WEIGHTS("1", "1"), 4, "m1:2"},
     BEHAVIOUR_KEEPS_LOST_API,
     "m2:4",
     "m1:2 m2:2"},
    {"an evicted target",
     {.clusters = "m1+lost", ALL, 1, "m1:1", .evicting = "m1"},
     NO_BEHAVIOUR,
     NULL,
     "nowhere"},
    {"two targets, one without the API",
     {.clusters = "m1+lost m2", DUPLICATED, 2, "m1:2 m2:2"},
     BEHAVIOUR_KEEPS_LOST_API,
     "m2:2",
     "m1:2 m2:2"},
};

TEST_ROWS(a_target_that_lost_the_api_stays, api_cases, name)
{
    results_follow_the_release(state);
}

static struct release_case empty_api_cases[] = {
    {"the only cluster", {.clusters = "m1+noapis", ALL, 2}, NO_BEHAVIOUR, NULL, "nowhere"},
    {"one of two", {.clusters = "m1+noapis m2", ALL, 2}, NO_BEHAVIOUR, NULL, "m2:2"},
    {"an incomplete list",
     {.clusters = "m1+noapis+partial", ALL, 2},
     NO_BEHAVIOUR,
     NULL,
     "nowhere"},
    {"a target",
     {.clusters = "m1+noapis", ALL, 2, "m1:2"},
     BEHAVIOUR_KEEPS_LOST_API,
     "nowhere",
     "m1:2"},
    {"a target with an incomplete list",
     {.clusters = "m1+noapis+partial", ALL, 2, "m1:2"},
     NO_BEHAVIOUR,
     NULL,
     "m1:2"},
    {"a divided workload", {.clusters = "m1+noapis m2", EQUAL, 2}, NO_BEHAVIOUR, NULL, "m2:2"},
    {"a weighted workload",
     {.clusters = "m1+noapis m2", WEIGHTS("9", "1"), 2},
     NO_BEHAVIOUR,
     NULL,
     "m2:2"},
    {"a kind without replicas", {.clusters = "m1+noapis m2", ALL, -1}, NO_BEHAVIOUR, NULL, "m2:0"},
    {"a manifest without status", {.clusters = "m1+bare", ALL, 2}, NO_BEHAVIOUR, NULL, "m1:2"},
    {"a manifest without status and one with APIs",
     {.clusters = "m1+bare m2", ALL, 2},
     NO_BEHAVIOUR,
     NULL,
     "m1:2 m2:2"},
    {"all clusters", {.clusters = "m1+noapis m2+noapis", EQUAL, 2}, NO_BEHAVIOUR, NULL, "nowhere"},
};

TEST_ROWS(a_cluster_without_collected_apis_is_no_candidate, empty_api_cases, name)
{
    results_follow_the_release(state);
}

static struct release_case zone_cases[] = {
    {"one of two zones is listed",
     {.clusters = "m1+zones:z1", ZONES("In", "'z1'"), 2},
     BEHAVIOUR_ANY_ZONE,
     "nowhere",
     "m1:2"},
    {"both zones are listed",
     {.clusters = "m1+zones:z1", ZONES("In", "'z1','z9'"), 2},
     NO_BEHAVIOUR,
     NULL,
     "m1:2"},
    {"the only zone is listed",
     {.clusters = "m1+zone:z1", ZONES("In", "'z1','z2'"), 2},
     NO_BEHAVIOUR,
     NULL,
     "m1:2"},
    {"no zone is listed",
     {.clusters = "m1+zones:z1", ZONES("In", "'z2'"), 2},
     NO_BEHAVIOUR,
     NULL,
     "nowhere"},
    {"a cluster without zones",
     {.clusters = "m1", ZONES("In", "'z1'"), 2},
     NO_BEHAVIOUR,
     NULL,
     "nowhere"},
    {"NotIn with one listed zone",
     {.clusters = "m1+zones:z1", ZONES("NotIn", "'z1'"), 2},
     NO_BEHAVIOUR,
     NULL,
     "nowhere"},
    {"NotIn without listed zones",
     {.clusters = "m1+zones:z1", ZONES("NotIn", "'z2'"), 2},
     NO_BEHAVIOUR,
     NULL,
     "m1:2"},
    {"another cluster fits",
     {.clusters = "m1+zones:z1 m2+zone:z1", ZONES("In", "'z1'"), 2},
     BEHAVIOUR_ANY_ZONE,
     "m2:2",
     "m1:2 m2:2"},
    {"a target whose zones do not fit",
     {.clusters = "m1+zones:z1", ZONES("In", "'z1'"), 2, "m1:2"},
     BEHAVIOUR_ANY_ZONE,
     "nowhere",
     "m1:2"},
    {"zones of a static weight",
     {.clusters = "m1+zones:z1 m2",
      "{'replicaScheduling':{'weightPreference':{'staticWeightList':[{'targetCluster':{"
      "'fieldSelector':{'matchExpressions':[{'key':'zone','operator':'In','values':['z1']}]}},"
      "'weight':1},{'targetCluster':{'clusterNames':['m2']},'weight':1}]}}}",
      2},
     BEHAVIOUR_ANY_ZONE,
     "m2:2",
     "m1:1 m2:1"},
};

TEST_ROWS(zones_match_as_in_the_release, zone_cases, name)
{
    results_follow_the_release(state);
}

static struct release_case division_cases[] = {
    {"the remainder goes to the largest weight",
     {.clusters = "m1 m2", WEIGHTS("1", "2"), 2},
     BEHAVIOUR_WEBSTER_DIVISION,
     "m2:2",
     "m1:1 m2:1"},
    {"an exact division",
     {.clusters = "m1 m2", WEIGHTS("1", "2"), 6},
     NO_BEHAVIOUR,
     NULL,
     "m1:2 m2:4"},
    {"equal weights without remainder",
     {.clusters = "m1 m2", EQUAL, 4},
     NO_BEHAVIOUR,
     NULL,
     "m1:2 m2:2"},
    {"equal weights with remainder",
     {.clusters = "m1 m2", EQUAL, 3, .uid = "a"},
     BEHAVIOUR_WEBSTER_DIVISION,
     "? lot",
     "m1:2 m2:1"},
    {"more replicas before break a tie",
     {.clusters = "m1 m2", EQUAL, 3, "m1:1 m2:4", .uid = "a"},
     BEHAVIOUR_WEBSTER_DIVISION,
     "m1:1 m2:2",
     "m1:2 m2:1"},
    {"equal replicas before do not break a tie",
     {.clusters = "m1 m2", EQUAL, 3, "m1:1 m2:1", .uid = "a"},
     BEHAVIOUR_WEBSTER_DIVISION,
     "? lot",
     "m1:2 m2:1"},
    {"a tie behind the last replica does not matter",
     {.clusters = "m1 m2 m3",
      "{'replicaScheduling':{'weightPreference':{'staticWeightList':[{'targetCluster':{"
      "'clusterNames':['m1']},'weight':3},{'weight':2}]}}}",
      1},
     NO_BEHAVIOUR,
     NULL,
     "m1:1"},
    {"a cluster without weight is left out",
     {.clusters = "m1 m2 m3", WEIGHTS("1", "1"), 2},
     NO_BEHAVIOUR,
     NULL,
     "m1:1 m2:1"},
    {"without any weight all clusters are equal",
     {.clusters = "m1 m2", WEIGHTS("0", "0"), 4},
     NO_BEHAVIOUR,
     NULL,
     "m1:2 m2:2"},
    {"without any weight the replicas before do not count",
     {.clusters = "m1 m2", WEIGHTS("0", "0"), 3, "m1:1 m2:4", .uid = "a"},
     BEHAVIOUR_WEBSTER_DIVISION,
     "? lot",
     "m1:2 m2:1"},
    {"duplicated replicas are not divided",
     {.clusters = "m1 m2", DUPLICATED, 3},
     NO_BEHAVIOUR,
     NULL,
     "m1:3 m2:3"},
    {"the uid is unknown",
     {.clusters = "m1 m2", EQUAL, 1, .uid = ""},
     BEHAVIOUR_WEBSTER_DIVISION,
     "? lot",
     "? uid"},
    {"the uid is unknown and does not matter",
     {.clusters = "m1 m2", EQUAL, 2, .uid = ""},
     NO_BEHAVIOUR,
     NULL,
     "m1:1 m2:1"},
};

TEST_ROWS(replicas_are_divided_as_in_the_release, division_cases, name)
{
    results_follow_the_release(state);
}

static struct release_case taint_cases[] = {
    {"a new cluster", {.clusters = "m1+taint m2", ALL, 1}, NO_BEHAVIOUR, NULL, "m2:1"},
    {"a target", {.clusters = "m1+taint m2", ALL, 1, "m1:1"}, NO_BEHAVIOUR, NULL, "m1:1 m2:1"},
    {"NoExecute", {.clusters = "m1+evicts m2", ALL, 1}, NO_BEHAVIOUR, NULL, "m2:1"},
    {"PreferNoSchedule", {.clusters = "m1+prefers", ALL, 1}, NO_BEHAVIOUR, NULL, "m1:1"},
    {"a toleration",
     {.clusters = "m1+taint", "{'clusterTolerations':[{'key':'k','operator':'Exists'}]}", 1},
     NO_BEHAVIOUR,
     NULL,
     "m1:1"},
    {"all clusters", {.clusters = "m1+taint m2+taint", EQUAL, 1}, NO_BEHAVIOUR, NULL, "nowhere"},
};

TEST_ROWS(taints_keep_new_workloads_away, taint_cases, name)
{
    results_follow_the_release(state);
}

#define GROUPS                                                                                     \
    "{'clusterAffinities':[{'affinityName':'a','clusterNames':['m1']},"                            \
    "{'affinityName':'b','clusterNames':['m2']}]}"
#define GROUPS_OF(first)                                                                           \
    "{'clusterAffinities':[{'affinityName':'a','clusterNames':['" first "']},"                     \
    "{'affinityName':'b','clusterNames':['m2']}]}"
#define DIVIDED_GROUPS(first)                                                                      \
    "{'clusterAffinities':[{'affinityName':'a','clusterNames':['" first "']},"                     \
    "{'affinityName':'b','clusterNames':['m2']}],"                                                 \
    "'replicaScheduling':{'replicaSchedulingType':'Divided'}}"
#define OVERFLOW                                                                                   \
    "{'clusterAffinities':[{'affinityName':'a','clusterNames':['m1'],'overflowAffinities':["       \
    "{'affinityName':'o','clusterNames':['m2']}]}]}"

static struct release_case group_cases[] = {
    {"the first group", {.clusters = "m1 m2", GROUPS, 1}, NO_BEHAVIOUR, NULL, "m1:1"},
    {"the first group has no cluster", {.clusters = "m2", GROUPS, 1}, NO_BEHAVIOUR, NULL, "m2:1"},
    {"the first group is tainted",
     {.clusters = "m1+taint m2", GROUPS, 1},
     NO_BEHAVIOUR,
     NULL,
     "m2:1"},
    {"the group in use",
     {.clusters = "m1 m2", GROUPS, 1, "m2:1", .observed = "b"},
     NO_BEHAVIOUR,
     NULL,
     "m2:1"},
    {"the scheduler does not return to earlier groups",
     {.clusters = "m1", GROUPS, 1, "m2:1", .observed = "b"},
     NO_BEHAVIOUR,
     NULL,
     "nowhere"},
    {"a group in use that does not exist any more",
     {.clusters = "m1 m2", GROUPS, 1, "m2:1", .observed = "z"},
     NO_BEHAVIOUR,
     NULL,
     "m1:1"},
    {"a rebalancer",
     {.clusters = "m1 m2", GROUPS, 1, "m2:1", .observed = "b", .reschedule = true},
     BEHAVIOUR_REBALANCES_FROM_FIRST_GROUP,
     "m2:1",
     "m1:1"},
    {"another group than that in use changes",
     {.clusters = "m2",
      DIVIDED_GROUPS("m7"),
      1,
      "m2:1",
      .applied = DIVIDED_GROUPS("m1"),
      .observed = "b"},
     NO_BEHAVIOUR,
     NULL,
     "kept"},
    {"the group in use changes",
     {.clusters = "m7",
      DIVIDED_GROUPS("m7"),
      1,
      "m1:1",
      .applied = DIVIDED_GROUPS("m1"),
      .observed = "a"},
     NO_BEHAVIOUR,
     NULL,
     "m7:1"},
    {"overflow affinities",
     {.clusters = "m1 m2", OVERFLOW, 2},
     BEHAVIOUR_OVERFLOW_AFFINITIES,
     "m1:2",
     "? overflow"},
    {"overflow of a kind without replicas",
     {.clusters = "m1 m2", OVERFLOW, -1},
     NO_BEHAVIOUR,
     NULL,
     "m1:0"},
    {"overflow of a group without clusters",
     {.clusters = "m3", OVERFLOW, 2},
     NO_BEHAVIOUR,
     NULL,
     "nowhere"},
};

TEST_ROWS(affinity_groups_are_tried_in_order, group_cases, name)
{
    results_follow_the_release(state);
}

static struct release_case capacity_cases[] = {
    {"a first aggregated scheduling",
     {.clusters = "m1 m2", AGGREGATED, 2},
     NO_BEHAVIOUR,
     NULL,
     "? aggregated"},
    {"a first dynamic scheduling",
     {.clusters = "m1 m2", DYNAMIC, 2},
     NO_BEHAVIOUR,
     NULL,
     "? dynamic_weight"},
    {"one candidate may lack the capacity",
     {.clusters = "m1", DYNAMIC, 2},
     NO_BEHAVIOUR,
     NULL,
     "? dynamic_weight"},
    {"no candidate", {.clusters = "m1+taint", DYNAMIC, 2}, NO_BEHAVIOUR, NULL, "nowhere"},
    {"nothing changes", {.clusters = "m1 m2", DYNAMIC, 2, "m1:2"}, NO_BEHAVIOUR, NULL, "kept"},
    {"more replicas",
     {.clusters = "m1 m2", DYNAMIC, 3, "m1:2"},
     NO_BEHAVIOUR,
     NULL,
     "? dynamic_weight"},
    {"fewer replicas",
     {.clusters = "m1 m2", DYNAMIC, 3, "m1:4 m2:2"},
     NO_BEHAVIOUR,
     NULL,
     "m1:2 m2:1"},
    {"fewer aggregated replicas",
     {.clusters = "m1 m2", AGGREGATED, 2, "m1:3 m2:1"},
     NO_BEHAVIOUR,
     NULL,
     "m1:2"},
    {"a new placement with enough replicas",
     {.clusters = "m1 m2", DYNAMIC, 2, "m1:2", .applied = EQUAL},
     NO_BEHAVIOUR,
     NULL,
     "m1:2"},
    {"fewer replicas, and a target that the placement does not allow",
     {.clusters = "m1 m2",
      "{'clusterAffinity':{'clusterNames':['m1']},'replicaScheduling':{'weightPreference':{"
      "'dynamicWeight':'AvailableReplicas'}}}",
      2,
      "m1:4 m2:4"},
     BEHAVIOUR_SCALES_DOWN_CANDIDATES,
     "m1:1 m2:1",
     "m1:2"},
    {"a rebalancer",
     {.clusters = "m1 m2", DYNAMIC, 2, "m1:2", .reschedule = true},
     NO_BEHAVIOUR,
     NULL,
     "? dynamic_weight"},
};

TEST_ROWS(free_capacity_is_not_guessed, capacity_cases, name)
{
    results_follow_the_release(state);
}

#define BY_CLUSTER(least, most)                                                                    \
    "{'spreadByField':'cluster','minGroups':" least ",'maxGroups':" most "}"
#define BY_REGION(least, most)                                                                     \
    "{'spreadByField':'region','minGroups':" least ",'maxGroups':" most "}"

static struct release_case spread_cases[] = {
    {"by label",
     {.clusters = "m1", SPREAD("{'spreadByLabel':'rack','maxGroups':2}"), 1},
     NO_BEHAVIOUR,
     NULL,
     "error"},
    {"by zone only",
     {.clusters = "m1+zone:z1", SPREAD("{'spreadByField':'zone','maxGroups':2}"), -1},
     NO_BEHAVIOUR,
     NULL,
     "error"},
    {"a property is missing",
     {.clusters = "m1", SPREAD("{'spreadByField':'provider','maxGroups':2}"), 1},
     NO_BEHAVIOUR,
     NULL,
     "nowhere"},
    {"too few clusters",
     {.clusters = "m1", SPREAD(BY_CLUSTER("2", "2")), 1},
     NO_BEHAVIOUR,
     NULL,
     "error"},
    {"all clusters",
     {.clusters = "m1 m2", SPREAD(BY_CLUSTER("1", "2")), 1},
     NO_BEHAVIOUR,
     NULL,
     "m1:1 m2:1"},
    {"the present targets",
     {.clusters = "m1 m2 m3", SPREAD(BY_CLUSTER("1", "2")), 1, "m2:1 m3:1"},
     NO_BEHAVIOUR,
     NULL,
     "m2:1 m3:1"},
    {"the free capacity decides",
     {.clusters = "m1 m2 m3", SPREAD(BY_CLUSTER("1", "2")), 1, "m2:1"},
     NO_BEHAVIOUR,
     NULL,
     "? spread_constraints"},
    {"the name decides for a kind without replicas",
     {.clusters = "m1 m2 m3", SPREAD(BY_CLUSTER("1", "2")), -1, "m3:0"},
     NO_BEHAVIOUR,
     NULL,
     "m1:0 m3:0"},
    {"static weights ignore the constraints",
     {.clusters = "m1 m2",
      "{'spreadConstraints':[{'maxGroups':1}],'replicaScheduling':{'replicaSchedulingType':"
      "'Divided'}}",
      2},
     NO_BEHAVIOUR,
     NULL,
     "m1:1 m2:1"},
    {"two of three regions, those with more clusters",
     {.clusters = "m1+region:a m2+region:b m3+region:b m4+region:c m5+region:c",
      SPREAD(BY_REGION("2", "2") "," BY_CLUSTER("2", "9")),
      -1},
     NO_BEHAVIOUR,
     NULL,
     "m2:0 m3:0 m4:0 m5:0"},
    {"one cluster per region",
     {.clusters = "m1+region:a m2+region:b m3+region:b", SPREAD(BY_REGION("2", "2")), -1},
     NO_BEHAVIOUR,
     NULL,
     "m1:0 m2:0"},
    {"too few regions",
     {.clusters = "m1+region:a", SPREAD(BY_REGION("2", "2")), -1},
     NO_BEHAVIOUR,
     NULL,
     "error"},
    {"all regions of a workload",
     {.clusters = "m1+region:a m2+region:b",
      SPREAD(BY_REGION("2", "2") "," BY_CLUSTER("2", "2")),
      3},
     BEHAVIOUR_SCORES_FULL_GROUPS,
     "? spread_constraints",
     "m1:3 m2:3"},
    {"the capacity of regions decides",
     {.clusters = "m1+region:a m2+region:b", SPREAD(BY_REGION("1", "1")), 3},
     NO_BEHAVIOUR,
     NULL,
     "? spread_constraints"},
    {"the cluster of a target among those of its region",
     {.clusters = "m1+region:a m2+region:a m3+region:b",
      SPREAD(BY_REGION("2", "2")),
      -1,
      "m2:0 m3:0"},
     NO_BEHAVIOUR,
     NULL,
     "m2:0 m3:0"},
};

TEST_ROWS(spread_constraints_select_clusters, spread_cases, name)
{
    results_follow_the_release(state);
}

/* ---- filters ---- */

/* Clusters, and the first filter that excludes each of them in the newest release. */
static struct filter_case {
    const char *name;
    struct input in;
    const char *expected; /* One word for each cluster, "-" if it passes. */
} filter_cases[] = {
    {"each filter",
     {.clusters = "m1 m2+deleting m3+lost m4+taint m5 m6",
      NAMES("'m1','m2','m3','m4','m5'"),
      1,
      .evicting = "m5"},
     "- cluster_deleting api_not_served taint evicting affinity"},
    {"the first of several filters",
     {.clusters = "m1+deleting+lost+taint m2+lost+taint m3+taint", ALL, 1, .evicting = "m3"},
     "cluster_deleting api_not_served taint"},
    {"a target passes without API and with a taint",
     {.clusters = "m1+lost+taint", ALL, 1, "m1:1"},
     "-"},
    {"a property of a spread constraint",
     {.clusters = "m1+region:a m2", SPREAD(BY_REGION("1", "1")), 1},
     "- spread_property"},
    {"a cluster in deletion that the placement does not allow",
     {.clusters = "m1+deleting", NAMES("'m9'"), 1},
     "cluster_deleting"},
    {"the group in use", {.clusters = "m1 m2", GROUPS, 1, "m2:1", .observed = "b"}, "affinity -"},
};

TEST_ROWS(the_first_filter_that_excludes_a_cluster_is_named, filter_cases, name)
{
    const struct filter_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf actual = STRBUF_INIT(4096);
    size_t counts[FILTER_COUNT + 1], sum = 0;
    struct prepared p;

    prepare(&c->in, &p);

    const struct listing *clusters = placements_clusters(p.s.placements);
    uint32_t group = scheduling_first_group(&p.s, RELEASE_NEWEST);

    for (size_t i = 0; i < clusters->count; i++) {
        enum cluster_filter filter =
            scheduling_filter(&p.s, RELEASE_NEWEST, group, clusters->entries[i]);

        strbuf_addf(&actual, "%s%s", i > 0 ? " " : "",
                    filter == FILTER_COUNT ? "-" : cluster_filter_names[filter]);
    }
    assert_string_equal(actual.data, c->expected);
    assert_int_equal(scheduling_count_filters(&p.s, RELEASE_NEWEST, counts), clusters->count);
    for (size_t i = 0; i <= FILTER_COUNT; i++)
        sum += counts[i];
    assert_int_equal(sum, clusters->count);
    assert_int_equal(counts[FILTER_COUNT] > 0, scheduling_fits_any(&p.s));
    prepared_release(&p);
}

/* Releases < 1.16 schedule the binding again, later ones do not: both give the same targets. */
TEST(equal_targets_in_all_releases_are_determined)
{
    const struct input in = {.clusters = "m1", .placement = EQUAL, .targets = "m1:0"};
    struct schedule_result result;
    struct prepared p;

    prepare(&in, &p);
    set_range(&p, RELEASE_1_13, RELEASE_NEWEST);
    scheduling_run_in_range(&p.s, false, &result);
    assert_false(result.runs);
    schedule_result_release(store_string_pool(p.plane.store), &result);
    scheduling_run(&p.s, RELEASE_1_15, &result);
    assert_true(result.runs);
    schedule_result_release(store_string_pool(p.plane.store), &result);
    prepared_release(&p);
}

/* --enable-empty-workload-propagation keeps the selected clusters without replicas. */
TEST(the_scheduler_can_keep_clusters_without_replicas)
{
    const struct input in = {.clusters = "m1 m2", .placement = WEIGHTS("1", "0"), .replicas = 2};
    CLEANUP(strbuf_release) struct strbuf actual = STRBUF_INIT(4096);
    struct schedule_result result;
    struct prepared p;

    prepare(&in, &p);
    p.s.keeps_empty = true;
    scheduling_place(&p.s, RELEASE_NEWEST, &result);
    print_result(&result, &actual);
    assert_string_equal(actual.data, "m1:2 m2:0");
    schedule_result_release(store_string_pool(p.plane.store), &result);
    prepared_release(&p);
}
