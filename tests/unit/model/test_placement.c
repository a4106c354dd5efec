/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/placement.h"

#include "metrics/model/canonical_json.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

/* Parses the canonical text of a placement, as the rules do. */
static struct placement *read_placement(struct reading *r, const char *json)
{
    cJSON *tree = json_of(json);
    const char *text = canonical_text(&r->decode, tree, CANONICAL_PLACEMENT);
    struct placement *p = placement_parse(r->strings, text);

    assert_false(r->decode.failed);
    intern_drop(r->strings, text);
    cJSON_Delete(tree);
    return p;
}

static struct division_case {
    const char *name;
    const char *json;
    enum division division;
} division_cases[] = {
    {"no replica scheduling is duplicated", "{}", DIVISION_DUPLICATED},
    {"duplicated", "{'replicaScheduling':{'replicaSchedulingType':'Duplicated'}}",
     DIVISION_DUPLICATED},
    {"an empty replica scheduling is divided by weight", "{'replicaScheduling':{}}",
     DIVISION_STATIC_WEIGHT},
    {"divided is weighted by default", "{'replicaScheduling':{'replicaSchedulingType':'Divided'}}",
     DIVISION_STATIC_WEIGHT},
    {"aggregated", "{'replicaScheduling':{'replicaDivisionPreference':'Aggregated'}}",
     DIVISION_AGGREGATED},
    {"a dynamic weight takes precedence over a static list",
     "{'replicaScheduling':{'weightPreference':{'dynamicWeight':'AvailableReplicas',"
     "'staticWeightList':[{'weight':1}]}}}",
     DIVISION_DYNAMIC_WEIGHT},
    {"duplicated ignores the preference",
     "{'replicaScheduling':{'replicaSchedulingType':'Duplicated',"
     "'replicaDivisionPreference':'Aggregated'}}",
     DIVISION_DUPLICATED},
    {"an undefined type is unknown", "{'replicaScheduling':{'replicaSchedulingType':'Later'}}",
     DIVISION_UNKNOWN},
    {"an undefined preference is unknown",
     "{'replicaScheduling':{'replicaDivisionPreference':'Later'}}", DIVISION_UNKNOWN},
};

TEST_ROWS(division_is_parsed, division_cases, name)
{
    const struct division_case *c = *state;
    struct reading r;

    reading_init(&r);
    struct placement *p = read_placement(&r, c->json);
    assert_int_equal(p->division, c->division);
    assert_false(p->unreadable);
    placement_free(r.strings, p);
    reading_release(&r);
}

/* Placements with a member of a wrong type, which make the placement unreadable. */
static struct wrong_case {
    const char *name;
    const char *json;
} wrong_cases[] = {
    {"an affinity that is a list", "{'clusterAffinity':['a']}"},
    {"affinities that are an object", "{'clusterAffinities':{'a':'b'}}"},
    {"affinities that are texts", "{'clusterAffinities':['a',1,true]}"},
    {"names that are numbers", "{'clusterAffinity':{'clusterNames':[1,2]}}"},
    {"names that are one text", "{'clusterAffinity':{'clusterNames':'a'}}"},
    {"an exclusion that is an object", "{'clusterAffinity':{'exclude':{'a':1}}}"},
    {"a labelSelector that is a text", "{'clusterAffinity':{'labelSelector':'a=b'}}"},
    {"field expressions that are texts",
     "{'clusterAffinity':{'fieldSelector':{'matchExpressions':['zone']}}}"},
    {"a field operator that is a number",
     "{'clusterAffinity':{'fieldSelector':{'matchExpressions':[{'key':'zone','operator':7}]}}}"},
    {"tolerations that are an object", "{'clusterTolerations':{'key':'a'}}"},
    {"a toleration that is a text", "{'clusterTolerations':['a']}"},
    {"a weight that is a text", "{'replicaScheduling':{'weightPreference':{'staticWeightList':["
                                "{'weight':'2'}]}}}"},
    {"a weight of 1e300", "{'replicaScheduling':{'weightPreference':{"
                          "'staticWeightList':[{'weight':1e300}]}}}"},
    {"a weight list of numbers",
     "{'replicaScheduling':{'weightPreference':{'staticWeightList':[1,2]}}}"},
    {"a target that is a text", "{'replicaScheduling':{'weightPreference':{'staticWeightList':["
                                "{'targetCluster':'a'}]}}}"},
    {"a scheduling that is a text", "{'replicaScheduling':'Divided'}"},
    {"spread constraints that are an object", "{'spreadConstraints':{'maxGroups':1}}"},
    {"an overflow that is an object", "{'clusterAffinities':[{'overflowAffinities':{'a':1}}]}"},
    {"an overflow of texts", "{'clusterAffinities':[{'overflowAffinities':['a']}]}"},
};

