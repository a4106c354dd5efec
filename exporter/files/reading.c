/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/reading.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporter/files/yaml_file.h"
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
    const char *text; /* All of the bytes; NULL: they come from elsewhere. */
    size_t text_len;
    size_t text_at;
    struct ahead *ahead; /* NULL: the bytes come from `fd`. Borrowed, or `again`. */
    struct ahead again;  /* For a second pass. */
    int64_t now_ms;
    int fd;
    int spool;
    struct json_file *json;
    struct yaml_file yaml;
    struct read_failure *why; /* Of the step at hand. */
};

static bool ends_in(const char *path, const char *suffix)
{
    size_t len = strlen(path);
    size_t suffix_len = strlen(suffix);

    return len >= suffix_len && strcmp(path + len - suffix_len, suffix) == 0;
}

struct reading *reading_new(struct manifest_file *file, const struct manifest_limits *limits,
                            struct ahead *ahead, bool keep)
{
    struct reading *r = xcalloc(1, sizeof(*r));

    r->file = file;
    r->limits = *limits;
    r->keep = keep && file->once && file->spool < 0;
    r->fd = -1;
    r->spool = -1;
    r->ahead = file->spool < 0 ? ahead : NULL;
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
    ahead_release(&r->again);
    json_file_free(r->json);
    yaml_file_release(&r->yaml);
    free(r);
}

void reading_take_text(struct reading *r, const char *text, size_t len)
{
    r->text = text;
    r->text_len = len;
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
    if (!r->ahead) {
        r->fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                         : open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (r->fd < 0)
            return fail_errno(r, "open");
    }
    if (r->keep)
        r->spool = memfd_create("manifests", MFD_CLOEXEC);
    return !r->keep || r->spool >= 0 || fail_errno(r, "keep a copy of");
}

