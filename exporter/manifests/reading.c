/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/manifests/reading.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporter/manifests/yaml_file.h"
#include "exporter/system/file.h"

enum { CHUNK = 64 * 1024 };

enum format { FORMAT_UNKNOWN, FORMAT_YAML, FORMAT_JSON };

enum stage {
    STAGE_OPEN,
    STAGE_BYTES, /* JSON is handed out in this one. */
    STAGE_PARSE,
    STAGE_HAND_OUT,
};

struct reading {
    struct manifest_file *file;
    struct manifest_limits limits;
    bool keep;
    json_object_fn *each;
    void *context;

    enum stage stage;
    enum format format;
    int fd;
    int spool;
    struct json_file *json;
    struct yaml_file yaml;
    struct failure *why; /* Of the step at hand. */
};

static bool ends_in(const char *path, const char *suffix)
{
    size_t len = strlen(path);
    size_t suffix_len = strlen(suffix);

    return len >= suffix_len && strcmp(path + len - suffix_len, suffix) == 0;
}

struct reading *reading_new(struct manifest_file *file, const struct manifest_limits *limits,
                            bool keep)
{
    struct reading *r = xcalloc(1, sizeof(*r));

    r->file = file;
    r->limits = *limits;
    r->keep = keep && file->once && file->spool < 0;
    r->fd = -1;
    r->spool = -1;
    if (ends_in(file->path, ".json"))
        r->format = FORMAT_JSON;
    else if (ends_in(file->path, ".yaml") || ends_in(file->path, ".yml"))
        r->format = FORMAT_YAML;
    yaml_file_init(&r->yaml, limits);
    return r;
}

void reading_free(struct reading *r)
{
    if (!r)
        return;
    file_close(&r->fd);
    file_close(&r->spool);
    json_file_free(r->json);
    yaml_file_release(&r->yaml);
    free(r);
}

void reading_listen(struct reading *r, json_object_fn *each, void *context)
{
    r->each = each;
    r->context = context;
}

/* The failure is about the whole file. */
static bool unreadable(struct reading *r)
{
    r->why->kind = PROBLEM_UNREADABLE;
    r->why->where = (struct json_position){0, 0};
    return false;
}

static bool fail_errno(struct reading *r, const char *verb)
{
    r->why->gone = errno == ENOENT || errno == ENOTDIR;
    fail(&r->why->text, "cannot %s '%s': %s", verb, r->file->path,
         file_open_failure(r->file->path));
    return unreadable(r);
}

/* A pipe is read once; later on its bytes come from the spool. */
static bool open_once(struct reading *r)
{
    const struct manifest_file *file = r->file;
    bool is_stdin = strcmp(file->path, "-") == 0;

    if (file->spool >= 0) {
        r->fd = fcntl(file->spool, F_DUPFD_CLOEXEC, 0);
        return (r->fd >= 0 && lseek(r->fd, 0, SEEK_SET) == 0) || fail_errno(r, "read again");
    }
    if (file->pass > 1) {
        fail(&r->why->text, "'%s' can be read only once", file->path);
        return unreadable(r);
    }
    r->fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                     : open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (r->fd < 0)
        return fail_errno(r, "open");
    if (r->keep)
        r->spool = memfd_create("manifests", MFD_CLOEXEC);
    return !r->keep || r->spool >= 0 || fail_errno(r, "keep a copy of");
}

static bool open_file(struct reading *r)
{
    if (r->file->once)
        return open_once(r);
    r->fd = file_open(r->file->path, NULL, &r->why->text);
    if (r->fd >= 0)
        return true;
    r->why->gone = errno == ENOENT || errno == ENOTDIR;
    return unreadable(r);
}

/* The first character that is not white space says which format a file of any name has. */
static enum format guess(const char *bytes, size_t len)
{
    size_t at = len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    while (at < len && strchr(" \t\r\n", bytes[at]) && bytes[at])
        at++;
    return at < len && (bytes[at] == '{' || bytes[at] == '[') ? FORMAT_JSON : FORMAT_YAML;
}

