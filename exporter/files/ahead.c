/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/ahead.h"

#include <errno.h>
#include <unistd.h>

#include "exporter/system/file.h"

enum { CHUNK = 64 * 1024 };

enum tag {
    TAG_BYTES,
    TAG_END, /* The last bytes, if any. */
    TAG_FAILED,
    TAG_GONE,
};

/* ---- the job, in a thread of the file reader ---- */

/* Paths of the files to be read. */
struct path_list {
    size_t count;
    char *items[];
};

static void free_paths(void *input)
{
    struct path_list *paths = input;

    for (size_t i = 0; i < paths->count; i++)
        free(paths->items[i]);
    free(paths);
}

static bool emit_failure(struct read_job *job, enum tag tag, const char *text)
{
    return read_job_emit(job, (int)tag, text, strlen(text) + 1);
}

/*
 * Emits the bytes up to the end of `fd`. `size` is -1 if it is unknown. Returns false if the bytes
 * are no longer wanted.
 */
static bool emit_bytes(struct read_job *job, int fd, const char *path, off_t size, char *chunk)
{
    enum tag tag = TAG_BYTES;
    struct error err;
    off_t sum = 0;

    while (tag == TAG_BYTES) {
        ssize_t len = read(fd, chunk, CHUNK);

        if (len < 0 && (errno == EINTR || (errno == EAGAIN && file_wait_readable(fd))))
            continue;
        if (len < 0) {
            fail(&err, "cannot read '%s': %s", path, strerror(errno));
            return emit_failure(job, TAG_FAILED, err.text);
        }
        sum += len;
        /* A small file is one result. */
        if (len == 0 || (len < CHUNK && sum == size))
            tag = TAG_END;
        if (!read_job_emit(job, (int)tag, chunk, (size_t)len))
            return false;
    }
    return true;
}

static bool emit_file(struct read_job *job, const char *path, char *chunk)
{
    struct stat about;
    struct error err;

    read_job_touch(job, path);
    if (strcmp(path, "-") == 0)
        return emit_bytes(job, STDIN_FILENO, path, -1, chunk);

    CLEANUP(file_close) int fd = file_open(path, &about, &err);

    if (fd < 0)
        return emit_failure(job, errno == ENOENT || errno == ENOTDIR ? TAG_GONE : TAG_FAILED,
                            err.text);
    return emit_bytes(job, fd, path, about.st_size, chunk);
}

static void read_files(struct read_job *job, void *input)
{
    CLEANUP(free_cleanup) char *chunk = xmalloc(CHUNK);
    const struct path_list *paths = input;

    for (size_t i = 0; i < paths->count && emit_file(job, paths->items[i], chunk); i++)
        continue;
    /* Manifests may hold secrets. */
    explicit_bzero(chunk, CHUNK);
}

/* ---- the caller ---- */

void ahead_release(struct ahead *a)
{
    read_job_free(ahead_stop(a));
    free(a->files);
    a->files = NULL;
}

bool ahead_add(struct ahead *a, struct manifest_file *file)
{
    if (a->count == AHEAD_FILES || (a->count > 0 && a->files[0]->path_index != file->path_index))
        return false;
    if (!a->files)
        a->files = xcalloc(AHEAD_FILES, sizeof(struct manifest_file *));
    a->files[a->count++] = file;
    return true;
}

void ahead_start(struct ahead *a, const char *path)
{
    struct path_list *paths = xmalloc(sizeof(*paths) + a->count * sizeof(char *));

    a->path = path;
    paths->count = a->count;
    for (size_t i = 0; i < a->count; i++)
        paths->items[i] = xstrdup(a->files[i]->path);
    a->job = read_job_start(a->reader, path, read_files, paths, free_paths);
    if (strcmp(a->files[0]->path, "-") == 0)
        read_job_be_patient(a->job);
}

struct manifest_file *ahead_next(struct ahead *a)
{
    a->at_end = false;
    return a->next < a->count ? a->files[a->next++] : NULL;
}

bool ahead_done(struct ahead *a, int64_t now_ms)
{
    struct read_result ignored;

    /* Results that are left of a file that the caller has given up are dropped with the job. */
    if (a->job && a->ended == a->count && read_job_next(a->job, now_ms, &ignored) == JOB_WAITS)
        return false;
    read_job_free(ahead_stop(a));
    return true;
}

struct read_job *ahead_stop(struct ahead *a)
{
    struct read_job *job = a->job;

    a->job = NULL;
    a->count = a->next = a->ended = 0;
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
    struct read_result result;

    if (a->at_end) {
        *out = (struct ahead_bytes){.bytes = ""};
        return AHEAD_END;
    }
    for (;;) {
        enum read_job_state state = read_job_next(a->job, now_ms, &result);
        bool is_current = a->ended + 1 == a->next;

        if (state != JOB_RESULT)
            return states[state];
        a->ended += result.tag != TAG_BYTES;
        if (!is_current)
            continue;
        *out = (struct ahead_bytes){result.bytes, result.len, result.tag == TAG_GONE};
        a->at_end = result.tag == TAG_END;
        if (result.tag != TAG_BYTES && result.tag != TAG_END)
            return AHEAD_FAILED;
        return result.len > 0 ? AHEAD_BYTES : AHEAD_END;
    }
}
