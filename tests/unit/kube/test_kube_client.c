/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/http/kube_client.h"

#include "exporter/kube/http/connection_pool.h"

#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exporter/system/platform.h"
#include "tests/unit/suite.h"

enum { CONNECTIONS_MAX = 64, BODY_MAX = 1 << 16, WAIT_MAX_MS = 20 * 1000 };

/* ---- server with one thread per connection and one response per path ---- */

/* Requests that the server has received. */
struct received {
    char request[4096]; /* Last request other than a probe. */
    unsigned requests;  /* Number of requests, without probes. */
    unsigned probes;
};

struct test_server {
    int listener;
    uint16_t port;
    pthread_t acceptor;
    pthread_t threads[CONNECTIONS_MAX];
    int sockets[CONNECTIONS_MAX];
    size_t count;
    pthread_mutex_t lock; /* Guards `received`. */
    struct received received;
};

struct connection {
    struct test_server *server;
    int socket;
};

static const struct response {
    const char *path;
    const char *text;
    bool stays_open;
} responses[] = {
    {"/nothing", "", false},
    {"/version", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false},
    {"/plain",
     "HTTP/1.1 200 OK\r\nContent-Type: application/json;a=b\r\nContent-Length: 7\r\n\r\n{\"a\":1}",
     false},
    {"/busy", "HTTP/1.1 429 Too Many Requests\r\nretry-after:  7\r\nContent-Length: 5\r\n\r\nlater",
     false},
    {"/cut", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly so much", false},
    {"/unauthorized", "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", false},
    {"/moved", "HTTP/1.1 302 Found\r\nLocation: /plain\r\nContent-Length: 0\r\n\r\n", false},
    {"/stream", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n", true},
    {"/ends", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n0\r\n\r\n",
     false},
};

static void respond(int socket, const char *request)
{
    for (size_t i = 0; i < ARRAY_LEN(responses); i++) {
        const struct response *r = &responses[i];
        size_t len = strlen(r->path);

        if (strncmp(request + 4, r->path, len) == 0 && strchr(" ?", request[4 + len])) {
            send(socket, r->text, strlen(r->text), MSG_NOSIGNAL);
            if (strcmp(r->path, "/cut") == 0 || !*r->text)
                shutdown(socket, SHUT_RDWR);
        }
    }
}

static void *serve_connection(void *context)
{
    struct connection v = *(struct connection *)context;
    char request[4096];
    size_t len = 0;
    ssize_t got;

    free(context);
    while ((got = recv(v.socket, request + len, sizeof(request) - 1 - len, 0)) > 0) {
        len += (size_t)got;
        request[len] = '\0';
        if (!strstr(request, "\r\n\r\n"))
            continue;
        pthread_mutex_lock(&v.server->lock);
        if (strncmp(request, "GET /version ", 13) == 0) {
            v.server->received.probes++;
        } else {
            v.server->received.requests++;
            memcpy(v.server->received.request, request, len + 1);
        }
        pthread_mutex_unlock(&v.server->lock);
        respond(v.socket, request);
        len = 0;
    }
    return NULL;
}

static void *accept_connections(void *context)
{
    struct test_server *s = context;
    int socket;

    while (s->count < CONNECTIONS_MAX && (socket = accept(s->listener, NULL, NULL)) >= 0) {
        struct connection *v = xcalloc(1, sizeof(*v));

        *v = (struct connection){s, socket};
        s->sockets[s->count] = socket;
        if (pthread_create(&s->threads[s->count], NULL, serve_connection, v) != 0)
            abort();
        s->count++;
    }
    return NULL;
}

static void test_server_start(struct test_server *s)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);

    *s = (struct test_server){.lock = PTHREAD_MUTEX_INITIALIZER};
    s->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(s->listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(s->listener, 16), 0);
    assert_int_equal(getsockname(s->listener, (struct sockaddr *)&address, &len), 0);
    s->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&s->acceptor, NULL, accept_connections, s), 0);
}

