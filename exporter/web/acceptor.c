/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/acceptor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "exporter/system/platform.h"

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
static int move_up(int fd, int from)
{
    int moved = from > fd ? fcntl(fd, F_DUPFD_CLOEXEC, from) : -1;

    if (moved < 0)
        return fd;
    close(fd);
    return moved;
}

/* No descriptor is left: end the idlest, and serve with the spare one meanwhile. */
static void relieve(struct acceptor *a)
{
    peers_relieve(a->settings.peers, platform_steady_ms());
    a->starved = a->spare < 0;
    if (a->spare >= 0)
        close(a->spare);
    a->spare = -1;
}

static void hand_over(struct acceptor *a)
{
    const struct acceptor_settings *s = &a->settings;
    int fd = move_up(a->held, s->from);

    a->held = -1;
    peers_arrive(s->peers);
    if (!s->hand_over(s->context, fd, (const struct sockaddr *)&a->address, a->address_len))
        peers_withdraw(s->peers);
}

/* Pass on the connection in hand. False if there is no room yet. */
static bool place(struct acceptor *a)
{
    int64_t now_ms = platform_steady_ms();

    if (peers_make_room(a->settings.peers, now_ms)) {
        hand_over(a);
        a->held_ms = 0;
        return true;
    }
    if (a->held_ms == 0)
        a->held_ms = now_ms;
    if (now_ms - a->held_ms < PATIENCE_MS)
        return false;
    peers_refuse(a->settings.peers, REFUSED_BUDGET);
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
    if (s->overfull && now_ms - a->looked_ms >= SWEEP_EVERY_MS && s->overfull(s->context)) {
        a->looked_ms = now_ms;
        peers_end_slow(s->peers, now_ms);
    }
    return peers_sweep(s->peers, now_ms) ? SWEEP_EVERY_MS : -1;
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
