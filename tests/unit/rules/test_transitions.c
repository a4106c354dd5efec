/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/transitions.h"

#include "metrics/expose/report_parts.h"
#include "metrics/model/store.h"
#include "metrics/rules/engine.h"
#include "metrics/simulate/plan.h"
#include "tests/unit/bound_objects.h"
#include "tests/unit/heap.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"

enum { HISTORIES = 100, CHANGES = 300, DUMP_MAX = 4 << 20, MANY = 1000 * 1000 };

static const int64_t START_MS = INT64_C(1767225600000);

/* ---- random histories ---- */

/*
 * Decisions about one template after complete evaluations, each different from the previous one or
 * with a new transition. Their policies are pinned.
 */
struct witness {
    struct entry *template;
    struct moment *moments;
    size_t count;
    uint64_t newest; /* Number of the latest transition of the template. */
};

struct witnesses {
    struct witness items[CHANGES];
    size_t count;
    bool reads; /* True if kinds become complete and incomplete. */
};

static struct moment pin_moment(struct moment m)
{
    if (m.policy)
        store_pin(m.policy);
    if (m.claimed)
        store_pin(m.claimed);
    return m;
}

static void unpin_moment(struct world *w, struct moment m)
{
    unpin_unless_null(w->store, m.policy);
    unpin_unless_null(w->store, m.claimed);
}

static struct witness *find_or_add_witness(struct witnesses *all, struct entry *template)
{
    for (size_t i = 0; i < all->count; i++) {
        if (all->items[i].template == template)
            return &all->items[i];
    }
    assert_true(all->count < CHANGES);
    store_pin(template);
    all->items[all->count] = (struct witness){.template = template};
    return &all->items[all->count++];
}

/* Compares as moment_equal(), but without version numbers: a recovered version changes these. */
static bool is_same(const struct moment *a, const struct moment *b)
{
    struct moment renumbered = *a;

    renumbered.version = b->version;
    return moment_equal(&renumbered, b);
}

static void record(struct world *w, struct witness *of, bool reads)
{
    const struct transitions *t = engine_transitions(w->engine);
    struct moment now = moment_of_template(of->template);
    uint64_t newest = UINT64_MAX;
    struct transition x;
    bool moved = transitions_next_of_template(t, of->template, &newest, &x) && newest != of->newest;

    if (of->count > 0 && is_same(&of->moments[of->count - 1], &now) && !moved)
        return;
    /*
     * Before the first transition, a kind that becomes complete or incomplete causes no transition.
     */
    if (reads && of->count == 1 && !moved && now.decided != of->moments[0].decided)
        unpin_moment(w, of->moments[--of->count]);
    of->newest = moved ? newest : of->newest;
    of->moments = xreallocarray(of->moments, of->count + 1, sizeof(*of->moments));
    of->moments[of->count++] = pin_moment(now);
}

/* Records all templates. Unless `first`, a new template begins with a moment without a decision. */
static void record_all(struct world *w, struct witnesses *all, bool first)
{
    struct store_walk walk = store_walk_begin(w->store, 1U << CLASS_TEMPLATE);
    struct entry *entry;

    while ((entry = store_walk_next(&walk)) != NULL) {
        struct witness *of = find_or_add_witness(all, entry);

        if (of->count == 0 && !first) {
            of->moments = xcalloc(1, sizeof(*of->moments));
            of->count = 1;
        }
    }
    for (size_t i = 0; i < all->count; i++)
        record(w, &all->items[i], all->reads);
}

static void append_policy(struct strbuf *out, const struct entry *policy)
{
    strbuf_addf(out, " %s/%s", policy ? entry_ns(policy) : "-", policy ? policy->name : "-");
}

static void dump_moment(struct strbuf *out, const struct moment *m)
{
    strbuf_addf(out, " [%d %u %u %u %u %u v%" PRIu32 " on %" PRIu32 "/%" PRIx32, m->decided,
                m->state, m->reason, m->phase, m->stage, m->stage_reason, m->version, m->clusters,
                m->cluster_hash);
    append_policy(out, m->policy);
    append_policy(out, m->claimed);
    strbuf_adds(out, "]");
}

