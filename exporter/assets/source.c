/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/assets/source.h"

#include <zlib.h>

#include "exporter/assets/asset.h"
#include "exporter/system/file.h"
#include "exporter/system/platform.h"
#include "metrics/base/frame.h"

enum {
    CHUNK = 256 * 1024,
    LOOK_MS = 2000, /* How often to check whether the file has changed. */
    ASSET_MAX_BYTES = 64 * 1024 * 1024,
    /* No other source has this number. */
    SOURCE_NUMBER = UINT32_MAX,
};

struct asset_source {
    struct store *store;
    char *path;
    const struct log *log;
    struct origin origin;
    struct file_stamp seen; /* Of the file as it was or is being read. */
    gzFile file;            /* NULL between two readings. */
    struct frame frame;
    char *chunk;
    uint64_t rejected;
    uint64_t rejected_before; /* Of them, before this reading. */
    int64_t look_ms;
    int64_t snapshot_ms;
    bool ready;
    bool held;
    struct error problem;
};

struct asset_source *asset_source_new(struct store *store, const char *path, const struct log *log)
{
    struct asset_source *s = xcalloc(1, sizeof(*s));

    s->store = store;
    s->path = xstrdup(path);
    s->log = log;
    s->origin.source = SOURCE_NUMBER;
    s->look_ms = INT64_MIN;
    return s;
}

static void close_file(struct asset_source *s)
{
    if (!s->file)
        return;
    gzclose_r(s->file);
    s->file = NULL;
    frame_release(&s->frame);
    free(s->chunk);
    s->chunk = NULL;
}

void asset_source_free(struct asset_source *s)
{
    if (!s)
        return;
    close_file(s);
    free(s->path);
    free(s);
}

static int64_t written_ms(const struct asset_source *s)
{
    return s->seen.changed_ns / 1000000;
}

static bool receive(void *context, const char *json, size_t len, size_t offset)
{
    struct asset_source *s = context;
    struct error err;

    if (!asset_may_concern(json, len))
        return true;

    CLEANUP(json_cleanup) cJSON *asset = json_parse(json, len, NULL, &err);
    CLEANUP(json_cleanup) cJSON *object = asset ? asset_convert(asset, written_ms(s)) : NULL;
    /* A bad asset is counted, the first of a reading is reported, and the others are read. */
    if (!asset || (object && store_put(s->store, object, s->origin, &err) == STORE_REJECTED)) {
        if (s->rejected++ == s->rejected_before)
            fail(&s->problem, "'%s': the asset at byte %zu: %s", s->path, offset, err.text);
    }
    return true;
}

/* The reading is over; on failure `s->problem` says why. */
static void finish(struct asset_source *s, bool complete)
{
    close_file(s);
    s->ready = true;
    if (complete) {
        store_sweep(s->store, s->origin);
        s->snapshot_ms = written_ms(s);
    }
    if (s->problem.text[0] != '\0')
        log_write(s->log, LOG_LEVEL_WARN,
                  complete ? "cannot read some assets; their last known leases stay"
                           : "cannot read the asset export; the last known leases stay",
                  "error", s->problem.text);
    else
        log_write(s->log, LOG_LEVEL_INFO, "read the asset export", "file", s->path);
}

/* Open the file if it has changed. */
static void look(struct asset_source *s, int64_t now_ms)
{
    struct file_stamp stamp;
    struct error err;

    if (now_ms < s->look_ms)
        return;
    s->look_ms = now_ms + LOOK_MS;
    if (!file_stamp_read(s->path, &stamp, &err)) {
        /* Logged once, not at every look. */
        bool again = strcmp(s->problem.text, err.text) == 0;

        s->problem = err;
        s->seen = (struct file_stamp){0};
        if (!again)
            finish(s, false);
        return;
    }
    if (file_stamp_equal(&stamp, &s->seen))
        return;
    s->seen = stamp;
    s->problem.text[0] = '\0';
    s->rejected_before = s->rejected;
    int fd = file_open(s->path, NULL, &s->problem);
    s->file = fd >= 0 ? gzdopen(fd, "rb") : NULL;
    if (!s->file) {
        file_close(&fd);
        finish(s, false);
        return;
    }
    gzbuffer(s->file, CHUNK);
    s->chunk = xmalloc(CHUNK);
    s->origin.sweep++;
    frame_init(&s->frame, FRAME_EVENTS, ASSET_MAX_BYTES, receive, s);
}

static void read_on(struct asset_source *s)
{
    int len = gzread(s->file, s->chunk, CHUNK);
    struct error err;
    int code;

    if (len > 0) {
        if (frame_feed(&s->frame, s->chunk, (size_t)len, &err))
            return;
        fail(&s->problem, "'%s': %s", s->path, err.text);
        finish(s, false);
        return;
    }
    const char *reason = gzerror(s->file, &code);
    bool whole = code == Z_OK || code == Z_STREAM_END;

    if (!whole)
        fail(&s->problem, "'%s': %s", s->path,
             code == Z_BUF_ERROR ? "the compressed data ends too early" : reason);
    else if (!frame_complete(&s->frame))
        fail(&s->problem, "'%s' ends inside an asset", s->path);
    finish(s, whole && frame_complete(&s->frame));
}

bool asset_source_pump(struct asset_source *s, int64_t now_ms, unsigned slice_ms)
{
    double start = platform_steady_seconds();

    if (!s)
        return false;
    if (!s->file && !s->held)
        look(s, now_ms);
    if (!s->file)
        return false;
    while (s->file && (platform_steady_seconds() - start) * 1000 < slice_ms)
        read_on(s);
    return true;
}

void asset_source_hold(struct asset_source *s, bool held)
{
    if (s)
        s->held = held;
}

bool asset_source_busy(const struct asset_source *s)
{
    return s && s->file;
}

int64_t asset_source_due(const struct asset_source *s)
{
    return s ? s->look_ms : INT64_MAX;
}

bool asset_source_ready(const struct asset_source *s)
{
    return !s || s->ready;
}

const char *asset_source_problem(const struct asset_source *s)
{
    return s ? s->problem.text : "";
}

int64_t asset_source_snapshot_ms(const struct asset_source *s)
{
    return s ? s->snapshot_ms : 0;
}

uint64_t asset_source_rejected(const struct asset_source *s)
{
    return s ? s->rejected : 0;
}
