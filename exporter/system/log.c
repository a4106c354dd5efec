/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/log.h"

#include "exporter/system/log_writer.h"
#include "metrics/base/strbuf.h"
#include "metrics/base/utf8.h"

enum {
    LINE_MAX_BYTES = 256 * 1024,
    /* So long an error waits to be written: it may be the last thing that the process says. */
    ERROR_WAIT_MS = 50,
};

static const char *const level_names[] = {"debug", "info", "warn", "error"};
static const char *const level_labels[] = {"DEBUG", "INFO", "WARN", "ERROR"};
static const char *const format_names[] = {"logfmt", "json"};

static void add_escaped_point(struct strbuf *line, uint32_t point, const char *bytes, size_t len)
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

/* Both formats read the same escapes, so a text looks alike in either. */
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
        add_escaped_point(line, point, begin, (size_t)(at - begin));
    }
    strbuf_addc(line, '"');
}

static bool is_bare(const char *text)
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
    if (is_bare(text))
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
        /* Half a JSON object would be worse than a message without its fields. */
        begin_line(&line, log, level, message);
        end_line(&line, log->format);
    }
    if (log->writer) {
        log_writer_put(log->writer, line.data, line.len,
                       level == LOG_LEVEL_ERROR ? ERROR_WAIT_MS : 0);
        return;
    }
    /* The lock keeps another thread's line from getting between the two calls. */
    flockfile(log->stream);
    fwrite(line.data, 1, line.len, log->stream);
    fflush(log->stream);
    funlockfile(log->stream);
}

static void tell_of_lost(void *context, uint64_t count, struct strbuf *line)
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
    log->writer = log_writer_start(fileno(log->stream), tell_of_lost, log, err);
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

/* The index of `text` among the names, or `count`. */
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
