/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/file_reader.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "exporter/system/platform.h"

enum {
    UNTAKEN_BYTES_MAX = 256 * 1024, /* Untaken results; above that a job waits. */
    COUNTED_WAIT_MAX_MS = 2500,     /* Longest time between two looks that counts against a job. */
    END_WAIT_MS = 100,              /* For threads that are about to end. */
    FREED_WAIT_MS = 100,            /* For a job that is about to see that it is unwanted. */
};

struct result_node {
    struct result_node *next;
    int tag;
    size_t len;
    char bytes[];
};

enum phase {
    PHASE_QUEUED,
    PHASE_RUNS,
    PHASE_ENDED,
    PHASE_LOST,
};

/* The reader's lock guards all members below `reader` but those of the caller. */
struct read_job {
    struct file_reader *reader;
    struct read_job *next; /* In the queue, or among the abandoned ones. */
    char *path;
    char file[READ_FILE_NAME_MAX];
    int64_t blocked_ms; /* Abandoned jobs: time from which it counts as one that hangs. */
    read_job_fn *run;
    void *input;
    void (*free_input)(void *input);
    enum phase phase;
    bool has_turn;  /* The queue waits for this job; given back while results wait. */
    bool abandoned; /* The reader counts its thread in `abandoned`. */
    bool unwanted;  /* The caller has freed it; the thread frees the rest. */
    bool patient;
    bool has_progress; /* Since the caller asked last. */
    bool is_awaited;   /* The caller has asked for results before the job ran. */
    struct result_node *first;
    struct result_node *last;
    size_t untaken_bytes;

    /* The caller's. */
    struct result_node *taken; /* The result handed out last. */
    uint64_t bytes;            /* Length of all results so far. */
    int64_t starved_ms;        /* Sum of the time without a result. */
    int64_t asked_ms;          /* When there was no result the last time; 0: there was one. */
};

struct file_reader {
    pthread_mutex_t lock;
    pthread_cond_t work;  /* A job is queued and has its turn, or the reader ends. */
    pthread_cond_t taken; /* A result was taken, or a job is unwanted. */
    pthread_cond_t ended; /* A thread has ended. */
    int event;
    bool signalled; /* The event is set. */
    bool ends;
    struct read_job *turn; /* The job that the queue waits for; NULL without one. */
    int64_t turn_ms;       /* Start of the turn, or its last result. */
    unsigned starting;     /* Threads that were started and do not run yet. */
    unsigned threads;
    unsigned idle;
    unsigned abandoned;
    struct read_job *abandoned_jobs;
    struct read_job *first; /* The queue. */
    struct read_job *last;
};

/* ---- threads; all these are called with the lock held ---- */

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

/* Wakes the caller. The counter is far from full, so that this cannot fail. */
static void signal_event(struct file_reader *r)
{
    if (!r->signalled && eventfd_write(r->event, 1) < 0)
        abort();
    r->signalled = true;
}

static struct read_job *take_first(struct file_reader *r)
{
    struct read_job *job = r->first;

    r->first = job->next;
    if (!r->first)
        r->last = NULL;
    job->next = NULL;
    return job;
}

static void remove_queued(struct file_reader *r, const struct read_job *job)
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

static void lose_first(struct file_reader *r)
{
    take_first(r)->phase = PHASE_LOST;
    signal_event(r);
}

/* Returns true if too many jobs of this PATH hang. */
static bool is_refused(const struct file_reader *r, const char *path)
{
    int64_t now_ms = r->abandoned_jobs && *path ? platform_steady_ms() : 0;
    size_t count = 0;

    for (const struct read_job *job = r->abandoned_jobs; job; job = job->next)
        count += now_ms >= job->blocked_ms && strcmp(job->path, path) == 0;
    return *path && count >= ABANDONED_MAX_PER_PATH;
}

static void *run_thread(void *context);

/* Has a thread run the first job of the queue if that has its turn. */
static void run_next(struct file_reader *r)
{
    pthread_t thread;

    while (r->first && is_refused(r, r->first->path))
        lose_first(r);
    /* A thread that starts looks at the queue. */
    if (!r->first || r->turn || r->starting > 0)
        return;
    if (r->idle > 0) {
        pthread_cond_signal(&r->work);
    } else if (r->abandoned < ABANDONED_MAX && thread_start(&thread, run_thread, r) == 0) {
        pthread_detach(thread);
        r->threads++;
        r->starting++;
    } else {
        while (r->first)
            lose_first(r);
    }
}

static void give_turn_back(struct read_job *job)
{
    if (!job->has_turn)
        return;
    job->has_turn = false;
    job->reader->turn = NULL;
    run_next(job->reader);
}

/* `in_ms`: how long the job may still run before it counts as one that hangs. */
static void abandon(struct read_job *job, int64_t in_ms)
{
    struct file_reader *r = job->reader;

    if (job->abandoned)
        return;
    job->abandoned = true;
    job->blocked_ms = platform_steady_ms() + in_ms;
    job->next = r->abandoned_jobs;
    r->abandoned_jobs = job;
    r->abandoned++;
    give_turn_back(job);
}

static void take_back(struct read_job *job)
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
    job->has_turn = !job->patient;
    r->turn = job->has_turn ? job : NULL;
    r->turn_ms = platform_steady_ms();
    if (job->patient)
        run_next(r);
    /* The caller measures the time without a result from its next look on. */
    if (job->is_awaited)
        signal_event(r);
    pthread_mutex_unlock(&r->lock);
    job->run(job, job->input);
    pthread_mutex_lock(&r->lock);
    job->phase = PHASE_ENDED;
    take_back(job);
    /* This thread counts as idle already, so that no other one is started for the next job. */
    r->idle++;
    give_turn_back(job);
    r->idle--;
    if (job->unwanted)
        free_job(job);
    else
        signal_event(r);
}

