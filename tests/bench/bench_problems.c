/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of problems, relative to an engine that judges none: first evaluation, memory and page of a
 * control plane without problems; an edit that makes all templates stale; and the length of the
 * page once each template has a problem.
 */
#include "metrics/expose/exposition.h"
#include "metrics/expose/problem_families.h"
#include "metrics/rules/problems/problems.h"
#include "tests/bench/generate.h"
#include "tests/bench/measure.h"

enum { ROUNDS = 9, OBJECT_MAX = 1 << 16, PAGE_MAX = 64 << 20, HOUR_MS = 3600 * 1000 };

#define START_MS INT64_C(1780272000000) /* 2026-06-01, long after the objects were created. */

/* Each policy selects one template. */
static const struct generated whole = {
    .templates = 30000, .policies = 30000, .namespaces = 100, .bindings = true};
/* Each policy selects one thousand templates. */
static const struct generated edited = {
    .templates = 100000, .policies = 100, .namespaces = 100, .bindings = true};

struct world {
    const struct generated *generated;
    struct store *store;
    struct engine *engine;
    struct registry *registry;
    struct strbuf text;
    int64_t now_ms;
};

static void put_object(struct world *w)
{
    struct error err;
    cJSON *json = json_parse(w->text.data, w->text.len, NULL, &err);

    if (!json || store_put(w->store, json, (struct origin){1, 1}, &err) == STORE_REJECTED)
        abort();
    cJSON_Delete(json);
    strbuf_reset(&w->text);
}

static void put_policies(struct world *w, const char *member_cluster)
{
    for (unsigned i = 0; i < w->generated->policies; i++) {
        generate_policy(&w->text, w->generated, i, member_cluster);
        put_object(w);
    }
}

static void world_init(struct world *w, const struct generated *g)
{
    struct error err;

    w->generated = g;
    w->store = store_new(1);
    w->engine = engine_new(w->store, &rules_options_default, 1, &err);
    w->registry = registry_new(w->engine, &registry_options_default, 1);
    w->text = STRBUF_INIT(OBJECT_MAX);
    w->now_ms = START_MS;
    engine_observe(w->engine, (struct engine_observer){.decided = registry_update_entry,
                                                       .context = w->registry});
    put_policies(w, "member1");
    for (unsigned i = 0; i < g->templates; i++) {
        generate_template(&w->text, g, i);
        put_object(w);
        generate_binding(&w->text, g, i);
        put_object(w);
    }
}

static void world_release(struct world *w)
{
    registry_free(w->registry);
    engine_free(w->engine);
    store_free(w->store);
    strbuf_release(&w->text);
}

static void run_engine(struct world *w)
{
    while (!engine_run(w->engine, w->now_ms, SIZE_MAX))
        ;
}

/* Evaluates everything; then judges the problems too if `judged`. */
static void evaluate(struct world *w, bool judged)
{
    struct problem_options options = {0};

    run_engine(w);
    if (!judged)
        return;
    problem_settings_reset(&options.settings);
    engine_judge_problems(w->engine, &options);
    run_engine(w);
}

static size_t count_open(const struct world *w)
{
    size_t count;

    free(problems_list(engine_problems(w->engine), 1U << PROBLEM_OPEN, &count));
    return count;
}

static size_t page_bytes(struct world *w)
{
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(PAGE_MAX);

    problem_families_fill(w->registry, w->engine);
    registry_prepare(w->registry);
    exposition_write(w->registry, (struct exposition){.synced = true}, &page);
    return page.len;
}

/* What an evaluation of everything costs. */
struct cost {
    double cpu_s;
    double heap_bytes;
    double page_bytes;
};

static struct cost measure_evaluation(bool judged)
{
    size_t empty = measure_heap_bytes();
    struct world w;
    struct cost cost;

    world_init(&w, &whole);
    double start = measure_cpu_s();
    evaluate(&w, judged);
    cost.cpu_s = measure_cpu_s() - start;
    cost.heap_bytes = (double)(measure_heap_bytes() - empty);
    cost.page_bytes = (double)page_bytes(&w);
    if (judged && count_open(&w) != 0)
        abort();
    world_release(&w);
    return cost;
}

static void bench_without_problems(void)
{
    double ratios[ROUNDS];
    struct cost with, without;

    for (size_t i = 0; i < ROUNDS; i++) {
        without = measure_evaluation(false);
        with = measure_evaluation(true);
        ratios[i] = with.cpu_s / without.cpu_s;
    }
    printf("  %u templates and policies without a problem: %.0f ms, %.1f MB, page of %.2f MB\n",
           whole.templates, with.cpu_s * 1000, with.heap_bytes / 1e6, with.page_bytes / 1e6);
    measure_print("evaluation with problems / without (median)", measure_median(ratios, ROUNDS),
                  "x", 1.05);
    measure_print("memory with problems / without", with.heap_bytes / without.heap_bytes, "x",
                  1.05);
    measure_print("page with problems / without", with.page_bytes / without.page_bytes, "x", 1.05);
}

/* Returns the CPU time to evaluate an edit that makes all templates stale, or current again. */
static double measure_edit(struct world *w, const char *member_cluster)
{
    put_policies(w, member_cluster);
    double start = measure_cpu_s();
    run_engine(w);
    return measure_cpu_s() - start;
}

static void bench_edit(void)
{
    struct world with, without;
    double ratios[ROUNDS];
    double with_s = 0;

    world_init(&with, &edited);
    world_init(&without, &edited);
    evaluate(&with, true);
    evaluate(&without, false);
    for (size_t i = 0; i < ROUNDS; i++) {
        double without_s = measure_edit(&without, "member2");

        with_s = measure_edit(&with, "member2");
        ratios[i] = with_s / without_s;
        measure_edit(&without, "member1");
        measure_edit(&with, "member1");
    }
    printf("  an edit that makes %u templates stale: %.0f ms\n", edited.templates, with_s * 1000);
    measure_print("that edit with problems / without (median)", measure_median(ratios, ROUNDS), "x",
                  1.1);
    world_release(&with);
    world_release(&without);
}

static void bench_page(void)
{
    struct world w;

    world_init(&w, &whole);
    evaluate(&w, true);
    put_policies(&w, "member2");
    run_engine(&w);
    w.now_ms += HOUR_MS;
    run_engine(&w);
    printf("  %zu open problems\n", count_open(&w));
    measure_print("page with a problem for each template", (double)page_bytes(&w) / 1e6, "MB", 2);
    world_release(&w);
}

int main(void)
{
    bench_without_problems();
    bench_edit();
    bench_page();
    return 0;
}
