/* SPDX-License-Identifier: Apache-2.0 */
#pragma read_once

#include "exporter/files/json_file.h"
#include "exporter/files/manifest_problems.h"
#include "exporter/system/file_reader.h"
#include "exporter/yaml/yaml.h"
#include "exporter/yaml/yaml_events.h"
#include "metrics/base/strbuf.h"

/*
 * Reads the bytes of files through the file reader, several files in one job: handing a job to
 * another thread takes longer than reading a small file.
 */
struct prefetch {
    struct file_reader *reader; /* Borrowed. */
    struct read_job *job;       /* NULL if no file is being read. */
    const char *path;           /* The PATH of the files. Borrowed. */
    struct manifest_file **files;
    size_t count;
    size_t next;  /* Index of the file after the current one. */
    size_t ended; /* Number of files whose bytes have ended. */
    bool at_end;  /* The last bytes of the current file were handed out. */
};

enum { PREFETCH_FILES = 256 };

void prefetch_release(struct prefetch *a);

/*
 * Adds one more file, which is borrowed, before prefetch_start(). Returns false if there is no room
 * or the file belongs to another PATH: start first.
 */
bool prefetch_add(struct prefetch *a, struct manifest_file *file) MUST_USE;

/* Starts to read the files of `path`, which is borrowed. */
void prefetch_start(struct prefetch *a, const char *path);

/* Makes the next file the current one for prefetch_bytes(); NULL if all have been read. */
struct manifest_file *prefetch_next(struct prefetch *a);

/* Returns true if the last file has been read, so that others can be added. */
bool prefetch_done(struct prefetch *a, int64_t now_ms);

enum prefetch_state {
    PREFETCH_BYTES, /* These; they stay until the next call. */
    PREFETCH_END,
    PREFETCH_FAILED, /* The file cannot be read. */
    PREFETCH_WAITS,
    PREFETCH_HANGS,
    PREFETCH_LOST, /* The job was not run to its end. */
};

struct prefetch_bytes {
    const char *bytes; /* After a failure: the reason, with a NUL. */
    size_t len;
    bool gone; /* The file does not exist any more. */
};
enum prefetch_state prefetch_bytes(struct prefetch *a, int64_t now_ms, struct prefetch_bytes *out);

/* Stops reading. Returns the job, which may hang, and which the caller owns from now on. */
struct read_job *prefetch_stop(struct prefetch *a) MUST_USE;

/* How much of a file is read into memory, and for how long. */
struct manifest_limits {
    /* Compressed text of one YAML file. JSON is handed out object by object, without a limit. */
    size_t yaml_max_bytes;
    size_t object_max_bytes; /* One object as JSON. */
    size_t nodes_max; /* One YAML object, or a list without its items; anchors are expanded. */
    struct yaml_term term;
};

/*
 * Reading one file in small steps, object by object.
 *
 * YAML is parsed to its end before the first object is handed out, so a file
 * that turns out to be no YAML changes nothing. JSON is handed out as it comes,
 * because a list in JSON may have any length: if it turns out to be no JSON, the
 * objects before that place are in the store already.
 *
 * *.json is JSON, *.yaml and *.yml are YAML, other names and standard input
 * are what their first character says.
 */
struct reading;

enum reading_state {
    READING_MORE,
    READING_DONE,
    READING_FAILED,
    READING_WAITS, /* The file reader has no result yet. */
    READING_HANGS, /* No result for too long, or the job is lost: the file is read again. */
};

/* Why reading failed. */
struct read_failure {
    enum problem_kind kind;
    struct json_position where; /* Zeros if it is about the file. */
    bool gone;                  /* The file does not exist any more. */
    struct read_job *hangs;     /* The job that hangs or is lost; the caller's. */
    struct error text;
};

/*
 * Begin. `prefetch` is where the bytes come from, which the file is the current one of; NULL: it is
 * opened and read here. With `keep` the bytes of a file that can be read only once are kept in
 * file->spool, and read from there later on. Failures come with the first step.
 */
