/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/suite.h"

/* "2026-01-02T03:04:05.678Z" with each digit replaced by 0. */
static const char time_shape[] = "0000-00-00T00:00:00.000Z";

/* Writes a log line and asserts the format of its time. The caller frees the returned rest. */
static char *write_line(enum log_format format, const char *message, const char *const *fields,
                        size_t count)
{
    const char *head = format == LOG_FORMAT_JSON ? "{\"time\":\"" : "time=";
    char *text = NULL;
    size_t len = 0;
    struct log log = {
        .level = LOG_LEVEL_DEBUG, .format = format, .stream = open_memstream(&text, &len)};

    log_write_fields(&log, LOG_LEVEL_WARN, message, fields, count);
    fclose(log.stream);
    assert_memory_equal(text, head, strlen(head));
    for (size_t i = 0; i < strlen(time_shape); i++) {
        char c = text[strlen(head) + i];

        assert_int_equal(c >= '0' && c <= '9' ? '0' : c, time_shape[i]);
    }
    char *rest = xstrdup(text + strlen(head) + strlen(time_shape));

    free(text);
    return rest;
}

static struct value_case {
    const char *name;
    const char *value;
    const char *logfmt;
    const char *json;
} value_cases[] = {
    {"a word has no quotes", "karmada-policy", "karmada-policy", "\"karmada-policy\""},
    {"a NULL value is null", NULL, "null", "null"},
    {"an empty value is quoted", "", "\"\"", "\"\""},
    {"a value with a blank is quoted", "a b", "\"a b\"", "\"a b\""},
    {"a value with an equals sign is quoted", "a=b", "\"a=b\"", "\"a=b\""},
    {"quotes and backslashes are escaped", "\"\\", "\"\\\"\\\\\"", "\"\\\"\\\\\""},
    {"a line break is escaped", "x\nlevel=ERROR", "\"x\\nlevel=ERROR\"", "\"x\\nlevel=ERROR\""},
    {"carriage return and tab", "\r\t", "\"\\r\\t\"", "\"\\r\\t\""},
    {"a terminal escape sequence is escaped", "\x1b[2J", "\"\\u001b[2J\"", "\"\\u001b[2J\""},
    {"delete and C1 controls", "\x7f\xc2\x9b", "\"\\u007f\\u009b\"", "\"\\u007f\\u009b\""},
    {"a text direction override is escaped",
     "a\xe2\x80\xae"
     "b",
     "\"a\\u202eb\"", "\"a\\u202eb\""},
    {"line separator", "\xe2\x80\xa8", "\"\\u2028\"", "\"\\u2028\""},
    {"valid UTF-8 is unchanged", "Zürich-\xf0\x9f\x9a\x80", "Zürich-\xf0\x9f\x9a\x80",
     "\"Zürich-\xf0\x9f\x9a\x80\""},
    {"a lone continuation byte is replaced", "a\x80", "\"a\xef\xbf\xbd\"", "\"a\xef\xbf\xbd\""},
    {"a truncated sequence is replaced", "a\xe2\x82", "\"a\xef\xbf\xbd\xef\xbf\xbd\"",
     "\"a\xef\xbf\xbd\xef\xbf\xbd\""},
    {"an overlong form is replaced", "\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"",
     "\"\xef\xbf\xbd\xef\xbf\xbd\""},
    {"a surrogate is replaced", "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"",
     "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
};

TEST_ROWS(values_are_escaped, value_cases, name)
{
    const struct value_case *c = *state;
    const char *const fields[] = {"key", c->value};
    char wanted[256];

    char *line = write_line(LOG_FORMAT_LOGFMT, "said", fields, 2);
    snprintf(wanted, sizeof(wanted), " level=WARN msg=said key=%s\n", c->logfmt);
    assert_string_equal(line, wanted);
    free(line);

    line = write_line(LOG_FORMAT_JSON, "said", fields, 2);
    snprintf(wanted, sizeof(wanted), "\",\"level\":\"WARN\",\"msg\":\"said\",\"key\":%s}\n",
             c->json);
    assert_string_equal(line, wanted);
    free(line);
}

TEST(log_write_accepts_any_number_of_fields)
{
    char *text = NULL;
    size_t len = 0;
    struct log log = {.level = LOG_LEVEL_INFO,
                      .format = LOG_FORMAT_LOGFMT,
                      .stream = open_memstream(&text, &len)};

    log_write(&log, LOG_LEVEL_DEBUG, "not written");
    log_write(&log, LOG_LEVEL_INFO, "alone");
    log_write(&log, LOG_LEVEL_ERROR, "two", "a", "1", "b", LOG_NUMBER(INT64_MIN));
    log_write(&log, LOG_LEVEL_INFO, "ended by hand", "a", "1", NULL);
    log_write(&log, LOG_LEVEL_INFO, "a key alone", "a");
    fclose(log.stream);
    assert_null(strstr(text, "not written"));
    assert_non_null(strstr(text, " level=INFO msg=alone\n"));
    assert_non_null(strstr(text, " level=ERROR msg=two a=1 b=-9223372036854775808\n"));
    assert_non_null(strstr(text, " msg=\"ended by hand\" a=1\n"));
    assert_non_null(strstr(text, " msg=\"a key alone\" a=null\n"));
    free(text);
}

TEST(a_long_value_is_cut_at_a_character_boundary)
{
    char text[2 * LOG_VALUE_MAX + 1] = "x";
    const char *const fields[] = {"key", text};

    for (size_t i = 1; i + 2 < sizeof(text); i += 2)
        memcpy(text + i, "\xc3\xbc", 3);
    char *line = write_line(LOG_FORMAT_LOGFMT, "m", fields, 2);
    size_t kept = strlen("x") + (LOG_VALUE_MAX - 1) / 2 * 2;

    assert_int_equal(strlen(line), strlen(" level=WARN msg=m key=\"...\"\n") + kept);
    assert_string_equal(line + strlen(line) - 7, "\xc3\xbc...\"\n");
    free(line);
}

/* Each read of a pipe in packet mode returns the bytes of one write. */
TEST(each_line_is_one_write)
{
    char packet[4096];
    int ends[2];

    assert_int_equal(pipe2(ends, O_DIRECT), 0);
    struct log log = {
        .level = LOG_LEVEL_INFO, .format = LOG_FORMAT_JSON, .stream = fdopen(ends[1], "w")};

    setvbuf(log.stream, NULL, _IONBF, 0);
    log_write(&log, LOG_LEVEL_INFO, "first", "key", "a value", "other", "an\nother");
    log_write(&log, LOG_LEVEL_INFO, "second");
    for (int i = 0; i < 2; i++) {
        ssize_t n = read(ends[0], packet, sizeof(packet) - 1);

        assert_true(n > 0);
        packet[n] = '\0';
        assert_int_equal(packet[0], '{');
        assert_string_equal(packet + n - 2, "}\n");
        assert_non_null(strstr(packet, i == 0 ? "first" : "second"));
    }
    fclose(log.stream);
    close(ends[0]);
}

enum { THREADS = 4, LINES = 200 };

static void *write_lines(void *context)
{
    for (int i = 0; i < LINES; i++)
        log_write((const struct log *)context, LOG_LEVEL_INFO, "m", "key", "a value");
    return NULL;
}

TEST(lines_of_threads_are_not_interleaved)
{
    struct log log = {.level = LOG_LEVEL_INFO, .format = LOG_FORMAT_LOGFMT, .stream = tmpfile()};
    pthread_t threads[THREADS];
    char line[256];
    size_t lines = 0;

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &log), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    rewind(log.stream);
    for (; fgets(line, sizeof(line), log.stream); lines++) {
        assert_memory_equal(line, "time=", 5);
        assert_string_equal(strstr(line, " level="), " level=INFO msg=m key=\"a value\"\n");
    }
    assert_int_equal(lines, THREADS * LINES);
    fclose(log.stream);
}