static bool open_file(struct reading *r)
{
    if (r->text)
        return true;
    if (r->file->once)
        return open_once(r);
    if (r->ahead)
        return true;
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

/* What came of asking for bytes. */
enum outcome { OUTCOME_BYTES, OUTCOME_FAILED, OUTCOME_WAITS, OUTCOME_HANGS };

static enum outcome read_chunk(struct reading *r, char *chunk, size_t *out)
{
    ssize_t len;

    do {
        len = read(r->fd, chunk, CHUNK);
    } while (len < 0 && (errno == EINTR || (errno == EAGAIN && file_wait_readable(r->fd))));
    if (len < 0) {
        fail_errno(r, "read");
        return OUTCOME_FAILED;
    }
    *out = (size_t)len;
    return OUTCOME_BYTES;
}

static enum outcome receive_chunk(struct reading *r, struct ahead_bytes *out)
{
    *out = (struct ahead_bytes){.bytes = NULL};
    switch (ahead_bytes(r->ahead, r->now_ms, out)) {
    case AHEAD_BYTES:
        return OUTCOME_BYTES;
    case AHEAD_END:
        out->len = 0;
        return OUTCOME_BYTES;
    case AHEAD_WAITS:
        return OUTCOME_WAITS;
    case AHEAD_FAILED:
        r->why->gone = out->gone;
        fail(&r->why->text, "%s", out->bytes);
        unreadable(r);
        return OUTCOME_FAILED;
    case AHEAD_LOST:
        fail(&r->why->text, "cannot read '%s': %s", r->file->path, read_job_failure(JOB_LOST));
        unreadable(r);
        /* Read again soon, as a file that hangs and then answers; a pipe cannot be. */
        return r->file->once ? OUTCOME_FAILED : OUTCOME_HANGS;
    case AHEAD_HANGS:
        fail(&r->why->text, "cannot read '%s': %s", r->file->path, read_job_failure(JOB_HANGS));
        unreadable(r);
        return OUTCOME_HANGS;
    }
    abort();
}

static struct ahead_bytes next_of_text(struct reading *r)
{
    size_t left = r->text_len - r->text_at;
    struct ahead_bytes next = {.bytes = r->text + r->text_at, .len = left < CHUNK ? left : CHUNK};

    r->text_at += next.len;
    return next;
}

/* The next bytes, none at the end; `chunk` has room for those that are read here. */
static enum outcome next_bytes(struct reading *r, char *chunk, struct ahead_bytes *out)
{
    enum outcome outcome;

    if (r->text) {
        *out = next_of_text(r);
        return OUTCOME_BYTES;
    }
    *out = (struct ahead_bytes){.bytes = chunk};
    outcome = r->ahead ? receive_chunk(r, out) : read_chunk(r, chunk, &out->len);
    if (outcome == OUTCOME_BYTES && r->spool >= 0 && out->len > 0 &&
        write(r->spool, out->bytes, out->len) != (ssize_t)out->len) {
        fail_errno(r, "keep a copy of");
        return OUTCOME_FAILED;
    }
    return outcome;
}

/* Back to the first byte of the file, or of its spool. */
static bool rewind_bytes(struct reading *r)
{
    if (r->text) {
        r->text_at = 0;
        return true;
    }
    if (r->fd >= 0 && lseek(r->fd, 0, SEEK_SET) == 0)
        return true;
    if (r->file->spool < 0 && r->ahead && !r->file->once) {
        r->again.reader = r->ahead->reader;
        if (!ahead_add(&r->again, r->file))
            abort();
        ahead_start(&r->again, r->ahead->path);
        r->ahead = &r->again;
        return ahead_next(r->ahead) != NULL;
    }
    if (r->file->spool < 0)
        return false;
    file_close(&r->fd);
    r->ahead = NULL;
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

/* Pass on the bytes, none at the end. False with the reason if the file is none. */
static bool pass_on(struct reading *r, const char *bytes, size_t len)
{
    struct read_failure *why = r->why;

    if (r->format == FORMAT_UNKNOWN && len > 0)
        r->format = guess(bytes, len);
    if (r->format == FORMAT_JSON) {
        if (!r->json)
            r->json = json_file_new(r->limits.object_max_bytes, r->each, r->context);
        if (len > 0)
            return json_file_feed(r->json, bytes, len, &why->where, &why->text);
        return json_file_end(r->json, &why->where, &why->text);
    }
    if (yaml_file_add(&r->yaml, bytes, len))
        return true;
    fail(&why->text,
         "'%s' is larger than %zu bytes, even compressed: split it, or write it as JSON, which has "
         "no such limit",
         r->file->path, r->limits.yaml_max_bytes);
    return unreadable(r);
}

static enum reading_state step_bytes(struct reading *r)
{
    CLEANUP(free_cleanup) char *chunk = r->ahead ? NULL : xmalloc(CHUNK);
    struct ahead_bytes next;

    switch (next_bytes(r, chunk, &next)) {
    case OUTCOME_WAITS:
        return READING_WAITS;
    case OUTCOME_HANGS:
        r->why->hangs = ahead_stop(r->ahead);
        return READING_HANGS;
    case OUTCOME_FAILED:
        return READING_FAILED;
    case OUTCOME_BYTES:
        break;
    }
    if (!pass_on(r, next.bytes, next.len))
        return READING_FAILED;
    return next.len > 0 ? READING_MORE : end_bytes(r);
}

int64_t reading_due(const struct reading *r)
{
    return r->ahead && r->ahead->job ? read_job_due(r->ahead->job) : INT64_MAX;
}

enum reading_state reading_step(struct reading *r, int64_t now_ms, struct read_failure *why)
{
    r->now_ms = now_ms;
    *why = (struct read_failure){.kind = PROBLEM_MALFORMED};
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
        case YAML_READ_ITEM:
            return READING_MORE;
        }
        abort();
    case STAGE_HAND_OUT:
        return yaml_file_hand_out(&r->yaml, r->each, r->context) ? READING_MORE : READING_DONE;
    }
    abort();
}
