/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/problem_tallies.h"

#include "metrics/base/timestamp.h"
#include "metrics/model/cluster.h"
#include "metrics/rules/replica_projection.h"
#include "metrics/rules/rule.h"
#include "metrics/simulate/overlay.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"

enum { HISTORIES = 200, CHANGES = 500, TEXT_MAX = 1 << 18, MINUTE_MS = 60 * 1000 };

static const struct problem_tallies *tallies_of(const struct world *w)
{
    return engine_context_const(w->engine)->tallies;
}

/* ---- sums as text ---- */

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the lines of a text: the order of the entries of a store depends on its history. */
static void sort_lines(struct strbuf *text)
{
    char *lines[1024];
    char *rest;
    size_t count = 0;
    CLEANUP(free_cleanup) char *copy = strdup(text->data ? text->data : "");

    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        assert_true(count < ARRAY_LEN(lines));
        lines[count++] = line;
    }
    qsort(lines, count, sizeof(lines[0]), compare_lines);
    strbuf_reset(text);
    for (size_t i = 0; i < count; i++)
        strbuf_addf(text, "%s\n", lines[i]);
}

static void dump_policy(const struct problem_tallies *t, const struct entry *policy,
                        struct strbuf *out)
{
    struct policy_sums sums = problem_tallies_policy(t, policy);

    if (sums.selected + sums.ties + sums.outranked > 0)
        strbuf_addf(out, "policy %s/%s selected=%u ties=%u outranked=%u\n", entry_ns(policy),
                    policy->name, sums.selected, sums.ties, sums.outranked);
}

static void dump_cluster(const struct problem_tallies *t, const struct entry *cluster,
                         struct strbuf *out)
{
    struct cluster_sums sums = problem_tallies_cluster(t, cluster);
    struct movement_total m;

    if (sums.targets > 0)
        strbuf_addf(out, "cluster %s targets=%u refused=%u\n", cluster->name, sums.targets,
                    sums.refused);
    for (uint32_t at = 0; problem_tallies_next_movement(t, cluster, &at, &m);)
        strbuf_addf(out, "cluster %s %s arriving=%.3f leaving=%.3f\n", cluster->name, m.resource,
                    m.arriving, m.leaving);
}

/* Appends the sums of all policies and clusters, and how many the tallies keep. */
static void dump_tallies(const struct world *w, struct strbuf *out)
{
    const struct problem_tallies *t = tallies_of(w);
    struct store_walk walk = store_walk_begin(w->store, 1U << CLASS_POLICY | 1U << CLASS_CLUSTER);
    const struct entry *entry;

    while ((entry = store_walk_next(&walk)) != NULL) {
        if (entry_class(entry) == CLASS_POLICY)
            dump_policy(t, entry, out);
        else
            dump_cluster(t, entry, out);
    }
    sort_lines(out);
    strbuf_addf(out, "%zu policies, %zu clusters\n", t->policies.count, t->clusters.count);
}

/* ---- the same sums from all decisions ---- */

static bool is_unignored(const struct template_decision *d)
{
    return d && d->state != STATE_IGNORED;
}

static bool selects(const struct template_decision *d, const struct entry *policy)
{
    for (uint32_t i = 0; i < d->candidate_count; i++) {
        if (decision_candidate(d, i).policy == policy)
            return !d->candidates[i].excluded;
    }
    return false;
}

/* Returns true if the first two candidates are eligible, and equal in all but their names. */
static bool has_tie(const struct template_decision *d)
{
    struct candidate a, b;

    if (d->candidate_count < 2)
        return false;
    a = decision_candidate(d, 0);
    b = decision_candidate(d, 1);
    return candidate_eligible(&a) && candidate_eligible(&b) && a.score == b.score &&
           entry_kind(a.policy) == entry_kind(b.policy) &&
           entry_policy(a.policy)->priority == entry_policy(b.policy)->priority;
}

static struct policy_sums count_policy(const struct world *w, const struct entry *policy)
{
    struct store_walk walk = store_walk_begin(w->store, 1U << CLASS_TEMPLATE);
    struct policy_sums sums = {0};
    const struct entry *entry;

    while ((entry = store_walk_next(&walk)) != NULL) {
        const struct template_decision *d = template_decision(entry);

        if (!is_unignored(d))
            continue;
        sums.selected += selects(d, policy);
        sums.ties += decision_winner(d) == policy && has_tie(d);
        sums.outranked += decision_governing(d) == policy && decision_claimed(d) == policy &&
                          decision_winner(d) && decision_winner(d) != policy;
    }
    return sums;
}

