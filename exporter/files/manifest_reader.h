/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/json_file.h"
#include "exporter/files/manifest_problems.h"
#include "exporter/system/file_reader.h"
#include "exporter/yaml/yaml.h"
#include "exporter/yaml/yaml_events.h"
#include "metrics/base/strbuf.h"

/* Limits for one manifest file. A JSON file of any size is read object by object. */
struct manifest_limits {
    size_t yaml_max_bytes;   /* Compressed text of a YAML file. Four times as much for its JSON. */
    size_t object_max_bytes; /* One object as JSON. */
    size_t nodes_max; /* Nodes of a YAML document, or of parts of a list: see struct yaml_limits. */
    struct yaml_time_limit term;
};

/* Returns the limits of the YAML reader for a file. */
struct yaml_limits manifest_yaml_limits(const struct manifest_limits *limits);

/* ---- prefetch of file contents ---- */

/*
 * Reads files with jobs of the file reader, many files in one job: to pass a job to another thread
 * takes longer than to read a small file. All files of a job belong to the same PATH.
 */
struct prefetch {
    struct file_reader *reader;   /* Borrowed. */
    struct read_job *job;         /* NULL before prefetch_start(), and after the end. */
    const char *path;             /* The PATH. Borrowed. */
    struct manifest_file **files; /* Files of the job. The array is owned, the files borrowed. */
    size_t count;
    size_t next;  /* Index of the file after the current one. */
    size_t ended; /* Number of files of which the job has passed on the last result. */
    bool at_end;  /* The last bytes of the current file were returned. */
};

enum { PREFETCH_FILES = 256 };

void prefetch_release(struct prefetch *p);

/* Adds a file, borrowed, to the next job. Returns false if the job is full or for another PATH. */
bool prefetch_add_file(struct prefetch *p, struct manifest_file *file) MUST_USE;

/* Starts the job for the added files, at least one. Borrows `path`, the PATH of the files. */
void prefetch_start(struct prefetch *p, const char *path);

/* Makes the next file the current one, and returns it. Returns NULL after the last file. */
struct manifest_file *prefetch_next_file(struct prefetch *p);

/*
 * To be called after the last file. Returns false while the job has passed on all bytes but neither
 * ended nor hangs. Otherwise frees the job, if any, so that files can be added again, and returns
 * true. `now_ms` is the steady clock.
 */
bool prefetch_try_finish(struct prefetch *p, int64_t now_ms);

enum prefetch_state {
    PREFETCH_BYTES,
    PREFETCH_END, /* The current file has no more bytes. */
    PREFETCH_FAILED,
    PREFETCH_WAITS, /* No result yet. */
    PREFETCH_HANGS, /* No result for too long. */
    PREFETCH_LOST,  /* The job cannot be run, or has ended before the end of the current file. */
};

/* Bytes of the current file. Valid until the next bytes are taken from the job. */
struct prefetch_bytes {
    const char *bytes; /* With PREFETCH_FAILED: the reason, ended by a NUL, which `len` includes. */
    size_t len;
    bool gone; /* With PREFETCH_FAILED: the file does not exist any more. */
};

/* Removes all files and returns the job, which the caller frees; NULL without a job. */
struct read_job *prefetch_stop(struct prefetch *p) MUST_USE;

/* ---- reading of one file ---- */

/*
 * Reads one manifest file in small steps and passes on its objects one by one.
 *
 * YAML is parsed to the end before the first object is passed on, so that an invalid file changes
 * nothing. Objects in JSON are passed on at once, because JSON has no limit of size: the objects
 * before a syntax error are already in the store when the error is found.
 *
 * The format of *.json is JSON, and of *.yaml and *.yml YAML. For other names and standard input,
 * the first character decides. The text is UTF-8, or UTF-16 with a byte order mark. Of a binary
 * file, only the first bytes are read.
 */
struct manifest_reader;

enum reading_state {
    READING_MORE,
    READING_DONE,
    READING_FAILED,
    READING_WAITS, /* The file reader has no result yet. */
    READING_HANGS, /* No result for too long, or the job is lost: read the file again later. */
};

struct read_failure {
    enum problem_kind kind;
    struct json_position where; /* Zeros if the failure concerns the whole file. */
    bool gone;                  /* The file does not exist any more. */
    enum skipped_kind
        looks_like; /* What the file is, if no Kubernetes object; else SKIPPED_NONE. */
    struct read_job *hanging_job; /* READING_HANGS: owned by the caller; else NULL. */
    struct error text;
};

/*
 * Returns a reader of `file`. `prefetch`, with `file` as its current file, provides the bytes; with
 * NULL the reader opens the file. Both are borrowed. A file that can be read only once is copied to
 * file->spool, unless it has more than `keep_max` bytes, and later readings use the copy. Failures
 * are reported by the steps.
 */
struct manifest_reader *manifest_reader_new(struct manifest_file *file,
                                            const struct manifest_limits *limits,
                                            struct prefetch *prefetch, size_t keep_max) MUST_USE;
