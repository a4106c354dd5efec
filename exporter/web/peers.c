/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/peers.h"

#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define REFUSAL_NAME(id, name) name,
const char *const refusal_names[REFUSAL_COUNT] = {REFUSALS(REFUSAL_NAME)};

enum {
    /* An answer younger than this is not slow, whatever the client. */
    QUICK_MS = 250,
    /* How many to ask whether they have sent something: if so many have, it is we who lag. */
    LOOKS = 16,
    LEAVING_PART = 8,
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
    int fd;
    enum peer_phase phase;
    bool in_use; /* By the thread that ends it. */
    int64_t since_ms;
};

struct peers {
    pthread_mutex_t lock;
    pthread_cond_t ended;  /* A peer is no longer in use. */
    unsigned budget;       /* Those who stay. */
    unsigned most_leaving; /* Beside them. */
    unsigned arriving;
    unsigned count[PEER_PHASES];
    struct peer rings[PEER_PHASES]; /* Heads; who entered first comes first. */
    uint64_t refused[REFUSAL_COUNT];
};

struct peers *peers_new(unsigned limit)
{
    struct peers *p = xcalloc(1, sizeof(*p));

    p->most_leaving = limit > LEAVING_PART ? limit / LEAVING_PART : 1;
    p->budget = limit > 1 ? limit - p->most_leaving : 1;
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

static bool has_unread(const struct peer *peer)
{
    int bytes = 0;

    return ioctl(peer->fd, FIONREAD, &bytes) == 0 && bytes > 0;
}

static struct peer *idlest_of(struct peers *p, enum peer_phase phase, int64_t now_ms)
{
    struct peer *ring = &p->rings[phase];
    struct peer *peer = ring->next;

    if (phase == PEER_ANSWER)
        return peer != ring && now_ms - peer->since_ms >= QUICK_MS ? peer : NULL;
    for (unsigned looks = 0; peer != ring && looks < LOOKS; looks++, peer = peer->next) {
        if (!has_unread(peer))
            return peer;
    }
    return NULL;
}

/* By how many eighths of a connection the phase is beyond its share. */
static int64_t surplus(const struct peers *p, enum peer_phase phase)
{
    return (int64_t)p->count[phase] * 8 - (int64_t)p->budget * rules[phase].share;
}

static struct peer *idlest(struct peers *p, int64_t now_ms)
{
    struct peer *found = NULL;
    int64_t most = 0;

    for (unsigned phase = 0; phase < PEER_LEAVING; phase++) {
        int64_t beyond = surplus(p, phase);
        struct peer *peer = !found || beyond > most ? idlest_of(p, phase, now_ms) : NULL;

        if (peer) {
            found = peer;
            most = beyond;
        }
    }
    return found;
}

static bool evict(struct peers *p, int64_t now_ms)
{
    struct peer *peer = idlest(p, now_ms);

    if (!peer)
        return false;
    p->refused[rules[peer->phase].evicted]++;
    end_peer(p, peer, now_ms);
    return true;
}

bool peers_make_room(struct peers *p, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    bool room =
        p->count[PEER_LEAVING] < p->most_leaving && (staying(p) < p->budget || evict(p, now_ms));
    pthread_mutex_unlock(&p->lock);
    return room;
}

void peers_relieve(struct peers *p, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
    struct peer *peer = idlest(p, now_ms);

    if (peer) {
        p->refused[REFUSED_DESCRIPTORS]++;
        end_peer(p, peer, now_ms);
    }
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

    peer->fd = fd;
    pthread_mutex_lock(&p->lock);
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
    pthread_mutex_unlock(&p->lock);
    free(peer);
}

bool peers_sweep(struct peers *p, int64_t now_ms)
{
    pthread_mutex_lock(&p->lock);
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
