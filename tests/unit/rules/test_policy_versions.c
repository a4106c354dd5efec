/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/policy_versions.h"

#include "metrics/base/timestamp.h"
#include "metrics/expose/report.h"
#include "metrics/rules/rule.h"
#include "metrics/simulate/plan.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* ---- objects of an API server: a policy, its templates and their bindings ---- */

enum { TEXT_MAX = 1 << 16, START_S = 1780000000 };

/* Appends an entry of managedFields. `at_s` is in seconds after START_S. */
static void add_entry(struct strbuf *out, const char *manager, const char *field, int64_t at_s)
{
    char time[32];

    format_timestamp((START_S + at_s) * 1000, time);
    strbuf_addf(out,
                "{\"manager\":\"%s\",\"operation\":\"Update\",\"time\":\"%s\",\"fieldsV1\":"
                "{\"f:spec\":{\"%s\":{}}}}",
                manager, time, field);
}

/* Appends managedFields with one entry; appends nothing if `at_s` is 0. */
static void add_managed(struct strbuf *out, const char *manager, int64_t at_s)
{
    if (at_s == 0)
        return;
    strbuf_adds(out, ",\"managedFields\":[");
    add_entry(out, manager, "f:placement", at_s);
    strbuf_adds(out, "]");
}

static void put(struct world *w, struct strbuf *text)
{
    assert_true(strbuf_ok(text));
    world_put_text(w, text->data);
    strbuf_release(text);
}

struct policy_text {
    const char *id;
    const char *clusters; /* Cluster of the placement; each value is another version. */
    const char *more;     /* Further members of the spec. */
    const char *manager;
    int64_t generation;
    int64_t at_s;
};

static void put_policy(struct world *w, struct policy_text p)
{
    struct strbuf text = STRBUF_INIT(TEXT_MAX);

    strbuf_addf(&text,
                "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\","
                "\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"generation\":%" PRId64
                ",\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"%s\"}",
                p.generation, p.id ? p.id : "one");
    add_managed(&text, p.manager ? p.manager : "kubectl", p.at_s);
    strbuf_addf(&text,
                "},\"spec\":{\"activationPreference\":\"Lazy\",\"resourceSelectors\":[{"
                "\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}],\"placement\":{"
                "\"clusterAffinity\":{\"clusterNames\":[\"%s\"]}}%s}}",
                p.clusters, p.more ? p.more : "");
    put(w, &text);
}

static void add_claim(struct strbuf *out, const char *id)
{
    strbuf_addf(out,
                ",\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"%s\"},"
                "\"annotations\":{\"propagationpolicy.karmada.io/namespace\":\"ns\","
                "\"propagationpolicy.karmada.io/name\":\"p\"}",
                id ? id : "one");
}

static void put_template(struct world *w, unsigned number, const char *id)
{
    struct strbuf text = STRBUF_INIT(TEXT_MAX);

    strbuf_addf(&text,
                "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":"
                "\"t%u\",\"namespace\":\"ns\"",
                number);
    add_claim(&text, id);
    strbuf_adds(&text, "}}");
    put(w, &text);
}

struct binding_text {
    unsigned number;
    const char *id;
    const char *clusters;
    const char *more;
    int64_t at_s;
    int64_t scheduled_at_s; /* 0: no write by the scheduler. */
    int64_t by_hand_at_s;   /* 0: no write of the values by a user. */
};

/* Appends managedFields of the binding. The last writer of the values owns f:placement. */
static void add_writes(struct strbuf *out, const struct binding_text *b)
{
    static const char karmada[] = "karmada-controller-manager";

    if (b->at_s == 0)
        return;
    strbuf_adds(out, ",\"managedFields\":[");
    add_entry(out, karmada, b->by_hand_at_s ? "f:resource" : "f:placement", b->at_s);
    if (b->by_hand_at_s) {
        strbuf_adds(out, ",");
        add_entry(out, "kubectl-edit", "f:placement", b->by_hand_at_s);
    }
    if (b->scheduled_at_s) {
        strbuf_adds(out, ",");
        add_entry(out, "karmada-scheduler", "f:clusters", b->scheduled_at_s);
    }
    strbuf_adds(out, "]");
}

