/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/engine.h"

#include "metrics/base/timestamp.h"
#include "metrics/rules/problems/problem_list.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"

enum { HISTORIES = 300, CHANGES = 200, DUMP_MAX = 1 << 20 };

static const struct rules_options variants[] = {
    {.takeover = TAKEOVER_PREEMPTION,
     .grace_ms = 60 * 1000,
     .skipped_namespaces = "kube-.*",
     .skipped_apis = ""},
    {.takeover = TAKEOVER_STATIC,
     .grace_ms = 0,
     .skipped_namespaces = "",
     .skipped_apis = "v1/Secret"},
};

/* Judges problems that open and end without a delay, so that they depend on the objects alone. */
static void judge_at_once(struct world *w)
{
    struct problem_options options = {.history_limit = 0};

    problem_settings_reset(&options.settings);
    memset(options.settings.patience_ms, 0, sizeof(options.settings.patience_ms));
    options.settings.resolve_delay_ms = 0;
    options.settings.severity[PROBLEM_DECISION_FLAPPING] = SEVERITY_OFF;
    /* Once the state of a lease is unknown, an earlier problem stays: it depends on the history. */
    options.settings.severity[PROBLEM_LEASE_AT_RISK] = SEVERITY_OFF;
    engine_judge_problems(w->engine, &options);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appends a line for each problem, sorted: times of the first evaluation differ. */
static void dump_problems(const struct world *w, struct strbuf *out)
{
    size_t count;
    const struct problem **list =
        problems_list(engine_problems(w->engine), (1U << PROBLEM_STATUS_COUNT) - 1, &count);
    char **lines = xcalloc(count + 1, sizeof(*lines));

    for (size_t i = 0; i < count; i++) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(4096);
        const struct problem *p = list[i];

        strbuf_addf(&line, "%s %s %s: %s %s", problem_subject_kind(p), problem_ns(p),
                    problem_name(p), problem_names[problem_id(p)], problem_reasons[p->reason].name);
        if (p->cause)
            strbuf_addf(&line, " because of %s", problem_names[problem_id(p->cause)]);
        strbuf_addf(&line, " (%s)\n", problem_status_names[p->status]);
        lines[i] = xstrdup(line.data);
    }
    qsort(lines, count, sizeof(*lines), compare_lines);
    for (size_t i = 0; i < count; i++) {
        strbuf_adds(out, lines[i]);
        free(lines[i]);
    }
    free(lines);
    free(list);
}

/* Appends the dump of a fresh engine over the remaining objects, put in reverse order. */
static void dump_fresh(const struct rules_options *options, const struct world *old,
                       cJSON *const *objects, size_t count, int64_t now_ms, struct strbuf *out)
{
    struct world w;

    world_init(&w, options, 99);
    for (size_t i = count; i > 0; i--) {
        if (objects[i - 1])
            world_put(&w, objects[i - 1]);
    }
    world_inherit(&w, old);
    world_run(&w, now_ms);
    judge_at_once(&w);
    world_run(&w, now_ms);
    world_dump(&w, out);
    dump_problems(&w, out);
    world_release(&w);
}

/* Fails with the first lines that differ. */
static void check_equal_lines(const char *incremental, const char *fresh, uint32_t seed)
{
    size_t same = 0;

    if (strcmp(incremental, fresh) == 0)
        return;
    for (size_t i = 0; incremental[i] == fresh[i]; i++) {
        if (incremental[i] == '\n')
            same = i + 1;
    }
    fail_msg("history %u differs:\n%.*s\nfresh:\n%.*s", seed,
             (int)strcspn(incremental + same, "\n"), incremental + same,
             (int)strcspn(fresh + same, "\n"), fresh + same);
}

static bool same_identity(const cJSON *json, const struct entry *entry)
{
    struct identity id;
    struct error err;

    assert_true(identity_read(json, &id, &err));
    return strcmp(id.kind, entry_kind(entry)) == 0 && strcmp(id.ns, entry_ns(entry)) == 0 &&
           strcmp(id.name, entry->name) == 0;
}

/* Frees the listed object of an entry, and removes it from the list. */
static void drop_object(cJSON **objects, size_t count, const struct entry *entry)
{
    for (size_t i = 0; i < count; i++) {
        if (objects[i] && same_identity(objects[i], entry)) {
            cJSON_Delete(objects[i]);
            objects[i] = NULL;
        }
    }
}

static void run_history(const struct rules_options *options, uint32_t seed)
{
    CLEANUP(strbuf_release) struct strbuf incremental = STRBUF_INIT(DUMP_MAX);
    CLEANUP(strbuf_release) struct strbuf fresh = STRBUF_INIT(DUMP_MAX);
    bool manifests_only = seed % 3 == 0;
    cJSON *objects[CHANGES] = {NULL};
    struct world w;
    int64_t now_ms;

    assert_true(parse_timestamp("2026-01-01T00:00:00Z", &now_ms));
    world_init(&w, options, seed);
    w.manifests_only = manifests_only;
    judge_at_once(&w);
    for (size_t i = 0; i < CHANGES; i++) {
        struct entry *gone = world_random(&w, 4) == 0 ? world_pick(&w) : NULL;

        if (gone) {
            drop_object(objects, i, gone);
            store_remove(w.store, gone);
        } else {
            cJSON *object = random_object(&w);

            world_put(&w, object);
            struct identity id;
            struct error err;
            assert_true(identity_read(object, &id, &err));
            drop_object(objects, i, store_find(w.store, &id));
            objects[i] = object;
        }
        now_ms += world_random(&w, 2000);
        if (world_random(&w, 3) == 0)
            engine_run(w.engine, now_ms, world_random(&w, 20));
    }
    world_run(&w, now_ms);
    /* A hidden problem ends a minute after its condition. */
    now_ms += 2 * 60 * 1000;
    world_run(&w, now_ms);
    world_dump(&w, &incremental);
    dump_problems(&w, &incremental);
    dump_fresh(options, &w, objects, CHANGES, now_ms, &fresh);
    check_equal_lines(incremental.data, fresh.data, seed);
    for (size_t i = 0; i < CHANGES; i++)
        cJSON_Delete(objects[i]);
    world_release(&w);
}

TEST(decisions_and_problems_of_any_history_equal_those_of_a_fresh_engine)
{
    for (uint32_t seed = 1; seed <= HISTORIES; seed++)
        run_history(&variants[seed % ARRAY_LEN(variants)], seed);
}

TEST(every_template_has_one_state)
{
    struct world w;

    world_init(&w, &rules_options_default, 7);
    random_objects(&w, CHANGES);
    world_run(&w, 0);
    size_t decided = 0;
    for (const struct type *type = store_first_type(w.store); type; type = type->next) {
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type) {
            for (size_t i = 0; i < partition->count; i++) {
                const struct template_decision *d =
                    template_decision(partition_entry(partition, i));

                assert_int_equal(d != NULL,
                                 type->def->class == CLASS_TEMPLATE &&
                                     entry_object(partition_entry(partition, i)) != NULL);
                decided += d && d->state < STATE_COUNT;
            }
        }
    }
    assert_int_equal(decided, store_object_count(w.store, CLASS_TEMPLATE));
    world_release(&w);
}
