/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector/history.h"
#include "exporter/kube/shared/haste.h"
#include "exporter/kube/source.h"
#include "metrics/model/object.h"
#include "metrics/model/policy.h"
#include "metrics/model/template.h"
#include "tests/unit/fake_api.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* A server that is restored from a backup: whatever happens then, nothing old stays. */

enum {
    START_MS = 1000,
    SEEDS = 40,
    /* The longest wait after a connection was lost, and what follows from it at once. */
    SOON_MS = 1700,
    CALM_MS = 5 * 60 * 1000,
};

static const int64_t clock_offset_ms = INT64_C(1767225600000);

struct lab {
    struct fake_api api;
    struct world world;
    struct namespace_filter filter;
    struct log log;
    struct kube_source *source;
    struct fake_snapshot backup;
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
static void lab_start(struct lab *lab, uint32_t seed)
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

/* ---- restores ---- */

/* What happens between the backup and the restore, and until the streams are back. */
static struct restore_case {
    const char *title;
    unsigned lost;  /* Changes that the backup does not have, */
    unsigned after; /* and those after the restore, before anybody reads. */
    bool quiet_ms;  /* Meanwhile bookmarks come. */
} restore_cases[] = {
    {"and nobody writes", 10, 0, false},
    {"to what all know", 0, 0, false},
    {"and few write", 10, 4, false},
    {"and writers come just as far", 10, 10, false},
    {"and one change was lost, one came", 1, 1, false},
    {"and writers pass what we know", 10, 30, false},
    {"and writers rewrite everything", 10, 300, false},
    {"after bookmarks", 10, 5, true},
};

static void play_restore(const struct restore_case *c, uint32_t seed)
{
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));

    lab_start(lab, seed);
    fake_save(&lab->api, &lab->backup);
    for (unsigned i = 0; i < c->lost; i++) {
        write_something(lab);
        settle(lab);
    }
    if (c->quiet_ms)
        pass(lab, CALM_MS);
    assert_int_equal(count_wrong(lab), 0);
    fake_restore(&lab->api, &lab->backup);
    write_much(lab, c->after);
    pass(lab, SOON_MS);
    if (count_wrong(lab) > 0)
        fail_msg("seed %u: %u objects are wrong", seed, count_wrong(lab));
    write_much(lab, 20);
    pass(lab, 10);
    assert_int_equal(count_wrong(lab), 0);
    lab_release(lab);
}

TEST_ROWS(a_restore, restore_cases, title)
{
    for (uint32_t seed = 1; seed <= SEEDS; seed++)
        play_restore(*state, seed);
}

/* One after the other, as often as one likes. */
TEST(every_restore_counts)
{
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));

    lab_start(lab, 4);
    for (unsigned i = 0; i < 20; i++) {
        fake_save(&lab->api, &lab->backup);
        write_much(lab, 12);
        pass(lab, 10 * 1000);
        fake_restore(&lab->api, &lab->backup);
        write_much(lab, i % 3 * 7);
        pass(lab, SOON_MS);
        assert_int_equal(count_wrong(lab), 0);
    }
    lab_release(lab);
}

/* The last change was a deletion, and others have passed its number: the object lives again. */
TEST(what_was_deleted_lives_again)
{
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));

    lab_start(lab, 5);
    put_map(lab, "gone", 1);
    settle(lab);
    fake_save(&lab->api, &lab->backup);
    remove_named(lab, FAKE_CONFIG_MAP, "gone");
    settle(lab);
    assert_int_equal(count_wrong(lab), 0);
    fake_restore(&lab->api, &lab->backup);
    /* Of a kind that nobody watches. */
    for (unsigned i = 0; i < 5; i++)
        fake_put(&lab->api, FAKE_DEPLOYMENT, "a", "d", i);
    remove_named(lab, FAKE_DEPLOYMENT, "d");
    pass(lab, SOON_MS);
    assert_int_equal(count_wrong(lab), 0);
    lab_release(lab);
}

/* The same version of the same object, and another content. */
TEST(equal_numbers_are_no_proof)
{
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));

    lab_start(lab, 5);
    put_map(lab, "same", 1);
    put_policy(lab, "quiet", 1);
    settle(lab);
    fake_save(&lab->api, &lab->backup);
    put_map(lab, "same", 2);
    settle(lab);
    fake_restore(&lab->api, &lab->backup);
    put_map(lab, "same", 3);
    pass(lab, SOON_MS);
    assert_int_equal(count_wrong(lab), 0);
    lab_release(lab);
}

/*
 * What happens to a kind between the backup and the number at which its stream goes on, the
 * stream does not bring; and nothing of that kind was undone. Another kind notices.
 */
