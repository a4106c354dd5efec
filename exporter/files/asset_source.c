/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/asset_source.h"

#include <zlib.h>

#include "exporter/system/platform.h"
#include "metrics/base/json_frame.h"
#include "metrics/model/connector_resource.h"

/* ---- assets ---- */

static const char holder_label[] = "cnrm-lease-holder-id";
static const char expiration_label[] = "cnrm-lease-expiration";
static const char managed_label[] = "managed-by-cnrm";

/* Returns false if the asset cannot have a label of a lease, so that most assets are not parsed. */
static bool may_have_lease(const char *json, size_t len)
{
    /* All three labels contain these bytes. */
    return memmem(json, len, "cnrm", strlen("cnrm")) != NULL;
}

/* Returns the labels of an asset or NULL. Services store them in different places. */
static const cJSON *find_labels(const cJSON *asset)
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
    const cJSON *labels = find_labels(asset);
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

/* ---- reading of the file, in the caller's thread or a thread of the file reader ---- */

enum { CHUNK = 32 * 1024 };

enum asset_tag {
    TAG_BEGINS, /* The bytes are the struct file_stamp of the file, which has changed. */
    TAG_BYTES,
    TAG_END,
    TAG_UNCHANGED,
    TAG_FAILED, /* The bytes are the reason, ended by a NUL, which the length includes. */
};

struct asset_reading {
    char *path;
    struct file_stamp last_stamp;
    gzFile file; /* NULL while the file is not open. */
    struct file_stamp stamp;
    struct error err;
    char chunk[CHUNK];
};

static struct asset_reading *asset_reading_new(const char *path,
                                               const struct file_stamp *last_stamp)
{
    struct asset_reading *f = xcalloc(1, sizeof(*f));

    f->path = xstrdup(path);
    f->last_stamp = *last_stamp;
    return f;
}

static void close_file(struct asset_reading *f)
{
    if (f->file)
        gzclose_r(f->file);
    f->file = NULL;
}

static void asset_reading_free(void *reading)
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
    if (file_stamp_equal(&f->stamp, &f->last_stamp))
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

/* Returns the next result, valid until the next call. */
static struct read_result next_result(struct asset_reading *f)
{
    return f->file ? read_chunk(f) : open_file(f);
}

static void run_reading_job(struct read_job *job, void *input)
{
    struct read_result result;

    do {
        result = next_result(input);
    } while (read_job_emit(job, result.tag, result.bytes, result.len) &&
             (result.tag == TAG_BEGINS || result.tag == TAG_BYTES));
    /* The job closes the file, because close(2) may block on a mount. */
    close_file(input);
}

/* ---- reader of the file ---- */

/* With a file reader, a job reads and unpacks the file, because a mount may block at any byte. */
struct asset_reader {
    char *path;
    struct file_reader *reader;    /* Borrowed; may be NULL. */
    struct read_job *job;          /* Current reading by `reader`; NULL between readings. */
    struct asset_reading *reading; /* Current reading without `reader`; NULL between readings. */
};

enum asset_reader_state {
    ASSET_READER_BEGINS, /* The file has changed, and its bytes follow. */
    ASSET_READER_BYTES,
    ASSET_READER_END,       /* The reading ends with this state and each of the next three. */
    ASSET_READER_UNCHANGED, /* The file has not changed. */
    ASSET_READER_FAILED,    /* The file cannot be read. */
    ASSET_READER_LOST,      /* The job cannot be run, or has ended early. */
    ASSET_READER_WAITS,     /* No result yet: file_reader_fd() reports when to ask again. */
    ASSET_READER_HANGS,     /* No result for too long. The reading may continue later. */
};

/* Result of asset_reader_next(), valid until the next call. */
struct asset_reader_bytes {
    const char *bytes;
    size_t len;
    struct file_stamp stamp; /* Set with ASSET_READER_BEGINS. */
};

static MUST_USE struct asset_reader *asset_reader_new(const char *path, struct file_reader *reader)
{
    struct asset_reader *r = xcalloc(1, sizeof(*r));

    r->path = xstrdup(path);
    r->reader = reader;
    return r;
}

static void release_reading(struct asset_reader *r)
{
    read_job_free(r->job);
    r->job = NULL;
    if (r->reading)
        close_file(r->reading);
    asset_reading_free(r->reading);
    r->reading = NULL;
}

static void asset_reader_free(struct asset_reader *r)
{
    if (!r)
        return;
    release_reading(r);
    free(r->path);
    free(r);
}

/* Starts to read the file if its stamp differs from `last_stamp`. Drops the current reading. */
static void asset_reader_begin(struct asset_reader *r, const struct file_stamp *last_stamp)
{
    release_reading(r);
    if (r->reader)
        r->job = read_job_start(r->reader, r->path, run_reading_job,
                                asset_reading_new(r->path, last_stamp), asset_reading_free);
    else
        r->reading = asset_reading_new(r->path, last_stamp);
}

