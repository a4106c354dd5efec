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

struct request_queue {
    pthread_mutex_t
        lock; /* Guards all of it but `unread` and what request_queue_peek() gave away. */
    struct queued_request *first;
    struct queued_request **last;
    unsigned count;
    unsigned limit;
    bool closed;
    int fd;
    uint64_t bytes;
    _Atomic uint64_t unread; /* Bytes of answers that clients have not read yet. */
};

struct request_queue *request_queue_new(unsigned limit, uint64_t bytes)
{
    struct request_queue *d = xcalloc(1, sizeof(*d));

    pthread_mutex_init(&d->lock, NULL);
    d->last = &d->first;
    d->limit = limit;
    d->bytes = bytes > 0 ? bytes : UINT64_MAX;
    d->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (d->fd < 0)
        abort();
    return d;
}

void request_queue_free(struct request_queue *d)
{
    if (!d)
        return;
    assert(!d->first && atomic_load(&d->unread) == 0);
    close(d->fd);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

struct queued_request *queued_request_new(const struct endpoint *endpoint, struct query *query)
{
    struct queued_request *queued_request = xcalloc(1, sizeof(*queued_request));

    queued_request->endpoint = endpoint;
    queued_request->query = *query;
    *query = (struct query){{0}};
    queued_request->status = MHD_HTTP_OK;
    queued_request->content_type = RESPONSE_JSON;
    queued_request->content = STRBUF_INIT(0);
    queued_request->body = STRBUF_INIT(BODY_MAX);
    return queued_request;
}

void queued_request_free(struct queued_request *queued_request)
{
    if (!queued_request)
        return;
    if (queued_request->response)
        MHD_destroy_response(queued_request->response);
    query_release(&queued_request->query);
    free(queued_request->header.value);
    strbuf_release(&queued_request->content);
    strbuf_release(&queued_request->body);
    free(queued_request);
}

struct MHD_Response *queued_request_take_response(struct queued_request *queued_request)
{
    struct MHD_Response *response = queued_request->response;

    queued_request->response = NULL;
    return response;
}

bool request_queue_submit(struct request_queue *d, struct queued_request *queued_request,
                          struct MHD_Connection *connection)
{
    const uint64_t one = 1;

    pthread_mutex_lock(&d->lock);
    bool taken = !d->closed && d->count < d->limit;

    if (taken) {
        /* Before the loop can see it: it may answer at once. */
        MHD_suspend_connection(connection);
        queued_request->connection = connection;
        *d->last = queued_request;
        d->last = &queued_request->next;
        d->count++;
    }
    pthread_mutex_unlock(&d->lock);
    return taken && write(d->fd, &one, sizeof(one)) == sizeof(one);
}

int request_queue_fd(const struct request_queue *d)
{
    return d->fd;
}

uint64_t request_queue_unread(const struct request_queue *d)
{
    return atomic_load(&d->unread);
}

struct queued_request *request_queue_peek(struct request_queue *d)
{
    uint64_t count;

    while (read(d->fd, &count, sizeof(count)) > 0)
        continue;
    pthread_mutex_lock(&d->lock);
    struct queued_request *queued_request = atomic_load(&d->unread) < d->bytes ? d->first : NULL;
    pthread_mutex_unlock(&d->lock);
    return queued_request;
}

/* The bytes of an answer, counted until the library is done with them. */
struct unread {
    struct request_queue *request_queue;
    char *bytes;
    size_t len;
};

static void free_read(void *context)
{
    struct unread *u = context;

    atomic_fetch_sub(&u->request_queue->unread, u->len);
    free(u->bytes);
    free(u);
}

static struct MHD_Response *make_response(struct request_queue *d,
                                          struct queued_request *queued_request)
{
    struct unread *u = xcalloc(1, sizeof(*u));

    if (!strbuf_ok(&queued_request->body)) {
        strbuf_reset(&queued_request->body);
        strbuf_adds(&queued_request->body,
                    "{\"error\": \"the answer is too large: ask for less of it\"}\n");
        queued_request->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
        queued_request->content_type = RESPONSE_JSON;
    }
    u->request_queue = d;
    u->bytes = strbuf_take(&queued_request->body, &u->len);
    atomic_fetch_add(&d->unread, u->len);

    struct MHD_Response *response =
        response_new_borrowed(u->bytes, u->len, queued_request->content_type, free_read, u);

    if (queued_request->header.value)
        response_add_header(response, queued_request->header.name, queued_request->header.value);
    return response;
}

void request_queue_answer_first(struct request_queue *d)
{
    /* Only this thread takes calls away. */
    struct queued_request *queued_request = d->first;

    queued_request->response = make_response(d, queued_request);
    pthread_mutex_lock(&d->lock);
    d->first = queued_request->next;
    if (!d->first)
        d->last = &d->first;
    d->count--;
    pthread_mutex_unlock(&d->lock);
    /* The last thing: its thread may free it at once. */
    MHD_resume_connection(queued_request->connection);
}

void request_queue_close(struct request_queue *d)
{
    pthread_mutex_lock(&d->lock);
    d->closed = true;
    bool waiting = d->first;
    pthread_mutex_unlock(&d->lock);

    while (waiting) {
        struct queued_request *queued_request = d->first;

        queued_request->status = MHD_HTTP_SERVICE_UNAVAILABLE;
        queued_request->content_type = RESPONSE_TEXT;
        strbuf_reset(&queued_request->body);
        strbuf_adds(&queued_request->body, "the exporter is stopping\n");
        waiting = queued_request->next;
        request_queue_answer_first(d);
    }
}

/*
 * Its thread sleeps in read(2) of `begun` and says by `done` that it has finished: what these two
 * order needs no lock.
 */
struct request_worker {
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
    struct request_worker *c = context;
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

struct request_worker *request_worker_new(struct error *err)
{
    struct request_worker *c = xcalloc(1, sizeof(*c));
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
    request_worker_free(c);
    return NULL;
}

void request_worker_free(struct request_worker *c)
{
    if (!c)
        return;
    atomic_store(&c->ending, true);
    if (c->started) {
        struct pollfd wanted = {.fd = c->done, .events = POLLIN};

        while (c->busy && !request_worker_collect(c))
            poll(&wanted, 1, -1);
        request_worker_begin(c, NULL, NULL);
        pthread_join(c->thread, NULL);
    }
    if (c->begun >= 0)
        close(c->begun);
    if (c->done >= 0)
        close(c->done);
    free(c);
}

bool request_worker_is_stopping(const struct request_worker *c)
{
    return atomic_load(&c->ending);
}

int request_worker_fd(const struct request_worker *c)
{
    return c->done;
}

void request_worker_begin(struct request_worker *c, void (*work)(void *context), void *context)
{
    assert(!c->busy);
    c->work = work;
    c->context = context;
    c->busy = true;
    tell(c->begun);
}

bool request_worker_collect(struct request_worker *c)
{
    uint64_t count;

    if (!c->busy || read(c->done, &count, sizeof(count)) != sizeof(count))
        return false;
    c->busy = false;
    return true;
}
