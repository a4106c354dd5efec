/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/file_reader.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "tests/unit/suite.h"

/* WAIT_MS limits waits that succeed, so it is far above the time that a slow machine needs. */
enum { WAIT_MS = 20000, TRIES = 200, STEP_MS = 100, RESULTS = 100, CHUNK = 128 * 1024 };

/* ---- a kernel that refuses threads ---- */

typedef int create_fn(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                      void *context);
static atomic_bool refuses_threads;

/* The names of the parameters are those of glibc. */
int pthread_create(pthread_t *restrict newthread, const pthread_attr_t *restrict attr,
                   void *(*start_routine)(void *), void *restrict arg)
{
    static create_fn *next;

    if (refuses_threads)
        return EAGAIN;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return next(newthread, attr, start_routine, arg);
}

/* ---- helpers ---- */

static int set_up(void **state)
{
    struct error err;

    *state = file_reader_new(&err);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    /* A job that was freed may take a moment to end its thread. */
    for (int i = 0; i < TRIES && file_reader_abandoned(*state) > 0; i++)
        usleep(WAIT_MS / TRIES * 1000);
    return file_reader_free(*state) ? 0 : -1;
}

/* Returns the next state other than JOB_WAITS; JOB_WAITS after WAIT_MS. The clock stands still. */
static enum read_job_state next_at(struct file_reader *r, struct read_job *job, int64_t now_ms,
                                   struct read_result *out)
{
    enum read_job_state state;

    for (int i = 0; (state = read_job_next(job, now_ms, out)) == JOB_WAITS && i < TRIES; i++)
        file_reader_wait(r, WAIT_MS / TRIES);
    return state;
}

static enum read_job_state next(struct file_reader *r, struct read_job *job,
                                struct read_result *out)
{
    return next_at(r, job, 1, out);
}

/* Advances the clock while the job runs. Returns the first state that is not JOB_WAITS. */
static enum read_job_state pass_time(struct read_job *job, int64_t *now_ms)
{
    enum read_job_state state = JOB_WAITS;
    struct read_result result;

    for (int i = 0; state == JOB_WAITS && i < WAIT_MS; i++) {
        state = read_job_next(job, *now_ms, &result);
        if (read_job_due(job) != INT64_MAX)
            *now_ms += STEP_MS;
        else
            usleep(1000);
    }
    return state;
}

static struct read_job *start(struct file_reader *r, read_job_fn *run, const void *input)
{
    return read_job_start(r, "", run, (void *)(uintptr_t)input, NULL);
}

/* Emits a result of RESULTS equal bytes for each byte of its input. */
static void echo(struct read_job *job, void *input)
{
    char bytes[RESULTS];

    for (const char *at = input; *at; at++) {
        memset(bytes, *at, sizeof(bytes));
        if (!read_job_emit(job, *at, bytes, sizeof(bytes)))
            return;
    }
}

/* Blocks until the pipe has a byte, then emits it. */
static void emit_byte(struct read_job *job, void *input)
{
    const int *fd = input;
    char byte;

    if (read(*fd, &byte, 1) == 1)
        (void)!read_job_emit(job, 0, &byte, 1);
}

static void emit_bytes(struct read_job *job, void *input)
{
    const int *fd = input;
    char byte;

    while (read(*fd, &byte, 1) == 1 && read_job_emit(job, 0, &byte, 1))
        continue;
}

static void open_pipe(int ends[2])
{
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
}

