/* SPDX-License-Identifier: Apache-2.0 */
#include <microhttpd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "exporter/web/page_index.h"
#include "exporter/web/request.h"
#include "exporter/web/routes.h"
#include "tests/fuzz/must.h"
#include "tests/unit/blank_page.h"

/*
 * Sends any bytes, in up to eight pieces, on one connection of libmicrohttpd. The response must
 * consist of complete answers, one for each request, in order. Pages must be the published ones,
 * plain or gzipped; calls of the API must be answered. Then the connection must be closed.
 */

enum {
    REQUESTS_MAX = 4096,
    ANSWERS_MAX = 16 << 20,
    PAGE_MAX = 1 << 16,
    NAMES = 200,     /* Number of object names. */
    CALLS_MAX = 1,   /* A connection has at most one open request. */
    QUIET_TURNS = 8, /* Turns of the library without output before it counts as idle. */
};

static const char exporter_page[] = "<!DOCTYPE html><title>exporter</title>\n";

struct harness {
    struct MHD_Daemon *daemon;
    struct page_store *page_store;
    struct routes *routes;
    struct request_queue *request_queue;
    struct api *api;
    struct strbuf metrics[EXPOSITION_FORMATS];
    /* For each request of the connection that reached the site, in order: true for HEAD. */
    bool heads[REQUESTS_MAX];
    size_t requests;
    bool awaits;              /* The last request has no answer, and its body is incomplete. */
    struct exchange exchange; /* Current request. */
    bool open;
};

static void *on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
    struct harness *h = context;

    (void)connection;
    exchange_begin(&h->exchange, uri);
    return &h->exchange;
}

static size_t on_unescape(void *context, struct MHD_Connection *connection, char *text)
{
    struct harness *h = context;

    (void)connection;
    return request_target_unescape(&h->exchange.target, text);
}

/*
 * Checks the head as the server does. Returns false after a refusal, which counts as an answer of
 * the library.
 */
static bool check_head(struct harness *h, struct MHD_Connection *connection, const char *method,
                       const char *version)
{
    struct exchange *v = &h->exchange;
    unsigned status = request_head_check(connection, method, version, &v->target, &v->malformed);

    if (status != 0)
        request_head_refuse(connection, status);
    return status == 0;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *data_size, void **state)
{
    struct harness *h = context;
    struct body_piece body_piece = {data, *data_size};
    enum MHD_Result result;

    if (exchange_is_new(*state)) {
        if (!check_head(h, connection, method, version))
            return MHD_NO;
        MUST(h->requests < REQUESTS_MAX);
        h->heads[h->requests++] = strcmp(method, "HEAD") == 0;
        h->awaits = request_content_len(connection) > 0;
    } else if (body_piece.len == 0) {
        h->awaits = false;
    }
    result = routes_handle_request(h->routes, connection, request_target_path(path), method,
                                   &body_piece, *state);
    *data_size = body_piece.len;
    h->awaits = h->awaits && ((struct exchange *)*state)->state == EXCHANGE_CHECKED;
    return result;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode reason)
{
    struct harness *h = context;

    (void)connection;
    (void)reason;
    exchange_end(&h->exchange);
    *state = NULL;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **slot,
                          enum MHD_ConnectionNotificationCode what)
{
    struct harness *h = context;

    (void)connection;
    (void)slot;
    h->open = what == MHD_CONNECTION_NOTIFY_STARTED;
    exchange_end(&h->exchange);
}

/* Publishes a page for people, and a page of the exporter's own metrics with enough series to be
 * long. */
static void publish_pages(struct harness *h)
{
    struct registry *r = registry_new(NULL, &registry_options_default, 1);
    struct strbuf body = STRBUF_INIT(PAGE_MAX);
    char name[16];

    for (unsigned i = 0; i < NAMES; i++) {
        snprintf(name, sizeof(name), "%u", i);
        REGISTRY_SET(r, OWN_OBJECTS, 1, name);
    }
    struct metrics_page *page = blank_page_of(r, NULL);

    page_store_publish_metrics(h->page_store, page);
    metrics_page_drop(page);
    for (unsigned i = 0; i < EXPOSITION_FORMATS; i++) {
        h->metrics[i] = STRBUF_INIT(PAGE_MAX);
        exposition_write(
            r, (struct exposition){.format = i, .synced = false, .created_ms = BLANK_PAGE_SINCE_MS},
            &h->metrics[i]);
    }
    registry_free(r);
    strbuf_adds(&body, exporter_page);
    page_store_publish(h->page_store, PAGE_EXPORTER, &body);
}

/*
 * Returns the harness, created once: libmicrohttpd with the callbacks and the memory limit of
 * server.c, without a listening socket, and driven by MHD_run().
 */
