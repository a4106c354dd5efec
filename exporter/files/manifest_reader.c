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
#include "metrics/base/utf16.h"

enum { CHUNK = 64 * 1024 };

/* ---- job of the prefetch, in a thread of the file reader ---- */

/* Tag of a result of the job. The bytes of a failure are the reason and a NUL. */
enum result_tag {
    TAG_BYTES,
    TAG_END, /* The last bytes of a file; may be empty. */
    TAG_FAILED,
    TAG_GONE, /* Failure: the file does not exist. */
};

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

static bool emit_failure(struct read_job *job, enum result_tag tag, const char *text)
{
    return read_job_emit(job, (int)tag, text, strlen(text) + 1);
}

/*
 * Emits the bytes of `fd` up to the end. `size` is the size of the file; -1 if unknown. `chunk` has
 * room for CHUNK bytes. Of a binary file emits the first bytes only. Returns false if the results
 * are no longer wanted.
 */
static bool emit_bytes(struct read_job *job, int fd, const char *path, off_t size, char *chunk)
{
    enum result_tag tag = TAG_BYTES;
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
        if (sum == 0 && is_binary_text(chunk, (size_t)len))
            tag = TAG_END;
        sum += len;
        /* With a known size the end needs no read() of its own: a small file is one result. */
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

    read_job_set_file(job, path);
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
    /* Manifests may contain secrets. */
    explicit_bzero(chunk, CHUNK);
}

/* ---- prefetch ---- */

void prefetch_release(struct prefetch *p)
{
    read_job_free(prefetch_stop(p));
    free(p->files);
    p->files = NULL;
}

bool prefetch_add_file(struct prefetch *p, struct manifest_file *file)
{
    if (p->count == PREFETCH_FILES || (p->count > 0 && p->files[0]->path_index != file->path_index))
        return false;
    if (!p->files)
        p->files = xcalloc(PREFETCH_FILES, sizeof(struct manifest_file *));
    p->files[p->count++] = file;
    return true;
}

void prefetch_start(struct prefetch *p, const char *path)
{
    struct path_list *paths = xmalloc(sizeof(*paths) + p->count * sizeof(char *));

    p->path = path;
    paths->count = p->count;
    for (size_t i = 0; i < p->count; i++)
        paths->items[i] = xstrdup(p->files[i]->path);
    p->job = read_job_start(p->reader, path, read_files, paths, free_paths);
    if (strcmp(p->files[0]->path, "-") == 0)
        read_job_disable_timeout(p->job);
}

struct manifest_file *prefetch_next_file(struct prefetch *p)
{
    p->at_end = false;
    return p->next < p->count ? p->files[p->next++] : NULL;
}

bool prefetch_try_finish(struct prefetch *p, int64_t now_ms)
{
    struct read_result ignored;

    /*
     * All files have ended: waits for the end of the job. Results are left if the caller has not
     * read the last file to its end; they are freed with the job.
     */
    if (p->job && p->ended == p->count && read_job_next(p->job, now_ms, &ignored) == JOB_WAITS)
        return false;
    read_job_free(prefetch_stop(p));
    return true;
}

struct read_job *prefetch_stop(struct prefetch *p)
{
    struct read_job *job = p->job;

    p->job = NULL;
    p->count = p->next = p->ended = 0;
    return job;
}

/* Returns the next bytes of the current file. Does not wait. `now_ms` is the steady clock. */
static enum prefetch_state prefetch_read(struct prefetch *p, int64_t now_ms,
                                         struct prefetch_bytes *out)
{
    static const enum prefetch_state states[] = {
        [JOB_WAITS] = PREFETCH_WAITS,
        [JOB_HANGS] = PREFETCH_HANGS,
        [JOB_DONE] = PREFETCH_LOST,
        [JOB_REJECTED] = PREFETCH_LOST,
    };
    struct read_result result;

