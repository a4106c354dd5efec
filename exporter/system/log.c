/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/log.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "exporter/system/platform.h"
#include "metrics/base/strbuf.h"
#include "metrics/base/utf8.h"

enum {
    LINE_MAX_BYTES = 256 * 1024,
    POLL_MS = 100,          /* Timeout of poll(2) for a non-blocking descriptor. */
    REPORT_RETRY_MS = 1000, /* Delay of a report of dropped lines after a failed write. */
    ERROR_WAIT_MS = 50,     /* Maximum wait until an error is written: the process may end next. */
};

/* ---- thread that writes the lines ---- */

struct waiting_line {
    size_t len;
    uint64_t missing; /* Number of lines dropped directly before this line. */
};

/* Writes the report of `count` dropped lines to `line`. */
typedef void format_lost_fn(void *context, uint64_t count, struct strbuf *line);

struct log_writer {
    int fd;
    format_lost_fn *format_lost;
    void *context; /* Borrowed; for `format_lost`. */
    pthread_t thread;
    pthread_mutex_t lock; /* Guards all following members. */
    pthread_cond_t work;  /* A line waits, or log_stop() was called. */
    pthread_cond_t moved; /* A line is finished, or the thread has ended. */
    char *bytes;          /* Ring buffer of LOG_WRITER_BYTES with the text of the lines. */
    size_t begin;
    size_t used;
    struct waiting_line waiting[LOG_WRITER_LINES]; /* Ring buffer of the lines in `bytes`. */
    size_t first;
    size_t lines;
    uint64_t accepted; /* Number of lines put into the ring so far. */
    uint64_t finished; /* Number of accepted lines that were written or failed. */
    uint64_t dropped;
    /* Lines that did not fit after the last accepted one; not in `unreported` yet. */
    uint64_t missing;
    uint64_t unreported; /* Lines dropped before the first line in the ring, not reported yet. */
    int64_t progress_ms; /* Steady time of the last line finished or put into an empty ring. */
    bool stopping;
    bool ended;
    bool left; /* log_stop() has returned before `ended`; the thread frees the writer. */
};

static void append_line(struct log_writer *w, const char *line, size_t len)
{
    size_t at = (w->begin + w->used) % LOG_WRITER_BYTES;
    size_t head = len < LOG_WRITER_BYTES - at ? len : LOG_WRITER_BYTES - at;

    if (w->lines == 0)
        w->progress_ms = platform_steady_ms();
    memcpy(w->bytes + at, line, head);
    memcpy(w->bytes, line + head, len - head);
    w->used += len;
    w->waiting[(w->first + w->lines++) % LOG_WRITER_LINES] =
        (struct waiting_line){.len = len, .missing = w->missing};
    w->missing = 0;
    w->accepted++;
    pthread_cond_signal(&w->work);
}

/* Moves the oldest line from the ring to `out`. */
static void take_line(struct log_writer *w, struct strbuf *out)
{
    size_t len = w->waiting[w->first].len;
    size_t head = len < LOG_WRITER_BYTES - w->begin ? len : LOG_WRITER_BYTES - w->begin;

    strbuf_reset(out);
    strbuf_add(out, w->bytes + w->begin, head);
    strbuf_add(out, w->bytes, len - head);
    w->begin = (w->begin + len) % LOG_WRITER_BYTES;
    w->used -= len;
    w->first = (w->first + 1) % LOG_WRITER_LINES;
    w->lines--;
}

/*
 * Writes `len` bytes, and blocks until then. Returns the number of written bytes: fewer than `len`
 * after an error, for example on a full disk.
 */
static size_t write_bytes(int fd, const char *bytes, size_t len)
{
    size_t sum = 0;

    while (sum < len) {
        struct pollfd room = {.fd = fd, .events = POLLOUT};
        ssize_t n = write(fd, bytes + sum, len - sum < PIPE_BUF ? len - sum : PIPE_BUF);

        if (n > 0)
            sum += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            poll(&room, 1, POLL_MS);
        else if (n == 0 || errno != EINTR)
            break;
    }
    return sum;
}

