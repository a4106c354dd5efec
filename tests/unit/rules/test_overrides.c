/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/overrides.h"

#include "metrics/model/store.h"
#include "tests/unit/lines.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { STEPS_MAX_BYTES = 1 << 16, DEPRECATED = -1 };

#define CLUSTER_WIDE "ClusterOverridePolicy"

static const struct release_range newest = {RELEASE_NEWEST, RELEASE_NEWEST, RELEASE_GIVEN, false};

/* ---- comparison with Karmada ---- */

/* Numbers of clusters over all cases, and of steps. */
struct counts {
    size_t clusters;
    size_t absent; /* Clusters without a Cluster object: Karmada applies no override. */
    size_t whole;  /* Clusters compared up to the end or the failing step. */
    size_t moved;  /* Clusters compared up to the last ClusterOverridePolicy. */
    size_t failed; /* Clusters for which Karmada fails at a step, the last one compared. */
    size_t steps;  /* Compared steps. */
};

/* Appends one line for a step, expected or found. */
static void add_step(struct strbuf *out, const char *kind, const char *ns, const char *name,
                     int rule)
{
    strbuf_addf(out, "%s %s/%s %d\n", kind, ns, name, rule);
}

/* Appends an element of `applied`, or `error`, which is the failing step. */
static void add_expected(struct strbuf *out, const cJSON *step, struct counts *counts)
{
    add_step(out, json_str(step, "kind", ""), json_str(step, "namespace", ""),
             json_str(step, "name", ""), (int)json_int(step, "rule", DEPRECATED));
    counts->steps++;
}

static bool is_cluster_wide(const cJSON *step)
{
    return strcmp(json_str(step, "kind", ""), CLUSTER_WIDE) == 0;
}

/*
 * Returns true if a ClusterOverridePolicy changed a field that OverridePolicies select by. The rule
 * does not compute the written value, so it cannot predict which OverridePolicies act.
 */
static bool changes_selected_fields(const cJSON *applied)
{
    static const char *const selected_by[] = {"/apiVersion", "/kind", "/metadata/labels",
                                              "/metadata/name"};
    const cJSON *step, *path;

    cJSON_ArrayForEach (step, applied) {
        cJSON_ArrayForEach (path, json_get(step, "paths")) {
            for (size_t i = 0; is_cluster_wide(step) && i < ARRAY_LEN(selected_by); i++) {
                if (strncmp(path->valuestring, selected_by[i], strlen(selected_by[i])) == 0)
                    return true;
            }
        }
    }
    return false;
}

static void append_steps(const struct override_steps *steps, bool moved, struct strbuf *out)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct override_step *step = &steps->items[i];
        const struct entry *policy = step->by->policy;

        if (moved && strcmp(entry_kind(policy), CLUSTER_WIDE) != 0)
            return;
        add_step(out, entry_kind(policy), entry_ns(policy), policy->name,
                 entry_override(policy)->deprecated ? DEPRECATED
                                                    : (int)override_step_rule_index(step));
    }
}

