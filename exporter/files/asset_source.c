/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/asset_source.h"

#include <zlib.h>

#include "exporter/system/platform.h"
#include "metrics/base/json_frame.h"
#include "metrics/model/connector_resource.h"

static const char holder_label[] = "cnrm-lease-holder-id";
static const char expiration_label[] = "cnrm-lease-expiration";
static const char managed_label[] = "managed-by-cnrm";

/* False if the bytes hold nothing about a lease, as for most assets: no need to parse them. */
static bool asset_may_concern(const char *json, size_t len)
{
    /* Part of all three labels. */
    return memmem(json, len, "cnrm", strlen("cnrm")) != NULL;
}

/* Services keep the labels of their resources in different places. */
static const cJSON *labels_of(const cJSON *asset)
{
    const cJSON *data = json_get(json_get(asset, "resource"), "data");
    const cJSON *const places[] = {
        json_get(data, "labels"),         json_get(json_get(data, "settings"), "userLabels"),
        json_get(data, "resourceLabels"), json_get(data, "userLabels"),
        json_get(asset, "labels"),
    };

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (cJSON_IsObject(places[i]))
            return places[i];
    }
    return NULL;
}

static void add_text(cJSON *object, const char *key, const char *text)
{
    if (text && *text != '\0' && !cJSON_AddStringToObject(object, key, text))
        memory_exhausted(0);
}

cJSON *asset_convert(const cJSON *asset, int64_t snapshot_ms)
{
    const cJSON *labels = labels_of(asset);
    const char *holder = json_str(labels, holder_label, NULL);
    const char *expiration = json_str(labels, expiration_label, NULL);
    cJSON *object, *metadata;

    if (!holder && !expiration && !json_str(labels, managed_label, NULL))
        return NULL;
    object = cJSON_CreateObject();
    metadata = cJSON_AddObjectToObject(object, "metadata");
    if (!metadata || !cJSON_AddNumberToObject(object, "snapshotMilliseconds", (double)snapshot_ms))
        memory_exhausted(0);
    add_text(object, "apiVersion", LEASE_API_VERSION);
    add_text(object, "kind", LEASE_KIND);
    add_text(metadata, "name", json_str(asset, "name", NULL));
    add_text(object, "assetType",
             json_str(asset, "asset_type", json_str(asset, "assetType", NULL)));
    add_text(object, "holder", holder);
    add_text(object, "expiration", expiration);
    return object;
}

/* zlib waits until it has so many bytes, or has made so many of them. */
enum { CHUNK = 32 * 1024 };

/* Tags of results; the bytes are the stamp, contents, nothing, or a text with its NUL. */
enum tag {
    TAG_BEGINS,
    TAG_BYTES,
    TAG_END,
    TAG_UNCHANGED,
    TAG_FAILED,
};

/* ---- reading the file ---- */

struct asset_reading {
    char *path;
    struct file_stamp seen;
    gzFile file; /* NULL before the first result and after the last. */
    struct file_stamp stamp;
    struct error err;
    char chunk[CHUNK];
};

static struct asset_reading *reading_new(const char *path, const struct file_stamp *seen)
{
    struct asset_reading *f = xcalloc(1, sizeof(*f));

    f->path = xstrdup(path);
    f->seen = *seen;
    return f;
}

static void close_file(struct asset_reading *f)
{
    if (f->file)
        gzclose_r(f->file);
    f->file = NULL;
}

static void reading_free(void *reading)
{
    struct asset_reading *f = reading;

    if (!f)
        return;
    explicit_bzero(f->chunk, sizeof(f->chunk));
    free(f->path);
    free(f);
}

static struct read_result failure_of(const struct asset_reading *f)
{
    return (struct read_result){TAG_FAILED, strlen(f->err.text) + 1, f->err.text};
}

static struct read_result open_file(struct asset_reading *f)
{
    if (!file_stamp_read(f->path, &f->stamp, &f->err))
        return failure_of(f);
    if (file_stamp_equal(&f->stamp, &f->seen))
        return (struct read_result){.tag = TAG_UNCHANGED, .bytes = ""};

    int fd = file_open(f->path, NULL, &f->err);

    if (fd < 0)
        return failure_of(f);
    f->file = gzdopen(fd, "rb");
    if (!f->file)
        memory_exhausted(0); /* gzdopen() fails for lack of memory only. */
    gzbuffer(f->file, CHUNK);
    return (struct read_result){TAG_BEGINS, sizeof(f->stamp), (const char *)&f->stamp};
}

