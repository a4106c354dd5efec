/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/server.h"

#include "exporter/web/page_index.h"
#include "tests/unit/blank_page.h"
#include "tests/unit/http_client.h"

#include "tests/unit/suite.h"

#define CLOSE "Host: a\r\nConnection: close\r\n\r\n"

struct fixture {
    struct page_store *page_store;
    struct server *server;
};

static struct server *start_at(struct page_store *page_store, const char *address,
                               struct error *err)
{
    const struct server_options options = {
        .addresses = &address, .address_count = 1, .telemetry_path = "/metrics"};

    return server_start(&options, page_store, err);
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct error err;

    f->page_store = page_store_new();
    f->server = start_at(f->page_store, "127.0.0.1:0", &err);
    *state = f;
    return f->server ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    server_stop(f->server);
    page_store_free(f->page_store);
    free(f);
    return 0;
}

static void publish(const struct fixture *f)
{
    CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(1000);

    strbuf_adds(&body, "the exporter\n");
    page_store_publish(f->page_store, PAGE_EXPORTER, &body);
    blank_page_publish(f->page_store);
}

#define UP_QUERY "?collect[]=karmada_policy_exporter_up"
#define UP_PAGE                                                                                    \
    "# HELP karmada_policy_exporter_up 1 once all objects have been read; until then the page "    \
    "has only families about the exporter.\n"                                                      \
    "# TYPE karmada_policy_exporter_up gauge\n"                                                    \
    "karmada_policy_exporter_up 1\n"

#define MORE     "&collect[]=karmada_policy_exporter_up"
#define TEN_MORE MORE MORE MORE MORE MORE MORE MORE MORE MORE MORE
#define TEN      "0123456789"