static void close_pipe(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

static void assert_works(struct file_reader *r)
{
    struct read_job *job = start(r, echo, "x");
    struct read_result result;

    assert_int_equal(next(r, job, &result), JOB_RESULT);
    assert_int_equal(next(r, job, &result), JOB_DONE);
    read_job_free(job);
}

TEST_WITH(results_are_returned_in_order_before_the_end, set_up, tear_down)
{
    struct read_job *job = start(*state, echo, "abc");
    struct read_result result;

    for (const char *wanted = "abc"; *wanted; wanted++) {
        assert_int_equal(next(*state, job, &result), JOB_RESULT);
        assert_int_equal(result.tag, *wanted);
        assert_int_equal(result.len, RESULTS);
        assert_int_equal(result.bytes[0], *wanted);
        assert_int_equal(result.bytes[RESULTS - 1], *wanted);
    }
    assert_int_equal(next(*state, job, &result), JOB_DONE);
    assert_int_equal(read_job_next(job, 1, &result), JOB_DONE);
    read_job_free(job);
}

static void emit_much(struct read_job *job, void *input)
{
    CLEANUP(free_cleanup) char *bytes = xcalloc(1, CHUNK);

    (void)input;
    for (int i = 0; i < RESULTS && read_job_emit(job, 0, bytes, CHUNK); i++)
        continue;
}

TEST_WITH(a_job_with_much_output_waits_until_results_are_taken, set_up, tear_down)
{
    struct read_job *job = start(*state, emit_much, NULL);
    struct read_result result;
    size_t sum = 0;

    while (next(*state, job, &result) == JOB_RESULT)
        sum += result.len;
    assert_int_equal(sum, (size_t)RESULTS * CHUNK);
    read_job_free(job);
}

TEST_WITH(a_job_whose_results_are_not_taken_does_not_delay_others, set_up, tear_down)
{
    struct read_job *job = start(*state, emit_much, NULL);
    struct read_result result;
    size_t sum = 0;

    assert_works(*state);
    while (next(*state, job, &result) == JOB_RESULT)
        sum += result.len;
    assert_int_equal(sum, (size_t)RESULTS * CHUNK);
    read_job_free(job);
}

TEST_WITH(a_job_that_hangs_is_reported_and_may_finish, set_up, tear_down)
{
    enum read_job_state found;
    struct read_result result;
    int64_t now_ms = 1;
    int ends[2];

    open_pipe(ends);
    struct read_job *job = start(*state, emit_byte, ends);

    assert_int_equal(pass_time(job, &now_ms), JOB_HANGS);
    assert_in_range(now_ms, JOB_TIMEOUT_MS, JOB_TIMEOUT_MS + 2 * STEP_MS);
    assert_int_equal(file_reader_abandoned(*state), 1);
    assert_works(*state);

    assert_int_equal(write(ends[1], "y", 1), 1);
    while ((found = read_job_next(job, now_ms, &result)) == JOB_HANGS)
        file_reader_wait(*state, WAIT_MS / TRIES);
    assert_int_equal(found, JOB_RESULT);
    assert_int_equal(*result.bytes, 'y');
    /* The result extends the deadline of the job; then the job ends. */
    do {
        file_reader_wait(*state, WAIT_MS / TRIES);
        found = read_job_next(job, now_ms, &result);
    } while (found == JOB_HANGS || found == JOB_WAITS);
    assert_int_equal(found, JOB_DONE);
    assert_int_equal(file_reader_abandoned(*state), 0);
    read_job_free(job);
    close_pipe(ends);
}

TEST_WITH(a_queued_job_does_not_hang_before_it_runs, set_up, tear_down)
{
    struct read_result result;
    int64_t now_ms = 1;
    int ends[2];

    open_pipe(ends);
    struct read_job *first = start(*state, emit_byte, ends);
    struct read_job *second = start(*state, echo, "x");

    for (int i = 0; i < TRIES; i++)
        assert_int_equal(read_job_next(second, 1 + i * JOB_TIMEOUT_MS, &result), JOB_WAITS);
    assert_int_equal(read_job_due(second), INT64_MAX);
    assert_int_equal(pass_time(first, &now_ms), JOB_HANGS);
    assert_int_equal(next(*state, second, &result), JOB_RESULT);
    read_job_free(first);
    read_job_free(second);
    assert_int_equal(write(ends[1], "y", 1), 1);
    assert_works(*state);
    for (int i = 0; i < TRIES && file_reader_abandoned(*state) > 0; i++)
        usleep(WAIT_MS / TRIES * 1000);
    close_pipe(ends);
}

/* The test never polls the first job, so the deadline of the reader passes in real time. */
TEST_WITH(an_unpolled_job_that_hangs_delays_others_to_the_deadline, set_up, tear_down)
{
    enum read_job_state found = JOB_WAITS;
    struct read_result result;
    int ends[2];

    open_pipe(ends);
    struct read_job *first = start(*state, emit_byte, ends);
    struct read_job *second = start(*state, echo, "x");

    for (int i = 0; found == JOB_WAITS && i < TRIES; i++) {
        found = read_job_next(second, 1, &result);
        file_reader_wait(*state, WAIT_MS / TRIES);
    }
    assert_int_equal(found, JOB_RESULT);
    assert_int_equal(file_reader_abandoned(*state), 1);
    read_job_free(first);
    read_job_free(second);
    assert_int_equal(write(ends[1], "y", 1), 1);
    for (int i = 0; i < TRIES && file_reader_abandoned(*state) > 0; i++)
        usleep(WAIT_MS / TRIES * 1000);
    close_pipe(ends);
}

/* Reports progress for each byte of the pipe; at the pipe's end, emits the count as the tag. */
static void count_bytes(struct read_job *job, void *input)
{
    const int *fd = input;
    int count = 0;
    char byte;

    while (read(*fd, &byte, 1) == 1 && read_job_progress(job))
        count++;
    (void)!read_job_emit(job, count, "", 0);
}

TEST_WITH(progress_prevents_hanging_until_the_job_is_freed, set_up, tear_down)
{
    struct read_result result;
    int64_t now_ms = 1;
    int ends[2];

    open_pipe(ends);
    struct read_job *job = start(*state, count_bytes, ends);

    for (int i = 0; i < 3 * JOB_TIMEOUT_MS / 1000; i++, now_ms += 1000) {
        assert_int_equal(write(ends[1], "y", 1), 1);
        usleep(STEP_MS * 100);
        assert_int_equal(read_job_next(job, now_ms, &result), JOB_WAITS);
    }
    close(ends[1]);
    assert_int_equal(next_at(*state, job, now_ms, &result), JOB_RESULT);
    assert_int_equal(result.tag, 3 * JOB_TIMEOUT_MS / 1000);
    read_job_free(job);
    close(ends[0]);

    open_pipe(ends);
    job = start(*state, count_bytes, ends);
    assert_int_equal(write(ends[1], "y", 1), 1);
    usleep(STEP_MS * 1000);
    read_job_free(job);
    assert_int_equal(write(ends[1], "y", 1), 1);
    for (int i = 0; i < TRIES && file_reader_abandoned(*state) > 0; i++)
        usleep(WAIT_MS / TRIES * 1000);
    assert_int_equal(file_reader_abandoned(*state), 0);
    close_pipe(ends);
}

TEST_WITH(a_job_below_the_minimal_rate_hangs, set_up, tear_down)
{
    enum read_job_state found = JOB_WAITS;
    struct read_result result;
    int64_t now_ms = 1;
    int ends[2];

    open_pipe(ends);
    struct read_job *job = start(*state, emit_bytes, ends);
    /* The job gets one byte per second. */
    while (found != JOB_HANGS && now_ms < 10 * JOB_TIMEOUT_MS) {
        assert_int_equal(write(ends[1], "y", 1), 1);
        assert_int_equal(next_at(*state, job, now_ms, &result), JOB_RESULT);
        for (int64_t end_ms = now_ms + 1000; now_ms < end_ms; now_ms += STEP_MS)
            found = read_job_next(job, now_ms, &result);
    }
    assert_int_equal(found, JOB_HANGS);
    assert_in_range(now_ms, JOB_TIMEOUT_MS, 2 * JOB_TIMEOUT_MS);
    read_job_free(job);
    close(ends[1]);
    assert_works(*state);
    for (int i = 0; i < TRIES && file_reader_abandoned(*state) > 0; i++)
        usleep(WAIT_MS / TRIES * 1000);
    close(ends[0]);
}

TEST_WITH(a_patient_job_delays_no_other_and_never_hangs, set_up, tear_down)
{
    struct read_result result;
    int ends[2];

    open_pipe(ends);
    struct read_job *job = start(*state, emit_byte, ends);

    read_job_disable_timeout(job);
    for (int64_t now_ms = 1; now_ms < 100 * JOB_TIMEOUT_MS; now_ms += 10 * STEP_MS)
        assert_int_equal(read_job_next(job, now_ms, &result), JOB_WAITS);
    assert_int_equal(read_job_due(job), INT64_MAX);
    assert_works(*state);
    assert_int_equal(file_reader_abandoned(*state), 0);
    assert_int_equal(write(ends[1], "y", 1), 1);
    assert_int_equal(next(*state, job, &result), JOB_RESULT);
    read_job_free(job);
    close_pipe(ends);
}

static bool is_readable(const struct file_reader *r)
{
    struct pollfd wanted = {.fd = file_reader_fd(r), .events = POLLIN};

    return poll(&wanted, 1, 0) == 1;
}

TEST_WITH(a_result_that_is_not_taken_is_reported_once, set_up, tear_down)
{
    struct read_job *job = start(*state, echo, "");
    struct read_result result;
    struct pollfd wanted = {.fd = file_reader_fd(*state), .events = POLLIN};

    assert_int_equal(poll(&wanted, 1, WAIT_MS), 1);
    file_reader_handle_event(*state);
    assert_false(is_readable(*state));
    assert_int_equal(next(*state, job, &result), JOB_DONE);
    read_job_free(job);
}

static void emit_nothing(struct read_job *job, void *input)
{
    (void)job;
    (void)input;
}

TEST_WITH(a_job_that_ends_without_a_result_is_done, set_up, tear_down)
{
    struct read_job *job = start(*state, emit_nothing, NULL);
    struct read_result result;

    assert_int_equal(next(*state, job, &result), JOB_DONE);
    read_job_free(job);
}

TEST_WITH(jobs_are_lost_above_the_limit_of_abandoned_threads, set_up, tear_down)
{
    struct read_job *jobs[ABANDONED_MAX + 2];
    int ends[2];

    open_pipe(ends);
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
        int64_t now_ms = 1;

        jobs[i] = start(*state, emit_byte, ends);
        assert_int_equal(pass_time(jobs[i], &now_ms), i < ABANDONED_MAX ? JOB_HANGS : JOB_REJECTED);
    }
    assert_int_equal(file_reader_abandoned(*state), ABANDONED_MAX);
    /* One read returns: its thread runs the next job. */
    assert_int_equal(write(ends[1], "y", 1), 1);
    for (int i = 0; i < TRIES && file_reader_abandoned(*state) == ABANDONED_MAX; i++)
        usleep(WAIT_MS / TRIES * 1000);
    assert_works(*state);
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++)
        read_job_free(jobs[i]);
    assert_int_equal(write(ends[1], "yyyyyyyyy", ABANDONED_MAX), ABANDONED_MAX);
    for (int i = 0; i < TRIES && file_reader_abandoned(*state) > 0; i++)
        usleep(WAIT_MS / TRIES * 1000);
    read_job_free(start(*state, emit_nothing, NULL));
    close_pipe(ends);
}