static void test_server_stop(struct test_server *s)
{
    shutdown(s->listener, SHUT_RDWR);
    pthread_join(s->acceptor, NULL);
    for (size_t i = 0; i < s->count; i++) {
        shutdown(s->sockets[i], SHUT_RDWR);
        pthread_join(s->threads[i], NULL);
        close(s->sockets[i]);
    }
    close(s->listener);
}

static struct received received_by(struct test_server *s)
{
    struct received received;

    pthread_mutex_lock(&s->lock);
    received = s->received;
    pthread_mutex_unlock(&s->lock);
    return received;
}

/* ---- client ---- */

struct lab {
    struct test_server server;
    char url[64];
    struct kube_client *kube_client;
    uint64_t identity_version;
    unsigned refusals;
    bool no_identity;
    bool gzip;
    unsigned sockets;
};

static bool add_token(void *context, CURL *easy, struct curl_slist **headers, struct error *err)
{
    struct lab *lab = context;

    (void)easy;
    if (lab->no_identity) {
        *err = (struct error){"there is no token yet"};
        return false;
    }
    *headers = curl_slist_append(*headers, "Authorization: Bearer secret");
    return true;
}

static void count_refusal(void *context)
{
    ((struct lab *)context)->refusals++;
}

static uint64_t read_identity_version(void *context)
{
    return ((struct lab *)context)->identity_version;
}

static void start_client(struct lab *lab, bool insecure_http)
{
    snprintf(lab->url, sizeof(lab->url), "http://127.0.0.1:%u", lab->server.port);
    lab->kube_client = kube_client_new(
        &(struct kube_client_settings){
            .server = lab->url,
            .user_agent = "test/1",
            .identity = {add_token, count_refusal, read_identity_version, lab},
            .insecure_http = insecure_http,
            .gzip = lab->gzip,
            .sockets = lab->sockets,
        },
        platform_steady_ms());
}

static int lab_open(void **state)
{
    struct lab *lab = xcalloc(1, sizeof(*lab));

    test_server_start(&lab->server);
    start_client(lab, true);
    *state = lab;
    return 0;
}

static int lab_close(void **state)
{
    struct lab *lab = *state;

    kube_client_free(lab->kube_client);
    test_server_stop(&lab->server);
    free(lab);
    return 0;
}

/* A request and its result. */
struct test_request {
    struct transfer *transfer;
    char body[BODY_MAX];
    size_t len;
    size_t stop_at; /* Bytes of the body after which the handler ends the request; 0: never. */
    bool done;
    bool complete;
    unsigned http_status;
    int64_t retry_after_ms;
    char content_type[64];
    char error[256];
};

static bool store_data(void *context, unsigned http_status, const char *bytes, size_t len)
{
    struct test_request *c = context;

    (void)http_status;
    memcpy(c->body + c->len, bytes, len);
    c->len += len;
    return c->stop_at == 0 || c->len < c->stop_at;
}

static void store_result(void *context, const struct transport_result *result)
{
    struct test_request *c = context;

    assert_false(c->done);
    c->done = true;
    c->complete = result->complete;
    c->http_status = result->http_status;
    c->retry_after_ms = result->retry_after_ms;
    snprintf(c->content_type, sizeof(c->content_type), "%s",
             result->content_type ? result->content_type : "");
    snprintf(c->error, sizeof(c->error), "%s", result->error);
}

static void send_request(struct lab *lab, struct test_request *c, const char *path,
                         enum request_class class)
{
    struct transport transport = kube_client_transport(lab->kube_client);

    c->transfer = transport.start(
        transport.context, &(struct transport_request){
                               .path = path,
                               .accept = "application/json",
                               .class = class,
                               .handler = {.data = store_data, .done = store_result, .context = c},
                           });
    assert_non_null(c->transfer);
}

/* Runs the client until the request ends or, if `bytes` is not 0, has that many bytes of body. */
static void run_client(struct lab *lab, const struct test_request *c, size_t bytes)
{
    int64_t end_ms = platform_steady_ms() + WAIT_MAX_MS;

    while (!c->done && (bytes == 0 || c->len < bytes)) {
        assert_true(platform_steady_ms() < end_ms);
        kube_client_perform(lab->kube_client, platform_steady_ms());
        kube_client_poll(lab->kube_client, NULL, NULL, 0, 20);
    }
}

