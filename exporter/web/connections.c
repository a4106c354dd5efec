/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/connections.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exporter/system/platform.h"
#include "metrics/base/map.h"

/* ---- connections by network ---- */

uint64_t client_network(const struct sockaddr *address)
{
    uint64_t network = 0;

    if (address && address->sa_family == AF_INET)
        return ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr;
    if (address && address->sa_family == AF_INET6) {
        const struct in6_addr *six =
            &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        size_t skipped = IN6_IS_ADDR_V4MAPPED(six) ? sizeof(*six) - sizeof(uint32_t) : 0;

        memcpy(&network, six->s6_addr + skipped, skipped ? sizeof(uint32_t) : sizeof(network));
    }
    return network;
}

struct network_count {
    uint64_t network; /* See client_network(). */
    unsigned count;   /* Connections of this network; at least 1. */
};

struct network_counts {
    struct map map; /* Owns struct network_count; key: `network`. */
    uint64_t seed;
};

static bool is_network(const void *item, const void *key)
{
    const struct network_count *found = item;
    const uint64_t *network = key;

    return found->network == *network;
}

static uint64_t network_hash(const struct network_counts *n, uint64_t network)
{
    return map_hash(&network, sizeof(network), n->seed);
}

/* Counts one more connection of the network. Returns its entry, for network_counts_remove(). */
static MUST_USE struct network_count *network_counts_add(struct network_counts *n, uint64_t network)
{
    uint64_t hash = network_hash(n, network);
    struct network_count *found = map_get(&n->map, hash, &network);

    if (!found) {
        found = xcalloc(1, sizeof(*found));
        found->network = network;
        map_add(&n->map, hash, found);
    }
    found->count++;
    return found;
}

/* Counts one connection less; frees the entry with the last one. */
static void network_counts_remove(struct network_counts *n, struct network_count *entry)
{
    if (--entry->count > 0)
        return;
    (void)map_take(&n->map, network_hash(n, entry->network), &entry->network);
    free(entry);
}

/* ---- state of a socket, without reading from it; false if the kernel does not report it ---- */

/* Returns true if the client has sent bytes that the server has not read. */
static bool socket_has_unread(int fd)
{
    int bytes = 0;

    return ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0;
}