static void put_binding(struct world *w, struct binding_text b)
{
    struct strbuf text = STRBUF_INIT(TEXT_MAX);

    strbuf_addf(&text,
                "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\","
                "\"metadata\":{\"name\":\"t%u-deployment\",\"namespace\":\"ns\"",
                b.number);
    add_claim(&text, b.id);
    add_writes(&text, &b);
    strbuf_addf(&text,
                "},\"spec\":{\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","
                "\"namespace\":\"ns\",\"name\":\"t%u\"},\"placement\":{\"clusterAffinity\":{"
                "\"clusterNames\":[\"%s\"]}}%s}}",
                b.number, b.clusters, b.more ? b.more : "");
    put(w, &text);
}

static void put_both(struct world *w, struct binding_text b)
{
    put_template(w, b.number, b.id);
    put_binding(w, b);
}

static void run_at(struct world *w, int64_t at_s)
{
    world_run(w, (START_S + at_s) * 1000);
}

/* ---- expected versions ---- */

static const struct policy_history *history(const struct world *w)
{
    const struct entry *policy =
        world_find(w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "ns", "p");

    assert_non_null(policy);
    assert_non_null(policy_decision(policy));
    assert_non_null(policy_decision(policy)->history);
    return policy_decision(policy)->history;
}

/* Returns the version that the template runs, NULL if it runs no version. */
static const struct policy_version *version_of(const struct world *w, unsigned number)
{
    char name[16];

    snprintf(name, sizeof(name), "t%u", number);
    const struct entry *template = world_find(w, "apps/v1", "Deployment", "ns", name);

    assert_non_null(template);
    return decision_version(template_decision(template));
}

/*
 * Asserts the versions as text, oldest first: "1*2" is version 1, run by 2 templates; "r" follows
 * the number of a recovered version, "?" that of a version without an order. "?*1" at the end
 * counts templates with unknown versions.
 */
static void assert_versions(const struct world *w, const char *expected)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    const struct policy_history *h = history(w);

    for (size_t i = 0; i < h->count; i++) {
        const struct policy_version *v = h->versions[i];

        strbuf_addf(&text, "%s%" PRIu32 "%s%s*%" PRIu32, text.len ? " " : "", v->number,
                    v->recovered ? "r" : "", policy_version_count_later(v) < 0 ? "?" : "",
                    v->templates);
    }
    if (h->unknown && h->unknown->templates > 0)
        strbuf_addf(&text, " ?*%" PRIu32, h->unknown->templates);
    assert_string_equal(text.data, expected);
}

static void assert_behind(const struct world *w, unsigned number, int behind)
{
    assert_non_null(version_of(w, number));
    assert_int_equal(policy_version_count_later(version_of(w, number)), behind);
}

static void init(struct world *w)
{
    world_init(w, &rules_options_default, 1);
}

/* Edits the policy three times. In between, some bindings get its current values. */
static void edit_policy_three_times(struct world *w)
{
    put_policy(w, (struct policy_text){.clusters = "a", .generation = 1, .at_s = 10});
    for (unsigned i = 0; i < 10; i++)
        put_both(w, (struct binding_text){.number = i, .clusters = "a", .at_s = 20});
    run_at(w, 30);
    assert_versions(w, "1*10");
    put_policy(
        w, (struct policy_text){.clusters = "b", .generation = 2, .at_s = 40, .manager = "argocd"});
    run_at(w, 41);
    assert_versions(w, "1*10 2*0");
    for (unsigned i = 0; i < 3; i++)
        put_binding(w, (struct binding_text){.number = i, .clusters = "b", .at_s = 50});
    put_policy(w, (struct policy_text){.clusters = "c", .generation = 3, .at_s = 60});
    put_policy(w, (struct policy_text){.clusters = "d", .generation = 4, .at_s = 70});
    for (unsigned i = 0; i < 2; i++)
        put_binding(w, (struct binding_text){.number = i, .clusters = "d", .at_s = 80});
    run_at(w, 90);
}