static struct harness *get_harness(void)
{
    static struct harness h;
    struct error err;

    if (h.daemon)
        return &h;
    h.page_store = page_store_new();
    h.request_queue = request_queue_new(CALLS_MAX, 0);
    h.api = api_new(h.request_queue, NULL, 1);
    h.routes = routes_new(&(struct routes_settings){.telemetry_path = "/metrics",
                                                    .page_store = h.page_store,
                                                    .request_queue = h.request_queue,
                                                    .plans = true},
                          &err);
    MUST(h.routes);
    publish_pages(&h);
    h.daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME,
                                0, NULL, NULL, on_request, &h, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                (size_t)CONNECTION_MEMORY_BYTES, MHD_OPTION_URI_LOG_CALLBACK,
                                on_uri, &h, MHD_OPTION_UNESCAPE_CALLBACK, on_unescape, &h,
                                MHD_OPTION_NOTIFY_COMPLETED, on_completed, &h,
                                MHD_OPTION_NOTIFY_CONNECTION, on_connection, &h, MHD_OPTION_END);
    MUST(h.daemon);
    return &h;
}

/* ---- the client ---- */

/* Runs a turn of the library and of the main loop, which has no current data. */
static void run_turn(struct harness *h)
{
    MHD_run(h->daemon);
    api_turn(h->api, &(struct health){.external_url = ""}, NULL, true);
}

