/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/file_reader.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "exporter/system/platform.h"

enum {
    UNREAD_BYTES_MAX = 256 * 1024, /* Maximum of `unread_bytes` at which a job may emit more. */
    COUNTED_WAIT_MAX_MS = 2500,    /* Maximum that one wait adds to `starved_ms`. */
    END_WAIT_MS = 100,             /* Maximum wait of file_reader_free() for threads. */
    FREED_WAIT_MS = 100,           /* Time for a freed job to end; later it counts as hanging. */
};

struct result_node {
    struct result_node *next;
    int tag;
    size_t len;
    char bytes[];
};

enum job_phase {
    PHASE_QUEUED,
    PHASE_RUNS,
    PHASE_ENDED,
    PHASE_REJECTED,
};

/* The lock of the reader guards all members that the caller and threads of the reader share. */
struct read_job {
    struct file_reader *reader;
    struct read_job *next; /* Next job of the queue or of `abandoned_jobs`. */
    char *path;
    char file[READ_FILE_NAME_MAX];
    int64_t blocked_ms; /* Abandoned jobs: steady time from which the job counts as hanging. */
    read_job_fn *run;
    void *input;
    void (*free_input)(void *input);
    enum job_phase phase;
    bool has_turn;  /* The job is `turn` of the reader: the queue waits for it. */
    bool abandoned; /* Member of `abandoned_jobs`. */
    bool unwanted;  /* Freed by the caller while running; the thread frees the memory. */
    bool has_no_timeout;
    bool has_progress; /* Progress since the latest read_job_next() without a result. */
    bool is_awaited;   /* read_job_next() was called while the job was queued. */
    struct result_node *first;
    struct result_node *last;
    size_t unread_bytes; /* Bytes of unread results, including JOB_RESULT_OVERHEAD for each. */

    /* Used by the thread of the caller only, except in free_job(). */
    struct result_node *taken; /* Result of the latest read_job_next(); may be NULL. */
    uint64_t bytes;            /* Bytes of all results read, including JOB_RESULT_OVERHEAD. */
    int64_t starved_ms;        /* Total counted time without a result. */
    /* Steady time of the latest read_job_next() while running; 0 before, and after a result. */
    int64_t asked_ms;
};

struct file_reader {
    pthread_mutex_t lock;
    pthread_cond_t work;  /* The first job of the queue can run, or the reader ends. */
    pthread_cond_t taken; /* A result was read, or a job is unwanted. */
    pthread_cond_t ended; /* A thread has ended. */
    int event;            /* eventfd(2); -1 after file_reader_free() has given up. */
    bool signalled;       /* The eventfd is readable. */
    bool ends;
    struct read_job *turn; /* Job that delays the queue; NULL for no such job. */
    int64_t turn_ms;       /* Steady time of the start, latest result or progress of `turn`. */
    unsigned starting;     /* Number of threads that were started and do not run yet. */
    unsigned threads;
    unsigned idle;
    unsigned abandoned;
    struct read_job *abandoned_jobs;
    struct read_job *first; /* Queue. */
    struct read_job *last;
};

/* ---- memory ---- */

static void free_results(struct result_node *first)
{
    while (first) {
        struct result_node *next = first->next;

        explicit_bzero(first->bytes, first->len);
        free(first);
        first = next;
    }
}

static void free_job(struct read_job *job)
{
    if (job->free_input)
        job->free_input(job->input);
    free_results(job->first);
    free_results(job->taken);
    free(job->path);
    free(job);
}

