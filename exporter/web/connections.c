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

static bool is_of(const void *item, const void *key)
{
    const struct address_count *origin = item;
    const uint64_t *address = key;

    return origin->address == *address;
}

static uint64_t hash_of(const struct address_counts *o, uint64_t address)
{
    return map_hash(&address, sizeof(address), o->seed);
}

static void origins_init(struct address_counts *o)
{
    *o = (struct address_counts){.map = MAP_INIT(is_of), .seed = platform_seed()};
}

/* Nobody may be left. */
static void origins_release(struct address_counts *o)
{
    assert(o->map.count == 0);
    map_release(&o->map);
}

static MUST_USE struct address_count *origins_join(struct address_counts *o, uint64_t address)
{
    uint64_t hash = hash_of(o, address);
    struct address_count *origin = map_get(&o->map, hash, &address);

    if (!origin) {
        origin = xcalloc(1, sizeof(*origin));
        origin->address = address;
        map_add(&o->map, hash, origin);
    }
    origin->count++;
    return origin;
}

/* One more of an address, or one less: the origin lives until the last one has left. */
static void origins_leave(struct address_counts *o, struct address_count *origin)
{
    if (--origin->count > 0)
        return;
    (void)map_take(&o->map, hash_of(o, origin->address), &origin->address);
    free(origin);
}

/* Has its client sent what was not read yet? */
static bool socket_has_unread(int fd)
{
    int bytes = 0;

    return ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0;
}

/* Was anything written that its client has not taken yet? */
static bool socket_has_unsent(int fd)
{
    int bytes = 0;

    return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

/*
 * Has anything come from its client at all, read or not? Between two messages of a handshake of TLS
 * nothing may be unread. Of TCP alone.
 */
static bool socket_has_received(int fd)
{
    struct tcp_info info = {.tcpi_bytes_received = 0};
    socklen_t len = sizeof(info);

    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 && info.tcpi_bytes_received > 0;
}

#define REFUSAL_NAME(id, name) name,
const char *const connection_refusal_names[REFUSAL_COUNT] = {REFUSALS(REFUSAL_NAME)};

enum {
    /* An answer is slow when for so long nothing could be sent, since the client has no room; */
    SHUT_MS = 20,
    STALLED_MS = 250, /* or nothing was acknowledged; */
    LONG_MS = 2000,   /* or when it takes so long. */
    /* Who has begun is not idle for so long between two messages. */
    BEGINS_MS = 500,
    /* Without descriptors somebody has to go, but not who has just come. */
    YOUNG_MS = 100,
    /* How many to look at: if so many are not idle, it is we who lag. */
    LOOKS = 16,
    LEAVING_PART = 4,
    SLOW_PART = 4, /* Of all answers, that end at once because they hold memory. */
    /* By which the limit falls when descriptors are missing, and rises again. */
    LIMIT_PART = 8,
    LIMIT_LEAST = 8,
    LIMIT_STEP_PART = 64,
    RAISE_EVERY_MS = 500,
};

static const struct phase_rule {
    unsigned share; /* Eighths of the budget. */
    int64_t deadline_ms;
    enum connection_refusal evicted, overdue;
    bool counts; /* Being over the deadline is no ordinary end. */
} rules[CONNECTION_CLOSING] = {
    [CONNECTION_RECEIVING] = {4, 5000, REFUSED_EVICTED_WAITING, REFUSED_HEADERS_TIMEOUT, true},
    [CONNECTION_ANSWERING] = {2, 60000, REFUSED_EVICTED_SLOW, REFUSED_ANSWER_TIMEOUT, true},
    /* The library's inactivity timeout (15 s) and the time a request's headers may take. */
    [CONNECTION_IDLE] = {2, 20000, REFUSED_EVICTED_IDLE, REFUSED_EVICTED_IDLE, false},
};

struct connection {
    struct connection *next;
    struct connection *previous;
    struct address_count *origin;
    int fd;
    enum connection_state phase;
    bool in_use; /* By the thread that ends it. */
    int64_t since_ms;
};

struct connections {
    pthread_mutex_t lock;
    pthread_cond_t ended;  /* A peer is no longer in use. */
    unsigned most;         /* As many as there may be. */
    unsigned limit;        /* Fewer while descriptors are missing. */
    unsigned budget;       /* Of these, those who stay; */
    unsigned most_leaving; /* the others leave. */
    int64_t raised_ms;     /* When the limit rose last. */
    unsigned arriving;
    unsigned count[CONNECTION_STATES];
    struct address_counts address_counts;
    struct connection rings[CONNECTION_STATES]; /* Heads; who entered first comes first. */
    uint64_t refused[REFUSAL_COUNT];
};

static void set_limit(struct connections *p, unsigned limit)
{
    p->limit = limit > 1 ? limit : 1;
    p->most_leaving = limit > LEAVING_PART ? limit / LEAVING_PART : 1;
    p->budget = limit > 1 ? limit - p->most_leaving : 1;
}

struct connections *connections_new(unsigned limit)
{
    struct connections *p = xcalloc(1, sizeof(*p));

    p->most = limit;
    origins_init(&p->address_counts);
    set_limit(p, limit);
    for (size_t i = 0; i < CONNECTION_STATES; i++)
        p->rings[i].next = p->rings[i].previous = &p->rings[i];
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->ended, NULL);
    return p;
}

