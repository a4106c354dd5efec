/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/placement_match.h"

#include "metrics/model/canonical_json.h"
#include "tests/unit/lines.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

static struct placement *read_placement(struct reading *r, const cJSON *json)
{
    const char *text = canonical_text(&r->decode, json, CANONICAL_PLACEMENT);
    struct placement *p = placement_parse(r->strings, text);

    assert_false(p->unreadable);
    intern_drop(r->strings, text);
    return p;
}

static struct cluster *read_cluster(struct reading *r, const cJSON *json)
{
    struct cluster *cluster = cluster_decode(&r->decode, json);

    if (!cluster)
        fail_msg("%s", r->err.text);
    return cluster;
}

/*
 * Returns true if the clusterAffinity selects the cluster. An empty clusterAffinity is not stored:
 * it selects all clusters.
 */
static bool matches(const struct placement *p, const char *name, const struct cluster *cluster)
{
    return p->group_count == 0 ||
           affinity_matches_cluster(&p->groups[0].affinity, name, cluster, RELEASE_NEWEST);
}

static bool is_expected(const cJSON *expect, const char *name)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, expect) {
        if (strcmp(item->valuestring, name) == 0)
            return true;
    }
    return false;
}

static void check_case(const cJSON *line, void *context)
{
    size_t *checked = context;
    cJSON *placement = cJSON_CreateObject();
    const cJSON *object;
    struct reading r;

    reading_init(&r);
    cJSON_AddItemToObject(placement, "clusterAffinity",
                          cJSON_Duplicate(json_get(line, "clusterAffinity"), true));
    struct placement *p = read_placement(&r, placement);
    cJSON_ArrayForEach (object, json_get(line, "objects")) {
        const char *name = json_str(json_get(object, "metadata"), "name", "");
        struct cluster *cluster = read_cluster(&r, object);

        if (matches(p, name, cluster) != is_expected(json_get(line, "expect"), name))
            fail_msg("case %d: %s", (int)json_int(line, "case", -1), name);
        cluster_release(r.strings, cluster);
        (*checked)++;
    }
    placement_free(r.strings, p);
    cJSON_Delete(placement);
    reading_release(&r);
}

TEST(cluster_affinities_agree_with_karmada)
{
    size_t checked = 0;
    size_t cases = lines_each("tests/fixtures/vectors/affinity.jsonl.gz", check_case, &checked);

    assert_int_equal(cases, 800);
    assert_true(checked > 2 * cases);
}

#define FIELD(key, rest)                                                                           \
    "{'clusterAffinity':{'fieldSelector':{'matchExpressions':[{'key':'" key "'," rest "}]}}}"
#define ZONED "'provider':'aws east','region':'eu','zones':['z 1','z2']"

/* Affinities that the random vectors do not contain, and whether they select the cluster `m1`. */
static struct match_case {
    const char *name;
    const char *placement;
    const char *spec;
    bool matches;
} match_cases[] = {
    {"the deprecated spec.zone counts as one of spec.zones",
     FIELD("zone", "'operator':'In','values':['z']"), "'zone':'z'", true},
    {"a zone need not be a legal label value", FIELD("zone", "'operator':'In','values':['z 1']"),
     ZONED, true},
    {"In does not match a provider that is no legal label value",
     FIELD("provider", "'operator':'In','values':['aws east']"), ZONED, false},
    {"NotIn with a value that is no legal label value never matches",
     FIELD("provider", "'operator':'NotIn','values':['aws east']"), "'provider':'gcp'", false},
    {"In without values matches no zone", FIELD("zone", "'operator':'In','values':[]"), ZONED,
     false},
    {"NotIn without values matches every zone", FIELD("zone", "'operator':'NotIn','values':[]"),
     ZONED, true},
    {"an unknown operator on zones matches no cluster",
     FIELD("zone", "'operator':'Gt','values':['1']"), ZONED, false},
    {"an unknown operator on a field matches no cluster",
     FIELD("region", "'operator':'in','values':['eu']"), ZONED, false},
    {"Exists on an unknown field matches no cluster", FIELD("country", "'operator':'Exists'"),
     ZONED, false},
    {"DoesNotExist on an unknown field matches every cluster",
     FIELD("country", "'operator':'DoesNotExist'"), ZONED, true},
    {"an unknown member of a fieldSelector is skipped",
     "{'clusterAffinity':{'fieldSelector':{'matchLabels':{'region':'us'}}}}", ZONED, true},
    {"exclude wins over clusterNames",
     "{'clusterAffinity':{'clusterNames':['m1'],'exclude':['m1']}}", "", false},
    {"cluster names are case-sensitive", "{'clusterAffinity':{'clusterNames':['M1']}}", "", false},
};