TEST(each_edit_is_a_version_and_each_template_runs_one)
{
    struct world w;

    init(&w);
    edit_policy_three_times(&w);
    assert_versions(&w, "1*7 2*1 3*0 4*2");
    assert_behind(&w, 0, 0);
    assert_behind(&w, 2, 2);
    assert_behind(&w, 9, 3);
    assert_int_equal(policy_version_superseded_ms(version_of(&w, 9)), (START_S + 40) * 1000L);
    assert_int_equal(policy_version_superseded_ms(version_of(&w, 2)), (START_S + 60) * 1000L);
    assert_int_equal(policy_version_superseded_ms(version_of(&w, 0)), 0);
    assert_int_equal(policy_history_count_used_versions(history(&w)), 3);

    const struct policy_version *second = history(&w)->versions[1];

    assert_string_equal(second->by, "argocd");
    assert_int_equal(second->generation, 2);
    assert_int_equal(second->since_ms, (START_S + 40) * 1000L);
    assert_false(second->since_seen);
    world_release(&w);
}

TEST(versions_in_use_are_recovered_in_order_after_a_restart)
{
    for (unsigned order = 0; order < 2; order++) {
        struct world w;

        init(&w);
        for (unsigned i = 0; i < 10; i++) {
            unsigned number = order ? 9 - i : i;

            put_both(&w, (struct binding_text){.number = number,
                                               .clusters = number < 2   ? "d"
                                                           : number < 3 ? "b"
                                                                        : "a",
                                               .at_s = number < 2   ? 80
                                                       : number < 3 ? 50
                                                                    : 20});
        }
        put_policy(&w, (struct policy_text){.clusters = "d", .generation = 4, .at_s = 70});
        run_at(&w, 100);
        assert_versions(&w, "1r*7 2r*1 3*2");
        assert_behind(&w, 9, 2);
        assert_behind(&w, 2, 1);
        assert_behind(&w, 0, 0);
        assert_int_equal(version_of(&w, 9)->since_ms, 0);
        assert_int_equal(policy_version_superseded_ms(version_of(&w, 9)), (START_S + 70) * 1000L);
        world_release(&w);
    }
}

TEST(the_same_values_have_the_same_hash_after_a_restart)
{
    char before[POLICY_VERSION_HASH_SIZE], after[POLICY_VERSION_HASH_SIZE];
    struct world w;

    init(&w);
    edit_policy_three_times(&w);
    policy_version_hash(version_of(&w, 9), before);
    world_release(&w);
    init(&w);
    put_both(&w, (struct binding_text){.number = 9, .clusters = "a", .at_s = 20});
    put_policy(&w, (struct policy_text){.clusters = "d", .generation = 4, .at_s = 70});
    run_at(&w, 100);
    policy_version_hash(version_of(&w, 9), after);
    assert_string_equal(before, after);
    policy_version_hash(history(&w)->versions[1], before);
    assert_string_not_equal(before, after);
    world_release(&w);
}

TEST(fields_that_bindings_do_not_have_make_no_version)
{
    struct world w;

    init(&w);
    put_policy(&w, (struct policy_text){.clusters = "a", .generation = 1, .at_s = 10});
    put_both(&w, (struct binding_text){.number = 1, .clusters = "a", .at_s = 20});
    run_at(&w, 30);
    put_policy(&w, (struct policy_text){.clusters = "a",
                                        .generation = 2,
                                        .at_s = 40,
                                        .more = ",\"priority\":7,\"preemption\":\"Always\","
                                                "\"preserveResourcesOnDeletion\":false"});
    run_at(&w, 50);
    assert_versions(&w, "1*1");
    put_policy(&w, (struct policy_text){.clusters = "a",
                                        .generation = 3,
                                        .at_s = 60,
                                        .more = ",\"preserveResourcesOnDeletion\":true"});
    run_at(&w, 70);
    assert_versions(&w, "1*1 2*0");
    world_release(&w);
}

