/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "exporter/system/platform.h"

/* ---- signals ---- */

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

/* ---- shutdown deadline ---- */

struct shutdown_deadline {
    pthread_t thread;
    int signals; /* signalfd(2), polled but never read: the event loop consumes the signal. */
    int ending;  /* eventfd(2): readable once the deadline starts. */
    int ended;   /* eventfd(2): readable after the shutdown. */
    _Atomic size_t listener_count;
    int listeners[SHUTDOWN_LISTENERS_MAX];
};

static void *run_deadline_thread(void *context)
{
    struct shutdown_deadline *d = context;
    struct pollfd start_events[] = {
        {.fd = d->signals, .events = POLLIN},
        {.fd = d->ending, .events = POLLIN},
        {.fd = d->ended, .events = POLLIN},
    };
    struct pollfd ended = {.fd = d->ended, .events = POLLIN};

    while (poll(start_events, ARRAY_LEN(start_events), -1) <= 0)
        continue;
    /* thread_start() has blocked all signals, so that poll(2) cannot fail with EINTR. */
    if (poll(&ended, 1, SHUTDOWN_DEADLINE_MS) != 0)
        return NULL;
    for (size_t i = 0; i < d->listener_count; i++)
        close(d->listeners[i]);
    _exit(0);
}

static void release_deadline(struct shutdown_deadline *d)
{
    const int fds[] = {d->signals, d->ending, d->ended};

    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    free(d);
}

struct shutdown_deadline *shutdown_deadline_start(struct error *err)
{
    struct shutdown_deadline *d = xcalloc(1, sizeof(*d));
    sigset_t wanted;
    int code = 0;

    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGINT);
    pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    d->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    d->ending = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    d->ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (d->signals < 0 || d->ending < 0 || d->ended < 0)
        code = errno;
    else
        code = thread_start(&d->thread, run_deadline_thread, d);
    if (code == 0)
        return d;
    release_deadline(d);
    fail(err, "cannot start the thread that enforces the shutdown deadline: %s", strerror(code));
    return NULL;
}

void shutdown_deadline_add_listener(struct shutdown_deadline *d, int fd)
{
    if (d->listener_count < SHUTDOWN_LISTENERS_MAX) {
        d->listeners[d->listener_count] = fd;
        d->listener_count++;
    }
}

/* Makes an eventfd readable. The call cannot fail: the counter stays far below its maximum. */
static void signal_event(int fd)
{
    if (eventfd_write(fd, 1) < 0)
        abort();
}

void shutdown_deadline_begin(struct shutdown_deadline *d)
{
    signal_event(d->ending);
}

void shutdown_deadline_free(struct shutdown_deadline *d)
{
    if (!d)
        return;
    signal_event(d->ended);
    pthread_join(d->thread, NULL);
    release_deadline(d);
}
