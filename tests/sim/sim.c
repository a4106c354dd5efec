/* SPDX-License-Identifier: Apache-2.0 */

/*
 * sim [--seeds=FIRST-LAST] [--jobs=N]     plays these seeds, and shrinks each that fails
 * sim --seed=N [--kinds=N] [--storm-ms=N] [--keep=ITEMS] [--verbose]     plays one seed
 *
 * Deterministic simulation of the exporter and its API servers (run.h). Prints each failing run, at
 * most 20 per job, with the command that replays it. The exit status is 1 if a run fails, 2 for an
 * invalid argument. Without an argument, plays the seeds 1-500 in one job.
 */
#include <getopt.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sim/shrink.h"

enum { JOBS_MAX = 64, FAILURES_MAX = 20, TEXT_MAX = 1 << 20 };

struct arguments {
    uint64_t first;
    uint64_t last;
    unsigned jobs;
    bool one;
    bool verbose;
    struct plan plan; /* Plan of --seed. */
};

/* Memory shared by parent and child, so that results survive a crash of the child. */
struct shared {
    uint64_t seed; /* Seed of the current run. */
    uint64_t runs;
    uint64_t requests;
    uint64_t strikes;
    uint64_t steps;
    uint64_t pages;
    uint64_t partial;
    uint64_t silent;
    uint64_t virtual_ms;
    int64_t ready_ms;
    int64_t converged_ms;
    unsigned busiest;
    uint64_t failures[FAILURES_MAX];
    unsigned failure_count;
    struct verdict verdict; /* Verdict of the last run. */
};

static struct shared *map_shared(void)
{
    void *memory = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        abort();
    return memory;
}

/* Plays the plan in a child process, so that a crash results in a verdict. */
static void play_in_child(const struct plan *plan, struct verdict *out)
{
    struct shared *s = map_shared();
    pid_t child = fork();
    int status;

    if (child < 0)
        abort();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            abort();
        run_play(plan, false, &s->verdict);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child)
        abort();
    *out = s->verdict;
    if (status != 0) {
        out->invariant = "the run does not crash";
        snprintf(out->text, sizeof(out->text), "wait status %d", status);
    }
    munmap(s, sizeof(*s));
}

static void add_verdict(struct shared *s, const struct verdict *v)
{
    s->runs++;
    s->requests += v->requests;
    s->strikes += v->strikes;
    s->steps += v->steps;
    s->pages += v->pages;
    s->partial += v->partial;
    s->silent += v->silent;
    s->virtual_ms += (uint64_t)v->virtual_ms;
    if (v->ready_ms > s->ready_ms)
        s->ready_ms = v->ready_ms;
    if (v->converged_ms > s->converged_ms)
        s->converged_ms = v->converged_ms;
    if (v->busiest > s->busiest)
        s->busiest = v->busiest;
}

/* Plays every `jobs`-th seed from s->seed to the last. */
static void play_seeds(const struct arguments *a, struct shared *s)
{
    struct plan *plan = xcalloc(1, sizeof(*plan));

    for (; s->seed <= a->last; s->seed += a->jobs) {
        plan_init(plan, s->seed);
        run_play(plan, false, &s->verdict);
        add_verdict(s, &s->verdict);
        if (s->verdict.invariant && s->failure_count < FAILURES_MAX)
            s->failures[s->failure_count++] = s->seed;
    }
    free(plan);
}

/* ---- output ---- */

static void print_failure(const struct plan *plan, const struct verdict *v, bool items)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);

    strbuf_addf(&out, "FAIL  seed %" PRIu64 " at %.3f s: %s: %s\n  build/plain-gcc/tests/sim/sim ",
                plan->seed, (double)v->at_ms / 1000, v->invariant, v->text);
    plan_write_options(plan, &out);
    strbuf_addc(&out, '\n');
    if (items)
        plan_describe(plan, &out);
    fputs(out.data, stdout);
    fflush(stdout);
}

static void print_shrunk(uint64_t seed)
{
    struct plan *plan = xcalloc(1, sizeof(*plan));
    struct verdict verdict;

    plan_init(plan, seed);
    play_in_child(plan, &verdict);
    if (verdict.invariant) {
        shrink_plan(plan, &verdict, play_in_child);
        print_failure(plan, &verdict, true);
    } else {
        printf("FAIL  seed %" PRIu64 ": it failed once, but not in a second run\n", seed);
    }
    free(plan);
}

static int play_one(const struct arguments *a)
{
    struct verdict v;

    run_play(&a->plan, a->verbose, &v);
    if (v.invariant)
        print_failure(&a->plan, &v, a->verbose);
    printf("%s  hash %016" PRIx64 ", %" PRIu64 " steps, %" PRIu64 " requests, %" PRIu64
           " faults; ready after %" PRId64 " ms, calm after %" PRId64 " ms\n",
           v.invariant ? "FAIL" : "ok  ", v.hash, v.steps, v.requests, v.strikes, v.ready_ms,
           v.converged_ms);
    return v.invariant ? 1 : 0;
}