static struct cluster_sums count_cluster(const struct world *w, const struct entry *cluster)
{
    struct store_walk walk = store_walk_begin(w->store, 1U << CLASS_TEMPLATE);
    struct cluster_sums sums = {0};
    struct entry *entry;

    while ((entry = store_walk_next(&walk)) != NULL) {
        struct template_decision *d = entry_decision(entry);
        const struct binding *b = d ? entry_binding(decision_binding(d)) : NULL;

        for (uint32_t i = 0; d && i < d->target_count; i++) {
            const struct stage_and_reason *target = &decision_targets(d)[i];

            if (strcmp(b->clusters[i].name, cluster->name) != 0)
                continue;
            sums.targets++;
            sums.refused += target->stage == STAGE_UNAPPLIED && target->reason == WHY_REFUSED;
        }
    }
    return sums;
}

/* Returns the pods that arrive on a cluster, over all templates. */
static int32_t count_arriving_pods(const struct world *w, const struct entry *cluster)
{
    struct store_walk walk = store_walk_begin(w->store, 1U << CLASS_TEMPLATE);
    int32_t pods = 0;
    const struct entry *entry;

    while ((entry = store_walk_next(&walk)) != NULL) {
        const struct template_decision *d = template_decision(entry);
        struct movement_walk movements = {0};
        struct cluster_movement m;

        while (d && capacity_next_movement(decision_capacity(d), &movements, &m)) {
            if (strcmp(m.cluster, cluster->name) == 0)
                pods += m.replicas[MOVEMENT_ARRIVING];
        }
    }
    return pods;
}

static double arriving_pods(const struct world *w, const struct entry *cluster)
{
    struct movement_total m;

    for (uint32_t at = 0; problem_tallies_next_movement(tallies_of(w), cluster, &at, &m);) {
        if (strcmp(m.resource, "pods") == 0)
            return m.arriving;
    }
    return 0;
}

/* Asserts that all sums equal those over all decisions. */
static void assert_exact(const struct world *w)
{
    struct store_walk walk = store_walk_begin(w->store, 1U << CLASS_POLICY | 1U << CLASS_CLUSTER);
    const struct entry *entry;

    while ((entry = store_walk_next(&walk)) != NULL) {
        if (entry_class(entry) == CLASS_POLICY) {
            struct policy_sums kept = problem_tallies_policy(tallies_of(w), entry);
            struct policy_sums counted = count_policy(w, entry);

            assert_memory_equal(&kept, &counted, sizeof(kept));
        } else {
            struct cluster_sums kept = problem_tallies_cluster(tallies_of(w), entry);
            struct cluster_sums counted = count_cluster(w, entry);

            assert_memory_equal(&kept, &counted, sizeof(kept));
            assert_true(arriving_pods(w, entry) == count_arriving_pods(w, entry));
        }
    }
}

/* ---- properties ---- */

static void change_objects(struct world *w, int64_t *now_ms)
{
    for (size_t i = 0; i < CHANGES; i++) {
        struct entry *gone = world_random(w, 4) == 0 ? world_pick(w) : NULL;

        if (gone)
            store_remove(w->store, gone);
        else
            random_objects(w, 1);
        *now_ms += world_random(w, 2000);
        if (world_random(w, 3) == 0)
            engine_run(w->engine, *now_ms, world_random(w, 20));
    }
    world_run(w, *now_ms);
}

static void run_history(uint32_t seed, struct world *w, int64_t *now_ms)
{
    struct rules_options options = rules_options_default;

    options.takeover = seed % 2 ? TAKEOVER_PREEMPTION : TAKEOVER_STATIC;
    assert_true(parse_timestamp("2026-01-01T00:00:00Z", now_ms));
    world_init(w, &options, seed);
    change_objects(w, now_ms);
}

TEST(after_any_history_the_sums_are_those_over_all_decisions)
{
    unsigned ties = 0, outranked = 0, refused = 0, moved = 0;

    for (uint32_t seed = 1; seed <= HISTORIES; seed++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
        struct world w;
        int64_t now_ms;

        run_history(seed, &w, &now_ms);
        assert_exact(&w);
        dump_tallies(&w, &text);
        ties += strstr(text.data, "ties=1") != NULL;
        outranked += strstr(text.data, "outranked=1") != NULL;
        refused += strstr(text.data, "refused=1") != NULL;
        moved += strstr(text.data, "arriving=") != NULL;
        world_release(&w);
    }
    /* The random objects reach each sum. */
    assert_true(ties > 0 && outranked > 0 && refused > 0 && moved > 0);
}