static enum asset_reader_state take_result(struct asset_reader *r, const struct read_result *result,
                                           struct asset_reader_bytes *out, struct error *err)
{
    switch ((enum asset_tag)result->tag) {
    case TAG_BEGINS:
        memcpy(&out->stamp, result->bytes, sizeof(out->stamp));
        return ASSET_READER_BEGINS;
    case TAG_BYTES:
        out->bytes = result->bytes;
        out->len = result->len;
        return ASSET_READER_BYTES;
    case TAG_FAILED:
        fail(err, "%s", result->bytes);
        release_reading(r);
        return ASSET_READER_FAILED;
    case TAG_END:
        release_reading(r);
        return ASSET_READER_END;
    case TAG_UNCHANGED:
        release_reading(r);
        return ASSET_READER_UNCHANGED;
    }
    abort();
}

/*
 * Returns the state, and stores the stamp or bytes of the file in `out`. `err` receives the reason
 * for a failure, a lost job and a hang.
 */
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
    release_reading(r);
    return ASSET_READER_LOST;
}

/* ---- the source ---- */

enum {
    CHECK_MS = 2000, /* Interval between checks whether the file has changed. */
    ASSET_MAX_BYTES = 64 * 1024 * 1024,
    SOURCE_NUMBER = UINT32_MAX, /* Origin in the store; no other source uses it. */
};

enum stage { IDLE, CHECKING, READING };