/* Appends output until the library is idle. Returns true if the library closed the connection. */
static bool run_until_idle(struct harness *h, int fd, struct strbuf *answers)
{
    char bytes[16384];
    unsigned quiet = 0;

    while (quiet < QUIET_TURNS) {
        ssize_t n;

        run_turn(h);
        while ((n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
            strbuf_add(answers, bytes, (size_t)n);
            quiet = 0;
        }
        if (n == 0)
            return true;
        quiet++;
    }
    return false;
}

/* Sends the bytes in at most `pieces` pieces on a new connection, and appends all output. */
static void exchange_bytes(struct harness *h, const char *bytes, size_t len, size_t pieces,
                           struct strbuf *answers)
{
    const struct sockaddr peer = {.sa_family = AF_UNIX};
    size_t step = len / pieces + 1;
    bool closed = false;
    int fds[2];

    h->requests = 0;
    h->awaits = false;
    MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    MUST(MHD_add_connection(h->daemon, fds[1], &peer, sizeof(peer)) == MHD_YES);
    for (size_t at = 0; at < len && !closed; at += step) {
        size_t left = len - at;

        send(fds[0], bytes + at, left < step ? left : step, MSG_NOSIGNAL);
        closed = run_until_idle(h, fds[0], answers);
    }
    shutdown(fds[0], SHUT_WR);
    closed = closed || run_until_idle(h, fds[0], answers);
    close(fds[0]);
    MUST(closed && strbuf_ok(answers));
    for (unsigned i = 0; i < QUIET_TURNS && h->open; i++)
        run_turn(h);
    MUST(!h->open);
}

/* ---- answers ---- */

struct answer {
    unsigned status;
    const char *body;
    size_t len;
    bool gzip;
    bool closes;
};

static size_t read_number(const char *digits)
{
    size_t value = 0;

    for (; *digits >= '0' && *digits <= '9'; digits++)
        value = value * 10 + (size_t)(*digits - '0');
    return value;
}

static bool starts_with(const char *text, const char *start)
{
    return strncasecmp(text, start, strlen(start)) == 0;
}

/* Reads one header. Returns the start of the next line. */
static const char *read_header(const char *line, struct answer *out, bool *has_length)
{
    const char *end = strstr(line, "\r\n");
    const char *colon = strchr(line, ':');

    MUST(end && colon && colon < end && colon > line);
    for (const char *at = line; at < end; at++)
        MUST((unsigned char)*at >= ' ' && (unsigned char)*at < 0x7f);
    if (starts_with(line, "Content-Length:")) {
        MUST(!*has_length);
        *has_length = true;
        out->len = read_number(colon + 2);
    }
    out->gzip = out->gzip || starts_with(line, "Content-Encoding: gzip\r\n");
    out->closes = out->closes || starts_with(line, "Connection: close\r\n");
    return end + 2;
}

/* Reads the status line and the headers; `body` of the result points behind them. */
static struct answer read_answer(const char *at)
{
    struct answer answer = {0};
    bool has_length = false;

    MUST(starts_with(at, "HTTP/1.1 ") || starts_with(at, "HTTP/1.0 "));
    answer.status = (unsigned)read_number(at + strlen("HTTP/1.1 "));
    at = strstr(at, "\r\n");
    MUST(at);
    for (at += 2; *at != '\r';)
        at = read_header(at, &answer, &has_length);
    MUST(at[1] == '\n' && (has_length || answer.status == MHD_HTTP_CONTINUE));
    answer.body = at + 2;
    return answer;
}

/* Returns true if the bytes are complete lines of the page, in its order; lines may be missing. */
static bool is_part_of_page(const struct strbuf *page, const char *bytes, size_t len)
{
    const char *at = page->data;

    while (len > 0) {
        const char *line_end = memchr(bytes, '\n', len);
        const char *page_end = strchr(at, '\n');
        size_t line_len;

        if (!line_end || !page_end)
            return false;
        line_len = (size_t)(line_end - bytes) + 1;
        if ((size_t)(page_end - at) + 1 == line_len && memcmp(at, bytes, line_len) == 0) {
            bytes += line_len;
            len -= line_len;
        }
        at = page_end + 1;
    }
    return true;
}

static bool is_page(const struct harness *h, const char *bytes, size_t len)
{
    return is_part_of_page(&h->metrics[EXPOSITION_TEXT], bytes, len) ||
           is_part_of_page(&h->metrics[EXPOSITION_OPENMETRICS], bytes, len) ||
           (len == strlen(exporter_page) && memcmp(bytes, exporter_page, len) == 0);
}

static void check_gzip(const struct harness *h, const struct answer *answer)
{
    char page[PAGE_MAX];
    z_stream stream = {0};
    union {
        const char *constant;
        Bytef *plain;
    } bytes = {.constant = answer->body};

    MUST(inflateInit2(&stream, 15 + 16) == Z_OK);
    stream.next_in = bytes.plain;
    stream.avail_in = (uInt)answer->len;
    stream.next_out = (Bytef *)page;
    stream.avail_out = sizeof(page);
    MUST(inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0);
    MUST(is_page(h, page, stream.total_out));
    inflateEnd(&stream);
}

/* Checks an answer of the site: status and, if `has_body`, a body in gzip or with status 200. */
static void check_answer(const struct harness *h, const struct answer *answer, bool has_body)
{
    char status[8];
    bool known = false;

    snprintf(status, sizeof(status), "%u", answer->status);
    for (size_t i = 0; i < SERVER_CODE_COUNT; i++)
        known = known || strcmp(server_code_names[i], status) == 0;
    MUST(known);
    if (has_body && answer->gzip)
        check_gzip(h, answer);
    else if (has_body && answer->status == MHD_HTTP_OK)
        MUST(is_page(h, answer->body, answer->len) ||
             starts_with(answer->body, "karmada-policy-exporter is ") ||
             starts_with(answer->body, "[+]loop ok\n") ||
             starts_with(answer->body, "{\n \"openapi\":") ||
             starts_with(answer->body, "<!DOCTYPE html>\n<html"));
}

/*
 * Skips a second copy of the headers before the body: libmicrohttpd 0.9.75 sends the headers of its
 * own refusals twice. It then closes the connection, so a client only gets additional text.
 */
static const char *skip_repeated_headers(const char *start, const char *body, const char *end)
{
    size_t len = (size_t)(body - start);

    return (size_t)(end - body) >= len && memcmp(start, body, len) == 0 ? body + len : body;
}

/* Checks that each complete request to the site has an answer. The library may add one refusal. */
static void check_answers(const struct harness *h, const struct strbuf *answers)
{
    const char *at = answers->data;
    const char *end = at + answers->len;
    size_t count = 0;

    while (at < end) {
        struct answer answer = read_answer(at);
        const char *start = at;
        bool of_site = count < h->requests;

        at = answer.body;
        /* "100 Continue" is the last answer to a client that closes instead of sending the body. */
        if (answer.status == MHD_HTTP_CONTINUE) {
            count += at == end && of_site;
            continue;
        }
        if (of_site) {
            bool has_body = !h->heads[count];

            MUST(!has_body || (size_t)(end - at) >= answer.len);
            check_answer(h, &answer, has_body);
            at += has_body ? answer.len : 0;
        } else {
            MUST(answer.status >= 400 && answer.closes);
            at = skip_repeated_headers(start, at, end);
            MUST(at == end || (size_t)(end - at) == answer.len);
            at = end;
        }
        MUST(!answer.closes || at == end);
        count++;
    }
    MUST(count + h->awaits >= h->requests && count <= h->requests + 1);
}

/* The first byte determines the number of pieces of the others. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(strbuf_release) struct strbuf answers = STRBUF_INIT(ANSWERS_MAX);
    struct harness *h = get_harness();

    if (size == 0)
        return 0;
    exchange_bytes(h, (const char *)data + 1, size - 1, 1 + data[0] % 8, &answers);
    check_answers(h, &answers);
    return 0;
}
