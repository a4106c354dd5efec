/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/http/kube_client.h"

#include "exporter/kube/http/connection_pool.h"

#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exporter/system/platform.h"
#include "tests/unit/suite.h"

enum { CONNECTIONS_MAX = 64, BODY_MAX = 1 << 16, PATIENCE_MS = 20 * 1000 };

/* ---- a server: one thread a connection, one response a path ---- */

/* What the server has seen so far. */
struct sight {
    char request[4096]; /* The last one that was no probe. */
    unsigned requests;  /* Without the probes. */
    unsigned probes;
};

struct site {
    int listener;
    uint16_t port;
    pthread_t acceptor;
    pthread_t threads[CONNECTIONS_MAX];
    int sockets[CONNECTIONS_MAX];
    size_t count;
    pthread_mutex_t lock; /* Guards `seen`. */
    struct sight seen;
};

struct exchange {
    struct site *site;
    int socket;
};

static const struct response {
    const char *path;
    const char *text;
    bool stays_open;
} responses[] = {
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
            if (strcmp(r->path, "/cut") == 0)
                shutdown(socket, SHUT_RDWR);
        }
    }
}

static void *exchange(void *context)
{
    struct exchange v = *(struct exchange *)context;
    char request[4096];
    size_t len = 0;
    ssize_t got;

    free(context);
    while ((got = recv(v.socket, request + len, sizeof(request) - 1 - len, 0)) > 0) {
        len += (size_t)got;
        request[len] = '\0';
        if (!strstr(request, "\r\n\r\n"))
            continue;
        pthread_mutex_lock(&v.site->lock);
        if (strncmp(request, "GET /version ", 13) == 0) {
            v.site->seen.probes++;
        } else {
            v.site->seen.requests++;
            memcpy(v.site->seen.request, request, len + 1);
        }
        pthread_mutex_unlock(&v.site->lock);
        respond(v.socket, request);
        len = 0;
    }
    return NULL;
}

static void *accept_all(void *context)
{
    struct site *s = context;
    int socket;

    while (s->count < CONNECTIONS_MAX && (socket = accept(s->listener, NULL, NULL)) >= 0) {
        struct exchange *v = xcalloc(1, sizeof(*v));

        *v = (struct exchange){s, socket};
        s->sockets[s->count] = socket;
        if (pthread_create(&s->threads[s->count], NULL, exchange, v) != 0)
            abort();
        s->count++;
    }
    return NULL;
}

static void site_open(struct site *s)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);

    *s = (struct site){.lock = PTHREAD_MUTEX_INITIALIZER};
    s->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(s->listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(s->listener, 16), 0);
    assert_int_equal(getsockname(s->listener, (struct sockaddr *)&address, &len), 0);
    s->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&s->acceptor, NULL, accept_all, s), 0);
}

static void site_close(struct site *s)
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

static struct sight look(struct site *s)
{
    struct sight seen;

    pthread_mutex_lock(&s->lock);
    seen = s->seen;
    pthread_mutex_unlock(&s->lock);
    return seen;
}

/* ---- a client of it ---- */

struct lab {
    struct site site;
    char url[64];
    struct kube_client *kube_client;
    uint64_t identity_version;
    unsigned refusals;
    bool no_identity;
    bool gzip;
    unsigned sockets;
};

static bool apply(void *context, CURL *easy, struct curl_slist **headers, struct error *err)
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

static void refused(void *context)
{
    ((struct lab *)context)->refusals++;
}

static uint64_t version(void *context)
{
    return ((struct lab *)context)->identity_version;
}

static void start_client(struct lab *lab, bool insecure_http)
{
    snprintf(lab->url, sizeof(lab->url), "http://127.0.0.1:%u", lab->site.port);
    lab->kube_client = kube_client_new(
        &(struct kube_client_settings){
            .server = lab->url,
            .user_agent = "test/1",
            .identity = {apply, refused, version, lab},
            .insecure_http = insecure_http,
            .gzip = lab->gzip,
            .sockets = lab->sockets,
        },
        platform_steady_ms());
}

static int lab_open(void **state)
{
    struct lab *lab = xcalloc(1, sizeof(*lab));

    site_open(&lab->site);
    start_client(lab, true);
    *state = lab;
    return 0;
}

static int lab_close(void **state)
{
    struct lab *lab = *state;

    kube_client_free(lab->kube_client);
    site_close(&lab->site);
    free(lab);
    return 0;
}

/* One request and what came of it. */
struct call {
    struct transfer *transfer;
    char body[BODY_MAX];
    size_t len;
    size_t give_up_at; /* Bytes; 0 for never. */
    bool done;
    bool complete;
    unsigned http_status;
    int64_t retry_after_ms;
    char content_type[64];
    char error[256];
};

