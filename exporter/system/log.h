/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

struct log_writer;

/*
 * One line a message, for people (logfmt) or for a collector (JSON).
 *
 * Who makes it passes it down; nothing changes it afterwards, so any thread may
 * write. Between log_start() and log_stop() a thread of the log's own writes, so
 * that nobody waits for who reads it, and lines that would have to wait too long, or
 * that a full disk refuses, are dropped, counted and told of. Whatever a value holds, a message
 * stays one line of valid UTF-8: control characters are escaped, broken bytes become U+FFFD, and a
 * text longer than LOG_VALUE_MAX bytes is cut and ends in "...".
 */
enum { LOG_VALUE_MAX = 1024 };

enum log_level {
    LOG_LEVEL_DEBUG,
    LOG_LEVEL_INFO,
    LOG_LEVEL_WARN,
    LOG_LEVEL_ERROR,
    LOG_LEVEL_NONE, /* For a log that writes nothing; no message has it. */
};
enum log_format { LOG_FORMAT_LOGFMT, LOG_FORMAT_JSON };

struct log {
    enum log_level level; /* What is below it is not written. */
    enum log_format format;
    FILE *stream;              /* Borrowed. */
    struct log_writer *writer; /* NULL: who writes waits for the stream. */
};

/*
 * Have a thread write the lines. After log_stop(), which waits for what is still to be written,
 * but at most `wait_ms`, they are written as before.
 */
bool log_start(struct log *log, struct error *err) MUST_USE;
void log_stop(struct log *log, int64_t wait_ms);

/* How many lines were dropped since log_start(). */
uint64_t log_dropped(const struct log *log);

/* A level ("debug", "info", "warn", "error") or a format ("logfmt", "json") by its name. */
bool log_level_parse(const char *text, enum log_level *out, struct error *err) MUST_USE;
bool log_format_parse(const char *text, enum log_format *out, struct error *err) MUST_USE;

/*
 * Write a message and its fields:
 *
 *     log_write(log, LOG_LEVEL_INFO, "listening", "address", address, "tries", LOG_NUMBER(3));
 *
 * Fields are pairs of strings, which the compiler checks; a key is a plain word
 * of ours. A NULL value is written as null, and so is a value that is missing at
 * the end. A NULL key ends the list.
 */
#define log_write(log, level, message, ...)                                                        \
    log_write_fields(                                                                              \
        (log), (level), (message), (const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL},         \
        sizeof((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL}) / sizeof(const char *))

/* What log_write() calls: `count` strings, key and value in turn. */
void log_write_fields(const struct log *log, enum log_level level, const char *message,
                      const char *const *fields, size_t count);

/* A number as a field's value; it lives as long as the enclosing block. */
#define LOG_NUMBER(number) log_number(&(struct log_number){.digits = ""}, (number))

struct log_number {
    char digits[24];
};

/* Write the number into `room` and answer the text there. */
const char *log_number(struct log_number *room, int64_t number);

/*
 * Writes lines to a descriptor from a thread of its own, so that nobody who has something to say
 * waits for who reads it: a pipe that is full, a terminal that is stopped, a disk that hangs.
 *
 * Lines wait in a ring of LOG_WRITER_BYTES and LOG_WRITER_LINES. What does not fit is dropped and
 * counted; lines are kept again from half a ring on, behind one that tells how many are missing.
 *
 * A line that the descriptor refuses (a full disk, a reader that is gone) is dropped and counted as
 * well. The next line, which may be a second later, is written behind the report of the missing
 * ones, and on a line of its own where the refused one was written in part.
 */
struct log_writer;

enum { LOG_WRITER_BYTES = 1024 * 1024, LOG_WRITER_LINES = 4096 };

/* Write the line that tells how many are missing. */
typedef void log_writer_lost_fn(void *context, uint64_t count, struct strbuf *line);