TEST(a_reverted_policy_makes_its_old_version_the_newest)
{
    struct world w;

    init(&w);
    edit_policy_three_times(&w);
    put_policy(&w, (struct policy_text){.clusters = "a", .generation = 5, .at_s = 110});
    run_at(&w, 120);
    assert_versions(&w, "2*1 3*0 4*2 5*7");
    assert_behind(&w, 9, 0);
    assert_behind(&w, 0, 1);
    assert_int_equal(version_of(&w, 9)->since_ms, (START_S + 110) * 1000L);
    assert_int_equal(version_of(&w, 9)->generation, 5);
    world_release(&w);
}

TEST(versions_without_times_have_no_order)
{
    struct world w;

    init(&w);
    put_both(&w, (struct binding_text){.number = 1, .clusters = "a"});
    put_both(&w, (struct binding_text){.number = 2, .clusters = "b", .at_s = 20});
    put_both(&w, (struct binding_text){.number = 3, .clusters = "now"});
    put_policy(&w, (struct policy_text){.clusters = "now", .generation = 4});
    run_at(&w, 100);
    assert_versions(&w, "1r?*1 2r?*1 3*1");
    /* A write of the binding with a time orders the versions. */
    put_binding(&w, (struct binding_text){.number = 1, .clusters = "a", .at_s = 30});
    run_at(&w, 110);
    assert_versions(&w, "1r*1 2r*1 3*1");
    assert_behind(&w, 1, 1);
    assert_behind(&w, 2, 2);
    world_release(&w);
}

TEST(versions_with_equal_times_have_no_order)
{
    struct world w;

    init(&w);
    put_both(&w, (struct binding_text){.number = 1, .clusters = "a", .at_s = 20});
    put_both(&w, (struct binding_text){.number = 2, .clusters = "b", .at_s = 20});
    put_both(&w, (struct binding_text){.number = 3, .clusters = "c", .at_s = 10});
    put_policy(&w, (struct policy_text){.clusters = "now", .generation = 4, .at_s = 30});
    run_at(&w, 100);
    assert_versions(&w, "1r*1 2r?*1 3r?*1 4*0");
    assert_behind(&w, 3, 3);
    world_release(&w);
}

TEST(values_that_the_policy_never_had_are_unknown)
{
    struct world w;

    init(&w);
    edit_policy_three_times(&w);
    put_binding(&w, (struct binding_text){.number = 9, .clusters = "by-hand", .at_s = 200});
    run_at(&w, 210);
    assert_versions(&w, "1*6 2*1 3*0 4*2 ?*1");
    assert_behind(&w, 9, -1);
    assert_true(policy_version_is_unknown(version_of(&w, 9)));
    assert_int_equal(policy_version_superseded_ms(version_of(&w, 9)), 0);
    /* The policy gets these values later. */
    put_policy(&w, (struct policy_text){.clusters = "by-hand", .generation = 5, .at_s = 220});
    run_at(&w, 230);
    assert_versions(&w, "1*6 2*1 3*0 4*2 5*1");
    world_release(&w);
}

TEST(a_missed_version_is_recovered_between_known_ones)
{
    struct world w;

    init(&w);
    edit_policy_three_times(&w);
    /* The exporter missed generation 5; one binding has its values. */
    put_binding(&w, (struct binding_text){.number = 8, .clusters = "missed", .at_s = 210});
    put_policy(&w, (struct policy_text){.clusters = "f", .generation = 6, .at_s = 220});
    run_at(&w, 230);
    assert_versions(&w, "1*6 2*1 3*0 4*2 5r*1 6*0");
    assert_behind(&w, 8, 1);
    assert_behind(&w, 0, 2);
    /* Values written after the last change of the policy are no version of the policy. */
    put_binding(&w, (struct binding_text){.number = 7, .clusters = "by-hand", .at_s = 240});
    run_at(&w, 250);
    assert_true(policy_version_is_unknown(version_of(&w, 7)));
    world_release(&w);
}

