/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/signals.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

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