static bool take_data(void *context, unsigned http_status, const char *bytes, size_t len)
{
    struct call *c = context;

    (void)http_status;
    memcpy(c->body + c->len, bytes, len);
    c->len += len;
    return c->give_up_at == 0 || c->len < c->give_up_at;
}

static void take_done(void *context, const struct transport_result *result)
{
    struct call *c = context;

    assert_false(c->done);
    c->done = true;
    c->complete = result->complete;
    c->http_status = result->http_status;
    c->retry_after_ms = result->retry_after_ms;
    snprintf(c->content_type, sizeof(c->content_type), "%s",
             result->content_type ? result->content_type : "");
    snprintf(c->error, sizeof(c->error), "%s", result->error);
}

static void call(struct lab *lab, struct call *c, const char *path, enum request_class class)
{
    struct transport transport = kube_client_transport(lab->kube_client);

    c->transfer = transport.start(
        transport.context, &(struct transport_request){
                               .path = path,
                               .accept = "application/json",
                               .class = class,
                               .handler = {.data = take_data, .done = take_done, .context = c},
                           });
    assert_non_null(c->transfer);
}

/* Let it work until the call is over, or its body has so many bytes. */
static void await(struct lab *lab, const struct call *c, size_t bytes)
{
    int64_t end_ms = platform_steady_ms() + PATIENCE_MS;

    while (!c->done && (bytes == 0 || c->len < bytes)) {
        assert_true(platform_steady_ms() < end_ms);
        kube_client_perform(lab->kube_client, platform_steady_ms());
        kube_client_poll(lab->kube_client, NULL, NULL, 0, 20);
    }
}

TEST_WITH(a_request_says_who_asks_for_what, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct call c = {0};

    call(lab, &c, "/plain?limit=5", REQUEST_SHORT);
    await(lab, &c, 0);
    assert_true(c.complete);
    assert_int_equal(c.http_status, 200);
    assert_string_equal(c.body, "{\"a\":1}");
    assert_string_equal(c.content_type, "application/json;a=b");
    assert_string_equal(c.error, "");
    assert_non_null(strstr(look(&lab->site).request, "GET /plain?limit=5 HTTP/1.1\r\n"));
    assert_non_null(strstr(look(&lab->site).request, "User-Agent: test/1\r\n"));
    assert_non_null(strstr(look(&lab->site).request, "Accept: application/json\r\n"));
    assert_non_null(strstr(look(&lab->site).request, "Authorization: Bearer secret\r\n"));
    assert_int_equal(look(&lab->site).probes, 0);
}

/* See transfer.c: of a stream in gzip no more than the first event would be read. */
TEST_WITH(a_list_may_come_in_gzip_and_a_stream_never, lab_open, lab_close)
{
    static const struct {
        const char *path;
        enum request_class class;
        bool gzip;
        bool asks;
    } rows[] = {
        {"/plain?limit=5", REQUEST_SHORT, true, true},
        {"/plain?limit=5", REQUEST_SHORT, false, false},
        {"/ends?watch=true", REQUEST_STREAM, true, false},
        {"/ends?watch=true&sendInitialEvents=true", REQUEST_STREAM, true, false},
        {"/ends?watch=true", REQUEST_STREAM, false, false},
    };
    struct lab *lab = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct call c = {0};

        kube_client_free(lab->kube_client);
        lab->gzip = rows[i].gzip;
        start_client(lab, true);
        call(lab, &c, rows[i].path, rows[i].class);
        await(lab, &c, 0);
        assert_true(c.complete);
        assert_non_null(strstr(look(&lab->site).request, rows[i].path));
        assert_int_equal(strstr(look(&lab->site).request, "gzip") != NULL, rows[i].asks);
        assert_int_equal(strcasestr(look(&lab->site).request, "\r\nAccept-Encoding:") != NULL,
                         rows[i].asks);
    }
}

TEST_WITH(a_refusal_is_told_with_its_retry_after, lab_open, lab_close)
{
    struct call c = {0};

    call(*state, &c, "/busy", REQUEST_SHORT);
    await(*state, &c, 0);
    assert_int_equal(c.http_status, 429);
    assert_int_equal(c.retry_after_ms, 7000);
    assert_string_equal(c.body, "later");
}

TEST_WITH(a_redirect_is_not_followed, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct call c = {0};

    call(lab, &c, "/moved", REQUEST_SHORT);
    await(lab, &c, 0);
    assert_int_equal(c.http_status, 302);
    /* Nor tried: that it leads to a scheme which is not allowed is nothing that curl looked at. */
    assert_true(c.complete);
    assert_string_equal(c.error, "");
    assert_int_equal(look(&lab->site).requests, 1);
}

