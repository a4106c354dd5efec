/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector/audit.h"

#include "exporter/kube/source.h"
#include "metrics/model/object.h"
#include "metrics/model/policy.h"
#include "metrics/model/template.h"
#include "tests/unit/fake_api.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* The audit finds what no stream told, and nothing else. */

enum {
    START_MS = 1000,
    SEEDS = 20,
    HOUR_MS = 60 * 60 * 1000,
};

static const int64_t clock_offset_ms = INT64_C(1767225600000);

struct lab {
    struct fake_api api;
    struct world world;
    struct namespace_filter filter;
    struct log log;
    struct kube_source *source;
};

static void settle(struct lab *lab)
{
    unsigned turns = 0;

    do {
        assert_true(++turns < 100000);
        kube_source_turn(lab->source, lab->api.now_ms, clock_offset_ms + lab->api.now_ms);
    } while (fake_turn(&lab->api));
    kube_source_turn(lab->source, lab->api.now_ms, clock_offset_ms + lab->api.now_ms);
}

static void pass(struct lab *lab, int64_t ms)
{
    int64_t until_ms = lab->api.now_ms + ms;

    settle(lab);
    while (lab->api.now_ms < until_ms) {
        int64_t due_ms = kube_source_due(lab->source);
        int64_t step_ms = lab->api.now_ms + 10 * 1000;

        if (due_ms < step_ms)
            step_ms = due_ms > lab->api.now_ms ? due_ms : lab->api.now_ms + 1;
        lab->api.now_ms = step_ms < until_ms ? step_ms : until_ms;
        settle(lab);
    }
}

/* A policy's value has a priority of its own, and selects ConfigMaps. */
static void put_policy(struct lab *lab, const char *name, unsigned value)
{
    fake_put(&lab->api, FAKE_POLICY, "a", name, value * 6);
}

static void put_map(struct lab *lab, const char *name, unsigned value)
{
    fake_put(&lab->api, FAKE_CONFIG_MAP, "a", name, value);
}

static void remove_named(struct lab *lab, enum fake_kind kind, const char *name)
{
    for (size_t i = 0; i < lab->api.count; i++) {
        if (lab->api.objects[i].kind == kind && strcmp(lab->api.objects[i].name, name) == 0) {
            fake_remove(&lab->api, i);
            return;
        }
    }
    fail_msg("there is no %s", name);
}

static void write_something(struct lab *lab)
{
    static const char *const names[] = {"u", "v", "w", "x", "y", "z"};
    const char *name = names[fake_random(&lab->api, ARRAY_LEN(names))];
    uint32_t which = fake_random(&lab->api, 4);

    if (which == 0)
        put_policy(lab, name, fake_random(&lab->api, 6));
    else if (which == 1 && lab->api.count > 3)
        fake_remove(&lab->api, 1 + fake_random(&lab->api, (uint32_t)lab->api.count - 1));
    else
        put_map(lab, name, fake_random(&lab->api, 100));
}

static void write_much(struct lab *lab, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        write_something(lab);
}

/* Everything has been read; the first object has all ConfigMaps watched, and nobody changes it. */
static void lab_start(struct lab *lab, uint32_t seed, int64_t interval_ms)
{
    *lab = (struct lab){.log = {.level = LOG_LEVEL_ERROR, .stream = stderr}};
    fake_api_init(&lab->api, seed);
    lab->api.now_ms = START_MS;
    lab->api.bookmarks = seed % 2;
    lab->api.streaming_lists = seed % 3 == 0;
    world_init(&lab->world, &rules_options_default, seed);
    fake_put(&lab->api, FAKE_CLUSTER_POLICY, "", "all", 0);
    write_much(lab, 20);
    lab->source = kube_source_new(&(struct kube_settings){
        .store = lab->world.store,
        .engine = lab->world.engine,
        .filter = &lab->filter,
        .log = &lab->log,
        .transport = fake_api_transport(&lab->api),
        .streaming_lists = true,
        .audit_interval_ms = interval_ms,
        .seed = 7,
        .now_ms = lab->api.now_ms,
        .clock_ms = clock_offset_ms,
    });
    pass(lab, 10 * 1000);
    assert_true(kube_source_ready(lab->source));
}

static void lab_release(struct lab *lab)
{
    kube_source_free(lab->source);
    assert_null(lab->api.transfers);
    fake_api_release(&lab->api);
    world_release(&lab->world);
}

/* How many objects the store has otherwise than the server. */
static unsigned count_wrong(const struct lab *lab)
{
    size_t policies = 0, maps = 0;
    unsigned wrong = 0;

    for (size_t i = 0; i < lab->api.count; i++) {
        const struct fake_object *o = &lab->api.objects[i];
        const struct fake_kind_row *row = &fake_kinds[o->kind];
        const struct entry *entry =
            world_find(&lab->world, row->api_version, row->kind, o->ns, o->name);
        bool there = entry && entry_exists(entry);
        char value[16];

        snprintf(value, sizeof(value), "%u", o->value);
        if (row->template) {
            maps++;
            wrong += !there || strcmp(entry_template(entry)->labels.items[0].value, value) != 0;
        } else {
            policies++;
            wrong += !there || entry_policy(entry)->priority != (int32_t)(o->value % 7);
        }
    }
    wrong += store_count(lab->world.store, CLASS_POLICY) != policies;
    return wrong + (store_count(lab->world.store, CLASS_TEMPLATE) != maps);
}