/* Asserts that the transitions of a template are exactly those between its recorded moments. */
static void check_chain(const struct transitions *t, const struct witness *of, uint32_t seed)
{
    uint64_t below = UINT64_MAX, last = UINT64_MAX;
    struct transition x;
    size_t at = of->count;

    while (transitions_next_of_template(t, of->template, &below, &x)) {
        at--;
        if (at == 0 || !is_same(&x.after, &of->moments[at]) ||
            !is_same(&x.before, &of->moments[at - 1])) {
            CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(DUMP_MAX);

            dump_moment(&out, &x.before);
            dump_moment(&out, &x.after);
            strbuf_adds(&out, "\nseen:");
            for (size_t i = 0; i < of->count; i++)
                dump_moment(&out, &of->moments[i]);
            fail_msg("history %u: transition %zu of %s/%s: %s", seed, at, entry_ns(of->template),
                     of->template->name, out.data);
        }
        assert_ptr_equal(x.template, of->template);
        assert_true(x.number == below && x.number < last);
        last = x.number;
    }
    if (at != 1)
        fail_msg("history %u: %zu transitions of %s are missing", seed, at - 1, of->template->name);
}

static void release_witnesses(struct world *w, struct witnesses *all)
{
    for (size_t i = 0; i < all->count; i++) {
        for (size_t k = 0; k < all->items[i].count; k++)
            unpin_moment(w, all->items[i].moments[k]);
        free(all->items[i].moments);
        store_unpin(w->store, all->items[i].template);
    }
}

static void change_randomly(struct world *w)
{
    struct entry *gone = world_random(w, 4) == 0 ? world_pick(w) : NULL;

    if (gone)
        store_remove(w->store, gone);
    else
        random_objects(w, 1);
}

/* Makes a random kind complete or incomplete. */
static void change_completeness(struct world *w)
{
    static const char *const kinds[][2] = {
        {"v1", "ConfigMap"},
        {"apps/v1", "Deployment"},
        {"cluster.karmada.io/v1alpha1", "Cluster"},
    };
    size_t which = world_random(w, ARRAY_LEN(kinds));

    engine_set_incomplete(w->engine, kinds[which][0], kinds[which][1], world_random(w, 3) == 0);
}

TEST(transitions_equal_the_sequence_of_decisions)
{
    for (uint32_t seed = 1; seed <= HISTORIES; seed++) {
        struct witnesses *all = xcalloc(1, sizeof(*all));
        int64_t now_ms = START_MS;
        size_t kept = 0;
        struct world w;

        all->reads = seed % 2 == 0;
        world_init(&w, &rules_options_default, seed);
        random_objects(&w, CHANGES / 10);
        world_run(&w, now_ms);
        engine_keep_transitions(w.engine, MANY);
        record_all(&w, all, true);
        for (size_t i = 0; i < CHANGES; i++) {
            change_randomly(&w);
            if (all->reads && world_random(&w, 8) == 0)
                change_completeness(&w);
            now_ms += world_random(&w, 5000);
            if (world_random(&w, 2) == 0)
                continue;
            world_run(&w, now_ms);
            record_all(&w, all, false);
        }
        world_run(&w, now_ms);
        record_all(&w, all, false);
        for (size_t i = 0; i < all->count; i++) {
            check_chain(engine_transitions(w.engine), &all->items[i], seed);
            kept += all->items[i].count - 1;
        }
        assert_true(kept > 10);
        release_witnesses(&w, all);
        free(all);
        world_release(&w);
    }
}

/* ---- limit of transitions ---- */

enum { LOGGED_MAX = 20 * CHANGES };

/* Texts of all transitions so far, by number. */
struct log {
    char *lines[LOGGED_MAX];
};

static char *describe_transition(const struct transition *x)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(DUMP_MAX);
    size_t len;

    strbuf_addf(&out, "%" PRId64 " %s %s/%s", x->time_ms, cause_names[x->cause],
                entry_ns(x->template), x->template->name);
    dump_moment(&out, &x->before);
    return strbuf_take(&out, &len);
}

/*
 * Logs new transitions. Asserts that logged ones are unchanged, and that no transition is missing
 * between the oldest and the newest one kept.
 */