    if (p->at_end) {
        *out = (struct prefetch_bytes){.bytes = ""};
        return PREFETCH_END;
    }
    for (;;) {
        enum read_job_state state = read_job_next(p->job, now_ms, &result);
        bool is_current = p->ended + 1 == p->next;

        if (state != JOB_RESULT)
            return states[state];
        p->ended += result.tag != TAG_BYTES;
        if (!is_current)
            continue;
        *out = (struct prefetch_bytes){result.bytes, result.len, result.tag == TAG_GONE};
        p->at_end = result.tag == TAG_END;
        if (result.tag != TAG_BYTES && result.tag != TAG_END)
            return PREFETCH_FAILED;
        return result.len > 0 ? PREFETCH_BYTES : PREFETCH_END;
    }
}

/* ---- compressed queue ---- */

void compressed_queue_init(struct compressed_queue *q, size_t max)
{
    *q = (struct compressed_queue){
        .filling = STRBUF_INIT(COMPRESSED_BLOCK),
        .reading = STRBUF_INIT(COMPRESSED_BLOCK),
        .max = max,
    };
}

static void free_first_block(struct compressed_queue *q)
{
    struct compressed_block *block = q->first;

    q->first = block->next;
    q->len -= block->len;
    free(block);
}

void compressed_queue_release(struct compressed_queue *q)
{
    while (q->first)
        free_first_block(q);
    strbuf_release(&q->filling);
    strbuf_release(&q->reading);
    compressed_queue_init(q, q->max);
}

/* Moves the bytes of `filling` to a new compressed block. */
static void compress_block(struct compressed_queue *q)
{
    uLongf len = compressBound(q->filling.len);
    struct compressed_block *block = xmalloc(sizeof(*block) + len);

    if (compress2(block->bytes, &len, (const Bytef *)q->filling.data, q->filling.len,
                  Z_BEST_SPEED) != Z_OK)
        memory_exhausted(0); /* The buffer is large enough for any content. */
    /* A copy of the exact size, because realloc() in place would fragment the heap. */
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
            compress_block(q);
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

/* Moves the next block to `reading`. Returns false at the end of the queue. */
static bool open_next_block(struct compressed_queue *q)
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
        memory_exhausted(0); /* The block is valid, and its full size is known. */
    q->reading.len = len;
    free_first_block(q);
    return true;
}

size_t compressed_queue_read(struct compressed_queue *q, char *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        size_t left = q->reading.len - q->read_len;
        size_t part = left < size - done ? left : size - done;

        if (left == 0 && !open_next_block(q))
            break;
        if (left == 0)
            continue;
        memcpy(bytes + done, q->reading.data + q->read_len, part);
        q->read_len += part;
        done += part;
    }
    return done;
}

/* ---- YAML files ---- */

enum {
    GROWTH_MAX = 4,  /* Maximum ratio of the lengths of JSON and of YAML without aliases. */
    OBJECTS_MAX = 2, /* Objects of maximum size in memory: an item, and nodes for its aliases. */
};

/* Header of an object in yaml_file.json. */
struct yaml_object {
    struct json_position where;
    size_t len;
    size_t list; /* Number, from 1, of the list that provides the kind; 0 without such a list. */
};

/* Kind of a list for its items; `kubectl get -o yaml` writes this kind after the items. */
struct yaml_list {
    char *api_version;
    char *kind;
};

static size_t json_limit(size_t yaml_bytes)
{
    return yaml_bytes > SIZE_MAX / (2 * GROWTH_MAX) ? SIZE_MAX / 2 : yaml_bytes * GROWTH_MAX;
}

