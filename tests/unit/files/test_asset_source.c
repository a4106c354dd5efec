/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/asset_source.h"

#include <zlib.h>

#include "exporter/system/file.h"
#include "metrics/model/connector_resource.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

#ifndef APART
#define APART false
#endif

enum { SLICE_MS = 1000, LOOK_MS = 2000, LINE_ROOM = 512 };

#define ASSET(name, labels)                                                                        \
    "{\"name\":\"//pubsub.googleapis.com/projects/p/topics/" name                                  \
    "\",\"asset_type\":\"pubsub.googleapis.com/"                                                   \
    "Topic\",\"resource\":{\"data\":{\"labels\":{" labels "}}}}\n"
#define LEASED "\"cnrm-lease-holder-id\":\"abc\",\"cnrm-lease-expiration\":\"1767225600\""
#define PRETTY                                                                                     \
    "{\n  \"name\": \"x\",\n  \"assetType\": \"storage.googleapis.com/Bucket\",\n"                 \
    "  \"resource\": {\n    \"data\": {\"labels\": {" LEASED "}}\n  }\n}\n"

struct bench {
    struct world w;
    struct log log;
    struct file_reader *reader; /* NULL: the source reads the file itself. */
    struct asset_source *source;
    char *folder;
    char *path;
    int64_t now_ms;
};

static int set_up(void **state)
{
    struct bench *b = xcalloc(1, sizeof(*b));
    struct error err;

    world_init(&b->w, &rules_options_default, 1);
    b->log = (struct log){.level = LOG_LEVEL_NONE};
    b->folder = folder_make();
    b->path = folder_path(b->folder, "assets");
    b->reader = APART ? file_reader_new(&err) : NULL;
    b->source = asset_source_new(b->w.store, b->path, b->reader, &b->log);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;

    asset_source_free(b->source);
    assert_true(file_reader_free(b->reader));
    world_release(&b->w);
    folder_remove(b->folder);
    free(b->path);
    free(b);
    return 0;
}

/* Until the next look nothing is to be done. */
static bool settled(const struct bench *b)
{
    return !asset_source_busy(b->source) && asset_source_due(b->source) == b->now_ms + LOOK_MS;
}

/* Let the source look at the file and read all of it. */
static void read_all(struct bench *b)
{
    b->now_ms += LOOK_MS;
    while (asset_source_pump(b->source, b->now_ms, SLICE_MS) || !settled(b)) {
        if (!asset_source_busy(b->source) && !settled(b))
            file_reader_wait(b->reader, SLICE_MS);
    }
}

static size_t leases(const struct bench *b)
{
    return store_object_count(b->w.store, CLASS_LEASE);
}

/* What is in a file, how many leases come of it, and what is said about it. */
static struct file_case {
    const char *name;
    const char *text;
    size_t leases;
    uint64_t rejected;
    const char *problem; /* NULL: none. */
} file_cases[] = {
    {"nothing", "", 0, 0, NULL},
    {"a lease", ASSET("t", LEASED), 1, 0, NULL},
    {"an asset that Config Connector has nothing to do with", ASSET("t", "\"a\":\"b\""), 0, 0,
     NULL},
    {"one that it manages without a lease", ASSET("t", "\"managed-by-cnrm\":\"true\""), 1, 0, NULL},
    {"the other spelling, over several lines", PRETTY, 1, 0, NULL},
    {"labels of a database",
     "{\"name\":\"x\",\"resource\":{\"data\":{\"settings\":{\"userLabels\":{" LEASED "}}}}}", 1, 0,
     NULL},
    {"labels of a cluster",
     "{\"name\":\"x\",\"resource\":{\"data\":{\"resourceLabels\":{" LEASED "}}}}", 1, 0, NULL},
    {"labels as a search tells them", "{\"name\":\"x\",\"labels\":{" LEASED "}}", 1, 0, NULL},
    {"the word elsewhere", "{\"name\":\"cnrm\",\"resource\":{\"data\":{\"labels\":7}}}", 0, 0,
     NULL},
    {"a name twice", ASSET("t", LEASED) ASSET("t", LEASED), 1, 0, NULL},
    {"a lease without a name", "{\"labels\":{" LEASED "}}", 0, 1, "the asset at byte 0"},
    {"a line that is no JSON between others",
     ASSET("t", LEASED) "{\"cnrm\": }\n" ASSET("u", LEASED), 2, 1, "the asset at byte"},
    {"labels that are no texts",
     "{\"name\":\"x\",\"labels\":{\"cnrm-lease-holder-id\":7,\"cnrm-lease-expiration\":[]}}", 0, 0,
     NULL},
    {"an end in the midst of an asset", ASSET("t", LEASED) "{\"name\":\"u", 1, 0,
     "ends inside an asset"},
};