static void check_log(const struct transitions *t, struct log *log, uint64_t *last)
{
    uint64_t below = UINT64_MAX, newest = *last, oldest = UINT64_MAX;
    struct transition x;

    for (bool first = true; transitions_next(t, &below, &x); first = false) {
        char *line = describe_transition(&x);

        assert_true(x.number < oldest && x.number < LOGGED_MAX);
        for (uint64_t i = x.number + 1; i < oldest && oldest != UINT64_MAX; i++)
            assert_null(log->lines[i]);
        oldest = x.number;
        newest = first ? x.number : newest;
        if (x.number > *last) {
            log->lines[x.number] = line;
            continue;
        }
        assert_string_equal(log->lines[x.number], line);
        free(line);
    }
    *last = newest;
}

static void run_with_limit(uint32_t seed, size_t limit, struct log *log)
{
    int64_t now_ms = START_MS;
    const struct transitions *t;
    uint64_t last = 0;
    struct world w;

    world_init(&w, &rules_options_default, seed);
    engine_keep_transitions(w.engine, limit);
    t = engine_transitions(w.engine);
    for (size_t i = 0; i < CHANGES; i++) {
        change_randomly(&w);
        now_ms += world_random(&w, 900);
        if (world_random(&w, 3) == 0)
            engine_run(w.engine, now_ms, world_random(&w, 10));
        assert_true(transitions_count(t) <= limit);
        if (world_random(&w, 2) != 0)
            continue;
        world_run(&w, now_ms);
        check_log(t, log, &last);
    }
    assert_true(last > 40);
    assert_int_equal(transitions_count(t), last < limit ? transitions_count(t) : limit);
    assert_true(last > limit ? transitions_complete_since_ms(t) > START_MS &&
                                   transitions_complete_since_ms(t) <= now_ms
                             : transitions_complete_since_ms(t) == transitions_start_ms(t));
    world_release(&w);
}

TEST(the_oldest_transitions_are_dropped_first)
{
    static const size_t limits[] = {1, 2, 7, 60, 1023, 1024, 1025, MANY};

    for (uint32_t seed = 1; seed <= HISTORIES; seed++) {
        struct log *log = xcalloc(1, sizeof(*log));

        run_with_limit(seed, limits[seed % ARRAY_LEN(limits)], log);
        for (size_t i = 0; i < LOGGED_MAX; i++)
            free(log->lines[i]);
        free(log);
    }
}

/* ---- one change ---- */

struct cause_case {
    const char *title;
    const char *put[6]; /* Objects put before transitions are kept. */
    const char *then;   /* Object put then; may be NULL. */
    const char *gone;   /* Deployment deleted then; may be NULL. */
    int64_t pass_ms;
    enum cause cause;
    bool before;
    enum template_state from;
    bool after;
    enum template_state to;
};

#define BOUND                                                                                      \
    {                                                                                              \
        POLICY("p", SELECTS("web") "," ON("a")), TEMPLATE("web", "," CLAIM("p")),                  \
            BINDING("web", "p", "a")                                                               \
    }

static const struct cause_case cause_cases[] = {
    {"a new template",
     {NULL},
     TEMPLATE("web", ""),
     NULL,
     0,
     CAUSE_TEMPLATE,
     false,
     0,
     true,
     STATE_PENDING},
    {"a deleted template", BOUND, NULL, "web", 0, CAUSE_TEMPLATE, true, STATE_CURRENT, false, 0},
    {"a new policy",
     {TEMPLATE("web", "")},
     POLICY("p", SELECTS("web") "," ON("a")),
     NULL,
     0,
     CAUSE_POLICY,
     true,
     STATE_PENDING,
     true,
     STATE_UNBOUND},
    {"another placement of the policy", BOUND, POLICY("p", SELECTS("web") "," ON("b")), NULL, 0,
     CAUSE_POLICY, true, STATE_CURRENT, true, STATE_STALE},
    {"another placement of the binding", BOUND, BINDING("web", "p", "b"), NULL, 0, CAUSE_BINDING,
     true, STATE_CURRENT, true, STATE_STALE},
    {"the end of a grace period",
     {POLICY("p", SELECTS("web") "," ON("a")), TEMPLATE("web", "," CLAIM("p")),
      BINDING("web", "p", "a"), POLICY("p", SELECTS("web") "," ON("b"))},
     NULL,
     NULL,
     3600 * 1000,
     CAUSE_TIME,
     true,
     STATE_STALE,
     true,
     STATE_STALE},
};

