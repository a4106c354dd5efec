/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report.h"
#include "metrics/rules/replica_projection.h"

#include "tests/unit/page.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"

enum { WORLDS = 200, OBJECTS = 300, REPORT_MAX = 1 << 24 };

/* Replicas in the clusters "a" to "d", now and projected; -1 if the cluster is not listed. */
static struct movement_case {
    const char *name;
    int32_t now[4];
    int32_t then[4];
    bool undetermined;
    const char *expected; /* staying, leaving, arriving and undetermined of each cluster */
} movement_cases[] = {
    {"replicas that stay", {3, -1, -1, -1}, {3, -1, -1, -1}, false, "a 3 0 0 0;"},
    {"another cluster", {3, -1, -1, -1}, {-1, 3, -1, -1}, false, "a 0 3 0 0;b 0 0 3 0;"},
    {"more and fewer", {3, 4, -1, -1}, {5, 1, -1, -1}, false, "a 3 0 2 0;b 1 3 0 0;"},
    {"clusters of both lists, by name",
     {-1, 2, -1, 1},
     {1, -1, 2, -1},
     false,
     "a 0 0 1 0;b 0 2 0 0;c 0 0 2 0;d 0 1 0 0;"},
    {"no replicas yet", {-1, -1, -1, -1}, {2, -1, -1, -1}, false, "a 0 0 2 0;"},
    {"no replicas in the projection",
     {2, -1, -1, 1},
     {-1, -1, -1, -1},
     false,
     "a 0 2 0 0;d 0 1 0 0;"},
    {"replicas that only the scheduler can place",
     {2, -1, 7, -1},
     {-1, -1, -1, -1},
     true,
     "a 0 0 0 2;c 0 0 0 7;"},
};

static const char *const cluster_names[] = {"a", "b", "c", "d"};

TEST_ROWS(movements_lead_from_now_to_then, movement_cases, name)
{
    const struct movement_case *row = *state;
    struct assigned_cluster assigned[4];
    struct target_cluster projected[4];
    struct capacity c = {.assigned = assigned,
                         .governed = true,
                         .moves = true,
                         .projection = {.clusters = projected, .determined = !row->undetermined}};
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    struct movement_walk at = {0};
    struct cluster_movement m;

    for (size_t i = 0; i < ARRAY_LEN(cluster_names); i++) {
        if (row->now[i] >= 0)
            assigned[c.assigned_count++] =
                (struct assigned_cluster){.name = cluster_names[i], .replicas = row->now[i]};
        if (row->then[i] >= 0)
            projected[c.projection.count++] =
                (struct target_cluster){.name = cluster_names[i], .replicas = row->then[i]};
    }
    while (capacity_next_movement(&c, &at, &m))
        strbuf_addf(&text, "%s %d %d %d %d;", m.cluster, m.replicas[MOVEMENT_STAYING],
                    m.replicas[MOVEMENT_LEAVING], m.replicas[MOVEMENT_ARRIVING],
                    m.replicas[MOVEMENT_UNDETERMINED]);
    assert_string_equal(text.len ? text.data : "", row->expected);
    c.moves = false;
    assert_false(capacity_next_movement(&c, &(struct movement_walk){0}, &m));
    assert_false(capacity_next_movement(NULL, &(struct movement_walk){0}, &m));
}

/* Replicas of the templates with placement drift, as in the report. */
struct balance {
    int64_t now;
    int64_t then;
    int64_t undetermined;
};

static int64_t replicas_on(const cJSON *clusters, const char *cluster)
{
    const cJSON *element;
    int64_t total = 0;

    cJSON_ArrayForEach (element, clusters) {
        if (!cluster || strcmp(json_str(element, "cluster", ""), cluster) == 0)
            total += json_int(element, "replicas", 0);
    }
    return total;
}

static bool has_placement_drift(const cJSON *row)
{
    const cJSON *field;

    if (strcmp(json_str(row, "state", ""), "stale") != 0)
        return false;
    cJSON_ArrayForEach (field, json_get(row, "fields")) {
        if (strcmp(field->valuestring, "placement") == 0)
            return true;
    }
    return strcmp(json_str(row, "reason", ""), "policy_replaced") == 0;
}

