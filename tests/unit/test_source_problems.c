/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/source_problems.h"
#include "metrics/rules/problems/problem_list.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include "tests/unit/folder.h"
#include "tests/unit/follow.h"
#include "tests/unit/suite.h"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    HOUR_MS = 60 * MINUTE_MS,
    DAY_MS = 24 * HOUR_MS,
    STEP_MS = 10 * SECOND_MS,
    CHECK_MS = 2 * SECOND_MS, /* Interval at which the source of the asset export checks it. */
    SLICE_MS = 1000,
    TEXT_MAX = 64 * 1024,
};

/* Problems of an API server, of manifests and of an asset export. */
struct lab {
    struct follow_lab follow; /* Its time is that of all sources. */
    char *folder;
    char *assets_path;
    struct manifests *manifests;
    int manifests_fd;
    struct asset_source *assets;
    struct source_problems *problems;
};

static int64_t clock_ms(const struct lab *lab)
{
    return FOLLOW_CLOCK_OFFSET_MS + lab->follow.api.now_ms;
}

/* Returns a lab with an empty folder of manifests; its `follow` is not initialized. */
static struct lab *lab_alloc(void)
{
    struct lab *lab = xcalloc(1, sizeof(*lab));

    lab->folder = folder_make();
    folder_mkdir(lab->folder, "manifests");
    lab->assets_path = folder_path(lab->folder, "assets");
    return lab;
}

static void open_manifests(struct lab *lab)
{
    CLEANUP(free_cleanup) char *folder = folder_path(lab->folder, "manifests");
    const char *path = folder;
    struct error err;

    lab->manifests = manifests_new(lab->follow.world.store, &path, 1, "", &manifest_limits_default);
    lab->manifests_fd = manifests_watch(lab->manifests, &err);
    assert_true(lab->manifests_fd >= 0);
    lab->follow.log.level = LOG_LEVEL_NONE;
}

static struct lab *lab_new(void)
{
    struct lab *lab = lab_alloc();

    follow_init(&lab->follow, 1);
    open_manifests(lab);
    return lab;
}

static void lab_free(struct lab *lab)
{
    source_problems_free(lab->problems);
    manifests_free(lab->manifests);
    asset_source_free(lab->assets);
    follow_release(&lab->follow);
    folder_remove(lab->folder);
    free(lab->assets_path);
    free(lab);
}

/* Judges problems from now on, with a severity for each of them. */
static void judge(struct lab *lab, bool snapshot)
{
    struct problem_options options = {.snapshot = snapshot,
                                      .is_unreadable = source_problems_is_unreadable};

    problem_settings_reset(&options.settings);
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        if (i != PROBLEM_DATA_INCOMPLETE && i != PROBLEM_DUPLICATE_OBJECT)
            options.settings.severity[i] = SEVERITY_OFF;
    }
    lab->problems = source_problems_new(
        (struct source_set){lab->follow.source, lab->manifests, lab->assets}, NULL);
    options.context = lab->problems;
    world_run(&lab->follow.world, clock_ms(lab));
    engine_judge_problems(lab->follow.world.engine, &options);
}

static void update(struct lab *lab)
{
    source_problems_update(lab->problems, engine_problems(lab->follow.world.engine), clock_ms(lab));
    world_run(&lab->follow.world, clock_ms(lab));
}

/* Lets the time pass for server, sources and problems. */
static void pass(struct lab *lab, int64_t ms)
{
    for (int64_t left_ms = ms; left_ms > 0; left_ms -= STEP_MS) {
        int64_t step_ms = left_ms < STEP_MS ? left_ms : STEP_MS;

        if (lab->follow.source)
            follow_pass(&lab->follow, step_ms);
        else
            lab->follow.api.now_ms += step_ms;
        update(lab);
    }
}

/* Compares the instances, each as "status reason name" or "status problem name". */
static void assert_problems(const struct lab *lab, const char *expected)
{
    const struct problems *ps = engine_problems(lab->follow.world.engine);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    CLEANUP(free_cleanup) const struct problem **list = NULL;
    size_t count, folder_len = strlen(lab->folder);

    list = problems_list(ps, (1U << PROBLEM_STATUS_COUNT) - 1, &count);
    for (size_t i = 0; i < count; i++) {
        const char *reason = problem_reasons[list[i]->reason].name;
        const char *name = problem_name(list[i]);

        if (strncmp(name, lab->folder, folder_len) == 0)
            name += folder_len + 1;
        strbuf_addf(&text, "%s%s %s %s", i > 0 ? ", " : "", problem_status_names[list[i]->status],
                    *reason ? reason : problem_names[problem_id(list[i])], name);
        assert_string_equal(problem_subject_kind(list[i]),
                            problem_id(list[i]) == PROBLEM_DATA_INCOMPLETE ? "Source"
                                                                           : "Deployment");
    }
    assert_string_equal(text.data ? text.data : "", expected);
}

