/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "metrics/base/strbuf.h"

enum {
    PROCESSES_MAX = 16, /* Those that are held included: more of them would help nobody. */
    IDLE_MAX = 2,
    BUFFER_BYTES = 2 * JOB_FRAME_MAX,
    EVENTS_MAX = 16,
    LOOK_MAX_MS = 2500,
    FORKER_SOCKET = STDERR_FILENO + 1,
};

struct worker {
    struct worker *next;
    struct job *job; /* NULL: idle, or forgotten. */
    int socket;
    bool forgotten; /* It ends as soon as it can. */
    bool ended;
};

struct workers {
    pid_t pid; /* Of the process that forks. */
    int socket;
    int epoll;
    bool ended; /* The process that forks has ended. */
    struct worker *first;
    size_t count;
};

struct job {
    struct workers *workers;
    struct worker *worker; /* NULL: lost, or done. */
    bool done;
    bool patient;
    char *buffer;
    size_t begin; /* Of what is in the buffer and was not handed out. */
    size_t end;
    uint64_t bytes;
    int64_t starved_ms; /* For how long there was nothing, all in all. */
    int64_t asked_ms;   /* When there was nothing the last time; 0: there was something. */
};

/* The process that forks the others. It keeps standard input, which one of them may have to read.
 */
static void become_forker(int socket, void (*prepare)(void))
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_NAME, "file-reader");
    if (null >= 0) {
        /* Who reads our output must not wait for a process that a mount holds. */
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    /* What else was open is not ours: others wait for its end. */
    if (socket != FORKER_SOCKET)
        dup2(socket, FORKER_SOCKET);
    close_range(FORKER_SOCKET + 1, ~0U, 0);
    job_serve_processes(FORKER_SOCKET, prepare);
    _exit(0);
}

/*
 * Reports each arrival once (edge-triggered). The waiting caller reads a job until no data is left,
 * and data of a job that is not read at the moment must not keep the loop awake. A second call
 * reports the present data as an arrival. The socket of the process that forks has no worker, and
 * carries no data.
 */
static bool listen_to(const struct workers *w, struct worker *worker, int socket, int operation)
{
    struct epoll_event wanted = {.events = EPOLLIN | EPOLLET, .data = {.ptr = worker}};

    return epoll_ctl(w->epoll, operation, socket, &wanted) == 0;
}

struct workers *workers_start(void (*prepare)(void), struct error *err)
{
    struct workers *w = xcalloc(1, sizeof(*w));
    int ends[2] = {-1, -1};

    w->socket = -1;
    w->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (w->epoll >= 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0)
        w->pid = fork();
    if (w->epoll < 0 || ends[0] < 0 || w->pid < 0) {
        fail(err, "cannot start the process that reads files: %s", strerror(errno));
        w->pid = 0;
        w->socket = ends[0];
        if (ends[1] >= 0)
            close(ends[1]);
        workers_free(w);
        return NULL;
    }
    if (w->pid == 0)
        become_forker(ends[1], prepare);
    close(ends[1]);
    w->socket = ends[0];
    if (listen_to(w, NULL, w->socket, EPOLL_CTL_ADD))
        return w;
    fail(err, "cannot wait for the process that reads files: %s", strerror(errno));
    workers_free(w);
    return NULL;
}

static void drop(struct workers *w, struct worker *worker)
{
    struct worker **at = &w->first;

    while (*at != worker)
        at = &(*at)->next;
    *at = worker->next;
    if (worker->job)
        worker->job->worker = NULL;
    close(worker->socket);
    free(worker);
    w->count--;
}

void workers_free(struct workers *w)
{
    if (!w)
        return;
    while (w->first)
        drop(w, w->first);
    if (w->socket >= 0)
        close(w->socket);
    if (w->epoll >= 0)
        close(w->epoll);
    /* It touches no file: it ends at once. */
    while (w->pid > 0 && waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    free(w);
}

int workers_fd(const struct workers *w)
{
    return w->epoll;
}

void workers_wait(const struct workers *w, int64_t wait_ms)
{
    struct pollfd wanted = {.fd = w->epoll, .events = POLLIN};

    poll(&wanted, 1, wait_ms > INT32_MAX ? INT32_MAX : (int)wait_ms);
}

void workers_turn(struct workers *w)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(w->epoll, events, EVENTS_MAX, 0);

    /* Who has a job is looked at by who waits for that. The others have nothing to say. */
    for (int i = 0; i < count; i++) {
        struct worker *worker = events[i].data.ptr;

        if (!worker)
            w->ended = true;
        else if (!worker->job)
            drop(w, worker);
    }
}

bool workers_ended(const struct workers *w)
{
    return w->ended;
}

static struct worker *fork_worker(struct workers *w)
{
    struct worker *worker;
    int ends[2];

    if (w->count >= PROCESSES_MAX || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return NULL;
    if (!job_send(w->socket, "", 1, ends[1], MSG_DONTWAIT)) {
        close(ends[0]);
        close(ends[1]);
        return NULL;
    }
    close(ends[1]);
    worker = xcalloc(1, sizeof(*worker));
    worker->socket = ends[0];
    worker->next = w->first;
    w->first = worker;
    w->count++;
    if (listen_to(w, worker, worker->socket, EPOLL_CTL_ADD))
        return worker;
    drop(w, worker);
    return NULL;
}

static bool is_idle(const struct worker *worker)
{
    return !worker->job && !worker->forgotten;
}

static struct worker *find_idle(const struct workers *w)
{
    struct worker *worker = w->first;