TEST(one_kind_tells_the_others)
{
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));

    for (unsigned passed = 0; passed < 2; passed++) {
        lab_start(lab, 7);
        put_policy(lab, "quiet", 1);
        fake_save(&lab->api, &lab->backup);
        for (unsigned i = 0; i < 10; i++)
            put_map(lab, "busy", i);
        pass(lab, CALM_MS);
        fake_restore(&lab->api, &lab->backup);
        put_policy(lab, "quiet", 2);
        for (unsigned i = 0; i < 20 * passed; i++)
            put_map(lab, "busy", i);
        pass(lab, SOON_MS);
        assert_int_equal(count_wrong(lab), 0);
        lab_release(lab);
    }
}

/* Nothing that we know of was undone, but the server's number is below ours. */
TEST(a_number_below_ours_is_enough)
{
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));

    lab_start(lab, 7);
    fake_save(&lab->api, &lab->backup);
    for (unsigned i = 0; i < 20; i++)
        fake_put(&lab->api, FAKE_DEPLOYMENT, "a", "d", i);
    pass(lab, CALM_MS);
    fake_restore(&lab->api, &lab->backup);
    put_policy(lab, "new", 2);
    pass(lab, SOON_MS);
    assert_int_equal(count_wrong(lab), 0);
    lab_release(lab);
}

/* It tells nothing of the past: what can be known without that is known. */
TEST(a_server_without_memory)
{
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        lab_start(lab, seed);
        lab->api.forgetful = true;
        fake_save(&lab->api, &lab->backup);
        write_much(lab, 10);
        put_map(lab, "last", 1);
        settle(lab);
        fake_restore(&lab->api, &lab->backup);
        write_much(lab, seed % 3 * 10);
        pass(lab, SOON_MS + 600);
        assert_int_equal(count_wrong(lab), 0);
        lab_release(lab);
    }
}

/* What is asked about is not found: it may have gone since, or nobody serves such lists. */
TEST(lists_that_are_not_found)
{
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        lab_start(lab, seed);
        lab->api.unlisted = true;
        for (unsigned i = 0; i < 10; i++) {
            fake_cut_all(&lab->api);
            write_much(lab, fake_random(&lab->api, 30));
            pass(lab, 20 * 1000);
            assert_int_equal(count_wrong(lab), 0);
        }
        lab_release(lab);
    }
}

/* ---- what is no restore ---- */

/* However often streams are cut while everything changes, nothing is listed again. */
TEST(ordinary_changes_cause_no_list)
{
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        lab_start(lab, seed);
        lab->api.forgetful = seed % 5 == 0;

        uint64_t lists = count_lists(lab);
        for (unsigned i = 0; i < 30; i++) {
            fake_cut_all(&lab->api);
            write_much(lab, fake_random(&lab->api, 30));
            pass(lab, fake_random(&lab->api, 2000));
            write_much(lab, fake_random(&lab->api, 3));
        }
        pass(lab, CALM_MS);
        assert_int_equal(count_lists(lab), lists);
        assert_int_equal(count_wrong(lab), 0);
        lab_release(lab);
    }
}

/* Streams are resumed at a server whose cache is behind. */
TEST(a_cache_that_lags_is_no_restore)
{
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        lab_start(lab, seed);

        uint64_t lists = count_lists(lab);
        for (unsigned i = 0; i < 10; i++) {
            write_much(lab, 10);
            settle(lab);
            lab->api.behind = 1 + fake_random(&lab->api, 20);
            fake_cut_all(&lab->api);
            write_much(lab, fake_random(&lab->api, 5));
            pass(lab, 20 * 1000);
            lab->api.behind = 0;
            settle(lab);
            assert_int_equal(count_wrong(lab), 0);
        }
        assert_int_equal(count_lists(lab), lists);
        lab_release(lab);
    }
}

/* ---- what goes back on a stream ---- */

static const char old_bookmark[] = "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"x\",\"metadata\":"
                                   "{\"resourceVersion\":\"9\"}}}\n";
static const char old_event[] =
    "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"namespace\":\"a\",\"name\":\"x\","
    "\"resourceVersion\":\"9\"}}}\n";

TEST(what_goes_back_is_listed_anew_and_not_believed)
{
    static const char *const texts[] = {old_bookmark, old_event};
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        lab_start(lab, 8);
        put_map(lab, "x", 1);
        settle(lab);

        uint64_t lists = count_lists(lab);
        fake_say(&lab->api, FAKE_CONFIG_MAP, texts[i]);
        for (unsigned turn = 0; turn < 50; turn++) {
            kube_source_turn(lab->source, lab->api.now_ms, clock_offset_ms);
            fake_turn(&lab->api);
            assert_int_equal(count_wrong(lab), 0);
        }
        settle(lab);
        assert_int_equal(count_lists(lab), lists + 1);
        lab_release(lab);
    }
}

