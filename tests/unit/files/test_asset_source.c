/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/asset_source.h"

#include <zlib.h>

#include "exporter/system/file.h"
#include "metrics/model/connector_resource.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* test_asset_source_reader.c runs the same tests with a file reader. */
#ifndef WITH_READER
#define WITH_READER false
#endif

enum { SLICE_MS = 1000, CHECK_MS = 2000, LINE_ROOM = 512 };

#define ASSET(name, labels)                                                                        \
    "{\"name\":\"//pubsub.googleapis.com/projects/p/topics/" name                                  \
    "\",\"asset_type\":\"pubsub.googleapis.com/"                                                   \
    "Topic\",\"resource\":{\"data\":{\"labels\":{" labels "}}}}\n"
#define LEASED "\"cnrm-lease-holder-id\":\"abc\",\"cnrm-lease-expiration\":\"1767225600\""
#define PRETTY                                                                                     \
    "{\n  \"name\": \"x\",\n  \"assetType\": \"storage.googleapis.com/Bucket\",\n"                 \
    "  \"resource\": {\n    \"data\": {\"labels\": {" LEASED "}}\n  }\n}\n"

struct fixture {
    struct world w;
    struct log log;
    struct file_reader *reader; /* NULL unless WITH_READER. */
    struct asset_source *source;
    char *folder;
    char *path;
    int64_t now_ms;
};

static int set_up(void **state)
{
    struct fixture *b = xcalloc(1, sizeof(*b));
    struct error err;

    world_init(&b->w, &rules_options_default, 1);
    b->log = (struct log){.level = LOG_LEVEL_NONE};
    b->folder = folder_make();
    b->path = folder_path(b->folder, "assets");
    b->reader = WITH_READER ? file_reader_new(&err) : NULL;
    b->source = asset_source_new(b->w.store, b->path, b->reader, &b->log);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *b = *state;

    asset_source_free(b->source);
    assert_true(file_reader_free(b->reader));
    world_release(&b->w);
    folder_remove(b->folder);
    free(b->path);
    free(b);
    return 0;
}

/* Returns true if the source has no work until it checks the file for changes again. */
static bool is_settled(const struct fixture *b)
{
    return !asset_source_busy(b->source) && asset_source_due(b->source) == b->now_ms + CHECK_MS;
}

/* Advances the clock to the next check of the file, then pumps until the file is read. */
static void read_all(struct fixture *b)
{
    b->now_ms += CHECK_MS;
    while (asset_source_pump(b->source, b->now_ms, SLICE_MS) || !is_settled(b)) {
        if (!asset_source_busy(b->source) && !is_settled(b))
            file_reader_wait(b->reader, SLICE_MS);
    }
}

static size_t lease_count(const struct fixture *b)
{
    return store_object_count(b->w.store, CLASS_LEASE);
}

static struct file_case {
    const char *name;
    const char *text; /* Content of the file. */
    size_t leases;
    uint64_t rejected;
    const char *problem; /* Part of the expected problem; NULL if the file has no problem. */
} file_cases[] = {
    {"an empty file", "", 0, 0, NULL},
    {"a lease", ASSET("t", LEASED), 1, 0, NULL},
    {"an asset without a label of Config Connector", ASSET("t", "\"a\":\"b\""), 0, 0, NULL},
    {"a managed asset without a lease", ASSET("t", "\"managed-by-cnrm\":\"true\""), 1, 0, NULL},
    {"a member assetType, over several lines", PRETTY, 1, 0, NULL},
    {"labels of a database",
     "{\"name\":\"x\",\"resource\":{\"data\":{\"settings\":{\"userLabels\":{" LEASED "}}}}}", 1, 0,
     NULL},
    {"labels of a cluster",
     "{\"name\":\"x\",\"resource\":{\"data\":{\"resourceLabels\":{" LEASED "}}}}", 1, 0, NULL},
    {"labels at the top, as in a search result", "{\"name\":\"x\",\"labels\":{" LEASED "}}", 1, 0,
     NULL},
    {"cnrm outside of labels", "{\"name\":\"cnrm\",\"resource\":{\"data\":{\"labels\":7}}}", 0, 0,
     NULL},
    {"one name in two assets", ASSET("t", LEASED) ASSET("t", LEASED), 1, 0, NULL},
    {"a lease without a name", "{\"labels\":{" LEASED "}}", 0, 1, "the asset at byte 0"},
    {"an invalid line between valid ones", ASSET("t", LEASED) "{\"cnrm\": }\n" ASSET("u", LEASED),
     2, 1, "the asset at byte"},
    {"labels that are not strings",
     "{\"name\":\"x\",\"labels\":{\"cnrm-lease-holder-id\":7,\"cnrm-lease-expiration\":[]}}", 0, 0,
     NULL},
    {"a file that ends inside an asset", ASSET("t", LEASED) "{\"name\":\"u", 1, 0,
     "ends inside an asset"},
};

static void assert_result(const struct fixture *b, const struct file_case *c)
{
    assert_int_equal(lease_count(b), c->leases);
    assert_int_equal(asset_source_rejected(b->source), c->rejected);
    if (!c->problem)
        assert_string_equal(asset_source_problem(b->source), "");
    else if (!strstr(asset_source_problem(b->source), c->problem))
        assert_string_equal(asset_source_problem(b->source), c->problem);
}

TEST_ROWS(plain_and_gzip_files_give_the_same_leases, file_cases, name)
{
    const struct file_case *c = *state;
    void *fixture;

    for (unsigned compressed = 0; compressed < 2; compressed++) {
        struct fixture *b;

        assert_int_equal(set_up(&fixture), 0);
        b = fixture;
        if (compressed) {
            gzFile file = gzopen(b->path, "wb");

            assert_non_null(file);
            if (*c->text)
                assert_true(gzwrite(file, c->text, (unsigned)strlen(c->text)) > 0);
            assert_int_equal(gzclose(file), Z_OK);
        } else {
            folder_write(b->folder, "assets", c->text);
        }
        read_all(b);
        assert_result(b, c);
        tear_down(&fixture);
    }
}

