/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/http/kube_client.h"

#include <limits.h>
#include <sys/select.h>

#include "exporter/kube/http/connection_pool.h"
#include "exporter/system/descriptors.h"

enum {
    IDLE_MS = 5 * 1000, /* Time after which an empty pool is freed. */
    IDENTITY_CHECK_MS = 1000,
    WAIT_WITHOUT_FD_MS = 100, /* During DNS lookups, for example. */
    POLL_FDS_MAX = 1024,
};

struct kube_client {
    struct kube_client_settings settings;
    struct connection_pool *pools;
    struct transfer *finished; /* Ended transfers before the call of `done`. */
    struct stream_capacity capacity;
    uint64_t identity_version;
    int64_t identity_ms; /* Steady time of the next check. */
    int64_t now_ms;
    bool resetting;
    bool http1; /* The server speaks HTTP/1.1, as far as is known. */
};

struct kube_client *kube_client_new(const struct kube_client_settings *settings, int64_t now_ms)
{
    struct kube_client *c = xcalloc(1, sizeof(*c));

    c->settings = *settings;
    c->now_ms = now_ms;
    stream_capacity_init(&c->capacity, POOL_STREAMS);
    c->identity_version = settings->identity.version(settings->identity.context);
    c->identity_ms = now_ms + IDENTITY_CHECK_MS;
    return c;
}

void kube_client_free(struct kube_client *c)
{
    if (!c)
        return;
    while (c->pools) {
        struct connection_pool *p = c->pools;

        c->pools = p->next;
        connection_pool_fail(p, "", &c->finished);
        connection_pool_free(p);
    }
    while (c->finished) {
        struct transfer *t = c->finished;

        c->finished = t->next;
        transfer_free(t);
    }
    free(c);
}

static struct connection_pool *find_or_add_pool(struct kube_client *c, enum request_class class)
{
    struct connection_pool **at = &c->pools;

    /* After an outage another server may respond, with another limit. */
    if (kube_client_count_connections(c) == 0)
        stream_capacity_init(&c->capacity, POOL_STREAMS);
    for (; *at; at = &(*at)->next) {
        struct connection_pool *p = *at;

        if (p->class == class && !p->failed && (class == REQUEST_SHORT || p->count < p->capacity))
            return p;
    }
    *at = connection_pool_new(&c->settings, class, c->capacity.streams, c->now_ms);
    return *at;
}

static struct transfer *start_transfer(void *context, const struct transport_request *request)
{
    struct kube_client *c = context;
    struct transfer *t = transfer_new(&c->settings, request);

    if (t->easy) {
        connection_pool_add(find_or_add_pool(c, request->class), t);
    } else {
        t->next = c->finished;
        c->finished = t;
    }
    return t;
}

static void cancel_transfer(void *context, struct transfer *transfer)
{
    struct kube_client *c = context;
    struct transfer **at = &c->finished;

    if (transfer->connection_pool) {
        connection_pool_cancel(transfer->connection_pool, transfer);
        return;
    }
    while (*at != transfer)
        at = &(*at)->next;
    *at = transfer->next;
    transfer_free(transfer);
}

static struct transport_limits get_limits(void *context)
{
    const struct kube_client *c = context;
    struct connection_limits limits = connection_limits_compute(&c->settings);

    if (!c->http1)
        return (struct transport_limits){UINT_MAX, UINT_MAX, UINT_MAX};
    return (struct transport_limits){limits.streams, limits.lists, limits.single_reads};
}

struct transport kube_client_transport(struct kube_client *c)
{
    return (struct transport){
        .start = start_transfer, .cancel = cancel_transfer, .context = c, .room = get_limits};
}

void kube_client_reset(struct kube_client *c)
{
    c->resetting = true;
}

/* Closes all connections after kube_client_reset() or a change of the credentials' version. */
static void reset_connections_if_due(struct kube_client *c)
{
    if (c->now_ms >= c->identity_ms) {
        uint64_t version = c->settings.identity.version(c->settings.identity.context);

        c->identity_ms = c->now_ms + IDENTITY_CHECK_MS;
        c->resetting = c->resetting || version != c->identity_version;
        c->identity_version = version;
    }
    if (!c->resetting)
        return;
    c->resetting = false;
    for (struct connection_pool *p = c->pools; p; p = p->next)
        connection_pool_fail(p, "the connections are replaced", &c->finished);
}

/* Moves watches to other pools if their connection does not serve them. */
static void move_surplus_transfers(struct kube_client *c)
{
    for (struct connection_pool *p = c->pools; p; p = p->next) {
        bool is_new = !p->was_sufficient;
        struct transfer *surplus = connection_pool_take_surplus(p), *next;

        stream_capacity_note_open(&c->capacity, p->most_answered);
        if (surplus && is_new)
            stream_capacity_note_full(&c->capacity, p->capacity);
        for (; surplus; surplus = next) {
            next = surplus->next;
            connection_pool_add(find_or_add_pool(c, REQUEST_STREAM), surplus);
        }
    }
}

