/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/plan.h"

#include "exporter/text/plan_text.h"
#include "metrics/expose/report.h"
#include "metrics/model/store.h"
#include "metrics/simulate/reconcile.h"

#include "tests/unit/bound_objects.h"
#include "tests/unit/planned.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"

enum { NOW_MS = 1000 * 1000, HISTORIES = 60, STEPS = 40 };

static const struct rules_options preemption = {
    .takeover = TAKEOVER_PREEMPTION,
    .grace_ms = 60 * 1000,
    .skipped_namespaces = "kube-.*",
    .skipped_apis = "",
    .feature_gates = "PropagationPolicyPreemption=true",
};

static const struct rules_options statically = {
    .takeover = TAKEOVER_STATIC,
    .grace_ms = 60 * 1000,
    .skipped_namespaces = "kube-.*",
    .skipped_apis = "",
};

/* ---- a small control plane ---- */

/* The policy old propagates the Deployment web to member1. */
static const char *const bound[] = {
    CLUSTER("member1"),
    CLUSTER("member2"),
    POLICY("old", SELECTS("web") "," ON("member1")),
    TEMPLATE("web", "," CLAIM("old")),
    BINDING("web", "old", "member1"),
};

static void init_bound_world(struct world *w, const struct rules_options *options)
{
    world_init(w, options, 1);
    for (size_t i = 0; i < ARRAY_LEN(bound); i++)
        world_put_text(w, bound[i]);
    world_run(w, NOW_MS);
}

static struct entry *find_web(const struct world *w)
{
    return world_find(w, "apps/v1", "Deployment", "default", "web");
}

static struct entry *find_policy(const struct world *w, const char *name)
{
    return world_find(w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "default", name);
}

/* ---- effects of one change ---- */

