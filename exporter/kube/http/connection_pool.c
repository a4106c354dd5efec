/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/http/connection_pool.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    STREAM_CONNECTIONS = 1,
    SOCKETS_DEFAULT = 256,
    SOCKETS_BESIDE = 16, /* Of libcurl itself, and for probes. */
    SHORT_LEAST = 4,
    SHORT_MOST = 48,
    /* High enough that the server's own limit decides. */
    STREAMS_PER_CONNECTION = 1000,
    PROBE_INTERVAL_MS = 30 * 1000,
    PROBE_TIMEOUT_MS = 15 * 1000,
    CHECK_INTERVAL_MS = 1000,
    UNANSWERED_MS =
        2 * 1000,        /* After which a probe finds out whether the connection is to blame. */
    CANCELLED_MS = 1000, /* After which a probe makes curl send that streams were cancelled. */
};

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct connection_pool *p = context;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);

    (void)purpose;
    if (fd >= 0)
        p->connections++;
    return fd;
}

static int close_socket(void *context, curl_socket_t socket)
{
    struct connection_pool *p = context;

    p->connections--;
    return close(socket);
}

struct connection_limits connection_limits_compute(const struct kube_client_settings *settings)
{
    unsigned sockets = settings->sockets ? settings->sockets : SOCKETS_DEFAULT;
    unsigned all = sockets > 2 * SOCKETS_BESIDE ? sockets - SOCKETS_BESIDE : SOCKETS_BESIDE;
    unsigned ends_soon = all / 4 < SHORT_MOST ? all / 4 : SHORT_MOST;