static void *run_thread(void *context)
{
    struct file_reader *r = context;

    prctl(PR_SET_NAME, "file-reader");
    pthread_mutex_lock(&r->lock);
    r->starting--;
    /* One idle thread is enough. */
    while (!r->ends && (r->idle == 0 || (r->first && !r->turn))) {
        if (r->first && !r->turn) {
            run_job(r, take_first(r));
            continue;
        }
        r->idle++;
        pthread_cond_wait(&r->work, &r->lock);
        r->idle--;
    }
    r->threads--;
    /* The reader is freed by its owner, or by the thread that its owner did not wait for. */
    bool is_last = r->ends && r->event < 0 && r->threads == 0;
    pthread_cond_signal(&r->ended);
    pthread_mutex_unlock(&r->lock);
    if (is_last)
        free_reader(r);
    return NULL;
}

/* ---- the reader ---- */

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
    /* The caller of the job that the queue waits for may not ask for its results. */
    if (r->turn && platform_steady_ms() - r->turn_ms >= JOB_TIMEOUT_MS)
        abandon(r->turn, 0);
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

/* ---- the job's side ---- */

void read_job_set_file(struct read_job *job, const char *file)
{
    pthread_mutex_lock(&job->reader->lock);
    snprintf(job->file, sizeof(job->file), "%s", file);
    pthread_mutex_unlock(&job->reader->lock);
}

/* Notes that the job is not blocked; with the lock held. */
static void note_progress(struct read_job *job)
{
    take_back(job);
    if (job->has_turn)
        job->reader->turn_ms = platform_steady_ms();
}

bool read_job_progress(struct read_job *job)
{
    pthread_mutex_lock(&job->reader->lock);
    bool wanted = !job->unwanted;
    if (wanted) {
        note_progress(job);
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
    while (!job->unwanted && job->untaken_bytes > UNTAKEN_BYTES_MAX) {
        /* The caller may wait for another job before it takes the results of this one. */
        give_turn_back(job);
        pthread_cond_wait(&r->taken, &r->lock);
    }
    bool wanted = !job->unwanted;
    if (wanted) {
        note_progress(job);
        if (job->last)
            job->last->next = node;
        else
            job->first = node;
        job->last = node;
        job->untaken_bytes += len + JOB_RESULT_OVERHEAD;
        signal_event(r);
    }
    pthread_mutex_unlock(&r->lock);
    if (!wanted)
        free_results(node);
    return wanted;
}

/* ---- the caller's side ---- */

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
    run_next(r);
    pthread_mutex_unlock(&r->lock);
    return job;
}

void read_job_disable_timeout(struct read_job *job)
{
    pthread_mutex_lock(&job->reader->lock);
    job->patient = true;
    give_turn_back(job);
    pthread_mutex_unlock(&job->reader->lock);
}

static int64_t patience_ms(const struct read_job *job)
{
    return JOB_TIMEOUT_MS + (int64_t)(job->bytes / JOB_BYTES_PER_MS);
}

/* Adds the time since the last look to the time without a result. */
static void note_starving(struct read_job *job, int64_t now_ms)
{
    int64_t since_ms = job->asked_ms != 0 ? now_ms - job->asked_ms : 0;

    job->starved_ms += since_ms < COUNTED_WAIT_MAX_MS ? since_ms : COUNTED_WAIT_MAX_MS;
    job->asked_ms = now_ms;
}

/* The state of a job without a result. */
static enum read_job_state state_without_result(struct read_job *job, int64_t now_ms)
{
    switch (job->phase) {
    case PHASE_ENDED:
        return JOB_DONE;
    case PHASE_LOST:
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
    note_starving(job, now_ms);
    if (job->patient || job->starved_ms < patience_ms(job))
        return JOB_WAITS;
    abandon(job, 0);
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
        job->untaken_bytes -= job->taken->len + JOB_RESULT_OVERHEAD;
        pthread_cond_broadcast(&r->taken);
    } else {
        state = state_without_result(job, now_ms);
    }
    pthread_mutex_unlock(&r->lock);
    if (!job->taken)
        return state;
    if (job->asked_ms != 0)
        note_starving(job, now_ms);
    job->asked_ms = 0;
    job->bytes += job->taken->len + JOB_RESULT_OVERHEAD;
    *out = (struct read_result){job->taken->tag, job->taken->len, job->taken->bytes};
    return JOB_RESULT;
}

const char *read_job_failure(enum read_job_state state)
{
    return state == JOB_HANGS ? "it does not answer; its mount may hang"
                              : "too many other reads hang; it is read again when one returns";
}

int64_t read_job_due(struct read_job *job)
{
    pthread_mutex_lock(&job->reader->lock);
    bool is_due =
        !job->patient && !job->abandoned && job->phase == PHASE_RUNS && job->asked_ms != 0;
    pthread_mutex_unlock(&job->reader->lock);
    return is_due ? job->asked_ms + patience_ms(job) - job->starved_ms : INT64_MAX;
}

void read_job_free(struct read_job *job)
{
    if (!job)
        return;

    struct file_reader *r = job->reader;

    pthread_mutex_lock(&r->lock);
    bool runs = job->phase == PHASE_RUNS;
    if (job->phase == PHASE_QUEUED)
        remove_queued(r, job);
    if (runs) {
        job->unwanted = true;
        abandon(job, FREED_WAIT_MS);
        pthread_cond_broadcast(&r->taken);
    } else {
        free_job(job);
    }
    pthread_mutex_unlock(&r->lock);
}
