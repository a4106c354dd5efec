/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/registry.h"

#include "metrics/base/timestamp.h"
#include "metrics/expose/policy_names.h"
#include "tests/unit/page.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"

/* Builds with AddressSanitizer run more histories. Others are run often, so they run few. */
#ifdef __SANITIZE_ADDRESS__
enum { HISTORIES = 1000 };
#else
enum { HISTORIES = 80 };
#endif
enum { CHANGES = 200, ROWS_MAX = 4096 };

struct variant {
    const char *name;
    struct rules_options rules;
    struct registry_options series;
};

static struct variant variants[] = {
    {"preemption",
     {.takeover = TAKEOVER_PREEMPTION,
      .grace_ms = 60 * 1000,
      .skipped_namespaces = "kube-.*",
      .skipped_apis = ""},
     {.detail_limit = 1000, .policy_limit = 1000}},
    {"static",
     {.takeover = TAKEOVER_STATIC,
      .grace_ms = 0,
      .skipped_namespaces = "",
      .skipped_apis = "v1/Secret"},
     {.detail_limit = 1000, .policy_limit = 1000, .opt_in = true}},
    {"few details and policies",
     {.takeover = TAKEOVER_PREEMPTION, .grace_ms = 0, .skipped_namespaces = "", .skipped_apis = ""},
     {.detail_limit = 2, .policy_limit = 2}},
    {"one namespace",
     {.takeover = TAKEOVER_PREEMPTION, .grace_ms = 0, .skipped_namespaces = "", .skipped_apis = ""},
     {.detail_limit = 1, .policy_limit = 1000}},
    {"no details nor policies",
     {.takeover = TAKEOVER_PREEMPTION, .grace_ms = 0, .skipped_namespaces = "", .skipped_apis = ""},
     {.detail_limit = 0, .policy_limit = 0}},
};

/* Expected value of a series, computed from the decisions. */
struct expected {
    char text[512];
    int64_t value;
    bool seconds;
};

struct oracle {
    struct expected rows[ROWS_MAX];
    size_t count;
};

static struct expected *find_or_add_expected(struct oracle *o, const char *text)
{
    size_t i = 0;

    while (i < o->count && strcmp(o->rows[i].text, text) != 0)
        i++;
    if (i == o->count) {
        assert_true(o->count < ROWS_MAX);
        snprintf(o->rows[o->count++].text, sizeof(o->rows[0].text), "%s", text);
    }
    return &o->rows[i];
}

static void PRINTF_LIKE(3, 4) expect_count(struct oracle *o, int64_t value, const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    find_or_add_expected(o, text)->value += value;
}

static void expect_oldest(struct oracle *o, int64_t since_ms, const char *text)
{
    struct expected *row = find_or_add_expected(o, text);

    if (!row->seconds || since_ms < row->value)
        row->value = since_ms;
    row->seconds = true;
}

static void expect_oldest_by_label(struct oracle *o, int64_t since_ms, const char *family,
                                   const char *label, const char *value)
{
    char text[512];

    if (since_ms == 0)
        return;
    snprintf(text, sizeof(text), "%s{%s=\"%s\"}", family, label, value);
    expect_oldest(o, since_ms, text);
}

#define POLICY_LABEL_NAMES "policy_kind=\"%s\",policy_namespace=\"%s\",policy=\"%s\""

static void count_relation(struct oracle *o, const struct entry *policy, const char *relation)
{
    if (policy)
        expect_count(o, 1,
                     "karmada_propagationpolicy_templates{" POLICY_LABEL_NAMES ",relation=\"%s\"}",
                     entry_kind(policy), entry_ns(policy), policy->name, relation);
}

static void expect_relations(struct oracle *o, const struct template_decision *d)
{
    static const char *const steps[] = {"", "kind", "priority", "selector", "name"};
    struct candidate first, second;
    enum rank_step step;
    size_t eligible = 0;

    count_relation(o, decision_claimed(d), "claimed");
    count_relation(o, decision_winner(d), "won");
    for (uint32_t i = 0; i < d->candidate_count; i++) {
        const struct candidate c = decision_candidate(d, i);

        eligible += candidate_eligible(&c);
        if (c.excluded)
            count_relation(o, c.policy, "excluded");
        else if (!c.deleting && !c.refused)
            count_relation(o, c.policy, "selected");
    }
    if (eligible < 2)
        return;
    first = decision_candidate(d, 0);
    second = decision_candidate(d, 1);
    candidate_compare(&first, &second, &step);
    expect_count(o, 1, "karmada_propagationpolicy_overlaps{decided_by=\"%s\"}", steps[step]);
}

