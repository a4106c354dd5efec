/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/user_change.h"

#include "metrics/simulate/plan.h"

#include "tests/unit/bound_objects.h"
#include "tests/unit/planned.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { NOW_MS = 1000 * 1000, OBJECTS_MAX = 8 };

/* ---- objects ---- */

#define POLICY_OF(kind, metadata, spec)                                                            \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"" kind "\",\"metadata\":{"          \
    "\"name\":\"x\"" metadata "},\"spec\":{" spec "}}"
#define IN_DEFAULT ",\"namespace\":\"default\""
#define NAMESPACE(name)                                                                            \
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"" name "\"}}"
#define REBALANCER(workload)                                                                       \
    "{\"apiVersion\":\"apps.karmada.io/v1alpha1\",\"kind\":\"WorkloadRebalancer\",\"metadata\":{"  \
    "\"name\":\"r\"},\"spec\":{\"workloads\":[{\"apiVersion\":\"apps/v1\",\"kind\":"               \
    "\"Deployment\",\"namespace\":\"default\",\"name\":\"" workload "\"}]}}"
#define TOLERATES(more)                                                                            \
    "\"placement\":{\"clusterAffinity\":{\"clusterNames\":[\"member1\"]},"                         \
    "\"clusterTolerations\":[{\"key\":\"cluster.karmada.io/not-ready\",\"operator\":\"Exists\","   \
    "\"effect\":\"NoExecute\",\"tolerationSeconds\":300},{\"key\":"                                \
    "\"cluster.karmada.io/unreachable\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","         \
    "\"tolerationSeconds\":300}" more "]}"

static const char *const bound[] = {
    CLUSTER("member1"),
    CLUSTER("member2"),
    POLICY("old", SELECTS("web") "," ON("member1")),
    TEMPLATE("web", "," CLAIM("old")),
    BINDING("web", "old", "member1"),
};

static void init_bound_world(struct world *w)
{
    world_init(w, &rules_options_default, 1);
    for (size_t i = 0; i < ARRAY_LEN(bound); i++)
        world_put_text(w, bound[i]);
    world_run(w, NOW_MS);
}

/* ---- objects without their whole effect ---- */

static const struct object_case {
    const char *name;
    const char *stored; /* Object in the store before the change; NULL: none. */
    const char *apply;
    const char *outcome; /* "<outcome> <reason>" of the only object; NULL: no object is listed. */
} object_cases[] = {
    {"an OverridePolicy", NULL,
     POLICY_OF("OverridePolicy", IN_DEFAULT, "\"overrideRules\":[{\"overriders\":{}}]"),
     "not_simulated override_policy"},
    {"a ClusterOverridePolicy", NULL,
     POLICY_OF("ClusterOverridePolicy", "", "\"overrideRules\":[{\"overriders\":{}}]"),
     "not_simulated override_policy"},
    {"a FederatedResourceQuota", NULL,
     POLICY_OF("FederatedResourceQuota", IN_DEFAULT, "\"overall\":{\"cpu\":\"1\"}"),
     "not_simulated kind"},
    {"a ClusterTaintPolicy", NULL,
     POLICY_OF("ClusterTaintPolicy", "", "\"taints\":[{\"key\":\"a\",\"effect\":\"NoSchedule\"}]"),
     "not_simulated kind"},
    {"a WorkloadRebalancer", NULL, REBALANCER("web"), NULL},
    {"a WorkloadRebalancer of a workload without binding", NULL, REBALANCER("api"),
     "ignored binding_missing"},
    {"a WorkloadRebalancer that exists", REBALANCER("web"), REBALANCER("web"),
     "not_simulated rebalancer_exists"},
    {"an unknown kind of Karmada", NULL, POLICY_OF("PropagationPolici", IN_DEFAULT, ""),
     "refused admission"},
    {"a policy that the webhook refuses", NULL,
     POLICY_OF("PropagationPolicy", IN_DEFAULT,
               SELECTS("api") ",\"placement\":{\"spreadConstraints\":[{\"spreadByField\":"
                              "\"cluster\",\"minGroups\":3,\"maxGroups\":1}]}"),
     "refused admission"},
    {"a policy with a value of another type", NULL,
     POLICY_OF("PropagationPolicy", IN_DEFAULT, SELECTS("api") ",\"priority\":\"high\""),
     "refused admission"},
    {"a policy with a field that the API server drops", NULL,
     POLICY_OF("PropagationPolicy", IN_DEFAULT,
               SELECTS("api") ",\"excludedResources\":[{\"apiVersion\":\"v1\",\"kind\":"
                              "\"Secret\"}]"),
     "ignored field_pruned"},
    {"a policy", NULL, POLICY_OF("PropagationPolicy", IN_DEFAULT, SELECTS("api")), NULL},
    {"a template", NULL, TEMPLATE("api", ""), NULL},
    {"a Cluster without the field that it has already", NULL, CLUSTER("member1"), NULL},
};