TEST(a_policy_created_again_has_a_new_history)
{
    struct world w;

    init(&w);
    edit_policy_three_times(&w);
    put_policy(&w,
               (struct policy_text){.id = "two", .clusters = "z", .generation = 1, .at_s = 300});
    run_at(&w, 310);
    assert_versions(&w, "1*0");
    assert_null(version_of(&w, 9));
    put_both(&w, (struct binding_text){.number = 9, .id = "two", .clusters = "z", .at_s = 320});
    run_at(&w, 330);
    assert_versions(&w, "1*1");
    store_remove(w.store,
                 world_find(&w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "ns", "p"));
    run_at(&w, 340);
    assert_null(version_of(&w, 9));
    world_release(&w);
}

TEST(old_versions_that_no_template_runs_are_dropped)
{
    struct rules_options options = rules_options_default;
    char clusters[16];
    struct world w;

    options.versions = 2;
    world_init(&w, &options, 1);
    put_policy(&w, (struct policy_text){.clusters = "c0", .generation = 1, .at_s = 10});
    put_both(&w, (struct binding_text){.number = 1, .clusters = "c0", .at_s = 11});
    for (unsigned i = 1; i < 9; i++) {
        snprintf(clusters, sizeof(clusters), "c%u", i);
        put_policy(&w, (struct policy_text){
                           .clusters = clusters, .generation = i + 1, .at_s = 10 + 10 * i});
        run_at(&w, 15 + 10 * i);
    }
    assert_versions(&w, "1*1 7*0 8*0 9*0");
    assert_behind(&w, 1, 3);
    put_binding(&w, (struct binding_text){.number = 1, .clusters = "c8", .at_s = 200});
    run_at(&w, 210);
    assert_versions(&w, "7*0 8*0 9*1");
    world_release(&w);
}

TEST(a_dropped_version_in_a_binding_is_recovered)
{
    struct rules_options options = rules_options_default;
    char clusters[16];
    struct world w;

    options.versions = 1;
    world_init(&w, &options, 1);
    for (unsigned i = 0; i < 5; i++) {
        snprintf(clusters, sizeof(clusters), "c%u", i);
        put_policy(&w, (struct policy_text){
                           .clusters = clusters, .generation = i + 1, .at_s = 10 + 10 * i});
        run_at(&w, 15 + 10 * i);
    }
    assert_versions(&w, "4*0 5*0");
    put_both(&w, (struct binding_text){.number = 1, .clusters = "c1", .at_s = 21});
    run_at(&w, 100);
    assert_versions(&w, "4r*1 5*0 6*0");
    assert_behind(&w, 1, 2);
    world_release(&w);
}

/*
 * The scheduler wrote the binding after the last change of the policy; Karmada wrote the values
 * before that change.
 */
TEST(the_write_of_the_values_dates_a_missed_version)
{
    struct world w;

    init(&w);
    put_policy(&w, (struct policy_text){.clusters = "a", .generation = 1, .at_s = 10});
    put_both(&w, (struct binding_text){.number = 1, .clusters = "a", .at_s = 20});
    run_at(&w, 30);
    put_policy(&w, (struct policy_text){.clusters = "c", .generation = 3, .at_s = 50});
    put_binding(
        &w, (struct binding_text){.number = 1, .clusters = "b", .at_s = 40, .scheduled_at_s = 60});
    run_at(&w, 70);
    assert_versions(&w, "1*0 2r*1 3*0");
    world_release(&w);
}

/* Karmada last wrote the binding when the policy changed; a user wrote the values later. */
TEST(values_written_by_a_user_are_dated_by_that_write)
{
    struct world w;

    init(&w);
    put_policy(&w, (struct policy_text){.clusters = "a", .generation = 1, .at_s = 20});
    put_both(&w, (struct binding_text){.number = 1, .clusters = "a", .at_s = 20});
    run_at(&w, 30);
    put_binding(
        &w, (struct binding_text){.number = 1, .clusters = "b", .at_s = 20, .by_hand_at_s = 40});
    run_at(&w, 50);
    assert_versions(&w, "1*0 ?*1");
    world_release(&w);
}