static void expect_template(struct oracle *o, const struct entry *entry)
{
    const struct template_decision *d = template_decision(entry);
    const char *group = entry_type(entry)->group;
    const char *reason = reason_name(d->state, d->reason);
    struct policy_name policy = policy_name_of(policy_of_stale_template(d));

    if (d->state == STATE_UNBOUND)
        expect_count(o, 1, "karmada_templates_unbound{reason=\"%s\"}", reason);
    if (d->state == STATE_UNBOUND && decision_since_ms(d) > 0)
        expect_oldest(o, decision_since_ms(d),
                      "karmada_templates_unbound_oldest_timestamp_seconds");
    expect_count(o, entry_defects(entry) >> DEFECT_NAME_COLLISION & 1,
                 "karmada_binding_name_collisions");
    expect_count(o, entry_defects(entry) >> DEFECT_DANGLING_CLAIM & 1,
                 "karmada_dangling_claims{holder=\"template\"}");
    expect_count(o, 1, "karmada_templates{api_group=\"%s\",kind=\"%s\",state=\"%s\"}", group,
                 entry_kind(entry), state_names[d->state]);
    expect_count(o, 1, "karmada_templates_stage{stage=\"%s\",reason=\"%s\"}",
                 stage_names[d->stages.at.stage], stage_reason_names[d->stages.at.reason]);
    expect_count(o, 1, "karmada_namespace_templates_stage{namespace=\"%s\",stage=\"%s\"}",
                 entry_ns(entry), stage_names[d->stages.at.stage]);
    if (d->stages.delivery.stage != STAGE_NONE)
        expect_count(o, 1, "karmada_templates_delivery{stage=\"%s\",reason=\"%s\"}",
                     stage_names[d->stages.delivery.stage],
                     stage_reason_names[d->stages.delivery.reason]);
    expect_count(o, 1, "karmada_namespace_templates{namespace=\"%s\",state=\"%s\"}",
                 entry_ns(entry), state_names[d->state]);
    expect_count(o, d->state == STATE_STALE && d->phase == PHASE_OVERDUE,
                 "karmada_templates_overdue");
    if (d->state == STATE_STALE) {
        expect_count(o, 1,
                     "karmada_templates_stale{" POLICY_LABEL_NAMES ",reason=\"%s\",phase=\"%s\"}",
                     policy.kind, policy.ns, policy.name, reason, phase_names[d->phase]);
        expect_oldest_by_label(o, decision_since_ms(d),
                               "karmada_templates_stale_oldest_timestamp_seconds", "phase",
                               phase_names[d->phase]);
        for (unsigned i = 0; i < DRIFT_FIELD_COUNT; i++)
            expect_count(o, d->fields >> i & 1, "karmada_templates_stale_field{field=\"%s\"}",
                         drift_field_names[i]);
    }
    if (d->state == STATE_PENDING) {
        expect_count(o, 1, "karmada_templates_pending{api_group=\"%s\",kind=\"%s\",reason=\"%s\"}",
                     group, entry_kind(entry), reason);
        expect_oldest_by_label(o, decision_since_ms(d),
                               "karmada_templates_pending_oldest_timestamp_seconds", "reason",
                               reason);
    }
    if (d->state == STATE_IGNORED)
        expect_count(o, 1, "karmada_templates_ignored{reason=\"%s\"}", reason);
    else
        expect_relations(o, d);
}

static void expect_dependency(struct oracle *o, const struct entry *entry)
{
    const struct dependency_decision *d = dependency_decision(entry);

    for (unsigned i = 0; d && i < DEPENDENCY_FIELD_COUNT; i++) {
        const char *field = dependency_field_names[i];

        expect_count(o, d->fields[i].conflict, "karmada_dependency_conflicts{field=\"%s\"}", field);
        expect_count(o, d->fields[i].predicted,
                     "karmada_dependency_conflicts_predicted{field=\"%s\"}", field);
        expect_count(o, d->fields[i].unapplied,
                     "karmada_dependency_unapplied_resolutions{field=\"%s\"}", field);
        expect_count(o, d->fields[i].overridden, "karmada_dependency_overridden{field=\"%s\"}",
                     field);
        if (d->fields[i].conflict)
            expect_oldest_by_label(o, d->since_ms,
                                   "karmada_dependency_conflict_oldest_timestamp_seconds", "field",
                                   field);
    }
    if (!d)
        return;
    expect_count(o, d->dangling, "karmada_dependency_dangling_references");
    expect_count(o, d->attached && d->referrers > 1, "karmada_dependency_shared_bindings");
    expect_count(o, d->fields[0].conflict || d->fields[1].conflict,
                 "karmada_dependency_conflicted_bindings");
}

static void expect_binding(struct oracle *o, const struct entry *entry)
{
    bool wide = entry_is_cluster_scoped(entry);

    expect_count(o, entry_defects(entry) >> DEFECT_DANGLING_CLAIM & 1,
                 "karmada_dangling_claims{holder=\"binding\"}");
    expect_count(o, entry_defects(entry) >> DEFECT_MISSING_TEMPLATE & 1,
                 "karmada_bindings_without_template{scope=\"%s\"}",
                 wide ? "cluster" : "namespaced");
}