TEST(levels_and_formats_are_parsed)
{
    struct error err;
    enum log_level level = LOG_LEVEL_ERROR;
    enum log_format format = LOG_FORMAT_LOGFMT;

    assert_true(log_level_parse("warn", &level, &err));
    assert_int_equal(level, LOG_LEVEL_WARN);
    assert_false(log_level_parse("WARN", &level, &err));
    assert_string_equal(err.text, "unknown log level 'WARN': use debug, info, warn or error");
    assert_int_equal(level, LOG_LEVEL_WARN);
    assert_true(log_format_parse("json", &format, &err));
    assert_int_equal(format, LOG_FORMAT_JSON);
    assert_false(log_format_parse("", &format, &err));
    assert_string_equal(err.text, "unknown log format '': use logfmt or json");
}

/* Appends all bytes that the pipe contains now. Returns the length of `out`. */
static size_t read_pipe(int fd, struct strbuf *out)
{
    char chunk[4096];
    ssize_t n;

    while ((n = read(fd, chunk, sizeof(chunk))) > 0)
        strbuf_add(out, chunk, (size_t)n);
    return out->len;
}

static struct log piped_log(int ends[2])
{
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    return (struct log){
        .level = LOG_LEVEL_DEBUG, .format = LOG_FORMAT_LOGFMT, .stream = fdopen(ends[1], "w")};
}