/*
 * Ends an incomplete line in the output (`torn`), and writes a line. Returns false if the line was
 * not written completely; `torn` then tells whether the output ends in a part of a line.
 */
static bool write_line(int fd, bool *torn, const struct strbuf *line)
{
    size_t sum;

    if (*torn && write_bytes(fd, "\n", 1) == 0)
        return false;
    sum = write_bytes(fd, line->data, line->len);
    *torn = sum > 0 && sum < line->len;
    return sum == line->len;
}

static void release_writer(struct log_writer *w)
{
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->work);
    pthread_cond_destroy(&w->moved);
    free(w->bytes);
    free(w);
}

/*
 * Waits for a line, or for dropped lines to report. `failed`: the last write failed, so that a
 * report without a line is delayed by REPORT_RETRY_MS. Returns false if the thread must end.
 */
static bool wait_for_work(struct log_writer *w, bool failed)
{
    int64_t retry_ms = platform_steady_ms() + REPORT_RETRY_MS;

    while (w->lines == 0) {
        bool reports = w->unreported + w->missing > 0 && !w->left;

        if (reports && !failed)
            return true;
        if (w->stopping)
            return false;
        if (!reports)
            pthread_cond_wait(&w->work, &w->lock);
        else if (!condition_wait(&w->work, &w->lock, retry_ms))
            failed = false;
    }
    return true;
}

/* Texts that the thread writes next. */
struct log_batch {
    struct strbuf report; /* Report of dropped lines; empty for no report. */
    struct strbuf line;   /* Empty if only the report is written. */
    bool torn;            /* The output ends in an incomplete line. */
};

static void take_batch(struct log_writer *w, struct log_batch *next)
{
    struct strbuf *const texts[] = {&next->report, &next->line};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        strbuf_reset(texts[i]);
    if (w->lines == 0) {
        w->unreported += w->missing;
        w->missing = 0;
    } else {
        w->unreported += w->waiting[w->first].missing;
        take_line(w, &next->line);
    }
    /* After log_stop() has returned, `context` may have been freed. */
    if (w->unreported > 0 && !w->left)
        w->format_lost(w->context, w->unreported, &next->report);
}

/* Writes the report and the line; releases the lock meanwhile. Returns false after an error. */
static bool write_batch(struct log_writer *w, struct log_batch *next)
{
    bool has_line = next->line.len > 0;

    pthread_mutex_unlock(&w->lock);
    bool reported = write_line(w->fd, &next->torn, &next->report);
    bool written = reported && write_line(w->fd, &next->torn, &next->line);

    pthread_mutex_lock(&w->lock);
    if (reported)
        w->unreported = 0;
    if (!has_line)
        return written;
    w->finished++;
    if (!written) {
        w->dropped++;
        w->unreported++;
    }
    w->progress_ms = platform_steady_ms();
    pthread_cond_broadcast(&w->moved);
    return written;
}

static void *run_writer_thread(void *context)
{
    struct log_writer *w = context;
    struct log_batch next = {STRBUF_INIT(LINE_MAX_BYTES), STRBUF_INIT(LOG_WRITER_BYTES), false};
    bool failed = false;

    pthread_mutex_lock(&w->lock);
    while (wait_for_work(w, failed)) {
        take_batch(w, &next);
        failed = !write_batch(w, &next);
    }
    strbuf_release(&next.report);
    strbuf_release(&next.line);
    w->ended = true;
    bool left = w->left;

    pthread_cond_broadcast(&w->moved);
    pthread_mutex_unlock(&w->lock);
    if (left)
        release_writer(w);
    return NULL;
}

static MUST_USE struct log_writer *log_writer_start(int fd, format_lost_fn *format_lost,
                                                    void *context, struct error *err)
{
    struct log_writer *w = xcalloc(1, sizeof(*w));

    w->fd = fd;
    w->format_lost = format_lost;
    w->context = context;
    w->bytes = xmalloc(LOG_WRITER_BYTES);
    pthread_mutex_init(&w->lock, NULL);
    condition_init(&w->work);
    condition_init(&w->moved);
    int code = thread_start(&w->thread, run_writer_thread, w);

    if (code == 0)
        return w;
    release_writer(w);
    fail(err, "cannot start the thread that writes the log: %s", strerror(code));
    return NULL;
}