TEST_ROWS(a_transition_has_its_cause, cause_cases, title)
{
    const struct cause_case *c = *state;
    uint64_t below = UINT64_MAX;
    struct transition x;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    for (size_t i = 0; i < ARRAY_LEN(c->put) && c->put[i]; i++)
        world_put_text(&w, c->put[i]);
    world_run(&w, START_MS);
    engine_keep_transitions(w.engine, 10);
    world_run(&w, START_MS);
    if (c->then)
        world_put_text(&w, c->then);
    if (c->gone)
        store_remove(w.store, world_find(&w, "apps/v1", "Deployment", "default", c->gone));
    world_run(&w, START_MS + 5000 + c->pass_ms);
    assert_true(transitions_next(engine_transitions(w.engine), &below, &x));
    assert_string_equal(cause_names[x.cause], cause_names[c->cause]);
    assert_string_equal(x.template->name, "web");
    assert_true(x.time_ms == START_MS + 5000 + c->pass_ms);
    assert_int_equal(x.before.decided, c->before);
    assert_int_equal(x.before.state, c->from);
    assert_int_equal(x.after.decided, c->after);
    assert_int_equal(x.after.state, c->to);
    assert_false(transitions_next(engine_transitions(w.engine), &below, &x));
    world_release(&w);
}

/* The template is also put again without a change, before and after the policy. */
TEST(the_first_of_two_causes_in_the_table_wins)
{
    uint64_t below = UINT64_MAX;
    struct transition x;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, TEMPLATE("web", ""));
    world_run(&w, START_MS);
    engine_keep_transitions(w.engine, 10);
    world_put_text(&w, TEMPLATE("web", ""));
    world_put_text(&w, POLICY("p", SELECTS("web") "," ON("a")));
    world_put_text(&w, TEMPLATE("web", ""));
    world_put_text(&w, TEMPLATE("new", ""));
    world_run(&w, START_MS + 2000);
    while (transitions_next(engine_transitions(w.engine), &below, &x))
        assert_int_equal(x.cause, strcmp(x.template->name, "web") ? CAUSE_TEMPLATE : CAUSE_POLICY);
    assert_int_equal(transitions_count(engine_transitions(w.engine)), 2);
    world_release(&w);
}

/* A deleted template and its deleted policy keep their names while a transition refers to them. */
TEST(deleted_objects_keep_their_names_in_transitions)
{
    uint64_t below = UINT64_MAX;
    const struct transitions *t;
    struct transition x;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    engine_keep_transitions(w.engine, 2);
    t = engine_transitions(w.engine);
    world_put_text(&w, POLICY("p", SELECTS("web") "," ON("a")));
    world_put_text(&w, TEMPLATE("web", ""));
    world_run(&w, START_MS);
    store_remove(w.store, world_find(&w, "apps/v1", "Deployment", "default", "web"));
    store_remove(w.store,
                 world_find(&w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "default", "p"));
    world_run(&w, START_MS + 2000);
    assert_true(transitions_next(t, &below, &x));
    assert_string_equal(x.template->name, "web");
    assert_string_equal(x.before.policy->name, "p");
    assert_false(x.after.decided);
    for (unsigned i = 0; i < 2; i++) {
        world_put_text(&w, i ? TEMPLATE("two", "") : TEMPLATE("one", ""));
        world_run(&w, START_MS + 4000);
    }
    assert_null(world_find(&w, "apps/v1", "Deployment", "default", "web"));
    assert_null(world_find(&w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "default", "p"));
    world_release(&w);
}

/* ---- templates with transitions ---- */

/* Returns the number of templates that the history returns; *last is the last one. */
static size_t count_templates(const struct transitions *t, int64_t after_ms,
                              const struct entry **last)
{
    const struct entry *template;
    uint64_t at = 0;
    size_t count = 0;

    while ((template = transitions_next_template(t, after_ms, &at)) != NULL) {
        *last = template;
        count++;
    }
    return count;
}