TEST_ROWS(the_plan_lists, object_cases, name)
{
    const struct object_case *c = *state;
    const struct plan_result *r;
    struct world w;
    char text[64];

    init_bound_world(&w);
    if (c->stored)
        world_put_text(&w, c->stored);
    world_run(&w, NOW_MS);
    struct plan *p = plan_new(w.engine);
    planned_apply(p, c->apply);
    r = plan_finish(p);
    assert_int_equal(r->object_count, c->outcome ? 1 : 0);
    if (c->outcome) {
        const struct change_object *object = &r->objects[0];

        snprintf(text, sizeof(text), "%s %s", prediction_names[object->outcome], object->reason);
        assert_string_equal(text, c->outcome);
        assert_true(object->text[strlen(object->text) - 1] == '.');
    }
    plan_free(p);
    world_release(&w);
}

/* A refused policy changes nothing: web stays where it is. */
TEST(refused_object_is_not_applied)
{
    const struct plan_result *r;
    struct world w;

    init_bound_world(&w);
    struct plan *p = plan_new(w.engine);
    planned_apply(p, POLICY("old", SELECTS("web") ",\"priority\":\"high\"," ON("member2")));
    r = plan_finish(p);
    assert_int_equal(r->template_count, 0);
    assert_int_equal(r->object_count, 1);
    assert_string_equal(r->objects[0].id.name, "old");
    assert_string_equal(r->objects[0].id.ns, "default");
    plan_free(p);
    world_release(&w);
}

/* ---- default tolerations ---- */

static const struct toleration_case {
    const char *name;
    const char *stored; /* Placement of the stored policy and of the binding. */
    const char *applied;
    bool stays;
} toleration_cases[] = {
    {"the file has no tolerations", TOLERATES(""), ON("member1"), true},
    {"the file has the default tolerations", TOLERATES(""), TOLERATES(""), true},
    {"the file has another placement", TOLERATES(""), ON("member2"), false},
    {"the stored policy has more than the default ones",
     TOLERATES(",{\"key\":\"k\",\"operator\":\"Exists\"}"), ON("member1"), false},
};

TEST_ROWS(default_tolerations_stay, toleration_cases, name)
{
    const struct toleration_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(8192);
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, CLUSTER("member1"));
    world_put_text(&w, CLUSTER("member2"));
    world_put_text(&w, TEMPLATE("web", "," CLAIM("old")));
    strbuf_addf(&text, POLICY("old", SELECTS("web") ",%s"), c->stored);
    world_put_text(&w, text.data);
    strbuf_reset(&text);
    strbuf_adds(&text, BINDING("web", "old", "member1"));
    char *at = strstr(text.data, ON("member1"));
    CLEANUP(free_cleanup) char *rest = xstrdup(at + strlen(ON("member1")));
    text.len = (size_t)(at - text.data);
    strbuf_addf(&text, "%s%s", c->stored, rest);
    world_put_text(&w, text.data);
    world_run(&w, NOW_MS);

    struct plan *p = plan_new(w.engine);
    strbuf_reset(&text);
    strbuf_addf(&text, POLICY("old", SELECTS("web") ",%s"), c->applied);
    planned_apply(p, text.data);
    assert_int_equal(plan_finish(p)->template_count, c->stays ? 0 : 1);
    plan_free(p);
    world_release(&w);
}

/* ---- deletions ---- */

TEST(copies_of_a_deleted_template_stay_with_preserveResourcesOnDeletion)
{
    static const char *const preserving = ",\"preserveResourcesOnDeletion\":true,";

    for (unsigned preserves = 0; preserves < 2; preserves++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(8192);
        const struct plan_result *r;
        struct world w;

        init_bound_world(&w);
        strbuf_adds(&text, BINDING("web", "old", "member1"));
        if (preserves) {
            char *at = strstr(text.data, ",\"clusters\"");
            CLEANUP(free_cleanup) char *rest = xstrdup(at + 1);

            text.len = (size_t)(at - text.data);
            strbuf_addf(&text, "%s%s", preserving, rest);
        }
        world_put_text(&w, text.data);
        world_run(&w, NOW_MS);
        struct plan *p = plan_new(w.engine);
        plan_delete(p, world_find(&w, "apps/v1", "Deployment", "default", "web"));
        r = plan_finish(p);
        assert_int_equal(r->template_count, 1);
        assert_false(r->templates[0].after.exists);
        assert_int_equal(r->templates[0].preserved, preserves);
        assert_int_equal(r->clusters.items[0].replicas[PLAN_AFTER], preserves ? 2 : 0);
        plan_free(p);
        world_release(&w);
    }
}

TEST(a_deleted_namespace_takes_all_its_objects)
{
    const struct plan_result *r;
    struct world w;

    init_bound_world(&w);
    world_put_text(&w, NAMESPACE("default"));
    world_put_text(&w, TEMPLATE("api", ""));
    world_run(&w, NOW_MS);
    struct plan *p = plan_new(w.engine);
    plan_delete(p, world_find(&w, "v1", "Namespace", "", "default"));
    assert_false(entry_exists(world_find(&w, "apps/v1", "Deployment", "default", "web")));
    assert_false(entry_exists(
        world_find(&w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "default", "old")));
    r = plan_finish(p);
    assert_false(planned_row(r, "web")->after.exists);
    assert_false(planned_row(r, "api")->after.exists);
    plan_free(p);
    assert_true(entry_exists(world_find(&w, "apps/v1", "Deployment", "default", "web")));
    world_release(&w);
}