TEST(a_clock_that_runs_back_changes_no_order)
{
    struct world w;

    init(&w);
    put_policy(&w, (struct policy_text){.clusters = "a", .generation = 1, .at_s = 1000});
    put_both(&w, (struct binding_text){.number = 1, .clusters = "a", .at_s = 1001});
    run_at(&w, 1010);
    put_policy(&w, (struct policy_text){.clusters = "b", .generation = 2, .at_s = 500});
    run_at(&w, 1020);
    assert_versions(&w, "1*1 2*0");
    assert_true(policy_history_current_version(history(&w))->since_seen);
    assert_int_equal(policy_history_current_version(history(&w))->since_ms,
                     (START_S + 1020) * 1000L);
    world_release(&w);
}

TEST(without_managed_fields_a_version_is_dated_when_seen)
{
    struct world w;

    init(&w);
    put_policy(&w, (struct policy_text){.clusters = "a", .generation = 1});
    put_both(&w, (struct binding_text){.number = 1, .clusters = "a"});
    run_at(&w, 10);
    assert_int_equal(policy_history_current_version(history(&w))->since_ms, 0);
    assert_null(policy_history_current_version(history(&w))->by);
    put_policy(&w, (struct policy_text){.clusters = "b", .generation = 2});
    run_at(&w, 20);
    assert_true(policy_history_current_version(history(&w))->since_seen);
    assert_int_equal(policy_version_superseded_ms(version_of(&w, 1)), (START_S + 20) * 1000L);
    world_release(&w);
}

TEST(the_value_of_a_priority_class_makes_no_version)
{
    struct world w;

    init(&w);
    put_both(&w, (struct binding_text){.number = 1,
                                       .clusters = "a",
                                       .at_s = 20,
                                       .more = ",\"schedulePriority\":{\"priority\":1}"});
    put_both(&w, (struct binding_text){.number = 2,
                                       .clusters = "a",
                                       .at_s = 30,
                                       .more = ",\"schedulePriority\":{\"priority\":2}"});
    put_both(&w, (struct binding_text){.number = 3, .clusters = "a", .at_s = 10});
    put_policy(&w, (struct policy_text){.clusters = "now", .generation = 4, .at_s = 40});
    run_at(&w, 100);
    assert_versions(&w, "1r*1 2r*2 3*0");
    world_release(&w);
}

TEST(the_number_of_recovered_versions_is_limited)
{
    char clusters[16];
    struct world w;

    init(&w);
    put_policy(&w, (struct policy_text){.clusters = "now", .generation = 4, .at_s = 5000});
    for (unsigned i = 0; i < POLICY_VERSIONS_RECOVERED_MAX + 10; i++) {
        snprintf(clusters, sizeof(clusters), "c%u", i);
        put_both(&w, (struct binding_text){.number = i, .clusters = clusters, .at_s = 1 + i});
    }
    run_at(&w, 6000);
    assert_int_equal(history(&w)->count, POLICY_VERSIONS_RECOVERED_MAX + 1);
    assert_int_equal(history(&w)->unknown->templates, 10);
    world_release(&w);
}

TEST(a_simulation_does_not_change_versions)
{
    struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct error err;
    struct world w;

    init(&w);
    edit_policy_three_times(&w);
    for (unsigned i = 0; i < 20; i++) {
        struct plan *p = plan_new(w.engine);

        strbuf_reset(&text);
        strbuf_addf(&text,
                    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\","
                    "\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\"},\"spec\":{"
                    "\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}],"
                    "\"placement\":{\"clusterAffinity\":{\"clusterNames\":[\"p%u\"]}}}}",
                    i);
        cJSON *json = cJSON_Parse(text.data);

        assert_true(plan_apply(p, json, &err));
        cJSON_Delete(json);
        assert_non_null(plan_finish(p));
        plan_free(p);
    }
    run_at(&w, 100);
    assert_versions(&w, "1*7 2*1 3*0 4*2");
    for (unsigned i = 0; i < 10; i++) {
        char name[16];

        snprintf(name, sizeof(name), "t%u", i);
        const struct template_decision *d =
            template_decision(world_find(&w, "apps/v1", "Deployment", "ns", name));

        assert_int_equal(d->before, i < 2 ? STATE_STALE : STATE_CURRENT);
    }
    strbuf_release(&text);
    world_release(&w);
}

