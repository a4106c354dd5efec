/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/reconcile.h"

#include "metrics/model/store.h"
#include "metrics/rules/policy_versions.h"

#include "tests/unit/bound_objects.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { NOW_MS = 1000 * 1000 };

#define LAZY "\"activationPreference\":\"Lazy\""
#define ALL                                                                                        \
    "\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","                  \
    "\"namespace\":\"default\"}]"
#define MARKED(policy)                                                                             \
    ",\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"id-" policy                      \
    "\"},\"annotations\":{\"propagationpolicy.karmada.io/namespace\":\"default\","                 \
    "\"propagationpolicy.karmada.io/name\":\"" policy "\",\"" RECONCILE_ANNOTATION                 \
    "\":\"2026-01-01T00:00:00Z\"}"

/* Objects and a filter, with the expected result. */
static struct choice_case {
    const char *title;
    const char *objects[8];
    const char *policy; /* NULL: any policy. */
    const char *labels; /* NULL: any labels. */
    const char *ns;
    const char *text; /* Chosen templates, then the others: "web api | db selector_mismatch". */
    size_t max, beyond, current, reconciled;
    bool statically;
    bool undo;
} cases[] = {
    {.title = "templates that wait for their next change",
     .objects = {POLICY("p", ALL "," LAZY "," ON("member2")), TEMPLATE("web", "," CLAIM("p")),
                 BINDING("web", "p", "member1"), TEMPLATE("api", "," CLAIM("p")),
                 BINDING("api", "p", "member1")},
     .policy = "p",
     .text = "api web"},
    {.title = "current templates are counted",
     .objects = {POLICY("p", ALL "," LAZY "," ON("member2")), TEMPLATE("web", "," CLAIM("p")),
                 BINDING("web", "p", "member1"), TEMPLATE("api", "," CLAIM("p")),
                 BINDING("api", "p", "member2"), TEMPLATE("db", MARKED("p")),
                 BINDING("db", "p", "member2")},
     .policy = "p",
     .text = "web",
     .current = 2,
     .reconciled = 1},
    {.title = "at most one template",
     .objects = {POLICY("p", ALL "," LAZY "," ON("member2")), TEMPLATE("web", "," CLAIM("p")),
                 BINDING("web", "p", "member1"), TEMPLATE("api", "," CLAIM("p")),
                 BINDING("api", "p", "member1"), TEMPLATE("db", "," CLAIM("p")),
                 BINDING("db", "p", "member1")},
     .policy = "p",
     .max = 1,
     .beyond = 2,
     .text = "api"},
    {.title = "a namespace without templates",
     .objects = {POLICY("p", ALL "," LAZY "," ON("member2")), TEMPLATE("web", "," CLAIM("p")),
                 BINDING("web", "p", "member1")},
     .policy = "p",
     .ns = "other",
     .text = ""},
    {.title = "templates of one policy",
     .objects = {POLICY("p", SELECTS("web") "," LAZY "," ON("member2")),
                 POLICY("q", SELECTS("api") "," LAZY "," ON("member2")),
                 TEMPLATE("web", "," CLAIM("p")), BINDING("web", "p", "member1"),
                 TEMPLATE("api", "," CLAIM("q")), BINDING("api", "q", "member1")},
     .policy = "q",
     .text = "api"},
    {.title = "templates by labels",
     .objects = {POLICY("p", SELECTS("web") "," LAZY "," ON("member2")),
                 POLICY("q", SELECTS("api") "," LAZY "," ON("member2")),
                 TEMPLATE("web", "," CLAIM("p")), BINDING("web", "p", "member1"),
                 TEMPLATE("api", "," CLAIM("q")), BINDING("api", "q", "member1")},
     .labels = "propagationpolicy.karmada.io/permanent-id notin (id-p)",
     .text = "api"},
    {.title = "Karmada acts by itself where the policy is not Lazy",
     .objects = {POLICY("p", ALL "," ON("member2")), TEMPLATE("web", "," CLAIM("p")),
                 BINDING("web", "p", "member1")},
     .policy = "p",
     .text = "| web by_itself"},
    {.title = "a template that its policy no longer selects",
     .objects = {POLICY("p", SELECTS("api") "," LAZY "," ON("member2")),
                 TEMPLATE("web", "," CLAIM("p")), BINDING("web", "p", "member1")},
     .policy = "p",
     .text = "| web selector_mismatch"},
    {.title = "a template of a deleted policy",
     .objects = {POLICY("p", SELECTS("api") "," LAZY "," ON("member2")),
                 TEMPLATE("web", "," CLAIM("gone")), BINDING("web", "gone", "member1")},
     .labels = "!x",
     .text = "| web policy_gone"},
    {.title = "an orphaned template, by labels",
     .objects = {TEMPLATE("web", ""),
                 "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\","
                 "\"metadata\":{\"name\":\"web-deployment\",\"namespace\":\"default\"},\"spec\":{"
                 "\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"namespace\":"
                 "\"default\",\"name\":\"web\"}," ON("member1") "}}"},
     .labels = "!x",
     .text = "| web orphaned"},
    {.title = "a policy with a missing PriorityClass",
     .objects = {POLICY("p",
                        ALL "," LAZY ",\"schedulePriority\":{\"priorityClassSource\":"
                            "\"KubePriorityClass\",\"priorityClassName\":\"high\"}," ON("member2")),
                 "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\","
                 "\"metadata\":{\"name\":\"low\"},\"value\":1}",
                 TEMPLATE("web", "," CLAIM("p")), BINDING("web", "p", "member1")},
     .policy = "p",
     .text = "| web priority_class_missing"},
    {.title = "a policy that waits for an override policy",
     .objects = {POLICY("p", ALL "," LAZY ",\"dependentOverrides\":[\"o\"]," ON("member2")),
                 TEMPLATE("web", "," CLAIM("p")), BINDING("web", "p", "member1")},
     .policy = "p",
     .text = "| web override_missing"},
    {.title = "static: a policy that is not Lazy",
     .objects = {POLICY("p", ALL "," ON("member2")), TEMPLATE("web", "," CLAIM("p")),
                 BINDING("web", "p", "member1")},
     .policy = "p",
     .statically = true,
     .text = "web"},
    {.title = "static: the policy of higher priority",
     .objects = {POLICY("p", ALL "," ON("member1")),
                 POLICY("q", ALL ",\"priority\":5," ON("member2")), TEMPLATE("web", "," CLAIM("p")),
                 BINDING("web", "p", "member1")},
     .policy = "q",
     .statically = true,
     .text = "web"},
    {.title = "static: the claimed policy of lower priority",
     .objects = {POLICY("p", ALL "," ON("member1")),
                 POLICY("q", ALL ",\"priority\":5," ON("member2")), TEMPLATE("web", "," CLAIM("p")),
                 BINDING("web", "p", "member1")},
     .policy = "p",
     .statically = true,
     .text = "| web other_policy"},
    {.title = "a template that is being deleted",
     .objects = {POLICY("p", ALL "," LAZY "," ON("member2")),
                 TEMPLATE("web", ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"," CLAIM("p")),
                 BINDING("web", "p", "member1")},
     .policy = "p",
     .text = ""},
    {.title = "undo: templates with the annotation",
     .objects = {POLICY("p", ALL "," LAZY "," ON("member2")), TEMPLATE("web", MARKED("p")),
                 BINDING("web", "p", "member1"), TEMPLATE("api", "," CLAIM("p")),
                 BINDING("api", "p", "member1"), TEMPLATE("db", MARKED("p")),
                 BINDING("db", "p", "member2")},
     .policy = "p",
     .undo = true,
     .text = "db web"},
    {.title = "undo: templates of another policy",
     .objects = {POLICY("p", ALL "," LAZY "," ON("member2")),
                 POLICY("q", SELECTS("api") "," ON("member2")), TEMPLATE("web", MARKED("p")),
                 BINDING("web", "p", "member2")},
     .policy = "q",
     .undo = true,
     .text = ""},
};