TEST_WITH(request_has_its_query_accept_header_and_token, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct test_request c = {0};

    send_request(lab, &c, "/plain?limit=5", REQUEST_SHORT);
    run_client(lab, &c, 0);
    assert_true(c.complete);
    assert_int_equal(c.http_status, 200);
    assert_string_equal(c.body, "{\"a\":1}");
    assert_string_equal(c.content_type, "application/json;a=b");
    assert_string_equal(c.error, "");
    assert_non_null(strstr(received_by(&lab->server).request, "GET /plain?limit=5 HTTP/1.1\r\n"));
    assert_non_null(strstr(received_by(&lab->server).request, "User-Agent: test/1\r\n"));
    assert_non_null(strstr(received_by(&lab->server).request, "Accept: application/json\r\n"));
    assert_non_null(strstr(received_by(&lab->server).request, "Authorization: Bearer secret\r\n"));
    assert_int_equal(received_by(&lab->server).probes, 0);
}

/* libcurl would read only the first event of a stream in gzip; see transfer.c. */
TEST_WITH(only_lists_are_requested_in_gzip, lab_open, lab_close)
{
    static const struct {
        const char *path;
        enum request_class class;
        bool gzip;
        bool expects_gzip;
    } rows[] = {
        {"/plain?limit=5", REQUEST_SHORT, true, true},
        {"/plain?limit=5", REQUEST_SHORT, false, false},
        {"/ends?watch=true", REQUEST_STREAM, true, false},
        {"/ends?watch=true&sendInitialEvents=true", REQUEST_STREAM, true, false},
        {"/ends?watch=true", REQUEST_STREAM, false, false},
    };
    struct lab *lab = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct test_request c = {0};

        kube_client_free(lab->kube_client);
        lab->gzip = rows[i].gzip;
        start_client(lab, true);
        send_request(lab, &c, rows[i].path, rows[i].class);
        run_client(lab, &c, 0);
        assert_true(c.complete);
        assert_non_null(strstr(received_by(&lab->server).request, rows[i].path));
        assert_int_equal(strstr(received_by(&lab->server).request, "gzip") != NULL,
                         rows[i].expects_gzip);
        assert_int_equal(strcasestr(received_by(&lab->server).request, "\r\nAccept-Encoding:") !=
                             NULL,
                         rows[i].expects_gzip);
    }
}

TEST_WITH(retry_after_of_a_429_is_returned, lab_open, lab_close)
{
    struct test_request c = {0};

    send_request(*state, &c, "/busy", REQUEST_SHORT);
    run_client(*state, &c, 0);
    assert_int_equal(c.http_status, 429);
    assert_int_equal(c.retry_after_ms, 7000);
    assert_string_equal(c.body, "later");
}

TEST_WITH(redirect_is_not_followed, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct test_request c = {0};

    send_request(lab, &c, "/moved", REQUEST_SHORT);
    run_client(lab, &c, 0);
    assert_int_equal(c.http_status, 302);
    /* The response is complete: curl rejects a redirect to http only when following it. */
    assert_true(c.complete);
    assert_string_equal(c.error, "");
    assert_int_equal(received_by(&lab->server).requests, 1);
}

TEST_WITH(truncated_body_is_not_complete, lab_open, lab_close)
{
    struct test_request c = {0};

    send_request(*state, &c, "/cut", REQUEST_SHORT);
    run_client(*state, &c, 0);
    assert_false(c.complete);
    assert_string_equal(c.body, "only so much");
    assert_string_not_equal(c.error, "");
}

TEST(request_to_a_closed_port_fails)
{
    struct lab lab = {.server.port = 1};
    enum request_class classes[] = {REQUEST_SHORT, REQUEST_STREAM};

    start_client(&lab, true);
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        struct test_request c = {0};

        send_request(&lab, &c, "/plain", classes[i]);
        run_client(&lab, &c, 0);
        assert_false(c.complete);
        assert_int_equal(c.http_status, 0);
        assert_non_null(strstr(c.error, "127.0.0.1"));
    }
    kube_client_free(lab.kube_client);
}