/* Raw requests, each to a new server with an index page and a metrics page. */
static struct request_case {
    const char *name;
    const char *request;
    const char *status; /* Start of the response. */
    const char *header; /* Part of the response; NULL: not checked. */
    const char *body;   /* Body of the response; NULL: not checked. */
    enum server_handler handler;
    int code; /* Code that is counted; -1 if libmicrohttpd itself answers. */
} request_cases[] = {
    {"metrics", "GET /metrics" UP_QUERY " HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200 ",
     "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n", UP_PAGE, SERVER_METRICS,
     SERVER_200},
    {"metrics with the Accept header of Prometheus 3",
     "GET /metrics" UP_QUERY " HTTP/1.1\r\n"
     "Accept: application/openmetrics-text;version=1.0.0;escaping=values;q=0.5\r\n"
     "Accept: text/plain;q=0.2\r\n" CLOSE,
     "HTTP/1.1 200 ",
     "\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8; "
     "escaping=values\r\n",
     UP_PAGE "# EOF\n", SERVER_METRICS, SERVER_200},
    {"Vary names the headers that select the format",
     "GET /metrics" UP_QUERY " HTTP/1.1\r\nAccept: */*\r\n" CLOSE, "HTTP/1.1 200 ",
     "\r\nVary: Accept, Accept-Encoding\r\n", UP_PAGE, SERVER_METRICS, SERVER_200},
    {"other parameters are ignored", "GET /metrics" UP_QUERY "&a=%41&name[]=b HTTP/1.1\r\n" CLOSE,
     "HTTP/1.1 200 ", NULL, UP_PAGE, SERVER_METRICS, SERVER_200},
    {"percent escapes are decoded",
     "GET /%6detrics?collect%5B%5d=%6barmada_policy_exporter_up HTTP/1.1\r\n" CLOSE,
     "HTTP/1.1 200 ", NULL, UP_PAGE, SERVER_METRICS, SERVER_200},
    {"a family that has no series now",
     "GET /metrics?collect[]=karmada_templates HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200 ",
     "\r\nContent-Length: 0\r\n", "", SERVER_METRICS, SERVER_200},
    {"an unknown family", "GET /metrics?collect[]=process_open_fd HTTP/1.1\r\n" CLOSE,
     "HTTP/1.1 400 ", "\r\nContent-Type: text/plain; charset=utf-8\r\n",
     "there is no metric family \"process_open_fd\": did you mean \"process_open_fds\"?\n",
     SERVER_METRICS, SERVER_400},
    {"an unknown family is escaped in the error",
     "GET /metrics?exclude[]=%3Cb%0d%0aA:%22%ff HTTP/1.1\r\n" CLOSE, "HTTP/1.1 400 ", NULL,
     "there is no metric family \"<b\xef\xbf\xbd\xef\xbf\xbd"
     "A:\\\"\xef\xbf\xbd\"\n",
     SERVER_METRICS, SERVER_400},
    {"an empty family name", "GET /metrics?collect[] HTTP/1.1\r\n" CLOSE, "HTTP/1.1 400 ", NULL,
     "there is no metric family \"\"\n", SERVER_METRICS, SERVER_400},
    {"a family name that is too long",
     "GET /metrics?collect[]=" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "1 HTTP/1.1\r\n" CLOSE,
     "HTTP/1.1 400 ", NULL, "no metric family has a name that long\n", SERVER_METRICS, SERVER_400},
    {"collect[] and exclude[]",
     "GET /metrics" UP_QUERY "&exclude[]=process_open_fds HTTP/1.1\r\n" CLOSE, "HTTP/1.1 400 ",
     NULL, "collect[] and exclude[] cannot be combined\n", SERVER_METRICS, SERVER_400},
    {"more than 100 families",
     "GET /metrics" UP_QUERY TEN_MORE TEN_MORE TEN_MORE TEN_MORE TEN_MORE TEN_MORE TEN_MORE TEN_MORE
         TEN_MORE TEN_MORE " HTTP/1.1\r\n" CLOSE,
     "HTTP/1.1 400 ", NULL, "more than 100 metric families are named\n", SERVER_METRICS,
     SERVER_400},
    {"HEAD returns the length without a body", "HEAD /metrics" UP_QUERY " HTTP/1.1\r\n" CLOSE,
     "HTTP/1.1 200 ", "\r\nContent-Length: 196\r\n", "", SERVER_METRICS, SERVER_200},
    {"a page", "GET /exporter HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200 ", NULL, "the exporter\n",
     SERVER_EXPORTER, SERVER_200},
    {"healthy", "GET /-/healthy HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200 ",
     "\r\nX-Content-Type-Options: nosniff\r\n", "karmada-policy-exporter is Healthy.\n",
     SERVER_HEALTHY, SERVER_200},
    {"not ready at first", "GET /-/ready HTTP/1.1\r\n" CLOSE, "HTTP/1.1 503 ",
     "\r\nRetry-After: 5\r\n", "karmada-policy-exporter is not ready: nothing was read yet\n",
     SERVER_READY, SERVER_503},
    {"verbose health", "GET /livez?verbose HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200 ", NULL,
     "[+]loop ok\nlivez check passed\n", SERVER_LIVEZ, SERVER_200},
    {"verbose readiness", "GET /readyz?verbose=1 HTTP/1.1\r\n" CLOSE, "HTTP/1.1 503 ",
     "\r\nRetry-After: 5\r\n",
     "[-]sources failed\nkarmada-policy-exporter is not ready: nothing was read yet\n"
     "readyz check failed\n",
     SERVER_READYZ, SERVER_503},
    {"an unknown path", "GET /metric HTTP/1.1\r\n" CLOSE, "HTTP/1.1 404 ", NULL, "not found\n",
     SERVER_OTHER, SERVER_404},
    {"a trailing slash is another path", "GET /metrics/ HTTP/1.1\r\n" CLOSE, "HTTP/1.1 404 ", NULL,
     NULL, SERVER_OTHER, SERVER_404},
    {"a doubled slash is another path", "GET //metrics HTTP/1.1\r\n" CLOSE, "HTTP/1.1 404 ", NULL,
     NULL, SERVER_OTHER, SERVER_404},
    {"dots are not resolved", "GET /../metrics HTTP/1.1\r\n" CLOSE, "HTTP/1.1 404 ", NULL, NULL,
     SERVER_OTHER, SERVER_404},
    {"an escaped NUL in the path", "GET /metrics%00x HTTP/1.1\r\n" CLOSE, "HTTP/1.1 400 ",
     "\r\nConnection: close\r\n", "bad request\n", SERVER_OTHER, SERVER_400},
    {"an escaped NUL in the query", "GET /metrics?%00 HTTP/1.1\r\n" CLOSE, "HTTP/1.1 400 ", NULL,
     "bad request\n", SERVER_OTHER, SERVER_400},
    {"POST", "POST /metrics HTTP/1.1\r\nContent-Length: 0\r\n" CLOSE, "HTTP/1.1 405 ",
     "\r\nAllow: GET, HEAD\r\n", "method not allowed: see the header Allow\n", SERVER_METRICS,
     SERVER_405},
    {"OPTIONS", "OPTIONS /exporter HTTP/1.1\r\n" CLOSE, "HTTP/1.1 405 ", "\r\nAllow: GET, HEAD\r\n",
     NULL, SERVER_EXPORTER, SERVER_405},
    {"methods are case-sensitive", "get /metrics HTTP/1.1\r\n" CLOSE, "HTTP/1.1 405 ", NULL, NULL,
     SERVER_METRICS, SERVER_405},
    {"POST with a body", "POST /exporter HTTP/1.1\r\nContent-Length: 3\r\nHost: a\r\n\r\nabc",
     "HTTP/1.1 405 ", "\r\nConnection: close\r\n", NULL, SERVER_EXPORTER, SERVER_405},
    {"DELETE with a body that hides a request",
     "DELETE /exporter HTTP/1.1\r\nContent-Length: 31\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: "
     "hidden\r\n\r\n",
     "HTTP/1.1 405 ", "\r\nConnection: close\r\n", NULL, SERVER_EXPORTER, SERVER_405},
    {"GET with a body that hides a request",
     "GET /exporter HTTP/1.1\r\nContent-Length: 31\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: "
     "hidden\r\n\r\n",
     "HTTP/1.1 413 ", "\r\nConnection: close\r\n", "a request must not have a body\n",
     SERVER_EXPORTER, SERVER_413},
    {"GET with an empty body", "GET /exporter HTTP/1.1\r\nContent-Length: 0\r\n" CLOSE,
     "HTTP/1.1 200 ", NULL, "the exporter\n", SERVER_EXPORTER, SERVER_200},
    {"a body that is announced and never sent",
     "GET /exporter HTTP/1.1\r\nContent-Length: 1000\r\nExpect: 100-continue\r\nHost: a\r\n\r\n",
     "HTTP/1.1 413 ", NULL, NULL, SERVER_EXPORTER, SERVER_413},
    {"a chunked body",
     "GET /exporter HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: a\r\n\r\n0\r\n\r\n",
     "HTTP/1.1 400 ", "\r\nConnection: close\r\n", NULL, SERVER_EXPORTER, SERVER_400},
    {"Content-Length and Transfer-Encoding",
     "GET /exporter HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nHost: "
     "a\r\n\r\n0\r\n\r\n",
     "HTTP/1.1 400 ", NULL, NULL, SERVER_EXPORTER, SERVER_400},
    {"two Content-Length headers",
     "GET /exporter HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 5\r\n" CLOSE "abcde",
     "HTTP/1.1 400 ", NULL, NULL, SERVER_EXPORTER, SERVER_400},
    {"two Host headers", "GET /exporter HTTP/1.1\r\nHost: b\r\n" CLOSE, "HTTP/1.1 400 ", NULL, NULL,
     SERVER_EXPORTER, SERVER_400},
    {"no Host header", "GET /exporter HTTP/1.1\r\nConnection: close\r\n\r\n", "HTTP/1.1 400 ",
     "\r\nConnection: close\r\n", "bad request\n", SERVER_EXPORTER, SERVER_400},
    {"a blank before the colon", "GET /exporter HTTP/1.1\r\nHost : a\r\nConnection: close\r\n\r\n",
     "HTTP/1.1 400 ", NULL, "bad request\n", SERVER_EXPORTER, SERVER_400},
    {"a blank before the colon of Transfer-Encoding",
     "GET /exporter HTTP/1.1\r\nTransfer-Encoding : chunked\r\n" CLOSE "0\r\n\r\n", "HTTP/1.1 400 ",
     "\r\nConnection: close\r\n", "bad request\n", SERVER_EXPORTER, SERVER_400},
    {"CR in a header name", "GET /exporter HTTP/1.1\r\nA\rTransfer-Encoding: chunked\r\n" CLOSE,
     "HTTP/1.1 400 ", NULL, "bad request\n", SERVER_EXPORTER, SERVER_400},
    {"a header without a name", "GET /exporter HTTP/1.1\r\n: a\r\n" CLOSE, "HTTP/1.1 400 ", NULL,
     "bad request\n", SERVER_EXPORTER, SERVER_400},
    {"a header that begins with a blank", "GET /exporter HTTP/1.1\r\n A: b\r\n" CLOSE,
     "HTTP/1.1 400 ", NULL, NULL, SERVER_EXPORTER, SERVER_400},
    {"a control character in a header", "GET /exporter HTTP/1.1\r\nA: b\x01\r\n" CLOSE,
     "HTTP/1.1 400 ", NULL, "bad request\n", SERVER_EXPORTER, SERVER_400},
    {"all characters that a header may have",
     "GET /exporter HTTP/1.1\r\nx!#$%&'*+-.^_`|~9: \t\xe4\"(),/:;<=>?@[\\]{}\t~\r\n" CLOSE,
     "HTTP/1.1 200 ", NULL, "the exporter\n", SERVER_EXPORTER, SERVER_200},
    {"a whole URL", "GET http://a/metrics" UP_QUERY " HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200 ", NULL,
     UP_PAGE, SERVER_METRICS, SERVER_200},
    {"a whole URL without a path", "OPTIONS HTTPS://a HTTP/1.1\r\n" CLOSE, "HTTP/1.1 405 ", NULL,
     NULL, SERVER_INDEX_PAGE, SERVER_405},
    {"a URL as a path", "GET /http://a/metrics HTTP/1.1\r\n" CLOSE, "HTTP/1.1 404 ", NULL, NULL,
     SERVER_OTHER, SERVER_404},
    {"HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.1 505 ", NULL, NULL, 0, -1},
    {"an unknown API parameter", "GET /api/v1/explain?kid=x HTTP/1.1\r\n" CLOSE, "HTTP/1.1 400 ",
     "\r\nContent-Type: application/json\r\n",
     "{\"error\":\"there is no parameter 'kid'; do you mean 'kind'?\"}\n", SERVER_EXPLAIN,
     SERVER_400},
    {"a parameter of another endpoint", "GET /api/v1/openapi.json?kind=x HTTP/1.1\r\n" CLOSE,
     "HTTP/1.1 400 ", NULL, "{\"error\":\"there is no parameter 'kind'\"}\n", SERVER_OPENAPI,
     SERVER_400},
    {"a parameter given twice", "GET /api/v1/explain?kind=x&kind=y HTTP/1.1\r\n" CLOSE,
     "HTTP/1.1 400 ", NULL, "{\"error\":\"the parameter 'kind' is given twice\"}\n", SERVER_EXPLAIN,
     SERVER_400},
    {"a parameter without a value", "GET /api/v1/explain?kind HTTP/1.1\r\n" CLOSE, "HTTP/1.1 400 ",
     NULL, "{\"error\":\"the parameter 'kind' needs a value of at most 1024 bytes\"}\n",
     SERVER_EXPLAIN, SERVER_400},
    {"a parameter that is missing", "GET /api/v1/explain?kind=x&name= HTTP/1.1\r\n" CLOSE,
     "HTTP/1.1 400 ", NULL, "{\"error\":\"the parameter 'name' is missing\"}\n", SERVER_EXPLAIN,
     SERVER_400},
    {"an unknown parameter is escaped in the error",
     "GET /api/v1/explain?%22%3Cb%0a=x HTTP/1.1\r\n" CLOSE, "HTTP/1.1 400 ", NULL,
     "{\"error\":\"there is no parameter '\\\"<b\\n'\"}\n", SERVER_EXPLAIN, SERVER_400},
    {"POST to the API", "POST /api/v1/explain HTTP/1.1\r\nContent-Length: 0\r\n" CLOSE,
     "HTTP/1.1 405 ", "\r\nAllow: GET, HEAD\r\n", NULL, SERVER_EXPLAIN, SERVER_405},
    {"HTTP/1.0 without a Host header", "GET /metrics" UP_QUERY " HTTP/1.0\r\n\r\n", "HTTP/1.", NULL,
     UP_PAGE, SERVER_METRICS, SERVER_200},
};