TEST_WITH(a_body_cut_short_is_not_complete, lab_open, lab_close)
{
    struct call c = {0};

    call(*state, &c, "/cut", REQUEST_SHORT);
    await(*state, &c, 0);
    assert_false(c.complete);
    assert_string_equal(c.body, "only so much");
    assert_string_not_equal(c.error, "");
}

TEST(nobody_there)
{
    struct lab lab = {.site.port = 1};
    enum request_class lanes[] = {REQUEST_SHORT, REQUEST_STREAM};

    start_client(&lab, true);
    for (size_t i = 0; i < ARRAY_LEN(lanes); i++) {
        struct call c = {0};

        call(&lab, &c, "/plain", lanes[i]);
        await(&lab, &c, 0);
        assert_false(c.complete);
        assert_int_equal(c.http_status, 0);
        assert_non_null(strstr(c.error, "127.0.0.1"));
    }
    kube_client_free(lab.kube_client);
}

TEST_WITH(plain_http_is_refused_unless_allowed, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct call c = {0};

    kube_client_free(lab->kube_client);
    start_client(lab, false);
    call(lab, &c, "/plain", REQUEST_SHORT);
    await(lab, &c, 0);
    assert_int_equal(c.http_status, 0);
    assert_int_equal(look(&lab->site).requests, 0);
}

TEST_WITH(without_an_identity_nothing_is_sent, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct call c = {0};

    lab->no_identity = true;
    call(lab, &c, "/plain", REQUEST_SHORT);
    assert_false(c.done);
    await(lab, &c, 0);
    assert_int_equal(c.http_status, 0);
    assert_string_equal(c.error, "there is no token yet");
    assert_int_equal(look(&lab->site).requests, 0);
}

TEST_WITH(a_refused_token_is_told, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct call c = {0};

    call(lab, &c, "/unauthorized", REQUEST_SHORT);
    await(lab, &c, 0);
    assert_int_equal(c.http_status, 401);
    assert_int_equal(lab->refusals, 1);
}

TEST_WITH(whoever_takes_the_body_may_give_up, lab_open, lab_close)
{
    struct call c = {.give_up_at = 1};

    call(*state, &c, "/stream", REQUEST_STREAM);
    await(*state, &c, 0);
    assert_false(c.complete);
    assert_string_equal(c.body, "one\n");
}

