/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

struct log_writer;

/*
 * Structured log in logfmt or JSON, one line per message. Any thread may write.
 *
 * Between log_start() and log_stop() a thread writes the lines, so that a slow reader of the log
 * blocks no other thread; log_write() of an error waits up to 50 ms until its line is written.
 * Lines wait in a ring buffer of LOG_WRITER_BYTES and LOG_WRITER_LINES. Lines that do not fit or
 * cannot be written (full disk, closed pipe) are dropped and counted. After a line that did not
 * fit, the next line is accepted once it fills the buffer at most to half. A warning with the
 * number of dropped lines precedes the next line, or is written alone. A failed warning is retried
 * every second.
 *
 * Messages are valid UTF-8 on one line: control characters in values are escaped, invalid bytes
 * become U+FFFD, and values are cut to LOG_VALUE_MAX bytes, counted before these changes, and
 * "...". Lines over 256 KiB omit the fields of log_write().
 */

enum { LOG_VALUE_MAX = 1024, LOG_WRITER_BYTES = 1024 * 1024, LOG_WRITER_LINES = 4096 };

enum log_level {
    LOG_LEVEL_DEBUG,
    LOG_LEVEL_INFO,
    LOG_LEVEL_WARN,
    LOG_LEVEL_ERROR,
    LOG_LEVEL_NONE, /* Disables the log; not a level of messages. */
};
enum log_format { LOG_FORMAT_LOGFMT, LOG_FORMAT_JSON };

struct log {
    enum log_level level; /* Minimum level of the messages to write. */
    enum log_format format;
    FILE *stream;              /* Borrowed. */
    struct log_writer *writer; /* NULL: log_write() writes to the stream, and may block. */
};

/* Starts the thread that writes the lines. The log must stay at its address until log_stop(). */
bool log_start(struct log *log, struct error *err) MUST_USE;

/*
 * Waits at most `wait_ms` until the thread has written the waiting lines and has ended. A thread
 * that is still blocked in write(2) is detached, and frees its memory when it ends. Later calls of
 * log_write() write to the stream. No other thread may call log_write() during log_stop().
 */
void log_stop(struct log *log, int64_t wait_ms);

/* Returns the number of lines dropped since log_start(); 0 if the thread does not run. */
uint64_t log_dropped(const struct log *log);

/*
 * Writes a message and its fields:
 *
 *     log_write(log, LOG_LEVEL_INFO, "listening", "address", address, "tries", LOG_NUMBER(3));
 *
 * Fields are pairs of strings: a key, which is not escaped in logfmt, and its value. A NULL value,
 * or a missing last value, is written as null. A NULL key ends the list.
 */
#define log_write(log, level, message, ...)                                                        \
    log_write_fields(                                                                              \
        (log), (level), (message), (const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL},         \
        sizeof((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL}) / sizeof(const char *))

/* Implements log_write(). `fields`: keys and values, then NULL, which `count` includes. */
void log_write_fields(const struct log *log, enum log_level level, const char *message,
                      const char *const *fields, size_t count);

/* Decimal text of a number, for a field of log_write(); valid until the end of the block. */
#define LOG_NUMBER(number) log_number(&(struct log_number){.digits = ""}, (number))

struct log_number {
    char digits[24];
};

/* Writes the decimal digits of `number` to `room`, and returns them. */
const char *log_number(struct log_number *room, int64_t number);

/* Used only by tests. */

/* Parses a level ("debug", "info", "warn", "error") or a format ("logfmt", "json"). */
bool log_level_parse(const char *text, enum log_level *out, struct error *err) MUST_USE;
bool log_format_parse(const char *text, enum log_format *out, struct error *err) MUST_USE;
