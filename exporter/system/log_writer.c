/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/log_writer.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "exporter/system/platform.h"
#include "exporter/system/thread.h"

enum {
    LINE_MAX_BYTES = 256 * 1024, /* Of the line that tells of those missing. */
    RETRY_MS = 100,              /* Where the descriptor fails, or is not to block. */
};

struct log_writer {
    int fd;
    log_writer_lost_fn *lost;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock; /* Guards all that follows. */
    pthread_cond_t work;  /* There is a line, or the end has come. */
    pthread_cond_t moved; /* A line was written, or the thread has ended. */
    char *bytes;          /* LOG_WRITER_BYTES of them, a ring. */
    size_t begin;
    size_t used;
    size_t lengths[LOG_WRITER_LINES]; /* Of the lines in it, a ring as well. */
    size_t first;
    size_t lines;
    uint64_t put;     /* Lines that were kept so far ... */
    uint64_t written; /* ... and written. */
    uint64_t dropped;
    uint64_t untold;     /* Of them, since the last line that told of it. */
    int64_t progress_ms; /* When a line was written, or the first came to wait. */
    bool stopping;
    bool ended;
    bool left; /* Nobody waits for the end any more. */
};

static void append(struct log_writer *w, const char *line, size_t len)
{
    size_t at = (w->begin + w->used) % LOG_WRITER_BYTES;
    size_t head = len < LOG_WRITER_BYTES - at ? len : LOG_WRITER_BYTES - at;

    if (w->lines == 0)
        w->progress_ms = platform_steady_ms();
    memcpy(w->bytes + at, line, head);
    memcpy(w->bytes, line + head, len - head);
    w->used += len;
    w->lengths[(w->first + w->lines++) % LOG_WRITER_LINES] = len;
    w->put++;
    pthread_cond_signal(&w->work);
}

static void tell_of_lost(struct log_writer *w)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

    w->lost(w->context, w->untold, &line);
    append(w, line.data, line.len);
    w->untold = 0;
}

/* The oldest line, moved into `out`. */
static void take_line(struct log_writer *w, struct strbuf *out)
{
    size_t len = w->lengths[w->first];
    size_t head = len < LOG_WRITER_BYTES - w->begin ? len : LOG_WRITER_BYTES - w->begin;

    strbuf_reset(out);
    strbuf_add(out, w->bytes + w->begin, head);
    strbuf_add(out, w->bytes, len - head);
    w->begin = (w->begin + len) % LOG_WRITER_BYTES;
    w->used -= len;
    w->first = (w->first + 1) % LOG_WRITER_LINES;
    w->lines--;
}

/* Waits as long as it takes; a descriptor that fails for good loses the line. */
static void write_line(int fd, const char *line, size_t len)
{
    while (len > 0) {
        struct pollfd room = {.fd = fd, .events = POLLOUT};
        ssize_t n = write(fd, line, len < PIPE_BUF ? len : PIPE_BUF);

        if (n < 0 && errno == EAGAIN)
            poll(&room, 1, RETRY_MS);
        else if (n < 0 && errno != EINTR)
            return;
        line += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
}

static void release(struct log_writer *w)
{
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->work);
    pthread_cond_destroy(&w->moved);
    free(w->bytes);
    free(w);
}

static void *run(void *context)
{
    struct log_writer *w = context;
    struct strbuf line = STRBUF_INIT(LOG_WRITER_BYTES);

    pthread_mutex_lock(&w->lock);
    for (;;) {
        if (w->lines == 0 && w->untold > 0 && !w->left)
            tell_of_lost(w);
        if (w->lines == 0 && w->stopping)
            break;
        if (w->lines == 0) {
            pthread_cond_wait(&w->work, &w->lock);
            continue;
        }
        take_line(w, &line);
        pthread_mutex_unlock(&w->lock);
        write_line(w->fd, line.data, line.len);
        pthread_mutex_lock(&w->lock);
        w->written++;
        w->progress_ms = platform_steady_ms();
        pthread_cond_broadcast(&w->moved);
    }
    strbuf_release(&line);
    w->ended = true;
    bool left = w->left;

    pthread_cond_broadcast(&w->moved);
    pthread_mutex_unlock(&w->lock);
    if (left)
        release(w);
    return NULL;
}

struct log_writer *log_writer_start(int fd, log_writer_lost_fn *lost, void *context,
                                    struct error *err)
{
    struct log_writer *w = xcalloc(1, sizeof(*w));

    w->fd = fd;
    w->lost = lost;
    w->context = context;
    w->bytes = xmalloc(LOG_WRITER_BYTES);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->work, NULL);
    condition_init(&w->moved);
    int code = thread_start(&w->thread, run, w);

    if (code == 0)
        return w;
    release(w);
    fail(err, "cannot start the thread that writes the log: %s", strerror(code));
    return NULL;
}

void log_writer_put(struct log_writer *w, const char *line, size_t len, int64_t wait_ms)
{
    pthread_mutex_lock(&w->lock);
    /* Once lines are missing, a reader gets the rest in long pieces, not every other line. */
    unsigned part = w->untold > 0 ? 2 : 1;

    if (w->used + len > LOG_WRITER_BYTES / part || w->lines >= LOG_WRITER_LINES / part) {
        w->dropped++;
        w->untold++;
        pthread_mutex_unlock(&w->lock);
        return;
    }
    if (w->untold > 0)
        tell_of_lost(w);
    append(w, line, len);

    uint64_t mine = w->put;
    int64_t until_ms = w->progress_ms + wait_ms;
    while (wait_ms > 0 && w->written < mine && condition_wait(&w->moved, &w->lock, until_ms))
        continue;
    pthread_mutex_unlock(&w->lock);
}

uint64_t log_writer_dropped(struct log_writer *w)
{
    pthread_mutex_lock(&w->lock);
    uint64_t dropped = w->dropped;

    pthread_mutex_unlock(&w->lock);
    return dropped;
}

void log_writer_stop(struct log_writer *w, int64_t wait_ms)
{
    int64_t until_ms = platform_steady_ms() + wait_ms;

    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    pthread_cond_signal(&w->work);
    while (!w->ended && condition_wait(&w->moved, &w->lock, until_ms))
        continue;
    w->left = !w->ended;
    if (w->left) {
        pthread_detach(w->thread);
        pthread_mutex_unlock(&w->lock);
        return;
    }
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    release(w);
}