/* A change of the small control plane, and its effect on the template web. */
static struct change_case {
    const char *name;
    const char *before; /* Object to add or replace before the change; may be NULL. */
    const char *apply[3];
    const char *deleted; /* Name of a policy; NULL without a deletion. */
    const struct rules_options *options;
    enum plan_when when;
    const char *after;
    const char *next; /* Outcome after the next change of web by its user; NULL: not compared. */
} cases[] = {
    {.name = "a policy that preempts",
     .apply = {POLICY("high",
                      SELECTS("web") ",\"priority\":5,\"preemption\":\"Always\"," ON("member2"))},
     .when = PLAN_AT_ONCE,
     .after = "current high member2:2"},
    {.name = "a Lazy policy that preempts",
     .apply = {POLICY("high", SELECTS("web") ",\"priority\":5,\"preemption\":\"Always\","
                                             "\"activationPreference\":\"Lazy\"," ON("member2"))},
     .when = PLAN_AT_NEXT_CHANGE,
     .after = "stale policy_replaced high member1:2",
     .next = "current high member2:2"},
    {.name = "a policy of higher priority that does not preempt",
     .apply = {POLICY("high", SELECTS("web") ",\"priority\":5," ON("member2"))},
     .when = PLAN_NEVER,
     .after = "current old member1:2"},
    {.name = "a policy of higher priority and an incomplete claim",
     .before = TEMPLATE("web", ",\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":"
                               "\"id-old\"}"),
     .apply = {POLICY("high", SELECTS("web") ",\"priority\":5," ON("member2"))},
     .when = PLAN_AT_NEXT_CHANGE,
     .after = "stale policy_replaced high member1:2",
     .next = "current high member2:2"},
    {.name = "an incomplete claim and the deletion of its policy",
     .before = TEMPLATE("web", ",\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":"
                               "\"id-old\"}"),
     .apply = {POLICY("low", SELECTS("web") ",\"priority\":-1," ON("member2"))},
     .deleted = "old",
     .when = PLAN_AT_ONCE,
     .after = "current low member2:2"},
    {.name = "a policy of equal priority does not preempt",
     .apply = {POLICY("high", SELECTS("web") ",\"preemption\":\"Always\"," ON("member2"))},
     .when = PLAN_NEVER,
     .after = "current old member1:2"},
    {.name = "the only policy is deleted",
     .deleted = "old",
     .when = PLAN_AT_ONCE,
     .after = "orphaned - member1:2"},
    {.name = "the policy is deleted beside a Lazy policy",
     .apply = {POLICY("lazy", SELECTS("web") ",\"activationPreference\":\"Lazy\"," ON("member2"))},
     .deleted = "old",
     .when = PLAN_AT_ONCE,
     .after = "current lazy member2:2"},
    {.name = "another placement",
     .apply = {POLICY("old", SELECTS("web") "," ON("member2"))},
     .when = PLAN_AT_ONCE,
     .after = "current old member2:2"},
    {.name = "another placement in a policy that becomes Lazy",
     .apply = {POLICY("old", SELECTS("web") ",\"activationPreference\":\"Lazy\"," ON("member2"))},
     .when = PLAN_AT_NEXT_CHANGE,
     .after = "stale policy_updated old member1:2",
     .next = "current old member2:2"},
    {.name = "a placement without a matching cluster",
     .apply = {POLICY("old", SELECTS("web") "," ON("member9"))},
     .when = PLAN_AT_ONCE,
     .after = "current old"},
    {.name = "the selector selects another template",
     .apply = {POLICY("old", SELECTS("api") "," ON("member1"))},
     .when = PLAN_AT_ONCE,
     .after = "orphaned - member1:2"},
    {.name = "a template that is changed",
     .apply = {TEMPLATE("web", ",\"labels\":{\"a\":\"b\"}")},
     .when = PLAN_NEVER,
     .after = "current old member1:2"},
    {.name = "static: another placement waits",
     .apply = {POLICY("old", SELECTS("web") "," ON("member2"))},
     .options = &statically,
     .when = PLAN_AT_NEXT_CHANGE,
     .after = "stale policy_updated old member1:2",
     .next = "current old member2:2"},
    {.name = "static: a policy of higher priority waits",
     .apply = {POLICY("high", SELECTS("web") ",\"priority\":5," ON("member2"))},
     .options = &statically,
     .when = PLAN_AT_NEXT_CHANGE,
     .after = "stale policy_replaced old member1:2",
     .next = "current high member2:2"},
    {.name = "static: the only policy is deleted with its claim",
     .deleted = "old",
     .options = &statically,
     .when = PLAN_AT_ONCE,
     .after = "orphaned - member1:2"},
    {.name = "static: the selector selects another template",
     .apply = {POLICY("old", SELECTS("api") "," ON("member1"))},
     .options = &statically,
     .when = PLAN_AT_ONCE,
     .after = "orphaned - member1:2"},
    {.name = "static: the policy is deleted beside another policy",
     .apply = {POLICY("low", SELECTS("web") ",\"priority\":-5," ON("member2"))},
     .deleted = "old",
     .options = &statically,
     .when = PLAN_AT_NEXT_CHANGE,
     .after = "stale policy_replaced low member1:2",
     .next = "current low member2:2"},
};

TEST_ROWS(plan_predicts_the_effect_of, cases, name)
{
    const struct change_case *c = *state;
    const struct plan_template *row;
    const struct plan_result *r;
    struct world w;
    char text[256];

    init_bound_world(&w, c->options ? c->options : &preemption);
    if (c->before) {
        world_put_text(&w, c->before);
        world_run(&w, NOW_MS);
    }
    struct plan *p = plan_new(w.engine);
    for (size_t i = 0; i < ARRAY_LEN(c->apply) && c->apply[i]; i++)
        planned_apply(p, c->apply[i]);
    if (c->deleted)
        plan_delete(p, find_policy(&w, c->deleted));
    r = plan_finish(p);
    row = planned_row(r, "web");
    assert_true(r->settled);
    /* The result contains only templates on which the change has an effect. */
    if (!row) {
        assert_int_equal(c->when, PLAN_NEVER);
    } else {
        assert_string_equal(plan_when_names[row->when], plan_when_names[c->when]);
        assert_string_equal(planned_outcome(&row->before, text), "current old member1:2");
        assert_string_equal(planned_outcome(&row->after, text), c->after);
        if (c->next)
            assert_string_equal(planned_outcome(&row->next, text), c->next);
    }
    plan_free(p);
    world_release(&w);
}