void yaml_file_init(struct yaml_file *y, const struct manifest_limits *limits)
{
    *y = (struct yaml_file){.limits = *limits};
    compressed_queue_init(&y->text, limits->yaml_max_bytes);
    compressed_queue_init(&y->json, json_limit(limits->yaml_max_bytes));
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

static size_t read_yaml_text(void *context, char *bytes, size_t size)
{
    struct yaml_file *y = context;

    return compressed_queue_read(&y->text, bytes, size);
}

struct yaml_limits manifest_yaml_limits(const struct manifest_limits *limits)
{
    return (struct yaml_limits){
        .nodes_max = limits->nodes_max,
        .bytes_max = limits->object_max_bytes * OBJECTS_MAX,
        .by_item = true,
        .term = limits->term,
    };
}

/* Returns false if the object exceeds the limit of an object, or, with y->full, of the file. */
static bool append_object(struct yaml_file *y, const cJSON *object, struct json_position where,
                          size_t list)
{
    CLEANUP(free_cleanup) char *json = cJSON_PrintUnformatted(object);

    if (!json)
        memory_exhausted(0);

    struct yaml_object head = {where, strlen(json), list};

    y->count++;
    if (head.len > y->limits.object_max_bytes)
        return false;
    y->full = !compressed_queue_add(&y->json, (const char *)&head, sizeof(head)) ||
              !compressed_queue_add(&y->json, json, head.len);
    return !y->full;
}

static void store_object(void *context, cJSON *object, struct json_position where)
{
    struct yaml_file *y = context;

    if (y->failed.line == 0 && !append_object(y, object, where, 0))
        y->failed = where;
}

/* Stores an item. yaml_file_emit_next() adds an inherited kind, which may follow the items. */
static void store_item(struct yaml_file *y, cJSON *item, struct json_position where)
{
    if (!list_item_lacks_type(item)) {
        list_for_each_object(item, where, store_object, y);
        return;
    }
    y->has_untyped_items = true;
    if (!append_object(y, item, where, y->list_count + 1))
        y->failed = where;
}

static void store_document(struct yaml_file *y, cJSON *document, struct json_position where)
{
    if (y->has_untyped_items) {
        y->lists = xreallocarray(y->lists, y->list_count + 1, sizeof(*y->lists));
        y->lists[y->list_count++] = (struct yaml_list){
            .api_version = xstrdup(json_str(document, "apiVersion", "")),
            .kind = xstrdup(json_str(document, "kind", "")),
        };
    }
    y->has_untyped_items = false;
    list_for_each_object(document, where, store_object, y);
}

enum yaml_outcome yaml_file_parse(struct yaml_file *y, struct json_position *where,
                                  struct error *err)
{
    CLEANUP(json_cleanup) cJSON *tree = NULL;

    if (!y->reader) {
        y->reader = yaml_reader_new(read_yaml_text, y, manifest_yaml_limits(&y->limits));
        yaml_reader_receive_repeated_keys(y->reader, y->receive_repeated, y->repeated_context);
    }

    enum yaml_outcome outcome = yaml_reader_next(y->reader, &tree, where, err);

    if (outcome == YAML_READ_ITEM)
        store_item(y, tree, *where);
    else if (outcome == YAML_READ_DOCUMENT)
        store_document(y, tree, *where);
    if (y->failed.line > 0) {
        *where = y->failed;
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

struct document_receiver {
    struct yaml_file *file;
    json_object_fn *each;
    void *context;
};

static void pass_object(void *context, cJSON *object, struct json_position where)
{
    const struct document_receiver *h = context;

    h->each(h->context, object, (struct json_place){where.line, where.column, ++h->file->order});
}

bool yaml_file_emit_next(struct yaml_file *y, json_object_fn *each, void *context)
{
    struct document_receiver h = {y, each, context};
    struct yaml_object head;
    struct error err;

    if (y->emitted == y->count)
        return false;
    y->emitted++;
    if (compressed_queue_read(&y->json, (char *)&head, sizeof(head)) != sizeof(head))
        abort();

    /* json_parse() requires a NUL after the text. */
    CLEANUP(free_cleanup) char *json = xcalloc(1, head.len + 1);
    if (compressed_queue_read(&y->json, json, head.len) != head.len)
        abort();

    CLEANUP(json_cleanup) cJSON *tree = json_parse(json, head.len, NULL, &err);
    /* Parsing cannot fail, because the JSON was printed from a valid tree. */
    if (!tree)
        abort();
    if (head.list == 0) {
        pass_object(&h, tree, head.where);
        return true;
    }
    const struct yaml_list *list = &y->lists[head.list - 1];

    list_item_set_type(tree, list->api_version, list->kind);
    list_for_each_object(tree, head.where, pass_object, &h);
    return true;
}

/* ---- reading of one file ---- */

enum stage {
    STAGE_OPEN,
    STAGE_BYTES, /* Objects in JSON are passed on in this stage. */
    STAGE_PARSE, /* YAML only. */
    STAGE_EMIT,  /* YAML only. */
};

struct manifest_reader {
    struct manifest_file *file;
    struct manifest_limits limits;
    size_t keep_max; /* Bytes that the spool may still get; 0 without a spool. */
    json_object_fn *each;
    void *context;

    enum stage stage;
    enum manifest_format format;
    const char *text; /* Borrowed. NULL: the bytes come from the prefetch or `fd`. */
    size_t text_len;
    size_t text_at;
    struct prefetch *prefetch; /* NULL: the bytes come from `fd`. Borrowed, or `second`. */
    struct prefetch second;    /* Prefetch of this file alone, for a second pass. */
    int64_t now_ms;
    int fd;       /* -1 while not open. */
    int spool;    /* Copy being written; -1 without one. */
    bool began;   /* Bytes were read. */
    bool has_nul; /* The text has a NUL byte, which is an error: the rest is not read. */
    struct utf16_converter utf16;
    struct json_file *json;
    struct strbuf json_head; /* First bytes of a JSON file, to recognize an invalid one. */
    struct yaml_file yaml;
    struct read_failure *why; /* Receives the failure of the current step. */
};

static bool ends_with(const char *path, const char *suffix)
{
    size_t len = strlen(path);
    size_t suffix_len = strlen(suffix);

    return len >= suffix_len && strcmp(path + len - suffix_len, suffix) == 0;
}

struct manifest_reader *manifest_reader_new(struct manifest_file *file,
                                            const struct manifest_limits *limits,
                                            struct prefetch *prefetch, size_t keep_max)
{
    struct manifest_reader *r = xcalloc(1, sizeof(*r));

    r->file = file;
    r->limits = *limits;
    r->keep_max = file->read_once && file->spool < 0 ? keep_max : 0;
    r->fd = -1;
    r->spool = -1;
    r->prefetch = file->spool < 0 ? prefetch : NULL;
    if (ends_with(file->path, ".json"))
        r->format = FORMAT_JSON;
    else if (ends_with(file->path, ".yaml") || ends_with(file->path, ".yml"))
        r->format = FORMAT_YAML;
    r->json_head = (struct strbuf)STRBUF_SECRET(CHUNK);
    yaml_file_init(&r->yaml, limits);
    return r;
}

void manifest_reader_free(struct manifest_reader *r)
{
    if (!r)
        return;
    file_close(&r->fd);
    file_close(&r->spool);
    prefetch_release(&r->second);
    json_file_free(r->json);
    strbuf_release(&r->json_head);
    yaml_file_release(&r->yaml);
    free(r);
}

void manifest_reader_set_text(struct manifest_reader *r, const char *text, size_t len)
{
    r->text = text;
    r->text_len = len;
}

void manifest_reader_set_receiver(struct manifest_reader *r, json_object_fn *each, void *context)
{
    r->each = each;
    r->context = context;
}

void manifest_reader_receive_repeated_keys(struct manifest_reader *r, repeated_key_fn *receive,
                                           void *context)
{
    r->yaml.receive_repeated = receive;
    r->yaml.repeated_context = context;
}

/* Makes the failure PROBLEM_UNREADABLE, without a position in the file. Returns false. */
static bool fail_unreadable(struct manifest_reader *r)
{
    r->why->kind = PROBLEM_UNREADABLE;
    r->why->where = (struct json_position){0, 0};
    return false;
}

/* Makes the failure that of a file of a kind that is skipped. Returns false. */
static bool fail_recognized(struct manifest_reader *r, enum skipped_kind kind)
{
    r->why->looks_like = kind;
    r->why->text = skipped_message(kind);
    return false;
}

static bool fail_errno(struct manifest_reader *r, const char *verb)
{
    r->why->gone = errno == ENOENT || errno == ENOTDIR;
    fail(&r->why->text, "cannot %s '%s': %s", verb, r->file->path,
         file_open_failure(r->file->path));
    return fail_unreadable(r);
}

/*
 * Opens the spool of a file that can be read only once; without a spool, the file, unless the
 * prefetch reads it. With r->keep_max, also makes the spool. Returns false with the failure in
 * r->why, also for a second reading without a spool.
 */
static bool open_read_once(struct manifest_reader *r)
{
    const struct manifest_file *file = r->file;
    bool is_stdin = strcmp(file->path, "-") == 0;

    if (file->spool >= 0) {
        r->fd = fcntl(file->spool, F_DUPFD_CLOEXEC, 0);
        return (r->fd >= 0 && lseek(r->fd, 0, SEEK_SET) == 0) || fail_errno(r, "read again");
    }
    if (file->pass > 1) {
        fail(&r->why->text, "'%s' can be read only once", file->path);
        return fail_unreadable(r);
    }
    if (!r->prefetch) {
        r->fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                         : open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (r->fd < 0)
            return fail_errno(r, "open");
    }
    if (r->keep_max > 0)
        r->spool = memfd_create("manifests", MFD_CLOEXEC);
    return r->keep_max == 0 || r->spool >= 0 || fail_errno(r, "keep a copy of");
}

static bool open_file(struct manifest_reader *r)
{
    if (r->text)
        return true;
    if (r->file->read_once)
        return open_read_once(r);
    if (r->prefetch)
        return true;
    r->fd = file_open(r->file->path, NULL, &r->why->text);
    if (r->fd >= 0)
        return true;
    r->why->gone = errno == ENOENT || errno == ENOTDIR;
    return fail_unreadable(r);
}

/* Returns the format by the first character that is not white space or a byte order mark. */
static enum manifest_format guess_format(const char *bytes, size_t len)
{
    size_t at = len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    while (at < len && strchr(" \t\r\n", bytes[at]) && bytes[at])
        at++;
    return at < len && (bytes[at] == '{' || bytes[at] == '[') ? FORMAT_JSON : FORMAT_YAML;
}

enum outcome { OUTCOME_BYTES, OUTCOME_FAILED, OUTCOME_WAITS, OUTCOME_HANGS };

static enum outcome read_fd_chunk(struct manifest_reader *r, char *chunk, size_t *out)
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

static enum outcome receive_prefetched_bytes(struct manifest_reader *r, struct prefetch_bytes *out)
{
    *out = (struct prefetch_bytes){.bytes = NULL};
    switch (prefetch_read(r->prefetch, r->now_ms, out)) {
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
        fail_unreadable(r);
        return OUTCOME_FAILED;
    case PREFETCH_LOST:
        fail(&r->why->text, "cannot read '%s': %s", r->file->path, read_job_failure(JOB_REJECTED));
        fail_unreadable(r);
        /* Neither a pipe nor standard input can be read again. Other files are, as after a hang. */
        return r->file->read_once ? OUTCOME_FAILED : OUTCOME_HANGS;
    case PREFETCH_HANGS:
        fail(&r->why->text, "cannot read '%s': %s", r->file->path, read_job_failure(JOB_HANGS));
        fail_unreadable(r);
        return OUTCOME_HANGS;
    }
    abort();
}

static struct prefetch_bytes next_text_bytes(struct manifest_reader *r)
{
    size_t left = r->text_len - r->text_at;
    struct prefetch_bytes next = {.bytes = r->text + r->text_at,
                                  .len = left < CHUNK ? left : CHUNK};

    r->text_at += next.len;
    return next;
}

/* Appends bytes to the spool, if any. Drops a spool that becomes too large. */
static bool keep_bytes(struct manifest_reader *r, const char *bytes, size_t len)
{
    if (r->spool < 0 || len == 0)
        return true;
    if (len > r->keep_max) {
        file_close(&r->spool);
        r->spool = -1;
        return true;
    }
    r->keep_max -= len;
    return write(r->spool, bytes, len) == (ssize_t)len || fail_errno(r, "keep a copy of");
}

/* Stores the next bytes in `out`; no bytes mean the end. Bytes from r->fd are read to `chunk`. */
static enum outcome next_bytes(struct manifest_reader *r, char *chunk, struct prefetch_bytes *out)
{
    enum outcome outcome;

    if (r->text) {
        *out = next_text_bytes(r);
        return OUTCOME_BYTES;
    }
    *out = (struct prefetch_bytes){.bytes = chunk};
    outcome = r->prefetch ? receive_prefetched_bytes(r, out) : read_fd_chunk(r, chunk, &out->len);
    if (outcome == OUTCOME_BYTES && !keep_bytes(r, out->bytes, out->len))
        return OUTCOME_FAILED;
    return outcome;
}

/* Starts again at the first byte of the file or its spool. Returns false if that is impossible. */
static bool rewind_bytes(struct manifest_reader *r)
{
    if (r->text) {
        r->text_at = 0;
        return true;
    }
    if (r->fd >= 0 && lseek(r->fd, 0, SEEK_SET) == 0)
        return true;
    if (r->file->spool < 0 && r->prefetch && !r->file->read_once) {
        r->second.reader = r->prefetch->reader;
        if (!prefetch_add_file(&r->second, r->file))
            abort();
        prefetch_start(&r->second, r->prefetch->path);
        r->prefetch = &r->second;
        return prefetch_next_file(r->prefetch) != NULL;
    }
    if (r->file->spool < 0)
        return false;
    file_close(&r->fd);
    r->prefetch = NULL;
    r->fd = fcntl(r->file->spool, F_DUPFD_CLOEXEC, 0);
    return r->fd >= 0 && lseek(r->fd, 0, SEEK_SET) == 0;
}

static enum reading_state finish_bytes(struct manifest_reader *r)
{
    if (r->spool >= 0) {
        r->file->spool = r->spool;
        r->spool = -1;
    }
    r->file->format = r->format;
    if (r->format != FORMAT_JSON) {
        r->stage = STAGE_PARSE;
        return READING_MORE;
    }
    if (!r->json || !json_file_needs_second_pass(r->json))
        return READING_DONE;
    if (!rewind_bytes(r)) {
        fail(&r->why->text,
             "'%s' is a stream and cannot be read twice, but the field kind of its list follows "
             "items: write kind before items",
             r->file->path);
        fail_unreadable(r);
        return READING_FAILED;
    }
    json_file_begin_second_pass(r->json);
    return READING_MORE;
}

/* Recognizes invalid JSON by its first bytes. Returns false. */
static bool recognize_json(struct manifest_reader *r)
{
    const struct strbuf *head = &r->json_head;

    r->why->looks_like = is_commented_json(head->data, head->len)
                             ? SKIPPED_COMMENTED_JSON
                             : recognize_text_at(head->data, head->len, r->why->where.line);
    return false;
}

static bool parse_json(struct manifest_reader *r, const char *bytes, size_t len)
{
    struct read_failure *why = r->why;
    size_t room = CHUNK - r->json_head.len;

    if (!r->json) {
        r->json = json_file_new(r->limits.object_max_bytes, r->each, r->context);
        json_file_receive_repeated_keys(r->json, r->yaml.receive_repeated,
                                        r->yaml.repeated_context);
    }
    strbuf_add(&r->json_head, bytes, len < room ? len : room);
    return (len > 0 ? json_file_feed(r->json, bytes, len, &why->where, &why->text)
                    : json_file_end(r->json, &why->where, &why->text)) ||
           recognize_json(r);
}

/* Feeds bytes to the parser of the format; no bytes mean the end. Returns false on failure. */
static bool parse_bytes(struct manifest_reader *r, const char *bytes, size_t len)
{
    if (r->format == FORMAT_UNKNOWN && len > 0)
        r->format = guess_format(bytes, len);
    if (r->format == FORMAT_JSON)
        return parse_json(r, bytes, len);
    r->has_nul = memchr(bytes, '\0', len);
    if (yaml_file_add(&r->yaml, bytes, len))
        return true;
    fail(&r->why->text,
         "'%s' is larger than %zu bytes, even compressed: split it, or write it as JSON, which has "
         "no such limit",
         r->file->path, r->limits.yaml_max_bytes);
    return fail_unreadable(r);
}

/* Like parse_bytes(), for the bytes of the file in its encoding. */
static bool decode_bytes(struct manifest_reader *r, const char *bytes, size_t len)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_SECRET((size_t)CHUNK * 2);

    if (!r->began && len > 0) {
        r->began = true;
        r->utf16 = utf16_detect(bytes, len);
        if (is_binary_text(bytes, len))
            return fail_recognized(r, SKIPPED_BINARY);
    }
    if (!r->utf16.active)
        return parse_bytes(r, bytes, len);
    if (!utf16_convert(&r->utf16, bytes, len, &text))
        return fail(&r->why->text, "not valid UTF-16: save the file as UTF-8");
    return (text.len == 0 || parse_bytes(r, text.data, text.len)) &&
           (len > 0 || parse_bytes(r, "", 0));
}

static enum reading_state run_bytes_step(struct manifest_reader *r)
{
    CLEANUP(free_cleanup) char *chunk = r->prefetch ? NULL : xmalloc(CHUNK);
    struct prefetch_bytes next;

    switch (next_bytes(r, chunk, &next)) {
    case OUTCOME_WAITS:
        return READING_WAITS;
    case OUTCOME_HANGS:
        r->why->hanging_job = prefetch_stop(r->prefetch);
        return READING_HANGS;
    case OUTCOME_FAILED:
        return READING_FAILED;
    case OUTCOME_BYTES:
        break;
    }
    if (!decode_bytes(r, next.bytes, next.len))
        return READING_FAILED;
    return next.len > 0 && !r->has_nul ? READING_MORE : finish_bytes(r);
}

static enum skipped_kind recognize_line_of(struct yaml_excerpt near, size_t line)
{
    return line < near.line ? SKIPPED_NONE
                            : recognize_text_at(near.text, near.len, line - near.line + 1);
}

/* Recognizes invalid YAML by the line of the error, and by that of the part that it ends. */
static enum skipped_kind recognize_yaml(const struct yaml_file *y, struct json_position where)
{
    struct yaml_excerpt near = yaml_reader_excerpt(y->reader);
    enum skipped_kind kind = recognize_line_of(near, where.line);

    return kind == SKIPPED_NONE ? recognize_line_of(near, near.context_line) : kind;
}

int64_t manifest_reader_due(const struct manifest_reader *r)
{
    return r->prefetch && r->prefetch->job ? read_job_due(r->prefetch->job) : INT64_MAX;
}

enum reading_state manifest_reader_step(struct manifest_reader *r, int64_t now_ms,
                                        struct read_failure *why)
{
    r->now_ms = now_ms;
    *why = (struct read_failure){.kind = PROBLEM_MALFORMED};
    r->why = why;
    switch (r->stage) {
    case STAGE_OPEN:
        r->stage = STAGE_BYTES;
        if (r->file->is_chart_template) {
            fail_recognized(r, SKIPPED_HELM_TEMPLATE);
            return READING_FAILED;
        }
        return open_file(r) ? READING_MORE : READING_FAILED;
    case STAGE_BYTES:
        return run_bytes_step(r);
    case STAGE_PARSE:
        switch (yaml_file_parse(&r->yaml, &why->where, &why->text)) {
        case YAML_READ_MALFORMED:
            why->looks_like = recognize_yaml(&r->yaml, why->where);
            return READING_FAILED;
        case YAML_READ_END:
            r->stage = STAGE_EMIT;
            return READING_MORE;
        case YAML_READ_DOCUMENT:
        case YAML_READ_ITEM:
            return READING_MORE;
        }
        abort();
    case STAGE_EMIT:
        return yaml_file_emit_next(&r->yaml, r->each, r->context) ? READING_MORE : READING_DONE;
    }
    abort();
}

bool manifest_read_file(const char *path, const struct manifest_limits *limits,
                        json_object_fn *each, void *context, struct error *err)
{
    struct manifest_file *file = manifest_file_new(path, 0);
    struct manifest_reader *r = manifest_reader_new(file, limits, NULL, false);
    enum reading_state state = READING_MORE;
    struct read_failure why;

    manifest_reader_set_receiver(r, each, context);
    while (state == READING_MORE)
        state = manifest_reader_step(r, 0, &why);
    manifest_reader_free(r);
    manifest_file_free(file);
    return state == READING_DONE || fail(err, "%s", why.text.text);
}