TEST(a_template_with_many_transitions_is_returned_once)
{
    enum { TRANSITIONS = 2000 };
    const struct entry *last = NULL;
    int64_t now_ms = START_MS;
    struct world w;

    assert_int_equal(count_templates(NULL, 0, &last), 0);
    world_init(&w, &rules_options_default, 1);
    engine_keep_transitions(w.engine, 2 * TRANSITIONS);
    assert_int_equal(count_templates(engine_transitions(w.engine), 0, &last), 0);
    world_put_text(&w, TEMPLATE("web", ""));
    world_put_text(&w, TEMPLATE("other", ""));
    world_run(&w, now_ms);
    for (unsigned i = 1; i <= TRANSITIONS; i++) {
        world_put_text(&w, i % 2 ? TEMPLATE("web", "," CLAIM("a")) : TEMPLATE("web", ""));
        world_run(&w, now_ms += 2000);
    }
    assert_int_equal(transitions_count(engine_transitions(w.engine)), TRANSITIONS + 2);
    assert_int_equal(count_templates(engine_transitions(w.engine), START_MS - 1, &last), 2);
    assert_int_equal(count_templates(engine_transitions(w.engine), START_MS, &last), 1);
    assert_string_equal(last->name, "web");
    assert_int_equal(count_templates(engine_transitions(w.engine), now_ms, &last), 0);
    world_release(&w);
}

/* ---- changes that are no transition ---- */

TEST(no_transition_is_kept_by_default)
{
    uint64_t below = UINT64_MAX;
    struct transition x;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    random_objects(&w, CHANGES);
    world_run(&w, START_MS);
    assert_null(engine_transitions(w.engine));
    assert_false(transitions_next(NULL, &below, &x));
    engine_keep_transitions(w.engine, 100);
    assert_int_equal(transitions_count(engine_transitions(w.engine)), 0);
    assert_true(transitions_start_ms(engine_transitions(w.engine)) == START_MS);
    engine_keep_transitions(w.engine, 0);
    assert_null(engine_transitions(w.engine));
    world_release(&w);
}

TEST(a_change_undone_within_one_run_is_no_transition)
{
    uint64_t below = UINT64_MAX;
    struct transition x;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, TEMPLATE("web", ""));
    world_put_text(&w, TEMPLATE("other", ""));
    world_run(&w, START_MS);
    engine_keep_transitions(w.engine, 100);
    world_put_text(&w, POLICY("p", SELECTS("web") "," ON("a")));
    /* Two steps evaluate the policy and the template web; the template other waits. */
    world_put_text(&w, TEMPLATE("other", ""));
    assert_false(engine_run(w.engine, START_MS + 10, 2));
    assert_true(transitions_count(engine_transitions(w.engine)) > 0);
    store_remove(w.store,
                 world_find(&w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "default", "p"));
    world_run(&w, START_MS + 20);
    assert_false(transitions_next(engine_transitions(w.engine), &below, &x));
    world_release(&w);
}

TEST(a_simulation_causes_no_transition)
{
    for (uint32_t seed = 1; seed <= 20; seed++) {
        const struct transitions *t;
        struct error err;
        struct plan *p;
        struct world w;
        size_t count;

        world_init(&w, &rules_options_default, seed);
        random_objects(&w, CHANGES);
        world_run(&w, START_MS);
        engine_keep_transitions(w.engine, MANY);
        t = engine_transitions(w.engine);
        world_put_text(&w, TEMPLATE("fresh", ""));
        world_run(&w, START_MS + 5000);
        count = transitions_count(t);
        assert_true(count > 0);
        cJSON *policy = cJSON_Parse(POLICY("p", SELECTS("fresh") "," ON("a")));
        p = plan_new(w.engine);
        assert_true(plan_apply(p, policy, &err));
        assert_non_null(plan_finish(p));
        plan_free(p);
        cJSON_Delete(policy);
        world_run(&w, START_MS + 7000);
        assert_int_equal(transitions_count(t), count);
        world_release(&w);
    }
}

