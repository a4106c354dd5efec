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
#define PLACED(tolerations)                                                                        \
    "\"placement\":{\"clusterAffinity\":{\"clusterNames\":[\"member1\"]},\"clusterTolerations\":"  \
    "[" tolerations "]}"
/* A toleration as Karmada's webhook adds it. */
#define ADDED(state, seconds)                                                                      \
    "{\"key\":\"cluster.karmada.io/" state "\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","  \
    "\"tolerationSeconds\":" seconds "}"
#define OWN          "{\"key\":\"k\",\"operator\":\"Exists\"}"
#define DEFAULT_ONES ADDED("not-ready", "300") "," ADDED("unreachable", "300")

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
     "ignored quota_not_enforced"},
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
     "stored field_pruned"},
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

static enum api_version_answer judge_gadgets(const void *context, const char *api_version,
                                             const char *kind)
{
    (void)context;
    if (strcmp(kind, "Gadget") == 0)
        return API_VERSION_ABSENT;
    return strcmp(api_version, "apps/v1beta1") == 0 ? API_VERSION_UNSERVED : API_VERSION_WATCHED;
}

#define GADGET                                                                                     \
    "{\"apiVersion\":\"example.org/v1\",\"kind\":\"Gadget\",\"metadata\":{\"name\":\"it\"}}"