TEST_ROWS(wrong_type_is_unreadable, wrong_cases, name)
{
    const struct wrong_case *c = *state;
    struct reading r;

    reading_init(&r);
    struct placement *p = read_placement(&r, c->json);
    assert_true(p->unreadable);
    placement_free(r.strings, p);
    reading_release(&r);
}

TEST(all_fields_of_a_placement_are_parsed)
{
    struct reading r;

    reading_init(&r);
    struct placement *p = read_placement(
        &r, "{'clusterAffinities':[{'affinityName':'first','clusterNames':['m1','m2'],"
            "'exclude':['m3'],'labelSelector':{'matchLabels':{'env':'prod'}},"
            "'fieldSelector':{'matchExpressions':[{'key':'zone','operator':'In','values':['z1']},"
            "{'key':'region','operator':'Exists'}]},'later':{'x':[1]}},"
            "{'affinityName':'second','overflowAffinities':[{'affinityName':'more',"
            "'clusterNames':['m4']},{}]}],"
            "'clusterTolerations':[{'key':'k','operator':'Exists','effect':'NoSchedule'},{}],"
            "'spreadConstraints':[{'maxGroups':1}],'workloadAffinity':{'affinity':{"
            "'groupByLabelKey':'app'}},'replicaScheduling':{'weightPreference':{"
            "'staticWeightList':[{'targetCluster':{'clusterNames':['m1']},'weight':2},"
            "{'targetCluster':{},'weight':-3}]}},'later':7}");

    assert_false(p->unreadable);
    assert_int_equal(p->group_count, 2);
    assert_string_equal(p->groups[0].name, "first");
    assert_int_equal(p->groups[0].affinity.name_count, 2);
    assert_string_equal(p->groups[0].affinity.names[1], "m2");
    assert_string_equal(p->groups[0].affinity.exclude[0], "m3");
    assert_int_equal(p->groups[0].affinity.labels->count, 1);
    assert_int_equal(p->groups[0].affinity.fields->count, 1);
    assert_string_equal(p->groups[0].affinity.fields->items[0].key, "region");
    assert_int_equal(p->groups[0].affinity.zones->count, 1);
    assert_false(p->groups[0].affinity.never);
    assert_int_equal(p->groups[0].overflow_count, 0);
    assert_int_equal(p->groups[1].overflow_count, 2);
    assert_string_equal(p->groups[1].overflow[0].names[0], "m4");
    assert_int_equal(p->toleration_count, 2);
    assert_string_equal(p->tolerations[0].op, "Exists");
    assert_string_equal(p->tolerations[1].key, "");
    assert_true(p->has_spread_constraints);
    assert_true(p->has_workload_affinity);
    assert_int_equal(p->weight_count, 2);
    assert_int_equal(p->weights[0].weight, 2);
    assert_int_equal(p->weights[1].weight, -3);
    assert_int_equal(p->weights[1].target.name_count, 0);
    placement_free(r.strings, p);
    reading_release(&r);
}

TEST(cluster_affinity_takes_precedence_over_affinities)
{
    struct reading r;

    reading_init(&r);
    struct placement *p =
        read_placement(&r, "{'clusterAffinity':{'clusterNames':['m1']},"
                           "'clusterAffinities':[{'affinityName':'a'},{'affinityName':'b'}]}");
    assert_int_equal(p->group_count, 1);
    assert_null(p->groups[0].name);
    placement_free(r.strings, p);
    reading_release(&r);
}

TEST(unknown_zone_operator_matches_no_cluster)
{
    struct reading r;

    reading_init(&r);
    struct placement *p =
        read_placement(&r, "{'clusterAffinity':{'fieldSelector':{'matchExpressions':["
                           "{'key':'zone','operator':'Near','values':['z1']}]}}}");
    assert_false(p->unreadable);
    assert_true(p->groups[0].affinity.never);
    placement_free(r.strings, p);
    reading_release(&r);
}

TEST(text_that_is_no_object_is_unreadable)
{
    static const char *const texts[] = {"", "{", "[]", "7", "\"a\"", "null"};
    struct intern *strings = intern_new(1);

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct placement *p = placement_parse(strings, texts[i]);

        assert_true(p->unreadable);
        placement_free(strings, p);
    }
    placement_free(strings, NULL);
    intern_free(strings);
}