struct asset_source {
    struct store *store;
    char *path;
    const struct log *log;
    struct origin origin;
    struct file_stamp last_stamp; /* Stamp at the start of the last reading; zeros force one. */
    struct asset_reader *reader;
    enum stage stage;
    bool waits_for_reader;
    struct error hang; /* Reason of a hang or lost job; "" while the file answers. */
    struct json_frame frame;
    uint64_t rejected;
    uint64_t rejected_before; /* Value of `rejected` at the start of the reading. */
    int64_t check_ms;         /* Time of the next check, on the steady clock. */
    int64_t snapshot_ms;
    bool ready;
    bool broken;       /* The last reading failed. */
    bool has_rejected; /* The last reading that ended found invalid assets. */
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
    s->check_ms = INT64_MIN;
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

/* The result is not 0, which stands for a file that was never read. */
static int64_t file_modified_ms(const struct asset_source *s)
{
    int64_t modified_ms = s->last_stamp.changed_ns / 1000000;

    return modified_ms != 0 ? modified_ms : 1;
}

static bool receive_asset(void *context, const char *json, size_t len, size_t offset)
{
    struct asset_source *s = context;
    struct error err;

    if (!may_have_lease(json, len))
        return true;

    CLEANUP(json_cleanup) cJSON *asset = json_parse(json, len, NULL, &err);
    CLEANUP(json_cleanup) cJSON *object = asset ? asset_convert(asset, file_modified_ms(s)) : NULL;
    /* An invalid asset does not end the reading. Only the first invalid asset is reported. */
    if (!asset || (object && store_put(s->store, object, s->origin, &err) == STORE_REJECTED)) {
        if (s->rejected++ == s->rejected_before)
            fail(&s->problem, "'%s': the asset at byte %zu: %s", s->path, offset, err.text);
    }
    return true;
}

/*
 * Ends a reading and logs its result. A complete reading removes leases that the file no longer
 * has. The caller sets s->problem if the reading is not complete.
 */
static void finish_reading(struct asset_source *s, bool complete)
{
    if (s->stage == READING) {
        json_frame_release(&s->frame);
        s->has_rejected = s->rejected > s->rejected_before;
    }
    s->stage = IDLE;
    s->ready = true;
    s->broken = !complete;
    if (complete) {
        store_sweep(s->store, s->origin);
        s->snapshot_ms = file_modified_ms(s);
    }
    if (s->problem.text[0] != '\0')
        log_write(s->log, LOG_LEVEL_WARN,
                  complete ? "cannot read some assets; their last known leases stay"
                           : "cannot read the asset export; the last known leases stay",
                  "error", s->problem.text);
    else
        log_write(s->log, LOG_LEVEL_INFO, "read the asset export", "file", s->path);
}

static void begin_reading(struct asset_source *s, const struct file_stamp *stamp)
{
    s->last_stamp = *stamp;
    s->problem.text[0] = '\0';
    s->rejected_before = s->rejected;
    s->origin.sweep++;
    json_frame_init(&s->frame, JSON_FRAME_EVENTS, ASSET_MAX_BYTES, receive_asset, s);
    s->stage = READING;
}

/* Ends a check or reading that failed. */
static void fail_reading(struct asset_source *s, const struct error *why)
{
    /* A file that cannot be opened is logged once and not at each check. */
    bool again = s->stage == CHECKING && strcmp(s->problem.text, why->text) == 0;

    s->problem = *why;
    if (s->stage == CHECKING)
        s->last_stamp = (struct file_stamp){0};
    if (again)
        s->stage = IDLE;
    else
        finish_reading(s, false);
}

static void parse_bytes(struct asset_source *s, const struct asset_reader_bytes *next)
{
    struct error err;

    if (json_frame_feed(&s->frame, next->bytes, next->len, &err))
        return;
    fail_in(&err, "'%s'", s->path);
    fail_reading(s, &err);
}

static void end_asset_file(struct asset_source *s)
{
    bool complete = json_frame_is_complete(&s->frame);

    if (!complete)
        fail(&s->problem, "'%s' ends inside an asset", s->path);
    finish_reading(s, complete);
}

/* Stores, and logs once, that the file does not answer or its job is lost. */
static void report_hang(struct asset_source *s, const struct error *why)
{
    if (!asset_source_hangs(s))
        log_write(s->log, LOG_LEVEL_WARN,
                  "cannot read the asset export; the last known leases stay", "error", why->text);
    s->hang = *why;
}

/* Ends a reading after the loss of its job. The next check reads the file even if unchanged. */
static void abort_lost_reading(struct asset_source *s, const struct error *why)
{
    if (s->stage == READING)
        json_frame_release(&s->frame);
    s->stage = IDLE;
    s->last_stamp = (struct file_stamp){0};
    report_hang(s, why);
}

static void run_reading_step(struct asset_source *s, int64_t now_ms)
{
    struct asset_reader_bytes next;
    struct error err;
    enum asset_reader_state state = asset_reader_next(s->reader, now_ms, &next, &err);

    s->waits_for_reader = state == ASSET_READER_WAITS || state == ASSET_READER_HANGS;
    if (!s->waits_for_reader && state != ASSET_READER_LOST && asset_source_hangs(s)) {
        s->hang.text[0] = '\0';
        log_write(s->log, LOG_LEVEL_INFO, "the asset export can be read again", "file", s->path);
    }
    switch (state) {
    case ASSET_READER_BEGINS:
        begin_reading(s, &next.stamp);
        return;
    case ASSET_READER_BYTES:
        parse_bytes(s, &next);
        return;
    case ASSET_READER_END:
        end_asset_file(s);
        return;
    case ASSET_READER_UNCHANGED:
        s->stage = IDLE;
        return;
    case ASSET_READER_FAILED:
        fail_reading(s, &err);
        return;
    case ASSET_READER_LOST:
        abort_lost_reading(s, &err);
        return;
    case ASSET_READER_WAITS:
        return;
    case ASSET_READER_HANGS:
        report_hang(s, &err);
        return;
    }
}

bool asset_source_pump(struct asset_source *s, int64_t now_ms, unsigned slice_ms)
{
    double start = platform_steady_seconds();
    bool changed = false;

    if (!s)
        return false;
    if (s->stage == IDLE && now_ms >= s->check_ms) {
        s->check_ms = now_ms + CHECK_MS;
        asset_reader_begin(s->reader, &s->last_stamp);
        s->stage = CHECKING;
        s->waits_for_reader = false;
    }
    while (s->stage != IDLE && (platform_steady_seconds() - start) * 1000 < slice_ms) {
        bool reading = s->stage == READING;

        run_reading_step(s, now_ms);
        if (s->waits_for_reader)
            break;
        /* The end of a reading changes the store, too, because it removes leases. */
        changed = changed || reading;
    }
    return changed;
}

bool asset_source_busy(const struct asset_source *s)
{
    return s && s->stage != IDLE && !s->waits_for_reader;
}

int64_t asset_source_due(const struct asset_source *s)
{
    if (!s || (asset_source_hangs(s) && s->stage != IDLE))
        return INT64_MAX;
    if (s->stage == IDLE)
        return s->check_ms;
    return s->reader->job ? read_job_due(s->reader->job) : INT64_MAX;
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

bool asset_source_is_broken(const struct asset_source *s)
{
    return s && (s->broken || asset_source_hangs(s));
}

bool asset_source_has_rejected(const struct asset_source *s)
{
    return s && s->has_rejected;
}

const char *asset_source_path(const struct asset_source *s)
{
    return s ? s->path : "";
}

int64_t asset_source_snapshot_ms(const struct asset_source *s)
{
    return s ? s->snapshot_ms : 0;
}

uint64_t asset_source_rejected(const struct asset_source *s)
{
    return s ? s->rejected : 0;
}