/*
 * Copies a line into the ring, or drops the line if it does not fit. Then waits until the line is
 * finished, but at most until `wait_ms` after `progress_ms`: if the thread has been blocked for
 * longer, the function does not wait.
 */
static void log_writer_add(struct log_writer *w, const char *line, size_t len, int64_t wait_ms)
{
    pthread_mutex_lock(&w->lock);
    /* After a dropped line, the ring must drain to half: otherwise gaps alternate with lines. */
    unsigned part = w->missing > 0 ? 2 : 1;

    if (w->used + len > LOG_WRITER_BYTES / part || w->lines >= LOG_WRITER_LINES / part) {
        w->dropped++;
        w->missing++;
        pthread_mutex_unlock(&w->lock);
        return;
    }
    append_line(w, line, len);

    uint64_t line_number = w->accepted;
    int64_t until_ms = w->progress_ms + wait_ms;
    while (wait_ms > 0 && w->finished < line_number &&
           condition_wait(&w->moved, &w->lock, until_ms))
        continue;
    pthread_mutex_unlock(&w->lock);
}

static uint64_t log_writer_dropped(struct log_writer *w)
{
    pthread_mutex_lock(&w->lock);
    uint64_t dropped = w->dropped;

    pthread_mutex_unlock(&w->lock);
    return dropped;
}

static void log_writer_stop(struct log_writer *w, int64_t wait_ms)
{
    int64_t until_ms = platform_steady_ms() + wait_ms;

    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    pthread_cond_signal(&w->work);
    while (!w->ended && condition_wait(&w->moved, &w->lock, until_ms))
        continue;
    w->left = !w->ended;
    if (w->left) {
        pthread_detach(w->thread);
        pthread_mutex_unlock(&w->lock);
        return;
    }
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    release_writer(w);
}

/* ---- messages ---- */

static const char *const level_names[] = {"debug", "info", "warn", "error"};
static const char *const level_labels[] = {"DEBUG", "INFO", "WARN", "ERROR"};
static const char *const format_names[] = {"logfmt", "json"};

static void add_escaped_character(struct strbuf *line, uint32_t point, const char *bytes,
                                  size_t len)
{
    if (point == '"' || point == '\\')
        strbuf_addf(line, "\\%c", (char)point);
    else if (point == '\n')
        strbuf_adds(line, "\\n");
    else if (point == '\t')
        strbuf_adds(line, "\\t");
    else if (point == '\r')
        strbuf_adds(line, "\\r");
    else if (utf8_is_unsafe(point))
        strbuf_addf(line, "\\u%04x", (unsigned)point);
    else if (point == UTF8_BROKEN)
        strbuf_adds(line, "\xEF\xBF\xBD");
    else
        strbuf_add(line, bytes, len);
}

/* Appends a quoted text. The escapes are valid in logfmt and in JSON. */
static void add_quoted(struct strbuf *line, const char *text)
{
    const char *at = text;

    strbuf_addc(line, '"');
    while (*at != '\0') {
        const char *begin = at;
        uint32_t point = utf8_next(&at);

        if (at - text > LOG_VALUE_MAX) {
            strbuf_adds(line, "...");
            break;
        }
        add_escaped_character(line, point, begin, (size_t)(at - begin));
    }
    strbuf_addc(line, '"');
}

static bool needs_no_quotes(const char *text)
{
    const char *at = text;

    while (*at != '\0') {
        uint32_t point = utf8_next(&at);

        if (point <= ' ' || point == '=' || point == '"' || point == '\\' || point == UTF8_BROKEN ||
            utf8_is_unsafe(point))
            return false;
    }
    return at > text && at - text <= LOG_VALUE_MAX;
}

