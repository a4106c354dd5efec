/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/manifest_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "exporter/files/json_file.h"
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

void prefetch_release(struct prefetch *a)
{
    read_job_free(prefetch_stop(a));
    free(a->files);
    a->files = NULL;
}

bool prefetch_add(struct prefetch *a, struct manifest_file *file)
{
    if (a->count == PREFETCH_FILES || (a->count > 0 && a->files[0]->path_index != file->path_index))
        return false;
    if (!a->files)
        a->files = xcalloc(PREFETCH_FILES, sizeof(struct manifest_file *));
    a->files[a->count++] = file;
    return true;
}

void prefetch_start(struct prefetch *a, const char *path)
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

struct manifest_file *prefetch_next(struct prefetch *a)
{
    a->at_end = false;
    return a->next < a->count ? a->files[a->next++] : NULL;
}

bool prefetch_done(struct prefetch *a, int64_t now_ms)
{
    struct read_result ignored;

    /* Results that are left of a file that the caller has given up are dropped with the job. */
    if (a->job && a->ended == a->count && read_job_next(a->job, now_ms, &ignored) == JOB_WAITS)
        return false;
    read_job_free(prefetch_stop(a));
    return true;
}

struct read_job *prefetch_stop(struct prefetch *a)
{
    struct read_job *job = a->job;

    a->job = NULL;
    a->count = a->next = a->ended = 0;
    return job;
}

enum prefetch_state prefetch_bytes(struct prefetch *a, int64_t now_ms, struct prefetch_bytes *out)
{
    static const enum prefetch_state states[] = {
        [JOB_WAITS] = PREFETCH_WAITS,
        [JOB_HANGS] = PREFETCH_HANGS,
        [JOB_DONE] = PREFETCH_LOST,
        [JOB_LOST] = PREFETCH_LOST,
    };
    struct read_result result;

    if (a->at_end) {
        *out = (struct prefetch_bytes){.bytes = ""};
        return PREFETCH_END;
    }
    for (;;) {
        enum read_job_state state = read_job_next(a->job, now_ms, &result);
        bool is_current = a->ended + 1 == a->next;

        if (state != JOB_RESULT)
            return states[state];
        a->ended += result.tag != TAG_BYTES;
        if (!is_current)
            continue;
        *out = (struct prefetch_bytes){result.bytes, result.len, result.tag == TAG_GONE};
        a->at_end = result.tag == TAG_END;
        if (result.tag != TAG_BYTES && result.tag != TAG_END)
            return PREFETCH_FAILED;
        return result.len > 0 ? PREFETCH_BYTES : PREFETCH_END;
    }
}

void compressed_queue_init(struct compressed_queue *q, size_t max)
{
    *q = (struct compressed_queue){
        .filling = STRBUF_INIT(COMPRESSED_BLOCK),
        .reading = STRBUF_INIT(COMPRESSED_BLOCK),
        .max = max,
    };
}

static void free_first(struct compressed_queue *q)
{
    struct compressed_block *block = q->first;

    q->first = block->next;
    q->len -= block->len;
    free(block);
}

void compressed_queue_release(struct compressed_queue *q)
{
    while (q->first)
        free_first(q);
    strbuf_release(&q->filling);
    strbuf_release(&q->reading);
    compressed_queue_init(q, q->max);
}

/* Compresses the block that has been filled. */
static void close_block(struct compressed_queue *q)
{
    uLongf len = compressBound(q->filling.len);
    struct compressed_block *block = xmalloc(sizeof(*block) + len);

    if (compress2(block->bytes, &len, (const Bytef *)q->filling.data, q->filling.len,
                  Z_BEST_SPEED) != Z_OK)
        memory_exhausted(0); /* zlib has no other error here. */
    /* A copy, because a block that shrinks in place leaves a hole behind it. */
    struct compressed_block *kept = xmalloc(sizeof(*kept) + len);

    *kept = (struct compressed_block){.len = len, .plain_len = q->filling.len};
    memcpy(kept->bytes, block->bytes, len);
    free(block);
    if (q->first)
        q->last->next = kept;
    else
        q->first = kept;
    q->last = kept;
    q->len += len;
    strbuf_reset(&q->filling);
}

