/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/replica_projection.h"

#include "metrics/model/canonical_json.h"
#include "metrics/model/metadata.h"
#include "tests/unit/lines.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

/* A store of clusters, and the placements resolved with it. */
struct bench {
    struct store *store;
    struct placements *placements;
};

static void bench_init(struct bench *b, uint64_t seed)
{
    b->store = store_new(seed);
    b->placements = placements_new(b->store, seed);
}

static void bench_release(struct bench *b)
{
    placements_free(b->placements);
    store_free(b->store);
}

static void put(struct bench *b, const cJSON *json)
{
    struct error err = {""};

    if (store_put(b->store, json, (struct origin){1, 1}, &err) == STORE_REJECTED)
        fail_msg("rejected: %s", err.text);
    placements_mark_outdated(b->placements);
}

static void put_all(struct bench *b, const cJSON *objects)
{
    const cJSON *object;

    cJSON_ArrayForEach (object, objects)
        put(b, object);
}

static const char *canonical(struct bench *b, const cJSON *placement)
{
    struct error err;
    struct decode d = {.strings = store_string_pool(b->store), .err = &err};

    return canonical_text(&d, placement, CANONICAL_PLACEMENT);
}

/* The resource of all bindings: an unknown kind. */
static const struct object_scope scope;

/* Stores the projection in `out` as text, "m1:2 m2:1", or the reason why it is undetermined. */
static void project(struct bench *b, const cJSON *placement, const struct binding *binding,
                    struct strbuf *out)
{
    struct intern *strings = store_string_pool(b->store);
    const char *text = canonical(b, placement);
    const struct resolved_placement *resolved = placements_ref(b->placements, text);
    struct projection p;

    strbuf_reset(out);
    projection_make(b->placements, resolved, binding, &p);
    if (!p.determined)
        strbuf_adds(out, undetermined_reason_names[p.reason]);
    for (uint32_t i = 0; i < p.count; i++)
        strbuf_addf(out, "%s%s:%" PRId32, i > 0 ? " " : "", p.clusters[i].name,
                    p.clusters[i].replicas);
    assert_true(p.determined || p.count == 0);
    projection_release(strings, &p);
    placements_drop(b->placements, resolved);
    intern_drop(strings, text);
}

static void check_case(const cJSON *line, void *context)
{
    CLEANUP(strbuf_release) struct strbuf actual = STRBUF_INIT(4096);
    CLEANUP(strbuf_release) struct strbuf expected = STRBUF_INIT(4096);
    const cJSON *expect = json_get(line, "expect");
    struct binding binding = {
        .scope = &scope,
        .replicas = (int32_t)json_int(line, "replicas", 0),
        .uid_hash = uid_hash(json_str(line, "uid", "")),
        .propagation = propagation_none(),
    };
    struct bench b;

    (void)context;
    bench_init(&b, 1);
    put_all(&b, json_get(line, "objects"));
    project(&b, json_get(line, "placement"), &binding, &actual);
    for (int i = 0; i < cJSON_GetArraySize(expect); i++) {
        const cJSON *item = cJSON_GetArrayItem(expect, i);

        strbuf_addf(&expected, "%s%s:%d", i > 0 ? " " : "", item->string, (int)item->valuedouble);
    }
    if (!expect)
        strbuf_adds(&expected, "no_clusters");
    if (strcmp(actual.data, expected.data) != 0)
        fail_msg("case %d: '%s', not '%s'", (int)json_int(line, "case", -1), actual.data,
                 expected.data);
    bench_release(&b);
}

TEST(projections_agree_with_karmada)
{
    assert_int_equal(lines_each("tests/fixtures/vectors/division.jsonl.gz", check_case, NULL), 800);
}

#define CLUSTER(name, rest)                                                                        \
    "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'" name       \
    "'},'spec':{" rest "}}"
#define PLAIN "[" CLUSTER("m1", "") "," CLUSTER("m2", "") "," CLUSTER("m3", "'region':'eu'") "]"
#define TAINTED                                                                                    \
    "[" CLUSTER("m1", "") "," CLUSTER("m2", "'taints':[{'key':'k','effect':'NoSchedule'}]") "]"
#define DIVIDED "'replicaScheduling':{'replicaSchedulingType':'Divided'}"
#define SEVERAL                                                                                    \
    "'clusterAffinities':[{'affinityName':'a','clusterNames':['m1']},"                             \
    "{'affinityName':'b','clusterNames':['m2']}]"