static void check(const struct bench *b, const struct file_case *c)
{
    assert_int_equal(leases(b), c->leases);
    assert_int_equal(asset_source_rejected(b->source), c->rejected);
    if (!c->problem)
        assert_string_equal(asset_source_problem(b->source), "");
    else if (!strstr(asset_source_problem(b->source), c->problem))
        assert_string_equal(asset_source_problem(b->source), c->problem);
}

TEST_ROWS(plain_and_gzip, file_cases, name)
{
    const struct file_case *c = *state;
    void *bench;

    for (unsigned compressed = 0; compressed < 2; compressed++) {
        struct bench *b;

        assert_int_equal(set_up(&bench), 0);
        b = bench;
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
        check(b, c);
        tear_down(&bench);
    }
}

TEST_WITH(a_change_is_read_and_what_is_gone_goes, set_up, tear_down)
{
    struct bench *b = *state;

    folder_write(b->folder, "assets", ASSET("t", LEASED) ASSET("u", LEASED));
    read_all(b);
    assert_int_equal(leases(b), 2);
    assert_true(asset_source_snapshot_ms(b->source) > 0);
    folder_replace(b->folder, "assets", ASSET("u", LEASED) ASSET("v", LEASED) ASSET("w", LEASED));
    read_all(b);
    assert_int_equal(leases(b), 3);
    world_run(&b->w, 0);
    assert_null(world_find(&b->w, LEASE_API_VERSION, LEASE_KIND, "",
                           "//pubsub.googleapis.com/projects/p/topics/t"));
}

/* Who evaluates goes by the answer: also where a slice only finds the end, and sweeps. */
TEST_WITH(each_change_is_told, set_up, tear_down)
{
    struct bench *b = *state;
    CLEANUP(strbuf_release) struct strbuf many = STRBUF_INIT(1 << 20);

    /* So much in each that a slice is over after a part of the file. */
    for (unsigned i = 0; i < 100; i++) {
        strbuf_addf(&many, "{\"name\":\"asset-%u\",\"labels\":{" LEASED "},\"of\":[0", i);
        for (unsigned k = 0; k < 2000; k++)
            strbuf_adds(&many, ",1");
        strbuf_adds(&many, "]}\n");
    }
    for (unsigned round = 0; round < 40; round++) {
        /* All of them, or all but the first. */
        folder_replace(b->folder, "assets", many.data + round % 2 * (strcspn(many.data, "\n") + 1));
        b->now_ms += LOOK_MS;
        do {
            size_t before = leases(b);
            bool changed = asset_source_pump(b->source, b->now_ms, 1);

            assert_true(changed || leases(b) == before);
            if (!asset_source_busy(b->source) && !settled(b))
                file_reader_wait(b->reader, SLICE_MS);
        } while (!settled(b));
        assert_int_equal(leases(b), 100 - round % 2);
    }
}

TEST_WITH(what_cannot_be_read_takes_nothing_back, set_up, tear_down)
{
    struct bench *b = *state;

    folder_write(b->folder, "assets", ASSET("t", LEASED) ASSET("u", LEASED));
    read_all(b);
    folder_replace(b->folder, "assets", ASSET("v", LEASED) "{");
    read_all(b);
    assert_int_equal(leases(b), 3);
    folder_unlink(b->folder, "assets");
    read_all(b);
    assert_int_equal(leases(b), 3);
    assert_non_null(strstr(asset_source_problem(b->source), "No such file"));
    folder_write(b->folder, "assets", ASSET("t", LEASED));
    read_all(b);
    assert_int_equal(leases(b), 1);
    assert_string_equal(asset_source_problem(b->source), "");
}

TEST_WITH(a_file_that_is_missing_settles_it_too, set_up, tear_down)
{
    struct bench *b = *state;

    assert_false(asset_source_ready(b->source));
    read_all(b);
    assert_true(asset_source_ready(b->source));
    assert_int_equal(asset_source_snapshot_ms(b->source), 0);
    assert_int_equal(leases(b), 0);
}

/* Half of the compressed bytes: whatever was in them counts, and the rest is not taken back. */
TEST_WITH(compressed_data_may_end_too_early, set_up, tear_down)
{
    struct bench *b = *state;
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
    assert_true(leases(b) > 0 && leases(b) < 20000);
}