/* Sets the text to read in place of the file. Borrowed. To be called before all steps. */
void manifest_reader_set_text(struct manifest_reader *r, const char *text, size_t len);
/* Accepts NULL. */
void manifest_reader_free(struct manifest_reader *r);

/* Sets the receiver of the objects. Call it before all steps. */
void manifest_reader_set_receiver(struct manifest_reader *r, json_object_fn *each, void *context);

/* Sets the receiver of repeated keys, of which the last value counts. Call it before all steps. */
void manifest_reader_receive_repeated_keys(struct manifest_reader *r, repeated_key_fn *receive,
                                           void *context);

/*
 * Returns, after READING_WAITS, the steady time in milliseconds of the next manifest_reader_step()
 * if file_reader_fd() reports nothing before; INT64_MAX: no call needed.
 */
int64_t manifest_reader_due(const struct manifest_reader *r);

/*
 * Opens the file, or reads one chunk of bytes, and passes on the objects that it completes in
 * JSON. Of YAML, parses one document or item, or passes on one object. Returns the state; `why`
 * receives the reason for READING_FAILED and READING_HANGS. `now_ms` is the steady clock.
 */
enum reading_state manifest_reader_step(struct manifest_reader *r, int64_t now_ms,
                                        struct read_failure *why) MUST_USE;

/*
 * Reads a whole file in the caller's thread, and passes its objects to `each`. Returns false with
 * the reason if it cannot be read.
 */
bool manifest_read_file(const char *path, const struct manifest_limits *limits,
                        json_object_fn *each, void *context, struct error *err) MUST_USE;

/* Used only by manifest_reader.c and tests. */

/*
 * Queue of bytes, compressed in blocks. The block that is written and the block that is read are
 * not compressed, so a short queue never is. Bytes are freed, block by block, as they are read.
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
    struct strbuf filling; /* Block that is being written. */
    struct strbuf reading; /* Block that is being read. */
    size_t read_len;       /* Number of bytes of `reading` that have been read. */
    size_t len;            /* Total compressed bytes of the blocks from `first` to `last`. */
    size_t max;
};

enum { COMPRESSED_BLOCK = 256 * 1024 };

/* Initializes without allocation. `max` limits the bytes in compressed blocks and in `filling`. */
void compressed_queue_init(struct compressed_queue *q, size_t max);
/* Frees all bytes; the queue is empty and can be used again. */
void compressed_queue_release(struct compressed_queue *q);

/* Appends bytes. Returns false if the queue exceeds its maximum; append no more bytes then. */
bool compressed_queue_add(struct compressed_queue *q, const char *bytes, size_t len) MUST_USE;

/* Reads and removes bytes. Returns their number, less than `size` only at the end of the queue. */
size_t compressed_queue_read(struct compressed_queue *q, char *bytes, size_t size);

/*
 * Converts a YAML file to objects in three phases: the text is collected, compressed; the text is
 * parsed to compressed JSON of all objects, because trees need ten times the memory; the JSON is
 * parsed to one tree at a time. Text and JSON are freed as they are read.
 */
struct yaml_file {
    struct manifest_limits limits;
    repeated_key_fn *receive_repeated; /* NULL: a repeated key is an error. */
    void *repeated_context;
    struct compressed_queue text;
    struct yaml_reader *reader;
    struct compressed_queue json; /* A struct yaml_object and then the JSON, for each object. */
    size_t count;                 /* Number of objects in `json` after parsing. */
    size_t emitted;               /* Number of objects that have been read from `json`. */
    size_t order;                 /* Number of objects passed on, lists in lists expanded. */
    struct yaml_list *lists;      /* Lists that have items without a kind. */
    size_t list_count;
    bool has_untyped_items;      /* The current document has items without a kind. */
    struct json_position failed; /* Start of the object that exceeds a limit; else zeros. */
    bool full; /* The exceeded limit is that of the file, not that of the object. */
};

void yaml_file_init(struct yaml_file *y, const struct manifest_limits *limits);
void yaml_file_release(struct yaml_file *y);

/* Appends bytes of the text. Returns false if the text exceeds its limit. */
bool yaml_file_add(struct yaml_file *y, const char *bytes, size_t len) MUST_USE;

/*
 * Parses, after all bytes, one document or one item of a list. `where` receives the position of the
 * document or item; with YAML_READ_MALFORMED, for invalid YAML and exceeded limits, that of the
 * failure, and `err` the reason. Returns YAML_READ_END after the last document.
 */
enum yaml_outcome yaml_file_parse(struct yaml_file *y, struct json_position *where,
                                  struct error *err) MUST_USE;

/*
 * Passes, after YAML_READ_END, one object to `each`. An item that is a list itself and inherits its
 * kind counts as one object, and all its objects are passed on. Returns false at the end.
 */
bool yaml_file_emit_next(struct yaml_file *y, json_object_fn *each, void *context) MUST_USE;