static bool is_reached(void *context)
{
    (void)context;
    return true;
}

/* plan_touch_template() queues web; the limit stops the second plan before it processes web. */
TEST(plan_that_stops_lists_the_templates_in_its_queue)
{
    const struct plan_result *r;
    struct world w;

    init_bound_world(&w, &preemption);
    struct plan *p = plan_new(w.engine);
    planned_apply(p, POLICY("old", SELECTS("web") "," ON("member2")));
    assert_int_equal(plan_finish(p)->unsettled->count, 0);
    plan_free(p);

    p = plan_new(w.engine);
    plan_admit_manifests(p);
    plan_set_limit(p, (struct overlay_limit){is_reached, NULL});
    plan_touch_template(p, find_web(&w));
    r = plan_finish(p);
    assert_false(r->settled);
    assert_int_equal(r->unsettled->count, 1);
    assert_string_equal(r->unsettled->items[0]->name, "web");
    assert_true(plan_failures(r) & 1U << PLAN_FAILURE_UNSETTLED);
    plan_free(p);
    world_release(&w);
}

/*
 * A template without a policy, and its binding. The binding has 2 replicas; later, a user has
 * scaled the template to 5.
 */
#define WRITTEN(manager, minute)                                                                   \
    "\"managedFields\":[{\"manager\":\"" manager "\",\"operation\":\"Update\","                    \
    "\"time\":\"2026-01-01T00:" minute ":00Z\",\"fieldsV1\":{\"f:spec\":{}}}]"
static const char *const left[] = {
    CLUSTER("member1"),
    CLUSTER("member2"),
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\","
    "\"namespace\":\"default\"," WRITTEN("kubectl", "05") "},\"spec\":{\"replicas\":5}}",
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"
    "\"name\":\"web-deployment\",\"namespace\":\"default\"," WRITTEN(
        "karmada-controller-manager",
        "01") "},\"spec\":{\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","
              "\"namespace\":\"default\",\"name\":\"web\"},\"replicas\":2," ON(
                  "member1") ",\"clusters\":[{\"name\":\"member1\",\"replicas\":2}]}}",
};

/* With both designs, the new policy propagates the 5 replicas of the template. */
TEST(pending_template_is_claimed_at_once)
{
    static const struct rules_options *const designs[] = {&preemption, &statically};

    for (size_t k = 0; k < ARRAY_LEN(designs); k++) {
        const struct plan_template *row;
        struct world w;
        char text[256];

        world_init(&w, designs[k], 1);
        for (size_t i = 0; i < ARRAY_LEN(left); i++)
            world_put_text(&w, left[i]);
        world_run(&w, NOW_MS);
        struct plan *p = plan_new(w.engine);
        planned_apply(p, POLICY("fresh", SELECTS("web") "," ON("member2")));
        row = planned_row(plan_finish(p), "web");
        assert_non_null(row);
        assert_string_equal(planned_outcome(&row->before, text), "pending policy_gone - member1:2");
        assert_string_equal(planned_outcome(&row->after, text), "current fresh member2:5");
        assert_int_equal(row->when, PLAN_AT_ONCE);
        plan_free(p);
        world_release(&w);
    }
}

