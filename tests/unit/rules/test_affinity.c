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

/* An empty affinity is not kept at all: then every cluster is meant. */
static bool matches(const struct placement *p, const char *name, const struct cluster *cluster)
{
    return p->group_count == 0 || affinity_matches_cluster(&p->groups[0].affinity, name, cluster);
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

TEST(agrees_with_karmada)
{
    size_t checked = 0;
    size_t cases = lines_each("tests/fixtures/vectors/affinity.jsonl.gz", check_case, &checked);

    assert_int_equal(cases, 800);
    assert_true(checked > 2 * cases);
}

#define FIELD(key, rest)                                                                           \
    "{'clusterAffinity':{'fieldSelector':{'matchExpressions':[{'key':'" key "'," rest "}]}}}"
#define ZONED "'provider':'aws east','region':'eu','zones':['z 1','z2']"

/* What the random cases do not reach: one cluster, `m1`. */
static struct match_case {
    const char *name;
    const char *placement;
    const char *spec;
    bool matches;
} match_cases[] = {
    {"the deprecated zone counts as one of the zones",
     FIELD("zone", "'operator':'In','values':['z']"), "'zone':'z'", true},
    {"a zone need not be a legal label value", FIELD("zone", "'operator':'In','values':['z 1']"),
     ZONED, true},
    {"a provider that is no legal label value is never meant",
     FIELD("provider", "'operator':'In','values':['aws east']"), ZONED, false},
    {"nor is it meant by leaving another out",
     FIELD("provider", "'operator':'NotIn','values':['aws east']"), "'provider':'gcp'", false},
    {"In without zones means none", FIELD("zone", "'operator':'In','values':[]"), ZONED, false},
    {"NotIn without zones means all", FIELD("zone", "'operator':'NotIn','values':[]"), ZONED, true},
    {"a zone operator that nobody knows means none",
     FIELD("zone", "'operator':'Gt','values':['1']"), ZONED, false},
    {"a field operator that nobody knows means none",
     FIELD("region", "'operator':'in','values':['eu']"), ZONED, false},
    {"a field that clusters do not have", FIELD("country", "'operator':'Exists'"), ZONED, false},
    {"a field that clusters do not have does not exist",
     FIELD("country", "'operator':'DoesNotExist'"), ZONED, true},
    {"an unknown member of a fieldSelector is skipped",
     "{'clusterAffinity':{'fieldSelector':{'matchLabels':{'region':'us'}}}}", ZONED, true},
    {"a name that is excluded too", "{'clusterAffinity':{'clusterNames':['m1'],'exclude':['m1']}}",
     "", false},
    {"names are compared with case", "{'clusterAffinity':{'clusterNames':['M1']}}", "", false},
};

TEST_ROWS(match, match_cases, name)
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
    {"NoSchedule keeps away", "", TAINT("NoSchedule"), false},
    {"NoExecute keeps away", "", TAINT("NoExecute"), false},
    {"PreferNoSchedule does not", "", TAINT("PreferNoSchedule"), true},
    {"key and value are tolerated", "{'key':'k','value':'v'}", TAINT("NoSchedule"), true},
    {"Equal is what is meant without an operator", "{'key':'k','operator':'Equal','value':'v'}",
     TAINT("NoSchedule"), true},
    {"another value is not", "{'key':'k','value':'w'}", TAINT("NoSchedule"), false},
    {"another key is not", "{'key':'j','operator':'Exists'}", TAINT("NoSchedule"), false},
    {"any value of the key", "{'key':'k','operator':'Exists'}", TAINT("NoSchedule"), true},
    {"any taint at all", "{'operator':'Exists'}", TAINT("NoExecute"), true},
    {"only one effect", "{'operator':'Exists','effect':'NoExecute'}", TAINT("NoSchedule"), false},
    {"the right effect", "{'operator':'Exists','effect':'NoSchedule'}", TAINT("NoSchedule"), true},
    {"an operator that nobody knows tolerates nothing", "{'key':'k','operator':'Lt','value':'v'}",
     TAINT("NoSchedule"), false},
    {"one of two taints is not enough", "{'key':'k','operator':'Exists'}",
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

TEST_ROWS(tolerate, taint_cases, name)
{
    const struct taint_case *c = *state;

    assert_int_equal(tolerates(c->tolerations, "", c->spec), c->tolerated);
}

TEST(nothing_tolerates_a_cluster_that_goes)
{
    assert_false(
        tolerates("{'operator':'Exists'}", ",'deletionTimestamp':'2026-01-01T00:00:00Z'", ""));
}
