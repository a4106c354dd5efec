/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/restore_detection.h"
#include "exporter/system/rate_limit.h"
#include "tests/unit/follow.h"
#include "tests/unit/suite.h"

/* After a restore of the server from a backup, the store must equal the server again. */

enum {
    SEEDS = 40,
    /* Longest wait after a lost connection, and time for the requests that follow. */
    SOON_MS = 1700,
    CALM_MS = 5 * 60 * 1000,
};

/* ---- restores ---- */

/* Changes before and after a restore. */
static struct restore_case {
    const char *title;
    unsigned lost;  /* Changes between the backup and the restore. */
    unsigned after; /* Changes between the restore and the next requests. */
    bool bookmarks; /* Five minutes pass before the restore, enough for bookmarks. */
} restore_cases[] = {
    {"no new changes", 10, 0, false},
    {"no changes at all", 0, 0, false},
    {"fewer new changes than lost ones", 10, 4, false},
    {"as many new changes as lost ones", 10, 10, false},
    {"one lost change, one new change", 1, 1, false},
    {"more new changes than lost ones", 10, 30, false},
    {"new changes of all objects", 10, 300, false},
    {"time for bookmarks before the restore", 10, 5, true},
};

/* Returns the last change of a kind in the log; NULL without one. */
static const struct fake_change *find_last_change(const struct fake_api *api, enum fake_kind kind)
{
    for (size_t i = api->log_count; i-- > 0;) {
        if (api->log[i].object.kind == kind)
            return &api->log[i];
    }
    return NULL;
}

/* Returns true if the object of a change existed at a version after the restore to `backup`. */
static bool existed_at(const struct fake_api *api, const struct fake_snapshot *backup,
                       const struct fake_object *object, uint64_t version)
{
    bool exists = false;

    for (size_t i = 0; i < backup->count; i++)
        exists |= backup->objects[i].kind == object->kind &&
                  strcmp(backup->objects[i].name, object->name) == 0;
    for (size_t i = 0; i < api->log_count && api->log[i].version <= version; i++) {
        const struct fake_object *changed = &api->log[i].object;

        if (changed->kind == object->kind && strcmp(changed->name, object->name) == 0)
            exists = strcmp(api->log[i].type, "DELETED") != 0;
    }
    return exists;
}

/* Returns false if the restore shows in no kind: the last change was a deletion, and holds again.
 */
static bool is_detectable(const struct fake_api *api, const struct fake_snapshot *backup,
                          const struct fake_change last[2], uint64_t version)
{
    if (api->version <= version)
        return true;
    for (size_t i = 0; i < 2; i++) {
        if (!last[i].type || strcmp(last[i].type, "DELETED") != 0 ||
            existed_at(api, backup, &last[i].object, version))
            return true;
    }
    return false;
}

/* Returns false if the restore cannot be detected (restore_detection.h). */
static bool run_restore(const struct restore_case *c, uint32_t seed)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));
    static const enum fake_kind kinds[] = {FAKE_POLICY, FAKE_CONFIG_MAP};
    struct fake_change last[ARRAY_LEN(kinds)] = {0};
    struct fake_snapshot backup;

    follow_start_synced(lab, seed, 0);
    fake_save(&lab->api, &backup);
    for (unsigned i = 0; i < c->lost; i++) {
        follow_write(lab, 1);
        follow_settle(lab);
    }
    if (c->bookmarks)
        follow_pass(lab, CALM_MS);
    assert_int_equal(follow_count_wrong(lab), 0);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct fake_change *change = find_last_change(&lab->api, kinds[i]);

        if (change)
            last[i] = *change;
    }
    uint64_t version = lab->api.version;
    fake_restore(&lab->api, &backup);
    follow_write(lab, c->after);
    bool detectable = is_detectable(&lab->api, &backup, last, version);
    follow_pass(lab, SOON_MS);
    if (detectable && follow_count_wrong(lab) > 0)
        fail_msg("seed %u: %u objects are wrong", seed, follow_count_wrong(lab));
    follow_write(lab, 20);
    follow_pass(lab, 10);
    if (detectable)
        assert_int_equal(follow_count_wrong(lab), 0);
    follow_release(lab);
    return detectable;
}