static uint64_t count_requests(const struct server *s)
{
    uint64_t sum = 0;

    for (int handler = 0; handler < SERVER_HANDLER_COUNT; handler++) {
        for (int code = 0; code < SERVER_CODE_COUNT; code++)
            sum += server_requests(s, (enum server_handler)handler, (enum server_code)code);
    }
    return sum;
}

TEST_ROWS(raw_request_is_answered_and_counted, request_cases, name)
{
    const struct request_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    void *fixture = NULL;

    assert_int_equal(set_up(&fixture), 0);
    const struct fixture *f = fixture;

    publish(f);
    /* The server may reset the connection when it closes early, so the result is ignored. */
    (void)http_talk(server_address(f->server, 0), c->request, &answer);
    uint64_t all = count_requests(f->server);
    uint64_t counted =
        c->code < 0 ? 0 : server_requests(f->server, c->handler, (enum server_code)c->code);

    tear_down(&fixture);
    assert_true(answer.len > strlen(c->status));
    assert_memory_equal(answer.data, c->status, strlen(c->status));
    /* libmicrohttpd sends the headers of its own refusals twice, and then closes. */
    assert_in_range(http_answers(&answer), 1, c->code < 0 ? 2 : 1);
    if (c->header)
        assert_non_null(strstr(answer.data, c->header));
    if (c->body)
        assert_string_equal(http_body(&answer), c->body);
    assert_int_equal(all, c->code < 0 ? 0 : 1);
    assert_int_equal(counted, c->code < 0 ? 0 : 1);
}

