/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that a template and a binding keep, with their decisions and series, and the memory of a
 * process with a policy for each template. Growth of the heap counts all that malloc() gave out,
 * also the free cells of pools. Resident memory counts what the process really has.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "metrics/expose/exposition.h"
#include "tests/bench/generated_world.h"
#include "tests/bench/measure.h"

enum { PAGE_MAX = 64 << 20 };

static const struct generated whole = {
    .templates = 100000, .policies = 1000, .namespaces = 500, .bindings = true};
static const struct generated policy_each = {
    .templates = 20000, .policies = 20000, .namespaces = 500, .bindings = true};

typedef void add_fn(struct strbuf *out, const struct generated *g, unsigned at);

/* Puts one object for each template and evaluates. Returns the growth of the heap per object. */
static double measure_objects(struct world *w, add_fn *add)
{
    size_t before = measure_heap_bytes();

    for (unsigned i = 0; i < whole.templates; i++) {
        add(&w->text, &whole, i);
        world_put(w);
    }
    world_run(w);
    return (double)(measure_heap_bytes() - before) / whole.templates;
}

static void bench_objects(void)
{
    struct world w;

    world_init(&w, 0);
    world_put_policies(&w, &whole, "member1");
    world_run(&w);
    measure_print("kept for a template", measure_objects(&w, generate_template), "B", 200);
    measure_print("kept for its binding", measure_objects(&w, generate_binding), "B", 280);
    world_release(&w);
}

/* Returns the resident memory of a process that has loaded the world and written its page. */
static double measure_process(const struct generated *g)
{
    double resident_mib = 0;
    int ends[2];

    if (pipe(ends) != 0)
        abort();
    pid_t pid = fork();
    if (pid == 0) {
        struct world w;

        world_init(&w, 0);
        world_put_policies(&w, g, "member1");
        world_put_bound_templates(&w, g);
        world_run(&w);
        CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(PAGE_MAX);
        registry_prepare(w.registry);
        exposition_write(w.registry, (struct exposition){.synced = true}, &page);
        resident_mib = measure_resident_mib();
        _exit(write(ends[1], &resident_mib, sizeof(resident_mib)) != sizeof(resident_mib));
    }
    if (pid < 0 || read(ends[0], &resident_mib, sizeof(resident_mib)) != sizeof(resident_mib) ||
        waitpid(pid, NULL, 0) != pid)
        abort();
    close(ends[0]);
    close(ends[1]);
    return resident_mib;
}

int main(void)
{
    /* First, while this process is small: a child inherits its pages. */
    double with_policies = measure_process(&policy_each);

    measure_print("RSS with 20,000 templates, a binding and a policy for each", with_policies,
                  "MiB", 60);
    bench_objects();
    return 0;
}