static void write_result(const struct reconcile *r, struct strbuf *out)
{
    for (size_t i = 0; i < r->chosen.count; i++)
        strbuf_addf(out, "%s%s", out->len > 0 ? " " : "", r->chosen.items[i].template->name);
    for (size_t i = 0; i < r->left.count; i++)
        strbuf_addf(out, "%s| %s %s", out->len > 0 ? " " : "", r->left.items[i].template->name,
                    reconcile_verdict_names[r->left.items[i].verdict]);
}

static void init_world_with(struct world *w, const char *const *objects, size_t count,
                            bool statically)
{
    struct rules_options options = rules_options_default;

    options.takeover = statically ? TAKEOVER_STATIC : TAKEOVER_PREEMPTION;
    options.grace_ms = 0;
    options.feature_gates = "PriorityBasedScheduling=true";
    world_init(w, &options, 1);
    world_put_text(w, CLUSTER("member1"));
    world_put_text(w, CLUSTER("member2"));
    for (size_t i = 0; i < count && objects[i]; i++)
        world_put_text(w, objects[i]);
    world_run(w, NOW_MS);
}

static struct entry *find_policy(const struct world *w, const char *name)
{
    return world_find(w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "default", name);
}

TEST_ROWS(reconcile_chooses, cases, title)
{
    const struct choice_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    CLEANUP(strbuf_release) struct strbuf before = STRBUF_INIT(1 << 20);
    CLEANUP(strbuf_release) struct strbuf after = STRBUF_INIT(1 << 20);
    struct label_selector *labels = NULL;
    struct error err;
    struct world w;

    init_world_with(&w, c->objects, ARRAY_LEN(c->objects), c->statically);
    if (c->labels) {
        labels = label_selector_parse(store_string_pool(w.store), c->labels, &err);
        assert_non_null(labels);
    }

    const struct reconcile_filter filter = {
        .policy = c->policy ? find_policy(&w, c->policy) : NULL,
        .labels = labels,
        .ns = c->ns,
        .max = c->max,
        .undo = c->undo,
    };

    world_dump(&w, &before);
    struct reconcile *r = reconcile_new(w.engine, &filter, false);
    write_result(r, &text);
    assert_string_equal(text.data, c->text);
    assert_int_equal(r->beyond, c->beyond);
    assert_int_equal(r->current, c->current);
    assert_int_equal(r->reconciled, c->reconciled);
    for (size_t i = 0; i < r->chosen.count; i++)
        assert_int_equal(r->chosen.items[i].becomes, STATE_CURRENT);
    reconcile_free(r);
    /* The simulation has restored the engine. */
    world_dump(&w, &after);
    assert_string_equal(before.data, after.data);
    label_selector_free(store_string_pool(w.store), labels);
    world_release(&w);
}