/* Returns true if the server has written bytes that the client has not acknowledged. */
static bool socket_has_unsent(int fd)
{
    int bytes = 0;

    return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

/*
 * Returns true if a TCP client has sent at least one byte, read or not: between two messages of a
 * TLS handshake no byte may be unread.
 */
static bool socket_has_received(int fd)
{
    struct tcp_info info = {.tcpi_bytes_received = 0};
    socklen_t len = sizeof(info);

    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 && info.tcpi_bytes_received > 0;
}

/* ---- limits and deadlines ---- */

#define REFUSAL_NAME(id, name) name,
const char *const connection_refusal_names[REFUSAL_COUNT] = {REFUSALS(REFUSAL_NAME)};

enum {
    /* Age at which a response is evictable, however the client reads. */
    SLOW_ANSWER_MS = 2000,
    /* Time without sending after which a client with a closed TCP window has stalled. */
    WINDOW_CLOSED_MS = 20,
    /* Time without sending after which a client with unacknowledged bytes has stalled. */
    UNACKNOWLEDGED_MS = 250,
    /* Time in CONNECTION_RECEIVING without eviction, if the client has sent a byte. */
    FIRST_REQUEST_MS = 500,
    /* Minimum time in the present state of connections that are ended for lack of descriptors. */
    REDUCE_AGE_MIN_MS = 100,
    CANDIDATES_MAX = 16, /* Connections of a state that an eviction examines, the oldest ones. */
    CLOSING_DIVISOR = 4, /* A quarter of the limit is for closing connections. */
    SLOW_DIVISOR = 4,    /* Up to 1 + a quarter of the responses end together to free memory. */
    LIMIT_LOWER_DIVISOR = 8, /* connections_reduce() sets the limit to 7/8 of the connections. */
    LIMIT_LOWERED_MIN = 8,
    LIMIT_RAISE_DIVISOR = 64, /* connections_sweep() raises a lowered limit by 1 + limit / 64. */
    RAISE_EVERY_MS = 500,
};

static const struct state_rule {
    unsigned share; /* Eighths of the budget. */
    int64_t deadline_ms;
    enum connection_refusal evicted, overdue;
    bool counts_overdue; /* The metric counts connections that exceed the deadline. */
} rules[CONNECTION_CLOSING] = {
    [CONNECTION_RECEIVING] = {4, 5000, REFUSED_EVICTED_WAITING, REFUSED_HEADERS_TIMEOUT, true},
    [CONNECTION_ANSWERING] = {2, 60000, REFUSED_EVICTED_SLOW, REFUSED_ANSWER_TIMEOUT, true},
    /* Idle for 15 s at most (IDLE_SECONDS in server.c), then up to 5 s for the next headers. */
    [CONNECTION_IDLE] = {2, 20000, REFUSED_EVICTED_IDLE, REFUSED_EVICTED_IDLE, false},
};

struct connection {
    struct connection *next;
    struct connection *previous;
    struct network_count *network;
    int fd;
    enum connection_state state;
    bool in_use; /* A thread is ending the connection without the lock; it must not be freed. */
    int64_t since_ms; /* Time of the last call that set the state, even to the same state. */
};

struct connections {
    pthread_mutex_t lock;
    pthread_cond_t unused; /* Signaled when a connection is no longer `in_use`. */
    unsigned limit_max;    /* Argument of connections_new(). */
    /* Present limit: lowered by connections_reduce(), then raised in steps up to `limit_max`. */
    unsigned limit;
    unsigned budget;      /* Part of the limit for open connections and reservations. */
    unsigned closing_max; /* Rest of the limit; at least 1. */
    int64_t raised_ms;    /* Last raise of the limit, or call of connections_reduce(). */
    unsigned reserved;    /* Connections that are being passed to libmicrohttpd. */
    unsigned count[CONNECTION_STATES];
    struct network_counts networks;
    struct connection rings[CONNECTION_STATES]; /* List heads; oldest connection first. */
    uint64_t refused[REFUSAL_COUNT];
};

static void set_limit(struct connections *p, unsigned limit)
{
    p->limit = limit > 1 ? limit : 1;
    p->closing_max = limit > CLOSING_DIVISOR ? limit / CLOSING_DIVISOR : 1;
    p->budget = limit > 1 ? limit - p->closing_max : 1;
}

struct connections *connections_new(unsigned limit)
{
    struct connections *p = xcalloc(1, sizeof(*p));

    p->limit_max = limit;
    p->networks =
        (struct network_counts){.map = MAP_INIT(is_network), .seed = platform_random_seed()};
    set_limit(p, limit);
    for (size_t i = 0; i < CONNECTION_STATES; i++)
        p->rings[i].next = p->rings[i].previous = &p->rings[i];
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->unused, NULL);
    return p;
}