/* Templates of a kind that becomes complete have no transition. Later changes are transitions. */
TEST(a_kind_that_becomes_complete_causes_no_transition)
{
    uint64_t below = UINT64_MAX;
    struct transition x;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_run(&w, START_MS);
    engine_keep_transitions(w.engine, 100);
    engine_set_incomplete(w.engine, "apps/v1", "Deployment", true);
    world_put_text(&w, TEMPLATE("web", ""));
    world_run(&w, START_MS + 2000);
    world_put_text(&w, TEMPLATE("late", ""));
    engine_set_incomplete(w.engine, "apps/v1", "Deployment", false);
    world_run(&w, START_MS + 4000);
    assert_int_equal(transitions_count(engine_transitions(w.engine)), 0);
    world_put_text(&w, POLICY("p", SELECTS("web") "," ON("a")));
    world_run(&w, START_MS + 6000);
    /* The template late is pending for another reason now. */
    for (unsigned i = 0; i < 2; i++) {
        assert_true(transitions_next(engine_transitions(w.engine), &below, &x));
        assert_int_equal(x.cause, CAUSE_POLICY);
        assert_true(x.before.decided);
    }
    assert_false(transitions_next(engine_transitions(w.engine), &below, &x));
    world_release(&w);
}

/* ---- texts ---- */

struct words_case {
    const char *title;
    struct moment before;
    struct moment after;
    const char *text;
};

#define PENDING                                                                                    \
    .decided = true, .state = STATE_PENDING, .reason = PENDING_NO_MATCH, .stage = STAGE_UNMATCHED
#define STALE .decided = true, .state = STATE_STALE, .reason = STALE_POLICY_UPDATED

static const struct words_case words_cases[] = {
    {"a new template", {0}, {PENDING}, "created: pending (no_match)"},
    {"a deleted template",
     {STALE, .phase = PHASE_OVERDUE},
     {0},
     "deleted; before: stale (policy_updated) overdue"},
    {"another state",
     {PENDING},
     {STALE, .stage = STAGE_UNMATCHED},
     "state pending (no_match) to stale (policy_updated) deferred"},
    {"another phase",
     {STALE},
     {STALE, .phase = PHASE_OVERDUE},
     "state stale (policy_updated) deferred to stale (policy_updated) overdue"},
    {"another stage",
     {PENDING},
     {PENDING, .stage_reason = WHY_WAITING},
     "stage unmatched to unmatched (waiting)"},
    {"other numbers",
     {STALE, .version = 2, .clusters = 1},
     {STALE, .version = 3, .clusters = 2},
     "version 2 to 3; number of clusters 1 to 2"},
    {"other clusters",
     {STALE, .version = 2, .clusters = 1},
     {STALE, .clusters = 1, .cluster_hash = 2},
     "version 2 to 0; other clusters"},
};

TEST_ROWS(the_text_names_the_changed_parts, words_cases, title)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(DUMP_MAX);
    const struct words_case *c = *state;
    const struct transition x = {.before = c->before, .after = c->after};

    transition_add_text(&out, &x);
    assert_string_equal(out.data, c->text);
}

/* ---- memory ---- */

/* The pool of the store grows by a mebibyte: ten bytes for each of these transitions. */
TEST(a_kept_transition_takes_at_most_64_bytes)
{
    enum { LIMIT = 100000, TEMPLATES = 100 };
    size_t before, each;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    for (unsigned i = 0; i < TEMPLATES; i++) {
        char json[256];

        snprintf(json, sizeof(json),
                 "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": "
                 "\"c-%u\", \"namespace\": \"default\"}}",
                 i);
        world_put_text(&w, json);
    }
    world_run(&w, START_MS);
    engine_keep_transitions(w.engine, LIMIT);
    before = heap_bytes();
    for (unsigned i = 1; transitions_count(engine_transitions(w.engine)) < LIMIT; i++) {
        static const char policy[] =
            "{\"apiVersion\": \"policy.karmada.io/v1alpha1\", \"kind\": \"PropagationPolicy\", "
            "\"metadata\": {\"name\": \"p\", \"namespace\": \"default\"}, \"spec\": "
            "{\"resourceSelectors\": [{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\"}]}}";

        if (i % 2)
            world_put_text(&w, policy);
        else
            store_remove(w.store, world_find(&w, "policy.karmada.io/v1alpha1", "PropagationPolicy",
                                             "default", "p"));
        world_run(&w, START_MS + i * INT64_C(2000));
    }
    each = (heap_bytes() - before) / LIMIT;
    print_message("%zu bytes a transition\n", each);
    if (HEAP_COUNTS)
        assert_in_range(each, 42, 64);
    world_release(&w);
}
