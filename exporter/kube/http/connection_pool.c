/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/http/connection_pool.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    STREAM_CONNECTIONS = 1,
    SOCKETS_DEFAULT = 256,
    SOCKETS_RESERVED = 16, /* For libcurl's own use, and for probes. */
    SHORT_MIN = 4,
    SHORT_MAX = 48,
    STREAMS_PER_CONNECTION = 1000, /* Above the limits of servers. */
    PROBE_INTERVAL_MS = 30 * 1000,
    PROBE_TIMEOUT_MS = 15 * 1000,
    CHECK_INTERVAL_MS = 1000,
    UNANSWERED_MS = 2 * 1000, /* Age at which a request without a response makes a probe due. */
    CANCELLED_MS = 1000,      /* From a cancelled stream to the probe that sends RST_STREAM. */
};

static curl_socket_t open_counted_socket(void *context, curlsocktype purpose,
                                         struct curl_sockaddr *address)
{
    struct connection_pool *p = context;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);

    (void)purpose;
    if (fd < 0)
        return fd;
    p->connections++;
    /*
     * libcurl replaces a lost connection without an error while a request has no response, for
     * example a probe. The server may accept more streams on the new connection.
     */
    if (p->class == REQUEST_STREAM && p->version != HTTP_1)
        p->capacity = p->initial_capacity;
    return fd;
}

static int close_counted_socket(void *context, curl_socket_t socket)
{
    struct connection_pool *p = context;

    p->connections--;
    return close(socket);
}

struct connection_limits connection_limits_compute(const struct kube_client_settings *settings)
{
    unsigned sockets = settings->sockets ? settings->sockets : SOCKETS_DEFAULT;
    unsigned all = sockets > 2 * SOCKETS_RESERVED ? sockets - SOCKETS_RESERVED : SOCKETS_RESERVED;
    unsigned short_requests = all / 4 < SHORT_MAX ? all / 4 : SHORT_MAX;

    short_requests = short_requests > SHORT_MIN ? short_requests : SHORT_MIN;
    return (struct connection_limits){
        .streams = all - short_requests,
        .lists = short_requests - short_requests / 4,
        .single_reads = short_requests / 4,
    };
}

static void limit_connections(struct connection_pool *p)
{
    struct connection_limits limits = connection_limits_compute(p->settings);
    long count = STREAM_CONNECTIONS;

    if (p->class == REQUEST_SHORT)
        count = (long)limits.lists + limits.single_reads;
    else if (p->version == HTTP_1)
        count = (long)limits.streams + 1;
    curl_multi_setopt(p->multi, CURLMOPT_MAX_HOST_CONNECTIONS, count);
    curl_multi_setopt(p->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, count);
}

struct connection_pool *connection_pool_new(const struct kube_client_settings *settings,
                                            enum request_class class, unsigned capacity,
                                            int64_t now_ms)
{
    struct connection_pool *p = xcalloc(1, sizeof(*p));

    p->settings = settings;
    p->class = class;
    p->capacity = p->initial_capacity = capacity;
    p->multi = curl_multi_init();
    if (!p->multi)
        memory_exhausted(0);
    p->ready = class == REQUEST_SHORT;
    p->probe_due_ms = p->surplus_check_ms = p->body_received_ms = p->idle_since_ms = p->now_ms =
        now_ms;
    curl_multi_setopt(p->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    curl_multi_setopt(p->multi, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)STREAMS_PER_CONNECTION);
    limit_connections(p);
    return p;
}

void connection_pool_free(struct connection_pool *p)
{
    if (!p)
        return;
    curl_multi_cleanup(p->multi);
    free(p);
}

static void add_to_curl(struct connection_pool *p, struct transfer *t)
{
    t->added_to_curl = true;
    t->started_ms = p->now_ms;
    if (curl_multi_add_handle(p->multi, t->easy) != CURLM_OK)
        memory_exhausted(0);
}

static void attach_to_pool(struct connection_pool *p, struct transfer *t)
{
    t->connection_pool = p;
    t->body_received = &p->body_received;
    t->server_version = &p->version;
    curl_easy_setopt(t->easy, CURLOPT_OPENSOCKETFUNCTION, open_counted_socket);
    curl_easy_setopt(t->easy, CURLOPT_OPENSOCKETDATA, p);
    curl_easy_setopt(t->easy, CURLOPT_CLOSESOCKETFUNCTION, close_counted_socket);
    curl_easy_setopt(t->easy, CURLOPT_CLOSESOCKETDATA, p);
}

void connection_pool_add(struct connection_pool *p, struct transfer *t)
{
    attach_to_pool(p, t);
    t->next = p->transfers;
    p->transfers = t;
    p->count++;
    if (p->class == REQUEST_STREAM && p->ready && p->connections == 0) {
        /* The connection was lost: the server may accept another number of streams now. */
        p->ready = p->was_sufficient = false;
        p->most_answered = 0;
        p->capacity = p->initial_capacity;
        p->probe_due_ms = p->now_ms;
    }
    if (p->ready)
        add_to_curl(p, t);
}