void connections_free(struct connections *p)
{
    if (!p)
        return;
    /* Some may never have arrived: the library ended before it began with them. */
    for (size_t i = 0; i < CONNECTION_STATES; i++)
        assert(p->count[i] == 0);
    origins_release(&p->address_counts);
    pthread_cond_destroy(&p->ended);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static void unlink_peer(struct connections *p, struct connection *connection)
{
    connection->previous->next = connection->next;
    connection->next->previous = connection->previous;
    p->count[connection->phase]--;
}

static void link_peer(struct connections *p, struct connection *connection,
                      enum connection_state phase, int64_t now_ms)
{
    struct connection *ring = &p->rings[phase];

    connection->phase = phase;
    connection->since_ms = now_ms;
    connection->next = ring;
    connection->previous = ring->previous;
    connection->previous->next = connection;
    ring->previous = connection;
    p->count[phase]++;
}

/*
 * Under the lock, which is given up meanwhile: ending wakes the other side, and whoever holds a
 * lock then is often put aside for it. The peer cannot be removed before that is done.
 */
static void end_peer(struct connections *p, struct connection *connection, int64_t now_ms)
{
    const struct linger at_once = {.l_onoff = 1};
    bool answering = connection->phase == CONNECTION_ANSWERING;

    unlink_peer(p, connection);
    link_peer(p, connection, CONNECTION_CLOSING, now_ms);
    connection->in_use = true;
    pthread_mutex_unlock(&p->lock);
    /* What a slow reader has not taken is not kept for it after the end. */
    if (answering)
        (void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    shutdown(connection->fd, SHUT_RDWR);
    pthread_mutex_lock(&p->lock);
    connection->in_use = false;
    pthread_cond_broadcast(&p->ended);
}

static unsigned staying(const struct connections *p)
{
    return p->arriving + p->count[CONNECTION_RECEIVING] + p->count[CONNECTION_ANSWERING] +
           p->count[CONNECTION_IDLE];
}

/* Has its client not taken what we sent? If nothing waits to be taken it is we who are late. */
static bool is_stalled(const struct connection *connection, int64_t age_ms)
{
    /* Of a socket that is not TCP nothing more is known. */
    struct tcp_info info = {.tcpi_last_data_sent = (uint32_t)age_ms, .tcpi_unacked = 1};
    socklen_t len = sizeof(info);

    if (!socket_has_unsent(connection->fd))
        return false;
    (void)getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &len);
    return info.tcpi_last_data_sent >= (info.tcpi_unacked == 0 ? SHUT_MS : STALLED_MS);
}

static bool is_idle(const struct connection *connection, int64_t now_ms)
{
    int64_t age_ms = now_ms - connection->since_ms;

    if (connection->phase == CONNECTION_ANSWERING)
        return age_ms >= LONG_MS || (age_ms >= SHUT_MS && is_stalled(connection, age_ms));
    if (connection->phase == CONNECTION_RECEIVING && age_ms < BEGINS_MS &&
        socket_has_received(connection->fd))
        return false;
    return !socket_has_unread(connection->fd);
}

/* Of the oldest that are idle one of the origin that has most connections. */
static struct connection *idlest_of(struct connections *p, enum connection_state phase,
                                    int64_t now_ms)
{
    struct connection *ring = &p->rings[phase], *found = NULL;
    struct connection *connection = ring->next;

    for (unsigned looks = 0; connection != ring && looks < LOOKS;
         looks++, connection = connection->next) {
        if ((!found || connection->origin->count > found->origin->count) &&
            is_idle(connection, now_ms))
            found = connection;
    }
    return found;
}

/* By how many eighths of a connection the phase is beyond its share. */
static int64_t surplus(const struct connections *p, enum connection_state phase)
{
    return (int64_t)p->count[phase] * 8 - (int64_t)p->budget * rules[phase].share;
}

/* Whoever is within the share of its phase stays: for the others we can wait a moment. */
static struct connection *idlest(struct connections *p, int64_t now_ms)
{
    struct connection *found = NULL;
    int64_t most = 0;

    for (unsigned phase = 0; phase < CONNECTION_CLOSING; phase++) {
        int64_t beyond = surplus(p, phase);
        struct connection *connection =
            beyond >= 0 && (!found || beyond > most) ? idlest_of(p, phase, now_ms) : NULL;

        if (connection) {
            found = connection;
            most = beyond;
        }
    }
    return found;
}

/* The oldest of all that is idle, and for some time. */
static struct connection *longest_idle(struct connections *p, int64_t now_ms)
{
    struct connection *found = NULL;

    for (unsigned phase = 0; phase < CONNECTION_CLOSING; phase++) {
        struct connection *connection = idlest_of(p, phase, now_ms);

        if (connection && now_ms - connection->since_ms >= YOUNG_MS &&
            (!found || connection->since_ms < found->since_ms))
            found = connection;
    }
    return found;
}

/* End a peer, unless it is none, counted under this reason. */
static bool evict(struct connections *p, struct connection *connection,
                  enum connection_refusal reason, int64_t now_ms)
{
    if (!connection)
        return false;
    p->refused[reason]++;
    end_peer(p, connection, now_ms);
    return true;
}

static bool make_room(struct connections *p, int64_t now_ms)
{
    struct connection *connection = idlest(p, now_ms);

    return evict(p, connection, connection ? rules[connection->phase].evicted : REFUSED_BUDGET,
                 now_ms);
}

bool connections_make_room(struct connections *p, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    bool room = p->count[CONNECTION_CLOSING] < p->most_leaving &&
                (staying(p) < p->budget || make_room(p, now_ms));
    pthread_mutex_unlock(&p->lock);
    return room;
}

void connections_reduce(struct connections *p, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    unsigned count = staying(p) + p->count[CONNECTION_CLOSING];

    p->raised_ms = now_ms;
    /* Above it those who were ended for the last time have yet to leave. */
    if (count <= p->limit && count > LIMIT_LEAST)
        set_limit(p, count - count / LIMIT_PART);
    while ((staying(p) > p->budget || p->count[CONNECTION_CLOSING] == 0) &&
           evict(p, longest_idle(p, now_ms), REFUSED_DESCRIPTORS, now_ms))
        ;
    pthread_mutex_unlock(&p->lock);
}

/* Whoever waits for us has nothing to take yet, and holds nothing. */
static struct connection *slowest(const struct connections *p, int64_t now_ms)
{
    const struct connection *ring = &p->rings[CONNECTION_ANSWERING];

    for (struct connection *connection = ring->next;
         connection != ring && now_ms - connection->since_ms >= LONG_MS;
         connection = connection->next) {
        if (socket_has_unsent(connection->fd))
            return connection;
    }
    return NULL;
}

void connections_evict_slow(struct connections *p, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    unsigned most = 1 + p->count[CONNECTION_ANSWERING] / SLOW_PART;

    while (most > 0 && evict(p, slowest(p, now_ms), REFUSED_EVICTED_SLOW, now_ms))
        most--;
    pthread_mutex_unlock(&p->lock);
}

void connections_reserve(struct connections *p)
{
    pthread_mutex_lock(&p->lock);
    p->arriving++;
    pthread_mutex_unlock(&p->lock);
}

void connections_cancel_reservation(struct connections *p)
{
    pthread_mutex_lock(&p->lock);
    p->arriving--;
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
    connection->origin =
        origins_join(&p->address_counts, client_network((const struct sockaddr *)&address));
    p->arriving--;
    link_peer(p, connection, CONNECTION_RECEIVING, now_ms);
    pthread_mutex_unlock(&p->lock);
    return connection;
}

void connections_set_state(struct connections *p, struct connection *connection,
                           enum connection_state phase, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    if (connection->phase != CONNECTION_CLOSING) {
        unlink_peer(p, connection);
        link_peer(p, connection, phase, now_ms);
    }
    pthread_mutex_unlock(&p->lock);
}

void connections_remove(struct connections *p, struct connection *connection)
{
    pthread_mutex_lock(&p->lock);
    while (connection->in_use)
        pthread_cond_wait(&p->ended, &p->lock);
    unlink_peer(p, connection);
    origins_leave(&p->address_counts, connection->origin);
    pthread_mutex_unlock(&p->lock);
    free(connection);
}

bool connections_sweep(struct connections *p, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    if (p->limit < p->most && now_ms - p->raised_ms >= RAISE_EVERY_MS) {
        set_limit(p, p->limit + 1 + p->limit / LIMIT_STEP_PART);
        p->raised_ms = now_ms;
    }
    for (unsigned phase = 0; phase < CONNECTION_CLOSING; phase++) {
        struct connection *ring = &p->rings[phase];

        while (ring->next != ring && now_ms - ring->next->since_ms >= rules[phase].deadline_ms) {
            p->refused[rules[phase].overdue] += rules[phase].counts;
            end_peer(p, ring->next, now_ms);
        }
    }
    bool left = staying(p) > 0;
    pthread_mutex_unlock(&p->lock);
    return left;
}

static void connections_refuse(struct connections *p, enum connection_refusal reason)
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
    unsigned count = staying(p) + p->count[CONNECTION_CLOSING];
    pthread_mutex_unlock(&p->lock);
    return count;
}

