/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/ahead.h"

#include <errno.h>
#include <unistd.h>

#include "exporter/system/file.h"

enum { CHUNK = 64 * 1024 };

/* What a frame begins with. */
enum tag {
    TAG_BYTES = 'b',
    TAG_END = 'e', /* The last bytes, if any. */
    TAG_FAILED = 'f',
    TAG_GONE = 'g',
};

/* ---- the process that reads ---- */

static void emit_failure(struct job_output *out, enum tag tag, const char *text)
{
    char frame[sizeof(((struct error *)NULL)->text) + 2];
    int len = snprintf(frame, sizeof(frame), "%c%s", tag, text);

    job_emit(out, frame, (size_t)len + 1);
}

/* Emit what can be read until the end of `fd`, and then that. `size` is known of most files. */
static void emit_bytes(struct job_output *out, int fd, const char *path, off_t size)
{
    CLEANUP(free_cleanup) char *frame = xmalloc(1 + CHUNK);
    struct error err;
    off_t sum = 0;
    ssize_t len;

    do {
        len = read(fd, frame + 1, CHUNK);
        if (len < 0 && (errno == EINTR || (errno == EAGAIN && file_wait_readable(fd))))
            continue;
        sum += len > 0 ? len : 0;
        /* A small file is one frame. */
        frame[0] = len == 0 || (len > 0 && len < CHUNK && sum == size) ? TAG_END : TAG_BYTES;
        if (len >= 0)
            job_emit(out, frame, 1 + (size_t)len);
        if (frame[0] == TAG_END)
            return;
    } while (len >= 0 || errno == EINTR || errno == EAGAIN);
    fail(&err, "cannot read '%s': %s", path, strerror(errno));
    emit_failure(out, TAG_FAILED, err.text);
}

/* The input is paths, a NUL behind each. */
static void read_files(struct job_output *out, const char *input, size_t len, int fd)
{
    const char *end = input + len;

    (void)fd;
    for (const char *path = input; path < end; path += strlen(path) + 1) {
        struct stat about;
        struct error err;

        if (strcmp(path, "-") == 0) {
            emit_bytes(out, STDIN_FILENO, path, -1);
            continue;
        }
        CLEANUP(file_close) int file = file_open(path, &about, &err);
        if (file >= 0)
            emit_bytes(out, file, path, about.st_size);
        else
            emit_failure(out, errno == ENOENT || errno == ENOTDIR ? TAG_GONE : TAG_FAILED,
                         err.text);
    }
}

/* ---- who asks ---- */

void ahead_release(struct ahead *a)
{
    job_free(ahead_stop(a));
    free(a->files);
    a->files = NULL;
}

bool ahead_add(struct ahead *a, struct manifest_file *file)
{
    size_t size = strlen(file->path) + 1;

    if (a->count == AHEAD_FILES || (a->count > 0 && a->path_bytes + size > JOB_INPUT_MAX))
        return false;
    if (!a->files)
        a->files = xcalloc(AHEAD_FILES, sizeof(struct manifest_file *));
    a->files[a->count++] = file;
    a->path_bytes += size;
    return true;
}

void ahead_start(struct ahead *a)
{
    CLEANUP(strbuf_release) struct strbuf input = STRBUF_INIT(JOB_INPUT_MAX);

    for (size_t i = 0; i < a->count; i++)
        strbuf_add(&input, a->files[i]->path, strlen(a->files[i]->path) + 1);
    a->job = job_start(a->workers, read_files, input.data, input.len, -1);
    if (strcmp(a->files[0]->path, "-") == 0)
        job_be_patient(a->job);
}

struct manifest_file *ahead_next(struct ahead *a)
{
    a->at_end = false;
    return a->next < a->count ? a->files[a->next++] : NULL;
}

bool ahead_done(struct ahead *a, int64_t now_ms)
{
    const char *bytes;
    size_t len;

    /* A file that was given up half way leaves bytes behind, which nobody wants any more. */
    if (a->job && a->ended == a->count && job_next(a->job, now_ms, &bytes, &len) == JOB_WAITS)
        return false;
    job_free(ahead_stop(a));
    return true;
}

struct job *ahead_stop(struct ahead *a)
{
    struct job *job = a->job;

    a->job = NULL;
    a->count = a->next = a->ended = a->path_bytes = 0;
    return job;
}

enum ahead_state ahead_bytes(struct ahead *a, int64_t now_ms, struct ahead_bytes *out)
{
    static const enum ahead_state states[] = {
        [JOB_WAITS] = AHEAD_WAITS,
        [JOB_HANGS] = AHEAD_HANGS,
        [JOB_DONE] = AHEAD_LOST,
        [JOB_LOST] = AHEAD_LOST,
    };
    const char *bytes;
    size_t len;

    if (a->at_end) {
        *out = (struct ahead_bytes){.bytes = ""};
        return AHEAD_END;
    }
    for (;;) {
        enum job_state state = job_next(a->job, now_ms, &bytes, &len);
        bool mine = a->ended + 1 == a->next;

        if (state != JOB_FRAME)
            return states[state];
        a->ended += *bytes != TAG_BYTES;
        if (!mine)
            continue;
        *out = (struct ahead_bytes){bytes + 1, len - 1, *bytes == TAG_GONE};
        a->at_end = *bytes == TAG_END;
        if (*bytes != TAG_BYTES && *bytes != TAG_END)
            return AHEAD_FAILED;
        return len > 1 ? AHEAD_BYTES : AHEAD_END;
    }
}