TEST_WITH(a_changed_file_replaces_the_leases, set_up, tear_down)
{
    struct fixture *b = *state;

    folder_write(b->folder, "assets", ASSET("t", LEASED) ASSET("u", LEASED));
    read_all(b);
    assert_int_equal(lease_count(b), 2);
    assert_true(asset_source_snapshot_ms(b->source) > 0);
    folder_replace(b->folder, "assets", ASSET("u", LEASED) ASSET("v", LEASED) ASSET("w", LEASED));
    read_all(b);
    assert_int_equal(lease_count(b), 3);
    world_run(&b->w, 0);
    assert_null(world_find(&b->w, LEASE_API_VERSION, LEASE_KIND, "",
                           "//pubsub.googleapis.com/projects/p/topics/t"));
}

/*
 * The caller evaluates only if a pump returns true, so each pump that changes the store must return
 * true, also the pump that finds the end of the file and removes leases.
 */
TEST_WITH(each_pump_that_changes_the_store_returns_true, set_up, tear_down)
{
    struct fixture *b = *state;
    CLEANUP(strbuf_release) struct strbuf many = STRBUF_INIT(1 << 20);

    /* The assets are so large that one slice reads only a part of the file. */
    for (unsigned i = 0; i < 100; i++) {
        strbuf_addf(&many, "{\"name\":\"asset-%u\",\"labels\":{" LEASED "},\"of\":[0", i);
        for (unsigned k = 0; k < 2000; k++)
            strbuf_adds(&many, ",1");
        strbuf_adds(&many, "]}\n");
    }
    for (unsigned round = 0; round < 40; round++) {
        /* Even rounds have all assets, odd rounds all but the first. */
        folder_replace(b->folder, "assets", many.data + round % 2 * (strcspn(many.data, "\n") + 1));
        b->now_ms += CHECK_MS;
        do {
            size_t before = lease_count(b);
            bool changed = asset_source_pump(b->source, b->now_ms, 1);

            assert_true(changed || lease_count(b) == before);
            if (!asset_source_busy(b->source) && !is_settled(b))
                file_reader_wait(b->reader, SLICE_MS);
        } while (!is_settled(b));
        assert_int_equal(lease_count(b), 100 - round % 2);
    }
}

TEST_WITH(an_unreadable_file_removes_no_lease, set_up, tear_down)
{
    struct fixture *b = *state;

    folder_write(b->folder, "assets", ASSET("t", LEASED) ASSET("u", LEASED));
    read_all(b);
    folder_replace(b->folder, "assets", ASSET("v", LEASED) "{");
    read_all(b);
    assert_int_equal(lease_count(b), 3);
    folder_unlink(b->folder, "assets");
    read_all(b);
    assert_int_equal(lease_count(b), 3);
    assert_non_null(strstr(asset_source_problem(b->source), "No such file"));
    folder_write(b->folder, "assets", ASSET("t", LEASED));
    read_all(b);
    assert_int_equal(lease_count(b), 1);
    assert_string_equal(asset_source_problem(b->source), "");
}

TEST_WITH(a_missing_file_makes_the_source_ready, set_up, tear_down)
{
    struct fixture *b = *state;

    assert_false(asset_source_ready(b->source));
    read_all(b);
    assert_true(asset_source_ready(b->source));
    assert_int_equal(asset_source_snapshot_ms(b->source), 0);
    assert_int_equal(lease_count(b), 0);
}

/* The file is cut at half of its compressed bytes: the assets in that half become leases. */
TEST_WITH(truncated_gzip_data_gives_its_first_leases, set_up, tear_down)
{
    struct fixture *b = *state;
    char line[LINE_ROOM];
    gzFile file = gzopen(b->path, "wb");

    for (unsigned i = 0; i < 20000; i++) {
        int len = snprintf(line, sizeof(line), "{\"name\":\"asset-%u\",\"labels\":{" LEASED "}}\n",
                           i * 2654435761U);

        assert_int_equal(gzwrite(file, line, (unsigned)len), len);
    }
    assert_int_equal(gzclose(file), Z_OK);

    struct error err;
    struct strbuf bytes = STRBUF_INIT(1 << 24);
    assert_true(file_read(b->path, &bytes, &err));
    FILE *half = fopen(b->path, "we");
    assert_int_equal(fwrite(bytes.data, 1, bytes.len / 2, half), bytes.len / 2);
    fclose(half);
    strbuf_release(&bytes);
    read_all(b);
    assert_non_null(strstr(asset_source_problem(b->source), "the compressed data ends too early"));
    assert_true(lease_count(b) > 0 && lease_count(b) < 20000);
}

TEST(functions_accept_no_source)
{
    asset_source_free(NULL);
    assert_false(asset_source_pump(NULL, 0, 1));
    assert_false(asset_source_busy(NULL));
    assert_true(asset_source_due(NULL) == INT64_MAX);
    assert_true(asset_source_ready(NULL));
    assert_false(asset_source_hangs(NULL));
    assert_false(asset_source_is_broken(NULL));
    assert_false(asset_source_has_rejected(NULL));
    assert_int_equal(asset_source_snapshot_ms(NULL), 0);
    assert_int_equal(asset_source_rejected(NULL), 0);
    assert_string_equal(asset_source_problem(NULL), "");
    assert_string_equal(asset_source_path(NULL), "");
}