/* Must be called after the calls for all templates, because it uses their counts. */
static void expect_policy(struct oracle *o, const struct entry *entry)
{
    char selected[512];

    snprintf(selected, sizeof(selected),
             "karmada_propagationpolicy_templates{" POLICY_LABEL_NAMES ",relation=\"selected\"}",
             entry_kind(entry), entry_ns(entry), entry->name);
    expect_count(o, find_or_add_expected(o, selected)->value == 0,
                 "karmada_propagationpolicy_unused{policy_kind=\"%s\"}", entry_kind(entry));
    for (unsigned i = 0; i < POLICY_PROBLEM_COUNT; i++)
        expect_count(o, policy_decision(entry)->problems >> i & 1,
                     "karmada_propagationpolicy_invalid{reason=\"%s\"}", policy_problem_names[i]);
}

/* Counts policies with stale templates by reason and phase; must be called after all templates. */
static void expect_not_in_force(struct oracle *o)
{
    static const char stale[] = "karmada_templates_stale{";

    for (size_t i = 0; i < o->count; i++) {
        const char *text = o->rows[i].text;

        if (strncmp(text, stale, strlen(stale)) == 0)
            expect_count(o, 1, "karmada_propagationpolicies_not_in_force{%s",
                         strstr(text, ",reason=\"") + 1);
    }
}

/*
 * Returns true for a row by policy or by namespace. Such rows are left out if they are 0, or if
 * there are more policies or namespaces than `*limit`.
 */
static bool is_limited(const struct expected *row, const struct registry_options *limits,
                       size_t *limit)
{
    bool by_namespace = strncmp(row->text, "karmada_namespace_", strlen("karmada_namespace_")) == 0;

    *limit = by_namespace ? limits->detail_limit : limits->policy_limit;
    return by_namespace || (strstr(row->text, "{policy_kind=") && strstr(row->text, ",policy="));
}

static void expect_class(struct oracle *o, const struct world *w, enum object_class class,
                         void (*each)(struct oracle *o, const struct entry *entry))
{
    for (const struct type *type = store_first_type(w->store); type; type = type->next) {
        if (type->def->class != class)
            continue;
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type) {
            for (size_t i = 0; i < partition->count; i++) {
                if (entry_object(partition_entry(partition, i)))
                    each(o, partition_entry(partition, i));
            }
        }
    }
}

static void check_against_oracle(const struct world *w, const char *page,
                                 const struct registry_options *limits)
{
    struct oracle *o = xcalloc(1, sizeof(*o));
    size_t limit;

    expect_class(o, w, CLASS_TEMPLATE, expect_template);
    expect_class(o, w, CLASS_TEMPLATE, expect_dependency);
    expect_class(o, w, CLASS_BINDING, expect_dependency);
    expect_class(o, w, CLASS_BINDING, expect_binding);
    expect_class(o, w, CLASS_POLICY, expect_policy);
    expect_not_in_force(o);
    for (size_t i = 0; i < o->count; i++) {
        char value[32];
        struct expected *row = &o->rows[i];

        if (row->seconds)
            snprintf(value, sizeof(value), "%.13g", (double)row->value / 1000);
        else
            snprintf(value, sizeof(value), "%" PRId64, row->value);
        if (!is_limited(row, limits, &limit) || (row->value > 0 && limit > 100))
            page_has(page, row->text, value);
        else if (limit > 100)
            page_lacks(page, row->text);
    }
    free(o);
}

/* Returns the page of a new engine that gets the same objects in the opposite order. */
static char *fresh_page(const struct variant *v, const struct world *old, cJSON *const *objects,
                        int64_t now_ms)
{
    struct world w;

    world_init(&w, &v->rules, 99);
    struct registry *r = page_registry(&w, &v->series);
    for (size_t i = CHANGES; i > 0; i--) {
        if (objects[i - 1])
            world_put(&w, objects[i - 1]);
    }
    world_inherit(&w, old);
    world_run(&w, now_ms);
    char *page = page_of(r);
    registry_free(r);
    world_release(&w);
    return page;
}

/* Deletes the object of an entry from the list, because the object is changed or removed. */
static void delete_object(const struct world *w, cJSON **objects, const struct entry *entry)
{
    for (size_t i = 0; i < CHANGES; i++) {
        struct identity id;
        struct error err;

        if (!objects[i])
            continue;
        assert_true(identity_read(objects[i], &id, &err));
        if (store_find(w->store, &id) != entry)
            continue;
        cJSON_Delete(objects[i]);
        objects[i] = NULL;
    }
}