static void remove_from_pool(struct connection_pool *p, struct transfer *t)
{
    struct transfer **at = &p->transfers;

    if (t->added_to_curl)
        curl_multi_remove_handle(p->multi, t->easy);
    t->added_to_curl = false;
    t->connection_pool = NULL;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    t->next = NULL;
    if (--p->count == 0)
        p->idle_since_ms = p->now_ms;
}

void connection_pool_cancel(struct connection_pool *p, struct transfer *t)
{
    /*
     * curl 7.88 sends RST_STREAM for a cancelled stream only together with another request on the
     * connection, such as a probe.
     */
    if (t->class == REQUEST_STREAM && p->probe_due_ms > p->now_ms + CANCELLED_MS)
        p->probe_due_ms = p->now_ms + CANCELLED_MS;
    remove_from_pool(p, t);
    transfer_free(t);
}

static void free_probe(struct connection_pool *p)
{
    curl_multi_remove_handle(p->multi, p->probe->easy);
    transfer_free(p->probe);
    p->probe = NULL;
}

static void move_to_list(struct connection_pool *p, struct transfer *t, struct transfer **finished)
{
    remove_from_pool(p, t);
    t->next = *finished;
    *finished = t;
}

void connection_pool_fail(struct connection_pool *p, const char *why, struct transfer **finished)
{
    p->failed = true;
    if (p->probe)
        free_probe(p);
    while (p->transfers) {
        struct transfer *t = p->transfers;

        snprintf(t->error, sizeof(t->error), "%s", why);
        t->complete = false;
        move_to_list(p, t, finished);
    }
}

/* ---- probes ---- */

static bool ignore_body(void *context, unsigned http_status, const char *bytes, size_t len)
{
    (void)context;
    (void)http_status;
    (void)bytes;
    (void)len;
    return true;
}

static bool needs_probe(const struct connection_pool *p)
{
    return p->class == REQUEST_STREAM && !p->probe && p->count > 0 &&
           !(p->ready && p->version == HTTP_1);
}

static void begin_probe(struct connection_pool *p)
{
    struct transfer *t = transfer_new(p->settings, &(struct transport_request){
                                                       .path = "/version",
                                                       .accept = "*/*",
                                                       .class = REQUEST_STREAM,
                                                       .handler = {.data = ignore_body},
                                                   });

    p->probe_due_ms = p->now_ms + PROBE_INTERVAL_MS;
    if (!t->easy) {
        p->failed = true;
        snprintf(p->failure, sizeof(p->failure), "%s", t->error);
        transfer_free(t);
        return;
    }
    p->probe = t;
    attach_to_pool(p, t);
    curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS, (long)PROBE_TIMEOUT_MS);
    add_to_curl(p, t);
}

/*
 * Frees the finished probe. Without an answer the pool fails, unless its streams received bytes in
 * the last PROBE_TIMEOUT_MS. If the probe waited for a stream, lowers the capacity instead. After
 * the first answer, sends the waiting requests. Any HTTP status is an answer.
 */
static void end_probe(struct connection_pool *p)
{
    struct transfer *t = p->probe;
    bool answered = t->responded;
    bool held_back = transfer_waits_for_connection(t) && p->ready;

    if (t->http_status == 401)
        p->settings->identity.refused(p->settings->identity.context);
    if (held_back) {
        /* The place of the next stream that ends is for the probe. */
        p->capacity = p->count > 1 ? p->count - 1 : 1;
    } else if (!answered && (!p->ready || p->now_ms - p->body_received_ms >= PROBE_TIMEOUT_MS)) {
        p->failed = true;
        snprintf(p->failure, sizeof(p->failure), "%s", t->error);
    }
    free_probe(p);
    if (!answered || p->ready)
        return;
    p->ready = true;
    limit_connections(p);
    if (p->version == HTTP_1)
        p->capacity = connection_limits_compute(p->settings).streams;
    for (t = p->transfers; t; t = t->next) {
        if (!t->added_to_curl)
            add_to_curl(p, t);
    }
}

/* ---- stream limit of the server ---- */

static int64_t transfer_age_ms(const struct connection_pool *p, const struct transfer *t)
{
    return p->now_ms - t->started_ms;
}

/*
 * Returns for how many ms the oldest waiting request has waited for a connection; -1 if no request
 * waits. curl does not report the server's stream limit.
 */
