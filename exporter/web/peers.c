/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/peers.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

#include "exporter/web/origins.h"
#include "exporter/web/socket_state.h"

#define REFUSAL_NAME(id, name) name,
const char *const refusal_names[REFUSAL_COUNT] = {REFUSALS(REFUSAL_NAME)};

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
    enum refusal evicted, overdue;
    bool counts; /* Being over the deadline is no ordinary end. */
} rules[PEER_LEAVING] = {
    [PEER_HEADERS] = {4, 5000, REFUSED_EVICTED_WAITING, REFUSED_HEADERS_TIMEOUT, true},
    [PEER_ANSWER] = {2, 60000, REFUSED_EVICTED_SLOW, REFUSED_ANSWER_TIMEOUT, true},
    /* The library's inactivity timeout (15 s) and the time a request's headers may take. */
    [PEER_IDLE] = {2, 20000, REFUSED_EVICTED_IDLE, REFUSED_EVICTED_IDLE, false},
};

struct peer {
    struct peer *next;
    struct peer *previous;
    struct address_count *origin;
    int fd;
    enum peer_phase phase;
    bool in_use; /* By the thread that ends it. */
    int64_t since_ms;
};

struct peers {
    pthread_mutex_t lock;
    pthread_cond_t ended;  /* A peer is no longer in use. */
    unsigned most;         /* As many as there may be. */
    unsigned limit;        /* Fewer while descriptors are missing. */
    unsigned budget;       /* Of these, those who stay; */
    unsigned most_leaving; /* the others leave. */
    int64_t raised_ms;     /* When the limit rose last. */
    unsigned arriving;
    unsigned count[PEER_PHASES];
    struct origins origins;
    struct peer rings[PEER_PHASES]; /* Heads; who entered first comes first. */
    uint64_t refused[REFUSAL_COUNT];
};

static void set_limit(struct peers *p, unsigned limit)
{
    p->limit = limit > 1 ? limit : 1;
    p->most_leaving = limit > LEAVING_PART ? limit / LEAVING_PART : 1;
    p->budget = limit > 1 ? limit - p->most_leaving : 1;
}

struct peers *peers_new(unsigned limit)
{
    struct peers *p = xcalloc(1, sizeof(*p));

    p->most = limit;
    origins_init(&p->origins);
    set_limit(p, limit);
    for (size_t i = 0; i < PEER_PHASES; i++)
        p->rings[i].next = p->rings[i].previous = &p->rings[i];
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->ended, NULL);
    return p;
}