static void apply_random_change(struct world *w, cJSON **objects, size_t step)
{
    struct entry *gone = world_random(w, 4) == 0 ? world_pick(w) : NULL;

    if (gone) {
        delete_object(w, objects, gone);
        store_remove(w->store, gone);
        return;
    }

    cJSON *object = random_object(w);
    struct identity id;
    struct error err;

    world_put(w, object);
    assert_true(identity_read(object, &id, &err));
    delete_object(w, objects, store_find(w->store, &id));
    objects[step] = object;
}

static void run_history(const struct variant *v, uint32_t seed)
{
    cJSON *objects[CHANGES] = {NULL};
    struct world w;
    int64_t now_ms;

    assert_true(parse_timestamp("2026-01-01T00:00:00Z", &now_ms));
    world_init(&w, &v->rules, seed);
    struct registry *r = page_registry(&w, &v->series);
    for (size_t i = 0; i < CHANGES; i++) {
        apply_random_change(&w, objects, i);
        now_ms += world_random(&w, 2000);
        if (world_random(&w, 3) == 0)
            engine_run(w.engine, now_ms, world_random(&w, 20));
        if (world_random(&w, 8) == 0)
            free(page_of(r));
    }
    world_run(&w, now_ms);

    CLEANUP(free_cleanup) char *page = page_of(r);
    CLEANUP(free_cleanup) char *fresh = fresh_page(v, &w, objects, now_ms);
    check_against_oracle(&w, page, &v->series);
    page_drop_history(page);
    page_drop_history(fresh);
    if (strcmp(page, fresh) != 0)
        fail_msg("history %u differs:\n%s\nfresh:\n%s", seed, page, fresh);
    for (size_t i = 0; i < CHANGES; i++)
        cJSON_Delete(objects[i]);
    registry_free(r);
    world_release(&w);
}

TEST_ROWS(page_after_changes_equals_a_fresh_page, variants, name)
{
    for (uint32_t seed = 1; seed <= HISTORIES / ARRAY_LEN(variants); seed++)
        run_history(*state, seed);
}

/* A registry, and one template with a decision that the test sets. */
struct hand {
    struct world w;
    struct registry *r;
    struct entry *entry;
    struct template_decision *decision;
};

static void hand_init(struct hand *h, const char *ns, const struct registry_options *options)
{
    char json[512];

    snprintf(json, sizeof(json),
             "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"shared\","
             "\"namespace\":\"%s\"}}",
             ns);
    world_init(&h->w, &rules_options_default, 1);
    h->r = registry_new(h->w.engine, options, 7);
    world_put_text(&h->w, json);
    h->entry = partition_entry(store_first_type(h->w.store)->partitions, 0);
    struct pool *memory = intern_memory(store_string_pool(h->w.store));
    h->decision = template_decision_add_parts(
        template_decision_new(memory, NULL, 0, 0),
        (struct decision_parts){.dependency =
                                    pool_alloc_zeroed(memory, sizeof(struct dependency_decision))});
    h->decision->state = STATE_ATTACHED;
    entry_set_decision(h->entry, h->decision);
}

static void hand_release(struct hand *h)
{
    registry_free(h->r);
    world_release(&h->w);
}

static void set_conflict(struct hand *h, bool value)
{
    decision_dependency(h->decision)->fields[DEPENDENCY_PRESERVE].conflict = value;
    registry_update_entry(h->r, h->entry);
}

/* Returns the texts of all series of a set, one a line. */
static char *texts_of(const struct label_set *set)
{
    struct strbuf out = STRBUF_INIT(4096);

    for (unsigned i = 0; i < set->family->series_count; i++) {
        series_add_text(&out, &set->series[i]);
        strbuf_addc(&out, '\n');
    }
    return strbuf_take(&out, NULL);
}

/* Only sets that a page shows keep their texts; a text is the same either way. */
TEST(the_text_of_a_series_does_not_depend_on_whether_it_is_kept)
{
    CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(512);
    struct family_state f;

    family_state_init(&f, family_find("karmada_propagationpolicy_generation"), 1);
    label_key_add(&key, "policy_kind", "PropagationPolicy");
    label_key_add(&key, "policy_namespace", "a\"b");
    label_key_add(&key, "policy", "p");
    struct label_set *set = family_state_find_or_add_set(&f, &key);
    CLEANUP(free_cleanup) char *before = texts_of(set);
    family_state_keep_texts(&f, 1);
    assert_non_null(set->texts);
    CLEANUP(free_cleanup) char *kept = texts_of(set);
    assert_string_equal(kept, before);
    family_state_keep_texts(&f, 0);
    assert_null(set->texts);
    family_state_keep_texts(&f, 1);
    set->folded = true;
    family_state_keep_texts(&f, 1);
    assert_null(set->texts);
    CLEANUP(free_cleanup) char *after = texts_of(set);
    assert_string_equal(after, before);
    family_state_release(&f);
}

