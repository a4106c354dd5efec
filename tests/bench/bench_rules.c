/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of the rules: a policy change, relative to the same change among a tenth of the policies; a
 * full evaluation, relative to decoding; and a plan, relative to evaluating the change.
 */
#include "metrics/simulate/plan.h"
#include "tests/bench/generated_world.h"
#include "tests/bench/measure.h"

enum { ROUNDS = 5, CHANGES = 200 };

/* In `large` and `small`, the changing policy selects one namespace with a hundred templates. */
static const struct generated large = {.templates = 100000, .policies = 10000, .namespaces = 1000};
static const struct generated small = {.templates = 100000, .policies = 1000, .namespaces = 1000};
static const struct generated whole = {
    .templates = 100000, .policies = 1000, .namespaces = 100, .bindings = true};

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
        world_put(w);
        world_run(w);
    }
    return (measure_cpu_s() - start) / CHANGES;
}

static void bench_change(void)
{
    struct world among_many, among_few;
    double ratios[ROUNDS];
    double many_s = 0;

    world_init(&among_many, 0);
    world_init(&among_few, 0);
    generate_objects(&among_many, &large, world_put);
    generate_objects(&among_few, &small, world_put);
    world_run(&among_many);
    world_run(&among_few);
    for (size_t i = 0; i < ROUNDS; i++) {
        double few_s = measure_policy_change(&among_few);

        many_s = measure_policy_change(&among_many);
        ratios[i] = many_s / few_s;
    }
    printf("  a policy of 100 templates among %u templates and %u policies: %.2f ms a change\n",
           large.templates, large.policies, many_s * 1000);
    measure_row("that change / the same among 1,000 policies", ratios, ROUNDS, "x", 1.5);
    world_release(&among_many);
    world_release(&among_few);
}

static void bench_full_evaluation(void)
{
    double ratios[ROUNDS];

    for (size_t i = 0; i < ROUNDS; i++) {
        struct world w;

        world_init(&w, 0);
        double start = measure_cpu_s();
        generate_objects(&w, &whole, drop_object);
        double generated = measure_cpu_s();
        generate_objects(&w, &whole, world_put);
        double decoded = measure_cpu_s();
        world_run(&w);
        ratios[i] = (measure_cpu_s() - decoded) / ((decoded - generated) - (generated - start));
        world_release(&w);
    }
    measure_row("evaluating 100,000 templates x 1,000 policies / decoding them", ratios, ROUNDS,
                "x", 2);
}

/* 100,000 templates, 1,000 for each policy. */
static const struct generated planned = {
    .templates = 100000, .policies = 100, .namespaces = 100, .bindings = true};

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
    world_put(w);
    world_run(w);
    return measure_cpu_s() - start;
}

static void bench_plan(void)
{
    struct world w;
    double ratios[ROUNDS];
    double plan_s = 0;

    world_init(&w, 0);
    world_put_policies(&w, &planned, "member1");
    world_put_bound_templates(&w, &planned);
    world_run(&w);
    for (size_t i = 0; i < ROUNDS; i++) {
        plan_s = measure_plan(&w);
        ratios[i] = plan_s / measure_affected(&w, "member2");
        measure_affected(&w, "member1");
    }
    printf("  a plan that moves 1,000 of %u templates: %.2f ms\n", planned.templates,
           plan_s * 1000);
    measure_row("that plan / one full evaluation of the affected", ratios, ROUNDS, "x", 1.5);
    world_release(&w);
}

int main(void)
{
    bench_change();
    bench_plan();
    bench_full_evaluation();
    return 0;
}
