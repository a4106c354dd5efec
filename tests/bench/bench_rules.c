/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of the rules: a policy change, relative to the same change among a tenth of the policies; a
 * full evaluation, relative to decoding; a plan, relative to evaluating the change; and the memory
 * of a binding.
 */
#include "metrics/expose/registry.h"
#include "metrics/simulate/plan.h"
#include "tests/bench/generate.h"
#include "tests/bench/measure.h"

enum { ROUNDS = 5, CHANGES = 200, OBJECT_MAX = 1 << 16 };

/* Of `large` and `small`, the changing policy selects one namespace with a hundred templates. */
static const struct generated large = {.templates = 100000, .policies = 10000, .namespaces = 1000};
static const struct generated small = {.templates = 100000, .policies = 1000, .namespaces = 1000};
static const struct generated whole = {
    .templates = 100000, .policies = 1000, .namespaces = 100, .bindings = true};

struct world {
    struct store *store;
    struct engine *engine;
    struct registry *registry;
    struct strbuf text;
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

static void run_engine(struct world *w)
{
    while (!engine_run(w->engine, 0, SIZE_MAX))
        ;
}

typedef void handle_fn(struct world *w);

/* Discards the object: measures the cost of generating objects alone. */
static void drop_object(struct world *w)
{
    strbuf_reset(&w->text);
}

static void generate_objects(struct world *w, const struct generated *g, handle_fn *handle)
{
    for (unsigned i = 0; i < g->policies; i++) {
        generate_policy(&w->text, g, i, "member1");
        handle(w);
    }
    for (unsigned i = 0; i < g->templates; i++) {
        generate_template(&w->text, g, i);
        handle(w);
    }
}

static void world_init(struct world *w)
{
    struct error err;

    w->store = store_new(1);
    w->engine = engine_new(w->store, &rules_options_default, 1, &err);
    w->registry = registry_new(w->engine, &registry_options_default, 1);
    w->text = STRBUF_INIT(OBJECT_MAX);
    engine_observe(w->engine, (struct engine_observer){.decided = registry_update_entry,
                                                       .context = w->registry});
}

static void world_release(struct world *w)
{
    registry_free(w->registry);
    engine_free(w->engine);
    store_free(w->store);
    strbuf_release(&w->text);
}

/* Changes priority and clusters of a policy of 100 templates. Returns the CPU time per change. */
static double measure_policy_change(struct world *w)
{
    double start = measure_cpu_s();

    for (unsigned i = 0; i < CHANGES; i++) {
        strbuf_addf(&w->text,
                    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\","
                    "\"metadata\":{\"name\":\"changing\",\"namespace\":\"team-7\"},\"spec\":{"
                    "\"priority\":%u,\"placement\":{\"clusterAffinity\":{\"clusterNames\":["
                    "\"member%u\"]}},\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
                    "\"Deployment\"}]}}",
                    i % 2, 1 + i % 2);
        put_object(w);
        run_engine(w);
    }
    return (measure_cpu_s() - start) / CHANGES;
}

static void bench_change(void)
{
    struct world among_many, among_few;
    double ratios[ROUNDS];
    double many_s = 0;

    world_init(&among_many);
    world_init(&among_few);
    generate_objects(&among_many, &large, put_object);
    generate_objects(&among_few, &small, put_object);
    run_engine(&among_many);
    run_engine(&among_few);
    for (size_t i = 0; i < ROUNDS; i++) {
        double few_s = measure_policy_change(&among_few);

        many_s = measure_policy_change(&among_many);
        ratios[i] = many_s / few_s;
    }
    printf("  a policy of 100 templates among %u templates and %u policies: %.2f ms a change\n",
           large.templates, large.policies, many_s * 1000);
    measure_print("that change / the same among 1,000 policies (median)",
                  measure_median(ratios, ROUNDS), "x", 1.5);
    world_release(&among_many);
    world_release(&among_few);
}

static void bench_full_evaluation(void)
{
    double ratios[ROUNDS];

    for (size_t i = 0; i < ROUNDS; i++) {
        struct world w;

        world_init(&w);
        double start = measure_cpu_s();
        generate_objects(&w, &whole, drop_object);
        double generated = measure_cpu_s();
        generate_objects(&w, &whole, put_object);
        double decoded = measure_cpu_s();
        run_engine(&w);
        ratios[i] = (measure_cpu_s() - decoded) / ((decoded - generated) - (generated - start));
        world_release(&w);
    }
    measure_print("evaluating 100,000 templates x 1,000 policies / decoding them",
                  measure_median(ratios, ROUNDS), "x", 2);
}

static void bench_binding_memory(void)
{
    struct world w;

    world_init(&w);
    generate_objects(&w, &whole, put_object);
    run_engine(&w);
    size_t before = measure_heap_bytes();
    for (unsigned i = 0; i < whole.templates; i++) {
        generate_binding(&w.text, &whole, i);
        put_object(&w);
    }
    run_engine(&w);
    measure_print("kept for a binding", (double)(measure_heap_bytes() - before) / whole.templates,
                  "B", 700);
    world_release(&w);
}

/* 100,000 templates, 1,000 for each policy. */
static const struct generated planned = {
    .templates = 100000, .policies = 100, .namespaces = 100, .bindings = true};

static void generate_bound(struct world *w, const struct generated *g)
{
    generate_objects(w, g, put_object);
    for (unsigned i = 0; i < g->templates; i++) {
        generate_binding(&w->text, g, i);
        put_object(w);
    }
}

/* Returns the CPU time of a plan that moves 1,000 templates to another cluster; not of its undo. */
static double measure_plan(struct world *w)
{
    struct error err;
    double start, end;

    strbuf_reset(&w->text);
    generate_policy(&w->text, &planned, 7, "member2");
    cJSON *json = json_parse(w->text.data, w->text.len, NULL, &err);
    strbuf_reset(&w->text);
    start = measure_cpu_s();
    struct plan *p = plan_new(w->engine);
    if (!json || !plan_apply(p, json, &err) || plan_finish(p)->when[PLAN_AT_ONCE] != 1000)
        abort();
    end = measure_cpu_s();
    plan_free(p);
    cJSON_Delete(json);
    return end - start;
}

/* Returns the CPU time to store a policy of these 1,000 templates and to evaluate the change. */
static double measure_affected(struct world *w, const char *member_cluster)
{
    double start;

    generate_policy(&w->text, &planned, 7, member_cluster);
    start = measure_cpu_s();
    put_object(w);
    run_engine(w);
    return measure_cpu_s() - start;
}

static void bench_plan(void)
{
    struct world w;
    double ratios[ROUNDS];
    double plan_s = 0;

    world_init(&w);
    generate_bound(&w, &planned);
    run_engine(&w);
    for (size_t i = 0; i < ROUNDS; i++) {
        plan_s = measure_plan(&w);
        ratios[i] = plan_s / measure_affected(&w, "member2");
        measure_affected(&w, "member1");
    }
    printf("  a plan that moves 1,000 of %u templates: %.2f ms\n", planned.templates,
           plan_s * 1000);
    measure_print("that plan / one full evaluation of the affected (median)",
                  measure_median(ratios, ROUNDS), "x", 1.5);
    world_release(&w);
}

int main(void)
{

    bench_change();
    bench_plan();
    bench_full_evaluation();
    bench_binding_memory();
    return 0;
}
