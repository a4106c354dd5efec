/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/scheduler.h"

#include "metrics/simulate/plan.h"
#include "tests/unit/bound_objects.h"
#include "tests/unit/planned.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { NOW_MS = 1000 * 1000, CASE_MAX_BYTES = 1 << 16 };

/* ---- cases of Karmada's users, in all releases ---- */

static cJSON *read_items(const char *name, const char *suffix)
{
    CLEANUP(free_cleanup) char *text = xmalloc(CASE_MAX_BYTES);
    char path[128];
    size_t len;
    FILE *file;

    snprintf(path, sizeof(path), "tests/fixtures/cases/by-release/%s%s.json", name, suffix);
    file = fopen(path, "re");
    assert_non_null(file);
    len = fread(text, 1, CASE_MAX_BYTES - 1, file);
    fclose(file);
    text[len] = '\0';

    cJSON *list = cJSON_Parse(text);

    assert_non_null(list);
    return list;
}

static void init_world(struct world *w, const char *version)
{
    struct rules_options options = rules_options_default;

    options.karmada_version = version;
    world_init(w, &options, 1);
}

static const struct use_case {
    const char *name;
    const char *deleted; /* Name of a Cluster; NULL: the change is in a file. */
    unsigned first;      /* First release with the second result. */
    const char *before;  /* NULL: the same as `since`. */
    const char *since;
} use_cases[] = {
    {"delete-cluster", "m2", RELEASE_1_14, "current p m1:2 m2:2", "current p m1:4"},
    {"zero-replicas", NULL, RELEASE_1_16, "current p m1:0", "current p"},
    {"eviction", NULL, 0, NULL, "current p m2:3"},
    {"api-lost", NULL, RELEASE_1_15, "current p", "current p m1:3"},
    {"empty-apis", NULL, 0, NULL, "current p"},
    {"zones-1.17", NULL, RELEASE_1_18, "current p", "current p m1:2"},
    {"weights-1.15", NULL, RELEASE_1_16, "current p m2:2", "current p m1:1 m2:1"},
};

static void check_use_case(const struct use_case *c, unsigned release)
{
    const char *expected = c->before && release < c->first ? c->before : c->since;
    cJSON *objects = read_items(c->name, "");
    char text[256];
    struct world w;

    init_world(&w, release_name((enum release)release));
    world_put_all(&w, json_get(objects, "items"));
    world_run(&w, NOW_MS);

    struct plan *p = plan_new(w.engine);

    if (c->deleted) {
        plan_delete(p, world_find(&w, "cluster.karmada.io/v1alpha1", "Cluster", "", c->deleted));
    } else {
        cJSON *changes = read_items(c->name, ".change");
        CLEANUP(free_cleanup)
        char *change = cJSON_PrintUnformatted(cJSON_GetArrayItem(json_get(changes, "items"), 0));

        planned_apply(p, change);
        cJSON_Delete(changes);
    }

    const struct plan_template *row = planned_row(plan_finish(p), "web");
    const char *actual = row ? planned_outcome(&row->after, text) : "unchanged";

    if (!row && strcmp(expected, "current p m1:2 m2:2") == 0)
        actual = expected;
    if (strcmp(actual, expected) != 0)
        fail_msg("%s: '%s', not '%s'", release_name((enum release)release), actual, expected);
    plan_free(p);
    world_release(&w);
    cJSON_Delete(objects);
}

TEST_ROWS(the_plan_follows_the_release, use_cases, name)
{
    for (unsigned release = 0; release < RELEASE_COUNT; release++)
        check_use_case(*state, release);
}

/* ---- written bindings ---- */

#define MEMBER(name)                                                                               \
    "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\",\"metadata\":{"          \
    "\"name\":\"" name "\",\"labels\":{\"l\":\"" name "\"}},\"spec\":{}}"
#define DIVIDED "\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\"}"
#define LABEL(value)                                                                               \
    "\"clusterAffinity\":{\"labelSelector\":{\"matchLabels\":{\"l\":\"" value "\"}}}"
#define WITHOUT_UID                                                                                \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\","          \
    "\"namespace\":\"default\"},\"spec\":{\"replicas\":3,\"template\":{}}}"
#define SPREAD_BY_LABEL "\"spreadConstraints\":[{\"spreadByLabel\":\"rack\",\"maxGroups\":2}]"

/* A policy that is applied to a new Deployment, and the condition of the binding that results. */
static const struct condition_case {
    const char *name;
    const char *placement;
    enum scheduled scheduled;
    const char *outcome;
} condition_cases[] = {
    {"a cluster fits", LABEL("m1"), SCHEDULED_TRUE, "current p m1:3"},
    {"no cluster fits", LABEL("m9"), SCHEDULED_NO_CLUSTER_FIT, "current p"},
    {"the scheduler refuses", SPREAD_BY_LABEL, SCHEDULED_ERROR, "current p"},
    {"the uid does not matter", LABEL("m1") "," DIVIDED, SCHEDULED_TRUE, "current p m1:3"},
    {"the uid decides", DIVIDED, SCHEDULED_NEVER, "current p uid"},
};

TEST_ROWS(the_binding_has_the_condition_of_the_scheduler, condition_cases, name)
{
    const struct condition_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf policy = STRBUF_INIT(4096);
    char text[256];
    struct world w;

    init_world(&w, "1.18");
    world_put_text(&w, MEMBER("m1"));
    world_put_text(&w, MEMBER("m2"));
    world_put_text(&w, WITHOUT_UID);
    world_run(&w, NOW_MS);
    strbuf_addf(&policy, POLICY("p", SELECTS("web") ",\"placement\":{%s}"), c->placement);

    struct plan *p = plan_new(w.engine);

    planned_apply(p, policy.data);

    const struct plan_template *row = planned_row(plan_finish(p), "web");

    assert_non_null(row);
    assert_string_equal(planned_outcome(&row->after, text), c->outcome);
    assert_int_equal(row->after.binding->status.scheduled, c->scheduled);
    assert_int_equal(row->after.binding->was_scheduled,
                     c->scheduled == SCHEDULED_TRUE || c->scheduled == SCHEDULED_NO_CLUSTER_FIT);
    plan_free(p);
    world_release(&w);
}