static int64_t longest_wait_ms(const struct connection_pool *p)
{
    int64_t longest_ms = -1;

    for (const struct transfer *t = p->transfers; t; t = t->next) {
        if (transfer_waits_for_connection(t) && transfer_age_ms(p, t) > longest_ms)
            longest_ms = transfer_age_ms(p, t);
    }
    return longest_ms;
}

/*
 * Returns true if the probe has waited for the connection for CHECK_INTERVAL_MS. If the server
 * sends GOAWAY while a request is sent, the request gets no response, curl 7.88 does not report an
 * error, and later requests wait.
 */
static bool is_probe_held_back(const struct connection_pool *p)
{
    return p->probe && transfer_waits_for_connection(p->probe) &&
           transfer_age_ms(p, p->probe) >= CHECK_INTERVAL_MS;
}

static bool is_unanswered(const struct connection_pool *p, const struct transfer *t)
{
    return t->added_to_curl && !t->responded && !transfer_waits_for_connection(t) &&
           transfer_age_ms(p, t) >= UNANSWERED_MS;
}

struct transfer *connection_pool_take_surplus(struct connection_pool *p)
{
    struct transfer *surplus = NULL, *next;
    int64_t waited_ms;
    bool refused;

    if (p->class != REQUEST_STREAM || p->version == HTTP_1 || p->now_ms < p->surplus_check_ms)
        return NULL;
    p->surplus_check_ms = p->now_ms + CHECK_INTERVAL_MS;
    if (!p->ready)
        return NULL;
    unsigned answered = connection_pool_answered(p);

    p->most_answered = answered > p->most_answered ? answered : p->most_answered;
    waited_ms = longest_wait_ms(p);
    p->was_sufficient = p->was_sufficient || waited_ms < 0;
    refused = is_probe_held_back(p);
    for (struct transfer *t = p->transfers; t; t = next) {
        bool unanswered = is_unanswered(p, t);

        next = t->next;
        if (unanswered ? refused
                       : transfer_waits_for_connection(t) && waited_ms >= CHECK_INTERVAL_MS)
            move_to_list(p, t, &surplus);
        else if (unanswered)
            p->probe_due_ms = p->now_ms;
    }
    if (surplus)
        p->capacity = p->count;
    return surplus;
}

/* ---- periodic work ---- */

static void collect_finished(struct connection_pool *p, struct transfer **finished)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(p->multi, &left))) {
        struct transfer *t = NULL;

        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        transfer_record_result(t, message->data.result, p->settings);
        if (p->probe && t == p->probe) {
            end_probe(p);
            continue;
        }
        if (t->responded && t->http_status == 401)
            p->settings->identity.refused(p->settings->identity.context);
        move_to_list(p, t, finished);
    }
}

void connection_pool_perform(struct connection_pool *p, int64_t now_ms, struct transfer **finished)
{
    int running;

    p->now_ms = now_ms;
    if (needs_probe(p) && now_ms >= p->probe_due_ms)
        begin_probe(p);
    p->body_received = false;
    curl_multi_perform(p->multi, &running);
    if (p->body_received)
        p->body_received_ms = now_ms;
    collect_finished(p, finished);
    if (p->failed)
        connection_pool_fail(p, *p->failure ? p->failure : "the connection does not answer",
                             finished);
}

unsigned connection_pool_answered(const struct connection_pool *p)
{
    unsigned count = 0;

    for (const struct transfer *t = p->transfers; t; t = t->next)
        count += t->responded;
    return count;
}

int64_t connection_pool_due(struct connection_pool *p, int64_t now_ms)
{
    long timeout_ms = -1;
    int64_t due_ms = INT64_MAX;

    curl_multi_timeout(p->multi, &timeout_ms);
    if (timeout_ms >= 0)
        due_ms = now_ms + timeout_ms;
    if (needs_probe(p) && p->probe_due_ms < due_ms)
        due_ms = p->probe_due_ms;
    for (struct transfer *t = p->transfers; t; t = t->next) {
        if (p->class == REQUEST_STREAM && p->version != HTTP_1 && t->added_to_curl &&
            !t->responded && p->surplus_check_ms < due_ms)
            due_ms = p->surplus_check_ms;
    }
    return due_ms;
}

/* ---- estimate of the stream limit ---- */

enum { CONFIRMATIONS = 3 };

void stream_capacity_init(struct stream_capacity *c, unsigned streams)
{
    *c = (struct stream_capacity){.streams = streams};
}

void stream_capacity_note_open(struct stream_capacity *c, unsigned streams)
{
    if (streams > c->most_answered)
        c->most_answered = streams;
}

void stream_capacity_note_full(struct stream_capacity *c, unsigned streams)
{
    if (streams < c->most_answered || streams == 0)
        return;
    c->suspicions = streams == c->suspected ? c->suspicions + 1 : 1;
    c->suspected = streams;
    if (c->suspicions == CONFIRMATIONS)
        c->streams = streams;
}
