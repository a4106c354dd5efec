/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/clerk.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "exporter/system/platform.h"

/*
 * Its thread sleeps in read(2) of `begun` and says by `done` that it has finished: what these two
 * order needs no lock.
 */
struct clerk {
    pthread_t thread;
    bool started;
    bool busy; /* Of the loop: it has begun, and was not seen to be done. */
    atomic_bool ending;
    int begun;
    int done;
    void (*work)(void *context); /* NULL: end. */
    void *context;
};

static void tell(int fd)
{
    const uint64_t one = 1;

    if (write(fd, &one, sizeof(one)) != sizeof(one))
        abort();
}

static void *run(void *context)
{
    struct clerk *c = context;
    uint64_t count;

    for (;;) {
        if (read(c->begun, &count, sizeof(count)) < 0)
            continue;
        if (!c->work)
            return NULL;
        c->work(c->context);
        tell(c->done);
    }
}

struct clerk *clerk_new(struct error *err)
{
    struct clerk *c = xcalloc(1, sizeof(*c));
    int code = 0;

    c->begun = eventfd(0, EFD_CLOEXEC);
    c->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (c->begun < 0 || c->done < 0)
        code = errno;
    else
        code = thread_start(&c->thread, run, c);
    c->started = code == 0;
    if (c->started)
        return c;
    fail(err, "cannot start the thread that answers calls: %s", strerror(code));
    clerk_free(c);
    return NULL;
}

void clerk_free(struct clerk *c)
{
    if (!c)
        return;
    atomic_store(&c->ending, true);
    if (c->started) {
        struct pollfd wanted = {.fd = c->done, .events = POLLIN};

        while (c->busy && !clerk_done(c))
            poll(&wanted, 1, -1);
        clerk_begin(c, NULL, NULL);
        pthread_join(c->thread, NULL);
    }
    if (c->begun >= 0)
        close(c->begun);
    if (c->done >= 0)
        close(c->done);
    free(c);
}

bool clerk_is_ending(const struct clerk *c)
{
    return atomic_load(&c->ending);
}

int clerk_fd(const struct clerk *c)
{
    return c->done;
}

void clerk_begin(struct clerk *c, void (*work)(void *context), void *context)
{
    assert(!c->busy);
    c->work = work;
    c->context = context;
    c->busy = true;
    tell(c->begun);
}

bool clerk_done(struct clerk *c)
{
    uint64_t count;

    if (!c->busy || read(c->done, &count, sizeof(count)) != sizeof(count))
        return false;
    c->busy = false;
    return true;
}