    while (worker && !is_idle(worker))
        worker = worker->next;
    return worker;
}

/* Have the worker do the job. A worker that does not take it has ended, and is dropped. */
static bool hand_over(struct job *job, struct worker *worker, const struct job_request *request,
                      const void *input, int fd)
{
    if (!job_send(worker->socket, request, sizeof(*request), fd, MSG_DONTWAIT) ||
        !job_send(worker->socket, input, request->len, -1, MSG_DONTWAIT)) {
        drop(job->workers, worker);
        return false;
    }
    job->worker = worker;
    worker->job = job;
    job->buffer = xmalloc(BUFFER_BYTES);
    return true;
}

struct job *job_start(struct workers *w, job_fn *run, const void *input, size_t len, int fd)
{
    const struct job_request request = {.run = run, .len = (uint32_t)len};
    struct job *job = xcalloc(1, sizeof(*job));
    struct worker *worker;

    job->workers = w;
    if (len > JOB_INPUT_MAX)
        return job;
    workers_turn(w);
    while ((worker = find_idle(w))) {
        if (hand_over(job, worker, &request, input, fd))
            return job;
    }
    worker = fork_worker(w);
    if (worker)
        (void)hand_over(job, worker, &request, input, fd);
    return job;
}

void job_be_patient(struct job *job)
{
    job->patient = true;
}

static int64_t patience_ms(const struct job *job)
{
    return JOB_PATIENCE_MS + (int64_t)(job->bytes / JOB_BYTES_A_MS);
}

/* Time has gone by in which there was nothing; not more than that between two looks of a loop. */
static void note_starving(struct job *job, int64_t now_ms)
{
    int64_t since_ms = job->asked_ms != 0 ? now_ms - job->asked_ms : 0;

    job->starved_ms += since_ms < LOOK_MAX_MS ? since_ms : LOOK_MAX_MS;
    job->asked_ms = now_ms;
}

const char *job_failure(enum job_state state)
{
    return state == JOB_HANGS ? "it does not answer; its mount may hang"
                              : "the process that reads it has ended";
}

int64_t job_due(const struct job *job)
{
    if (job->patient || !job->worker || job->asked_ms == 0)
        return INT64_MAX;
    return job->asked_ms + patience_ms(job) - job->starved_ms;
}

/* The job is done: keep its process for the next one, or end it. */
static void finish(struct job *job)
{
    struct workers *w = job->workers;
    struct worker *worker = job->worker;
    size_t idle = 0;

    job->done = true;
    job->worker = NULL;
    worker->job = NULL;
    for (const struct worker *at = w->first; at; at = at->next)
        idle += is_idle(at);
    if (idle > IDLE_MAX)
        drop(w, worker);
}

/* True if there is a whole frame at the beginning of the buffer. */
static bool has_frame(const struct job *job, struct job_frame *out)
{
    if (job->end - job->begin < sizeof(*out))
        return false;
    memcpy(out, job->buffer + job->begin, sizeof(*out));
    return job->end - job->begin - sizeof(*out) >= out->len;
}

enum job_state job_next(struct job *job, int64_t now_ms, const char **bytes, size_t *len)
{
    struct job_frame frame;

    if (job->done)
        return JOB_DONE;
    while (!job->worker || !has_frame(job, &frame)) {
        if (!job->worker)
            return JOB_LOST;
        memmove(job->buffer, job->buffer + job->begin, job->end - job->begin);
        job->end -= job->begin;
        job->begin = 0;
        ssize_t n = recv(job->worker->socket, job->buffer + job->end, BUFFER_BYTES - job->end,
                         MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            note_starving(job, now_ms);
            return job->patient || job->starved_ms < patience_ms(job) ? JOB_WAITS : JOB_HANGS;
        }
        if (n <= 0) {
            drop(job->workers, job->worker);
            return JOB_LOST;
        }
        note_starving(job, now_ms);
        job->asked_ms = 0;
        job->end += (size_t)n;
        job->bytes += (uint64_t)n;
    }
    if (frame.last) {
        finish(job);
        return JOB_DONE;
    }
    job->bytes += JOB_FRAME_WORTH;
    *bytes = job->buffer + job->begin + sizeof(frame);
    *len = frame.len;
    job->begin += sizeof(frame) + frame.len;
    return JOB_FRAME;
}

void job_free(struct job *job)
{
    if (!job)
        return;
    if (job->worker) {
        struct worker *worker = job->worker;

        /* What it has said and nobody asked for ends it, as does what it still has to say. */
        worker->job = NULL;
        worker->forgotten = true;
        if (listen_to(job->workers, worker, worker->socket, EPOLL_CTL_MOD))
            shutdown(worker->socket, SHUT_RD);
        else
            drop(job->workers, worker);
    }
    if (job->buffer)
        explicit_bzero(job->buffer, BUFFER_BYTES);
    free(job->buffer);
    free(job);
}