TEST(sums_equal_those_of_a_fresh_engine_and_end_with_the_objects)
{
    for (uint32_t seed = 1; seed <= HISTORIES / 4; seed++) {
        CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT(TEXT_MAX);
        CLEANUP(strbuf_release) struct strbuf again = STRBUF_INIT(TEXT_MAX);
        struct world w, fresh;
        struct entry *entry;
        int64_t now_ms;

        run_history(seed, &w, &now_ms);
        while ((entry = world_pick(&w)) != NULL)
            store_remove(w.store, entry);
        world_run(&w, now_ms);
        dump_tallies(&w, &all);
        assert_string_equal(all.data, "0 policies, 0 clusters\n");

        /* The emptied engine and a fresh one get the same objects. */
        world_init(&fresh, &rules_options_default, 1);
        w.random = fresh.random;
        world_release(&fresh);
        world_init(&fresh, &engine_context(w.engine)->options, 1);
        random_objects(&w, CHANGES);
        random_objects(&fresh, CHANGES);
        world_run(&w, now_ms);
        world_run(&fresh, now_ms);
        strbuf_reset(&all);
        dump_tallies(&w, &all);
        dump_tallies(&fresh, &again);
        assert_string_equal(all.data, again.data);
        world_release(&fresh);
        world_release(&w);
    }
}

TEST(a_simulation_that_is_undone_leaves_the_sums_as_they_were)
{
    for (uint32_t seed = 1; seed <= HISTORIES / 4; seed++) {
        CLEANUP(strbuf_release) struct strbuf before = STRBUF_INIT(TEXT_MAX);
        CLEANUP(strbuf_release) struct strbuf after = STRBUF_INIT(TEXT_MAX);
        struct overlay *overlay;
        struct world w;
        int64_t now_ms;

        run_history(seed, &w, &now_ms);
        dump_tallies(&w, &before);
        overlay = overlay_new(w.engine);
        for (size_t i = 0; i < 5; i++) {
            struct entry *entry = world_pick(&w);

            if (entry)
                overlay_replace(overlay, entry, NULL);
            overlay_evaluate(overlay);
        }
        assert_exact(&w);
        overlay_free(overlay);
        dump_tallies(&w, &after);
        assert_string_equal(before.data, after.data);
        world_release(&w);
    }
}

/* ---- readiness ---- */

static void put_cluster(struct world *w, bool ready)
{
    world_put_text(w, ready ? "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":"
                              "\"Cluster\",\"metadata\":{\"name\":\"m1\"},\"status\":{"
                              "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"
                            : "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":"
                              "\"Cluster\",\"metadata\":{\"name\":\"m1\"}}");
}

static int64_t flaps_until_ms(const struct world *w)
{
    const struct entry *cluster = world_find(w, "cluster.karmada.io/v1alpha1", "Cluster", "", "m1");

    return problem_tallies_flaps_until_ms(tallies_of(w), cluster);
}

TEST(seven_changes_within_an_hour_are_dated_by_the_run_that_follows)
{
    struct world w;
    int64_t now_ms = 1000 * MINUTE_MS;

    world_init(&w, &rules_options_default, 1);
    put_cluster(&w, true);
    world_run(&w, now_ms);
    for (unsigned i = 1; i <= FLAPS; i++) {
        assert_int_equal(flaps_until_ms(&w), 0);
        put_cluster(&w, i % 2 == 0);
        world_run(&w, now_ms + i * MINUTE_MS);
    }
    assert_int_equal(flaps_until_ms(&w), now_ms + MINUTE_MS + FLAP_WINDOW_MS);
    /* The eighth change: the second one is now the oldest of seven. */
    put_cluster(&w, true);
    world_run(&w, now_ms + 20 * MINUTE_MS);
    assert_int_equal(flaps_until_ms(&w), now_ms + 2 * MINUTE_MS + FLAP_WINDOW_MS);
    store_remove(w.store, world_find(&w, "cluster.karmada.io/v1alpha1", "Cluster", "", "m1"));
    put_cluster(&w, true);
    assert_int_equal(flaps_until_ms(&w), 0);
    world_release(&w);
}