/* The requests contain NUL in place of '@', so they are sent by length. */
TEST_WITH(request_with_a_nul_character_is_refused, set_up, tear_down)
{
    static const char *const requests[] = {
        "GET /metrics@x HTTP/1.1\r\n" CLOSE,
        "GET /metrics@ HTTP/1.1\r\n" CLOSE,
        "GET /metrics?a@b=c HTTP/1.1\r\n" CLOSE,
        "GET / HTTP/1.1\r\nA@: b\r\n" CLOSE,
    };
    const struct fixture *f = *state;

    publish(f);
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
        CLEANUP(strbuf_release) struct strbuf request = STRBUF_INIT(HTTP_ANSWER_MAX);

        strbuf_adds(&request, requests[i]);
        *strchr(request.data, '@') = '\0';
        (void)http_talk_bytes(server_address(f->server, 0), request.data, request.len, &answer);
        assert_memory_equal(answer.data, "HTTP/1.1 400 ", 13);
    }
}

TEST_WITH(metrics_before_the_first_page_have_status_503, set_up, tear_down)
{
    const struct fixture *f = *state;
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);

    assert_true(
        http_talk(server_address(f->server, 0), "GET /metrics HTTP/1.1\r\n" CLOSE, &answer));
    assert_memory_equal(answer.data, "HTTP/1.1 503 ", 13);
    assert_string_equal(http_body(&answer), "not ready: nothing was read yet\n");
    assert_int_equal(server_requests(f->server, SERVER_METRICS, SERVER_503), 1);
}