TEST_ROWS(affinities_match_clusters, match_cases, name)
{
    const struct match_case *c = *state;
    cJSON *placement = json_of(c->placement);
    struct reading r;
    char text[256];

    reading_init(&r);
    snprintf(text, sizeof(text), "{'metadata':{'name':'m1'},'spec':{%s}}", c->spec);
    cJSON *object = json_of(text);
    struct placement *p = read_placement(&r, placement);
    struct cluster *cluster = read_cluster(&r, object);
    assert_int_equal(matches(p, "m1", cluster), c->matches);
    cluster_release(r.strings, cluster);
    placement_free(r.strings, p);
    cJSON_Delete(object);
    cJSON_Delete(placement);
    reading_release(&r);
}

#define TAINT(effect) "'taints':[{'key':'k','value':'v','effect':'" effect "'}]"

static struct taint_case {
    const char *name;
    const char *tolerations;
    const char *spec;
    bool tolerated;
} taint_cases[] = {
    {"no taint, no toleration", "", "", true},
    {"NoSchedule repels", "", TAINT("NoSchedule"), false},
    {"NoExecute repels", "", TAINT("NoExecute"), false},
    {"PreferNoSchedule does not repel", "", TAINT("PreferNoSchedule"), true},
    {"a toleration of key and value", "{'key':'k','value':'v'}", TAINT("NoSchedule"), true},
    {"the default operator is Equal", "{'key':'k','operator':'Equal','value':'v'}",
     TAINT("NoSchedule"), true},
    {"a toleration of another value", "{'key':'k','value':'w'}", TAINT("NoSchedule"), false},
    {"a toleration of another key", "{'key':'j','operator':'Exists'}", TAINT("NoSchedule"), false},
    {"Exists tolerates every value of the key", "{'key':'k','operator':'Exists'}",
     TAINT("NoSchedule"), true},
    {"Exists without a key tolerates every taint", "{'operator':'Exists'}", TAINT("NoExecute"),
     true},
    {"a toleration of another effect", "{'operator':'Exists','effect':'NoExecute'}",
     TAINT("NoSchedule"), false},
    {"a toleration of the same effect", "{'operator':'Exists','effect':'NoSchedule'}",
     TAINT("NoSchedule"), true},
    {"an unknown operator tolerates no taint", "{'key':'k','operator':'Lt','value':'v'}",
     TAINT("NoSchedule"), false},
    {"a toleration of one of two taints", "{'key':'k','operator':'Exists'}",
     "'taints':[{'key':'k','effect':'NoSchedule'},{'key':'l','effect':'NoExecute'}]", false},
};

static bool tolerates(const char *tolerations, const char *metadata, const char *spec)
{
    struct reading r;
    char text[512];

    reading_init(&r);
    snprintf(text, sizeof(text), "{'clusterTolerations':[%s]}", tolerations);
    cJSON *placement = json_of(text);
    snprintf(text, sizeof(text), "{'metadata':{'name':'m1'%s},'spec':{%s}}", metadata, spec);
    cJSON *object = json_of(text);
    struct placement *p = read_placement(&r, placement);
    struct cluster *cluster = read_cluster(&r, object);
    bool answer = placement_tolerates_cluster(p, cluster);

    cluster_release(r.strings, cluster);
    placement_free(r.strings, p);
    cJSON_Delete(object);
    cJSON_Delete(placement);
    reading_release(&r);
    return answer;
}

TEST_ROWS(tolerations_match_taints, taint_cases, name)
{
    const struct taint_case *c = *state;

    assert_int_equal(tolerates(c->tolerations, "", c->spec), c->tolerated);
}

TEST(no_toleration_covers_a_cluster_being_deleted)
{
    assert_false(
        tolerates("{'operator':'Exists'}", ",'deletionTimestamp':'2026-01-01T00:00:00Z'", ""));
}