TEST_WITH(a_job_without_a_thread_is_lost_but_not_the_next_job, set_up, tear_down)
{
    struct read_result result;
    int64_t now_ms = 1;
    int ends[2];

    refuses_threads = true;
    struct read_job *lost = start(*state, echo, "x");

    assert_int_equal(read_job_next(lost, 1, &result), JOB_REJECTED);
    read_job_free(lost);
    refuses_threads = false;
    assert_works(*state);

    /* A job that waits behind one that hangs is lost if no new thread can start. */
    open_pipe(ends);
    struct read_job *blocker = start(*state, emit_byte, ends);
    struct read_job *behind = start(*state, echo, "x");

    refuses_threads = true;
    assert_int_equal(pass_time(blocker, &now_ms), JOB_HANGS);
    refuses_threads = false;
    assert_int_equal(read_job_next(behind, 1, &result), JOB_REJECTED);
    read_job_free(behind);
    assert_works(*state);
    assert_int_equal(write(ends[1], "y", 1), 1);
    while (next(*state, blocker, &result) != JOB_DONE)
        continue;
    read_job_free(blocker);
    close_pipe(ends);
}

TEST_WITH(jobs_of_a_path_that_hangs_are_lost_at_once, set_up, tear_down)
{
    struct read_job *jobs[ABANDONED_MAX_PER_PATH + ABANDONED_MAX];
    char file[READ_FILE_NAME_MAX];
    struct read_result result;
    int ends[2];

    assert_false(file_reader_blocked_file(*state, file));
    open_pipe(ends);
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
        int64_t now_ms = 1;

        jobs[i] = read_job_start(*state, "/path", emit_byte, ends, NULL);
        assert_int_equal(pass_time(jobs[i], &now_ms),
                         i < ABANDONED_MAX_PER_PATH ? JOB_HANGS : JOB_REJECTED);
        assert_int_equal(read_job_due(jobs[i]), INT64_MAX);
        /* A failed reload frees its jobs, too. The threads still hang. */
        read_job_free(jobs[i]);
    }
    assert_int_equal(file_reader_abandoned(*state), ABANDONED_MAX_PER_PATH);
    assert_true(file_reader_blocked_file(*state, file));
    assert_string_equal(file, "/path");
    assert_works(*state);

    /* One thread returns: jobs of the PATH run again. */
    assert_int_equal(write(ends[1], "y", 1), 1);
    for (int i = 0; i < TRIES && file_reader_abandoned(*state) == ABANDONED_MAX_PER_PATH; i++)
        usleep(WAIT_MS / TRIES * 1000);
    struct read_job *job = read_job_start(*state, "/path", emit_nothing, NULL, NULL);

    assert_int_equal(next(*state, job, &result), JOB_DONE);
    read_job_free(job);
    assert_int_equal(write(ends[1], "yy", 2), 2);
    for (int i = 0; i < TRIES && file_reader_abandoned(*state) > 0; i++)
        usleep(WAIT_MS / TRIES * 1000);
    close_pipe(ends);
}