static void check_cluster(const struct world *w, const struct override_selection *selection,
                          const cJSON *expect, struct counts *counts)
{
    const char *name = json_str(expect, "cluster", "");
    const struct entry *cluster = world_find(w, "cluster.karmada.io/v1alpha1", "Cluster", "", name);
    const cJSON *applied = json_get(expect, "applied");
    const cJSON *error = json_get(expect, "error");
    CLEANUP(strbuf_release) struct strbuf expected = STRBUF_INIT(STEPS_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf found = STRBUF_INIT(STEPS_MAX_BYTES);
    bool moved = changes_selected_fields(applied);
    const cJSON *step;

    counts->clusters++;
    assert_int_equal(error && !json_get(error, "kind"), !cluster);
    if (!cluster) {
        assert_int_equal(cJSON_GetArraySize(applied), 0);
        counts->absent++;
        return;
    }

    CLEANUP(override_steps_release)
    struct override_steps steps =
        override_steps_for_cluster(selection, name, entry_cluster(cluster), newest);
    bool fails = error && (!moved || is_cluster_wide(error));

    cJSON_ArrayForEach (step, applied) {
        if (!moved || is_cluster_wide(step))
            add_expected(&expected, step, counts);
    }
    if (fails)
        add_expected(&expected, error, counts);
    append_steps(&steps, moved, &found);
    if (fails && found.len > expected.len)
        found.data[found.len = expected.len] = '\0';
    assert_string_equal(found.data, expected.data);
    assert_false(steps.unsure);
    assert_true(steps.others_may_act || !moved);
    counts->failed += fails;
    counts->moved += moved;
    counts->whole += !moved;
}

static void check_case(const cJSON *line, void *context)
{
    const cJSON *of = json_get(line, "template");
    const cJSON *expect;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_all(&w, json_get(line, "objects"));

    const struct entry *template =
        world_find(&w, json_str(of, "apiVersion", ""), json_str(of, "kind", ""),
                   json_str(of, "namespace", ""), json_str(of, "name", ""));
    assert_non_null(template);
    struct override_selection selection = override_selection_make(w.store, template);

    cJSON_ArrayForEach (expect, json_get(line, "expect"))
        check_cluster(&w, &selection, expect, context);
    override_selection_release(&selection);
    world_release(&w);
}

TEST(override_steps_agree_with_karmada)
{
    struct counts counts = {0};
    size_t cases = lines_each("tests/fixtures/vectors/by-release/overrides.f8fdd02d.jsonl.gz",
                              check_case, &counts);

    assert_int_equal(cases, 600);
    assert_int_equal(counts.clusters, 1115);
    assert_int_equal(counts.absent, 15);
    assert_int_equal(counts.whole, 869);
    assert_int_equal(counts.moved, 231);
    assert_int_equal(counts.failed, 75);
    assert_int_equal(counts.steps, 2467);
}

/* ---- fields that overriders change ---- */

static struct writing_case {
    const char *title;
    const char *overriders;
    bool writes_identity;
    bool empty;
} writing[] = {
    {"no overriders", "{}", false, true},
    {"lists without elements", "{'plaintext':[],'labelsOverrider':null}", false, true},
    {"a value of the spec", "{'plaintext':[{'path':'/spec/replicas'}]}", false, false},
    {"a label", "{'plaintext':[{'path':'/metadata/labels/app'}]}", true, false},
    {"the map of labels", "{'plaintext':[{'path':'/metadata/labels'}]}", true, false},
    {"all metadata", "{'plaintext':[{'path':'/metadata'}]}", true, false},
    {"the whole object", "{'plaintext':[{'path':''}]}", true, false},
    {"the name", "{'plaintext':[{'path':'/spec'},{'path':'/metadata/name'}]}", true, false},
    {"a member with a name that begins with 'name'", "{'plaintext':[{'path':'/metadata/names'}]}",
     false, false},
    {"the member of metadata with an empty name", "{'plaintext':[{'path':'/metadata/'}]}", false,
     false},
    {"an annotation", "{'annotationsOverrider':[{'operator':'add','value':{'a':'b'}}]}", false,
     false},
    {"labels by name", "{'labelsOverrider':[{'operator':'add','value':{'a':'b'}}]}", true, false},
    {"an image", "{'imageOverrider':[{'component':'Tag'}]}", false, false},
    {"an image that is a label",
     "{'imageOverrider':[{'component':'Tag','predicate':{'path':'/metadata/labels/image'}}]}", true,
     false},
    {"a field of a label", "{'fieldOverrider':[{'fieldPath':'/metadata/labels/json'}]}", true,
     false},
    {"a field of data", "{'fieldOverrider':[{'fieldPath':'/data/app.yaml'}]}", false, false},
};

TEST_ROWS(overriders_that_change_the_identity_are_recognized, writing, title)
{
    const struct writing_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of("{'spec':{'overrideRules':[{}]}}");

    reading_init(&r);
    json_put(json, "spec.overrideRules[0].overriders", json_of(c->overriders));

    struct override *o = override_decode(&r.decode, json);
    if (!o)
        fail_msg("%s", r.err.text);
    assert_int_equal(o->rule_count, 1);
    assert_int_equal(o->rules[0].writes_identity, c->writes_identity);
    assert_int_equal(o->rules[0].empty, c->empty);
    override_release(r.strings, o);
}

/* ---- clusters without a Cluster object ---- */

static struct name_case {
    const char *title;
    const char *target; /* NULL: no targetCluster. */
    bool acts;
    bool unsure;
} by_name[] = {
    {"no target", NULL, true, false},
    {"an empty target", "{}", true, false},
    {"the name", "{'clusterNames':['m1']}", true, false},
    {"another name", "{'clusterNames':['m2']}", false, false},
    {"the name is excluded", "{'exclude':['m1'],'labelSelector':{'matchLabels':{'a':'b'}}}", false,
     false},
    {"labels", "{'labelSelector':{'matchLabels':{'a':'b'}}}", true, true},
    {"labels beside another name",
     "{'clusterNames':['m2'],'labelSelector':{'matchLabels':{'a':'b'}}}", false, false},
    {"a region",
     "{'fieldSelector':{'matchExpressions':[{'key':'region','operator':'In','values':['eu']}]}}",
     true, true},
    {"zones", "{'fieldSelector':{'matchExpressions':[{'key':'zone','operator':'Exists'}]}}", true,
     true},
    {"an unknown operator on zones",
     "{'fieldSelector':{'matchExpressions':[{'key':'zone','operator':'Gt'}]}}", false, false},
};

TEST_ROWS(without_a_cluster_object_only_the_name_is_sure, by_name, title)
{
    const struct name_case *c = *state;
    CLEANUP(json_cleanup)
    cJSON *policy = json_of("{'apiVersion':'policy.karmada.io/v1alpha1','kind':'OverridePolicy',"
                            "'metadata':{'name':'o','namespace':'test'},"
                            "'spec':{'overrideRules':[{'overriders':{}}]}}");
    CLEANUP(json_cleanup)
    cJSON *template = json_of("{'apiVersion':'v1','kind':'Service','metadata':{'name':'s',"
                              "'namespace':'test'}}");
    struct world w;

    if (c->target)
        json_put(policy, "spec.overrideRules[0].targetCluster", json_of(c->target));
    world_init(&w, &rules_options_default, 1);
    world_put(&w, policy);
    world_put(&w, template);

    struct override_selection selection =
        override_selection_make(w.store, world_find(&w, "v1", "Service", "test", "s"));
    assert_int_equal(selection.count, 1);
    assert_int_equal(selection.items[0].score, SCORE_ALL);
    struct override_steps steps = override_steps_for_cluster(&selection, "m1", NULL, newest);

    assert_int_equal(steps.count, c->acts);
    assert_int_equal(steps.unsure, c->unsure);
    override_steps_release(&steps);
    override_selection_release(&selection);
    world_release(&w);
}

/* ---- zones by release ---- */

static struct zone_case {
    const char *name;
    const char *operation; /* Operator and values of a requirement on zones. */
    enum release oldest, newest;
    size_t count; /* Number of rules for a cluster in the zones z1 and z2. */
    bool release_decides;
} zone_cases[] = {
    {"any zone suffices", "'operator':'In','values':['z1']", RELEASE_1_18, RELEASE_NEWEST, 1,
     false},
    {"one zone does not suffice", "'operator':'In','values':['z1']", RELEASE_1_13, RELEASE_1_17, 0,
     false},
    {"the release decides", "'operator':'In','values':['z1']", RELEASE_1_17, RELEASE_1_18, 1, true},
    {"all zones are listed", "'operator':'In','values':['z2','z1']", RELEASE_1_13, RELEASE_NEWEST,
     1, false},
    {"no zone is listed", "'operator':'In','values':['z3']", RELEASE_1_13, RELEASE_NEWEST, 0,
     false},
    {"NotIn with a listed zone", "'operator':'NotIn','values':['z1']", RELEASE_1_13, RELEASE_NEWEST,
     0, false},
    {"NotIn with another zone", "'operator':'NotIn','values':['z3']", RELEASE_1_13, RELEASE_NEWEST,
     1, false},
    {"Exists", "'operator':'Exists'", RELEASE_1_13, RELEASE_NEWEST, 1, false},
    {"DoesNotExist", "'operator':'DoesNotExist'", RELEASE_1_13, RELEASE_NEWEST, 0, false},
    {"an older range that is equal", "'operator':'In','values':['z1']", RELEASE_1_15, RELEASE_1_16,
     0, false},
};

TEST_ROWS(zones_of_a_target_cluster_follow_the_release, zone_cases, name)
{
    const struct zone_case *c = *state;
    char text[512];
    struct world w;

    snprintf(text, sizeof(text),
             "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'OverridePolicy','metadata':{"
             "'name':'o','namespace':'test'},'spec':{'overrideRules':[{'targetCluster':{"
             "'fieldSelector':{'matchExpressions':[{'key':'zone',%s}]}},'overriders':{}}]}}",
             c->operation);
    CLEANUP(json_cleanup) cJSON *policy = json_of(text);
    CLEANUP(json_cleanup)
    cJSON *cluster = json_of("{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster',"
                             "'metadata':{'name':'m1'},'spec':{'zones':['z1','z2']}}");
    CLEANUP(json_cleanup)
    cJSON *template = json_of("{'apiVersion':'v1','kind':'Service','metadata':{'name':'s',"
                              "'namespace':'test'}}");

    world_init(&w, &rules_options_default, 1);
    world_put(&w, policy);
    world_put(&w, cluster);
    world_put(&w, template);

    const struct entry *m1 = world_find(&w, "cluster.karmada.io/v1alpha1", "Cluster", "", "m1");
    struct override_selection selection =
        override_selection_make(w.store, world_find(&w, "v1", "Service", "test", "s"));
    struct override_steps steps = override_steps_for_cluster(
        &selection, "m1", entry_cluster(m1),
        (struct release_range){c->oldest, c->newest, RELEASE_GIVEN, false});

    assert_int_equal(steps.count, c->count);
    assert_int_equal(steps.release_decides, c->release_decides);
    override_steps_release(&steps);
    override_selection_release(&selection);
    world_release(&w);
}