    ends_soon = ends_soon > SHORT_LEAST ? ends_soon : SHORT_LEAST;
    return (struct connection_limits){
        .streams = all - ends_soon,
        .lists = ends_soon - ends_soon / 4,
        .single_reads = ends_soon / 4,
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
    p->capacity = p->granted = capacity;
    p->multi = curl_multi_init();
    if (!p->multi)
        memory_exhausted(0);
    p->warm = class == REQUEST_SHORT;
    p->probe_ms = p->check_ms = p->heard_ms = p->idle_ms = p->now_ms = now_ms;
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

static void hand_over(struct connection_pool *p, struct transfer *t)
{
    t->added = true;
    t->started_ms = p->now_ms;
    if (curl_multi_add_handle(p->multi, t->easy) != CURLM_OK)
        memory_exhausted(0);
}

static void attach(struct connection_pool *p, struct transfer *t)
{
    t->connection_pool = p;
    t->heard = &p->heard;
    t->spoken = &p->version;
    curl_easy_setopt(t->easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(t->easy, CURLOPT_OPENSOCKETDATA, p);
    curl_easy_setopt(t->easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(t->easy, CURLOPT_CLOSESOCKETDATA, p);
}

void connection_pool_add(struct connection_pool *p, struct transfer *t)
{
    attach(p, t);
    t->next = p->transfers;
    p->transfers = t;
    p->count++;
    if (p->class == REQUEST_STREAM && p->warm && p->connections == 0) {
        /* Its connection was lost: the next one may accept fewer streams, or more. */
        p->warm = p->proven = false;
        p->most = 0;
        p->capacity = p->granted;
        p->probe_ms = p->now_ms;
    }
    if (p->warm)
        hand_over(p, t);
}

static void detach(struct connection_pool *p, struct transfer *t)
{
    struct transfer **at = &p->transfers;

    if (t->added)
        curl_multi_remove_handle(p->multi, t->easy);
    t->added = false;
    t->connection_pool = NULL;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    t->next = NULL;
    if (--p->count == 0)
        p->idle_ms = p->now_ms;
}

void connection_pool_cancel(struct connection_pool *p, struct transfer *t)
{
    /*
     * curl 7.88 sends that a stream was cancelled only together with another request on
     * its connection: a probe is one.
     */
    if (t->class == REQUEST_STREAM && p->probe_ms > p->now_ms + CANCELLED_MS)
        p->probe_ms = p->now_ms + CANCELLED_MS;
    detach(p, t);
    transfer_free(t);
}

static void forget_probe(struct connection_pool *p)
{
    curl_multi_remove_handle(p->multi, p->probe->easy);
    transfer_free(p->probe);
    p->probe = NULL;
}

/* Move a transfer from the pool to the finished ones. */
static void finish(struct connection_pool *p, struct transfer *t, struct transfer **finished)
{
    detach(p, t);
    t->next = *finished;
    *finished = t;
}

void connection_pool_fail(struct connection_pool *p, const char *why, struct transfer **finished)
{
    p->failed = true;
    if (p->probe)
        forget_probe(p);
    while (p->transfers) {
        struct transfer *t = p->transfers;

        snprintf(t->error, sizeof(t->error), "%s", why);
        t->complete = false;
        finish(p, t, finished);
    }
}

/* ---- probes ---- */

static bool drop_body(void *context, unsigned http_status, const char *bytes, size_t len)
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
           !(p->warm && p->version == HTTP_1);
}

static void begin_probe(struct connection_pool *p)
{
    struct transfer *t = transfer_new(p->settings, &(struct transport_request){
                                                       .path = "/version",
                                                       .accept = "*/*",
                                                       .class = REQUEST_STREAM,
                                                       .handler = {.data = drop_body},
                                                   });

    p->probe_ms = p->now_ms + PROBE_INTERVAL_MS;
    if (!t->easy) {
        p->failed = true;
        snprintf(p->failure, sizeof(p->failure), "%s", t->error);
        transfer_free(t);
        return;
    }
    p->probe = t;
    attach(p, t);
    curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS, (long)PROBE_TIMEOUT_MS);
    hand_over(p, t);
}

/* Any response will do: it is the connection that is probed. */
static void end_probe(struct connection_pool *p)
{
    struct transfer *t = p->probe;
    bool answered = t->responded;
    bool found_no_room = transfer_waits_for_connection(t) && p->warm;

    if (t->http_status == 401)
        p->settings->identity.refused(p->settings->identity.context);
    if (found_no_room) {
        /* The next stream that ends leaves its room to the probe. */
        p->capacity = p->count > 1 ? p->count - 1 : 1;
    } else if (!answered && (!p->warm || p->now_ms - p->heard_ms >= PROBE_TIMEOUT_MS)) {
        p->failed = true;
        snprintf(p->failure, sizeof(p->failure), "%s", t->error);
    }
    forget_probe(p);
    if (!answered || p->warm)
        return;
    p->warm = true;
    limit_connections(p);
    if (p->version == HTTP_1)
        p->capacity = connection_limits_compute(p->settings).streams;
    for (t = p->transfers; t; t = t->next) {
        if (!t->added)
            hand_over(p, t);
    }
}

/* ---- room ---- */

static int64_t age_ms(const struct connection_pool *p, const struct transfer *t)
{
    return p->now_ms - t->started_ms;
}

/*
 * For how long curl has held back a request, -1 if it holds back none. curl reports neither
 * how many streams the server accepts on a connection nor that a request waits for one.
 */
static int64_t held_back_ms(const struct connection_pool *p)
{
    int64_t longest_ms = -1;

    for (const struct transfer *t = p->transfers; t; t = t->next) {
        if (transfer_waits_for_connection(t) && age_ms(p, t) > longest_ms)
            longest_ms = age_ms(p, t);
    }
    return longest_ms;
}

/*
 * A request that is sent just as the server says that it accepts no more (GOAWAY) is never
 * answered, and curl 7.88 does not notice. It then holds back the probe, too.
 */
static bool probe_is_refused(const struct connection_pool *p)
{
    return p->probe && transfer_waits_for_connection(p->probe) &&
           age_ms(p, p->probe) >= CHECK_INTERVAL_MS;
}

static bool is_unanswered(const struct connection_pool *p, const struct transfer *t)
{
    return t->added && !t->responded && !transfer_waits_for_connection(t) &&
           age_ms(p, t) >= UNANSWERED_MS;
}

struct transfer *connection_pool_take_surplus(struct connection_pool *p)
{
    struct transfer *surplus = NULL, *next;
    int64_t waited_ms;
    bool refused;

    if (p->class != REQUEST_STREAM || p->version == HTTP_1 || p->now_ms < p->check_ms)
        return NULL;
    p->check_ms = p->now_ms + CHECK_INTERVAL_MS;
    if (!p->warm)
        return NULL;
    unsigned answered = connection_pool_answered(p);

    p->most = answered > p->most ? answered : p->most;
    waited_ms = held_back_ms(p);
    p->proven = p->proven || waited_ms < 0;
    refused = probe_is_refused(p);
    for (struct transfer *t = p->transfers; t; t = next) {
        bool unanswered = is_unanswered(p, t);

        next = t->next;
        if (unanswered ? refused
                       : transfer_waits_for_connection(t) && waited_ms >= CHECK_INTERVAL_MS)
            finish(p, t, &surplus);
        else if (unanswered)
            p->probe_ms = p->now_ms;
    }
    if (surplus)
        p->capacity = p->count;
    return surplus;
}

/* ---- turns ---- */

static void collect_finished(struct connection_pool *p, struct transfer **finished)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(p->multi, &left))) {
        struct transfer *t = NULL;

        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        transfer_end(t, message->data.result, p->settings);
        if (p->probe && t == p->probe) {
            end_probe(p);
            continue;
        }
        if (t->responded && t->http_status == 401)
            p->settings->identity.refused(p->settings->identity.context);
        finish(p, t, finished);
    }
}

void connection_pool_perform(struct connection_pool *p, int64_t now_ms, struct transfer **finished)
{
    int running;

    p->now_ms = now_ms;
    if (needs_probe(p) && now_ms >= p->probe_ms)
        begin_probe(p);
    p->heard = false;
    curl_multi_perform(p->multi, &running);
    if (p->heard)
        p->heard_ms = now_ms;
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
    if (needs_probe(p) && p->probe_ms < due_ms)
        due_ms = p->probe_ms;
    for (struct transfer *t = p->transfers; t; t = t->next) {
        if (p->class == REQUEST_STREAM && p->version != HTTP_1 && t->added && !t->responded &&
            p->check_ms < due_ms)
            due_ms = p->check_ms;
    }
    return due_ms;
}

enum { SUSPICIONS = 3 }; /* That are as good as knowledge. */

void stream_capacity_init(struct stream_capacity *c, unsigned streams)
{
    *c = (struct stream_capacity){.streams = streams};
}

void stream_capacity_note_open(struct stream_capacity *c, unsigned streams)
{
    if (streams > c->most)
        c->most = streams;
}

void stream_capacity_note_full(struct stream_capacity *c, unsigned streams)
{
    if (streams < c->most || streams == 0)
        return;
    c->suspicions = streams == c->suspected ? c->suspicions + 1 : 1;
    c->suspected = streams;
    if (c->suspicions == SUSPICIONS)
        c->streams = streams;
}