TEST_WITH(pipelined_requests_are_answered_in_order, set_up, tear_down)
{
    static const char three[] = "GET /exporter HTTP/1.1\r\nHost: a\r\n\r\n"
                                "HEAD /nothing HTTP/1.1\r\nHost: a\r\n\r\n"
                                "GET /metrics" UP_QUERY " HTTP/1.1\r\n" CLOSE;
    const struct fixture *f = *state;
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);

    publish(f);
    assert_true(http_talk(server_address(f->server, 0), three, &answer));
    assert_int_equal(http_answers(&answer), 3);
    const char *second = strstr(answer.data, "the exporter\nHTTP/1.1 404 ");

    assert_non_null(second);
    assert_non_null(strstr(second, "\r\n\r\nHTTP/1.1 200 "));
    assert_string_equal(answer.data + answer.len - strlen(UP_PAGE), UP_PAGE);
}

TEST_WITH(server_listens_on_every_form_of_address, set_up, tear_down)
{
    static const char *const addresses[] = {"127.0.0.1:0", "localhost:0", "[::1]:0", ":0"};
    const struct server_options options = {
        .addresses = addresses, .address_count = ARRAY_LEN(addresses), .telemetry_path = "/m"};
    const struct fixture *f = *state;
    struct error err = {.text = ""};
    struct server *s = server_start(&options, f->page_store, &err);

    assert_string_equal(err.text, "");
    for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
        CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);

        assert_true(strtod(strrchr(server_address(s, i), ':') + 1, NULL) > 0);
        assert_true(http_talk(server_address(s, i), "GET /m HTTP/1.1\r\n" CLOSE, &answer));
        assert_memory_equal(answer.data, "HTTP/1.1 503 ", 13);
    }
    assert_int_equal(server_requests(s, SERVER_METRICS, SERVER_503), ARRAY_LEN(addresses));
    assert_memory_equal(server_address(s, 0), "127.0.0.1:", 10);
    assert_memory_equal(server_address(s, 1), "127.0.0.1:", 10);
    assert_memory_equal(server_address(s, 2), "[::1]:", 6);
    assert_memory_equal(server_address(s, 3), "[::]:", 5);

    /* The address without a host also accepts IPv4. */
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    char four[LOG_VALUE_MAX];

    snprintf(four, sizeof(four), "127.0.0.1:%s", strrchr(server_address(s, 3), ':') + 1);
    assert_true(http_talk(four, "GET /m HTTP/1.1\r\n" CLOSE, &answer));
    assert_memory_equal(answer.data, "HTTP/1.1 503 ", 13);
    server_stop(s);
}