struct reading *reading_new(struct manifest_file *file, const struct manifest_limits *limits,
                            struct prefetch *prefetch, bool keep) MUST_USE;
/* Before the first step: the bytes are these, which are borrowed, and nothing is opened. */
void reading_take_text(struct reading *r, const char *text, size_t len);
/* Takes NULL. */
void reading_free(struct reading *r);

/* Call `each` for each object. */
void reading_listen(struct reading *r, json_object_fn *each, void *context);

/* Returns when a reading that waits may hang (read_job_due). */
int64_t reading_due(const struct reading *r);

/* Read a little further: some thousand bytes, one document, or one item of a
 * list. `now_ms` is steady. */
enum reading_state reading_step(struct reading *r, int64_t now_ms,
                                struct read_failure *why) MUST_USE;

/*
 * Bytes in the order of writing, compressed in blocks; the first and the last block are plain, so
 * a short queue is never compressed. Reading frees what it has read.
 */
struct compressed_block {
    struct compressed_block *next;
    size_t len;       /* Length of `bytes`, which are compressed. */
    size_t plain_len; /* Length before compression. */
    unsigned char bytes[];
};

struct compressed_queue {
    struct compressed_block *first;
    struct compressed_block *last;
    struct strbuf filling; /* The block that is being written. */
    struct strbuf reading; /* The block that is being read. */
    size_t read_len;       /* Bytes of `reading` that have been read. */
    size_t len;            /* Compressed bytes of the blocks between `first` and `last`. */
    size_t max;
};

enum { COMPRESSED_BLOCK = 256 * 1024 };

/* `max` is the ceiling for the bytes that are held, compressed. Allocates nothing yet. */
void compressed_queue_init(struct compressed_queue *q, size_t max);
/* Frees all bytes; the queue is empty and usable again. */
void compressed_queue_release(struct compressed_queue *q);

/* Appends bytes. False once there are more than the ceiling: append no more. */
bool compressed_queue_add(struct compressed_queue *q, const char *bytes, size_t len) MUST_USE;

/* Takes the next bytes. Returns how many: fewer than `size` only at the end. */
size_t compressed_queue_read(struct compressed_queue *q, char *bytes, size_t size);

/*
 * A YAML file on its way to objects: its text, compressed; then the objects of all its documents,
 * items of lists one by one, as compressed JSON, because a tree takes ten times the room; then one
 * tree at a time. Text and JSON are freed as they are read.
 */
struct yaml_file {
    struct manifest_limits limits;
    struct compressed_queue text;
    struct yaml_reader *reader;
    struct compressed_queue json; /* A struct yaml_object before the JSON of each object. */
    size_t count;                 /* Objects in `json` at the end of the text. */
    size_t handed_out;            /* Objects that have been taken from `json`. */
    size_t order;                 /* Objects that have been handed out, lists in lists expanded. */
    struct yaml_list *lists;      /* Lists with items that inherit a kind. */
    size_t list_count;
    bool inherits;      /* The current document has items that inherit its kind. */
    size_t failed_line; /* Line of the object that exceeds a limit; else 0. */
    bool full;          /* The limit is that of the file, not that of the object. */
};

void yaml_file_init(struct yaml_file *y, const struct manifest_limits *limits);
void yaml_file_release(struct yaml_file *y);

/* Appends the next bytes. Returns false beyond the limit. */
bool yaml_file_add(struct yaml_file *y, const char *bytes, size_t len) MUST_USE;

/* After all bytes: parses one document, or one item of a list. */
enum yaml_outcome yaml_file_parse(struct yaml_file *y, struct json_position *where,
                                  struct error *err) MUST_USE;

/* After all documents: hands out one object, or those of one list. Returns false at the end. */
bool yaml_file_emit_next(struct yaml_file *y, json_object_fn *each, void *context) MUST_USE;
