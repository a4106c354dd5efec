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
    /* Guards the list, `count` and `closed`; the loop may use the first request without the lock.
     */
    pthread_mutex_t lock;
    struct queued_request *first;
    struct queued_request **last;
    unsigned count;
    unsigned limit;
    bool closed;
    int fd; /* eventfd; see request_queue_fd(). */
    uint64_t unread_max;
    _Atomic uint64_t unread; /* Bytes of responses that clients have not read. */
};

static void notify_eventfd(int fd)
{
    const uint64_t one = 1;

    if (write(fd, &one, sizeof(one)) != sizeof(one))
        abort();
}

struct request_queue *request_queue_new(unsigned limit, uint64_t bytes)
{
    struct request_queue *q = xcalloc(1, sizeof(*q));

    pthread_mutex_init(&q->lock, NULL);
    q->last = &q->first;
    q->limit = limit;
    q->unread_max = bytes > 0 ? bytes : UINT64_MAX;
    q->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (q->fd < 0)
        abort();
    return q;
}

void request_queue_free(struct request_queue *q)
{
    if (!q)
        return;
    assert(!q->first && atomic_load(&q->unread) == 0);
    close(q->fd);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

struct queued_request *queued_request_new(const struct endpoint *endpoint, struct query *query)
{
    struct queued_request *request = xcalloc(1, sizeof(*request));

    request->endpoint = endpoint;
    request->query = *query;
    *query = (struct query){{0}};
    request->status = MHD_HTTP_OK;
    request->content_type = RESPONSE_JSON;
    request->content = STRBUF_INIT(0);
    request->body = STRBUF_INIT(BODY_MAX);
    return request;
}

void queued_request_free(struct queued_request *request)
{
    if (!request)
        return;
    if (request->response)
        MHD_destroy_response(request->response);
    query_release(&request->query);
    free(request->header.value);
    strbuf_release(&request->content);
    strbuf_release(&request->body);
    free(request);
}

struct MHD_Response *queued_request_take_response(struct queued_request *request)
{
    struct MHD_Response *response = request->response;

    request->response = NULL;
    return response;
}

bool request_queue_submit(struct request_queue *q, struct queued_request *request,
                          struct MHD_Connection *connection)
{
    pthread_mutex_lock(&q->lock);
    bool taken = !q->closed && q->count < q->limit;

    if (taken) {
        /* Suspend first: once the request is in the list, the loop may answer it at any time. */
        MHD_suspend_connection(connection);
        request->connection = connection;
        *q->last = request;
        q->last = &request->next;
        q->count++;
    }
    pthread_mutex_unlock(&q->lock);
    if (taken)
        notify_eventfd(q->fd);
    return taken;
}

int request_queue_fd(const struct request_queue *q)
{
    return q->fd;
}

uint64_t request_queue_unread(const struct request_queue *q)
{
    return atomic_load(&q->unread);
}

struct queued_request *request_queue_peek(struct request_queue *q)
{
    uint64_t count;

    while (read(q->fd, &count, sizeof(count)) > 0)
        continue;
    pthread_mutex_lock(&q->lock);
    struct queued_request *request = atomic_load(&q->unread) < q->unread_max ? q->first : NULL;
    pthread_mutex_unlock(&q->lock);
    return request;
}

/* Bytes of a response, counted as unread until libmicrohttpd releases them. */
struct response_bytes {
    struct request_queue *request_queue;
    char *bytes;
    size_t len;
};

static void free_response_bytes(void *context)
{
    struct response_bytes *b = context;

    atomic_fetch_sub(&b->request_queue->unread, b->len);
    free(b->bytes);
    free(b);
}

static struct MHD_Response *make_response(struct request_queue *q, struct queued_request *request)
{
    struct response_bytes *b = xcalloc(1, sizeof(*b));

    if (!strbuf_ok(&request->body)) {
        strbuf_reset(&request->body);
        strbuf_adds(&request->body,
                    "{\"error\": \"the answer is too large: ask for less of it\"}\n");
        request->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
        request->content_type = RESPONSE_JSON;
    }
    b->request_queue = q;
    b->bytes = strbuf_take(&request->body, &b->len);
    atomic_fetch_add(&q->unread, b->len);

    struct MHD_Response *response =
        response_new_borrowed(b->bytes, b->len, request->content_type, free_response_bytes, b);

    if (request->header.value)
        response_add_header(response, request->header.name, request->header.value);
    return response;
}

void request_queue_answer_first(struct request_queue *q)
{
    /* Without the lock: only this thread removes requests. */
    struct queued_request *request = q->first;

    request->response = make_response(q, request);
    pthread_mutex_lock(&q->lock);
    q->first = request->next;
    if (!q->first)
        q->last = &q->first;
    q->count--;
    bool waiting = q->first;
    pthread_mutex_unlock(&q->lock);
    if (waiting)
        notify_eventfd(q->fd);
    /* Last, because the thread of the connection may then free the request at once. */
    MHD_resume_connection(request->connection);
}

void request_queue_close(struct request_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    bool waiting = q->first;
    pthread_mutex_unlock(&q->lock);

    while (waiting) {
        struct queued_request *request = q->first;

        request->status = MHD_HTTP_SERVICE_UNAVAILABLE;
        request->content_type = RESPONSE_TEXT;
        strbuf_reset(&request->body);
        strbuf_adds(&request->body, "the exporter is stopping\n");
        waiting = request->next;
        request_queue_answer_first(q);
    }
}

/* ---- worker ---- */

/*
 * The worker thread waits in read(2) for `begun` and writes to `done` after the work. These two
 * eventfds order the accesses to `work` and `context`, which therefore need no lock.
 */
struct request_worker {
    pthread_t thread;
    bool started;
    bool busy; /* Work was begun and not collected. Used by the loop only. */
    atomic_bool stopping;
    int begun;
    int done;
    void (*work)(void *context); /* NULL: the thread ends. */
    void *context;
};

static void *run_worker(void *context)
{
    struct request_worker *w = context;
    uint64_t count;

    for (;;) {
        if (read(w->begun, &count, sizeof(count)) < 0)
            continue;
        if (!w->work)
            return NULL;
        w->work(w->context);
        notify_eventfd(w->done);
    }
}

struct request_worker *request_worker_new(struct error *err)
{
    struct request_worker *w = xcalloc(1, sizeof(*w));
    int code = 0;

    w->begun = eventfd(0, EFD_CLOEXEC);
    w->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->begun < 0 || w->done < 0)
        code = errno;
    else
        code = thread_start(&w->thread, run_worker, w);
    w->started = code == 0;
    if (w->started)
        return w;
    fail(err, "cannot start the thread that processes requests: %s", strerror(code));
    request_worker_free(w);
    return NULL;
}

void request_worker_free(struct request_worker *w)
{
    if (!w)
        return;
    atomic_store(&w->stopping, true);
    if (w->started) {
        struct pollfd wanted = {.fd = w->done, .events = POLLIN};

        while (w->busy && !request_worker_collect(w))
            poll(&wanted, 1, -1);
        request_worker_begin(w, NULL, NULL);
        pthread_join(w->thread, NULL);
    }
    if (w->begun >= 0)
        close(w->begun);
    if (w->done >= 0)
        close(w->done);
    free(w);
}

bool request_worker_is_stopping(const struct request_worker *w)
{
    return atomic_load(&w->stopping);
}

int request_worker_fd(const struct request_worker *w)
{
    return w->done;
}

void request_worker_begin(struct request_worker *w, void (*work)(void *context), void *context)
{
    assert(!w->busy);
    w->work = work;
    w->context = context;
    w->busy = true;
    notify_eventfd(w->begun);
}

bool request_worker_collect(struct request_worker *w)
{
    uint64_t count;

    if (!w->busy || read(w->done, &count, sizeof(count)) != sizeof(count))
        return false;
    w->busy = false;
    return true;
}
