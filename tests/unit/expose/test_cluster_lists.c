/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/cluster_lists.h"

#include "tests/unit/bound_objects.h"
#include "tests/unit/golden.h"
#include "tests/unit/list_text.h"
#include "tests/unit/suite.h"

enum { TEXT_MAX = 1 << 20 };

static const int64_t NOW_MS = INT64_C(1767225600000); /* 2026-01-01T00:00:00Z */

#define METRICS "tests/fixtures/golden/capacity.metrics.txt"

static void read_file(const char *path, struct strbuf *out)
{
    FILE *file = fopen(path, "re");
    char chunk[4096];
    size_t n;

    assert_non_null(file);
    while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
        strbuf_add(out, chunk, n);
    fclose(file);
}

/* Appends the value of a column as the exposition has it. */
static void add_number(struct strbuf *out, const struct list *list, const void *row,
                       const char *name)
{
    const struct list_column *column = list_find_column(list, name);
    struct list_value v = column->value(row);

    if (column->kind == LIST_NUMBER)
        strbuf_addf(out, "%" PRId64 "\n", v.number);
    else
        strbuf_addf(out, "%.15g\n", (double)v.number / 1000);
}

#define REPLICAS(movement)                                                                         \
    "karmada_placement_drift_replicas{member_cluster=\"%s\",movement=\"" movement "\"} "
#define REQUESTS(resource, unit, movement)                                                         \
    "karmada_placement_drift_resource_requests{member_cluster=\"%s\",resource=\"" resource         \
    "\",unit=\"" unit "\",movement=\"" movement "\"} "

/* Columns that a series of the golden file has. */
static const struct {
    const char *column;
    const char *series; /* %s: the name of the cluster. */
} series_of_columns[] = {
    {"leavingReplicas", REPLICAS("leaving")},
    {"arrivingReplicas", REPLICAS("arriving")},
    {"undeterminedReplicas", REPLICAS("undetermined")},
    {"leavingCpu", REQUESTS("cpu", "core", "leaving")},
    {"arrivingCpu", REQUESTS("cpu", "core", "arriving")},
    {"undeterminedCpu", REQUESTS("cpu", "core", "undetermined")},
    {"leavingMemory", REQUESTS("memory", "byte", "leaving")},
    {"arrivingMemory", REQUESTS("memory", "byte", "arriving")},
    {"forbiddenReplicas", "karmada_placement_drift_forbidden_replicas{member_cluster=\"%s\"} "},
};

TEST(numbers_of_clusters_are_those_of_the_metrics)
{
    CLEANUP(strbuf_release) struct strbuf metrics = STRBUF_INIT(TEXT_MAX);
    struct world w;
    size_t count;

    read_file(METRICS, &metrics);
    world_init(&w, &rules_options_default, 1);
    golden_load(&w, "capacity.json");
    world_run(&w, NOW_MS);
    CLEANUP(free_cleanup) char *rows = cluster_list.gather(w.engine, &count);

    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) {
        const void *row = rows + i * cluster_list.row_size;
        const char *name = list_find_column(&cluster_list, "cluster")->value(row).text;

        for (size_t k = 0; k < ARRAY_LEN(series_of_columns); k++) {
            CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(1024);
            const char *at = strstr(series_of_columns[k].series, "%s");

            strbuf_add(&line, series_of_columns[k].series,
                       (size_t)(at - series_of_columns[k].series));
            strbuf_addf(&line, "%s%s", name, at + 2);
            add_number(&line, &cluster_list, row, series_of_columns[k].column);
            if (!strstr(metrics.data, line.data))
                fail_msg("no series: %s", line.data);
        }
    }
    world_release(&w);
}

TEST(clusters_have_their_status_load_and_free_capacity)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    golden_load(&w, "capacity.json");
    list_world_run(&w, NOW_MS);
    CLEANUP(free_cleanup) char *text = list_rows(&w, &cluster_list);

    check_has(text, "{\"cluster\":\"member1\",\"status\":\"ready\",\"templates\":4,\"healthy\":0,");
    check_has(text, "\"freeCpu\":5,\"freeMemory\":32480690176,\"freePods\":96,");
    check_has(text, "{\"cluster\":\"member2\",\"status\":\"ready\",\"templates\":0,");
    world_release(&w);
}