TEST_ROWS(store_equals_the_restored_server, restore_cases, title)
{
    unsigned detectable = 0;

    for (uint32_t seed = 1; seed <= SEEDS; seed++)
        detectable += run_restore(*state, seed);
    assert_in_range(detectable, SEEDS * 9 / 10, SEEDS);
}

TEST(repeated_restores_are_detected)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));
    struct fake_snapshot backup;

    follow_start_synced(lab, 4, 0);
    for (unsigned i = 0; i < 20; i++) {
        fake_save(&lab->api, &backup);
        follow_write(lab, 12);
        follow_pass(lab, 10 * 1000);
        fake_restore(&lab->api, &backup);
        follow_write(lab, i % 3 * 7);
        follow_pass(lab, SOON_MS);
        assert_int_equal(follow_count_wrong(lab), 0);
    }
    follow_release(lab);
}

/* The last change is a deletion. After the restore, other changes reach higher versions than it. */
TEST(undone_deletion_is_detected)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));
    struct fake_snapshot backup;

    follow_start_synced(lab, 5, 0);
    follow_put_map(lab, "gone", 1);
    follow_settle(lab);
    fake_save(&lab->api, &backup);
    follow_remove(lab, FAKE_CONFIG_MAP, "gone");
    follow_settle(lab);
    assert_int_equal(follow_count_wrong(lab), 0);
    fake_restore(&lab->api, &backup);
    /* No reflector watches Deployments. */
    for (unsigned i = 0; i < 5; i++)
        fake_put(&lab->api, FAKE_DEPLOYMENT, "a", "d", i);
    follow_remove(lab, FAKE_DEPLOYMENT, "d");
    follow_pass(lab, SOON_MS);
    assert_int_equal(follow_count_wrong(lab), 0);
    follow_release(lab);
}

TEST(other_content_of_the_same_version_is_detected)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));
    struct fake_snapshot backup;

    follow_start_synced(lab, 5, 0);
    follow_put_map(lab, "same", 1);
    follow_put_policy(lab, "quiet", 1);
    follow_settle(lab);
    fake_save(&lab->api, &backup);
    follow_put_map(lab, "same", 2);
    follow_settle(lab);
    fake_restore(&lab->api, &backup);
    follow_put_map(lab, "same", 3);
    follow_pass(lab, SOON_MS);
    assert_int_equal(follow_count_wrong(lab), 0);
    follow_release(lab);
}

/*
 * The restore undoes changes of ConfigMaps only. The stream of policies resumes above the version
 * of the new policy change, and does not deliver this change.
 */
TEST(restore_detected_for_one_kind_relists_the_others)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));
    struct fake_snapshot backup;

    for (unsigned passed = 0; passed < 2; passed++) {
        follow_start_synced(lab, 7, 0);
        follow_put_policy(lab, "quiet", 1);
        fake_save(&lab->api, &backup);
        for (unsigned i = 0; i < 10; i++)
            follow_put_map(lab, "busy", i);
        follow_pass(lab, CALM_MS);
        fake_restore(&lab->api, &backup);
        follow_put_policy(lab, "quiet", 2);
        for (unsigned i = 0; i < 20 * passed; i++)
            follow_put_map(lab, "busy", i);
        follow_pass(lab, SOON_MS);
        assert_int_equal(follow_count_wrong(lab), 0);
        follow_release(lab);
    }
}

