/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/asset_reader.h"

#include <zlib.h>

/* zlib waits until it has so many bytes, or has made so many of them. */
enum { CHUNK = 32 * 1024 };

/* What a frame begins with; behind it the stamp, bytes, nothing, or a text with its NUL. */
enum tag {
    TAG_BEGINS = 's',
    TAG_BYTES = 'b',
    TAG_END = 'e',
    TAG_UNCHANGED = 'u',
    TAG_FAILED = 'f',
};

/* ---- who touches the file ---- */

struct frames {
    const char *path;
    struct file_stamp seen;
    gzFile file; /* NULL before the first frame. */
    char frame[1 + CHUNK];
};

static struct frames *frames_new(const char *path, const struct file_stamp *seen)
{
    struct frames *f = xcalloc(1, sizeof(*f));

    f->path = path;
    f->seen = *seen;
    return f;
}

static void frames_free(struct frames *f)
{
    if (f && f->file)
        gzclose_r(f->file);
    free(f);
}

static size_t make_failure(struct frames *f, const struct error *why)
{
    size_t size = strlen(why->text) + 1;

    f->frame[0] = TAG_FAILED;
    memcpy(f->frame + 1, why->text, size);
    return 1 + size;
}

static size_t open_file(struct frames *f)
{
    struct file_stamp stamp;
    struct error err;

    if (!file_stamp_read(f->path, &stamp, &err))
        return make_failure(f, &err);
    f->frame[0] = TAG_UNCHANGED;
    if (file_stamp_equal(&stamp, &f->seen))
        return 1;

    int fd = file_open(f->path, NULL, &err);

    if (fd < 0)
        return make_failure(f, &err);
    f->file = gzdopen(fd, "rb");
    if (!f->file)
        memory_exhausted(0); /* Only memory can be lacking. */
    gzbuffer(f->file, CHUNK);
    f->frame[0] = TAG_BEGINS;
    memcpy(f->frame + 1, &stamp, sizeof(stamp));
    return 1 + sizeof(stamp);
}

static size_t read_file(struct frames *f)
{
    int len = gzread(f->file, f->frame + 1, CHUNK);
    struct error err;
    int code;

    f->frame[0] = len > 0 ? TAG_BYTES : TAG_END;
    if (len > 0)
        return 1 + (size_t)len;

    const char *reason = gzerror(f->file, &code);

    if (code == Z_OK || code == Z_STREAM_END)
        return 1;
    fail(&err, "'%s': %s", f->path,
         code == Z_BUF_ERROR ? "the compressed data ends too early" : reason);
    return make_failure(f, &err);
}

/* The next frame, of so many bytes. */
static size_t make_frame(struct frames *f)
{
    return f->file ? read_file(f) : open_file(f);
}

static bool is_last(char tag)
{
    return tag != TAG_BEGINS && tag != TAG_BYTES;
}

/* The input is a stamp, and the path with its NUL. */
static void read_asset_file(struct job_output *out, const char *input, size_t len, int fd)
{
    struct file_stamp seen;

    (void)fd;
    assert(len > sizeof(seen));
    memcpy(&seen, input, sizeof(seen));

    struct frames *f = frames_new(input + sizeof(seen), &seen);

    do {
        size_t size = make_frame(f);

        job_emit(out, f->frame, size);
    } while (!is_last(f->frame[0]));
    frames_free(f);
}

/* ---- who asks ---- */

struct asset_reader {
    char *path;
    struct workers *workers;
    struct job *job;       /* Of a reading, with workers. */
    struct frames *frames; /* Of a reading, without. */
};

struct asset_reader *asset_reader_new(const char *path, struct workers *workers)
{
    struct asset_reader *r = xcalloc(1, sizeof(*r));

    r->path = xstrdup(path);
    r->workers = workers;
    return r;
}

static void end_reading(struct asset_reader *r)
{
    job_free(r->job);
    r->job = NULL;
    frames_free(r->frames);
    r->frames = NULL;
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
    CLEANUP(strbuf_release) struct strbuf input = STRBUF_INIT(JOB_INPUT_MAX);

    end_reading(r);
    if (!r->workers) {
        r->frames = frames_new(r->path, seen);
        return;
    }
    strbuf_add(&input, (const char *)seen, sizeof(*seen));
    strbuf_add(&input, r->path, strlen(r->path) + 1);
    r->job = job_start(r->workers, read_asset_file, input.data, input.len, -1);
}

/* What a frame says. */
static enum asset_reader_state take_frame(struct asset_reader *r, const char *frame, size_t len,
                                          struct asset_reader_bytes *out, struct error *err)
{
    switch ((enum tag)frame[0]) {
    case TAG_BEGINS:
        assert(len == 1 + sizeof(out->stamp));
        memcpy(&out->stamp, frame + 1, sizeof(out->stamp));
        return ASSET_READER_BEGINS;
    case TAG_BYTES:
        out->bytes = frame + 1;
        out->len = len - 1;
        return ASSET_READER_BYTES;
    case TAG_FAILED:
        fail(err, "%s", frame + 1);
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
    const char *frame;
    size_t len;

    if (!r->workers) {
        len = make_frame(r->frames);
        return take_frame(r, r->frames->frame, len, out, err);
    }

    enum job_state state = job_next(r->job, now_ms, &frame, &len);

    if (state == JOB_FRAME)
        return take_frame(r, frame, len, out, err);
    if (state == JOB_WAITS)
        return ASSET_READER_WAITS;
    fail(err, "cannot read '%s': %s", r->path, job_failure(state));
    if (state == JOB_HANGS)
        return ASSET_READER_HANGS;
    end_reading(r);
    return ASSET_READER_LOST;
}

int64_t asset_reader_due(const struct asset_reader *r)
{
    return r->job ? job_due(r->job) : INT64_MAX;
}
