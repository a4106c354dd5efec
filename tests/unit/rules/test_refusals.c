/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/refusals.h"

#include "metrics/rules/rule.h"
#include "tests/sim/rng.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { SEEDS = 200, STEPS = 60, JSON_MAX = 1024 };
#define NOON_MS INT64_C(1769860800000)

#define TEMPLATE(uid)                                                                              \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web','namespace':'test',"     \
    "'uid':'" uid "'}}"
#define ABOUT(api_version, kind, ns, name, uid)                                                    \
    "'involvedObject':{'apiVersion':'" api_version "','kind':'" kind "','namespace':'" ns          \
    "','name':'" name "','uid':'" uid "'}"
#define WEB ABOUT("apps/v1", "Deployment", "test", "web", "u1")
#define EVENT(name, reason, second, about)                                                         \
    "{'apiVersion':'v1','kind':'Event','metadata':{'name':'" name "','namespace':'test'},"         \
    "'reason':'" reason "'," about ",'lastTimestamp':'2026-01-31T12:00:" second "Z'}"
#define REFUSED(name, second, about) EVENT(name, "ApplyPolicyFailed", second, about)

static const struct refusals *refusals_in(const struct world *w)
{
    return &engine_context(w->engine)->refusals;
}

static void put(struct world *w, const char *text)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text);

    world_put(w, json);
}

/* Returns the latest refusal of test/web in seconds after noon; -1 without one. */
static int find_latest_refusal(const struct world *w)
{
    const struct entry *template = world_find(w, "apps/v1", "Deployment", "test", "web");
    int64_t ms = refusals_latest_ms(refusals_in(w), template);

    return ms == 0 ? -1 : (int)((ms - NOON_MS) / 1000);
}

static struct latest_case {
    const char *name;
    const char *events[3]; /* Put after the template with the UID u1. */
    int latest;            /* Seconds after noon; -1: no refusal. */
} latest_cases[] = {
    {"no Event", {NULL}, -1},
    {"one Event", {REFUSED("a", "05", WEB)}, 5},
    {"the latest of two", {REFUSED("a", "05", WEB), REFUSED("b", "03", WEB)}, 5},
    {"a repetition of an Event", {REFUSED("a", "05", WEB), REFUSED("a", "09", WEB)}, 9},
    {"an Event that becomes another",
     {REFUSED("a", "05", WEB), EVENT("a", "Other", "09", WEB)},
     -1},
    {"an Event that becomes one about another template",
     {REFUSED("a", "05", WEB), REFUSED("a", "05", ABOUT("apps/v1", "Deployment", "test", "x", ""))},
     -1},
    {"another reason", {EVENT("a", "ApplyPolicySucceed", "05", WEB)}, -1},
    {"a failed override",
     {EVENT("a", "ApplyOverridePolicyFailed", "05",
            WEB ",'message':'Apply override policy(test/o) for cluster(m) failed.'")},
     -1},
    {"a deleted object of the name",
     {REFUSED("a", "05", ABOUT("apps/v1", "Deployment", "test", "web", "u0"))},
     -1},
    {"an Event without a UID",
     {REFUSED("a", "05", ABOUT("apps/v1", "Deployment", "test", "web", ""))},
     5},
    {"another kind", {REFUSED("a", "05", ABOUT("apps/v1", "DaemonSet", "test", "web", "u1"))}, -1},
    {"another group",
     {REFUSED("a", "05", ABOUT("x.io/v1", "Deployment", "test", "web", "u1"))},
     -1},
    {"another namespace",
     {REFUSED("a", "05", ABOUT("apps/v1", "Deployment", "other", "web", "u1"))},
     -1},
    {"a template that is created again", {REFUSED("a", "05", WEB), TEMPLATE("u2")}, -1},
};

TEST_ROWS(the_latest_refusal_of_a_template_is_found, latest_cases, name)
{
    const struct latest_case *c = *state;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put(&w, TEMPLATE("u1"));
    for (size_t i = 0; i < ARRAY_LEN(c->events) && c->events[i]; i++)
        put(&w, c->events[i]);
    assert_int_equal(find_latest_refusal(&w), c->latest);
    world_release(&w);
}

TEST(an_event_that_is_read_before_its_template_counts)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put(&w, REFUSED("a", "05", WEB));
    put(&w, TEMPLATE("u1"));
    assert_int_equal(find_latest_refusal(&w), 5);
    world_release(&w);
}

TEST(an_event_about_a_binding_is_no_refusal)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put(&w, REFUSED("a", "05",
                    ABOUT("work.karmada.io/v1alpha2", "ResourceBinding", "test", "web", "")));
    assert_int_equal(refusals_in(&w)->index.groups.count, 0);
    world_release(&w);
}