/* A policy is added and removed. The first evaluation of a template is no transition. */
TEST(transitions_between_states_are_counted)
{
    static const char there[] =
        "karmada_template_transitions_total{from=\"pending\",to=\"unbound\"}";
    static const char back[] =
        "karmada_template_transitions_total{from=\"unbound\",to=\"pending\"}";
    static const char policy[] =
        "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\","
        "\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\"},\"spec\":{\"resourceSelectors\":["
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}]}}";
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct registry *r = page_registry(&w, &registry_options_default);
    world_put_text(&w, "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{"
                       "\"name\":\"web\",\"namespace\":\"ns\"}}");
    for (unsigned round = 0; round < 3; round++) {
        char count[8];

        world_run(&w, 0);
        CLEANUP(free_cleanup) char *page = page_of(r);

        snprintf(count, sizeof(count), "%u", round);
        page_has(page, there, count);
        page_has(page, back, count);
        world_put_text(&w, policy);
        world_run(&w, 0);
        store_remove(w.store,
                     world_find(&w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "ns", "p"));
    }
    registry_free(r);
    world_release(&w);
}

TEST(conflict_transitions_count_onsets_only)
{
    static const char family[] =
        "karmada_dependency_conflict_transitions_total{field=\"PreserveResourcesOnDeletion\"}";
    struct hand h;

    hand_init(&h, "default", &registry_options_default);
    registry_update_entry(h.r, h.entry);
    CLEANUP(free_cleanup) char *before = page_of(h.r);
    page_has(before, family, "0");
    set_conflict(&h, true);
    decision_dependency(h.decision)->referrers = 5; /* Other contributions, the same conflict. */
    decision_dependency(h.decision)->attached = true;
    set_conflict(&h, true);
    CLEANUP(free_cleanup) char *during = page_of(h.r);
    page_has(during, family, "1");
    set_conflict(&h, false);
    set_conflict(&h, true);
    set_conflict(&h, false);
    CLEANUP(free_cleanup) char *after = page_of(h.r);
    page_has(after, family, "2");
    hand_release(&h);
}

#define EVENT(uid, count)                                                                          \
    "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"reason\":\"DependencyPolicyConflict\","           \
    "\"metadata\":{\"name\":\"shared.1\",\"namespace\":\"default\",\"uid\":\"" uid "\"},"          \
    "\"message\":\"ConflictResolution conflicted (Overwrite vs Abort)\",\"count\":" count "}"

TEST(event_total_grows_by_the_increase_of_the_count)
{
    static const struct {
        const char *json;
        const char *total;
    } steps[] = {
        {EVENT("1", "2"), "2"},
        {EVENT("1", "2"), "2"}, /* The same Event is read again. */
        {EVENT("1", "5"), "5"},
        {EVENT("2", "6"), "6"}, /* A new Event after expiry: Karmada continues the count. */
    };
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct registry *r = page_registry(&w, &registry_options_default);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        world_put_text(&w, steps[i].json);
        world_run(&w, 0);
        CLEANUP(free_cleanup) char *page = page_of(r);
        page_has(page, "karmada_dependency_conflict_events_total{field=\"ConflictResolution\"}",
                 steps[i].total);
        page_has(page,
                 "karmada_dependency_conflict_events_total{field=\"PreserveResourcesOnDeletion\"}",
                 "0");
    }
    store_remove(w.store, world_find(&w, "v1", "Event", "default", "shared.1"));
    world_run(&w, 0);
    CLEANUP(free_cleanup) char *page = page_of(r);
    page_has(page, "karmada_dependency_conflict_events_total{field=\"ConflictResolution\"}", "6");
    registry_free(r);
    world_release(&w);
}

#define TIMED(version, kind, name, time, more)                                                     \
    "{\"apiVersion\":\"" version "\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\"" name         \
    "\",\"namespace\":\"default\",\"creationTimestamp\":\"2026-01-01T00:" time "Z\"" more
#define CLAIMED                                                                                    \
    ",\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"1\"},\"annotations\":{"          \
    "\"propagationpolicy.karmada.io/name\":\"p\","                                                 \
    "\"propagationpolicy.karmada.io/namespace\":\"default\"}}"
#define DELAY_TEMPLATE(time) TIMED("apps/v1", "Deployment", "web", time, "}}")
#define DELAY_POLICY(time, more)                                                                   \
    TIMED("policy.karmada.io/v1alpha1", "PropagationPolicy", "p", time,                            \
          "},\"spec\":{" more                                                                      \
          "\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}]}}")
#define DELAY_BINDING(time, placement)                                                             \
    TIMED("work.karmada.io/v1alpha2", "ResourceBinding", "web-deployment", time,                   \
          CLAIMED ",\"spec\":{" placement                                                          \
                  "\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","              \
                  "\"namespace\":\"default\",\"name\":\"web\"}}}")
#define PLACED "\"placement\":{},"
#define LAZY   "\"activationPreference\":\"Lazy\","