TEST(change_and_its_reversal_have_no_effect)
{
    struct world w;

    init_bound_world(&w, &preemption);
    struct plan *p = plan_new(w.engine);
    planned_apply(p, POLICY("old", SELECTS("web") "," ON("member2")));
    planned_apply(p, POLICY("old", SELECTS("web") "," ON("member1")));
    assert_int_equal(plan_finish(p)->template_count, 0);
    plan_free(p);
    world_release(&w);
}

#define PRIORITY_CLASS(name)                                                                       \
    "{\"apiVersion\":\"scheduling.k8s.io/"                                                         \
    "v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":\"" name "\"},\"value\":1000}"
#define WITH_CLASS(name)                                                                           \
    ",\"schedulePriority\":{\"priorityClassSource\":\"KubePriorityClass\","                        \
    "\"priorityClassName\":\"" name "\"}"

/* Karmada retries a policy with a missing PriorityClass: each of these changes ends the wait. */
TEST(template_is_bound_after_the_missing_class_is_resolved)
{
    static const char *const cures[] = {
        PRIORITY_CLASS("silver"),
        POLICY("p", SELECTS("web") "," ON("member1")),
        POLICY("p", SELECTS("web") "," ON("member1") WITH_CLASS("gold")),
    };

    for (size_t i = 0; i < ARRAY_LEN(cures); i++) {
        struct world w;
        char text[256];

        world_init(&w, &preemption, 1);
        world_put_text(&w, PRIORITY_CLASS("gold"));
        world_put_text(&w, POLICY("p", SELECTS("web") "," ON("member1") WITH_CLASS("silver")));
        world_put_text(&w, TEMPLATE("web", "," CLAIM("p")));
        world_run(&w, NOW_MS);
        struct plan *p = plan_new(w.engine);
        planned_apply(p, cures[i]);
        const struct plan_template *row = planned_row(plan_finish(p), "web");
        assert_string_equal(planned_outcome(&row->before, text),
                            "unbound priority_class_missing p");
        assert_string_equal(planned_outcome(&row->after, text), "current p member1:2");
        plan_free(p);
        world_release(&w);
    }
}

