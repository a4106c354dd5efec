/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of problems, relative to an engine that judges none: first evaluation, memory and page of a
 * control plane without problems; an edit that makes all templates stale; and the length of the
 * page once each template has a problem.
 */
#include "metrics/expose/exposition.h"
#include "metrics/expose/problem_families.h"
#include "metrics/rules/problems/problem_list.h"
#include "metrics/rules/problems/problems.h"
#include "tests/bench/generated_world.h"
#include "tests/bench/measure.h"

enum { ROUNDS = 5, PAGE_MAX = 64 << 20, HOUR_MS = 3600 * 1000 };

#define START_MS INT64_C(1780272000000) /* 2026-06-01, long after the objects were created. */

/* Each policy selects one template. */
static const struct generated whole = {
    .templates = 30000, .policies = 30000, .namespaces = 100, .bindings = true};
/* Each policy selects one thousand templates. */
static const struct generated edited = {
    .templates = 100000, .policies = 100, .namespaces = 100, .bindings = true};

static void put_world(struct world *w, const struct generated *g)
{
    world_init(w, START_MS);
    world_put_policies(w, g, "member1");
    world_put_bound_templates(w, g);
}

/* Evaluates everything; then judges the problems too if `judged`. */
static void evaluate(struct world *w, bool judged)
{
    struct problem_options options = {0};

    world_run(w);
    if (!judged)
        return;
    problem_settings_reset(&options.settings);
    engine_judge_problems(w->engine, &options);
    world_run(w);
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

/* Cost of an evaluation of everything. */
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

    put_world(&w, &whole);
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
    measure_row("evaluation with problems / without", ratios, ROUNDS, "x", 1.05);
    measure_print("memory with problems / without", with.heap_bytes / without.heap_bytes, "x",
                  1.05);
    measure_print("page with problems / without", with.page_bytes / without.page_bytes, "x", 1.05);
}

/* Returns the CPU time to evaluate an edit that makes all templates stale, or current again. */
static double measure_edit(struct world *w, const char *member_cluster)
{
    world_put_policies(w, &edited, member_cluster);
    double start = measure_cpu_s();
    world_run(w);
    return measure_cpu_s() - start;
}

static void bench_edit(void)
{
    struct world with, without;
    double ratios[ROUNDS];
    double with_s = 0;

    put_world(&with, &edited);
    put_world(&without, &edited);
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
    measure_row("that edit with problems / without", ratios, ROUNDS, "x", 1.1);
    world_release(&with);
    world_release(&without);
}

static void bench_page(void)
{
    struct world w;

    put_world(&w, &whole);
    evaluate(&w, true);
    world_put_policies(&w, &whole, "member2");
    world_run(&w);
    w.now_ms += HOUR_MS;
    world_run(&w);
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
