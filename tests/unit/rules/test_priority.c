/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/template_state.h"

#include "metrics/base/timestamp.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

#define CLASS(name, created, value)                                                                \
    "{\"apiVersion\":\"scheduling.k8s.io/"                                                         \
    "v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":\"" name                               \
    "\",\"creationTimestamp\":\"2026-01-01T" created "Z\"},\"value\":" value "}"
#define PRIORITY(source, name)                                                                     \
    ",\"schedulePriority\":{\"priorityClassSource\":\"" source "\",\"priorityClassName\":\"" name  \
    "\"}"
#define KUBE(name) PRIORITY("KubePriorityClass", name)
#define POLICY(kind, ns, time, selector, rest)                                                     \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"" kind                              \
    "\",\"metadata\":{\"name\":\"p\"" ns ",\"generation\":2,\"managedFields\":[{\"manager\":"      \
    "\"kubectl\",\"time\":\"2026-01-01T" time "Z\",\"fieldsV1\":{\"f:spec\":{}}}]},\"spec\":{"     \
    "\"resourceSelectors\":[" selector "],\"placement\":{}" rest "}}"
#define PP(time, rest)                                                                             \
    POLICY("PropagationPolicy", ",\"namespace\":\"test\"", time,                                   \
           "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}", rest)
#define CPP(rest)                                                                                  \
    POLICY("ClusterPropagationPolicy", "", "08:00:00",                                             \
           "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRole\"}", rest)
#define CLAIM                                                                                      \
    ",\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"p\"},\"annotations\":{"          \
    "\"propagationpolicy.karmada.io/namespace\":\"test\","                                         \
    "\"propagationpolicy.karmada.io/name\":\"p\"}"
#define SETTINGS                                                                                   \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"settings\","           \
    "\"namespace\":\"test\"" CLAIM "}}"
#define BINDING(priority)                                                                          \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"settings-configmap\",\"namespace\":\"test\"" CLAIM "},\"spec\":{\"resource\":{"    \
    "\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"namespace\":\"test\",\"name\":\"settings\"},"  \
    "\"placement\":{}" priority "}}"
#define NUMBER(value) ",\"schedulePriority\":{\"priority\":" value "}"
#define OTHER_BINDING                                                                              \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"x-secret\",\"namespace\":\"test\"},\"spec\":{\"resource\":{\"apiVersion\":\"v1\"," \
    "\"kind\":\"Secret\",\"namespace\":\"test\",\"name\":\"x\"},\"placement\":{}}}"