TEST(lines_are_written_before_the_log_stops)
{
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(1 << 20);
    struct error err;
    int ends[2];
    struct log log = piped_log(ends);

    assert_true(log_start(&log, &err));
    log_write(&log, LOG_LEVEL_INFO, "one");
    log_write(&log, LOG_LEVEL_INFO, "two");
    log_stop(&log, 20000);
    read_pipe(ends[0], &got);
    assert_non_null(strstr(got.data, "msg=one\n"));
    assert_true(strstr(got.data, "msg=one\n") < strstr(got.data, "msg=two\n"));
    assert_int_equal(log_dropped(&log), 0);
    fclose(log.stream);
    close(ends[0]);
}

TEST(an_error_line_is_written_before_the_call_returns)
{
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(1 << 20);
    struct error err;
    int ends[2];
    struct log log = piped_log(ends);

    assert_true(log_start(&log, &err));
    /* log_write() waits at most 50 ms for an error line: a busy machine may need more tries. */
    for (int i = 0; i < 100 && got.len == 0; i++) {
        log_write(&log, LOG_LEVEL_ERROR, "the last word");
        read_pipe(ends[0], &got);
    }
    assert_non_null(strstr(got.data, "msg=\"the last word\"\n"));
    log_stop(&log, 20000);
    fclose(log.stream);
    close(ends[0]);
}

TEST(a_full_pipe_drops_lines_and_does_not_block)
{
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(4 << 20);
    char filler[513] = "";
    struct error err;
    uint64_t dropped;
    int ends[2];
    struct log log = piped_log(ends);
    unsigned kept = 0;
    const unsigned said = 2 * LOG_WRITER_LINES;

    memset(filler, 'x', sizeof(filler) - 1);
    assert_true(log_start(&log, &err));
    for (unsigned i = 0; i < said; i++)
        log_write(&log, LOG_LEVEL_INFO, "said", "filler", filler);
    dropped = log_dropped(&log);
    assert_in_range(dropped, said / 2, said);

    /* After reads empty the pipe, the thread writes the rest and the count of dropped lines. */
    for (int i = 0; i < 20000 && !strstr(got.data, "log lines were dropped"); i++) {
        read_pipe(ends[0], &got);
        usleep(1000);
    }
    char wanted[96];
    snprintf(wanted, sizeof(wanted),
             "level=WARN msg=\"log lines were dropped: standard error did not accept them\" "
             "count=%u\n",
             (unsigned)dropped);
    assert_non_null(strstr(got.data, wanted));
    for (const char *at = got.data; (at = strstr(at, "msg=said")); at++)
        kept++;
    assert_int_equal(kept + dropped, said);
    log_stop(&log, 20000);
    fclose(log.stream);
    close(ends[0]);
}

/* Waits until `count` lines are dropped, at most 20 s. Returns the number of dropped lines. */
static uint64_t wait_for_dropped(const struct log *log, uint64_t count)
{
    for (int i = 0; i < 20000 && log_dropped(log) < count; i++)
        usleep(1000);
    return log_dropped(log);
}

TEST(lines_that_a_full_device_refuses_are_counted)
{
    struct log log = {.level = LOG_LEVEL_DEBUG, .stream = fopen("/dev/full", "we")};
    struct error err;

    assert_non_null(log.stream);
    assert_true(log_start(&log, &err));
    for (int i = 0; i < 10; i++)
        log_write(&log, LOG_LEVEL_INFO, "said");
    assert_int_equal(wait_for_dropped(&log, 10), 10);
    /* Reports of dropped lines fail, too, but do not count as dropped lines. */
    usleep(300 * 1000);
    assert_int_equal(log_dropped(&log), 10);
    log_stop(&log, 20000);
    fclose(log.stream);
}