TEST_WITH(plain_http_is_refused_unless_allowed, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct test_request c = {0};

    kube_client_free(lab->kube_client);
    start_client(lab, false);
    send_request(lab, &c, "/plain", REQUEST_SHORT);
    run_client(lab, &c, 0);
    assert_int_equal(c.http_status, 0);
    assert_int_equal(received_by(&lab->server).requests, 0);
}

TEST_WITH(request_without_credentials_is_not_sent, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct test_request c = {0};

    lab->no_identity = true;
    send_request(lab, &c, "/plain", REQUEST_SHORT);
    assert_false(c.done);
    run_client(lab, &c, 0);
    assert_int_equal(c.http_status, 0);
    assert_string_equal(c.error, "there is no token yet");
    assert_int_equal(received_by(&lab->server).requests, 0);
}

TEST_WITH(identity_is_notified_of_a_401, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct test_request c = {0};

    send_request(lab, &c, "/unauthorized", REQUEST_SHORT);
    run_client(lab, &c, 0);
    assert_int_equal(c.http_status, 401);
    assert_int_equal(lab->refusals, 1);
}

TEST_WITH(handler_can_end_a_stream, lab_open, lab_close)
{
    struct test_request c = {.stop_at = 1};

    send_request(*state, &c, "/stream", REQUEST_STREAM);
    run_client(*state, &c, 0);
    assert_false(c.complete);
    assert_string_equal(c.body, "one\n");
}

TEST_WITH(streams_begin_after_a_probe_and_end_separately, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct test_request open = {0}, ends = {0};

    send_request(lab, &open, "/stream", REQUEST_STREAM);
    run_client(lab, &open, 4);
    assert_false(open.done);
    assert_int_equal(received_by(&lab->server).probes, 1);
    send_request(lab, &ends, "/ends", REQUEST_STREAM);
    run_client(lab, &ends, 0);
    assert_true(ends.complete);
    assert_int_equal(kube_client_count_answered(lab->kube_client), 1);
    assert_int_equal(kube_client_count_unanswered(lab->kube_client), 0);
    assert_in_range(kube_client_count_connections(lab->kube_client), 1, 2);

    struct transport transport = kube_client_transport(lab->kube_client);
    transport.cancel(transport.context, open.transfer);
    kube_client_perform(lab->kube_client, platform_steady_ms());
    assert_false(open.done);
    assert_int_equal(kube_client_count_answered(lab->kube_client), 0);
}

/* Over HTTP/1.1 each stream takes a connection; the client detects the version at run time. */
TEST_WITH(each_http1_stream_gets_a_connection, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct test_request *calls = xcalloc(5, sizeof(*calls));

    for (size_t i = 0; i < 5; i++)
        send_request(lab, &calls[i], "/stream", REQUEST_STREAM);
    for (size_t i = 0; i < 5; i++)
        run_client(lab, &calls[i], 4);
    assert_int_equal(kube_client_count_answered(lab->kube_client), 5);
    assert_in_range(kube_client_count_connections(lab->kube_client), 5, 7);
    kube_client_free(lab->kube_client);
    start_client(lab, true);
    free(calls);
}

/* Over HTTP/1.1 an unanswered request occupies its connection. */
TEST_WITH(unanswered_requests_do_not_block_others, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct test_request *hanging = xcalloc(20, sizeof(*hanging));
    struct test_request c = {0};

    for (size_t i = 0; i < 20; i++)
        send_request(lab, &hanging[i], "/never", REQUEST_SHORT);
    send_request(lab, &c, "/plain", REQUEST_SHORT);
    run_client(lab, &c, 0);
    assert_true(c.complete);
    assert_int_equal(kube_client_count_unanswered(lab->kube_client), 20);
    kube_client_free(lab->kube_client);
    start_client(lab, true);
    free(hanging);
}