static struct projection_case {
    const char *name;
    const char *clusters;
    const char *placement;
    const char *applied; /* Placement of the last scheduling; NULL if unknown. */
    struct binding binding;
    const char *expected;
} projection_cases[] = {
    {"an empty placement gives every cluster all replicas",
     PLAIN,
     "{}",
     NULL,
     {.replicas = 2},
     "m1:2 m2:2 m3:2"},
    {"division without weights gives equal shares",
     PLAIN,
     "{" DIVIDED "}",
     NULL,
     {.replicas = 6},
     "m1:2 m2:2 m3:2"},
    {"negative weights count as no weights",
     PLAIN,
     "{'replicaScheduling':{'weightPreference':{'staticWeightList':[{'weight':-4},"
     "{'targetCluster':{'clusterNames':['m1']},'weight':-1}]}}}",
     NULL,
     {.replicas = 6},
     "m1:2 m2:2 m3:2"},
    {"a cluster without weight is left out",
     PLAIN,
     "{'replicaScheduling':{'weightPreference':{'staticWeightList':[{'targetCluster':"
     "{'clusterNames':['m2','m3']},'weight':1},{'targetCluster':{'clusterNames':['m3']},"
     "'weight':2}]}}}",
     NULL,
     {.replicas = 3},
     "m2:1 m3:2"},
    {"a template without replicas goes to each cluster",
     PLAIN,
     "{'clusterAffinity':{'exclude':['m1']}}",
     NULL,
     {.replicas = 0},
     "m2:0 m3:0"},
    {"no replicas to divide", PLAIN, "{" DIVIDED "}", NULL, {.replicas = 0}, "m1:0 m2:0 m3:0"},
    {"no replicas to aggregate",
     PLAIN,
     "{'replicaScheduling':{'replicaDivisionPreference':'Aggregated'}}",
     NULL,
     {.replicas = 0},
     "m1:0 m2:0 m3:0"},
    {"aggregated",
     PLAIN,
     "{'replicaScheduling':{'replicaDivisionPreference':'Aggregated'}}",
     NULL,
     {.replicas = 1},
     "aggregated"},
    {"dynamic weight",
     PLAIN,
     "{'replicaScheduling':{'weightPreference':{'dynamicWeight':'AvailableReplicas'}}}",
     NULL,
     {.replicas = 1},
     "dynamic_weight"},
    {"spread constraints",
     PLAIN,
     "{'spreadConstraints':[{'maxGroups':2}]}",
     NULL,
     {.replicas = 1},
     "spread_constraints"},
    {"a taint", TAINTED, "{}", NULL, {.replicas = 1}, "taints"},
    {"a taint on the first cluster",
     "[" CLUSTER("a", "'taints':[{'key':'k','effect':'NoExecute'}]") "," CLUSTER("b", "") "]",
     "{}",
     NULL,
     {.replicas = 1},
     "taints"},
    {"a taint that is tolerated",
     TAINTED,
     "{'clusterTolerations':[{'key':'k','operator':'Exists'}]}",
     NULL,
     {.replicas = 1},
     "m1:1 m2:1"},
    {"a taint on a cluster that is not selected",
     TAINTED,
     "{'clusterAffinity':{'exclude':['m2']}}",
     NULL,
     {.replicas = 1},
     "m1:1"},
    {"components", PLAIN, "{}", NULL, {.component_count = 2}, "components"},
    {"no clusters in the source", "[]", "{}", NULL, {.replicas = 1}, "no_clusters"},
    {"an affinity that selects no cluster",
     PLAIN,
     "{'clusterAffinity':{'clusterNames':['m9']}}",
     NULL,
     {.replicas = 1},
     "no_clusters"},
    {"overflow affinities",
     PLAIN,
     "{'clusterAffinities':[{'affinityName':'a','clusterNames':['m1'],'overflowAffinities':["
     "{'affinityName':'b','clusterNames':['m2']}]}]}",
     NULL,
     {.replicas = 1},
     "overflow"},
    {"workload affinity",
     PLAIN,
     "{'workloadAffinity':{'affinity':{'groupByLabelKey':'app'}}}",
     NULL,
     {.replicas = 1},
     "unsupported"},
    {"an unknown division",
     PLAIN,
     "{'replicaScheduling':{'replicaSchedulingType':'Later'}}",
     NULL,
     {.replicas = 1},
     "unsupported"},
    {"an unreadable placement",
     PLAIN,
     "{'clusterAffinity':{'clusterNames':'m1'}}",
     NULL,
     {.replicas = 1},
     "unsupported"},
    {"the only one of several affinities",
     PLAIN,
     "{'clusterAffinities':[{'affinityName':'a','clusterNames':['m2']}]}",
     NULL,
     {.replicas = 3},
     "m2:3"},
    {"the first of several affinities", PLAIN, "{" SEVERAL "}", NULL, {.replicas = 3}, "m1:3"},
    {"the second affinity, if the first selects no cluster",
     PLAIN,
     "{'clusterAffinities':[{'affinityName':'a','clusterNames':['m9']},{'affinityName':'b',"
     "'clusterNames':['m3']}]}",
     NULL,
     {.replicas = 3},
     "m3:3"},
    {"the first affinity, if only it was applied before",
     PLAIN,
     "{" SEVERAL "}",
     "{'clusterAffinities':[{'affinityName':'a'}]}",
     {.replicas = 3},
     "m1:3"},
    {"the scheduler may stay with a later affinity",
     PLAIN,
     "{" SEVERAL "}",
     "{'clusterAffinities':[{'affinityName':'c'},{'affinityName':'b'}]}",
     {.replicas = 3},
     "overflow"},
};