void peers_free(struct peers *p)
{
    if (!p)
        return;
    /* Some may never have arrived: the library ended before it began with them. */
    for (size_t i = 0; i < PEER_PHASES; i++)
        assert(p->count[i] == 0);
    origins_release(&p->origins);
    pthread_cond_destroy(&p->ended);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static void unlink_peer(struct peers *p, struct peer *peer)
{
    peer->previous->next = peer->next;
    peer->next->previous = peer->previous;
    p->count[peer->phase]--;
}

static void link_peer(struct peers *p, struct peer *peer, enum peer_phase phase, int64_t now_ms)
{
    struct peer *ring = &p->rings[phase];

    peer->phase = phase;
    peer->since_ms = now_ms;
    peer->next = ring;
    peer->previous = ring->previous;
    peer->previous->next = peer;
    ring->previous = peer;
    p->count[phase]++;
}

/*
 * Under the lock, which is given up meanwhile: ending wakes the other side, and whoever holds a
 * lock then is often put aside for it. The peer cannot be removed before that is done.
 */
static void end_peer(struct peers *p, struct peer *peer, int64_t now_ms)
{
    const struct linger at_once = {.l_onoff = 1};
    bool answering = peer->phase == PEER_ANSWER;

    unlink_peer(p, peer);
    link_peer(p, peer, PEER_LEAVING, now_ms);
    peer->in_use = true;
    pthread_mutex_unlock(&p->lock);
    /* What a slow reader has not taken is not kept for it after the end. */
    if (answering)
        (void)setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    shutdown(peer->fd, SHUT_RDWR);
    pthread_mutex_lock(&p->lock);
    peer->in_use = false;
    pthread_cond_broadcast(&p->ended);
}

static unsigned staying(const struct peers *p)
{
    return p->arriving + p->count[PEER_HEADERS] + p->count[PEER_ANSWER] + p->count[PEER_IDLE];
}

/* Has its client not taken what we sent? If nothing waits to be taken it is we who are late. */
static bool is_stalled(const struct peer *peer, int64_t age_ms)
{
    /* Of a socket that is not TCP nothing more is known. */
    struct tcp_info info = {.tcpi_last_data_sent = (uint32_t)age_ms, .tcpi_unacked = 1};
    socklen_t len = sizeof(info);

    if (!socket_has_unsent(peer->fd))
        return false;
    (void)getsockopt(peer->fd, IPPROTO_TCP, TCP_INFO, &info, &len);
    return info.tcpi_last_data_sent >= (info.tcpi_unacked == 0 ? SHUT_MS : STALLED_MS);
}

static bool is_idle(const struct peer *peer, int64_t now_ms)
{
    int64_t age_ms = now_ms - peer->since_ms;

    if (peer->phase == PEER_ANSWER)
        return age_ms >= LONG_MS || (age_ms >= SHUT_MS && is_stalled(peer, age_ms));
    if (peer->phase == PEER_HEADERS && age_ms < BEGINS_MS && socket_has_received(peer->fd))
        return false;
    return !socket_has_unread(peer->fd);
}

/* Of the oldest that are idle one of the origin that has most connections. */
static struct peer *idlest_of(struct peers *p, enum peer_phase phase, int64_t now_ms)
{
    struct peer *ring = &p->rings[phase], *found = NULL;
    struct peer *peer = ring->next;

    for (unsigned looks = 0; peer != ring && looks < LOOKS; looks++, peer = peer->next) {
        if ((!found || peer->origin->count > found->origin->count) && is_idle(peer, now_ms))
            found = peer;
    }
    return found;
}

/* By how many eighths of a connection the phase is beyond its share. */
static int64_t surplus(const struct peers *p, enum peer_phase phase)
{
    return (int64_t)p->count[phase] * 8 - (int64_t)p->budget * rules[phase].share;
}

/* Whoever is within the share of its phase stays: for the others we can wait a moment. */
static struct peer *idlest(struct peers *p, int64_t now_ms)
{
    struct peer *found = NULL;
    int64_t most = 0;

    for (unsigned phase = 0; phase < PEER_LEAVING; phase++) {
        int64_t beyond = surplus(p, phase);
        struct peer *peer =
            beyond >= 0 && (!found || beyond > most) ? idlest_of(p, phase, now_ms) : NULL;

        if (peer) {
            found = peer;
            most = beyond;
        }
    }
    return found;
}

/* The oldest of all that is idle, and for some time. */
static struct peer *longest_idle(struct peers *p, int64_t now_ms)
{
    struct peer *found = NULL;

    for (unsigned phase = 0; phase < PEER_LEAVING; phase++) {
        struct peer *peer = idlest_of(p, phase, now_ms);

        if (peer && now_ms - peer->since_ms >= YOUNG_MS &&
            (!found || peer->since_ms < found->since_ms))
            found = peer;
    }
    return found;
}

/* End a peer, unless it is none, counted under this reason. */
static bool evict(struct peers *p, struct peer *peer, enum refusal reason, int64_t now_ms)
{
    if (!peer)
        return false;
    p->refused[reason]++;
    end_peer(p, peer, now_ms);
    return true;
}

static bool make_room(struct peers *p, int64_t now_ms)
{
    struct peer *peer = idlest(p, now_ms);

    return evict(p, peer, peer ? rules[peer->phase].evicted : REFUSED_BUDGET, now_ms);
}

bool peers_make_room(struct peers *p, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    bool room = p->count[PEER_LEAVING] < p->most_leaving &&
                (staying(p) < p->budget || make_room(p, now_ms));
    pthread_mutex_unlock(&p->lock);
    return room;
}

void peers_relieve(struct peers *p, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    unsigned count = staying(p) + p->count[PEER_LEAVING];

    p->raised_ms = now_ms;
    /* Above it those who were ended for the last time have yet to leave. */
    if (count <= p->limit && count > LIMIT_LEAST)
        set_limit(p, count - count / LIMIT_PART);
    while ((staying(p) > p->budget || p->count[PEER_LEAVING] == 0) &&
           evict(p, longest_idle(p, now_ms), REFUSED_DESCRIPTORS, now_ms))
        ;
    pthread_mutex_unlock(&p->lock);
}

/* Whoever waits for us has nothing to take yet, and holds nothing. */
static struct peer *slowest(const struct peers *p, int64_t now_ms)
{
    const struct peer *ring = &p->rings[PEER_ANSWER];

    for (struct peer *peer = ring->next; peer != ring && now_ms - peer->since_ms >= LONG_MS;
         peer = peer->next) {
        if (socket_has_unsent(peer->fd))
            return peer;
    }
    return NULL;
}

void peers_end_slow(struct peers *p, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    unsigned most = 1 + p->count[PEER_ANSWER] / SLOW_PART;

    while (most > 0 && evict(p, slowest(p, now_ms), REFUSED_EVICTED_SLOW, now_ms))
        most--;
    pthread_mutex_unlock(&p->lock);
}

void peers_arrive(struct peers *p)
{
    pthread_mutex_lock(&p->lock);
    p->arriving++;
    pthread_mutex_unlock(&p->lock);
}

void peers_withdraw(struct peers *p)
{
    pthread_mutex_lock(&p->lock);
    p->arriving--;
    pthread_mutex_unlock(&p->lock);
}

struct peer *peers_add(struct peers *p, int fd, int64_t now_ms)
{
    struct peer *peer = xcalloc(1, sizeof(*peer));
    struct sockaddr_storage address = {0};
    socklen_t len = sizeof(address);

    peer->fd = fd;
    (void)getpeername(fd, (struct sockaddr *)&address, &len);
    pthread_mutex_lock(&p->lock);
    peer->origin = origins_join(&p->origins, origin_of((const struct sockaddr *)&address));
    p->arriving--;
    link_peer(p, peer, PEER_HEADERS, now_ms);
    pthread_mutex_unlock(&p->lock);
    return peer;
}

void peers_enter(struct peers *p, struct peer *peer, enum peer_phase phase, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    if (peer->phase != PEER_LEAVING) {
        unlink_peer(p, peer);
        link_peer(p, peer, phase, now_ms);
    }
    pthread_mutex_unlock(&p->lock);
}

void peers_remove(struct peers *p, struct peer *peer)
{
    pthread_mutex_lock(&p->lock);
    while (peer->in_use)
        pthread_cond_wait(&p->ended, &p->lock);
    unlink_peer(p, peer);
    origins_leave(&p->origins, peer->origin);
    pthread_mutex_unlock(&p->lock);
    free(peer);
}

bool peers_sweep(struct peers *p, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    if (p->limit < p->most && now_ms - p->raised_ms >= RAISE_EVERY_MS) {
        set_limit(p, p->limit + 1 + p->limit / LIMIT_STEP_PART);
        p->raised_ms = now_ms;
    }
    for (unsigned phase = 0; phase < PEER_LEAVING; phase++) {
        struct peer *ring = &p->rings[phase];

        while (ring->next != ring && now_ms - ring->next->since_ms >= rules[phase].deadline_ms) {
            p->refused[rules[phase].overdue] += rules[phase].counts;
            end_peer(p, ring->next, now_ms);
        }
    }
    bool left = staying(p) > 0;
    pthread_mutex_unlock(&p->lock);
    return left;
}

void peers_refuse(struct peers *p, enum refusal reason)
{
    pthread_mutex_lock(&p->lock);
    p->refused[reason]++;
    pthread_mutex_unlock(&p->lock);
}

uint64_t peers_refused(struct peers *p, enum refusal reason)
{
    pthread_mutex_lock(&p->lock);
    uint64_t count = p->refused[reason];
    pthread_mutex_unlock(&p->lock);
    return count;
}

unsigned peers_count(struct peers *p)
{
    pthread_mutex_lock(&p->lock);
    unsigned count = staying(p) + p->count[PEER_LEAVING];
    pthread_mutex_unlock(&p->lock);
    return count;
}