TEST(a_refusal_marks_its_template_for_evaluation)
{
    struct world w;
    uint64_t before;

    world_init(&w, &rules_options_default, 1);
    put(&w, TEMPLATE("u1"));
    assert_true(engine_run(w.engine, NOON_MS, SIZE_MAX));
    before = engine_evaluations(w.engine);
    put(&w, REFUSED("a", "05", WEB));
    assert_true(engine_run(w.engine, NOON_MS, SIZE_MAX));
    /* The Event and its template. */
    assert_int_equal(engine_evaluations(w.engine), before + 2);
    before = engine_evaluations(w.engine);
    put(&w, REFUSED("b", "05", ABOUT("apps/v1", "Deployment", "test", "web", "u0")));
    put(&w, REFUSED("c", "05", ABOUT("apps/v1", "Deployment", "test", "missing", "u1")));
    assert_true(engine_run(w.engine, NOON_MS, SIZE_MAX));
    /* The two Events alone. */
    assert_int_equal(engine_evaluations(w.engine), before + 2);
    world_release(&w);
}

/* ---- random histories ---- */

enum { EVENTS = 6, TEMPLATES = 2, UIDS = 2 };

/* An Event of the model; `second` is -1 if it does not exist or has another reason. */
struct model_event {
    unsigned template;
    unsigned uid;
    int second;
};

static void put_random_event(struct rng *rng, struct world *w, struct model_event *events)
{
    unsigned at = rng_below(rng, EVENTS);
    bool refusal = rng_chance(rng, 80);
    char text[JSON_MAX];

    events[at] = (struct model_event){rng_below(rng, TEMPLATES), rng_below(rng, UIDS),
                                      (int)rng_below(rng, 60)};
    snprintf(text, sizeof(text),
             "{'apiVersion':'v1','kind':'Event','metadata':{'name':'e%u','namespace':'test'},"
             "'reason':'%s','lastTimestamp':'2026-01-31T12:00:%02dZ','involvedObject':{"
             "'apiVersion':'v1','kind':'ConfigMap','namespace':'test','name':'t%u','uid':'u%u'}}",
             at, refusal ? "ApplyPolicyFailed" : "Other", events[at].second, events[at].template,
             events[at].uid);
    put(w, text);
    if (!refusal)
        events[at].second = -1;
}

static void remove_random_event(struct rng *rng, struct world *w, struct model_event *events)
{
    unsigned at = rng_below(rng, EVENTS);
    struct entry *entry;
    char name[8];

    snprintf(name, sizeof(name), "e%u", at);
    entry = world_find(w, "v1", "Event", "test", name);
    if (entry && entry_exists(entry))
        store_remove(w->store, entry);
    events[at].second = -1;
}

static void put_random_template(struct rng *rng, struct world *w, int *uids)
{
    unsigned at = rng_below(rng, TEMPLATES);
    char text[JSON_MAX];

    uids[at] = (int)rng_below(rng, UIDS);
    snprintf(text, sizeof(text),
             "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'t%u','namespace':'test',"
             "'uid':'u%d'}}",
             at, uids[at]);
    put(w, text);
}

static int64_t expected_ms(const struct model_event *events, unsigned template, int uid)
{
    int latest = -1;

    for (unsigned i = 0; i < EVENTS; i++) {
        if (events[i].template == template && (int)events[i].uid == uid &&
            events[i].second > latest)
            latest = events[i].second;
    }
    return latest < 0 ? 0 : NOON_MS + (int64_t)latest * 1000;
}

TEST(after_any_history_the_latest_refusal_is_that_of_the_events_that_exist)
{
    static const char *const names[TEMPLATES] = {"t0", "t1"};

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct rng rng = rng_of(seed, 0);
        struct model_event events[EVENTS];
        int uids[TEMPLATES] = {-1, -1};
        struct world w;

        for (unsigned i = 0; i < EVENTS; i++)
            events[i].second = -1;
        world_init(&w, &rules_options_default, 1);
        for (unsigned step = 0; step < STEPS; step++) {
            if (rng_chance(&rng, 20))
                put_random_template(&rng, &w, uids);
            else if (rng_chance(&rng, 60))
                put_random_event(&rng, &w, events);
            else
                remove_random_event(&rng, &w, events);
            for (unsigned t = 0; t < TEMPLATES; t++) {
                const struct entry *template =
                    uids[t] < 0 ? NULL : world_find(&w, "v1", "ConfigMap", "test", names[t]);

                if (template)
                    assert_int_equal(refusals_latest_ms(refusals_in(&w), template),
                                     expected_ms(events, t, uids[t]));
            }
        }
        world_release(&w);
    }
}
