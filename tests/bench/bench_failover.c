/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a failover: each of 100,000 bindings gets an eviction task, so each template has a
 * transition in the history and a problem that is pending. tests/bench/latency.bench measures the
 * same in a server.
 */
#include "metrics/rules/problems/problems.h"
#include "tests/bench/generated_world.h"
#include "tests/bench/measure.h"

enum { BATCH = 10, BATCH_MS = 1, HISTORY = 100000 };

#define START_MS INT64_C(1780272000000) /* 2026-06-01, long after the objects were created. */

static const struct generated whole = {
    .templates = 100000, .policies = 1000, .namespaces = 500, .bindings = true};

/* Sets up a world that is observed, as in a server. */
static void observe_world(struct world *w)
{
    struct problem_options options = {.history_limit = HISTORY};

    world_init(w, START_MS);
    world_put_policies(w, &whole, "member1");
    world_put_bound_templates(w, &whole);
    world_run(w);
    engine_keep_transitions(w->engine, HISTORY);
    problem_settings_reset(&options.settings);
    engine_judge_problems(w->engine, &options);
    world_run(w);
}

/* Puts the new versions of the bindings, and evaluates after each batch, as a server does. */
static void replace_bindings(struct world *w, void (*add)(struct strbuf *out,
                                                          const struct generated *g, unsigned at))
{
    for (unsigned i = 0; i < whole.templates; i++) {
        add(&w->text, &whole, i);
        world_put(w);
        if (i % BATCH < BATCH - 1)
            continue;
        w->now_ms += BATCH_MS;
        world_run(w);
    }
}

int main(void)
{
    struct world w;

    observe_world(&w);
    size_t heap = measure_heap_bytes();
    double resident = measure_resident_mib();
    replace_bindings(&w, generate_evicted_binding);
    measure_print("kept for an eviction: task, change and problem",
                  (double)(measure_heap_bytes() - heap) / whole.templates, "B", 200);
    printf("resident %.1f -> %.1f MiB\n", resident, measure_resident_mib());
    world_release(&w);
    return 0;
}
