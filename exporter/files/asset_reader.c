/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/asset_reader.h"

#include <zlib.h>

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

struct asset_reader *asset_reader_new(const char *path, struct file_reader *reader)
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

void asset_reader_free(struct asset_reader *r)
{
    if (!r)
        return;
    end_reading(r);
    free(r->path);
    free(r);
}

void asset_reader_begin(struct asset_reader *r, const struct file_stamp *seen)
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

enum asset_reader_state asset_reader_next(struct asset_reader *r, int64_t now_ms,
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

int64_t asset_reader_due(const struct asset_reader *r)
{
    return r->job ? read_job_due(r->job) : INT64_MAX;
}