/* ---- ranges of seeds ---- */

static void add_shared(struct shared *sum, const struct shared *s)
{
    sum->runs += s->runs;
    sum->requests += s->requests;
    sum->strikes += s->strikes;
    sum->steps += s->steps;
    sum->pages += s->pages;
    sum->partial += s->partial;
    sum->silent += s->silent;
    sum->virtual_ms += s->virtual_ms;
    sum->ready_ms = s->ready_ms > sum->ready_ms ? s->ready_ms : sum->ready_ms;
    sum->converged_ms = s->converged_ms > sum->converged_ms ? s->converged_ms : sum->converged_ms;
    sum->busiest = s->busiest > sum->busiest ? s->busiest : sum->busiest;
    sum->failure_count += s->failure_count;
}

static pid_t start_child(const struct arguments *a, struct shared *s)
{
    pid_t child = fork();

    if (child < 0)
        abort();
    if (child == 0) {
        play_seeds(a, s);
        _exit(0);
    }
    return child;
}

/* Waits for a child. After a crash, notes the seed as failed and starts a child for the next. */
static void wait_for_child(const struct arguments *a, pid_t child, struct shared *s)
{
    for (int status = 0;; child = start_child(a, s)) {
        if (waitpid(child, &status, 0) != child)
            abort();
        if (status == 0)
            return;
        if (s->failure_count < FAILURES_MAX)
            s->failures[s->failure_count++] = s->seed;
        s->runs++;
        s->seed += a->jobs;
    }
}

static int play_many(const struct arguments *a)
{
    struct shared *shared[JOBS_MAX], sum = {0};
    pid_t children[JOBS_MAX];

    for (unsigned job = 0; job < a->jobs; job++) {
        shared[job] = map_shared();
        shared[job]->seed = a->first + job;
        children[job] = start_child(a, shared[job]);
    }
    for (unsigned job = 0; job < a->jobs; job++) {
        struct shared *s = shared[job];

        wait_for_child(a, children[job], s);
        for (unsigned i = 0; i < s->failure_count; i++)
            print_shrunk(s->failures[i]);
        add_shared(&sum, s);
        munmap(s, sizeof(*s));
    }
    printf(
        "%s  seeds %" PRIu64 "-%" PRIu64 ": %" PRIu64 " runs, %u failed; %" PRIu64
        " faults struck (%" PRIu64 " restores undid nothing known), %" PRIu64 " requests, %" PRIu64
        " pages compared (%" PRIu64
        " without kinds that were late), %.1f hours; ready within %.1f s, calm within %.1f s, at "
        "most %u requests for a kind in a second\n",
        sum.failure_count ? "FAIL" : "ok  ", a->first, a->last, sum.runs, sum.failure_count,
        sum.strikes, sum.silent, sum.requests, sum.pages, sum.partial,
        (double)sum.virtual_ms / 3600e3, (double)sum.ready_ms / 1000,
        (double)sum.converged_ms / 1000, sum.busiest);
    return sum.failure_count ? 1 : 0;
}

static bool read_argument(struct arguments *a, int option, const char *text)
{
    switch (option) {
    case 's':
        a->one = true;
        plan_init(&a->plan, strtoull(text, NULL, 10));
        return true;
    case 'r':
        return sscanf(text, "%" SCNu64 "-%" SCNu64, &a->first, &a->last) == 2;
    case 'j':
        return sscanf(text, "%u", &a->jobs) == 1 && a->jobs > 0 && a->jobs <= JOBS_MAX;
    case 'k':
        return sscanf(text, "%u", &a->plan.template_kinds) == 1 && a->plan.template_kinds > 0 &&
               a->plan.template_kinds <= SIM_TEMPLATE_KINDS;
    case 'm':
        return sscanf(text, "%" SCNd64, &a->plan.storm_ms) == 1;
    case 'i':
        return plan_keep(&a->plan, text);
    case 'v':
        return a->verbose = true;
    default:
        return false;
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},     {"seeds", required_argument, NULL, 'r'},
        {"jobs", required_argument, NULL, 'j'},     {"kinds", required_argument, NULL, 'k'},
        {"storm-ms", required_argument, NULL, 'm'}, {"keep", required_argument, NULL, 'i'},
        {"verbose", no_argument, NULL, 'v'},        {0},
    };
    struct arguments *a = xcalloc(1, sizeof(*a));
    int option, status;

    *a = (struct arguments){.first = 1, .last = 500, .jobs = 1};
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (!read_argument(a, option, optarg ? optarg : "")) {
            fprintf(stderr, "sim: the argument is not valid; see the beginning of sim.c\n");
            free(a);
            return 2;
        }
    }
    status = a->one ? play_one(a) : play_many(a);
    free(a);
    return status;
}