TEST(restore_is_logged_once)
{
    static const char message[] = "the API server was restored from a backup";
    struct follow_lab lab;
    struct fake_snapshot backup;
    char *text = NULL;
    size_t len = 0;

    follow_start_synced(&lab, 5, 0);
    lab.log = (struct log){.level = LOG_LEVEL_WARN, .stream = open_memstream(&text, &len)};
    assert_non_null(lab.log.stream);
    fake_save(&lab.api, &backup);
    follow_write(&lab, 10);
    follow_pass(&lab, CALM_MS);
    fake_restore(&lab.api, &backup);
    follow_pass(&lab, CALM_MS);
    fclose(lab.log.stream);
    lab.log = (struct log){.level = LOG_LEVEL_ERROR, .stream = stderr};
    assert_non_null(strstr(text, message));
    assert_null(strstr(strstr(text, message) + 1, message));
    free(text);
    follow_release(&lab);
}

/* The restore undoes only changes of Deployments, which no reflector watches. */
TEST(lower_version_of_the_server_is_detected)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));
    struct fake_snapshot backup;

    follow_start_synced(lab, 7, 0);
    fake_save(&lab->api, &backup);
    for (unsigned i = 0; i < 20; i++)
        fake_put(&lab->api, FAKE_DEPLOYMENT, "a", "d", i);
    follow_pass(lab, CALM_MS);
    fake_restore(&lab->api, &backup);
    follow_put_policy(lab, "new", 2);
    follow_pass(lab, SOON_MS);
    assert_int_equal(follow_count_wrong(lab), 0);
    follow_release(lab);
}

/* The server answers lists of one object, also of past versions, with all present objects. */
TEST(restore_is_detected_without_past_versions)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));
    struct fake_snapshot backup;

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        follow_start_synced(lab, seed, 0);
        lab->api.forgetful = true;
        fake_save(&lab->api, &backup);
        follow_write(lab, 10);
        follow_put_map(lab, "last", 1);
        follow_settle(lab);
        fake_restore(&lab->api, &backup);
        follow_write(lab, seed % 3 * 10);
        follow_pass(lab, SOON_MS + 600);
        assert_int_equal(follow_count_wrong(lab), 0);
        follow_release(lab);
    }
}

/* The server returns 404 to lists of one object by name. */
TEST(store_stays_correct_if_reads_of_one_object_fail)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        follow_start_synced(lab, seed, 0);
        lab->api.unlisted = true;
        for (unsigned i = 0; i < 10; i++) {
            fake_cut_all(&lab->api);
            follow_write(lab, fake_random(&lab->api, 30));
            follow_pass(lab, 20 * 1000);
            assert_int_equal(follow_count_wrong(lab), 0);
        }
        follow_release(lab);
    }
}

/* ---- streams that resume without a restore ---- */

TEST(broken_streams_cause_no_lists)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        follow_start_synced(lab, seed, 0);
        lab->api.forgetful = seed % 5 == 0;

        uint64_t lists = follow_count_lists(lab);
        for (unsigned i = 0; i < 30; i++) {
            fake_cut_all(&lab->api);
            follow_write(lab, fake_random(&lab->api, 30));
            follow_pass(lab, fake_random(&lab->api, 2000));
            follow_write(lab, fake_random(&lab->api, 3));
        }
        follow_pass(lab, CALM_MS);
        assert_int_equal(follow_count_lists(lab), lists);
        assert_int_equal(follow_count_wrong(lab), 0);
        follow_release(lab);
    }
}

/* Streams resume while the watch cache of the server lags. */
TEST(lagging_cache_is_not_a_restore)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        follow_start_synced(lab, seed, 0);

        uint64_t lists = follow_count_lists(lab);
        for (unsigned i = 0; i < 10; i++) {
            follow_write(lab, 10);
            follow_settle(lab);
            lab->api.behind = 1 + fake_random(&lab->api, 20);
            fake_cut_all(&lab->api);
            follow_write(lab, fake_random(&lab->api, 5));
            follow_pass(lab, 20 * 1000);
            lab->api.behind = 0;
            follow_settle(lab);
            assert_int_equal(follow_count_wrong(lab), 0);
        }
        assert_int_equal(follow_count_lists(lab), lists);
        follow_release(lab);
    }
}

/* ---- older versions in a stream ---- */