TEST(states_during_the_initial_load_are_not_kept)
{
    struct world w;

    init(&w);
    put_both(&w, (struct binding_text){.number = 1, .clusters = "a", .at_s = 20});
    engine_run(w.engine, START_S * 1000L, 1);
    engine_run(w.engine, START_S * 1000L, 1);
    put_policy(&w, (struct policy_text){.clusters = "a", .generation = 1, .at_s = 10});
    run_at(&w, 30);

    const struct entry *template = world_find(&w, "apps/v1", "Deployment", "ns", "t1");

    assert_int_equal(template_decision(template)->state, STATE_CURRENT);
    assert_int_equal(template_decision(template)->before, STATE_CURRENT);
    put_policy(&w, (struct policy_text){.clusters = "b", .generation = 2, .at_s = 40});
    run_at(&w, 50);
    assert_int_equal(template_decision(template)->state, STATE_STALE);
    assert_int_equal(template_decision(template)->before, STATE_CURRENT);
    world_release(&w);
}

/* The report, with versions, is the same for any order of the objects. */
TEST(recovered_versions_do_not_depend_on_the_order)
{
    static const char *const clusters[] = {"a", "b", "c", "now"};

    for (uint32_t seed = 1; seed <= 100; seed++) {
        struct strbuf reports[2] = {STRBUF_INIT(1 << 20), STRBUF_INIT(1 << 20)};

        for (unsigned order = 0; order < 2; order++) {
            struct world w;

            world_init(&w, &rules_options_default, seed);
            for (unsigned i = 0; i < 12; i++) {
                unsigned number = order ? 11 - i : i;
                unsigned choice = (number * 7 + seed) % 13;

                put_both(&w, (struct binding_text){.number = number,
                                                   .clusters = clusters[choice % 4],
                                                   .at_s = choice * seed % 5});
                if (i == (order ? 2 : 9))
                    put_policy(&w, (struct policy_text){
                                       .clusters = "now", .generation = 4, .at_s = seed % 6});
                if (order && i % 3 == 0)
                    run_at(&w, 10);
            }
            run_at(&w, 20);
            report_write(w.engine, NULL, &reports[order]);
            world_release(&w);
        }
        assert_string_equal(reports[0].data, reports[1].data);
        strbuf_release(&reports[0]);
        strbuf_release(&reports[1]);
    }
}

/* ---- properties ---- */

/*
 * Returns true if a template has a version: it is not ignored, its claim or else that of its
 * binding has the id of the policy, and its binding has a placement.
 */
static bool runs_some_version(const struct entry *entry)
{
    const struct template_decision *d = template_decision(entry);
    const struct binding *b = d ? entry_binding(decision_binding(d)) : NULL;

    return b && b->has_placement && d->state != STATE_IGNORED && decision_claimed(d) &&
           claim_policy_exists(d->own_claim ? template_claim(entry_template(entry)) : b->claim,
                               decision_claimed(d));
}

static void check_template(const struct entry *entry)
{
    const struct template_decision *d = template_decision(entry);

    if (!d)
        return;
    if (!runs_some_version(entry)) {
        assert_null(decision_version(d));
        return;
    }
    const struct policy_decision *policy = policy_decision(decision_claimed(d));
    unsigned differ =
        drift_fields(entry_policy(decision_claimed(d))->propagation, &policy->priority,
                     entry_binding(decision_binding(d))->propagation,
                     entry_is_cluster_scoped(decision_binding(d)));

    assert_non_null(decision_version(d));
    assert_ptr_equal(decision_version(d)->history, policy->history);
    bool equals =
        differ == 0 || (d->priority_moved && decision_governing(d) == decision_claimed(d));
    assert_int_equal(policy_version_count_later(decision_version(d)) == 0, equals);
}