/* The limit applies once the client knows that each stream takes a connection (HTTP/1.1). */
TEST_WITH(sockets_limit_the_http1_streams, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct test_request *streams = xcalloc(40, sizeof(*streams));
    struct test_request c = {0};
    struct transport transport;

    kube_client_free(lab->kube_client);
    lab->sockets = 64;
    start_client(lab, true);
    transport = kube_client_transport(lab->kube_client);
    assert_int_equal(transport.room(transport.context).streams, UINT_MAX);
    send_request(lab, &c, "/plain", REQUEST_SHORT);
    run_client(lab, &c, 0);

    struct transport_limits room = transport.room(transport.context);

    assert_in_range(room.streams, 30, 40);
    assert_in_range(room.streams + room.lists + room.single_reads, 40, 48);
    assert_in_range(room.single_reads, 1, 10);
    for (size_t i = 0; i < room.streams; i++)
        send_request(lab, &streams[i], "/stream", REQUEST_STREAM);
    for (size_t i = 0; i < room.streams; i++)
        run_client(lab, &streams[i], 4);
    assert_int_equal(kube_client_count_answered(lab->kube_client), room.streams);
    assert_in_range(kube_client_count_connections(lab->kube_client), room.streams, 48);
    assert_in_range(received_by(&lab->server).probes, 1, 1);
    kube_client_free(lab->kube_client);
    start_client(lab, true);
    free(streams);
}

TEST_WITH(reset_ends_all_streams_and_allows_new_ones, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct test_request before = {0}, after = {0};

    send_request(lab, &before, "/stream", REQUEST_STREAM);
    run_client(lab, &before, 4);
    kube_client_reset(lab->kube_client);
    run_client(lab, &before, 0);
    assert_false(before.complete);
    send_request(lab, &after, "/stream", REQUEST_STREAM);
    run_client(lab, &after, 4);
    assert_int_equal(received_by(&lab->server).probes, 2);

    /* A changed identity, such as a new certificate, also closes the connections. */
    lab->identity_version++;
    run_client(lab, &after, 0);
    assert_false(after.complete);
}

static bool is_socket_to(int fd, uint16_t port)
{
    struct sockaddr_in peer = {0};
    socklen_t len = sizeof(peer);

    return getpeername(fd, (struct sockaddr *)&peer, &len) == 0 && ntohs(peer.sin_port) == port;
}

/* libcurl 7.88 sends no HTTP/2 PING, so the kernel must notice that a server is dead. */
TEST_WITH(sockets_detect_a_dead_server, lab_open, lab_close)
{
    static const struct {
        int level, option, value;
    } rows[] = {
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, 30},
        {IPPROTO_TCP, TCP_KEEPINTVL, 5},
        {IPPROTO_TCP, TCP_KEEPCNT, 3},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, 45 * 1000},
    };
    struct lab *lab = *state;
    struct test_request c = {0};
    unsigned sockets = 0;

    send_request(lab, &c, "/stream", REQUEST_STREAM);
    run_client(lab, &c, 4);
    for (int fd = 0; fd < 1024; fd++) {
        if (!is_socket_to(fd, lab->server.port))
            continue;
        sockets++;
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            int value = -1;
            socklen_t len = sizeof(value);

            assert_int_equal(getsockopt(fd, rows[i].level, rows[i].option, &value, &len), 0);
            assert_int_equal(value, rows[i].value);
        }
    }
    assert_in_range(sockets, 1, 2);
    kube_client_free(lab->kube_client);
    start_client(lab, true);
}

TEST_WITH(idle_connection_is_closed, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct test_request c = {0};

    send_request(lab, &c, "/plain", REQUEST_SHORT);
    run_client(lab, &c, 0);
    assert_int_equal(kube_client_count_connections(lab->kube_client), 1);
    kube_client_perform(lab->kube_client, platform_steady_ms() + 3600 * 1000);
    assert_int_equal(kube_client_count_connections(lab->kube_client), 0);
    assert_int_equal(kube_client_due(lab->kube_client), INT64_MAX);
}

TEST_WITH(response_ends_a_long_poll, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct test_request c = {0};
    int64_t began_ms = platform_steady_ms();

    send_request(lab, &c, "/plain", REQUEST_SHORT);
    while (!c.complete) {
        assert_in_range(platform_steady_ms() - began_ms, 0, 2 * WAIT_MAX_MS - 1);
        kube_client_perform(lab->kube_client, platform_steady_ms());
        if (!c.complete)
            kube_client_poll(lab->kube_client, NULL, NULL, 0, 2 * WAIT_MAX_MS);
    }
    assert_in_range(platform_steady_ms() - began_ms, 0, 2 * WAIT_MAX_MS - 1);
}