static const char old_bookmark[] = "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"x\",\"metadata\":"
                                   "{\"resourceVersion\":\"9\"}}}\n";
static const char old_event[] =
    "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"namespace\":\"a\",\"name\":\"x\","
    "\"resourceVersion\":\"9\"}}}\n";

TEST(older_version_in_a_stream_is_ignored_and_causes_a_list)
{
    static const char *const texts[] = {old_bookmark, old_event};
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        follow_start_synced(lab, 9, 0);
        follow_put_map(lab, "x", 1);
        follow_settle(lab);

        uint64_t lists = follow_count_lists(lab);
        fake_say(&lab->api, FAKE_CONFIG_MAP, texts[i]);
        for (unsigned turn = 0; turn < 50; turn++) {
            kube_source_turn(lab->source, lab->api.now_ms, FOLLOW_CLOCK_OFFSET_MS);
            fake_turn(&lab->api);
            assert_int_equal(follow_count_wrong(lab), 0);
        }
        follow_settle(lab);
        assert_int_equal(follow_count_lists(lab), lists + 1);
        follow_release(lab);
    }
}

/* Four lists are sent at once, then at most one in ten seconds, and only of this kind. */
TEST(repeated_older_versions_cause_few_lists)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));

    follow_start_synced(lab, 9, 0);

    uint64_t lists = follow_count_lists(lab);
    for (unsigned i = 0; i < 600; i++) {
        fake_say(&lab->api, FAKE_CONFIG_MAP, old_bookmark);
        follow_pass(lab, 100);
    }
    assert_in_range(follow_count_lists(lab) - lists, 4, 4 + 6);
    follow_pass(lab, 20 * 1000);
    follow_write(lab, 10);
    follow_pass(lab, 10);
    assert_int_equal(follow_count_wrong(lab), 0);
    follow_release(lab);
}

/* ---- last known change ---- */

static cJSON *parse_object(const char *json)
{
    struct error err;
    cJSON *parsed = json_parse(json, strlen(json), NULL, &err);

    assert_non_null(parsed);
    return parsed;
}

#define OBJECT_WITH(version, value, other)                                                         \
    "{\"metadata\":{\"namespace\":\"a\",\"name\":\"x\",\"resourceVersion\":\"" version             \
    "\"},\"spec\":{\"v\":" value ",\"w\":[1,2],\"x\":" other "}}"
#define OBJECT(version, value) OBJECT_WITH(version, value, "[true,\"a\"]")

/* Last known change: x got version 60, or was deleted at 60. The stream's position is 100. */
static struct judge_case {
    const char *title;
    bool deleted;
    const char *now; /* Present object; NULL: absent. */
    enum last_change_verdict verdict;
    enum last_change_verdict past;
} judge_cases[] = {
    {"unchanged", false, OBJECT("60", "1"), LAST_CHANGE_HOLDS, LAST_CHANGE_HOLDS},
    {"another order of members", false,
     "{\"spec\":{\"x\":[true,\"a\"],\"w\":[1,2],\"v\":1},\"metadata\":{\"resourceVersion\":\"60\","
     "\"name\":"
     "\"x\","
     "\"namespace\":\"a\"}}",
     LAST_CHANGE_HOLDS, LAST_CHANGE_HOLDS},
    {"other content", false, OBJECT("60", "2"), LAST_CHANGE_ALTERED, LAST_CHANGE_ALTERED},
    {"another boolean", false, OBJECT_WITH("60", "1", "[false,\"a\"]"), LAST_CHANGE_ALTERED,
     LAST_CHANGE_ALTERED},
    {"another text", false, OBJECT_WITH("60", "1", "[true,\"b\"]"), LAST_CHANGE_ALTERED,
     LAST_CHANGE_ALTERED},
    {"null in place of a boolean", false, OBJECT_WITH("60", "1", "[null,\"a\"]"),
     LAST_CHANGE_ALTERED, LAST_CHANGE_ALTERED},
    {"older", false, OBJECT("59", "1"), LAST_CHANGE_UNDONE, LAST_CHANGE_UNDONE},
    {"older, with fewer digits", false, OBJECT("9", "1"), LAST_CHANGE_UNDONE, LAST_CHANGE_UNDONE},
    {"newer, but below the position", false, OBJECT("61", "1"), LAST_CHANGE_UNDONE,
     LAST_CHANGE_UNDONE},
    {"at the position", false, OBJECT("100", "1"), LAST_CHANGE_UNDONE, LAST_CHANGE_UNDONE},
    {"above the position", false, OBJECT("101", "1"), LAST_CHANGE_UNDECIDED, LAST_CHANGE_UNDONE},
    {"a version that is not a number", false, OBJECT("abc", "1"), LAST_CHANGE_UNDECIDED,
     LAST_CHANGE_UNDONE},
    {"absent", false, NULL, LAST_CHANGE_UNDECIDED, LAST_CHANGE_UNDONE},
    {"deleted and absent", true, NULL, LAST_CHANGE_HOLDS, LAST_CHANGE_HOLDS},
    {"deleted and present", true, OBJECT("50", "1"), LAST_CHANGE_UNDONE, LAST_CHANGE_UNDONE},
    {"deleted and created again", true, OBJECT("101", "1"), LAST_CHANGE_UNDECIDED,
     LAST_CHANGE_UNDONE},
};