static struct priority_case {
    const char *name;
    const char *objects[4];
    enum template_state state;
    unsigned reason;
    enum stale_phase phase;
    unsigned fields;
    const char *gates;
} cases[] = {
    {"the class does not exist",
     {CLASS("other", "08:00:00", "1"), PP("09:00:00", KUBE("gold")), SETTINGS, OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_PRIORITY_CLASS_MISSING},
    {"the class exists",
     {CLASS("gold", "08:00:00", "1"), PP("09:00:00", KUBE("gold")), SETTINGS, OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_STUCK},
    {"no PriorityClass at all: perhaps not readable",
     {PP("09:00:00", KUBE("gold")), SETTINGS, OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_STUCK},
    {"the feature gate is off: the class does not matter",
     {CLASS("other", "08:00:00", "1"), PP("09:00:00", KUBE("gold")), SETTINGS, OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_STUCK,
     .gates = "PriorityBasedScheduling=false"},
    {"a source that Karmada rejects",
     {CLASS("gold", "08:00:00", "1"), PP("09:00:00", PRIORITY("PodPriorityClass", "gold")),
      SETTINGS, OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_PRIORITY_CLASS_MISSING},
    {"an empty name is never found",
     {CLASS("gold", "08:00:00", "1"), PP("09:00:00", KUBE("")), SETTINGS, OTHER_BINDING},
     .state = STATE_UNBOUND,
     .reason = UNBOUND_PRIORITY_CLASS_MISSING},
    {"the binding has the value of the class",
     {CLASS("gold", "08:00:00", "-5"), PP("09:00:00", KUBE("gold")), SETTINGS,
      BINDING(NUMBER("-5"))},
     .state = STATE_CURRENT},
    {"a binding without a priority counts as 0",
     {CLASS("gold", "08:00:00", "0"), PP("09:00:00", KUBE("gold")), SETTINGS, BINDING("")},
     .state = STATE_CURRENT},
    {"the class was created again with another value",
     {CLASS("gold", "10:00:00", "7"), PP("09:00:00", KUBE("gold")), SETTINGS, BINDING(NUMBER("5"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_UPDATED,
     .phase = PHASE_DEFERRED,
     .fields = 1U << FIELD_SCHEDULE_PRIORITY},
    {"the policy names another class, which is overdue",
     {CLASS("gold", "08:00:00", "7"), PP("09:00:00", KUBE("gold")), SETTINGS, BINDING(NUMBER("5"))},
     .state = STATE_STALE,
     .reason = STALE_POLICY_UPDATED,
     .phase = PHASE_OVERDUE,
     .fields = 1U << FIELD_SCHEDULE_PRIORITY},
    {"the binding never had a priority",
     {CLASS("gold", "10:00:00", "7"), PP("09:00:00", KUBE("gold")), SETTINGS, BINDING("")},
     .state = STATE_STALE,
     .reason = STALE_POLICY_UPDATED,
     .phase = PHASE_OVERDUE,
     .fields = 1U << FIELD_SCHEDULE_PRIORITY},
    {"a deleted class is no drift",
     {CLASS("other", "10:00:00", "7"), PP("09:00:00", KUBE("gold")), SETTINGS,
      BINDING(NUMBER("5"))},
     .state = STATE_CURRENT},
    {"the feature gate is off: another value is no drift",
     {CLASS("gold", "08:00:00", "7"), PP("09:00:00", KUBE("gold")), SETTINGS, BINDING(NUMBER("5"))},
     .state = STATE_CURRENT,
     .gates = "PriorityBasedScheduling=false"},
};

TEST_ROWS(priority_classes_decide_state_and_drift, cases, name)
{
    const struct priority_case *c = *state;
    struct rules_options options = rules_options_default;
    struct world w;
    int64_t now_ms;

    assert_true(parse_timestamp("2026-01-01T12:00:00Z", &now_ms));
    options.feature_gates = c->gates;
    world_init(&w, &options, 1);
    for (size_t i = 0; i < ARRAY_LEN(c->objects) && c->objects[i]; i++)
        world_put_text(&w, c->objects[i]);
    world_run(&w, now_ms);

    const struct template_decision *d =
        template_decision(world_find(&w, "v1", "ConfigMap", "test", "settings"));
    assert_string_equal(state_names[d->state], state_names[c->state]);
    assert_int_equal(d->reason, c->reason);
    assert_int_equal(d->phase, c->phase);
    assert_int_equal(d->fields, c->fields);
    world_release(&w);
}

/*
 * ClusterResourceBindings have no priority. Karmada does not propagate dependencies of their
 * templates.
 */
TEST(cluster_scoped_templates_have_no_priority)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, CLASS("other", "08:00:00", "1"));
    world_put_text(&w, CPP(KUBE("gold") ",\"propagateDeps\":true"));
    world_put_text(&w, "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRole\","
                       "\"metadata\":{\"name\":\"reader\"}}");
    world_run(&w, 1);

    const struct template_decision *d = template_decision(
        world_find(&w, "rbac.authorization.k8s.io/v1", "ClusterRole", "", "reader"));
    assert_int_equal(d->state, STATE_UNBOUND);
    assert_int_equal(d->reason, UNBOUND_WAITING);
    assert_int_equal(d->flags, 1U << FLAG_DEPENDENCIES_STAY);
    assert_false(d->propagates);
    world_release(&w);
}

static unsigned reason_of_settings(struct world *w)
{
    world_run(w, 1);
    return template_decision(world_find(w, "v1", "ConfigMap", "test", "settings"))->reason;
}

/* The class is in the store as a setting, under an apiVersion of Karmada, or as a template. */
TEST(adding_and_deleting_a_class_updates_the_reason)
{
    static const char class[] = CLASS("gold", "08:00:00", "1");
    const struct identity setting = {"policy.karmada.io/v1alpha1", "PriorityClass", "", "gold"};
    CLEANUP(json_cleanup) cJSON *json = cJSON_Parse(class);
    struct error err;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, PP("09:00:00", KUBE("gold")));
    assert_true(engine_uses_priority_classes(w.engine));
    world_put_text(&w, SETTINGS);
    world_put_text(&w, OTHER_BINDING);
    assert_int_equal(reason_of_settings(&w), UNBOUND_WAITING);
    world_put_text(&w, CLASS("other", "08:00:00", "1"));
    assert_int_equal(reason_of_settings(&w), UNBOUND_PRIORITY_CLASS_MISSING);
    assert_int_equal(store_put_at(w.store, store_find_or_add(w.store, &setting), json,
                                  (struct origin){1, 1}, &err),
                     STORE_ADDED);
    assert_int_equal(reason_of_settings(&w), UNBOUND_WAITING);
    store_remove(w.store, store_find(w.store, &setting));
    assert_int_equal(reason_of_settings(&w), UNBOUND_PRIORITY_CLASS_MISSING);
    store_remove(w.store, world_find(&w, "scheduling.k8s.io/v1", "PriorityClass", "", "other"));
    assert_int_equal(reason_of_settings(&w), UNBOUND_WAITING);
    world_put_text(&w, PP("09:00:00", ""));
    assert_false(engine_uses_priority_classes(w.engine));
    world_release(&w);
}