/* Creation times of template, policy and binding, and the expected delays. */
static struct delay_case {
    const char *name;
    const char *objects[3];
    const char *count;
    const char *sum;
} delay_cases[] = {
    {"a policy after its template",
     {DELAY_TEMPLATE("00:00"), DELAY_POLICY("01:00", ""), DELAY_BINDING("01:07", PLACED)},
     "1",
     "7"},
    {"a template after its policy",
     {DELAY_TEMPLATE("01:00"), DELAY_POLICY("00:00", ""), DELAY_BINDING("01:07", PLACED)},
     "1",
     "7"},
    {"no delay",
     {DELAY_TEMPLATE("01:00"), DELAY_POLICY("00:00", ""), DELAY_BINDING("01:00", PLACED)},
     "1",
     "0"},
    {"a binding from before its policy",
     {DELAY_TEMPLATE("00:00"), DELAY_POLICY("01:00", ""), DELAY_BINDING("00:07", PLACED)},
     "0",
     "0"},
    {"a dependency's binding",
     {DELAY_TEMPLATE("00:00"), DELAY_POLICY("01:00", ""), DELAY_BINDING("01:07", "")},
     "0",
     "0"},
    {"a Lazy policy after its template",
     {DELAY_TEMPLATE("00:00"), DELAY_POLICY("01:00", LAZY), DELAY_BINDING("01:07", PLACED)},
     "0",
     "0"},
    {"a template after its Lazy policy",
     {DELAY_TEMPLATE("01:00"), DELAY_POLICY("00:00", LAZY), DELAY_BINDING("01:07", PLACED)},
     "1",
     "7"},
};

static void check_delay(struct registry *r, const char *count, const char *sum)
{
    CLEANUP(free_cleanup) char *page = page_of(r);

    page_has(page, "karmada_template_binding_delay_seconds_count", count);
    page_has(page, "karmada_template_binding_delay_seconds_sum", sum);
    page_has(page, "karmada_template_binding_delay_seconds_bucket{le=\"+Inf\"}", count);
}

TEST_ROWS(binding_delay_is_observed_once, delay_cases, name)
{
    const struct delay_case *c = *state;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct registry *r = page_registry(&w, &registry_options_default);
    /* The delay is observed after the last of the three objects is known. */
    for (size_t i = ARRAY_LEN(c->objects); i > 0; i--) {
        check_delay(r, "0", "0");
        world_put_text(&w, c->objects[i - 1]);
        world_run(&w, 0);
    }
    check_delay(r, c->count, c->sum);
    /* Template and policy are removed and added again, as after an interruption of the watch. */
    for (size_t i = 0; i < 2; i++) {
        cJSON *json = cJSON_Parse(c->objects[i]);
        struct identity id;
        struct error err;

        assert_true(identity_read(json, &id, &err));
        store_remove(w.store, store_find(w.store, &id));
        world_run(&w, 0);
        world_put(&w, json);
        world_run(&w, 0);
        cJSON_Delete(json);
    }
    check_delay(r, c->count, c->sum);
    registry_free(r);
    world_release(&w);
}

/*
 * A Deployment that a user changed at 00:01:00, its policy, and its binding with a generation that
 * the cluster m1 runs.
 */
#define CLAIMED_BY_P                                                                               \
    "\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"id\"},\"annotations\":{"          \
    "\"propagationpolicy.karmada.io/namespace\":\"a\",\"propagationpolicy.karmada.io/"             \
    "name\":\"p\"}"
#define CHANGED                                                                                    \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"namespace\":\"a\","       \
    "\"name\":\"web\",\"generation\":2,\"creationTimestamp\":\"2026-01-01T00:00:00Z\","            \
    "\"managedFields\":[{\"manager\":\"kubectl\",\"operation\":\"Update\",\"time\":"               \
    "\"2026-01-01T00:01:00Z\",\"fieldsV1\":{\"f:spec\":{}}}]," CLAIMED_BY_P                        \
    "},\"spec\":{\"replicas\":2}}"
#define SELECTING                                                                                  \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\",\"metadata\":{" \
    "\"namespace\":\"a\",\"name\":\"p\"," CLAIMED_BY_P "},\"spec\":{\"resourceSelectors\":["       \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}],\"placement\":{}}}"
#define DELIVERED(generation)                                                                      \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"namespace\":\"a\",\"name\":\"web-deployment\"," CLAIMED_BY_P "},\"spec\":{\"resource\":{"   \
    "\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"namespace\":\"a\",\"name\":\"web\"},"    \
    "\"replicas\":2,\"placement\":{},\"clusters\":[{\"name\":\"m1\",\"replicas\":2}]},\"status\":" \
    "{"                                                                                            \
    "\"conditions\":[{\"type\":\"Scheduled\",\"status\":\"True\"}],\"aggregatedStatus\":[{"        \
    "\"clusterName\":\"m1\",\"applied\":true,\"health\":\"Healthy\",\"status\":{"                  \
    "\"resourceTemplateGeneration\":" generation "}}]}}"