/* ---- kinds of the API server ---- */

/* Starts with a policy that selects ConfigMaps, and with the ConfigMap "x". */
static struct lab *lab_following(void)
{
    struct lab *lab = lab_new();

    lab->follow.api.bookmarks = true;
    follow_put_policy(&lab->follow, "p", 0);
    follow_put_map(&lab->follow, "x", 1);
    return lab;
}

static void start_following(struct lab *lab)
{
    follow_start(&lab->follow);
    follow_pass(&lab->follow, 10 * SECOND_MS);
    judge(lab, false);
    update(lab);
}

static const struct type *type_of(const struct lab *lab, enum fake_kind kind)
{
    const struct fake_kind_row *row = &fake_kinds[kind];
    const struct type *type = store_find_type(lab->follow.world.store, row->api_version, row->kind);

    assert_non_null(type);
    return type;
}

TEST(a_forbidden_kind_is_a_problem_until_it_is_read)
{
    struct lab *lab = lab_following();

    lab->follow.api.forbidden[FAKE_CONFIG_MAP] = true;
    start_following(lab);
    pass(lab, MINUTE_MS);
    assert_problems(lab, "pending forbidden configmap");
    assert_true(source_problems_core_is_readable(lab->problems));
    pass(lab, 10 * MINUTE_MS);
    assert_problems(lab, "open forbidden configmap");
    lab->follow.api.forbidden[FAKE_CONFIG_MAP] = false;
    /* A reflector waits up to a minute before it asks again. */
    pass(lab, 2 * MINUTE_MS);
    assert_problems(lab, "resolving forbidden configmap");
    pass(lab, 5 * MINUTE_MS);
    assert_problems(lab, "");
    lab_free(lab);
}

TEST(a_kind_that_fails_makes_its_objects_unreadable)
{
    struct lab *lab = lab_following();

    fake_put(&lab->follow.api, FAKE_CLUSTER, "", "m1", 1);
    start_following(lab);
    assert_problems(lab, "");
    assert_false(source_problems_is_unreadable(lab->problems, type_of(lab, FAKE_CONFIG_MAP)));
    lab->follow.api.forbidden[FAKE_CLUSTER] = true;
    fake_cut_all(&lab->follow.api);
    pass(lab, 5 * MINUTE_MS);
    assert_problems(lab, "pending forbidden cluster.cluster.karmada.io");
    /* Decisions about templates depend on the Clusters. */
    assert_true(source_problems_is_unreadable(lab->problems, type_of(lab, FAKE_CLUSTER)));
    assert_true(source_problems_is_unreadable(lab->problems, type_of(lab, FAKE_CONFIG_MAP)));
    assert_false(source_problems_is_unreadable(lab->problems, type_of(lab, FAKE_POLICY)));
    lab_free(lab);
}

TEST(while_the_server_is_gone_all_objects_are_unreadable)
{
    struct lab *lab = lab_following();

    start_following(lab);
    lab->follow.api.unreachable = true;
    fake_cut_all(&lab->follow.api);
    pass(lab, 12 * MINUTE_MS);
    assert_false(source_problems_core_is_readable(lab->problems));
    assert_true(source_problems_is_unreadable(lab->problems, type_of(lab, FAKE_POLICY)));
    assert_true(source_problems_is_unreadable(lab->problems, type_of(lab, FAKE_CONFIG_MAP)));
    lab->follow.api.unreachable = false;
    pass(lab, 2 * MINUTE_MS);
    assert_true(source_problems_core_is_readable(lab->problems));
    assert_false(source_problems_is_unreadable(lab->problems, type_of(lab, FAKE_POLICY)));
    pass(lab, 5 * MINUTE_MS);
    assert_problems(lab, "");
    lab_free(lab);
}

/* A changed reason of one subject keeps its time. */
TEST(a_kind_that_fails_in_another_way_stays_one_problem)
{
    struct lab *lab = lab_following();

    lab->follow.api.forbidden[FAKE_CONFIG_MAP] = true;
    start_following(lab);
    pass(lab, 6 * MINUTE_MS);
    assert_problems(lab, "pending forbidden configmap");
    lab->follow.api.forbidden[FAKE_CONFIG_MAP] = false;
    lab->follow.api.busy[FAKE_CONFIG_MAP] = true;
    pass(lab, 6 * MINUTE_MS);
    assert_problems(lab, "open failing configmap");
    lab_free(lab);
}