#define LARGE_REQUEST "9000Ei"
#define LARGE_BINDING(name)                                                                        \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"" name "-deployment\",\"namespace\":\"default\"," CLAIM(                           \
        "p") "},\"spec\":{"                                                                        \
             "\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"namespace\":"     \
             "\"default\",\"name\":\"" name "\",\"uid\":\"u-" name                                 \
             "\"},\"clusters\":[{\"name\":\"m1\",\"replicas\":2}],\"placement\":{"                 \
             "\"clusterAffinity\":"                                                                \
             "{\"clusterNames\":[\"m1\"]}},\"replicas\":2,\"replicaRequirements\":{"               \
             "\"resourceRequest\":{\"memory\":\"" LARGE_REQUEST "\"}}}}"

/* The largest number stands for sums above it. */
TEST(very_large_amounts_do_not_overflow)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\","
                       "\"metadata\":{\"name\":\"m1\"},\"status\":{\"resourceSummary\":{"
                       "\"allocatable\":{\"memory\":\"" LARGE_REQUEST "\"}}}}");
    world_put_text(&w, POLICY("p", SELECTS("a") "," ON("m1")));
    world_put_text(&w, TEMPLATE("a", "," CLAIM("p")));
    world_put_text(&w, TEMPLATE("b", "," CLAIM("p")));
    world_put_text(&w, LARGE_BINDING("a"));
    world_put_text(&w, LARGE_BINDING("b"));
    list_world_run(&w, NOW_MS);
    CLEANUP(free_cleanup) char *text = list_rows(&w, &cluster_list);

    check_has(text, "\"replicas\":4,\"cpu\":0,\"memory\":9223372036854776,");
    check_has(text, "\"freeMemory\":9223372036854776,");
    world_release(&w);
}

TEST(a_cluster_that_is_missing_has_a_row)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, CLUSTER("m1"));
    world_put_text(&w, POLICY("p", SELECTS("web") "," ON("m2")));
    world_put_text(&w, TEMPLATE("web", "," CLAIM("p")));
    world_put_text(&w, BINDING("web", "p", "m2"));
    list_world_run(&w, NOW_MS);
    CLEANUP(free_cleanup) char *text = list_rows(&w, &cluster_list);

    check_has(text, "{\"cluster\":\"m1\",\"status\":\"not_ready\",\"templates\":0,");
    check_has(text, "{\"cluster\":\"m2\",\"status\":\"missing\",\"templates\":1,\"healthy\":0,"
                    "\"drift\":0,\"replicas\":2,");
    check_has(text, "\"freeCpu\":null,\"freeMemory\":null,\"freePods\":null,"
                    "\"severity\":\"warning\",\"problem\":\"member_cluster_unavailable\",");
    world_release(&w);
}

TEST(clusters_have_no_status_before_they_are_read)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POLICY("p", SELECTS("web") "," ON("m2")));
    world_put_text(&w, TEMPLATE("web", "," CLAIM("p")));
    world_put_text(&w, BINDING("web", "p", "m2"));
    world_run(&w, NOW_MS);
    CLEANUP(free_cleanup) char *text = list_rows(&w, &cluster_list);

    check_has(text, "{\"cluster\":\"m2\",\"status\":null,\"templates\":1,");
    world_release(&w);
}

#define OWNED(name, owner) TEMPLATE(name, ",\"labels\":{\"team\":\"" owner "\"}")

TEST(namespaces_have_their_templates_problems_and_owner)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    store_set_owner_key(w.store, "team");
    world_put_text(&w, POLICY("p", SELECTS("web") "," ON("m2")));
    world_put_text(&w, OWNED("alone", "blue"));
    world_put_text(&w, OWNED("other", "blue"));
    list_world_run(&w, NOW_MS);
    CLEANUP(free_cleanup) char *text = list_rows(&w, &namespace_list);

    check_has(text, "{\"namespace\":\"default\",\"critical\":0,\"warning\":2,\"info\":1,"
                    "\"templates\":2,\"current\":0,\"stale\":0,\"orphaned\":0,\"pending\":2,");
    check_has(text, "\"staleReplicas\":0,\"policies\":1,\"owner\":\"blue\","
                    "\"severity\":\"warning\",\"problem\":\"not_propagated\",");
    world_put_text(&w, OWNED("other", "red"));
    world_run(&w, NOW_MS + 1000);
    CLEANUP(free_cleanup) char *changed = list_rows(&w, &namespace_list);

    check_has(changed, "\"owner\":null,");
    world_release(&w);
}