bool compressed_queue_add(struct compressed_queue *q, const char *bytes, size_t len)
{
    while (len > 0) {
        size_t room = COMPRESSED_BLOCK - q->filling.len;
        size_t part = len < room ? len : room;

        if (room == 0) {
            close_block(q);
            continue;
        }
        strbuf_add(&q->filling, bytes, part);
        bytes += part;
        len -= part;
        if (q->len + q->filling.len > q->max)
            return false;
    }
    return true;
}

/* Begins to read the next block. Returns false at the end of the queue. */
static bool open_block(struct compressed_queue *q)
{
    q->read_len = 0;
    strbuf_reset(&q->reading);
    if (!q->first) {
        struct strbuf empty = q->reading;

        q->reading = q->filling;
        q->filling = empty;
        return q->reading.len > 0;
    }
    uLongf len = q->first->plain_len;

    strbuf_reserve(&q->reading, len);
    if (uncompress((Bytef *)q->reading.data, &len, q->first->bytes, q->first->len) != Z_OK)
        memory_exhausted(0); /* zlib has no other error here. */
    q->reading.len = len;
    free_first(q);
    return true;
}

size_t compressed_queue_read(struct compressed_queue *q, char *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        size_t left = q->reading.len - q->read_len;
        size_t part = left < size - done ? left : size - done;

        if (left == 0 && !open_block(q))
            break;
        if (left == 0)
            continue;
        memcpy(bytes + done, q->reading.data + q->read_len, part);
        q->read_len += part;
        done += part;
    }
    return done;
}

enum {
    /*
     * How much longer a text can be as JSON: "-" and a line break become "null,". Anything beyond
     * comes from aliases.
     */
    GROWTH_MAX = 4,
    /* Objects of the largest size that may be in memory at once: an item, and what it refers to. */
    OBJECTS_MAX = 2,
};

/* An object before its JSON. */
struct yaml_object {
    size_t line;
    size_t len;
    size_t list; /* Number of the list from which the object inherits its kind; 0 without one. */
};

/* `kubectl get -o yaml` sorts keys, so the kind of a list comes behind the items. */
struct yaml_list {
    char *api_version;
    char *kind;
};

static size_t grown(size_t bytes)
{
    return bytes > SIZE_MAX / (2 * GROWTH_MAX) ? SIZE_MAX / 2 : bytes * GROWTH_MAX;
}

void yaml_file_init(struct yaml_file *y, const struct manifest_limits *limits)
{
    *y = (struct yaml_file){.limits = *limits};
    compressed_queue_init(&y->text, limits->yaml_max_bytes);
    compressed_queue_init(&y->json, grown(limits->yaml_max_bytes));
}

void yaml_file_release(struct yaml_file *y)
{
    yaml_reader_free(y->reader);
    y->reader = NULL;
    compressed_queue_release(&y->text);
    compressed_queue_release(&y->json);
    for (size_t i = 0; i < y->list_count; i++) {
        free(y->lists[i].api_version);
        free(y->lists[i].kind);
    }
    free(y->lists);
    y->lists = NULL;
    y->list_count = 0;
}

bool yaml_file_add(struct yaml_file *y, const char *bytes, size_t len)
{
    return compressed_queue_add(&y->text, bytes, len);
}

static size_t read_text(void *context, char *bytes, size_t size)
{
    struct yaml_file *y = context;

    return compressed_queue_read(&y->text, bytes, size);
}

static struct yaml_reader *open_reader(struct yaml_file *y)
{
    return yaml_reader_new(read_text, y,
                           (struct yaml_limits){
                               .nodes_max = y->limits.nodes_max,
                               .bytes_max = y->limits.object_max_bytes * OBJECTS_MAX,
                               .by_item = true,
                               .term = y->limits.term,
                           });
}

static bool add_json(struct yaml_file *y, const cJSON *object, size_t line, size_t list)
{
    CLEANUP(free_cleanup) char *json = cJSON_PrintUnformatted(object);

    if (!json)
        memory_exhausted(0);

    struct yaml_object head = {line, strlen(json), list};

    y->count++;
    if (head.len > y->limits.object_max_bytes)
        return false;
    y->full = !compressed_queue_add(&y->json, (const char *)&head, sizeof(head)) ||
              !compressed_queue_add(&y->json, json, head.len);
    return !y->full;
}

