/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/ahead.h"
#include "exporter/files/json_file.h"
#include "exporter/files/limits.h"
#include "exporter/files/manifest_file.h"

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
 * Begin. `ahead` is where the bytes come from, which the file is the current one of; NULL: it is
 * opened and read here. With `keep` the bytes of a file that can be read only once are kept in
 * file->spool, and read from there later on. Failures come with the first step.
 */
struct reading *reading_new(struct manifest_file *file, const struct manifest_limits *limits,
                            struct ahead *ahead, bool keep) MUST_USE;
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