void connections_free(struct connections *p)
{
    if (!p)
        return;
    /* Reservations may be left: libmicrohttpd stops without reporting queued connections. */
    for (size_t i = 0; i < CONNECTION_STATES; i++)
        assert(p->count[i] == 0);
    assert(p->networks.map.count == 0);
    map_release(&p->networks.map);
    pthread_cond_destroy(&p->unused);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static void unlink_connection(struct connections *p, struct connection *connection)
{
    connection->previous->next = connection->next;
    connection->next->previous = connection->previous;
    p->count[connection->state]--;
}

static void link_connection(struct connections *p, struct connection *connection,
                            enum connection_state state, int64_t now_ms)
{
    struct connection *ring = &p->rings[state];

    connection->state = state;
    connection->since_ms = now_ms;
    connection->next = ring;
    connection->previous = ring->previous;
    connection->previous->next = connection;
    ring->previous = connection;
    p->count[state]++;
}

/*
 * Shuts the connection down and marks it as closing. The caller holds the lock, which is released
 * during the system calls: shutdown(2) wakes a thread of libmicrohttpd, which soon needs the lock.
 */
static void end_connection(struct connections *p, struct connection *connection, int64_t now_ms)
{
    const struct linger at_once = {.l_onoff = 1};
    bool answering = connection->state == CONNECTION_ANSWERING;

    unlink_connection(p, connection);
    link_connection(p, connection, CONNECTION_CLOSING, now_ms);
    connection->in_use = true;
    pthread_mutex_unlock(&p->lock);
    /* The kernel discards unsent bytes of the response when the socket is closed. */
    if (answering)
        (void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    shutdown(connection->fd, SHUT_RDWR);
    pthread_mutex_lock(&p->lock);
    connection->in_use = false;
    pthread_cond_broadcast(&p->unused);
}

static unsigned open_count(const struct connections *p)
{
    return p->reserved + p->count[CONNECTION_RECEIVING] + p->count[CONNECTION_ANSWERING] +
           p->count[CONNECTION_IDLE];
}

/* Returns true if bytes are unacknowledged, and nothing was sent for the time of a stall. */
static bool is_stalled(const struct connection *connection, int64_t age_ms)
{
    /* Assumed for sockets other than TCP: no byte was sent or acknowledged in this state. */
    struct tcp_info info = {.tcpi_last_data_sent = (uint32_t)age_ms, .tcpi_unacked = 1};
    socklen_t len = sizeof(info);

    if (!socket_has_unsent(connection->fd))
        return false;
    (void)getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &len);
    return info.tcpi_last_data_sent >=
           (info.tcpi_unacked == 0 ? WINDOW_CLOSED_MS : UNACKNOWLEDGED_MS);
}

static bool is_evictable(const struct connection *connection, int64_t now_ms)
{
    int64_t age_ms = now_ms - connection->since_ms;

    if (connection->state == CONNECTION_ANSWERING)
        return age_ms >= SLOW_ANSWER_MS ||
               (age_ms >= WINDOW_CLOSED_MS && is_stalled(connection, age_ms));
    if (connection->state == CONNECTION_RECEIVING && age_ms < FIRST_REQUEST_MS &&
        socket_has_received(connection->fd))
        return false;
    return !socket_has_unread(connection->fd);
}

/*
 * Returns the candidate of the state: among the evictable ones of its CANDIDATES_MAX oldest
 * connections, the oldest of the network with most connections. NULL without evictable connections.
 */
static struct connection *find_evictable_in_state(struct connections *p,
                                                  enum connection_state state, int64_t now_ms)
{
    struct connection *ring = &p->rings[state], *found = NULL;
    struct connection *connection = ring->next;

    for (unsigned i = 0; connection != ring && i < CANDIDATES_MAX;
         i++, connection = connection->next) {
        if ((!found || connection->network->count > found->network->count) &&
            is_evictable(connection, now_ms))
            found = connection;
    }
    return found;
}

/* Returns 8 times the number of connections beyond the state's share; negative: below the share. */
static int64_t state_surplus(const struct connections *p, enum connection_state state)
{
    return (int64_t)p->count[state] * 8 - (int64_t)p->budget * rules[state].share;
}

/*
 * Returns an evictable connection of the state with the largest surplus among the states that have
 * one and have reached their share. Returns NULL if there is no such state.
 */
static struct connection *find_evictable(struct connections *p, int64_t now_ms)
{
    struct connection *found = NULL;
    int64_t surplus_max = 0;

    for (unsigned state = 0; state < CONNECTION_CLOSING; state++) {
        int64_t beyond = state_surplus(p, state);
        struct connection *connection = beyond >= 0 && (!found || beyond > surplus_max)
                                            ? find_evictable_in_state(p, state, now_ms)
                                            : NULL;

        if (connection) {
            found = connection;
            surplus_max = beyond;
        }
    }
    return found;
}

/*
 * Calls find_evictable_in_state() for each state. Returns the found connection that has been
 * longest in its state, at least REDUCE_AGE_MIN_MS; NULL if no connection qualifies.
 */
static struct connection *find_oldest_evictable(struct connections *p, int64_t now_ms)
{
    struct connection *found = NULL;

    for (unsigned state = 0; state < CONNECTION_CLOSING; state++) {
        struct connection *connection = find_evictable_in_state(p, state, now_ms);

        if (connection && now_ms - connection->since_ms >= REDUCE_AGE_MIN_MS &&
            (!found || connection->since_ms < found->since_ms))
            found = connection;
    }
    return found;
}

/* Ends the connection and counts the reason. Returns false if the connection is NULL. */
static bool evict(struct connections *p, struct connection *connection,
                  enum connection_refusal reason, int64_t now_ms)
{
    if (!connection)
        return false;
    p->refused[reason]++;
    end_connection(p, connection, now_ms);
    return true;
}

static bool evict_for_budget(struct connections *p, int64_t now_ms)
{
    struct connection *connection = find_evictable(p, now_ms);

    return connection && evict(p, connection, rules[connection->state].evicted, now_ms);
}

bool connections_make_room(struct connections *p, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    bool room = p->count[CONNECTION_CLOSING] < p->closing_max &&
                (open_count(p) < p->budget || evict_for_budget(p, now_ms));
    pthread_mutex_unlock(&p->lock);
    return room;
}

void connections_reduce(struct connections *p, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    unsigned count = open_count(p) + p->count[CONNECTION_CLOSING];

    p->raised_ms = now_ms;
    /* If the count exceeds the limit, an earlier reduction has not taken full effect. */
    if (count <= p->limit && count > LIMIT_LOWERED_MIN)
        set_limit(p, count - count / LIMIT_LOWER_DIVISOR);
    while ((open_count(p) > p->budget || p->count[CONNECTION_CLOSING] == 0) &&
           evict(p, find_oldest_evictable(p, now_ms), REFUSED_DESCRIPTORS, now_ms))
        ;
    pthread_mutex_unlock(&p->lock);
}

/*
 * Returns the connection that has been longest in CONNECTION_ANSWERING, at least SLOW_ANSWER_MS, of
 * the connections with unsent bytes. NULL if no connection qualifies.
 */
static struct connection *find_slow_answer(const struct connections *p, int64_t now_ms)
{
    const struct connection *ring = &p->rings[CONNECTION_ANSWERING];

    for (struct connection *connection = ring->next;
         connection != ring && now_ms - connection->since_ms >= SLOW_ANSWER_MS;
         connection = connection->next) {
        if (socket_has_unsent(connection->fd))
            return connection;
    }
    return NULL;
}

void connections_evict_slow(struct connections *p, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    unsigned left = 1 + p->count[CONNECTION_ANSWERING] / SLOW_DIVISOR;

    while (left > 0 && evict(p, find_slow_answer(p, now_ms), REFUSED_EVICTED_SLOW, now_ms))
        left--;
    pthread_mutex_unlock(&p->lock);
}

void connections_reserve(struct connections *p)
{
    pthread_mutex_lock(&p->lock);
    p->reserved++;
    pthread_mutex_unlock(&p->lock);
}

void connections_cancel_reservation(struct connections *p)
{
    pthread_mutex_lock(&p->lock);
    p->reserved--;
    pthread_mutex_unlock(&p->lock);
}

struct connection *connections_add(struct connections *p, int fd, int64_t now_ms)
{
    struct connection *connection = xcalloc(1, sizeof(*connection));
    struct sockaddr_storage address = {0};
    socklen_t len = sizeof(address);

    connection->fd = fd;
    (void)getpeername(fd, (struct sockaddr *)&address, &len);
    pthread_mutex_lock(&p->lock);
    connection->network =
        network_counts_add(&p->networks, client_network((const struct sockaddr *)&address));
    p->reserved--;
    link_connection(p, connection, CONNECTION_RECEIVING, now_ms);
    pthread_mutex_unlock(&p->lock);
    return connection;
}

void connections_set_state(struct connections *p, struct connection *connection,
                           enum connection_state state, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    if (connection->state != CONNECTION_CLOSING) {
        unlink_connection(p, connection);
        link_connection(p, connection, state, now_ms);
    }
    pthread_mutex_unlock(&p->lock);
}

void connections_remove(struct connections *p, struct connection *connection)
{
    pthread_mutex_lock(&p->lock);
    while (connection->in_use)
        pthread_cond_wait(&p->unused, &p->lock);
    unlink_connection(p, connection);
    network_counts_remove(&p->networks, connection->network);
    pthread_mutex_unlock(&p->lock);
    free(connection);
}

bool connections_sweep(struct connections *p, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    if (p->limit < p->limit_max && now_ms - p->raised_ms >= RAISE_EVERY_MS) {
        unsigned raised = p->limit + 1 + p->limit / LIMIT_RAISE_DIVISOR;

        set_limit(p, raised < p->limit_max ? raised : p->limit_max);
        p->raised_ms = now_ms;
    }
    for (unsigned state = 0; state < CONNECTION_CLOSING; state++) {
        struct connection *ring = &p->rings[state];

        while (ring->next != ring && now_ms - ring->next->since_ms >= rules[state].deadline_ms) {
            p->refused[rules[state].overdue] += rules[state].counts_overdue;
            end_connection(p, ring->next, now_ms);
        }
    }
    bool has_open = open_count(p) > 0;
    pthread_mutex_unlock(&p->lock);
    return has_open;
}

static void count_refusal(struct connections *p, enum connection_refusal reason)
{
    pthread_mutex_lock(&p->lock);
    p->refused[reason]++;
    pthread_mutex_unlock(&p->lock);
}

uint64_t connections_refused(struct connections *p, enum connection_refusal reason)
{
    pthread_mutex_lock(&p->lock);
    uint64_t count = p->refused[reason];
    pthread_mutex_unlock(&p->lock);
    return count;
}

unsigned connections_count(struct connections *p)
{
    pthread_mutex_lock(&p->lock);
    unsigned count = open_count(p) + p->count[CONNECTION_CLOSING];
    pthread_mutex_unlock(&p->lock);
    return count;
}

/* ---- the acceptor thread ---- */

enum {
    SWEEP_EVERY_MS = 500,
    ACCEPTS_MAX = 64,      /* Calls of accept(2) before the next listener has its turn. */
    ROOM_PAUSE_MS = 2,     /* Time between two attempts to make room. */
    STARVED_PAUSE_MS = 20, /* Time between two attempts to get a descriptor. */
    /* Time without room after which waiting connections are refused: the listen queue is finite. */
    ROOM_PATIENCE_MS = 500,
};

struct acceptor {
    struct acceptor_settings settings;
    pthread_t thread;
    int wake;              /* eventfd; readable when the thread has to end. */
    struct pollfd *polled; /* The listeners, then `wake`. */
    /* Reserve descriptor, closed when no other is left, to accept one client at a time; or -1. */
    int spare;
    int held;                        /* Accepted connection that waits for room; or -1. */
    struct sockaddr_storage address; /* Address of the held connection. */
    socklen_t address_len;
    int64_t exceeded_ms; /* Time of the last call of connections_evict_slow(). */
    int64_t no_room_ms;  /* Begin of the present lack of room; 0 with room or without a client. */
    bool starved;        /* accept(2) lacked resources while `spare` was used up. */
};

static bool is_resource_shortage(int code)
{
    return code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM;
}

static void open_spare(struct acceptor *a)
{
    if (a->spare < 0)
        a->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/*
 * Moves the socket to a descriptor number of `first_fd` or higher. Returns the new descriptor; `fd`
 * if its number is high enough, or on failure.
 */
static int raise_fd_number(int fd, int first_fd)
{
    int raised = first_fd > fd ? fcntl(fd, F_DUPFD_CLOEXEC, first_fd) : -1;

    if (raised < 0)
        return fd;
    close(fd);
    return raised;
}

/* Ends connections for their descriptors. Closes the spare one, or sets `starved` without one. */
static void free_descriptors(struct acceptor *a)
{
    connections_reduce(a->settings.connections, platform_steady_ms());
    a->starved = a->spare < 0;
    if (a->spare >= 0)
        close(a->spare);
    a->spare = -1;
}

static void add_held_connection(struct acceptor *a)
{
    const struct acceptor_settings *s = &a->settings;
    int fd = raise_fd_number(a->held, s->first_fd);

    a->held = -1;
    connections_reserve(s->connections);
    if (!s->add_connection(s->context, fd, (const struct sockaddr *)&a->address, a->address_len))
        connections_cancel_reservation(s->connections);
}

/* Adds or refuses the held connection. Returns false if the connection has to wait for room. */
static bool place_held_connection(struct acceptor *a)
{
    int64_t now_ms = platform_steady_ms();

    if (connections_make_room(a->settings.connections, now_ms)) {
        add_held_connection(a);
        a->no_room_ms = 0;
        return true;
    }
    if (a->no_room_ms == 0)
        a->no_room_ms = now_ms;
    if (now_ms - a->no_room_ms < ROOM_PATIENCE_MS)
        return false;
    count_refusal(a->settings.connections, REFUSED_BUDGET);
    close(a->held);
    a->held = -1;
    return true;
}

/*
 * Accepts up to ACCEPTS_MAX connections. Ends before if no client waits, if no descriptor is left,
 * or if a connection has to be held.
 */
static void accept_connections(struct acceptor *a, int listener)
{
    for (unsigned i = 0; i < ACCEPTS_MAX && !a->starved; i++) {
        a->address_len = sizeof(a->address);
        a->held = accept4(listener, (struct sockaddr *)&a->address, &a->address_len,
                          SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (a->held < 0 && is_resource_shortage(errno))
            free_descriptors(a);
        else if (a->held < 0 && errno != ECONNABORTED) {
            a->no_room_ms = 0;
            return;
        }
        if (a->held >= 0 && !place_held_connection(a))
            return;
    }
}

/*
 * Waits for a connection, at most for the timeout (-1: for ever); while a connection waits for room
 * or a descriptor is missing, for a short pause instead. Returns false if the thread has to end.
 */
static bool wait_for_connection(struct acceptor *a, int timeout_ms)
{
    size_t count = a->settings.listener_count;
    struct pollfd *wake = &a->polled[count];

    if (a->held >= 0 || a->starved) {
        poll(wake, 1, a->starved ? STARVED_PAUSE_MS : ROOM_PAUSE_MS);
        timeout_ms = 0;
    }
    poll(a->polled, count + 1, timeout_ms);
    return wake->revents == 0;
}

/*
 * Ends connections that use too much memory or have exceeded a deadline. Returns the milliseconds
 * until the next call; -1: after the next connection.
 */
static int enforce_limits(struct acceptor *a)
{
    const struct acceptor_settings *s = &a->settings;
    int64_t now_ms = platform_steady_ms();

    /* libmicrohttpd frees the memory a moment after a connection has ended: wait for the effect. */
    if (s->is_memory_exceeded && now_ms - a->exceeded_ms >= SWEEP_EVERY_MS &&
        s->is_memory_exceeded(s->context)) {
        a->exceeded_ms = now_ms;
        connections_evict_slow(s->connections, now_ms);
    }
    return connections_sweep(s->connections, now_ms) ? SWEEP_EVERY_MS : -1;
}

static void *run_acceptor(void *context)
{
    struct acceptor *a = context;
    int timeout_ms = -1;

    while (wait_for_connection(a, timeout_ms)) {
        a->starved = false;
        open_spare(a);
        if (a->held < 0 || place_held_connection(a)) {
            for (size_t i = 0; i < a->settings.listener_count && a->held < 0; i++) {
                /* Without a descriptor accept(2) fails with EMFILE even if no client waits. */
                if (a->polled[i].revents != 0)
                    accept_connections(a, a->polled[i].fd);
            }
        }
        timeout_ms = enforce_limits(a);
    }
    return NULL;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void acceptor_free(struct acceptor *a)
{
    close_fd(a->held);
    close_fd(a->spare);
    close_fd(a->wake);
    free(a->polled);
    free(a);
}

struct acceptor *acceptor_start(const struct acceptor_settings *settings, struct error *err)
{
    struct acceptor *a = xcalloc(1, sizeof(*a));
    size_t count = settings->listener_count;

    a->settings = *settings;
    a->held = a->spare = -1;
    a->polled = xcalloc(count + 1, sizeof(*a->polled));
    a->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (size_t i = 0; i <= count; i++)
        a->polled[i] =
            (struct pollfd){.fd = i < count ? settings->listeners[i] : a->wake, .events = POLLIN};
    open_spare(a);
    int result = a->wake < 0 ? errno : thread_start(&a->thread, run_acceptor, a);

    if (result == 0)
        return a;
    acceptor_free(a);
    fail(err, "cannot start a thread that accepts connections: %s", strerror(result));
    return NULL;
}

void acceptor_stop(struct acceptor *a)
{
    if (!a)
        return;
    eventfd_write(a->wake, 1);
    pthread_join(a->thread, NULL);
    acceptor_free(a);
}