static void free_unused_pools(struct kube_client *c)
{
    struct connection_pool **at = &c->pools;

    while (*at) {
        struct connection_pool *p = *at;

        if (p->failed || (p->count == 0 && !p->probe && c->now_ms - p->idle_since_ms >= IDLE_MS)) {
            *at = p->next;
            connection_pool_free(p);
        } else {
            at = &p->next;
        }
    }
}

/* Keeps the previous version while no pool has had a response. */
static void record_http_version(struct kube_client *c)
{
    bool http1 = false, http2 = false;

    for (const struct connection_pool *p = c->pools; p; p = p->next) {
        http1 = http1 || p->version == HTTP_1;
        http2 = http2 || p->version == HTTP_2;
    }
    if (http1 || http2)
        c->http1 = http1;
}

void kube_client_perform(struct kube_client *c, int64_t now_ms)
{
    c->now_ms = now_ms;
    reset_connections_if_due(c);
    for (struct connection_pool *p = c->pools; p; p = p->next)
        connection_pool_perform(p, now_ms, &c->finished);
    record_http_version(c);
    move_surplus_transfers(c);
    /* Handlers may change c->finished: they start and cancel requests. */
    while (c->finished) {
        struct transfer *t = c->finished;
        struct transport_result result = transfer_result(t);

        c->finished = t->next;
        t->handler.done(t->handler.context, &result);
        transfer_free(t);
    }
    free_unused_pools(c);
}

int64_t kube_client_due(const struct kube_client *c)
{
    int64_t due_ms = c->pools ? c->identity_ms : INT64_MAX;

    if (c->finished || c->resetting)
        return c->now_ms;
    for (struct connection_pool *p = c->pools; p; p = p->next) {
        int64_t other_ms = connection_pool_due(p, c->now_ms);

        due_ms = other_ms < due_ms ? other_ms : due_ms;
    }
    return due_ms;
}

struct fd_list {
    struct pollfd items[POLL_FDS_MAX];
    size_t count;
    bool has_work_without_fd; /* A pool has transfers and no descriptor. */
};

static void add_pool_fds(struct connection_pool *p, struct fd_list *list)
{
    fd_set read_fds, write_fds, error_fds;
    int max = -1;

    FD_ZERO(&read_fds);
    FD_ZERO(&write_fds);
    FD_ZERO(&error_fds);
    curl_multi_fdset(p->multi, &read_fds, &write_fds, &error_fds, &max);
    if (max < 0 && p->count > 0)
        list->has_work_without_fd = true;
    for (int fd = 0; fd <= max && list->count < POLL_FDS_MAX; fd++) {
        short events = (short)((FD_ISSET(fd, &read_fds) ? POLLIN : 0) |
                               (FD_ISSET(fd, &write_fds) ? POLLOUT : 0));

        if (events)
            list->items[list->count++] = (struct pollfd){.fd = fd, .events = events};
    }
}

bool kube_client_poll(struct kube_client *c, struct kube_client *beside, struct pollfd *others,
                      size_t count, int64_t timeout_ms)
{
    struct fd_list list = {.count = 0};
    int ready;

    for (size_t i = 0; i < count && list.count < POLL_FDS_MAX; i++)
        list.items[list.count++] = others[i];
    for (struct connection_pool *p = c->pools; p; p = p->next)
        add_pool_fds(p, &list);
    for (struct connection_pool *p = beside ? beside->pools : NULL; p; p = p->next)
        add_pool_fds(p, &list);
    if (list.has_work_without_fd && (timeout_ms < 0 || timeout_ms > WAIT_WITHOUT_FD_MS))
        timeout_ms = WAIT_WITHOUT_FD_MS;
    ready = descriptors_poll(list.items, list.count, timeout_ms > INT32_MAX ? -1 : (int)timeout_ms);
    for (size_t i = 0; i < count; i++)
        others[i].revents = ready < 0 ? 0 : list.items[i].revents;
    return ready >= 0;
}

unsigned kube_client_count_connections(const struct kube_client *c)
{
    unsigned sum = 0;

    for (const struct connection_pool *p = c->pools; p; p = p->next)
        sum += p->connections;
    return sum;
}

unsigned kube_client_count_answered(const struct kube_client *c)
{
    unsigned sum = 0;

    for (const struct connection_pool *p = c->pools; p; p = p->next)
        sum += connection_pool_answered(p);
    return sum;
}

unsigned kube_client_count_unanswered(const struct kube_client *c)
{
    unsigned sum = 0;

    for (const struct connection_pool *p = c->pools; p; p = p->next)
        sum += p->count - connection_pool_answered(p);
    return sum;
}