TEST_WITH(address_in_use_is_an_error, set_up, tear_down)
{
    const struct fixture *f = *state;
    const char *addresses[] = {"127.0.0.1:0", server_address(f->server, 0)};
    const struct server_options options = {
        .addresses = addresses, .address_count = 2, .telemetry_path = "/metrics"};
    struct error err;
    char wanted[256];

    assert_null(server_start(&options, f->page_store, &err));
    snprintf(wanted, sizeof(wanted), "cannot listen on '%s': Address already in use", addresses[1]);
    assert_string_equal(err.text, wanted);
}

TEST_WITH(unusable_address_is_an_error, set_up, tear_down)
{
    const struct fixture *f = *state;
    struct error err;

    assert_null(start_at(f->page_store, "19180", &err));
    assert_string_equal(err.text, "cannot listen on '19180': '19180' has no port, write it as "
                                  "':19180' or 'host:19180'");
    /* No host has an address of TEST-NET-1 (RFC 5737). */
    assert_null(start_at(f->page_store, "192.0.2.1:19180", &err));
    assert_string_equal(err.text,
                        "cannot listen on '192.0.2.1:19180': Cannot assign requested address");
}

TEST_WITH(invalid_or_used_telemetry_path_is_refused, set_up, tear_down)
{
    static const char *const paths[] = {"metrics", "",          "/a?b",     "/a b",
                                        "/a%20b",  "/\xc3\xbc", "/-/ready", "/"};
    const struct fixture *f = *state;
    const char *address = "127.0.0.1:0";

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        const struct server_options options = {
            .addresses = &address, .address_count = 1, .telemetry_path = paths[i]};
        struct error err = {.text = ""};

        assert_null(server_start(&options, f->page_store, &err));
        assert_non_null(strstr(err.text, "the telemetry path '"));
    }
}

enum { CONNECTIONS = 8, BYTES_MAX = 2000 };

