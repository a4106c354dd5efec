/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

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

/*
 * Start the thread, in which all signals are blocked. `fd` stays the caller's, and open; the
 * context is borrowed.
 */
struct log_writer *log_writer_start(int fd, log_writer_lost_fn *lost, void *context,
                                    struct error *err) MUST_USE;

/*
 * Have a line written, which is copied. Waits until it is, but at most `wait_ms`, and not at all
 * while older lines wait longer than that. Any thread may call it.
 */
void log_writer_put(struct log_writer *w, const char *line, size_t len, int64_t wait_ms);

/* How many lines were dropped so far. */
uint64_t log_writer_dropped(struct log_writer *w);

/*
 * Write what waits, for `wait_ms` at most, and end the thread. A thread that a write(2) holds is
 * left to the end of the process, with what it works on.
 */
void log_writer_stop(struct log_writer *w, int64_t wait_ms);
