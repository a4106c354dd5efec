/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "exporter/system/platform.h"

bool signals_open(struct signals *s, struct error *err)
{
    sigset_t wanted;

    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGHUP);
    if (pthread_sigmask(SIG_BLOCK, &wanted, &s->before) != 0)
        abort();
    s->fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->fd >= 0 || fail(err, "cannot wait for signals: %s", strerror(errno));
}

void signals_close(struct signals *s)
{
    if (s->fd < 0)
        return;
    close(s->fd);
    s->fd = -1;
    pthread_sigmask(SIG_SETMASK, &s->before, NULL);
}

int signals_next(const struct signals *s)
{
    struct signalfd_siginfo info;

    return read(s->fd, &info, sizeof(info)) == (ssize_t)sizeof(info) ? (int)info.ssi_signo : 0;
}

struct shutdown_deadline {
    pthread_t thread;
    int signals; /* Polled and never read: the signal is for the loop. */
    int ending;
    int ended;
    _Atomic size_t listener_count;
    int listeners[SHUTDOWN_LISTENERS_MAX];
};

static void *run(void *context)
{
    struct shutdown_deadline *g = context;
    struct pollfd begun[] = {
        {.fd = g->signals, .events = POLLIN},
        {.fd = g->ending, .events = POLLIN},
        {.fd = g->ended, .events = POLLIN},
    };
    struct pollfd ended = {.fd = g->ended, .events = POLLIN};

    /* All signals are blocked in this thread: nothing interrupts a poll. */
    while (poll(begun, ARRAY_LEN(begun), -1) <= 0)
        continue;
    if (poll(&ended, 1, SHUTDOWN_DEADLINE_MS) != 0)
        return NULL;
    for (size_t i = 0; i < g->listener_count; i++)
        close(g->listeners[i]);
    _exit(0);
}

static void release(struct shutdown_deadline *g)
{
    const int fds[] = {g->signals, g->ending, g->ended};

    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    free(g);
}

struct shutdown_deadline *shutdown_deadline_start(struct error *err)
{
    struct shutdown_deadline *g = xcalloc(1, sizeof(*g));
    sigset_t wanted;
    int code = 0;

    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGINT);
    pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    g->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    g->ending = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    g->ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (g->signals < 0 || g->ending < 0 || g->ended < 0)
        code = errno;
    else
        code = thread_start(&g->thread, run, g);
    if (code == 0)
        return g;
    release(g);
    fail(err, "cannot start the thread that guards the end: %s", strerror(code));
    return NULL;
}

void shutdown_deadline_add_listener(struct shutdown_deadline *g, int fd)
{
    if (g->listener_count < SHUTDOWN_LISTENERS_MAX) {
        g->listeners[g->listener_count] = fd;
        g->listener_count++;
    }
}

/* The counter is far from full: this cannot fail. */
static void raise_event(int fd)
{
    if (eventfd_write(fd, 1) < 0)
        abort();
}

void shutdown_deadline_begin(struct shutdown_deadline *g)
{
    raise_event(g->ending);
}

void shutdown_deadline_free(struct shutdown_deadline *g)
{
    if (!g)
        return;
    raise_event(g->ended);
    pthread_join(g->thread, NULL);
    release(g);
}