static uint64_t count_lists(const struct lab *lab)
{
    uint64_t lists = 0;

    for (size_t i = 0; i < kube_source_count(lab->source); i++)
        lists += kube_source_reflector(lab->source, i)->watch.counts.lists;
    return lists;
}

static uint64_t count_divergences(const struct lab *lab)
{
    uint64_t count = 0;

    for (size_t i = 0; i < kube_source_count(lab->source); i++)
        count += kube_source_reflector(lab->source, i)->watch.counts.divergences;
    return count;
}

static uint64_t count_audits(const struct lab *lab)
{
    uint64_t count = 0;

    for (size_t i = 0; i < kube_source_count(lab->source); i++)
        count += kube_source_reflector(lab->source, i)->watch.counts.audits;
    return count;
}

/* The store loses an object, has one that is gone, or an old one; the streams know of nothing. */
static void plant_missing(struct lab *lab)
{
    store_remove(lab->world.store, world_find(&lab->world, "v1", "ConfigMap", "a", "known"));
}

static void plant_phantom(struct lab *lab)
{
    remove_named(lab, FAKE_CONFIG_MAP, "known");
    lab->api.log_count--;
    put_map(lab, "other", 1);
}

static void plant_old(struct lab *lab)
{
    put_map(lab, "known", 2);
    lab->api.log_count--;
    put_map(lab, "other", 1);
}

static struct planted {
    const char *title;
    void (*plant)(struct lab *lab);
} planted[] = {
    {"missing", plant_missing},
    {"gone there", plant_phantom},
    {"another version", plant_old},
};

TEST_ROWS(what_is_planted_is_found_counted_and_healed, planted, title)
{
    const struct planted *p = *state;
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        lab_start(lab, seed, 60 * 1000);
        lab->log.level = LOG_LEVEL_ERROR;
        lab->api.paginates = seed % 4 < 2;
        put_map(lab, "known", 1);
        settle(lab);
        assert_int_equal(count_wrong(lab), 0);
        p->plant(lab);
        settle(lab);
        assert_true(count_wrong(lab) > 0);
        /* Before any stream ends. */
        pass(lab, 260 * 1000);
        assert_int_equal(count_wrong(lab), 0);
        assert_int_equal(count_divergences(lab), 1);
        lab_release(lab);
    }
}

/* Whatever is written, cut or lags meanwhile: nothing is found, nothing is listed anew or swept. */
TEST(what_changes_meanwhile_is_no_divergence)
{
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));
    uint64_t audits = 0;

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        lab_start(lab, seed, 60 * 1000);
        lab->api.paginates = seed % 4 < 2;
        for (unsigned i = 0; i < 3000; i++) {
            write_much(lab, fake_random(&lab->api, 3));
            pass(lab, fake_random(&lab->api, 300));
            if (fake_random(&lab->api, 300) == 0)
                lab->api.behind = fake_random(&lab->api, 10);
            if (fake_random(&lab->api, 300) == 0)
                fake_cut_all(&lab->api);
        }
        assert_int_equal(count_divergences(lab), 0);
        lab->api.behind = 0;
        pass(lab, 5 * 60 * 1000);
        assert_int_equal(count_divergences(lab), 0);
        assert_int_equal(count_wrong(lab), 0);
        audits += count_audits(lab);
        lab_release(lab);
    }
    assert_true(audits > SEEDS * 20);
}

/* Every resource once an hour, one after the other, and the first after an hour. */
TEST(the_interval_is_kept)
{
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));

    lab_start(lab, 3, HOUR_MS);

    uint64_t lists = count_lists(lab);
    pass(lab, HOUR_MS - 60 * 1000);
    assert_int_equal(count_audits(lab), 0);
    pass(lab, 5 * HOUR_MS + 120 * 1000);

    uint64_t audits = count_audits(lab) / kube_source_count(lab->source);
    assert_in_range(audits, 5, 6);
    assert_int_equal(count_lists(lab), lists);
    lab_release(lab);
}

TEST(without_an_interval_there_is_none)
{
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));

    lab_start(lab, 3, 0);
    pass(lab, 30 * HOUR_MS);
    assert_int_equal(count_audits(lab), 0);
    lab_release(lab);
}

/* Whatever there is to do, no more than a page in a quarter of a second. */
TEST(pages_have_their_pauses)
{
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));

    lab_start(lab, 5, HOUR_MS);
    lab->api.paginates = true;
    for (unsigned i = 0; i < 120; i++) {
        char name[16];

        snprintf(name, sizeof(name), "m%u", i);
        put_map(lab, name, 1);
    }
    pass(lab, HOUR_MS - 10 * 1000);

    uint64_t audits = count_audits(lab);
    pass(lab, 9 * 1000);
    audits = count_audits(lab) - audits;
    assert_true(audits < kube_source_count(lab->source));
    pass(lab, 60 * 1000);
    assert_int_equal(count_audits(lab), kube_source_count(lab->source));
    lab_release(lab);
}