enum {
    SWEEP_EVERY_MS = 500,
    AT_ONCE = 64,          /* Connections of one listener before the next has its turn. */
    ROOM_PAUSE_MS = 2,     /* Between two attempts to make room. */
    STARVED_PAUSE_MS = 20, /* And to get a descriptor, which others have. */
    /* After which those that wait for room are refused: the queue behind them is finite. */
    PATIENCE_MS = 500,
};

struct acceptor {
    struct acceptor_settings settings;
    pthread_t thread;
    int wake;
    struct pollfd *polled; /* The listeners, and the wake last. */
    /* Given up where no descriptor is left, so that one client at a time can still be served. */
    int spare;
    int held; /* Accepted, and waiting for room; -1 if none is. */
    struct sockaddr_storage address;
    socklen_t address_len;
    int64_t looked_ms; /* When answers were last found to hold too much. */
    int64_t held_ms;   /* Since when there is no room. */
    bool starved;      /* The last accept(2) found no descriptor. */
};

static bool is_scarcity(int code)
{
    return code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM;
}

static void keep_spare(struct acceptor *a)
{
    if (a->spare < 0)
        a->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Out of the numbers that others need. */
static int move_up(int fd, int first_fd)
{
    int moved = first_fd > fd ? fcntl(fd, F_DUPFD_CLOEXEC, first_fd) : -1;

    if (moved < 0)
        return fd;
    close(fd);
    return moved;
}

/* No descriptor is left: end the idlest, and serve with the spare one meanwhile. */
static void relieve(struct acceptor *a)
{
    connections_reduce(a->settings.connections, platform_steady_ms());
    a->starved = a->spare < 0;
    if (a->spare >= 0)
        close(a->spare);
    a->spare = -1;
}

static void add_connection(struct acceptor *a)
{
    const struct acceptor_settings *s = &a->settings;
    int fd = move_up(a->held, s->first_fd);

    a->held = -1;
    connections_reserve(s->connections);
    if (!s->add_connection(s->context, fd, (const struct sockaddr *)&a->address, a->address_len))
        connections_cancel_reservation(s->connections);
}

/* Pass on the connection in hand. False if there is no room yet. */
static bool place(struct acceptor *a)
{
    int64_t now_ms = platform_steady_ms();

    if (connections_make_room(a->settings.connections, now_ms)) {
        add_connection(a);
        a->held_ms = 0;
        return true;
    }
    if (a->held_ms == 0)
        a->held_ms = now_ms;
    if (now_ms - a->held_ms < PATIENCE_MS)
        return false;
    connections_refuse(a->settings.connections, REFUSED_BUDGET);
    close(a->held);
    a->held = -1;
    return true;
}

static void accept_some(struct acceptor *a, int listener)
{
    for (unsigned i = 0; i < AT_ONCE && !a->starved; i++) {
        a->address_len = sizeof(a->address);
        a->held = accept4(listener, (struct sockaddr *)&a->address, &a->address_len,
                          SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (a->held < 0 && is_scarcity(errno))
            relieve(a);
        else if (a->held < 0 && errno != ECONNABORTED) {
            a->held_ms = 0;
            return;
        }
        if (a->held >= 0 && !place(a))
            return;
    }
}

/* Wait for a connection, or first a moment while none can be taken. False when it is to end. */
static bool wait_for_work(struct acceptor *a, int timeout_ms)
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

/* End who has to go. In how many milliseconds to look again; -1: when the next one comes. */
static int sweep(struct acceptor *a)
{
    const struct acceptor_settings *s = &a->settings;
    int64_t now_ms = platform_steady_ms();

    /* What is ended is freed a moment later. */
    if (s->is_memory_exceeded && now_ms - a->looked_ms >= SWEEP_EVERY_MS &&
        s->is_memory_exceeded(s->context)) {
        a->looked_ms = now_ms;
        connections_evict_slow(s->connections, now_ms);
    }
    return connections_sweep(s->connections, now_ms) ? SWEEP_EVERY_MS : -1;
}

static void *run(void *context)
{
    struct acceptor *a = context;
    int timeout_ms = -1;

    while (wait_for_work(a, timeout_ms)) {
        a->starved = false;
        keep_spare(a);
        if (a->held < 0 || place(a)) {
            for (size_t i = 0; i < a->settings.listener_count && a->held < 0; i++) {
                /* Without a descriptor accept(2) says so even if nobody connects. */
                if (a->polled[i].revents != 0)
                    accept_some(a, a->polled[i].fd);
            }
        }
        timeout_ms = sweep(a);
    }
    return NULL;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void release(struct acceptor *a)
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
    keep_spare(a);
    int result = a->wake < 0 ? errno : thread_start(&a->thread, run, a);

    if (result == 0)
        return a;
    release(a);
    fail(err, "cannot start a thread that accepts: %s", strerror(result));
    return NULL;
}

void acceptor_stop(struct acceptor *a)
{
    if (!a)
        return;
    eventfd_write(a->wake, 1);
    pthread_join(a->thread, NULL);
    release(a);
}