static void free_reader(struct file_reader *r)
{
    if (r->event >= 0)
        close(r->event);
    pthread_cond_destroy(&r->work);
    pthread_cond_destroy(&r->taken);
    pthread_cond_destroy(&r->ended);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

/* ---- queue and threads; the callers of these functions hold the lock ---- */

/* Makes the eventfd readable. eventfd_write() cannot fail: the counter is at most 1. */
static void signal_caller(struct file_reader *r)
{
    if (!r->signalled && eventfd_write(r->event, 1) < 0)
        abort();
    r->signalled = true;
}

static struct read_job *take_first_job(struct file_reader *r)
{
    struct read_job *job = r->first;

    r->first = job->next;
    if (!r->first)
        r->last = NULL;
    job->next = NULL;
    return job;
}

static void remove_queued_job(struct file_reader *r, const struct read_job *job)
{
    struct read_job *before = NULL;

    for (struct read_job *at = r->first; at != job; at = at->next)
        before = at;
    if (before)
        before->next = job->next;
    else
        r->first = job->next;
    if (r->last == job)
        r->last = before;
}

static void reject_first_job(struct file_reader *r)
{
    take_first_job(r)->phase = PHASE_REJECTED;
    signal_caller(r);
}

/* Returns true if ABANDONED_MAX_PER_PATH jobs of `path` hang; false for "". */
static bool is_path_blocked(const struct file_reader *r, const char *path)
{
    int64_t now_ms = r->abandoned_jobs && *path ? platform_steady_ms() : 0;
    size_t count = 0;

    for (const struct read_job *job = r->abandoned_jobs; job; job = job->next)
        count += now_ms >= job->blocked_ms && strcmp(job->path, path) == 0;
    return *path && count >= ABANDONED_MAX_PER_PATH;
}

static void *run_reader_thread(void *context);

/*
 * Wakes or starts a thread for the first job of the queue, unless a job delays the queue. Rejects
 * jobs that cannot run.
 */
static void start_next_job(struct file_reader *r)
{
    pthread_t thread;

    while (r->first && is_path_blocked(r, r->first->path))
        reject_first_job(r);
    /* A thread that starts will check the queue. */
    if (!r->first || r->turn || r->starting > 0)
        return;
    if (r->idle > 0) {
        pthread_cond_signal(&r->work);
    } else if (r->abandoned < ABANDONED_MAX && thread_start(&thread, run_reader_thread, r) == 0) {
        pthread_detach(thread);
        r->threads++;
        r->starting++;
    } else {
        while (r->first)
            reject_first_job(r);
    }
}

static void release_queue(struct read_job *job)
{
    if (!job->has_turn)
        return;
    job->has_turn = false;
    job->reader->turn = NULL;
    start_next_job(job->reader);
}

/* Abandons the thread of a running job. After `in_ms` milliseconds the job counts as hanging. */
static void abandon_job(struct read_job *job, int64_t in_ms)
{
    struct file_reader *r = job->reader;

    if (job->abandoned)
        return;
    job->abandoned = true;
    job->blocked_ms = platform_steady_ms() + in_ms;
    job->next = r->abandoned_jobs;
    r->abandoned_jobs = job;
    r->abandoned++;
    release_queue(job);
}

static void undo_abandon(struct read_job *job)
{
    struct read_job **at = &job->reader->abandoned_jobs;

    if (!job->abandoned)
        return;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    job->next = NULL;
    job->abandoned = false;
    job->reader->abandoned--;
}

static void run_job(struct file_reader *r, struct read_job *job)
{
    job->phase = PHASE_RUNS;
    job->has_turn = !job->has_no_timeout;
    r->turn = job->has_turn ? job : NULL;
    r->turn_ms = platform_steady_ms();
    if (job->has_no_timeout)
        start_next_job(r);
    /* Makes the caller call read_job_next(), which starts the timeout. */
    if (job->is_awaited)
        signal_caller(r);
    pthread_mutex_unlock(&r->lock);
    job->run(job, job->input);
    pthread_mutex_lock(&r->lock);
    job->phase = PHASE_ENDED;
    undo_abandon(job);
    /* Counts this thread as idle, so that no other thread is started for the next job. */
    r->idle++;
    release_queue(job);
    r->idle--;
    if (job->unwanted)
        free_job(job);
    else
        signal_caller(r);
}

static void *run_reader_thread(void *context)
{
    struct file_reader *r = context;

    prctl(PR_SET_NAME, "file-reader");
    pthread_mutex_lock(&r->lock);
    r->starting--;
    /* A thread without a job ends if another thread is idle. */
    while (!r->ends && (r->idle == 0 || (r->first && !r->turn))) {
        if (r->first && !r->turn) {
            run_job(r, take_first_job(r));
            continue;
        }
        r->idle++;
        pthread_cond_wait(&r->work, &r->lock);
        r->idle--;
    }
    r->threads--;
    /* If file_reader_free() has given up, the last thread frees the reader. */
    bool is_last = r->ends && r->event < 0 && r->threads == 0;
    pthread_cond_signal(&r->ended);
    pthread_mutex_unlock(&r->lock);
    if (is_last)
        free_reader(r);
    return NULL;
}

/* ---- reader ---- */

struct file_reader *file_reader_new(struct error *err)
{
    struct file_reader *r = xcalloc(1, sizeof(*r));

    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->work, NULL);
    pthread_cond_init(&r->taken, NULL);
    condition_init(&r->ended);
    r->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (r->event >= 0)
        return r;
    fail(err, "cannot start reading files: %s", strerror(errno));
    free_reader(r);
    return NULL;
}