static void add_field(struct strbuf *line, enum log_format format, const char *key,
                      const char *value)
{
    const char *text = value ? value : "null";

    if (format == LOG_FORMAT_JSON) {
        strbuf_adds(line, line->len > 0 ? "," : "{");
        add_quoted(line, key);
        strbuf_addc(line, ':');
        if (!value)
            strbuf_adds(line, text);
        else
            add_quoted(line, text);
        return;
    }
    if (line->len > 0)
        strbuf_addc(line, ' ');
    strbuf_addf(line, "%s=", key);
    if (needs_no_quotes(text))
        strbuf_adds(line, text);
    else
        add_quoted(line, text);
}

static void add_time(struct strbuf *line, enum log_format format)
{
    struct timespec now;
    struct tm utc;
    char seconds[32];
    char text[48];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text, sizeof(text), "%s.%03dZ", seconds, (int)(now.tv_nsec / 1000000));
    add_field(line, format, "time", text);
}

static void begin_line(struct strbuf *line, const struct log *log, enum log_level level,
                       const char *message)
{
    strbuf_reset(line);
    add_time(line, log->format);
    add_field(line, log->format, "level", level_labels[level]);
    add_field(line, log->format, "msg", message);
}

static void end_line(struct strbuf *line, enum log_format format)
{
    strbuf_adds(line, format == LOG_FORMAT_JSON ? "}\n" : "\n");
}

void log_write_fields(const struct log *log, enum log_level level, const char *message,
                      const char *const *fields, size_t count)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

    if (level < log->level)
        return;
    begin_line(&line, log, level, message);
    for (size_t i = 0; i + 1 < count && fields[i]; i += 2)
        add_field(&line, log->format, fields[i], fields[i + 1]);
    end_line(&line, log->format);
    if (!strbuf_ok(&line)) {
        /* Omits the fields, because a truncated JSON object would be invalid. */
        begin_line(&line, log, level, message);
        end_line(&line, log->format);
    }
    if (log->writer) {
        log_writer_add(log->writer, line.data, line.len,
                       level == LOG_LEVEL_ERROR ? ERROR_WAIT_MS : 0);
        return;
    }
    /* The lock prevents lines of other threads between the two calls. */
    flockfile(log->stream);
    fwrite(line.data, 1, line.len, log->stream);
    fflush(log->stream);
    funlockfile(log->stream);
}

static void format_dropped_report(void *context, uint64_t count, struct strbuf *line)
{
    const struct log *log = context;
    struct log_number room;

    begin_line(line, log, LOG_LEVEL_WARN,
               "log lines were dropped: standard error did not accept them");
    add_field(line, log->format, "count", log_number(&room, (int64_t)count));
    end_line(line, log->format);
}

bool log_start(struct log *log, struct error *err)
{
    log->writer = log_writer_start(fileno(log->stream), format_dropped_report, log, err);
    return log->writer != NULL;
}

void log_stop(struct log *log, int64_t wait_ms)
{
    struct log_writer *writer = log->writer;

    log->writer = NULL;
    if (writer)
        log_writer_stop(writer, wait_ms);
}

uint64_t log_dropped(const struct log *log)
{
    return log->writer ? log_writer_dropped(log->writer) : 0;
}

const char *log_number(struct log_number *room, int64_t number)
{
    snprintf(room->digits, sizeof(room->digits), "%" PRId64, number);
    return room->digits;
}

/* Returns the index of `text` in `names`, or `count` if it is missing. */
static size_t find_name(const char *const *names, size_t count, const char *text)
{
    size_t i = 0;

    while (i < count && strcmp(names[i], text) != 0)
        i++;
    return i;
}

bool log_level_parse(const char *text, enum log_level *out, struct error *err)
{
    size_t at = find_name(level_names, ARRAY_LEN(level_names), text);

    if (at == ARRAY_LEN(level_names))
        return fail(err, "unknown log level '%s': use debug, info, warn or error", text);
    *out = (enum log_level)at;
    return true;
}

bool log_format_parse(const char *text, enum log_format *out, struct error *err)
{
    size_t at = find_name(format_names, ARRAY_LEN(format_names), text);

    if (at == ARRAY_LEN(format_names))
        return fail(err, "unknown log format '%s': use logfmt or json", text);
    *out = (enum log_format)at;
    return true;
}