/* Server that leaves one request at a time unanswered. */
struct silent_server {
    struct transport server;
    const char *part; /* Part of the path of these requests. */
    struct transport_handler unanswered;
    bool open;
};

static struct transfer *start_request(void *context, const struct transport_request *request)
{
    struct silent_server *s = context;

    if (!strstr(request->path, s->part))
        return s->server.start(s->server.context, request);
    assert_false(s->open);
    s->unanswered = request->handler;
    s->open = true;
    return (struct transfer *)&s->unanswered;
}

static void cancel_request(void *context, struct transfer *transfer)
{
    struct silent_server *s = context;

    if (transfer == (struct transfer *)&s->unanswered)
        s->open = false;
    else
        s->server.cancel(s->server.context, transfer);
}

TEST(a_kind_that_does_not_answer_is_late)
{
    struct lab *lab = lab_following();
    struct silent_server silent = {.server = lab->follow.transport, .part = "/foos?"};

    lab->follow.transport =
        (struct transport){.start = start_request, .cancel = cancel_request, .context = &silent};
    fake_put(&lab->follow.api, FAKE_CLUSTER_POLICY, "", "foos", 2); /* Selects Foos. */
    start_following(lab);
    assert_problems(lab, "");
    pass(lab, 30 * SECOND_MS);
    assert_true(kube_source_ready(lab->follow.source));
    assert_problems(lab, "pending late foo.example.io");
    lab_free(lab);
}

/* Without these Events, reasons of controllers_stuck do not open. */
TEST(failing_events_about_refused_templates_are_a_problem)
{
    struct lab *lab = lab_following();

    start_following(lab);
    assert_problems(lab, "");
    lab->follow.api.busy[FAKE_EVENT] = true;
    fake_cut_all(&lab->follow.api);
    pass(lab, 5 * MINUTE_MS);
    assert_false(kube_source_reads_refusals(lab->follow.source));
    assert_problems(lab, "pending failing event");
    pass(lab, 10 * MINUTE_MS);
    assert_problems(lab, "open failing event");
    lab->follow.api.busy[FAKE_EVENT] = false;
    pass(lab, 2 * MINUTE_MS);
    assert_true(kube_source_reads_refusals(lab->follow.source));
    assert_problems(lab, "resolving failing event");
    lab_free(lab);
}

static const struct silent_case {
    const char *name;
    const char *part;
    const char *late;
    const char *failing;
} silent_cases[] = {
    {"refused templates", "ApplyPolicyFailed", "pending late event", "open failing event"},
    {"conflicts of dependencies", "DependencyPolicyConflict", "pending late event", ""},
};

/* The other reasons of Events decide no problem that waits for them. */
TEST_ROWS(events_that_do_not_answer_are_late_and_those_about_refused_templates_fail, silent_cases,
          name)
{
    const struct silent_case *c = *state;
    struct lab *lab = lab_following();
    struct silent_server silent = {.server = lab->follow.transport, .part = c->part};

    lab->follow.transport =
        (struct transport){.start = start_request, .cancel = cancel_request, .context = &silent};
    start_following(lab);
    pass(lab, 30 * SECOND_MS);
    assert_problems(lab, c->late);
    pass(lab, 15 * MINUTE_MS);
    assert_problems(lab, c->failing);
    lab_free(lab);
}

/* Events are read where the exporter may. */
TEST(forbidden_events_are_no_problem)
{
    struct lab *lab = lab_following();

    lab->follow.api.forbidden[FAKE_EVENT] = true;
    start_following(lab);
    for (unsigned i = 0; i < 15; i++) {
        pass(lab, MINUTE_MS);
        assert_problems(lab, "");
    }
    assert_false(kube_source_reads_refusals(lab->follow.source));
    lab_free(lab);
}

/* ---- rejected objects ---- */

/* Sends an event about a ConfigMap, with the version of the server: later events have higher ones.
 */
static void say_map(struct lab *lab, const char *type, const char *name, const char *labels)
{
    char text[512];

    snprintf(
        text, sizeof(text),
        "{\"type\":\"%s\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
        "{\"name\":\"%s\",\"namespace\":\"a\",\"resourceVersion\":\"%" PRIu64
        "\",\"labels\":%s}}}\n",
        type, name, lab->follow.api.version, labels);
    fake_say(&lab->follow.api, FAKE_CONFIG_MAP, text);
}