TEST_WITH(streams_begin_after_a_probe_and_end_by_themselves, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct call open = {0}, ends = {0};

    call(lab, &open, "/stream", REQUEST_STREAM);
    await(lab, &open, 4);
    assert_false(open.done);
    assert_int_equal(look(&lab->site).probes, 1);
    call(lab, &ends, "/ends", REQUEST_STREAM);
    await(lab, &ends, 0);
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

/* Over HTTP/1.1 each stream takes a connection: the pool has to find that out. */
TEST_WITH(streams_find_room, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct call *calls = xcalloc(5, sizeof(*calls));

    for (size_t i = 0; i < 5; i++)
        call(lab, &calls[i], "/stream", REQUEST_STREAM);
    for (size_t i = 0; i < 5; i++)
        await(lab, &calls[i], 4);
    assert_int_equal(kube_client_count_answered(lab->kube_client), 5);
    assert_in_range(kube_client_count_connections(lab->kube_client), 5, 7);
    kube_client_free(lab->kube_client);
    start_client(lab, true);
    free(calls);
}

/* Over HTTP/1.1 a request that hangs keeps its connection: there have to be others. */
TEST_WITH(requests_that_hang_leave_room_for_others, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct call *hanging = xcalloc(20, sizeof(*hanging));
    struct call c = {0};

    for (size_t i = 0; i < 20; i++)
        call(lab, &hanging[i], "/never", REQUEST_SHORT);
    call(lab, &c, "/plain", REQUEST_SHORT);
    await(lab, &c, 0);
    assert_true(c.complete);
    assert_int_equal(kube_client_count_unanswered(lab->kube_client), 20);
    kube_client_free(lab->kube_client);
    start_client(lab, true);
    free(hanging);
}

/* What fits into the descriptors is told once it is known that each stream takes one. */
TEST_WITH(the_room_for_streams_is_told, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct call *streams = xcalloc(40, sizeof(*streams));
    struct call c = {0};
    struct transport transport;

    kube_client_free(lab->kube_client);
    lab->sockets = 64;
    start_client(lab, true);
    transport = kube_client_transport(lab->kube_client);
    assert_int_equal(transport.room(transport.context).streams, UINT_MAX);
    call(lab, &c, "/plain", REQUEST_SHORT);
    await(lab, &c, 0);

    struct transport_room room = transport.room(transport.context);

    assert_in_range(room.streams, 30, 40);
    assert_in_range(room.streams + room.lists + room.single_reads, 40, 48);
    assert_in_range(room.single_reads, 1, 10);
    for (size_t i = 0; i < room.streams; i++)
        call(lab, &streams[i], "/stream", REQUEST_STREAM);
    for (size_t i = 0; i < room.streams; i++)
        await(lab, &streams[i], 4);
    assert_int_equal(kube_client_count_answered(lab->kube_client), room.streams);
    assert_in_range(kube_client_count_connections(lab->kube_client), room.streams, 48);
    assert_in_range(look(&lab->site).probes, 1, 1);
    kube_client_free(lab->kube_client);
    start_client(lab, true);
    free(streams);
}

TEST_WITH(a_reset_loses_all_and_new_ones_begin, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct call before = {0}, after = {0};

    call(lab, &before, "/stream", REQUEST_STREAM);
    await(lab, &before, 4);
    kube_client_reset(lab->kube_client);
    await(lab, &before, 0);
    assert_false(before.complete);
    call(lab, &after, "/stream", REQUEST_STREAM);
    await(lab, &after, 4);
    assert_int_equal(look(&lab->site).probes, 2);

    /* As when a certificate has been replaced. */
    lab->identity_version++;
    await(lab, &after, 0);
    assert_false(after.complete);
}

TEST_WITH(a_pool_that_is_empty_goes, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct call c = {0};

    call(lab, &c, "/plain", REQUEST_SHORT);
    await(lab, &c, 0);
    assert_int_equal(kube_client_count_connections(lab->kube_client), 1);
    kube_client_perform(lab->kube_client, platform_steady_ms() + 3600 * 1000);
    assert_int_equal(kube_client_count_connections(lab->kube_client), 0);
    assert_int_equal(kube_client_due(lab->kube_client), INT64_MAX);
}

/* Who polls for long hears of an answer when it comes. */
TEST_WITH(what_arrives_ends_a_poll, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct call c = {0};
    int64_t began_ms = platform_steady_ms();

    call(lab, &c, "/plain", REQUEST_SHORT);
    while (!c.complete) {
        assert_in_range(platform_steady_ms() - began_ms, 0, 2 * PATIENCE_MS - 1);
        kube_client_perform(lab->kube_client, platform_steady_ms());
        if (!c.complete)
            kube_client_poll(lab->kube_client, NULL, NULL, 0, 2 * PATIENCE_MS);
    }
    assert_in_range(platform_steady_ms() - began_ms, 0, 2 * PATIENCE_MS - 1);
}

/* Two servers are waited for at once while another configuration is loaded. */
TEST_WITH(what_arrives_at_a_second_client_ends_a_poll, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct kube_client *served = lab->kube_client;
    struct call c = {0};
    int64_t began_ms = platform_steady_ms();

    call(lab, &c, "/plain", REQUEST_SHORT);
    start_client(lab, true);
    while (!c.complete) {
        assert_in_range(platform_steady_ms() - began_ms, 0, 2 * PATIENCE_MS - 1);
        kube_client_perform(served, platform_steady_ms());
        if (!c.complete)
            kube_client_poll(lab->kube_client, served, NULL, 0, 2 * PATIENCE_MS);
    }
    assert_in_range(platform_steady_ms() - began_ms, 0, 2 * PATIENCE_MS - 1);
    kube_client_free(served);
}

TEST_WITH(others_are_polled_too, lab_open, lab_close)
{
    struct lab *lab = *state;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    struct pollfd other = {.fd = ends[0], .events = POLLIN};
    assert_true(kube_client_poll(lab->kube_client, NULL, &other, 1, 0));
    assert_int_equal(other.revents, 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_true(kube_client_poll(lab->kube_client, NULL, &other, 1, -1));
    assert_true(other.revents & POLLIN);
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

TEST(few_sockets_are_shared_out)
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

/* It makes libcurl tell the server: within a second, however many more are cancelled. */
TEST(a_cancelled_stream_brings_the_next_probe_forward)
{
    static const int64_t due_ms[][2] = {{30000, 1000}, {1001, 1000}, {400, 400}};
    struct lab lab = {.no_identity = false};
    struct kube_client_settings settings = {.server = "http://127.0.0.1:1",
                                            .user_agent = "test/1",
                                            .identity = {apply, refused, version, &lab},
                                            .insecure_http = true};

    for (size_t i = 0; i < ARRAY_LEN(due_ms); i++) {
        struct connection_pool *p = connection_pool_new(&settings, REQUEST_STREAM, 10, 5000);
        struct transfer *t = transfer_new(
            &settings, &(struct transport_request){
                           .path = "/stream", .accept = "*/*", .class = REQUEST_STREAM});

        connection_pool_add(p, t);
        p->probe_due_ms = 5000 + due_ms[i][0];
        connection_pool_cancel(p, t);
        assert_int_equal(p->probe_due_ms, 5000 + due_ms[i][1]);
        connection_pool_free(p);
    }
}