static void check_delivery(struct registry *r, const char *count, const char *sum)
{
    CLEANUP(free_cleanup) char *page = page_of(r);

    page_has(page, "karmada_template_delivery_delay_seconds_count", count);
    page_has(page, "karmada_template_delivery_delay_seconds_sum", sum);
}

/* The change is not in the binding yet. A new decision of the template is no delivery. */
TEST(delivery_delay_is_not_observed_before_the_delivery)
{
    cJSON *binding = cJSON_Parse(DELIVERED("2"));
    int64_t changed_ms;
    struct world w;

    assert_true(parse_timestamp("2026-01-01T00:01:00Z", &changed_ms));
    cJSON_AddItemToObject(
        cJSON_GetObjectItem(binding, "metadata"), "managedFields",
        cJSON_Parse("[{\"manager\":\"karmada\",\"operation\":\"Update\",\"time\":"
                    "\"2026-01-01T00:00:30Z\",\"fieldsV1\":{\"f:spec\":{\"f:resource\":{}}}}]"));
    world_init(&w, &rules_options_default, 1);
    struct registry *r = page_registry(&w, &registry_options_default);
    world_put_text(&w, SELECTING);
    world_put_text(&w, CHANGED);
    world_put(&w, binding);
    cJSON_Delete(binding);
    world_run(&w, changed_ms + 2000);
    check_delivery(r, "0", "0");
    world_put_text(&w, "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":"
                       "\"PropagationPolicy\",\"metadata\":{\"namespace\":\"a\",\"name\":\"q\"},"
                       "\"spec\":{\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
                       "\"Deployment\"}]}}");
    world_run(&w, changed_ms + 3000);
    check_delivery(r, "0", "0");
    registry_free(r);
    world_release(&w);
}

TEST(delivery_delay_is_observed_at_the_delivery)
{
    int64_t changed_ms;
    struct world w;

    assert_true(parse_timestamp("2026-01-01T00:01:00Z", &changed_ms));
    world_init(&w, &rules_options_default, 1);
    struct registry *r = page_registry(&w, &registry_options_default);
    world_put_text(&w, SELECTING);
    world_put_text(&w, CHANGED);
    world_put_text(&w, DELIVERED("1"));
    world_run(&w, changed_ms + 2000);
    check_delivery(r, "0", "0");
    world_put_text(&w, DELIVERED("2"));
    world_run(&w, changed_ms + 7000);
    check_delivery(r, "1", "7");
    /* The same status again is no new delivery. */
    world_put_text(&w, DELIVERED("2"));
    world_run(&w, changed_ms + 9000);
    check_delivery(r, "1", "7");
    /* A template that is deleted before the delivery is not counted. */
    world_put_text(&w, DELIVERED("1"));
    world_run(&w, changed_ms + 10000);
    store_remove(w.store, world_find(&w, "apps/v1", "Deployment", "a", "web"));
    world_run(&w, changed_ms + 11000);
    check_delivery(r, "1", "7");
    registry_free(r);
    world_release(&w);
}

TEST(removed_template_does_not_keep_its_entry)
{
    struct hand h;

    hand_init(&h, "default", &registry_options_default);
    registry_update_entry(h.r, h.entry);
    CLEANUP(free_cleanup) char *with = page_of(h.r);
    page_has(with, "karmada_namespace_templates{namespace=\"default\",state=\"attached\"}", "1");
    page_lacks(with, "karmada_namespace_templates{namespace=\"default\",state=\"stale\"}");
    engine_observe(h.w.engine,
                   (struct engine_observer){.decided = registry_update_entry, .context = h.r});
    store_remove(h.w.store, h.entry);
    world_run(&h.w, 0);
    assert_null(store_find(h.w.store, &(struct identity){"v1", "ConfigMap", "default", "shared"}));
    hand_release(&h);
}

TEST(removed_template_has_no_series)
{
    struct hand h;

    hand_init(&h, "default", &registry_options_default);
    registry_update_entry(h.r, h.entry);
    engine_observe(h.w.engine,
                   (struct engine_observer){.decided = registry_update_entry, .context = h.r});
    store_remove(h.w.store, h.entry);
    world_run(&h.w, 0);
    CLEANUP(free_cleanup) char *page = page_of(h.r);
    page_lacks(page, "karmada_namespace_templates{");
    page_has(page, "karmada_templates_ignored{reason=\"claimed_by\"}", "0");
    page_lacks(page, "karmada_templates_pending_oldest_timestamp_seconds{");
    hand_release(&h);
}