static void keep(void *context, cJSON *object, size_t line)
{
    struct yaml_file *y = context;

    if (y->failed_line == 0 && !add_json(y, object, line, 0))
        y->failed_line = line;
}

/* Keeps an item. The kind that it inherits may be behind it, and is added later. */
static void keep_item(struct yaml_file *y, cJSON *item, size_t line)
{
    if (!list_item_inherits(item)) {
        list_each(item, line, keep, y);
        return;
    }
    y->inherits = true;
    if (!add_json(y, item, line, y->list_count + 1))
        y->failed_line = line;
}

static void keep_document(struct yaml_file *y, cJSON *document, size_t line)
{
    if (y->inherits) {
        y->lists = xreallocarray(y->lists, y->list_count + 1, sizeof(*y->lists));
        y->lists[y->list_count++] = (struct yaml_list){
            .api_version = xstrdup(json_str(document, "apiVersion", "")),
            .kind = xstrdup(json_str(document, "kind", "")),
        };
    }
    y->inherits = false;
    list_each(document, line, keep, y);
}

enum yaml_outcome yaml_file_parse(struct yaml_file *y, struct json_position *where,
                                  struct error *err)
{
    CLEANUP(json_cleanup) cJSON *tree = NULL;

    if (!y->reader)
        y->reader = open_reader(y);

    enum yaml_outcome outcome = yaml_reader_next(y->reader, &tree, where, err);

    if (outcome == YAML_READ_ITEM)
        keep_item(y, tree, where->line);
    else if (outcome == YAML_READ_DOCUMENT)
        keep_document(y, tree, where->line);
    if (y->failed_line > 0) {
        *where = (struct json_position){y->failed_line, 1};
        if (y->full)
            fail(err, "the file, with its anchors expanded, is too large");
        else
            fail(err, "the object is larger than %zu bytes", y->limits.object_max_bytes);
        return YAML_READ_MALFORMED;
    }
    if (outcome == YAML_READ_END) {
        yaml_reader_free(y->reader);
        y->reader = NULL;
        compressed_queue_release(&y->text);
    }
    return outcome;
}

/* Receiver of the objects of a list in a list. */
struct document_receiver {
    struct yaml_file *file;
    json_object_fn *each;
    void *context;
};

static void hand_out(void *context, cJSON *object, size_t line)
{
    const struct document_receiver *h = context;

    h->each(h->context, object, (struct json_place){line, ++h->file->order});
}

bool yaml_file_emit_next(struct yaml_file *y, json_object_fn *each, void *context)
{
    struct document_receiver h = {y, each, context};
    struct yaml_object head;
    struct error err;

    if (y->handed_out == y->count)
        return false;
    y->handed_out++;
    if (compressed_queue_read(&y->json, (char *)&head, sizeof(head)) != sizeof(head))
        abort();

    /* With a NUL behind it, as json_parse needs it. */
    CLEANUP(free_cleanup) char *json = xcalloc(1, head.len + 1);
    if (compressed_queue_read(&y->json, json, head.len) != head.len)
        abort();

    CLEANUP(json_cleanup) cJSON *tree = json_parse(json, head.len, NULL, &err);
    /* Cannot fail: the tree it was printed from came from YAML that was checked. */
    if (!tree)
        abort();
    if (head.list == 0) {
        hand_out(&h, tree, head.line);
        return true;
    }
    const struct yaml_list *list = &y->lists[head.list - 1];

    list_item_complete(tree, list->api_version, list->kind);
    list_each(tree, head.line, hand_out, &h);
    return true;
}

enum { READING_CHUNK = 64 * 1024 };

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
    struct prefetch *prefetch; /* NULL: the bytes come from `fd`. Borrowed, or `again`. */
    struct prefetch again;     /* For a second pass. */
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
                            struct prefetch *prefetch, bool keep)
{
    struct reading *r = xcalloc(1, sizeof(*r));