TEST_ROWS(present_object_is_compared_with_the_last_change, judge_cases, title)
{
    const struct judge_case *c = *state;
    CLEANUP(json_cleanup) cJSON *then = parse_object(OBJECT("60", "1"));
    CLEANUP(json_cleanup) cJSON *now = c->now ? parse_object(c->now) : NULL;
    struct last_change last_change = {0};

    last_change_note_event(&last_change, then, "60", c->deleted);
    assert_int_equal(last_change_compare_current(&last_change, "100", now), c->verdict);
    assert_int_equal(last_change_compare_past(&last_change, now), c->past);
}

TEST(list_replaces_all_but_a_later_deletion)
{
    CLEANUP(json_cleanup) cJSON *x = parse_object(OBJECT("60", "1"));
    CLEANUP(json_cleanup) cJSON *y = parse_object("{\"metadata\":{\"name\":\"yy\"}}");
    struct last_change last_change = {0}, listed = {0}, none = {0};

    last_change_note_listed(&listed, y, "9");
    last_change_note_listed(&listed, x, "60");
    last_change_note_listed(&listed, y, "10");
    assert_string_equal(listed.version, "60");
    last_change_note_event(&last_change, y, "61", false);
    last_change_replace(&last_change, &listed);
    assert_string_equal(last_change.name, "x");
    last_change_note_event(&last_change, y, "61", true);
    last_change_replace(&last_change, &listed);
    assert_string_equal(last_change.name, "yy");
    last_change_replace(&last_change, &none);
    assert_string_equal(last_change.name, "yy");
    last_change_note_event(&last_change, y, "59", true);
    last_change_replace(&last_change, &listed);
    assert_string_equal(last_change.name, "x");
    last_change_replace(&last_change, &none);
    assert_string_equal(last_change.name, "");
}

TEST(burst_limit_is_used_up_and_refilled)
{
    struct burst_limit burst_limit = {0};

    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(burst_limit_due(&burst_limit, 10, 1000), 1000);
        burst_limit_record(&burst_limit, 10, 1000);
    }
    assert_int_equal(burst_limit_due(&burst_limit, 10, 1000), 1010);
    assert_int_equal(burst_limit_due(&burst_limit, 10, 1010), 1010);
    burst_limit_record(&burst_limit, 10, 1010);
    assert_int_equal(burst_limit_due(&burst_limit, 10, 1010), 1020);
    assert_false(burst_limit_take(&burst_limit, 10, 1019));
    assert_true(burst_limit_take(&burst_limit, 10, 1020));
    assert_false(burst_limit_take(&burst_limit, 10, 1020));
    assert_int_equal(burst_limit_due(&burst_limit, 10, 5000), 5000);
}