bool file_reader_free(struct file_reader *r)
{
    if (!r)
        return true;

    int64_t until_ms = platform_steady_ms() + END_WAIT_MS;

    pthread_mutex_lock(&r->lock);
    assert(!r->first);
    r->ends = true;
    pthread_cond_broadcast(&r->work);
    while (r->threads > 0 && condition_wait(&r->ended, &r->lock, until_ms))
        continue;
    bool all_ended = r->threads == 0;
    if (!all_ended) {
        close(r->event);
        r->event = -1;
    }
    pthread_mutex_unlock(&r->lock);
    if (all_ended)
        free_reader(r);
    return all_ended;
}

int file_reader_fd(const struct file_reader *r)
{
    return r->event;
}

void file_reader_handle_event(struct file_reader *r)
{
    eventfd_t ignored;

    pthread_mutex_lock(&r->lock);
    if (r->signalled && eventfd_read(r->event, &ignored) < 0)
        abort();
    r->signalled = false;

    if (r->turn && platform_steady_ms() - r->turn_ms >= JOB_TIMEOUT_MS)
        abandon_job(r->turn, 0);
    pthread_mutex_unlock(&r->lock);
}

void file_reader_wait(struct file_reader *r, int64_t wait_ms)
{
    struct pollfd wanted = {.fd = r->event, .events = POLLIN};

    poll(&wanted, 1, wait_ms > INT32_MAX ? INT32_MAX : (int)wait_ms);
    file_reader_handle_event(r);
}

unsigned file_reader_abandoned(struct file_reader *r)
{
    pthread_mutex_lock(&r->lock);
    unsigned count = r->abandoned;
    pthread_mutex_unlock(&r->lock);
    return count;
}

bool file_reader_blocked_file(struct file_reader *r, char file[READ_FILE_NAME_MAX])
{
    pthread_mutex_lock(&r->lock);
    bool is_blocked = r->abandoned_jobs;

    if (is_blocked)
        snprintf(file, READ_FILE_NAME_MAX, "%s", r->abandoned_jobs->file);
    pthread_mutex_unlock(&r->lock);
    return is_blocked;
}

/* ---- functions for jobs ---- */

void read_job_set_file(struct read_job *job, const char *file)
{
    pthread_mutex_lock(&job->reader->lock);
    snprintf(job->file, sizeof(job->file), "%s", file);
    pthread_mutex_unlock(&job->reader->lock);
}

/* Records that the job is not blocked. The caller holds the lock. */
static void record_progress(struct read_job *job)
{
    undo_abandon(job);
    if (job->has_turn)
        job->reader->turn_ms = platform_steady_ms();
}

bool read_job_progress(struct read_job *job)
{
    pthread_mutex_lock(&job->reader->lock);
    bool wanted = !job->unwanted;
    if (wanted) {
        record_progress(job);
        job->has_progress = true;
    }
    pthread_mutex_unlock(&job->reader->lock);
    return wanted;
}

bool read_job_emit(struct read_job *job, int tag, const void *bytes, size_t len)
{
    struct file_reader *r = job->reader;
    struct result_node *node = xmalloc(sizeof(*node) + len);

    *node = (struct result_node){.tag = tag, .len = len};
    memcpy(node->bytes, bytes, len);
    pthread_mutex_lock(&r->lock);
    while (!job->unwanted && job->unread_bytes > UNREAD_BYTES_MAX) {
        /* The caller may need results of another job before it reads the results of this job. */
        release_queue(job);
        pthread_cond_wait(&r->taken, &r->lock);
    }
    bool wanted = !job->unwanted;
    if (wanted) {
        record_progress(job);
        if (job->last)
            job->last->next = node;
        else
            job->first = node;
        job->last = node;
        job->unread_bytes += len + JOB_RESULT_OVERHEAD;
        signal_caller(r);
    }
    pthread_mutex_unlock(&r->lock);
    if (!wanted)
        free_results(node);
    return wanted;
}

/* ---- functions for the caller of a job ---- */