TEST(rejected_objects_of_a_kind_are_a_problem_until_they_are_valid)
{
    struct lab *lab = lab_following();

    start_following(lab);
    say_map(lab, "MODIFIED", "x", "{\"a\":7}");
    pass(lab, MINUTE_MS);
    assert_problems(lab, "pending rejected configmap");
    /* Its last readable version stays, so the other rules go on. */
    assert_false(source_problems_is_unreadable(lab->problems, type_of(lab, FAKE_CONFIG_MAP)));
    pass(lab, 2 * MINUTE_MS);
    say_map(lab, "MODIFIED", "x", "{}");
    pass(lab, 2 * MINUTE_MS);
    assert_problems(lab, "");
    lab_free(lab);
}

TEST(a_deleted_object_is_no_longer_rejected)
{
    struct lab *lab = lab_following();

    start_following(lab);
    say_map(lab, "ADDED", "y", "[]");
    pass(lab, STEP_MS);
    assert_problems(lab, "pending rejected configmap");
    say_map(lab, "DELETED", "y", "[]");
    pass(lab, 2 * MINUTE_MS);
    assert_problems(lab, "");
    lab_free(lab);
}

/* ---- audits ---- */

TEST(a_difference_to_the_server_is_a_problem_until_an_audit_finds_none)
{
    struct lab *lab = lab_alloc();

    follow_start_synced(&lab->follow, 1, MINUTE_MS);
    follow_put_map(&lab->follow, "known", 1);
    open_manifests(lab);
    judge(lab, false);
    pass(lab, 2 * MINUTE_MS);
    assert_problems(lab, "");
    store_remove(lab->follow.world.store,
                 world_find(&lab->follow.world, "v1", "ConfigMap", "a", "known"));
    /* The audit lists the kind again, so the next audit finds no difference. */
    for (unsigned i = 0; i < 20; i++) {
        struct problem_walk walk = {0};

        pass(lab, STEP_MS);
        if (problems_next(engine_problems(lab->follow.world.engine), &walk))
            break;
    }
    assert_problems(lab, "pending diverged configmap");
    pass(lab, 3 * MINUTE_MS);
    assert_problems(lab, "");
    lab_free(lab);
}

/* A healthy watch lists no objects for weeks. */
TEST(an_audit_ends_the_rejection_of_an_object_of_unknown_name)
{
    struct lab *lab = lab_alloc();

    follow_start_synced(&lab->follow, 1, MINUTE_MS);
    open_manifests(lab);
    judge(lab, false);
    fake_say(&lab->follow.api, FAKE_CONFIG_MAP, "{\"type\":7}\n");
    pass(lab, STEP_MS);
    assert_problems(lab, "pending rejected configmap");
    /* Streams last 300 s or more. */
    pass(lab, 4 * MINUTE_MS);
    assert_problems(lab, "");
    lab_free(lab);
}

/* ---- files ---- */

#define OBJECT(name) "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " name "}\n"
#define INVALID      "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: bad, labels: 7}\n"

/* inotify queues the events of a change before its write returns. */
static void read_changes(struct lab *lab)
{
    struct pollfd fd = {.fd = lab->manifests_fd, .events = POLLIN};

    do {
        manifests_pump(lab->manifests, SLICE_MS);
    } while (manifests_busy(lab->manifests) || poll(&fd, 1, 0) == 1);
    update(lab);
}

/* Reads the manifests and begins to judge them, as in files. */
static void start_with_files(struct lab *lab)
{
    struct error err;

    assert_true(manifests_load(lab->manifests, &err));
    judge(lab, true);
    update(lab);
}

static const struct file_case {
    const char *name;
    const char *text;
    const char *expected;
} file_cases[] = {
    {"a valid file", OBJECT("x"), ""},
    {"invalid YAML", "a: [", "open broken_file manifests/f.yaml"},
    {"an invalid object", OBJECT("x") INVALID, "open rejected manifests/f.yaml"},
    {"several invalid objects", INVALID INVALID, "open rejected manifests/f.yaml"},
    {"an object that is declared twice", OBJECT("x") "---\n" OBJECT("x"),
     "open duplicate_object x"},
    {"an object that is declared three times", OBJECT("x") "---\n" OBJECT("x") "---\n" OBJECT("x"),
     "open duplicate_object x"},
    {"a document that is no object", OBJECT("x") "---\na: 1\n", ""},
};