/* A server whose versions have no order costs a list in ten seconds at most, of one kind. */
TEST(what_always_goes_back_is_listed_with_patience)
{
    CLEANUP(free_cleanup) struct lab *lab = xcalloc(1, sizeof(*lab));

    lab_start(lab, 8);

    uint64_t lists = count_lists(lab);
    for (unsigned i = 0; i < 600; i++) {
        fake_say(&lab->api, FAKE_CONFIG_MAP, old_bookmark);
        pass(lab, 100);
    }
    assert_in_range(count_lists(lab) - lists, 4, 4 + 6);
    pass(lab, 20 * 1000);
    write_much(lab, 10);
    pass(lab, 10);
    assert_int_equal(count_wrong(lab), 0);
    lab_release(lab);
}

/* ---- the newest object ---- */

static cJSON *object(const char *json)
{
    struct error err;
    cJSON *parsed = json_parse(json, strlen(json), NULL, &err);

    assert_non_null(parsed);
    return parsed;
}

#define OBJECT(version, value)                                                                     \
    "{\"metadata\":{\"namespace\":\"a\",\"name\":\"x\",\"resourceVersion\":\"" version             \
    "\"},\"spec\":{\"v\":" value ",\"w\":[1,2]}}"

/* All that is known is object 'x' of version 60, or that it was deleted then; we are at 100. */
static struct judge_case {
    const char *title;
    bool deleted;
    const char *now; /* NULL: it is not there. */
    enum newest_verdict verdict;
    enum newest_verdict past;
} judge_cases[] = {
    {"as it was", false, OBJECT("60", "1"), NEWEST_HOLDS, NEWEST_HOLDS},
    {"another order of members", false,
     "{\"spec\":{\"w\":[1,2],\"v\":1},\"metadata\":{\"resourceVersion\":\"60\",\"name\":\"x\","
     "\"namespace\":\"a\"}}",
     NEWEST_HOLDS, NEWEST_HOLDS},
    {"another content", false, OBJECT("60", "2"), NEWEST_ALTERED, NEWEST_ALTERED},
    {"older", false, OBJECT("59", "1"), NEWEST_UNDONE, NEWEST_UNDONE},
    {"older, with fewer digits", false, OBJECT("9", "1"), NEWEST_UNDONE, NEWEST_UNDONE},
    {"newer, and we would know", false, OBJECT("61", "1"), NEWEST_UNDONE, NEWEST_UNDONE},
    {"as new as we are", false, OBJECT("100", "1"), NEWEST_UNDONE, NEWEST_UNDONE},
    {"newer than we are", false, OBJECT("101", "1"), NEWEST_UNDECIDED, NEWEST_UNDONE},
    {"of no number", false, OBJECT("abc", "1"), NEWEST_UNDECIDED, NEWEST_UNDONE},
    {"gone", false, NULL, NEWEST_UNDECIDED, NEWEST_UNDONE},
    {"deleted, and gone", true, NULL, NEWEST_HOLDS, NEWEST_HOLDS},
    {"deleted, and back", true, OBJECT("50", "1"), NEWEST_UNDONE, NEWEST_UNDONE},
    {"deleted, and made anew", true, OBJECT("101", "1"), NEWEST_UNDECIDED, NEWEST_UNDONE},
};

TEST_ROWS(judged, judge_cases, title)
{
    const struct judge_case *c = *state;
    CLEANUP(json_cleanup) cJSON *then = object(OBJECT("60", "1"));
    CLEANUP(json_cleanup) cJSON *now = c->now ? object(c->now) : NULL;
    struct newest newest = {0};

    newest_note(&newest, then, "60", c->deleted);
    assert_int_equal(newest_judge(&newest, "100", now), c->verdict);
    assert_int_equal(newest_judge_past(&newest, now), c->past);
}

TEST(a_list_keeps_a_later_deletion_and_nothing_else)
{
    CLEANUP(json_cleanup) cJSON *x = object(OBJECT("60", "1"));
    CLEANUP(json_cleanup) cJSON *y = object("{\"metadata\":{\"name\":\"y\"}}");
    struct newest newest = {0}, listed = {0}, none = {0};

    newest_note_listed(&listed, y, "9");
    newest_note_listed(&listed, x, "60");
    newest_note_listed(&listed, y, "10");
    assert_string_equal(listed.version, "60");
    newest_note(&newest, y, "61", false);
    newest_replace(&newest, &listed);
    assert_string_equal(newest.name, "x");
    newest_note(&newest, y, "61", true);
    newest_replace(&newest, &listed);
    assert_string_equal(newest.name, "y");
    newest_replace(&newest, &none);
    assert_string_equal(newest.name, "y");
    newest_note(&newest, y, "59", true);
    newest_replace(&newest, &listed);
    assert_string_equal(newest.name, "x");
    newest_replace(&newest, &none);
    assert_string_equal(newest.name, "");
}