static ssize_t read_chunk(struct reading *r, char *chunk)
{
    ssize_t len;

    do {
        len = read(r->fd, chunk, CHUNK);
    } while (len < 0 && (errno == EINTR || (errno == EAGAIN && file_wait_readable(r->fd))));
    if (len < 0) {
        fail_errno(r, "read");
        return len;
    }
    if (r->spool >= 0 && write(r->spool, chunk, (size_t)len) != len) {
        fail_errno(r, "keep a copy of");
        return -1;
    }
    return len;
}

/* Back to the first byte of the file, or of its spool. */
static bool rewind_bytes(struct reading *r)
{
    if (lseek(r->fd, 0, SEEK_SET) == 0)
        return true;
    if (r->file->spool < 0)
        return false;
    file_close(&r->fd);
    r->fd = fcntl(r->file->spool, F_DUPFD_CLOEXEC, 0);
    return r->fd >= 0 && lseek(r->fd, 0, SEEK_SET) == 0;
}

/* All bytes have been read: what is left to do. */
static enum reading_state end_bytes(struct reading *r)
{
    if (r->spool >= 0) {
        r->file->spool = r->spool;
        r->spool = -1;
    }
    if (r->format != FORMAT_JSON) {
        r->stage = STAGE_PARSE;
        return READING_MORE;
    }
    if (!r->json || !json_file_wants_again(r->json))
        return READING_DONE;
    if (!rewind_bytes(r)) {
        fail(&r->why->text,
             "'%s' names the kind of a list after its items, and cannot be read twice",
             r->file->path);
        unreadable(r);
        return READING_FAILED;
    }
    json_file_rewind(r->json);
    return READING_MORE;
}

static enum reading_state step_bytes(struct reading *r)
{
    CLEANUP(free_cleanup) char *chunk = xmalloc(CHUNK);
    ssize_t len = read_chunk(r, chunk);
    struct failure *why = r->why;
    bool fine;

    if (len < 0)
        return READING_FAILED;
    if (r->format == FORMAT_UNKNOWN && len > 0)
        r->format = guess(chunk, (size_t)len);
    if (r->format == FORMAT_JSON) {
        if (!r->json)
            r->json = json_file_new(r->limits.object_max_bytes, r->each, r->context);
        if (len > 0)
            fine = json_file_feed(r->json, chunk, (size_t)len, &why->where, &why->text);
        else
            fine = json_file_end(r->json, &why->where, &why->text);
    } else {
        fine = yaml_file_add(&r->yaml, chunk, (size_t)len);
        if (!fine) {
            fail(&why->text,
                 "'%s' is larger than %zu bytes: split it, or write it as JSON, which has no such "
                 "limit",
                 r->file->path, r->limits.file_max_bytes);
            unreadable(r);
        }
    }
    if (!fine)
        return READING_FAILED;
    return len > 0 ? READING_MORE : end_bytes(r);
}

enum reading_state reading_step(struct reading *r, struct failure *why)
{
    *why = (struct failure){.kind = PROBLEM_MALFORMED};
    r->why = why;
    switch (r->stage) {
    case STAGE_OPEN:
        r->stage = STAGE_BYTES;
        return open_file(r) ? READING_MORE : READING_FAILED;
    case STAGE_BYTES:
        return step_bytes(r);
    case STAGE_PARSE:
        switch (yaml_file_parse(&r->yaml, &why->where, &why->text)) {
        case YAML_READ_MALFORMED:
            return READING_FAILED;
        case YAML_READ_END:
            r->stage = STAGE_HAND_OUT;
            return READING_MORE;
        case YAML_READ_DOCUMENT:
            return READING_MORE;
        }
        abort();
    case STAGE_HAND_OUT:
        return yaml_file_hand_out(&r->yaml, r->each, r->context) ? READING_MORE : READING_DONE;
    }
    abort();
}