/* Returns the sums for a cluster, or for all clusters (NULL). */
static struct balance sum_of_report(const cJSON *report, const char *cluster)
{
    struct balance sum = {0};
    const cJSON *row;

    cJSON_ArrayForEach (row, json_get(report, "templates")) {
        if (!has_placement_drift(row))
            continue;
        int64_t now = replicas_on(json_get(row, "assigned"), cluster);
        bool known = cJSON_IsArray(json_get(row, "projected"));

        sum.now += now;
        sum.then += known ? replicas_on(json_get(row, "projected"), cluster) : now;
        sum.undetermined += known ? 0 : now;
    }
    return sum;
}

/* Checks the movements in the series of a family that contain `part`. */
static void check_balance(const char *page, const char *family, const char *part,
                          const struct balance *wanted)
{
    int64_t of[MOVEMENT_COUNT];

    for (unsigned i = 0; i < MOVEMENT_COUNT; i++) {
        char labels[160];

        snprintf(labels, sizeof(labels), "%smovement=\"%s\"", part, movement_names[i]);
        of[i] = page_sum(page, family, labels);
        assert_true(of[i] >= 0);
    }
    assert_int_equal(of[MOVEMENT_STAYING] + of[MOVEMENT_LEAVING] + of[MOVEMENT_UNDETERMINED],
                     wanted->now);
    assert_int_equal(of[MOVEMENT_STAYING] + of[MOVEMENT_ARRIVING] + of[MOVEMENT_UNDETERMINED],
                     wanted->then);
    assert_int_equal(of[MOVEMENT_UNDETERMINED], wanted->undetermined);
}

static void check_world(const char *page, const cJSON *report, struct balance *seen)
{
    struct balance all = sum_of_report(report, NULL);
    int64_t forbidden = page_sum(page, "karmada_placement_drift_forbidden_replicas", "");
    const char *of_clusters = "karmada_placement_drift_replicas";

    check_balance(page, of_clusters, "", &all);
    check_balance(page, "karmada_propagationpolicy_placement_drift_replicas", "", &all);
    check_balance(page, "karmada_placement_drift_resource_requests",
                  "resource=\"pods\",unit=\"pod\",", &all);
    check_balance(page, "karmada_namespace_placement_drift_resource_requests",
                  "resource=\"pods\",unit=\"pod\",", &all);
    for (unsigned i = 1; i <= 3; i++) {
        char name[16], part[64];

        snprintf(name, sizeof(name), "member%u", i);
        snprintf(part, sizeof(part), "member_cluster=\"%s\",", name);
        struct balance one = sum_of_report(report, name);
        check_balance(page, of_clusters, part, &one);
    }
    assert_true(forbidden <= page_sum(page, of_clusters, "movement=\"leaving\"") +
                                 page_sum(page, of_clusters, "movement=\"undetermined\""));
    seen->now += all.now;
    seen->then += all.then;
    seen->undetermined += all.undetermined;
}

TEST(movements_agree_with_the_report)
{
    struct balance seen = {0};

    for (uint32_t seed = 1; seed <= WORLDS; seed++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(REPORT_MAX);
        struct error err;
        struct world w;

        world_init(&w, &rules_options_default, seed);
        struct registry *r = page_registry(&w, &registry_options_default);
        random_objects(&w, OBJECTS);
        world_run(&w, 0);
        report_write(w.engine, NULL, &text);

        CLEANUP(free_cleanup) char *page = page_of(r);
        CLEANUP(json_cleanup) cJSON *report = json_parse(text.data, text.len, NULL, &err);
        assert_non_null(report);
        check_world(page, report, &seen);
        registry_free(r);
        world_release(&w);
    }
    /* The random worlds contained enough replicas of each kind. */
    assert_true(seen.now > 100 && seen.then > 100 && seen.undetermined > 50);
}