TEST(equal_contribution_does_not_change_the_registry)
{
    struct hand h;

    hand_init(&h, "default", &registry_options_default);
    registry_update_entry(h.r, h.entry);
    uint64_t version = registry_change_count(h.r);
    const void *contribution = entry_contribution(h.entry);
    registry_update_entry(h.r, h.entry);
    assert_int_equal(registry_change_count(h.r), version);
    assert_ptr_equal(entry_contribution(h.entry), contribution);
    h.decision->state = STATE_CURRENT;
    registry_update_entry(h.r, h.entry);
    assert_true(registry_change_count(h.r) > version);
    hand_release(&h);
}

/* The names of the namespaces are equal after the control characters are replaced. */
TEST(series_with_equal_label_values_are_added_up)
{
    struct hand h;

    hand_init(&h, "a\\u0001b", &registry_options_default);
    registry_update_entry(h.r, h.entry);
    engine_observe(h.w.engine,
                   (struct engine_observer){.decided = registry_update_entry, .context = h.r});
    world_put_text(&h.w, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                         "\"name\":\"shared\",\"namespace\":\"a\\u0002b\"}}");
    world_run(&h.w, 0);
    CLEANUP(free_cleanup) char *page = page_of(h.r);
    page_has(page,
             "karmada_namespace_templates{namespace=\"a\xef\xbf\xbd"
             "b\",state=\"pending\"}",
             "2");
    hand_release(&h);
}

TEST(details_beyond_the_limit_are_dropped)
{
    static const char info[] = "karmada_dependency_conflict_info{namespace=\"default\","
                               "api_group=\"\",kind=\"ConfigMap\",name=\"shared\",field=\"";
    static const char dropped[] = "karmada_policy_exporter_detail_series_dropped{family=\"karmada_"
                                  "dependency_conflict_info\"}";
    struct hand h;

    hand_init(&h, "default", &(struct registry_options){.detail_limit = 1});
    set_conflict(&h, true);
    CLEANUP(free_cleanup) char *one = page_of(h.r);
    page_has(one, dropped, "0");
    decision_dependency(h.decision)->fields[DEPENDENCY_CONFLICT_RESOLUTION].conflict = true;
    set_conflict(&h, true);

    CLEANUP(free_cleanup) char *two = page_of(h.r);
    char text[512];
    page_has(two, dropped, "1");
    snprintf(text, sizeof(text), "%sConflictResolution\",resolved=\"Abort\"}", info);
    page_has(two, text, "1");
    snprintf(text, sizeof(text), "%sPreserve", info);
    page_lacks(two, text);
    hand_release(&h);
}

TEST(own_families_are_set_and_cleared)
{
    struct registry *r = registry_new(NULL, &registry_options_default, 7);

    CLEANUP(free_cleanup) char *before = page_of(r);
    page_lacks(before, "process_open_fds");
    page_has(before, "karmada_policy_exporter_evaluations_total", "0");
    REGISTRY_SET(r, OWN_OPEN_FDS, 12);
    REGISTRY_SET(r, OWN_OBJECTS, 3, "deployments.apps");
    REGISTRY_SET(r, OWN_OBJECTS, 4, "configmaps");
    REGISTRY_SET(r, OWN_OPEN_FDS, 13);
    REGISTRY_SET(r, OWN_CPU_SECONDS, 0.25);
    CLEANUP(free_cleanup) char *page = page_of(r);
    page_has(page, "process_open_fds", "13");
    page_has(page, "process_cpu_seconds_total", "0.25");
    page_has(page, "karmada_policy_exporter_objects{resource=\"configmaps\"}", "4");
    registry_clear_family(r, OWN_OBJECTS);
    REGISTRY_SET(r, OWN_OBJECTS, 5, "secrets");
    CLEANUP(free_cleanup) char *cleared = page_of(r);
    page_lacks(cleared, "karmada_policy_exporter_objects{resource=\"configmaps\"}");
    page_has(cleared, "karmada_policy_exporter_objects{resource=\"secrets\"}", "5");
    registry_free(r);
}

TEST(buckets_of_a_histogram_are_cumulative)
{
#define LATENCY "karmada_policy_exporter_evaluation_duration_seconds"
    struct registry *r = registry_new(NULL, &registry_options_default, 7);

    registry_observe(r, OWN_EVALUATION_DURATION, 0.001);
    registry_observe(r, OWN_EVALUATION_DURATION, 0.25);
    registry_observe(r, OWN_EVALUATION_DURATION, 3);
    CLEANUP(free_cleanup) char *page = page_of(r);
    page_has(page, LATENCY "_bucket{le=\"0.0005\"}", "0");
    page_has(page, LATENCY "_bucket{le=\"0.001\"}", "1");
    page_has(page, LATENCY "_bucket{le=\"0.5\"}", "2");
    page_has(page, LATENCY "_bucket{le=\"+Inf\"}", "3");
    page_has(page, LATENCY "_sum", "3.251");
    page_has(page, LATENCY "_count", "3");
    registry_free(r);
}