TEST_ROWS(projection_follows_the_placement, projection_cases, name)
{
    const struct projection_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf actual = STRBUF_INIT(4096);
    struct binding binding = c->binding;
    cJSON *clusters = json_of(c->clusters);
    cJSON *placement = json_of(c->placement);
    cJSON *applied = c->applied ? json_of(c->applied) : NULL;
    struct bench b;

    binding.scope = &scope;
    bench_init(&b, 2);
    put_all(&b, clusters);
    binding.propagation = propagation_none();
    binding.applied_placement = canonical(&b, applied);
    project(&b, placement, &binding, &actual);
    assert_string_equal(actual.data, c->expected);
    intern_drop(store_string_pool(b.store), binding.applied_placement);
    cJSON_Delete(clusters);
    cJSON_Delete(placement);
    cJSON_Delete(applied);
    bench_release(&b);
}

/* Without the scheduler's annotation, the placement in the binding counts as last applied. */
TEST(the_placement_in_the_binding_counts_as_applied)
{
    CLEANUP(strbuf_release) struct strbuf actual = STRBUF_INIT(4096);
    cJSON *clusters = json_of(PLAIN);
    cJSON *placement = json_of("{" SEVERAL "}");
    struct propagation propagation = {.placement = NULL};
    struct binding binding = {.scope = &scope, .replicas = 1, .propagation = &propagation};
    struct bench b;

    bench_init(&b, 2);
    put_all(&b, clusters);
    propagation.placement = canonical(&b, placement);
    project(&b, placement, &binding, &actual);
    assert_string_equal(actual.data, "overflow");
    intern_drop(store_string_pool(b.store), binding.propagation->placement);
    cJSON_Delete(clusters);
    cJSON_Delete(placement);
    bench_release(&b);
}

static void make_clusters(struct bench *b, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char text[256];

        snprintf(text, sizeof(text),
                 "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster',"
                 "'metadata':{'name':'m%02u'}}",
                 i);
        cJSON *cluster = json_of(text);

        put(b, cluster);
        cJSON_Delete(cluster);
    }
}

/*
 * Asserts that divided replicas add up to `replicas`, and that duplicated ones are `replicas` in
 * each of the clusters.
 */
static void check_sums(struct bench *b, const char *json, int32_t replicas, unsigned clusters)
{
    struct intern *strings = store_string_pool(b->store);
    cJSON *tree = json_of(json);
    const char *text = canonical(b, tree);
    const struct resolved_placement *resolved = placements_ref(b->placements, text);
    bool divided = resolved->placement->division == DIVISION_STATIC_WEIGHT;
    int64_t sum = 0;
    struct projection p;

    projection_make(
        b->placements, resolved,
        &(struct binding){.scope = &scope, .replicas = replicas, .propagation = propagation_none()},
        &p);
    assert_true(p.determined);
    for (uint32_t i = 0; i < p.count; i++) {
        assert_true(divided ? p.clusters[i].replicas > 0 : p.clusters[i].replicas == replicas);
        assert_true(i == 0 || strcmp(p.clusters[i - 1].name, p.clusters[i].name) < 0);
        sum += p.clusters[i].replicas;
    }
    assert_int_equal(sum, divided ? (int64_t)replicas : (int64_t)replicas * clusters);
    projection_release(strings, &p);
    placements_drop(b->placements, resolved);
    intern_drop(strings, text);
    cJSON_Delete(tree);
}

TEST(projected_replicas_add_up)
{
    static const int32_t replicas[] = {1, 2, 7, 100, INT32_MAX};

    for (unsigned clusters = 1; clusters <= 9; clusters++) {
        struct bench b;

        bench_init(&b, clusters);
        make_clusters(&b, clusters);
        for (size_t i = 0; i < ARRAY_LEN(replicas); i++) {
            check_sums(&b, "{}", replicas[i], clusters);
            check_sums(&b, "{" DIVIDED "}", replicas[i], clusters);
            check_sums(&b,
                       "{'replicaScheduling':{'weightPreference':{'staticWeightList':["
                       "{'targetCluster':{'clusterNames':['m00','m01','m05']},'weight':3},"
                       "{'weight':7}]}}}",
                       replicas[i], clusters);
        }
        bench_release(&b);
    }
}
