/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/cluster.h"

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

static struct cluster *cluster_of(struct reading *r, const char *text)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text);
    struct cluster *c = cluster_decode(&r->decode, json);

    if (!c)
        fail_msg("%s", r->err.text);
    return c;
}

TEST(all_fields_of_a_cluster_are_decoded)
{
    CLEANUP(reading_release) struct reading r;

    reading_init(&r);

    struct cluster *c = cluster_of(
        &r, "{'metadata':{'name':'m1','labels':{'env':'prod'},"
            "'deletionTimestamp':'2026-01-31T12:00:00Z'},"
            "'spec':{'syncMode':'Push','provider':'gcp','region':'eu','zones':['z1','z2'],"
            "'zone':'z3','taints':[{'key':'k','value':'v','effect':'NoSchedule'},{'key':'l'}]},"
            "'status':{'conditions':[{'type':'CompleteAPIEnablements','status':'False'},"
            "{'type':'Ready','status':'True'}],"
            "'resourceSummary':{'allocatable':{'memory':'4Gi','cpu':'8','pods':110},"
            "'allocated':{'ephemeral-storage':'1k','cpu':'1500m'}}}}");

    assert_int_equal(c->labels.count, 1);
    assert_string_equal(labels_get(&c->labels, intern_find(r.strings, "env")), "prod");
    assert_string_equal(c->provider, "gcp");
    assert_string_equal(c->region, "eu");
    assert_int_equal(c->zone_count, 3);
    assert_string_equal(c->zones[2], "z3");
    assert_int_equal(c->taint_count, 2);
    assert_string_equal(c->taints[0].key, "k");
    assert_string_equal(c->taints[0].value, "v");
    assert_string_equal(c->taints[0].effect, "NoSchedule");
    assert_string_equal(c->taints[1].key, "l");
    assert_string_equal(c->taints[1].value, "");
    assert_true(c->ready);
    assert_true(c->deleting);

    static const struct cluster_resource expected[] = {
        {"cpu", 8, 1.5, 0},
        {"ephemeral-storage", 0, 1000, 0},
        {"memory", 4294967296, 0, 0},
        {"pods", 110, 0, 0},
    };

    assert_int_equal(c->resource_count, ARRAY_LEN(expected));
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        assert_string_equal(c->resources[i].resource, expected[i].resource);
        assert_true(c->resources[i].allocatable == expected[i].allocatable);
        assert_true(c->resources[i].allocated == expected[i].allocated);
    }
    cluster_release(r.strings, c);
}

TEST(cluster_without_status_is_not_ready)
{
    CLEANUP(reading_release) struct reading r;

    reading_init(&r);

    struct cluster *c = cluster_of(&r, "{'metadata':{'name':'m1'}}");

    assert_null(c->provider);
    assert_null(c->region);
    assert_int_equal(c->zone_count + c->taint_count + c->resource_count, 0);
    assert_false(c->ready || c->deleting);
    cluster_release(r.strings, c);
}

static struct zones_case {
    const char *name;
    const char *spec;
    const char *zones;
} zones[] = {
    {"no zones", "{}", ""},
    {"zone without zones", "{'zone':'z1'}", "z1 "},
    {"zone that is also in zones", "{'zone':'z2','zones':['z1','z2']}", "z1 z2 "},
    {"zone that is not in zones", "{'zone':'z3','zones':['z1']}", "z1 z3 "},
    {"an empty zone beside zones", "{'zone':'','zones':['z1']}", "z1 "},
};

TEST_ROWS(zones_are_decoded, zones, name)
{
    const struct zones_case *row = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of("{'metadata':{'name':'m1'}}");
    CLEANUP(strbuf_release) struct strbuf found = STRBUF_INIT(256);

    json_put(json, "spec", json_of(row->spec));
    reading_init(&r);

    struct cluster *c = cluster_decode(&r.decode, json);

    assert_non_null(c);
    for (uint32_t i = 0; i < c->zone_count; i++)
        strbuf_addf(&found, "%s ", c->zones[i]);
    assert_string_equal(found.data, row->zones);
    cluster_release(r.strings, c);
}

static struct ready_case {
    const char *name;
    const char *conditions;
    bool ready;
} readies[] = {
    {"no conditions", "[]", false},
    {"Ready is True", "[{'type':'Ready','status':'True'}]", true},
    {"Ready is False", "[{'type':'Ready','status':'False'}]", false},
    {"Ready is Unknown", "[{'type':'Ready','status':'Unknown'}]", false},
    {"Ready has no status", "[{'type':'Ready'}]", false},
    {"another condition is True", "[{'type':'CompleteAPIEnablements','status':'True'}]", false},
    {"an empty condition", "[null,{},{'type':'Ready','status':'True'}]", true},
};

TEST_ROWS(readiness_is_decoded, readies, name)
{
    const struct ready_case *row = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of("{'metadata':{'name':'m1'},'status':{}}");

    json_put(json, "status.conditions", json_of(row->conditions));
    reading_init(&r);

    struct cluster *c = cluster_decode(&r.decode, json);

    assert_non_null(c);
    assert_int_equal(c->ready, row->ready);
    cluster_release(r.strings, c);
}