struct read_job *read_job_start(struct file_reader *r, const char *path, read_job_fn *run,
                                void *input, void (*free_input)(void *input))
{
    struct read_job *job = xcalloc(1, sizeof(*job));

    *job = (struct read_job){
        .reader = r, .path = xstrdup(path), .run = run, .input = input, .free_input = free_input};
    snprintf(job->file, sizeof(job->file), "%s", path);
    pthread_mutex_lock(&r->lock);
    if (r->last)
        r->last->next = job;
    else
        r->first = job;
    r->last = job;
    start_next_job(r);
    pthread_mutex_unlock(&r->lock);
    return job;
}

void read_job_disable_timeout(struct read_job *job)
{
    pthread_mutex_lock(&job->reader->lock);
    job->has_no_timeout = true;
    release_queue(job);
    pthread_mutex_unlock(&job->reader->lock);
}

static int64_t job_timeout_ms(const struct read_job *job)
{
    return JOB_TIMEOUT_MS + (int64_t)(job->bytes / JOB_BYTES_PER_MS);
}

/* Adds the time since `asked_ms`, at most COUNTED_WAIT_MAX_MS, to `starved_ms`. Sets `asked_ms`. */
static void add_time_without_result(struct read_job *job, int64_t now_ms)
{
    int64_t since_ms = job->asked_ms != 0 ? now_ms - job->asked_ms : 0;

    job->starved_ms += since_ms < COUNTED_WAIT_MAX_MS ? since_ms : COUNTED_WAIT_MAX_MS;
    job->asked_ms = now_ms;
}

/*
 * Returns the state of a job without a result; abandons a hanging job. The caller holds the lock.
 */
static enum read_job_state state_without_result(struct read_job *job, int64_t now_ms)
{
    switch (job->phase) {
    case PHASE_ENDED:
        return JOB_DONE;
    case PHASE_REJECTED:
        return JOB_REJECTED;
    case PHASE_QUEUED:
        job->is_awaited = true;
        return JOB_WAITS;
    case PHASE_RUNS:
        break;
    }
    if (job->has_progress)
        job->asked_ms = 0;
    job->has_progress = false;
    add_time_without_result(job, now_ms);
    if (job->has_no_timeout || job->starved_ms < job_timeout_ms(job))
        return JOB_WAITS;
    abandon_job(job, 0);
    return JOB_HANGS;
}

enum read_job_state read_job_next(struct read_job *job, int64_t now_ms, struct read_result *out)
{
    struct file_reader *r = job->reader;
    enum read_job_state state = JOB_RESULT;

    free_results(job->taken);
    pthread_mutex_lock(&r->lock);
    job->taken = job->first;
    if (job->taken) {
        job->first = job->taken->next;
        if (!job->first)
            job->last = NULL;
        job->taken->next = NULL;
        job->unread_bytes -= job->taken->len + JOB_RESULT_OVERHEAD;
        pthread_cond_broadcast(&r->taken);
    } else {
        state = state_without_result(job, now_ms);
    }
    pthread_mutex_unlock(&r->lock);
    if (!job->taken)
        return state;
    if (job->asked_ms != 0)
        add_time_without_result(job, now_ms);
    job->asked_ms = 0;
    job->bytes += job->taken->len + JOB_RESULT_OVERHEAD;
    *out = (struct read_result){job->taken->tag, job->taken->len, job->taken->bytes};
    return JOB_RESULT;
}

const char *read_job_failure(enum read_job_state state)
{
    return state == JOB_HANGS ? "does not answer; its mount may hang"
                              : "too many other reads hang; it is read again when one returns";
}

int64_t read_job_due(struct read_job *job)
{
    pthread_mutex_lock(&job->reader->lock);
    bool is_due =
        !job->has_no_timeout && !job->abandoned && job->phase == PHASE_RUNS && job->asked_ms != 0;
    pthread_mutex_unlock(&job->reader->lock);
    return is_due ? job->asked_ms + job_timeout_ms(job) - job->starved_ms : INT64_MAX;
}

void read_job_free(struct read_job *job)
{
    if (!job)
        return;

    struct file_reader *r = job->reader;

    pthread_mutex_lock(&r->lock);
    bool runs = job->phase == PHASE_RUNS;
    if (job->phase == PHASE_QUEUED)
        remove_queued_job(r, job);
    if (runs) {
        job->unwanted = true;
        abandon_job(job, FREED_WAIT_MS);
        pthread_cond_broadcast(&r->taken);
    } else {
        free_job(job);
    }
    pthread_mutex_unlock(&r->lock);
}