/* Sources that have no PriorityClass at all have not read them. */
TEST(priority_classes_that_are_not_read_are_assumed)
{
    static const struct {
        const char *gates;
        const char *class;
        const char *after;
        bool assumed;
    } worlds[] = {
        {"PriorityBasedScheduling=true", NULL, "current p member1:2", true},
        {"PriorityBasedScheduling=false", NULL, "current p member1:2", false},
        {"PriorityBasedScheduling=true", PRIORITY_CLASS("gold"), "unbound priority_class_missing p",
         false},
        {"PriorityBasedScheduling=true", PRIORITY_CLASS("silver"), "current p member1:2", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(worlds); i++) {
        struct rules_options options = rules_options_default;
        const struct plan_result *r;
        struct world w;
        char text[256];

        options.feature_gates = worlds[i].gates;
        world_init(&w, &options, 1);
        world_put_text(&w, POLICY("p", SELECTS("web") "," ON("member1") WITH_CLASS("silver")));
        if (worlds[i].class)
            world_put_text(&w, worlds[i].class);
        world_run(&w, NOW_MS);
        struct plan *p = plan_new(w.engine);
        planned_apply(p, TEMPLATE("web", ""));
        r = plan_finish(p);
        assert_string_equal(planned_outcome(&planned_row(r, "web")->after, text), worlds[i].after);
        assert_int_equal(r->assumptions >> ASSUMED_PRIORITY_CLASS & 1, worlds[i].assumed);
        plan_free(p);
        world_release(&w);
    }
}

TEST(simulation_stops_at_its_maximum_of_queue_items)
{
    struct world w;

    init_bound_world(&w, &preemption);
    struct overlay *overlay = overlay_new(w.engine);
    struct entry *web = world_find(&w, "apps/v1", "Deployment", "default", "web");
    for (size_t i = 0; i < SIMULATION_ITEMS_MIN + SIMULATION_ITEMS_PER_TEMPLATE; i++)
        overlay_enqueue(overlay, (struct queue_item){web, false});
    assert_true(simulation_process_queue(overlay));
    for (size_t i = 0; i <= SIMULATION_ITEMS_MIN + SIMULATION_ITEMS_PER_TEMPLATE; i++)
        overlay_enqueue(overlay, (struct queue_item){web, false});
    assert_false(simulation_process_queue(overlay));
    assert_true(simulation_process_queue(overlay));
    overlay_free(overlay);
    world_release(&w);
}

TEST(new_policy_claims_only_templates_without_a_claim)
{
    static const char everything[] =
        "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"ClusterPropagationPolicy\","
        "\"metadata\":{\"name\":\"all\"},\"spec\":{\"resourceSelectors\":[{\"apiVersion\":"
        "\"apps/v1\",\"kind\":\"Deployment\"}]," ON("member2") "}}";
    const struct plan_result *r;
    struct world w;
    char text[256];

    init_bound_world(&w, &preemption);
    world_put_text(&w, TEMPLATE("free", ""));
    world_run(&w, NOW_MS);
    struct plan *p = plan_new(w.engine);
    planned_apply(p, everything);
    r = plan_finish(p);
    assert_string_equal(planned_outcome(&planned_row(r, "free")->after, text),
                        "current all member2:2");
    assert_null(planned_row(r, "web"));
    plan_free(p);
    world_release(&w);
}

TEST(disabled_preemption_is_an_assumption_if_it_matters)
{
    static const char high[] =
        POLICY("high", SELECTS("web") ",\"priority\":5,\"preemption\":\"Always\"," ON("member2"));
    struct rules_options off = preemption;
    struct world w;

    off.feature_gates = NULL;
    init_bound_world(&w, &off);
    struct plan *p = plan_new(w.engine);
    planned_apply(p, high);
    assert_int_equal(plan_finish(p)->assumptions, 1U << ASSUMED_PREEMPTION_OFF);
    plan_free(p);
    p = plan_new(w.engine);
    planned_apply(p, POLICY("low", SELECTS("web") ",\"priority\":-5," ON("member2")));
    assert_int_equal(plan_finish(p)->assumptions, 0);
    plan_free(p);
    world_release(&w);
}

/* Changes while not all Deployments have been read. */
static const struct unread_case {
    const char *title;
    const struct rules_options *options;
    const char *apply;
} unread_cases[] = {
    {"a new template", &preemption, TEMPLATE("free", "")},
    {"a new template with static takeover", &statically, TEMPLATE("free", "")},
    {"a template without its claim", &preemption, TEMPLATE("web", "")},
    {"a template without its claim, with static takeover", &statically, TEMPLATE("web", "")},
    {"a policy for a template without a claim", &preemption,
     POLICY("new", SELECTS("idle") "," ON("member2"))},
    {"a policy for a template without a claim, with static takeover", &statically,
     POLICY("new", SELECTS("idle") "," ON("member2"))},
    {"a policy that no longer selects its template", &preemption,
     POLICY("old", SELECTS("db") "," ON("member1"))},
    {"a policy that preempts", &preemption,
     POLICY("high", SELECTS("web") ",\"priority\":5,\"preemption\":\"Always\"," ON("member2"))},
    {"a policy with another placement", &preemption,
     POLICY("old", SELECTS("web") "," ON("member2"))},
};

TEST_ROWS(plan_has_no_effect_on_a_partly_read_kind, unread_cases, title)
{
    const struct unread_case *c = *state;
    const struct plan_result *r;
    struct world w;

    init_bound_world(&w, c->options);
    world_put_text(&w, TEMPLATE("idle", ""));
    engine_set_incomplete(w.engine, "apps/v1", "Deployment", true);
    world_run(&w, NOW_MS);
    struct plan *p = plan_new(w.engine);
    planned_apply(p, c->apply);
    r = plan_finish(p);
    assert_int_equal(r->template_count, 0);
    assert_true(r->assumptions & 1U << ASSUMED_KIND_UNREAD);
    plan_free(p);
    world_release(&w);
}

TEST(invalid_template_is_rejected)
{
    CLEANUP(json_cleanup)
    cJSON *json = cJSON_Parse("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{"
                              "\"name\":\"s\",\"namespace\":\"default\",\"labels\":3}}");
    struct error err;
    struct world w;

    init_bound_world(&w, &preemption);
    struct plan *p = plan_new(w.engine);
    assert_false(plan_apply(p, json, &err));
    assert_non_null(strstr(err.text, "labels"));
    assert_int_equal(plan_finish(p)->template_count, 0);
    plan_free(p);
    world_release(&w);
}

/* ---- random control planes and changes ---- */

static void apply_random_changes(struct world *w, struct plan *p)
{
    for (uint32_t i = world_random(w, 4) + 1; i > 0; i--) {
        CLEANUP(json_cleanup) cJSON *json = random_object(w);
        struct entry *entry = world_pick(w);
        struct error err;

        if (world_random(w, 3) > 0 || !entry)
            assert_true(plan_apply(p, json, &err));
        else
            plan_delete(p, entry);
    }
}

static void read_settled(void *context, const struct next_change *f)
{
    *(bool *)context = f->settled;
}

/* Decrements the counter `context`, and returns true once the counter is 0. */
static bool count_down(void *context)
{
    uint32_t *asks = context;

    if (*asks > 0)
        (*asks)--;
    return *asks == 0;
}

/* Plans random changes, and stops the plan at the check number `asks` of its limit. */
static void plan_with_limit(struct world *w, uint32_t asks)
{
    struct plan *p = plan_new(w->engine);

    plan_set_limit(p, (struct overlay_limit){count_down, &asks});
    apply_random_changes(w, p);
    (void)plan_finish(p);
    bool cut = plan_limit_reached(p);
    assert_true(cut == (asks == 0));
    plan_free(p);
}

/*
 * A plan restores the engine and the store. AddressSanitizer detects memory that is not freed.
 */
TEST(plan_restores_the_engine_and_the_store)
{
    for (uint32_t seed = 1; seed <= HISTORIES; seed++) {
        CLEANUP(strbuf_release) struct strbuf before = STRBUF_INIT((size_t)1 << 24);
        CLEANUP(strbuf_release) struct strbuf after = STRBUF_INIT((size_t)1 << 24);
        CLEANUP(strbuf_release) struct strbuf told = STRBUF_INIT((size_t)1 << 24);
        struct world w;
        struct entry *entry;
        bool settled = true;

        world_init(&w, seed % 2 ? &preemption : &statically, seed);
        for (size_t i = 0; i < STEPS; i++) {
            CLEANUP(json_cleanup) cJSON *json = random_object(&w);

            world_put(&w, json);
        }
        world_run(&w, NOW_MS);
        world_dump(&w, &before);

        struct plan *p = plan_new(w.engine);
        apply_random_changes(&w, p);
        const struct plan_result *r = plan_finish(p);
        assert_true(r->settled);
        /* The report must be able to use all objects of the result, also added and deleted ones. */
        report_plan(p, r, w.engine, NULL, NULL, &told);
        plan_free(p);
        plan_with_limit(&w, 1 + world_random(&w, 30));
        entry = world_pick(&w);
        if (entry && entry_template(entry))
            next_change_predict_outcomes(w.engine, entry, read_settled, &settled);
        assert_true(settled);
        /*
         * A plan does not advance the time of the engine, so the engine still processes due timers.
         */
        assert_int_equal(engine_now_ms(w.engine), NOW_MS);
        world_dump(&w, &after);
        assert_string_equal(before.data, after.data);
        world_release(&w);
    }
}