/* While a new configuration is loaded, the exporter waits for two servers at once. */
TEST_WITH(response_to_a_second_client_ends_a_long_poll, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct kube_client *served = lab->kube_client;
    struct test_request c = {0};
    int64_t began_ms = platform_steady_ms();

    send_request(lab, &c, "/plain", REQUEST_SHORT);
    start_client(lab, true);
    while (!c.complete) {
        assert_in_range(platform_steady_ms() - began_ms, 0, 2 * WAIT_MAX_MS - 1);
        kube_client_perform(served, platform_steady_ms());
        if (!c.complete)
            kube_client_poll(lab->kube_client, served, NULL, 0, 2 * WAIT_MAX_MS);
    }
    assert_in_range(platform_steady_ms() - began_ms, 0, 2 * WAIT_MAX_MS - 1);
    kube_client_free(served);
}

TEST_WITH(other_descriptors_are_polled_too, lab_open, lab_close)
{
    struct lab *lab = *state;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    struct pollfd others[] = {{.fd = lab->server.listener, .events = POLLPRI},
                              {.fd = ends[0], .events = POLLIN}};
    assert_true(kube_client_poll(lab->kube_client, NULL, others, 2, 0));
    assert_int_equal(others[1].revents, 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_true(kube_client_poll(lab->kube_client, NULL, others, 2, WAIT_MAX_MS));
    assert_int_equal(others[0].revents, 0);
    assert_true(others[1].revents & POLLIN);
    close(ends[0]);
    close(ends[1]);
}

static int start_curl(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? 0 : -1;
}

static int end_curl(void **state)
{
    (void)state;
    curl_global_cleanup();
    return 0;
}

SUITE_WITH(start_curl, end_curl);

TEST(limits_of_pools_follow_the_number_of_sockets)
{
    static const struct {
        unsigned sockets;
        struct connection_limits limits;
    } rows[] = {
        {0, {192, 36, 12}}, {64, {36, 9, 3}}, {33, {13, 3, 1}}, {32, {12, 3, 1}}, {20, {12, 3, 1}},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct connection_limits limits =
            connection_limits_compute(&(struct kube_client_settings){.sockets = rows[i].sockets});

        assert_int_equal(limits.streams, rows[i].limits.streams);
        assert_int_equal(limits.lists, rows[i].limits.lists);
        assert_int_equal(limits.single_reads, rows[i].limits.single_reads);
    }
}

static struct kube_client_settings closed_port(struct lab *lab)
{
    return (struct kube_client_settings){
        .server = "http://127.0.0.1:1",
        .user_agent = "test/1",
        .identity = {add_token, count_refusal, read_identity_version, lab},
        .insecure_http = true,
    };
}

static struct transfer *new_stream(const struct kube_client_settings *settings)
{
    return transfer_new(settings, &(struct transport_request){
                                      .path = "/stream", .accept = "*/*", .class = REQUEST_STREAM});
}

/* Frees the list. Returns its length. */
static unsigned free_transfers(struct transfer *list)
{
    unsigned count = 0;

    while (list) {
        struct transfer *next = list->next;

        transfer_free(list);
        list = next;
        count++;
    }
    return count;
}

/* libcurl sends the cancellation only with another request: the probe, within a second. */
TEST(cancelled_stream_brings_the_next_probe_forward)
{
    static const int64_t due_ms[][2] = {{30000, 1000}, {1001, 1000}, {400, 400}};
    struct lab lab = {.no_identity = false};
    const struct kube_client_settings settings = closed_port(&lab);

    for (size_t i = 0; i < ARRAY_LEN(due_ms); i++) {
        struct connection_pool *p = connection_pool_new(&settings, REQUEST_STREAM, 10, 5000);
        struct transfer *t = new_stream(&settings);

        connection_pool_add(p, t);
        p->probe_due_ms = 5000 + due_ms[i][0];
        connection_pool_cancel(p, t);
        assert_int_equal(p->probe_due_ms, 5000 + due_ms[i][1]);
        connection_pool_free(p);
    }
}

/* libcurl sends a request without response again on a new connection, and reports no error. */
TEST(connection_that_libcurl_replaces_restores_the_capacity)
{
    static const struct {
        enum http_version version;
        unsigned capacity;
    } rows[] = {{HTTP_2, 10}, {HTTP_1, 3}};
    struct lab lab = {.no_identity = false};
    const struct kube_client_settings settings = closed_port(&lab);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct connection_pool *p = connection_pool_new(&settings, REQUEST_STREAM, 10, 5000);
        struct transfer *finished = NULL;
        struct transfer *t = new_stream(&settings);

        /* As after a connection with room for three streams, whose end libcurl has not reported. */
        p->ready = true;
        p->version = rows[i].version;
        p->capacity = p->most_answered = 3;
        p->connections = 1;
        connection_pool_add(p, t);
        connection_pool_perform(p, 5000, &finished);
        assert_int_equal(p->capacity, rows[i].capacity);
        connection_pool_fail(p, "", &finished);
        free_transfers(finished);
        connection_pool_free(p);
    }
}

