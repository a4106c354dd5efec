/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/asset_source.h"

#include "exporter/files/asset.h"
#include "exporter/files/asset_reader.h"
#include "exporter/system/platform.h"
#include "metrics/base/json_frame.h"

enum {
    LOOK_MS = 2000, /* How often to check whether the file has changed. */
    ASSET_MAX_BYTES = 64 * 1024 * 1024,
    /* No other source has this number. */
    SOURCE_NUMBER = UINT32_MAX,
};

enum stage { IDLE, LOOKING, READING };

struct asset_source {
    struct store *store;
    char *path;
    const struct log *log;
    struct origin origin;
    struct file_stamp seen; /* Of the file as it was or is being read. */
    struct asset_reader *reader;
    enum stage stage;
    bool waits;        /* For the reader. */
    struct error hang; /* Said of a reader that is waited for too long; "" of any other. */
    struct json_frame frame;
    uint64_t rejected;
    uint64_t rejected_before; /* Of them, before this reading. */
    int64_t look_ms;
    int64_t snapshot_ms;
    bool ready;
    struct error problem;
};

struct asset_source *asset_source_new(struct store *store, const char *path,
                                      struct file_reader *reader, const struct log *log)
{
    struct asset_source *s = xcalloc(1, sizeof(*s));

    s->store = store;
    s->path = xstrdup(path);
    s->reader = asset_reader_new(path, reader);
    s->log = log;
    s->origin.source = SOURCE_NUMBER;
    s->look_ms = INT64_MIN;
    return s;
}

void asset_source_free(struct asset_source *s)
{
    if (!s)
        return;
    if (s->stage == READING)
        json_frame_release(&s->frame);
    asset_reader_free(s->reader);
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
    if (s->stage == READING)
        json_frame_release(&s->frame);
    s->stage = IDLE;
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

static void begin(struct asset_source *s, const struct file_stamp *stamp)
{
    s->seen = *stamp;
    s->problem.text[0] = '\0';
    s->rejected_before = s->rejected;
    s->origin.sweep++;
    json_frame_init(&s->frame, JSON_FRAME_EVENTS, ASSET_MAX_BYTES, receive, s);
    s->stage = READING;
}

/* What follows is not read. */
static void give_up(struct asset_source *s, const struct error *why)
{
    /* Of a file that cannot even be opened: logged once, not at every look. */
    bool again = s->stage == LOOKING && strcmp(s->problem.text, why->text) == 0;

    s->problem = *why;
    if (s->stage == LOOKING)
        s->seen = (struct file_stamp){0};
    if (again)
        s->stage = IDLE;
    else
        finish(s, false);
}

static void take(struct asset_source *s, const struct asset_reader_bytes *next)
{
    struct error err;

    if (json_frame_feed(&s->frame, next->bytes, next->len, &err))
        return;
    fail_in(&err, "'%s'", s->path);
    give_up(s, &err);
}

static void end(struct asset_source *s)
{
    bool complete = json_frame_is_complete(&s->frame);

    if (!complete)
        fail(&s->problem, "'%s' ends inside an asset", s->path);
    finish(s, complete);
}

/* Logs and reports that the file does not answer. The reading may still go on later. */
static void say_that_it_hangs(struct asset_source *s, const struct error *why)
{
    if (!asset_source_hangs(s))
        log_write(s->log, LOG_LEVEL_WARN,
                  "cannot read the asset export; the last known leases stay", "error", why->text);
    s->hang = *why;
}

/* Ends a reading whose job was not run to its end; the file is read again at the next look. */
static void retry_later(struct asset_source *s, const struct error *why)
{
    if (s->stage == READING)
        json_frame_release(&s->frame);
    s->stage = IDLE;
    s->seen = (struct file_stamp){0};
    say_that_it_hangs(s, why);
}

/* One step of a reading. */
static void read_on(struct asset_source *s, int64_t now_ms)
{
    struct asset_reader_bytes next;
    struct error err;
    enum asset_reader_state state = asset_reader_next(s->reader, now_ms, &next, &err);

    s->waits = state == ASSET_READER_WAITS || state == ASSET_READER_HANGS;
    if (!s->waits && state != ASSET_READER_LOST && asset_source_hangs(s)) {
        s->hang.text[0] = '\0';
        log_write(s->log, LOG_LEVEL_INFO, "the asset export answers again", "file", s->path);
    }
    switch (state) {
    case ASSET_READER_BEGINS:
        begin(s, &next.stamp);
        return;
    case ASSET_READER_BYTES:
        take(s, &next);
        return;
    case ASSET_READER_END:
        end(s);
        return;
    case ASSET_READER_UNCHANGED:
        s->stage = IDLE;
        return;
    case ASSET_READER_FAILED:
        give_up(s, &err);
        return;
    case ASSET_READER_LOST:
        retry_later(s, &err);
        return;
    case ASSET_READER_WAITS:
        return;
    case ASSET_READER_HANGS:
        say_that_it_hangs(s, &err);
        return;
    }
}

bool asset_source_pump(struct asset_source *s, int64_t now_ms, unsigned slice_ms)
{
    double start = platform_steady_seconds();
    bool changed = false;

    if (!s)
        return false;
    if (s->stage == IDLE && now_ms >= s->look_ms) {
        s->look_ms = now_ms + LOOK_MS;
        asset_reader_begin(s->reader, &s->seen);
        s->stage = LOOKING;
        s->waits = false;
    }
    while (s->stage != IDLE && (platform_steady_seconds() - start) * 1000 < slice_ms) {
        bool reading = s->stage == READING;

        read_on(s, now_ms);
        if (s->waits)
            break;
        /* The end of a reading sweeps. */
        changed = changed || reading;
    }
    return changed;
}

bool asset_source_busy(const struct asset_source *s)
{
    return s && s->stage != IDLE && !s->waits;
}

int64_t asset_source_due(const struct asset_source *s)
{
    if (!s || (asset_source_hangs(s) && s->stage != IDLE))
        return INT64_MAX;
    return s->stage == IDLE ? s->look_ms : asset_reader_due(s->reader);
}

bool asset_source_ready(const struct asset_source *s)
{
    return !s || s->ready;
}

bool asset_source_hangs(const struct asset_source *s)
{
    return s && s->hang.text[0] != '\0';
}

const char *asset_source_problem(const struct asset_source *s)
{
    if (!s)
        return "";
    return asset_source_hangs(s) ? s->hang.text : s->problem.text;
}

int64_t asset_source_snapshot_ms(const struct asset_source *s)
{
    return s ? s->snapshot_ms : 0;
}

uint64_t asset_source_rejected(const struct asset_source *s)
{
    return s ? s->rejected : 0;
}