/* Sends one more byte of an endless request. Returns true if the connection is closed. */
static bool send_byte(int fd)
{
    char answer[1024];

    return !http_send(fd, "x", 1) || recv(fd, answer, sizeof(answer), MSG_DONTWAIT) == 0;
}

/*
 * Slow clients use all connections and keep sending, so libmicrohttpd's inactivity timeout does not
 * end them.
 */
static void assert_slow_clients_are_evicted(const struct fixture *f, const char *first)
{
    const char *address = "127.0.0.1:0";
    const struct server_options options = {.addresses = &address,
                                           .address_count = 1,
                                           .telemetry_path = "/metrics",
                                           .connection_limit = CONNECTIONS};
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    struct error err;
    struct server *s = server_start(&options, f->page_store, &err);
    int slow[CONNECTIONS], over = 0;

    assert_non_null(s);
    for (int i = 0; i < CONNECTIONS; i++) {
        slow[i] = http_connect(server_address(s, 0));
        assert_true(slow[i] >= 0 && http_send(slow[i], first, strlen(first)));
    }
    for (int i = 0; i < BYTES_MAX && over == 0; i++) {
        for (int j = 0; j < CONNECTIONS; j++)
            over += send_byte(slow[j]);
        usleep(10000);
    }
    assert_true(over > 0);
    assert_true(http_talk(server_address(s, 0), "GET /metrics HTTP/1.1\r\n" CLOSE, &answer));
    assert_memory_equal(answer.data, "HTTP/1.1 503 ", 13);
    for (int i = 0; i < CONNECTIONS; i++)
        close(slow[i]);
    server_stop(s);
}

TEST_WITH(slow_clients_do_not_block_other_clients, set_up, tear_down)
{
    assert_slow_clients_are_evicted(*state, "GET /metrics HTTP/1.1\r\nX-");
}

TEST_WITH(slow_second_requests_do_not_block_other_clients, set_up, tear_down)
{
    assert_slow_clients_are_evicted(
        *state, "GET /exporter HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nX-");
}

TEST_WITH(messages_of_libmicrohttpd_are_logged, set_up, tear_down)
{
    const struct fixture *f = *state;
    const char *address = "127.0.0.1:0";
    char *text = NULL;
    size_t len = 0;
    struct log log = {.level = LOG_LEVEL_DEBUG,
                      .format = LOG_FORMAT_LOGFMT,
                      .stream = open_memstream(&text, &len)};
    const struct server_options options = {
        .addresses = &address, .address_count = 1, .telemetry_path = "/metrics", .log = &log};
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    struct error err;
    struct server *s = server_start(&options, f->page_store, &err);

    assert_non_null(s);
    assert_true(http_talk(server_address(s, 0), "GET / HTTP/1.1\r\nHost\r\n\r\n", &answer));
    server_stop(s);
    fclose(log.stream);
    assert_non_null(strstr(text, " level=DEBUG msg="));
    assert_non_null(strstr(text, " component=libmicrohttpd\n"));
    free(text);
}

/* Pages with the same name would share a counter, pages with the same path one place. */
TEST(names_and_paths_of_pages_are_unique)
{
#define PAGE_HANDLER(id, handler, path, ...) handler,
#define PAGE_PATH(id, handler, path, ...)    path,
    static const char *const handlers[] = {PAGES(PAGE_HANDLER) ENDPOINTS(PAGE_HANDLER)};
    static const char *const paths[] = {PAGES(PAGE_PATH) ENDPOINTS(PAGE_PATH)};

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        if (!*handlers[i] || (i == PAGE_METRICS) != !paths[i] || (paths[i] && *paths[i] != '/'))
            fail_msg("pages.h: '%s' needs a name, and a path that begins with '/'", handlers[i]);
        for (size_t k = 0; k < i; k++) {
            if (strcmp(handlers[i], handlers[k]) == 0 ||
                (paths[i] && paths[k] && strcmp(paths[i], paths[k]) == 0))
                fail_msg("pages.h: '%s' and '%s' share a name or a path", handlers[i], handlers[k]);
        }
    }
}