static struct read_result read_chunk(struct asset_reading *f)
{
    int len = gzread(f->file, f->chunk, CHUNK);
    int code;

    if (len > 0)
        return (struct read_result){TAG_BYTES, (size_t)len, f->chunk};

    const char *reason = gzerror(f->file, &code);

    if (code == Z_OK || code == Z_STREAM_END)
        return (struct read_result){.tag = TAG_END, .bytes = ""};
    fail(&f->err, "'%s': %s", f->path,
         code == Z_BUF_ERROR ? "the compressed data ends too early" : reason);
    return failure_of(f);
}

/* Returns the next result; valid until the next call. */
static struct read_result next_result(struct asset_reading *f)
{
    return f->file ? read_chunk(f) : open_file(f);
}

static void run_reading(struct read_job *job, void *input)
{
    struct read_result result;

    do {
        result = next_result(input);
    } while (read_job_emit(job, result.tag, result.bytes, result.len) &&
             (result.tag == TAG_BEGINS || result.tag == TAG_BYTES));
    /* Here, because a mount may hang in close(2) too. */
    close_file(input);
}

/* ---- the caller ---- */

struct asset_reader {
    char *path;
    struct file_reader *reader;
    struct read_job *job;          /* Of a reading, with a file reader. */
    struct asset_reading *reading; /* Of a reading, without one. */
};

/* The path is copied; `reader` is borrowed, NULL for none. */
static MUST_USE struct asset_reader *asset_reader_new(const char *path, struct file_reader *reader)
{
    struct asset_reader *r = xcalloc(1, sizeof(*r));

    r->path = xstrdup(path);
    r->reader = reader;
    return r;
}

static void end_reading(struct asset_reader *r)
{
    read_job_free(r->job);
    r->job = NULL;
    if (r->reading)
        close_file(r->reading);
    reading_free(r->reading);
    r->reading = NULL;
}

/* NULL is fine. */
static void asset_reader_free(struct asset_reader *r)
{
    if (!r)
        return;
    end_reading(r);
    free(r->path);
    free(r);
}

/* Look at the file: asset_reader_next() tells what comes of that. It begins, if it is no longer as
 * it was `seen`. */
static void asset_reader_begin(struct asset_reader *r, const struct file_stamp *seen)
{
    end_reading(r);
    if (r->reader)
        r->job = read_job_start(r->reader, r->path, run_reading, reading_new(r->path, seen),
                                reading_free);
    else
        r->reading = reading_new(r->path, seen);
}

static enum asset_reader_state take_result(struct asset_reader *r, const struct read_result *result,
                                           struct asset_reader_bytes *out, struct error *err)
{
    switch ((enum tag)result->tag) {
    case TAG_BEGINS:
        memcpy(&out->stamp, result->bytes, sizeof(out->stamp));
        return ASSET_READER_BEGINS;
    case TAG_BYTES:
        out->bytes = result->bytes;
        out->len = result->len;
        return ASSET_READER_BYTES;
    case TAG_FAILED:
        fail(err, "%s", result->bytes);
        end_reading(r);
        return ASSET_READER_FAILED;
    case TAG_END:
        end_reading(r);
        return ASSET_READER_END;
    case TAG_UNCHANGED:
        end_reading(r);
        return ASSET_READER_UNCHANGED;
    }
    abort();
}

/* What comes next; `now_ms` is steady. */
static enum asset_reader_state asset_reader_next(struct asset_reader *r, int64_t now_ms,
                                                 struct asset_reader_bytes *out, struct error *err)
{
    struct read_result result;

    if (!r->reader) {
        result = next_result(r->reading);
        return take_result(r, &result, out, err);
    }

    enum read_job_state state = read_job_next(r->job, now_ms, &result);

    if (state == JOB_RESULT)
        return take_result(r, &result, out, err);
    if (state == JOB_WAITS)
        return ASSET_READER_WAITS;
    fail(err, "cannot read '%s': %s", r->path, read_job_failure(state));
    if (state == JOB_HANGS)
        return ASSET_READER_HANGS;
    end_reading(r);
    return ASSET_READER_LOST;
}

/* When asset_reader_next() may find that it hangs; INT64_MAX for never. */
static int64_t asset_reader_due(const struct asset_reader *r)
{
    return r->job ? read_job_due(r->job) : INT64_MAX;
}

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