#define GADGETS(group)                                                                             \
    "{\"apiVersion\":\"apiextensions.k8s.io/"                                                      \
    "v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":"                                     \
    "{\"name\":\"gadgets." group "\"},\"spec\":{\"group\":\"" group                                \
    "\",\"names\":{\"kind\":\"Gadget\"}}}"

/* The second object of the change is of a kind that the API server may not serve. */
static const struct kind_case {
    const char *name;
    const char *first;
    const char *second;
    const char *outcome; /* Of the second object; NULL: it is not listed. */
} kind_cases[] = {
    {"a kind that is not served", TEMPLATE("api", ""), GADGET, "refused kind_not_served"},
    {"a version that is not served", TEMPLATE("api", ""),
     "{\"apiVersion\":\"apps/v1beta1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"it\","
     "\"namespace\":\"default\"}}",
     "refused kind_not_served"},
    {"a kind that the change defines", GADGETS("example.org"), GADGET,
     "not_simulated kind_defined"},
    {"a kind that the change defines in another group", GADGETS("example.com"), GADGET,
     "refused kind_not_served"},
    {"a kind that is served", TEMPLATE("api", ""), TEMPLATE("web", ""), NULL},
};

TEST_ROWS(the_plan_lists_objects_of_kinds_that_are_not_served, kind_cases, name)
{
    const struct kind_case *c = *state;
    const struct plan_result *r;
    struct world w;
    char text[64];

    init_bound_world(&w);
    engine_set_api_version_source(w.engine, (struct api_version_source){.judge = judge_gadgets});
    world_run(&w, NOW_MS);
    struct plan *p = plan_new(w.engine);
    planned_apply(p, c->first);
    planned_apply(p, c->second);
    r = plan_finish(p);
    assert_int_equal(r->object_count, c->outcome ? 1 : 0);
    if (c->outcome) {
        snprintf(text, sizeof(text), "%s %s", prediction_names[r->objects[0].outcome],
                 r->objects[0].reason);
        assert_string_equal(text, c->outcome);
    }
    for (size_t i = 0; i < r->template_count; i++)
        assert_string_not_equal(r->templates[i].template->name, "it");
    plan_free(p);
    world_release(&w);
}

/* The rest of the policy takes effect, and the text names the dropped field. */
TEST(a_policy_is_stored_without_a_field_that_the_api_server_drops)
{
    const struct plan_result *r;
    const struct plan_template *row;
    struct world w;
    char text[256];

    init_bound_world(&w);
    world_put_text(&w, TEMPLATE("api", ""));
    world_run(&w, NOW_MS);
    struct plan *p = plan_new(w.engine);
    planned_apply(p, POLICY_OF("PropagationPolicy", IN_DEFAULT,
                               SELECTS("api") ",\"priorty\":1," ON("member2")));
    r = plan_finish(p);
    assert_int_equal(r->object_count, 1);
    assert_int_equal(r->objects[0].outcome, PREDICTION_STORED);
    assert_non_null(
        strstr(r->objects[0].text, "spec.priorty is no field (the nearest is priority)"));
    row = planned_row(r, "api");
    assert_non_null(row);
    assert_string_equal(planned_outcome(&row->after, text), "current x member2:2");
    plan_free(p);
    world_release(&w);
}

/* ---- updates that the webhooks deny ---- */

#define STORED(kind, metadata, id, spec)                                                           \
    POLICY_OF(kind, ",\"labels\":{\"" id "\":\"id-x\"}" metadata, SELECTS("api") spec "")
#define SENT(kind, metadata, labels, spec)                                                         \
    POLICY_OF(kind, ",\"labels\":{" labels "}" metadata, SELECTS("api") spec "")
#define PP       "PropagationPolicy"
#define CPP      "ClusterPropagationPolicy"
#define ID       "propagationpolicy.karmada.io/permanent-id"
#define CID      "clusterpropagationpolicy.karmada.io/permanent-id"
#define BY(name) ",\"schedulerName\":\"" name "\""

static const struct update_case {
    const char *name;
    const char *stored;
    const char *apply;
    const char *text; /* Part of the text of the refusal; NULL: the update is accepted. */
} update_cases[] = {
    {"another scheduler", STORED(PP, IN_DEFAULT, ID, ""), SENT(PP, IN_DEFAULT, "", BY("own")),
     "spec.schedulerName must stay \"default-scheduler\", as in the stored policy, not \"own\"; to "
     "change it, delete the policy and create it again."},
    {"another scheduler of a ClusterPropagationPolicy", STORED(CPP, "", CID, BY("own")),
     SENT(CPP, "", "", BY("other")), "must stay \"own\", as in the stored policy, not \"other\""},
    {"no scheduler any more", STORED(PP, IN_DEFAULT, ID, BY("own")), SENT(PP, IN_DEFAULT, "", ""),
     "must stay \"own\", as in the stored policy, not \"default-scheduler\""},
    {"the default scheduler, written", STORED(PP, IN_DEFAULT, ID, ""),
     SENT(PP, IN_DEFAULT, "", BY("default-scheduler")), NULL},
    {"an empty scheduler, which gets the default", STORED(PP, IN_DEFAULT, ID, ""),
     SENT(PP, IN_DEFAULT, "", BY("")), NULL},
    {"another permanent id", STORED(PP, IN_DEFAULT, ID, ""),
     SENT(PP, IN_DEFAULT, "\"" ID "\":\"id-y\"", ""),
     "metadata.labels must keep \"id-x\" in " ID ", as in the stored policy; remove the label from "
     "the object."},
    {"another permanent id of a ClusterPropagationPolicy", STORED(CPP, "", CID, ""),
     SENT(CPP, "", "\"" CID "\":\"id-y\"", ""), "metadata.labels must keep \"id-x\" in " CID},
    {"a removed permanent id", STORED(PP, IN_DEFAULT, ID, ""),
     SENT(PP, IN_DEFAULT, "\"" ID "\":null", ""), "metadata.labels must keep \"id-x\""},
    {"a first permanent id", POLICY_OF(PP, IN_DEFAULT, SELECTS("api")),
     SENT(PP, IN_DEFAULT, "\"" ID "\":\"id-y\"", ""),
     "metadata.labels must not have " ID ", which only Karmada sets; remove the label from the "
     "object."},
    {"the same permanent id", STORED(PP, IN_DEFAULT, ID, ""),
     SENT(PP, IN_DEFAULT, "\"" ID "\":\"id-x\"", ""), NULL},
    {"scheduler and permanent id", STORED(PP, IN_DEFAULT, ID, ""),
     SENT(PP, IN_DEFAULT, "\"" ID "\":\"\"", BY("own")), "create it again; metadata.labels must"},
    {"another scheduler of a policy that the API server never stored",
     STORED(PP, IN_DEFAULT, ID, ",\"preemption\":\"odd\""), SENT(PP, IN_DEFAULT, "", BY("own")),
     NULL},
    {"another scheduler of a new policy", NULL, SENT(PP, IN_DEFAULT, "", BY("own")), NULL},
};

TEST_ROWS(the_webhooks_deny_an_update_with, update_cases, name)
{
    const struct update_case *c = *state;
    const struct plan_result *r;
    const struct plan_template *row;
    struct world w;

    init_bound_world(&w);
    world_put_text(&w, TEMPLATE("api", ""));
    if (c->stored)
        world_put_text(&w, c->stored);
    world_run(&w, NOW_MS);
    struct plan *p = plan_new(w.engine);
    planned_apply(p, c->apply);
    r = plan_finish(p);
    row = planned_row(r, "api");
    assert_int_equal(r->object_count, c->text ? 1 : 0);
    if (c->text) {
        assert_int_equal(r->objects[0].outcome, PREDICTION_REFUSED);
        assert_non_null(strstr(r->objects[0].text, c->text));
        assert_null(row);
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

/* ---- WorkloadRebalancers ---- */

#define GROUP(name, cluster) "{\"affinityName\":\"" name "\",\"clusterNames\":[\"" cluster "\"]}"
#define A_B                  GROUP("a", "member1") "," GROUP("b", "member2")
#define GONE_B               GROUP("a", "member9") "," GROUP("b", "member2")

static const struct rebalance_case {
    const char *name;
    const char *groups;
    const char *in_use; /* Group of the last scheduling. */
    const char *cluster;
    enum release oldest; /* Releases that Karmada may have. */
    enum release newest;
    const char *after; /* Outcome; NULL: web stays where it is. */
} rebalance_cases[] = {
    {"1.13: the group in use", A_B, "b", "member2", RELEASE_1_13, RELEASE_1_13, NULL},
    {"1.16: the group in use", A_B, "b", "member2", RELEASE_1_16, RELEASE_1_16, NULL},
    {"1.18: the group in use", A_B, "b", "member2", RELEASE_1_18, RELEASE_1_18, NULL},
    {"1.13 to 1.18: the group in use", A_B, "b", "member2", RELEASE_1_13, RELEASE_1_18, NULL},
    {"1.19: the first group", A_B, "b", "member2", RELEASE_1_19, RELEASE_1_19,
     "current old member1:2"},
    {"1.18 to 1.19: either", A_B, "b", "member2", RELEASE_1_18, RELEASE_1_19,
     "current old release member2:2"},
    {"1.18: the first group is in use", A_B, "a", "member1", RELEASE_1_18, RELEASE_1_18, NULL},
    {"1.19: the first group is in use", A_B, "a", "member1", RELEASE_1_19, RELEASE_1_19, NULL},
    {"1.19: the first group has no cluster", GONE_B, "b", "member2", RELEASE_1_19, RELEASE_1_19,
     NULL},
    {"1.18 to 1.19: the first group has no cluster", GONE_B, "b", "member2", RELEASE_1_18,
     RELEASE_1_19, NULL},
};

/* Puts a policy with affinity groups, and the binding that was scheduled by it. */
static void put_groups(struct world *w, const struct rebalance_case *c)
{
    CLEANUP(strbuf_release) struct strbuf placement = STRBUF_INIT(4096);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(8192);
    CLEANUP(json_cleanup) cJSON *binding = cJSON_Parse(BINDING("web", "old", "member1"));
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(binding, "spec");
    cJSON *annotations = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(binding, "metadata"), "annotations");
    cJSON *status = cJSON_AddObjectToObject(binding, "status");
    cJSON *target = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(spec, "clusters"), 0);

    strbuf_addf(&placement, "{\"clusterAffinities\":[%s]}", c->groups);
    strbuf_addf(&text, POLICY("old", SELECTS("web") ",\"placement\":%s"), placement.data);
    world_put_text(w, text.data);
    cJSON_ReplaceItemInObjectCaseSensitive(spec, "placement", cJSON_Parse(placement.data));
    cJSON_ReplaceItemInObjectCaseSensitive(target, "name", cJSON_CreateString(c->cluster));
    cJSON_AddStringToObject(annotations, "policy.karmada.io/applied-placement", placement.data);
    cJSON_AddStringToObject(status, "schedulerObservingAffinityName", c->in_use);
    cJSON_AddStringToObject(status, "lastScheduledTime", "2026-01-01T00:00:00Z");
    world_put(w, binding);
}

TEST_ROWS(a_rebalancer_starts_in, rebalance_cases, name)
{
    const struct rebalance_case *c = *state;
    const struct plan_result *r;
    struct world w;
    char text[256];

    world_init(&w, &rules_options_default, 1);
    engine_set_release(w.engine,
                       (struct release_range){c->oldest, c->newest, RELEASE_OF_SERVER, false});
    world_put_text(&w, CLUSTER("member1"));
    world_put_text(&w, CLUSTER("member2"));
    world_put_text(&w, TEMPLATE("web", "," CLAIM("old")));
    put_groups(&w, c);
    world_run(&w, NOW_MS);
    struct plan *p = plan_new(w.engine);
    planned_apply(p, REBALANCER("web"));
    r = plan_finish(p);
    assert_int_equal(r->object_count, 0);
    assert_int_equal(r->template_count, c->after ? 1 : 0);
    if (c->after)
        assert_string_equal(planned_outcome(&planned_row(r, "web")->after, text), c->after);
    plan_free(p);
    world_release(&w);
}

/* ---- default tolerations ---- */

static const struct toleration_case {
    const char *name;
    const char *release;
    const char *stored; /* Placement of the stored policy and of the binding. */
    const char *applied;
    bool stays;
} toleration_cases[] = {
    {"the file has no tolerations", "", PLACED(DEFAULT_ONES), ON("member1"), true},
    {"the file has no tolerations, and the webhook adds them", "1.14", PLACED(DEFAULT_ONES),
     ON("member1"), true},
    {"the file has the default tolerations", "", PLACED(DEFAULT_ONES), PLACED(DEFAULT_ONES), true},
    {"the file has no tolerations, and another priority", "", PLACED(DEFAULT_ONES),
     "\"priority\":5," ON("member1"), true},
    {"the webhook has other seconds", "",
     PLACED(ADDED("not-ready", "60") "," ADDED("unreachable", "9")), ON("member1"), true},
    {"the file has another placement", "", PLACED(DEFAULT_ONES), ON("member2"), false},
    {"the file has no placement", "", PLACED(DEFAULT_ONES), "\"priority\":0", false},
    {"the file has an empty list", "", PLACED(DEFAULT_ONES), PLACED(""), false},
    {"the file has an empty list, and the webhook fills it", "1.14", PLACED(DEFAULT_ONES),
     PLACED(""), true},
    {"the file has other tolerations", "", PLACED(DEFAULT_ONES), PLACED(OWN), false},
    {"the stored policy has more than the default ones", "", PLACED(DEFAULT_ONES "," OWN),
     ON("member1"), false},
    {"the stored policy has one of the default ones", "", PLACED(ADDED("not-ready", "300")),
     ON("member1"), false},
    {"the stored policy has the default ones in another order", "",
     PLACED(ADDED("unreachable", "300") "," ADDED("not-ready", "300")), ON("member1"), false},
    {"the stored policy has none", "", ON("member1"), ON("member1"), true},
    {"the stored policy has none, and the webhook adds them", "1.14", ON("member1"), ON("member1"),
     false},
};

TEST_ROWS(default_tolerations_stay, toleration_cases, name)
{
    const struct toleration_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(8192);
    struct rules_options options = rules_options_default;
    struct world w;

    options.karmada_version = c->release;
    world_init(&w, &options, 1);
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

/* Puts BINDING("web", "old", "member1") with more fields in its spec, such as "x":1. */
static void put_binding_with(struct world *w, const char *more)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(8192);
    const char *binding = BINDING("web", "old", "member1");
    const char *rest = strstr(binding, ",\"clusters\"");

    strbuf_add(&text, binding, (size_t)(rest - binding));
    strbuf_addf(&text, "%s%s%s", *more ? "," : "", more, rest);
    world_put_text(w, text.data);
    world_run(w, NOW_MS);
}

/* What a user does; the objects are those of `bound`. */
enum action { STEP_END, DELETE_WEB, DELETE_POLICY, DELETE_BINDING, DELETE_NAMESPACE, APPLY_POLICY };

#define PRESERVE(value) "\"preserveResourcesOnDeletion\":" value
#define LAZY            "\"activationPreference\":\"Lazy\","

static const struct preserved_case {
    const char *name;
    const char *binding; /* More fields of the binding's spec. */
    const char *policy;  /* More fields of the policy's spec, for APPLY_POLICY. */
    enum action actions[3];
    bool preserved;
    int64_t replicas; /* In member1, after the change. */
} preserved_cases[] = {
    {"the template, preserved", PRESERVE("true"), "", {DELETE_WEB}, true, 2},
    {"the template, not preserved", PRESERVE("false"), "", {DELETE_WEB}, false, 0},
    {"the template, by default", "", "", {DELETE_WEB}, false, 0},
    {"the namespace", PRESERVE("true"), "", {DELETE_NAMESPACE}, false, 0},
    {"the policy alone", PRESERVE("true"), "", {DELETE_POLICY}, false, 2},
    {"the policy, then the template", PRESERVE("true"), "", {DELETE_POLICY, DELETE_WEB}, true, 2},
    {"the template, then the policy", PRESERVE("true"), "", {DELETE_WEB, DELETE_POLICY}, true, 2},
    {"the policy, then the template, by default", "", "", {DELETE_POLICY, DELETE_WEB}, false, 0},
    {"the binding, then the template",
     PRESERVE("true"),
     "",
     {DELETE_BINDING, DELETE_WEB},
     false,
     0},
    {"the template, once its policy preserves",
     "",
     PRESERVE("true") ",",
     {APPLY_POLICY, DELETE_WEB},
     true,
     2},
    {"the template, once its policy does not preserve any more",
     PRESERVE("true"),
     PRESERVE("false") ",",
     {APPLY_POLICY, DELETE_WEB},
     false,
     0},
    {"the template, while its policy preserves only with the next change",
     "",
     LAZY PRESERVE("true") ",",
     {APPLY_POLICY, DELETE_WEB},
     false,
     0},
};

static void act(struct plan *p, const struct world *w, enum action action, const char *policy)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);

    switch (action) {
    case DELETE_WEB:
        plan_delete(p, world_find(w, "apps/v1", "Deployment", "default", "web"));
        break;
    case DELETE_POLICY:
        plan_delete(
            p, world_find(w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "default", "old"));
        break;
    case DELETE_BINDING:
        plan_delete(p, world_find(w, "work.karmada.io/v1alpha2", "ResourceBinding", "default",
                                  "web-deployment"));
        break;
    case DELETE_NAMESPACE:
        plan_delete(p, world_find(w, "v1", "Namespace", "", "default"));
        break;
    case APPLY_POLICY:
        strbuf_addf(&text, POLICY("old", SELECTS("web") ",%s" ON("member1")), policy);
        planned_apply(p, text.data);
        break;
    case STEP_END:
        break;
    }
}