#define ORIGIN(uid, generation, time)                                                              \
    "{\"metadata\":{\"namespace\":\"a\",\"name\":\"x\",\"resourceVersion\":\"60\",\"uid\":\"" uid  \
    "\",\"generation\":" generation ",\"managedFields\":[{\"time\":\"2026-01-01T00:00:00Z\"},"     \
    "{\"time\":\"" time "\"}]}}"

TEST(listed_object_is_compared_by_version_and_origin)
{
    static const struct {
        const char *now;
        enum last_change_verdict verdict;
    } rows[] = {
        {ORIGIN("u", "1", "t"), LAST_CHANGE_HOLDS},
        {"{\"spec\":{\"v\":2}," /* Other content, which is not compared. */
         "\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"60\",\"uid\":\"u\",\"generation\":1,"
         "\"managedFields\":[{\"time\":\"2026-01-01T00:00:00Z\"},{\"time\":\"t\"}]}}",
         LAST_CHANGE_HOLDS},
        {ORIGIN("v", "1", "t"), LAST_CHANGE_ALTERED},
        {ORIGIN("u", "2", "t"), LAST_CHANGE_ALTERED},
        {ORIGIN("u", "1", "s"), LAST_CHANGE_ALTERED},
    };
    CLEANUP(json_cleanup) cJSON *then = parse_object(ORIGIN("u", "1", "t"));
    struct last_change last_change = {0};

    last_change_note_listed(&last_change, then, "60");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP(json_cleanup) cJSON *now = parse_object(rows[i].now);

        assert_int_equal(last_change_compare_current(&last_change, "100", now), rows[i].verdict);
        assert_int_equal(last_change_compare_past(&last_change, now), rows[i].verdict);
    }
}

TEST(another_uid_follows_only_a_deletion)
{
    CLEANUP(json_cleanup) cJSON *then = parse_object(ORIGIN("u", "1", "t"));
    CLEANUP(json_cleanup) cJSON *next = parse_object(ORIGIN("u", "2", "t"));
    CLEANUP(json_cleanup) cJSON *other = parse_object(ORIGIN("v", "1", "t"));
    struct last_change last_change = {0};

    last_change_note_listed(&last_change, then, "60");
    assert_true(last_change_is_followed_by(&last_change, next, false));
    assert_true(last_change_is_followed_by(&last_change, next, true));
    assert_false(last_change_is_followed_by(&last_change, other, false));
    last_change_note_event(&last_change, then, "60", true);
    assert_true(last_change_is_followed_by(&last_change, other, false));
}

/* ---- checks that end with their stream ---- */

static void note_object(struct restore_history *h, const char *json, const char *version)
{
    static const struct watch streaming = {.phase = WATCH_STREAMING, .version = "100"};
    CLEANUP(json_cleanup) cJSON *parsed = parse_object(json);

    restore_history_note(
        h, &streaming,
        &(struct watch_event){.kind = EVENT_OBJECT, .object = parsed, .version = version});
}

TEST(ended_check_of_an_older_change_causes_a_list)
{
    static const struct {
        const char *title;
        const char *next; /* Object that arrives during the check; NULL: no object. */
        bool open;
    } rows[] = {
        {"no other change", NULL, false},
        {"a change of another object", "{\"metadata\":{\"name\":\"y\"}}", true},
        {"a change of the same object", OBJECT("101", "2"), false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct restore_history h = {.resumed = true};

        note_object(&h, OBJECT("60", "1"), "60");
        restore_history_check(&h, (struct restore_check_spec){.position = "100"}, 0);
        if (rows[i].next)
            note_object(&h, rows[i].next, "101");
        if (restore_history_end_request(&h) != rows[i].open)
            fail_msg("%s", rows[i].title);
        assert_false(restore_history_end_request(&h));
        restore_check_release(&h.restore_check);
    }
}