    r->file = file;
    r->limits = *limits;
    r->keep = keep && file->read_once && file->spool < 0;
    r->fd = -1;
    r->spool = -1;
    r->prefetch = file->spool < 0 ? prefetch : NULL;
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
    prefetch_release(&r->again);
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
    if (!r->prefetch) {
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
    if (r->file->read_once)
        return open_once(r);
    if (r->prefetch)
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
        len = read(r->fd, chunk, READING_CHUNK);
    } while (len < 0 && (errno == EINTR || (errno == EAGAIN && file_wait_readable(r->fd))));
    if (len < 0) {
        fail_errno(r, "read");
        return OUTCOME_FAILED;
    }
    *out = (size_t)len;
    return OUTCOME_BYTES;
}

static enum outcome receive_chunk(struct reading *r, struct prefetch_bytes *out)
{
    *out = (struct prefetch_bytes){.bytes = NULL};
    switch (prefetch_bytes(r->prefetch, r->now_ms, out)) {
    case PREFETCH_BYTES:
        return OUTCOME_BYTES;
    case PREFETCH_END:
        out->len = 0;
        return OUTCOME_BYTES;
    case PREFETCH_WAITS:
        return OUTCOME_WAITS;
    case PREFETCH_FAILED:
        r->why->gone = out->gone;
        fail(&r->why->text, "%s", out->bytes);
        unreadable(r);
        return OUTCOME_FAILED;
    case PREFETCH_LOST:
        fail(&r->why->text, "cannot read '%s': %s", r->file->path, read_job_failure(JOB_LOST));
        unreadable(r);
        /* Read again soon, as a file that hangs and then answers; a pipe cannot be. */
        return r->file->read_once ? OUTCOME_FAILED : OUTCOME_HANGS;
    case PREFETCH_HANGS:
        fail(&r->why->text, "cannot read '%s': %s", r->file->path, read_job_failure(JOB_HANGS));
        unreadable(r);
        return OUTCOME_HANGS;
    }
    abort();
}

static struct prefetch_bytes next_of_text(struct reading *r)
{
    size_t left = r->text_len - r->text_at;
    struct prefetch_bytes next = {.bytes = r->text + r->text_at,
                                  .len = left < READING_CHUNK ? left : READING_CHUNK};

    r->text_at += next.len;
    return next;
}

/* The next bytes, none at the end; `chunk` has room for those that are read here. */
static enum outcome next_bytes(struct reading *r, char *chunk, struct prefetch_bytes *out)
{
    enum outcome outcome;

    if (r->text) {
        *out = next_of_text(r);
        return OUTCOME_BYTES;
    }
    *out = (struct prefetch_bytes){.bytes = chunk};
    outcome = r->prefetch ? receive_chunk(r, out) : read_chunk(r, chunk, &out->len);
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
    if (r->file->spool < 0 && r->prefetch && !r->file->read_once) {
        r->again.reader = r->prefetch->reader;
        if (!prefetch_add(&r->again, r->file))
            abort();
        prefetch_start(&r->again, r->prefetch->path);
        r->prefetch = &r->again;
        return prefetch_next(r->prefetch) != NULL;
    }
    if (r->file->spool < 0)
        return false;
    file_close(&r->fd);
    r->prefetch = NULL;
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
    if (!r->json || !json_file_needs_second_pass(r->json))
        return READING_DONE;
    if (!rewind_bytes(r)) {
        fail(&r->why->text,
             "'%s' names the kind of a list after its items, and cannot be read twice",
             r->file->path);
        unreadable(r);
        return READING_FAILED;
    }
    json_file_begin_second_pass(r->json);
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
    CLEANUP(free_cleanup) char *chunk = r->prefetch ? NULL : xmalloc(READING_CHUNK);
    struct prefetch_bytes next;

    switch (next_bytes(r, chunk, &next)) {
    case OUTCOME_WAITS:
        return READING_WAITS;
    case OUTCOME_HANGS:
        r->why->hangs = prefetch_stop(r->prefetch);
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
    return r->prefetch && r->prefetch->job ? read_job_due(r->prefetch->job) : INT64_MAX;
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
        return yaml_file_emit_next(&r->yaml, r->each, r->context) ? READING_MORE : READING_DONE;
    }
    abort();
}