TEST_ROWS(files_have_the_first_reason_of_their_problems, file_cases, name)
{
    const struct file_case *c = *state;
    struct lab *lab = lab_new();

    folder_write(lab->folder, "manifests/f.yaml", c->text);
    start_with_files(lab);
    assert_problems(lab, c->expected);
    lab_free(lab);
}

TEST(problems_of_files_end_when_the_files_are_mended)
{
    struct lab *lab = lab_new();

    folder_write(lab->folder, "manifests/a.yaml", "a: [");
    folder_write(lab->folder, "manifests/b.yaml", INVALID);
    folder_write(lab->folder, "manifests/c.yaml", OBJECT("x") "---\n" OBJECT("x"));
    start_with_files(lab);
    assert_problems(lab, "open broken_file manifests/a.yaml, open rejected manifests/b.yaml, "
                         "open duplicate_object x");
    folder_write(lab->folder, "manifests/a.yaml", INVALID);
    folder_write(lab->folder, "manifests/b.yaml", OBJECT("bad"));
    folder_unlink(lab->folder, "manifests/c.yaml");
    read_changes(lab);
    assert_problems(lab, "open rejected manifests/a.yaml, resolving rejected manifests/b.yaml, "
                         "resolving duplicate_object x");
    folder_write(lab->folder, "manifests/a.yaml", "a: [");
    read_changes(lab);
    pass(lab, 5 * MINUTE_MS);
    assert_problems(lab, "open broken_file manifests/a.yaml");
    lab_free(lab);
}

/* ---- asset export ---- */

#define LEASE                                                                                      \
    "{\"name\":\"//pubsub.googleapis.com/projects/p/topics/t\",\"asset_type\":"                    \
    "\"pubsub.googleapis.com/Topic\",\"resource\":{\"data\":{\"labels\":{"                         \
    "\"cnrm-lease-holder-id\":\"abc\",\"cnrm-lease-expiration\":\"1767225600\"}}}}\n"
#define BAD_LEASE "{\"cnrm\": }\n"

/* Writes an export at the present time, and reads it. */
static void export_assets(struct lab *lab, const char *text)
{
    const struct timespec now = {.tv_sec = clock_ms(lab) / 1000};
    const struct timespec times[] = {now, now};

    folder_write(lab->folder, "assets", text);
    assert_int_equal(utimensat(AT_FDCWD, lab->assets_path, times, 0), 0);
}

/* Lets the time pass; the source checks the file, and the problems of the sources are updated. */
static void pass_and_read(struct lab *lab, int64_t ms)
{
    for (int64_t left_ms = ms; left_ms > 0; left_ms -= 5 * MINUTE_MS) {
        lab->follow.api.now_ms += left_ms < 5 * MINUTE_MS ? left_ms : 5 * MINUTE_MS;
        while (asset_source_pump(lab->assets, lab->follow.api.now_ms, SLICE_MS))
            ;
        update(lab);
    }
}

static struct lab *lab_with_assets(void)
{
    struct lab *lab = lab_new();

    export_assets(lab, LEASE);
    lab->assets =
        asset_source_new(lab->follow.world.store, lab->assets_path, NULL, &lab->follow.log);
    judge(lab, false);
    pass_and_read(lab, CHECK_MS);
    return lab;
}

TEST(the_first_asset_export_is_old_after_25_hours)
{
    struct lab *lab = lab_with_assets();

    pass_and_read(lab, 25 * HOUR_MS - CHECK_MS);
    assert_problems(lab, "");
    pass_and_read(lab, 5 * MINUTE_MS);
    assert_problems(lab, "pending snapshot_old assets");
    pass_and_read(lab, 10 * MINUTE_MS);
    assert_problems(lab, "open snapshot_old assets");
    export_assets(lab, LEASE);
    pass_and_read(lab, 5 * MINUTE_MS);
    assert_problems(lab, "resolving snapshot_old assets");
    pass_and_read(lab, 10 * MINUTE_MS);
    assert_problems(lab, "");
    lab_free(lab);
}

static const struct interval_case {
    const char *name;
    int64_t interval_ms;
    int64_t allowed_ms;
} interval_cases[] = {
    {"an export every day", DAY_MS, 2 * DAY_MS},
    {"an export every 40 minutes", 40 * MINUTE_MS, 80 * MINUTE_MS},
    {"an export every five minutes", 5 * MINUTE_MS, HOUR_MS},
};