TEST_ROWS(copies_stay_with_preserveResourcesOnDeletion_after_deleting, preserved_cases, name)
{
    const struct preserved_case *c = *state;
    const struct plan_result *r;
    const struct plan_template *row;
    struct world w;

    init_bound_world(&w);
    world_put_text(&w, NAMESPACE("default"));
    put_binding_with(&w, c->binding);
    struct plan *p = plan_new(w.engine);
    for (size_t i = 0; i < ARRAY_LEN(c->actions); i++)
        act(p, &w, c->actions[i], c->policy);
    r = plan_finish(p);
    row = planned_row(r, "web");
    assert_non_null(row);
    assert_int_equal(row->after.exists, c->actions[0] == DELETE_POLICY && !c->actions[1]);
    assert_int_equal(row->preserved, c->preserved);
    assert_string_equal(r->clusters.items[0].name, "member1");
    assert_int_equal(r->clusters.items[0].replicas[PLAN_AFTER], c->replicas);
    plan_free(p);
    world_release(&w);
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

/* ---- protection against deletion ---- */

#define LABELS(value)                                                                              \
    ",\"labels\":{\"resourcetemplate.karmada.io/deletion-protected\":\"" value "\"}"
#define CONFIG(metadata)                                                                           \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"x\"" IN_DEFAULT        \
        metadata "}}"
#define OWN_NAMESPACE(labels)                                                                      \
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"default\"" labels "}}"
#define OWN_BINDING(labels)                                                                        \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"x\"" IN_DEFAULT labels "},\"spec\":{\"resource\":{\"apiVersion\":\"v1\",\"kind\":" \
    "\"Pod\",\"name\":\"x\"}}}"

static const struct protection_case {
    const char *name;
    const char *object;
    const char *api_version, *kind, *ns, *deleted;
    bool refused;
} protection_cases[] = {
    {"a template", CONFIG(LABELS("Always")), "v1", "ConfigMap", "default", "x", true},
    {"a template with another value", CONFIG(LABELS("Never")), "v1", "ConfigMap", "default", "x",
     false},
    {"a template without labels", CONFIG(""), "v1", "ConfigMap", "default", "x", false},
    {"a Namespace", OWN_NAMESPACE(LABELS("Always")), "v1", "Namespace", "", "default", true},
    {"a policy", POLICY_OF("PropagationPolicy", IN_DEFAULT LABELS("Always"), SELECTS("web")),
     "policy.karmada.io/v1alpha1", "PropagationPolicy", "default", "x", true},
    {"an override policy",
     POLICY_OF("OverridePolicy", IN_DEFAULT LABELS("Always"), "\"overrideRules\":[]"),
     "policy.karmada.io/v1alpha1", "OverridePolicy", "default", "x", true},
    {"a binding", OWN_BINDING(LABELS("Always")), "work.karmada.io/v1alpha2", "ResourceBinding",
     "default", "x", true},
    {"a Cluster, whose API server calls no webhook",
     "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\",\"metadata\":{"
     "\"name\":\"x\"" LABELS("Always") "}}",
     "cluster.karmada.io/v1alpha1", "Cluster", "", "x", false},
};

static bool is_refused(const struct plan_result *r, size_t index, const char *name)
{
    const struct change_object *object = &r->objects[index];

    return r->object_count > index && object->outcome == PREDICTION_REFUSED &&
           strcmp(object->reason, "deletion_protected") == 0 && strcmp(object->id.name, name) == 0;
}

TEST_ROWS(the_label_protects_against_deletion, protection_cases, name)
{
    const struct protection_case *c = *state;
    const struct plan_result *r;
    struct entry *entry;
    struct world w;

    init_bound_world(&w);
    world_put_text(&w, c->object);
    world_run(&w, NOW_MS);
    entry = world_find(&w, c->api_version, c->kind, c->ns, c->deleted);
    struct plan *p = plan_new(w.engine);
    plan_delete(p, entry);
    assert_int_equal(entry_exists(entry), c->refused);
    assert_int_equal(entry_exists(world_find(&w, "apps/v1", "Deployment", "default", "web")), true);
    r = plan_finish(p);
    assert_int_equal(is_refused(r, 0, c->deleted), c->refused);
    plan_free(p);
    world_release(&w);
}

TEST(a_protected_object_keeps_its_deleted_namespace)
{
    const struct plan_result *r;
    const struct plan_template *row;
    struct world w;

    init_bound_world(&w);
    world_put_text(&w, NAMESPACE("default"));
    world_put_text(&w, CONFIG(LABELS("Always")));
    world_run(&w, NOW_MS);
    struct plan *p = plan_new(w.engine);
    plan_delete(p, world_find(&w, "v1", "Namespace", "", "default"));
    assert_true(entry_exists(world_find(&w, "v1", "Namespace", "", "default")));
    assert_true(entry_exists(world_find(&w, "v1", "ConfigMap", "default", "x")));
    r = plan_finish(p);
    assert_int_equal(r->object_count, 1);
    assert_true(is_refused(r, 0, "x"));
    assert_non_null(strstr(r->objects[0].text, "Terminating"));
    row = planned_row(r, "web");
    assert_non_null(row);
    assert_false(row->after.exists);
    plan_free(p);
    world_release(&w);
}

/* ---- objects in a deleted Namespace ---- */

#define TERMINATING(name)                                                                          \
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"" name                 \
    "\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}"

static const struct namespace_case {
    const char *name;
    const char *stored;   /* A Namespace; NULL: none. */
    bool deletes;         /* The plan deletes the Namespace first. */
    const char *apply[2]; /* Then applied in this order; NULL: nothing. */
    size_t refused;       /* Objects of the change that the API server refuses. */
} namespace_cases[] = {
    {"a new template after the deletion", NAMESPACE("default"), true, {TEMPLATE("api", "")}, 1},
    {"a template that was in the Namespace", NULL, true, {TEMPLATE("web", "")}, 1},
    {"a new policy", NULL, true, {POLICY("new", SELECTS("api"))}, 1},
    {"the Namespace again, then a template",
     NULL,
     true,
     {NAMESPACE("default"), TEMPLATE("api", "")},
     0},
    {"a template, then the Namespace again",
     NULL,
     true,
     {TEMPLATE("api", ""), NAMESPACE("default")},
     1},
    {"a new template in a Namespace in deletion",
     TERMINATING("default"),
     false,
     {TEMPLATE("api", "")},
     1},
    {"a stored template in a Namespace in deletion",
     TERMINATING("default"),
     false,
     {TEMPLATE("web", "")},
     0},
    {"a new template in a Namespace in deletion that is applied again",
     TERMINATING("default"),
     false,
     {NAMESPACE("default"), TEMPLATE("api", "")},
     1},
    {"a template in a Namespace that the source does not have",
     NULL,
     false,
     {TEMPLATE("api", "")},
     0},
};

TEST_ROWS(a_deleted_namespace_takes_no_new_object, namespace_cases, name)
{
    const struct namespace_case *c = *state;
    const struct plan_result *r;
    struct world w;

    init_bound_world(&w);
    if (c->stored)
        world_put_text(&w, c->stored);
    world_run(&w, NOW_MS);
    struct plan *p = plan_new(w.engine);
    if (c->deletes)
        assert_true(plan_delete_namespace(p, "default"));
    for (size_t i = 0; i < ARRAY_LEN(c->apply) && c->apply[i]; i++)
        planned_apply(p, c->apply[i]);
    r = plan_finish(p);
    assert_int_equal(r->object_count, c->refused);
    if (c->refused > 0)
        assert_string_equal(r->objects[0].reason, "namespace_deleted");
    plan_free(p);
    world_release(&w);
}
