/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report.h"

#include "metrics/base/timestamp.h"
#include "tests/unit/golden.h"
#include "tests/unit/page.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"

enum { REPORT_MAX_BYTES = 4 << 20, OBJECTS = 150 };

static const struct report_invalid wrong[] = {
    {REPORT_INVALID, "Manifest", "team/app.yaml", 3, 7, "a mapping key has no \"value\""},
    {REPORT_DUPLICATES, "Manifest", "team/old.yaml", 1, 0, "ConfigMap 'a/b' is declared again"},
    {REPORT_REPEATED_KEYS, "Manifest", "team/old.yaml", 2, 3, "the key 'a' appears twice"},
};

struct golden_case {
    const char *name;
    const char *objects;
    const char *report;
    size_t invalid_count;
};

static struct golden_case golden_cases[] = {
    {"objects with bindings", "observed.json", "observed.report.json", 0},
    {"manifests without bindings", "derived.json", "derived.report.json", ARRAY_LEN(wrong)},
    {"stale templates and member clusters", "capacity.json", "capacity.report.json", 0},
    {"an empty control plane", "empty.json", "empty.report.json", 0},
};

static void write_golden_report(const char *objects, size_t invalid_count, struct strbuf *out)
{
    const struct report_files files = {.invalid = wrong, .invalid_count = invalid_count};
    struct problem_options options = {.snapshot = true, .only_proven_times = true};
    struct world w;
    int64_t now_ms;

    assert_true(parse_timestamp("2026-01-01T04:00:00Z", &now_ms));
    world_init(&w, &rules_options_default, 1);
    golden_load(&w, objects);
    world_run(&w, now_ms);
    problem_settings_reset(&options.settings);
    engine_judge_problems(w.engine, &options);
    world_run(&w, now_ms);
    report_write(w.engine, &files, out);
    assert_true(strbuf_ok(out));
    world_release(&w);
}

TEST_ROWS(report_equals_the_golden_report_of, golden_cases, name)
{
    const struct golden_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(REPORT_MAX_BYTES);
    struct error err;

    write_golden_report(c->objects, c->invalid_count, &out);
    cJSON *tree = json_parse(out.data, out.len, NULL, &err);
    assert_non_null(tree);
    cJSON_Delete(tree);
    golden_check(c->report, out.data);
}

static int64_t sum_of(const cJSON *object)
{
    const cJSON *member;
    int64_t sum = 0;

    cJSON_ArrayForEach (member, object)
        sum += (int64_t)member->valuedouble;
    return sum;
}

/*
 * Random objects in two orders: the reports are equal, except for their history. The states in the
 * summary add up to the number of templates.
 */
TEST(report_does_not_depend_on_the_order_of_objects)
{
    CLEANUP(strbuf_release) struct strbuf one = STRBUF_INIT(REPORT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf other = STRBUF_INIT(REPORT_MAX_BYTES);
    struct error err;

    for (uint32_t seed = 1; seed <= 20; seed++) {
        struct world forth;
        struct world back;
        cJSON *objects[OBJECTS];

        world_init(&forth, &rules_options_default, seed);
        world_init(&back, &rules_options_default, seed + 1000);
        for (size_t i = 0; i < OBJECTS; i++) {
            objects[i] = random_object(&forth);
            world_put(&forth, objects[i]);
        }
        /* The last version of an object counts, so the first, backward pass sets only the order. */
        for (size_t i = 0; i < 2 * OBJECTS; i++)
            world_put(&back, objects[i < OBJECTS ? OBJECTS - 1 - i : i - OBJECTS]);
        world_run(&forth, 0);
        world_run(&back, 0);
        strbuf_reset(&one);
        strbuf_reset(&other);
        report_write(forth.engine, NULL, &one);
        report_write(back.engine, NULL, &other);
        report_drop_history(&one);
        report_drop_history(&other);
        assert_string_equal(one.data, other.data);

        cJSON *tree = json_parse(one.data, one.len, NULL, &err);
        assert_non_null(tree);
        const cJSON *summary = json_get(tree, "summary");
        assert_int_equal(sum_of(json_get(summary, "templates")),
                         cJSON_GetArraySize(json_get(tree, "templates")));
        assert_int_equal(store_object_count(forth.store, CLASS_TEMPLATE),
                         cJSON_GetArraySize(json_get(tree, "templates")));
        cJSON_Delete(tree);
        for (size_t i = 0; i < OBJECTS; i++)
            cJSON_Delete(objects[i]);
        world_release(&forth);
        world_release(&back);
    }
}