TEST(change_of_the_policy_invalidates_the_plan)
{
    static const char *const objects[] = {
        POLICY("p", ALL "," LAZY "," ON("member2")),
        TEMPLATE("web", "," CLAIM("p")),
        BINDING("web", "p", "member1"),
    };
    struct world w;

    init_world_with(&w, objects, ARRAY_LEN(objects), false);

    const struct reconcile_filter filter = {.policy = find_policy(&w, "p")};
    struct reconcile *r = reconcile_new(w.engine, &filter, false);

    assert_int_equal(r->result->template_count, 1);
    assert_int_equal(r->result->when[PLAN_AT_ONCE], 1);
    reconcile_end_plan(r);
    assert_int_equal(r->chosen.count, 1);
    assert_true(reconcile_is_as_planned(&r->chosen.items[0]));
    world_put_text(&w, "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":"
                       "\"PropagationPolicy\",\"metadata\":{\"name\":\"p\",\"namespace\":"
                       "\"default\",\"generation\":2,\"labels\":{"
                       "\"propagationpolicy.karmada.io/permanent-id\":\"id-p\"}},\"spec\":{" ALL
                       "," LAZY "," ON("member1") "}}");
    world_run(&w, NOW_MS);
    assert_false(reconcile_is_as_planned(&r->chosen.items[0]));
    assert_int_equal(reconcile_find_verdict(w.engine, &filter, r->chosen.items[0].template),
                     RECONCILE_CURRENT);
    reconcile_free(r);
    world_release(&w);
}

/* The bindings have three versions of the policy; a hash chooses the templates of one version. */
TEST(version_filter_chooses_the_templates_of_the_version)
{
    static const char *const objects[] = {
        POLICY("p", ALL "," LAZY "," ON("member3")),
        TEMPLATE("web", "," CLAIM("p")),
        BINDING("web", "p", "member1"),
        TEMPLATE("api", "," CLAIM("p")),
        BINDING("api", "p", "member2"),
        TEMPLATE("db", "," CLAIM("p")),
        BINDING("db", "p", "member3"),
    };
    static const char *const names[] = {"web", "api"};
    struct world w;

    init_world_with(&w, objects, ARRAY_LEN(objects), false);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct entry *template = world_find(&w, "apps/v1", "Deployment", "default", names[i]);
        const struct policy_version *version = decision_version(template_decision(template));
        char hash[POLICY_VERSION_HASH_SIZE];

        policy_version_hash(version, hash);
        assert_ptr_equal(policy_history_find_version(version->history, hash), version);

        const struct reconcile_filter filter = {.policy = find_policy(&w, "p"), .version = hash};
        struct reconcile *r = reconcile_new(w.engine, &filter, false);

        assert_int_equal(r->chosen.count, 1);
        assert_ptr_equal(r->chosen.items[0].template, template);
        assert_int_equal(r->current, 0);
        reconcile_free(r);
    }

    const struct reconcile_filter unknown_version = {.policy = find_policy(&w, "p"),
                                                     .version = "4"};
    struct reconcile *r = reconcile_new(w.engine, &unknown_version, false);

    assert_int_equal(r->chosen.count + r->left.count + r->current, 0);
    reconcile_free(r);
    world_release(&w);
}

TEST(names_of_verdicts_are_unique)
{
    for (size_t i = 0; i < RECONCILE_VERDICT_COUNT; i++) {
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(reconcile_verdict_names[i], reconcile_verdict_names[j]);
    }
}