TEST(lines_to_a_closed_pipe_are_counted)
{
    struct error err;
    int ends[2];
    struct log log = piped_log(ends);

    assert_true(log_start(&log, &err));
    close(ends[0]);
    for (int i = 0; i < 10; i++)
        log_write(&log, LOG_LEVEL_INFO, "said");
    assert_int_equal(wait_for_dropped(&log, 10), 10);
    log_stop(&log, 20000);
    fclose(log.stream);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Returns the number of lines in the first `bytes` bytes of the file. */
static unsigned count_lines(FILE *file, size_t bytes)
{
    CLEANUP(free_cleanup) char *text = xcalloc(1, bytes + 1);
    unsigned count = 0;

    assert_true(pread(fileno(file), text, bytes, 0) >= 0);
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        count++;
    return count;
}

/* RLIMIT_FSIZE simulates a full disk: the last write before the limit is a short write. */
TEST(lines_after_a_full_disk_are_complete)
{
    enum { LIMIT = 1000, SAID = 100 };
    struct log log = {.level = LOG_LEVEL_DEBUG, .stream = tmpfile()};
    char line[512];
    char wanted[64];
    struct error err;
    unsigned kept = 0, torn = 0, reports = 0;

    limit_files(LIMIT);
    assert_true(log_start(&log, &err));
    for (int i = 0; i < SAID; i++)
        log_write(&log, LOG_LEVEL_INFO, "said", "key", "a value");
    /* The first line is refused after the file contains all lines that fit. */
    assert_true(wait_for_dropped(&log, 1) > 0);
    uint64_t missing = SAID - count_lines(log.stream, LIMIT);
    uint64_t dropped = wait_for_dropped(&log, missing);

    assert_int_equal(dropped, missing);
    limit_files(RLIM_INFINITY);
    log_write(&log, LOG_LEVEL_INFO, "after");
    log_stop(&log, 20000);

    rewind(log.stream);
    snprintf(wanted, sizeof(wanted), "count=%u\n", (unsigned)dropped);
    for (bool after = false; fgets(line, sizeof(line), log.stream); after = strstr(line, "after")) {
        assert_false(after);
        assert_memory_equal(line, "time=", 5);
        assert_null(strstr(line + 1, "time="));
        kept += strstr(line, " level=INFO msg=said key=\"a value\"\n") != NULL;
        torn += !strstr(line, "msg=after\n") && !strstr(line, "key=\"a value\"\n") &&
                !strstr(line, "count=");
        reports += strstr(line, "log lines were dropped") && strstr(line, wanted);
    }
    assert_int_equal(reports, 1);
    assert_int_equal(kept + dropped, SAID);
    assert_in_range(torn, 0, 1);
    assert_in_range(kept, 1, LIMIT / strlen("time= level=INFO msg=said key=\"a value\"\n"));
    fclose(log.stream);
}

TEST(lines_of_any_length_wrap_around_the_ring)
{
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(16 << 20);
    char filler[LOG_VALUE_MAX + 1] = "";
    struct error err;
    int ends[2];
    struct log log = piped_log(ends);
    unsigned said = 0;

    assert_true(log_start(&log, &err));
    /* The lines have four times the size of the ring, and are read during the writes. */
    for (unsigned i = 0; got.len < 4 * LOG_WRITER_BYTES; i++) {
        memset(filler, 'x', LOG_VALUE_MAX);
        filler[i * 7 % LOG_VALUE_MAX] = '\0';
        log_write(&log, LOG_LEVEL_INFO, "said", "filler", filler, "length",
                  LOG_NUMBER((int64_t)strlen(filler)));
        read_pipe(ends[0], &got);
        said++;
        if (i % 64 == 0)
            usleep(100);
    }
    uint64_t dropped = log_dropped(&log);
    log_stop(&log, 20000);
    read_pipe(ends[0], &got);
    for (const char *at = got.data; (at = strstr(at, "filler=")); said--) {
        CLEANUP(free_cleanup) char *wanted = NULL;
        const char *value = at + strlen("filler=");
        size_t len = strspn(value, "x");

        if (len == 0)
            value += strlen("\"\"");
        assert_true(asprintf(&wanted, " length=%zu\n", len) > 0);
        assert_memory_equal(value + len, wanted, strlen(wanted));
        at = value;
    }
    assert_int_equal(said, dropped);
    fclose(log.stream);
    close(ends[0]);
}

TEST(a_blocked_log_stops_within_its_time_limit)
{
    char filler[LOG_VALUE_MAX + 1] = "";
    struct error err;
    int ends[2];
    struct log log = piped_log(ends);

    memset(filler, 'x', LOG_VALUE_MAX);
    assert_true(log_start(&log, &err));
    for (unsigned i = 0; i < 200; i++)
        log_write(&log, LOG_LEVEL_INFO, "said", "filler", filler);
    /* log_stop() returns although the thread blocks until the read end of the pipe is closed. */
    log_stop(&log, 10);
    assert_null(log.writer);
    close(ends[0]);
    /* The stream stays open, because the thread may still use it. */
}