TEST_ROWS(an_asset_export_is_old_after_twice_its_interval, interval_cases, name)
{
    const struct interval_case *c = *state;
    struct lab *lab = lab_with_assets();

    pass_and_read(lab, c->interval_ms - CHECK_MS);
    export_assets(lab, LEASE);
    pass_and_read(lab, c->allowed_ms);
    assert_problems(lab, "");
    pass_and_read(lab, 5 * MINUTE_MS);
    assert_problems(lab, "pending snapshot_old assets");
    lab_free(lab);
}

/* One export by hand does not change the usual interval. */
TEST(the_usual_interval_is_the_median_of_the_last_intervals)
{
    struct lab *lab = lab_with_assets();

    for (unsigned i = 0; i < 2; i++) {
        pass_and_read(lab, DAY_MS);
        export_assets(lab, LEASE);
    }
    pass_and_read(lab, 5 * MINUTE_MS);
    export_assets(lab, LEASE);
    pass_and_read(lab, DAY_MS);
    assert_problems(lab, "");
    pass_and_read(lab, DAY_MS);
    assert_problems(lab, "");
    pass_and_read(lab, 5 * MINUTE_MS);
    assert_problems(lab, "pending snapshot_old assets");
    lab_free(lab);
}

TEST(an_export_that_is_older_than_the_last_one_has_no_interval)
{
    struct lab *lab = lab_with_assets();
    int64_t now_ms = lab->follow.api.now_ms;

    lab->follow.api.now_ms -= 2 * HOUR_MS;
    export_assets(lab, LEASE);
    lab->follow.api.now_ms = now_ms;
    pass_and_read(lab, 22 * HOUR_MS);
    assert_problems(lab, "");
    lab_free(lab);
}

/* Times of files that no clock had, also beyond the year 9999, neither overflow nor open. */
TEST(an_export_from_1901_is_old_and_one_from_the_future_is_not)
{
    static const struct {
        int64_t modified_s;
        const char *expected;
    } rows[] = {
        {INT64_C(-2147483648), "pending snapshot_old assets"},
        {0, "pending snapshot_old assets"},
        {INT64_C(253402300799), ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct lab *lab = lab_with_assets();
        const struct timespec times[] = {{.tv_sec = rows[i].modified_s},
                                         {.tv_sec = rows[i].modified_s}};

        assert_int_equal(utimensat(AT_FDCWD, lab->assets_path, times, 0), 0);
        pass_and_read(lab, 5 * MINUTE_MS);
        assert_problems(lab, rows[i].expected);
        lab_free(lab);
    }
}

TEST(a_reload_keeps_the_interval_of_the_same_file)
{
    struct lab *lab = lab_with_assets();
    struct source_problems *last = lab->problems;
    struct source_set sources = {NULL, lab->manifests, lab->assets};

    pass_and_read(lab, 2 * HOUR_MS - CHECK_MS);
    export_assets(lab, LEASE);
    pass_and_read(lab, 5 * MINUTE_MS);
    lab->problems = source_problems_new(sources, last);
    pass_and_read(lab, 4 * HOUR_MS - 5 * MINUTE_MS);
    assert_problems(lab, "");
    pass_and_read(lab, 5 * MINUTE_MS);
    assert_problems(lab, "pending snapshot_old assets");
    lab_free(lab);
    source_problems_free(last); /* The problems of the world still call it. */
}

TEST(an_asset_export_that_is_broken_or_has_invalid_assets_is_a_problem)
{
    struct lab *lab = lab_with_assets();

    assert_problems(lab, "");
    export_assets(lab, LEASE BAD_LEASE);
    pass_and_read(lab, 5 * MINUTE_MS);
    assert_problems(lab, "pending rejected assets");
    /* The count of rejected assets does not fall; the problem ends with the next reading. */
    export_assets(lab, LEASE LEASE);
    pass_and_read(lab, 10 * MINUTE_MS);
    assert_problems(lab, "");
    assert_int_equal(asset_source_rejected(lab->assets), 1);
    export_assets(lab, LEASE BAD_LEASE "{\"name");
    pass_and_read(lab, 5 * MINUTE_MS);
    assert_problems(lab, "pending broken_file assets");
    folder_unlink(lab->folder, "assets");
    pass_and_read(lab, 10 * MINUTE_MS);
    assert_problems(lab, "open broken_file assets");
    export_assets(lab, LEASE);
    pass_and_read(lab, 15 * MINUTE_MS);
    assert_problems(lab, "");
    lab_free(lab);
}
