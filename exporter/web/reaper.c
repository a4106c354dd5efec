/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/reaper.h"

#include <pthread.h>
#include <sys/socket.h>

enum { SWEEP_EVERY_MS = 500 };

/* IDLE is the library's inactivity timeout (15 s) and the time a request's headers may take. */
static const int64_t phase_ms[REAPER_PHASES] = {
    [REAPER_HEADERS] = 5000,
    [REAPER_ANSWER] = 60000,
    [REAPER_IDLE] = 20000,
};

struct reaper_peer {
    struct reaper_peer *next;
    struct reaper_peer *previous;
    int fd;
    enum reaper_phase phase;
    bool ended; /* Was shut down; the library has yet to notice. */
    int64_t since_ms;
};

struct reaper {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool started;
    bool stop;
    unsigned limit;
    unsigned count;
    struct reaper_peer peers; /* Head of a ring, the oldest connection first. */
};

int64_t reaper_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct reaper *reaper_new(unsigned limit)
{
    struct reaper *r = xcalloc(1, sizeof(*r));
    pthread_condattr_t attributes;

    r->limit = limit;
    r->peers.next = r->peers.previous = &r->peers;
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&r->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    return r;
}

void reaper_free(struct reaper *r)
{
    if (!r)
        return;
    if (r->started) {
        pthread_mutex_lock(&r->lock);
        r->stop = true;
        pthread_cond_signal(&r->wake);
        pthread_mutex_unlock(&r->lock);
        pthread_join(r->thread, NULL);
    }
    assert(r->count == 0);
    pthread_cond_destroy(&r->wake);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

struct reaper_peer *reaper_add(struct reaper *r, int fd, int64_t now_ms)
{
    struct reaper_peer *peer = xcalloc(1, sizeof(*peer));

    peer->fd = fd;
    peer->phase = REAPER_HEADERS;
    peer->since_ms = now_ms;

    pthread_mutex_lock(&r->lock);
    peer->next = &r->peers;
    peer->previous = r->peers.previous;
    peer->previous->next = peer;
    r->peers.previous = peer;
    r->count++;
    /* Without a connection the thread sleeps without a deadline. */
    if (r->count == 1)
        pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
    return peer;
}

void reaper_enter(struct reaper *r, struct reaper_peer *peer, enum reaper_phase phase,
                  int64_t now_ms)
{
    pthread_mutex_lock(&r->lock);
    peer->phase = phase;
    peer->since_ms = now_ms;
    pthread_mutex_unlock(&r->lock);
}

void reaper_remove(struct reaper *r, struct reaper_peer *peer)
{
    pthread_mutex_lock(&r->lock);
    peer->previous->next = peer->next;
    peer->next->previous = peer->previous;
    r->count--;
    pthread_mutex_unlock(&r->lock);
    free(peer);
}

static void end_peer(struct reaper_peer *peer)
{
    peer->ended = true;
    shutdown(peer->fd, SHUT_RDWR);
}

static unsigned sweep_locked(struct reaper *r, int64_t now_ms)
{
    unsigned comfortable = r->limit - r->limit / 4;
    unsigned ended = 0, leaving = 0;

    for (struct reaper_peer *p = r->peers.next; p != &r->peers; p = p->next) {
        if (!p->ended && now_ms - p->since_ms >= phase_ms[p->phase]) {
            end_peer(p);
            ended++;
        }
        leaving += p->ended;
    }

    /* Above three quarters of the limit the connections that wait for a request are closed. */
    unsigned staying = r->count - leaving;
    unsigned surplus = staying > comfortable ? staying - comfortable : 0;

    for (struct reaper_peer *p = r->peers.next; p != &r->peers && surplus > 0; p = p->next) {
        if (!p->ended && p->phase != REAPER_ANSWER) {
            end_peer(p);
            ended++;
            surplus--;
        }
    }
    return ended;
}

unsigned reaper_sweep(struct reaper *r, int64_t now_ms)
{
    pthread_mutex_lock(&r->lock);
    unsigned ended = sweep_locked(r, now_ms);
    pthread_mutex_unlock(&r->lock);
    return ended;
}

static void *run(void *context)
{
    struct reaper *r = context;

    pthread_mutex_lock(&r->lock);
    while (!r->stop) {
        int64_t due_ms = reaper_now_ms() + SWEEP_EVERY_MS;
        struct timespec due = {.tv_sec = due_ms / 1000, .tv_nsec = (due_ms % 1000) * 1000000};

        sweep_locked(r, reaper_now_ms());
        while (!r->stop && r->count == 0)
            pthread_cond_wait(&r->wake, &r->lock);
        while (!r->stop && reaper_now_ms() < due_ms)
            pthread_cond_timedwait(&r->wake, &r->lock, &due);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

bool reaper_start(struct reaper *r, struct error *err)
{
    int result = pthread_create(&r->thread, NULL, run, r);

    if (result != 0)
        return fail(err, "cannot start a thread: %s", strerror(result));
    r->started = true;
    return true;
}