static void check_policy(const struct entry *policy, size_t limit)
{
    const struct policy_decision *d = policy_decision(policy);
    const struct policy_history *h = d ? d->history : NULL;
    uint32_t claimed = 0, running = 0;
    size_t unused = 0;

    if (!entry_exists(policy) || !d)
        return;
    assert_non_null(h);
    assert_ptr_equal(h->policy, policy);
    for (uint32_t i = 0; i < entry_reader_count(policy); i++) {
        const struct template_decision *t = template_decision(entry_reader(policy, i));

        claimed += t && decision_claimed(t) == policy && runs_some_version(entry_reader(policy, i));
    }
    for (size_t i = 0; i < h->count; i++) {
        running += h->versions[i]->templates;
        unused += h->versions[i]->templates == 0 && i + 1 < h->count;
        assert_true(i == 0 || h->versions[i]->number > h->versions[i - 1]->number);
    }
    assert_int_equal(running + (h->unknown ? h->unknown->templates : 0), claimed);
    assert_true(unused <= limit);
    assert_false(policy_history_current_version(h)->recovered);
    assert_int_equal(policy_version_count_later(policy_history_current_version(h)), 0);
}

static void check_all(const struct world *w)
{
    for (const struct type *type = store_first_type(w->store); type; type = type->next) {
        for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
            for (size_t i = 0; i < p->count; i++) {
                if (type->def->class == CLASS_TEMPLATE)
                    check_template(partition_entry(p, i));
                else if (type->def->class == CLASS_POLICY)
                    check_policy(partition_entry(p, i), rules_options_default.versions);
            }
        }
    }
}

/* Puts or deletes the policy, one of its templates or one of their bindings, at random. */
static void change_randomly(struct world *w, int64_t now_s, int64_t *generation)
{
    static const char *const clusters[] = {"a", "b", "c", "d", "e"};
    static const char *const ids[] = {"one", "one", "one", "two"};
    static const char *const more[] = {"", "", ",\"conflictResolution\":\"Overwrite\"",
                                       ",\"propagateDeps\":true", ",\"priority\":3"};
    unsigned number = world_random(w, 8);
    const char *id = ids[world_random(w, 4)];
    int64_t at_s = world_random(w, 3) ? now_s : 0;
    struct entry *gone = world_random(w, 9) == 0 ? world_pick(w) : NULL;

    if (gone) {
        store_remove(w->store, gone);
        return;
    }
    switch (world_random(w, 3)) {
    case 0:
        *generation += 1 + (world_random(w, 5) == 0);
        put_policy(w, (struct policy_text){.id = id,
                                           .clusters = clusters[world_random(w, 5)],
                                           .more = more[world_random(w, 5)],
                                           .generation = *generation,
                                           .at_s = at_s});
        return;
    case 1:
        put_template(w, number, id);
        return;
    default:
        put_binding(w, (struct binding_text){.number = number,
                                             .id = id,
                                             .clusters = clusters[world_random(w, 5)],
                                             .more = more[world_random(w, 4)],
                                             .at_s = at_s});
    }
}

TEST(template_counts_by_version_sum_to_the_claims)
{
    for (uint32_t seed = 1; seed <= 200; seed++) {
        int64_t generation = 0;
        struct world w;

        world_init(&w, &rules_options_default, seed);
        for (unsigned i = 0; i < 150; i++) {
            change_randomly(&w, 10 + i, &generation);
            if (world_random(&w, 3) == 0) {
                run_at(&w, 10 + i);
                check_all(&w);
            }
        }
        run_at(&w, 1000);
        check_all(&w);
        world_release(&w);
    }
}

TEST(template_counts_sum_to_the_claims_of_random_objects)
{
    for (uint32_t seed = 1; seed <= 200; seed++) {
        struct world w;

        world_init(&w, &rules_options_default, seed);
        for (unsigned i = 0; i < 200; i++) {
            struct entry *gone = world_random(&w, 4) == 0 ? world_pick(&w) : NULL;
            cJSON *object = gone ? NULL : random_object(&w);

            if (gone)
                store_remove(w.store, gone);
            else
                world_put(&w, object);
            cJSON_Delete(object);
            if (world_random(&w, 4) == 0) {
                run_at(&w, 10 + i);
                check_all(&w);
            }
        }
        world_release(&w);
    }
}
