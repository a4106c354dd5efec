/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/request_queue.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "exporter/system/platform.h"
#include "exporter/web/response.h"

enum { BODY_MAX = 256 * 1024 * 1024 };

struct desk {
    pthread_mutex_t lock; /* Guards all of it but `unread` and what desk_next() gave away. */
    struct call *first;
    struct call **last;
    unsigned count;
    unsigned limit;
    bool closed;
    int fd;
    uint64_t bytes;
    _Atomic uint64_t unread; /* Bytes of answers that clients have not read yet. */
};

struct desk *desk_new(unsigned limit, uint64_t bytes)
{
    struct desk *d = xcalloc(1, sizeof(*d));

    pthread_mutex_init(&d->lock, NULL);
    d->last = &d->first;
    d->limit = limit;
    d->bytes = bytes > 0 ? bytes : UINT64_MAX;
    d->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (d->fd < 0)
        abort();
    return d;
}

void desk_free(struct desk *d)
{
    if (!d)
        return;
    assert(!d->first && atomic_load(&d->unread) == 0);
    close(d->fd);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

struct call *call_new(const struct endpoint *endpoint, struct query *query)
{
    struct call *call = xcalloc(1, sizeof(*call));

    call->endpoint = endpoint;
    call->query = *query;
    *query = (struct query){{0}};
    call->status = MHD_HTTP_OK;
    call->content_type = RESPONSE_JSON;
    call->content = STRBUF_INIT(0);
    call->body = STRBUF_INIT(BODY_MAX);
    return call;
}

void call_free(struct call *call)
{
    if (!call)
        return;
    if (call->response)
        MHD_destroy_response(call->response);
    query_release(&call->query);
    free(call->header.value);
    strbuf_release(&call->content);
    strbuf_release(&call->body);
    free(call);
}

struct MHD_Response *call_response(struct call *call)
{
    struct MHD_Response *response = call->response;

    call->response = NULL;
    return response;
}

bool desk_submit(struct desk *d, struct call *call, struct MHD_Connection *connection)
{
    const uint64_t one = 1;

    pthread_mutex_lock(&d->lock);
    bool taken = !d->closed && d->count < d->limit;

    if (taken) {
        /* Before the loop can see it: it may answer at once. */
        MHD_suspend_connection(connection);
        call->connection = connection;
        *d->last = call;
        d->last = &call->next;
        d->count++;
    }
    pthread_mutex_unlock(&d->lock);
    return taken && write(d->fd, &one, sizeof(one)) == sizeof(one);
}

int desk_fd(const struct desk *d)
{
    return d->fd;
}

uint64_t desk_unread(const struct desk *d)
{
    return atomic_load(&d->unread);
}

struct call *desk_next(struct desk *d)
{
    uint64_t count;

    while (read(d->fd, &count, sizeof(count)) > 0)
        continue;
    pthread_mutex_lock(&d->lock);
    struct call *call = atomic_load(&d->unread) < d->bytes ? d->first : NULL;
    pthread_mutex_unlock(&d->lock);
    return call;
}

/* The bytes of an answer, counted until the library is done with them. */
struct unread {
    struct desk *desk;
    char *bytes;
    size_t len;
};

static void free_read(void *context)
{
    struct unread *u = context;

    atomic_fetch_sub(&u->desk->unread, u->len);
    free(u->bytes);
    free(u);
}

static struct MHD_Response *make_response(struct desk *d, struct call *call)
{
    struct unread *u = xcalloc(1, sizeof(*u));

    if (!strbuf_ok(&call->body)) {
        strbuf_reset(&call->body);
        strbuf_adds(&call->body, "{\"error\": \"the answer is too large: ask for less of it\"}\n");
        call->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
        call->content_type = RESPONSE_JSON;
    }
    u->desk = d;
    u->bytes = strbuf_take(&call->body, &u->len);
    atomic_fetch_add(&d->unread, u->len);

    struct MHD_Response *response =
        response_borrowed(u->bytes, u->len, call->content_type, free_read, u);

    if (call->header.value)
        response_header(response, call->header.name, call->header.value);
    return response;
}

void desk_answer(struct desk *d)
{
    /* Only this thread takes calls away. */
    struct call *call = d->first;

    call->response = make_response(d, call);
    pthread_mutex_lock(&d->lock);
    d->first = call->next;
    if (!d->first)
        d->last = &d->first;
    d->count--;
    pthread_mutex_unlock(&d->lock);
    /* The last thing: its thread may free it at once. */
    MHD_resume_connection(call->connection);
}

void desk_close(struct desk *d)
{
    pthread_mutex_lock(&d->lock);
    d->closed = true;
    bool waiting = d->first;
    pthread_mutex_unlock(&d->lock);

    while (waiting) {
        struct call *call = d->first;

        call->status = MHD_HTTP_SERVICE_UNAVAILABLE;
        call->content_type = RESPONSE_TEXT;
        strbuf_reset(&call->body);
        strbuf_adds(&call->body, "the exporter is stopping\n");
        waiting = call->next;
        desk_answer(d);
    }
}

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