/* Over HTTP/2, a watch above the server's limit waits for a stream of the connection. */
TEST(http2_watches_that_wait_for_a_second_leave_the_pool)
{
    static const struct {
        enum http_version version;
        int64_t wait_ms;
        unsigned leave;
    } rows[] = {{HTTP_2, 999, 0}, {HTTP_2, 1000, 2}, {HTTP_1, 1000, 0}};
    struct lab lab = {.no_identity = false};
    const struct kube_client_settings settings = closed_port(&lab);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct connection_pool *p = connection_pool_new(&settings, REQUEST_STREAM, 10, 5000);
        struct transfer *rest = NULL;

        p->ready = true;
        p->version = rows[i].version;
        p->connections = 1;
        connection_pool_add(p, new_stream(&settings));
        connection_pool_add(p, new_stream(&settings));
        p->now_ms += rows[i].wait_ms;
        assert_int_equal(free_transfers(connection_pool_take_surplus(p)), rows[i].leave);
        assert_int_equal(p->count, 2 - rows[i].leave);
        assert_int_equal(p->capacity, rows[i].leave ? 0 : 10);
        connection_pool_fail(p, "", &rest);
        free_transfers(rest);
        connection_pool_free(p);
    }
}

/* Bytes of other streams show that the connection works, so the probe may be late. */
TEST_WITH(failed_probe_ends_a_pool_after_15_s_without_bytes, lab_open, lab_close)
{
    static const struct {
        int64_t silence_ms;
        bool fails;
    } rows[] = {{14999, false}, {15000, true}};
    struct lab *lab = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kube_client_settings settings = closed_port(lab);
        struct test_request c = {0};
        struct transfer *finished = NULL;
        char without_response[sizeof(lab->url) + 16];

        snprintf(without_response, sizeof(without_response), "%s/nothing?", lab->url);
        settings.server = lab->url;
        struct connection_pool *p = connection_pool_new(&settings, REQUEST_STREAM, 10, 5000);
        struct transfer *t = new_stream(&settings);
        t->handler = (struct transport_handler){.data = store_data, .context = &c};
        connection_pool_add(p, t);
        for (; c.len < 4; curl_multi_poll(p->multi, NULL, 0, 20, NULL))
            connection_pool_perform(p, 6000, &finished);

        /* As over HTTP/2, with a server that does not respond to the probe. */
        p->version = HTTP_2;
        settings.server = without_response;
        p->probe_due_ms = 0;
        do {
            connection_pool_perform(p, 6000 + rows[i].silence_ms, &finished);
            curl_multi_poll(p->multi, NULL, 0, 20, NULL);
        } while (p->probe);
        assert_int_equal(p->failed, rows[i].fails);
        connection_pool_fail(p, "", &finished);
        free_transfers(finished);
        connection_pool_free(p);
    }
}