static void free_counted(void *input)
{
    int *count = input;

    ++*count;
}

TEST_WITH(the_input_is_freed_once_whether_the_job_runs_or_not, set_up, tear_down)
{
    struct read_result result;
    int64_t now_ms = 1;
    int ends[2], counts[2] = {0, 0};

    open_pipe(ends);
    struct read_job *blocker = start(*state, emit_byte, ends);
    struct read_job *queued = read_job_start(*state, "", emit_nothing, &counts[0], free_counted);

    read_job_free(queued);
    assert_int_equal(counts[0], 1);
    assert_int_equal(pass_time(blocker, &now_ms), JOB_HANGS);
    struct read_job *run = read_job_start(*state, "", emit_nothing, &counts[1], free_counted);

    assert_int_equal(next(*state, run, &result), JOB_DONE);
    assert_int_equal(counts[1], 0);
    read_job_free(run);
    assert_int_equal(counts[1], 1);
    assert_int_equal(write(ends[1], "y", 1), 1);
    while (next(*state, blocker, &result) != JOB_DONE)
        continue;
    read_job_free(blocker);
    close_pipe(ends);
}

TEST_WITH(a_thousand_jobs_run_one_after_another, set_up, tear_down)
{
    for (int i = 0; i < 1000; i++)
        assert_works(*state);
}

TEST_WITH(freeing_the_reader_does_not_wait_for_a_hanging_job, set_up, NULL)
{
    static int ends[2];

    open_pipe(ends);
    struct read_job *job = start(*state, emit_byte, ends);

    usleep(STEP_MS * 1000);
    read_job_free(job);
    assert_false(file_reader_free(*state));
    /* The thread frees the reader when its read of ends[0] returns, so ends[0] stays open. */
    close(ends[1]);
}