TEST(haste_is_used_up_and_comes_back)
{
    struct haste haste = {0};

    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(haste_due(&haste, 10, 1000), 1000);
        haste_spend(&haste, 10, 1000);
    }
    assert_int_equal(haste_due(&haste, 10, 1000), 1010);
    assert_int_equal(haste_due(&haste, 10, 1010), 1010);
    haste_spend(&haste, 10, 1010);
    assert_int_equal(haste_due(&haste, 10, 1010), 1020);
    assert_false(haste_take(&haste, 10, 1019));
    assert_true(haste_take(&haste, 10, 1020));
    assert_false(haste_take(&haste, 10, 1020));
    assert_int_equal(haste_due(&haste, 10, 5000), 5000);
}

#define ORIGIN(uid, generation, time)                                                              \
    "{\"metadata\":{\"namespace\":\"a\",\"name\":\"x\",\"resourceVersion\":\"60\",\"uid\":\"" uid  \
    "\",\"generation\":" generation ",\"managedFields\":[{\"time\":\"2026-01-01T00:00:00Z\"},"     \
    "{\"time\":\"" time "\"}]}}"

TEST(what_only_a_list_brought_is_known_by_its_version_and_origin)
{
    static const struct {
        const char *now;
        enum newest_verdict verdict;
    } rows[] = {
        {ORIGIN("u", "1", "t"), NEWEST_HOLDS},
        {"{\"spec\":{\"v\":2}," /* Its content is not known. */
         "\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"60\",\"uid\":\"u\",\"generation\":1,"
         "\"managedFields\":[{\"time\":\"2026-01-01T00:00:00Z\"},{\"time\":\"t\"}]}}",
         NEWEST_HOLDS},
        {ORIGIN("v", "1", "t"), NEWEST_ALTERED},
        {ORIGIN("u", "2", "t"), NEWEST_ALTERED},
        {ORIGIN("u", "1", "s"), NEWEST_ALTERED},
    };
    CLEANUP(json_cleanup) cJSON *then = object(ORIGIN("u", "1", "t"));
    struct newest newest = {0};

    newest_note_listed(&newest, then, "60");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP(json_cleanup) cJSON *now = object(rows[i].now);

        assert_int_equal(newest_judge(&newest, "100", now), rows[i].verdict);
        assert_int_equal(newest_judge_past(&newest, now), rows[i].verdict);
    }
}

/* What a change of object x (uid u, or deleted) may be followed by. */
TEST(a_new_object_follows_a_deletion_only)
{
    CLEANUP(json_cleanup) cJSON *then = object(ORIGIN("u", "1", "t"));
    CLEANUP(json_cleanup) cJSON *next = object(ORIGIN("u", "2", "t"));
    CLEANUP(json_cleanup) cJSON *other = object(ORIGIN("v", "1", "t"));
    struct newest newest = {0};

    newest_note_listed(&newest, then, "60");
    assert_true(newest_is_followed_by(&newest, next, false));
    assert_true(newest_is_followed_by(&newest, next, true));
    assert_false(newest_is_followed_by(&newest, other, false));
    newest_note(&newest, then, "60", true);
    assert_true(newest_is_followed_by(&newest, other, false));
}

/* ---- a check that the end of its stream interrupts ---- */

static void bring(struct history *h, const char *json, const char *version)
{
    static const struct watch streaming = {.phase = WATCH_STREAMING, .version = "100"};
    CLEANUP(json_cleanup) cJSON *brought = object(json);

    history_note(
        h, &streaming,
        &(struct watch_event){.kind = EVENT_OBJECT, .object = brought, .version = version});
}

TEST(what_an_interrupted_check_leaves_open_is_listed)
{
    static const struct {
        const char *title;
        const char *next; /* What the stream brings meanwhile; NULL: nothing. */
        bool open;
    } rows[] = {
        {"the next stream's check asks the same", NULL, false},
        {"another object is the newest now", "{\"metadata\":{\"name\":\"y\"}}", true},
        {"the same object was changed", OBJECT("101", "2"), false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct history h = {.resumed = true};

        bring(&h, OBJECT("60", "1"), "60");
        history_check(&h, (struct recheck_spec){.position = "100"}, 0);
        if (rows[i].next)
            bring(&h, rows[i].next, "101");
        if (history_end_request(&h) != rows[i].open)
            fail_msg("%s", rows[i].title);
        assert_false(history_end_request(&h));
        recheck_release(&h.recheck);
    }
}
