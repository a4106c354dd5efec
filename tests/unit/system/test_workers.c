/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/workers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "tests/unit/suite.h"

/* Far above what a slow machine needs. */
enum { PATIENCE_MS = 20000, STEP_MS = 100, FRAMES = 100 };

static int set_up(void **state)
{
    struct error err;
    struct workers *w = workers_start(NULL, &err);

    *state = w;
    return w ? 0 : -1;
}

static int tear_down(void **state)
{
    workers_free(*state);
    return 0;
}

/* The next state but JOB_WAITS. Time stands still, so that nothing hangs. */
static enum job_state next_at(struct workers *w, struct job *job, int64_t now_ms,
                              const char **bytes, size_t *len)
{
    enum job_state state;

    for (int i = 0; (state = job_next(job, now_ms, bytes, len)) == JOB_WAITS && i < 200; i++)
        workers_wait(w, PATIENCE_MS / 200);
    return state;
}

static enum job_state next(struct workers *w, struct job *job, const char **bytes, size_t *len)
{
    return next_at(w, job, 1, bytes, len);
}

/* Emits each byte of its input, FRAMES times over. */
static void echo(struct job_output *out, const char *input, size_t len, int fd)
{
    char frame[FRAMES];

    (void)fd;
    for (size_t i = 0; i < len; i++) {
        memset(frame, input[i], sizeof(frame));
        job_emit(out, frame, sizeof(frame));
    }
}

TEST_WITH(frames_come_in_order_and_then_the_end, set_up, tear_down)
{
    struct workers *w = *state;
    struct job *job = job_start(w, echo, "abc", 3, -1);
    const char *bytes;
    size_t len;

    for (const char *wanted = "abc"; *wanted; wanted++) {
        assert_int_equal(next(w, job, &bytes, &len), JOB_FRAME);
        assert_int_equal(len, FRAMES);
        assert_int_equal(bytes[0], *wanted);
        assert_int_equal(bytes[FRAMES - 1], *wanted);
    }
    assert_int_equal(next(w, job, &bytes, &len), JOB_DONE);
    assert_int_equal(job_next(job, 1, &bytes, &len), JOB_DONE);
    job_free(job);
}

static void emit_much(struct job_output *out, const char *input, size_t len, int fd)
{
    CLEANUP(free_cleanup) char *frame = xcalloc(1, JOB_FRAME_MAX);

    (void)input;
    (void)len;
    (void)fd;
    for (int i = 0; i < FRAMES; i++)
        job_emit(out, frame, JOB_FRAME_MAX);
}

TEST_WITH(more_than_the_buffers_hold_passes, set_up, tear_down)
{
    struct workers *w = *state;
    struct job *job = job_start(w, emit_much, "", 0, -1);
    const char *bytes;
    size_t len, sum = 0;

    while (next(w, job, &bytes, &len) == JOB_FRAME)
        sum += len;
    assert_int_equal(sum, (size_t)FRAMES * JOB_FRAME_MAX);
    assert_int_equal(job_next(job, 1, &bytes, &len), JOB_DONE);
    job_free(job);
}

/* Reads a byte from its descriptor, which may take for ever, and emits it. */
static void wait_for_byte(struct job_output *out, const char *input, size_t len, int fd)
{
    char byte;

    (void)input;
    (void)len;
    if (read(fd, &byte, 1) == 1)
        job_emit(out, &byte, 1);
}

TEST_WITH(a_job_that_hangs_is_told_and_may_go_on, set_up, tear_down)
{
    struct workers *w = *state;
    enum job_state found = JOB_WAITS;
    int64_t now_ms = 1;
    const char *bytes;
    size_t len;
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct job *job = job_start(w, wait_for_byte, "", 0, ends[0]);

    for (; found == JOB_WAITS && now_ms < 2 * JOB_PATIENCE_MS; now_ms += STEP_MS)
        found = job_next(job, now_ms, &bytes, &len);
    assert_int_equal(found, JOB_HANGS);
    assert_in_range(now_ms, JOB_PATIENCE_MS, JOB_PATIENCE_MS + 2 * STEP_MS + 1);

    /* Others are not held. */
    struct job *other = job_start(w, echo, "x", 1, -1);
    assert_int_equal(next(w, other, &bytes, &len), JOB_FRAME);
    assert_int_equal(next(w, other, &bytes, &len), JOB_DONE);
    job_free(other);

    assert_int_equal(write(ends[1], "y", 1), 1);
    while ((found = job_next(job, now_ms, &bytes, &len)) == JOB_HANGS)
        workers_wait(w, PATIENCE_MS / 200);
    assert_int_equal(found, JOB_FRAME);
    assert_int_equal(*bytes, 'y');
    job_free(job);
    close(ends[0]);
    close(ends[1]);
}

/* A byte each time that there is one. */
static void wait_for_bytes(struct job_output *out, const char *input, size_t len, int fd)
{
    char byte;

    (void)input;
    (void)len;
    while (read(fd, &byte, 1) == 1)
        job_emit(out, &byte, 1);
}

TEST_WITH(a_job_that_drips_hangs, set_up, tear_down)
{
    struct workers *w = *state;
    enum job_state found = JOB_WAITS;
    int64_t now_ms = 1;
    const char *bytes;
    size_t len;
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct job *job = job_start(w, wait_for_bytes, "", 0, ends[0]);
    /* A byte a second. */
    while (found != JOB_HANGS && now_ms < 10 * JOB_PATIENCE_MS) {
        assert_int_equal(write(ends[1], "y", 1), 1);
        assert_int_equal(next_at(w, job, now_ms, &bytes, &len), JOB_FRAME);
        for (int64_t end_ms = now_ms + 1000; now_ms < end_ms; now_ms += STEP_MS)
            found = job_next(job, now_ms, &bytes, &len);
    }
    assert_int_equal(found, JOB_HANGS);
    assert_in_range(now_ms, JOB_PATIENCE_MS, 2 * JOB_PATIENCE_MS);
    job_free(job);
    close(ends[0]);
    close(ends[1]);
}

TEST_WITH(a_patient_job_may_take_its_time, set_up, tear_down)
{
    struct workers *w = *state;
    const char *bytes;
    size_t len;
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct job *job = job_start(w, wait_for_byte, "", 0, ends[0]);

    job_be_patient(job);
    for (int64_t now_ms = 1; now_ms < 100 * JOB_PATIENCE_MS; now_ms += 10 * STEP_MS)
        assert_int_equal(job_next(job, now_ms, &bytes, &len), JOB_WAITS);
    assert_int_equal(job_due(job), INT64_MAX);
    job_free(job);
    close(ends[0]);
    close(ends[1]);
}

static bool is_readable(const struct workers *w)
{
    struct pollfd wanted = {.fd = workers_fd(w), .events = POLLIN};

    return poll(&wanted, 1, 0) == 1;
}

/* What has arrived for a job that nobody asks at the moment keeps nobody awake. */
TEST_WITH(an_arrival_is_told_once, set_up, tear_down)
{
    struct workers *w = *state;
    struct job *job = job_start(w, echo, "", 0, -1);
    const char *bytes;
    size_t len;

    /* Its one frame is the end. */
    workers_wait(w, PATIENCE_MS);
    assert_true(is_readable(w));
    workers_turn(w);
    assert_false(is_readable(w));
    assert_int_equal(next(w, job, &bytes, &len), JOB_DONE);
    job_free(job);
}

/* Its process is not there for ever. */
TEST_WITH(who_forgets_a_job_is_told_of_what_it_has_said, set_up, tear_down)
{
    struct workers *w = *state;
    struct job *job = job_start(w, echo, "", 0, -1);

    workers_wait(w, PATIENCE_MS);
    workers_turn(w);
    job_free(job);
    assert_true(is_readable(w));
    workers_turn(w);
    assert_false(is_readable(w));
}

static void die(struct job_output *out, const char *input, size_t len, int fd)
{
    (void)out;
    (void)input;
    (void)len;
    (void)fd;
    _exit(1);
}

TEST_WITH(a_job_whose_process_dies_is_lost, set_up, tear_down)
{
    struct workers *w = *state;
    struct job *job = job_start(w, die, "", 0, -1);
    const char *bytes;
    size_t len;

    assert_int_equal(next(w, job, &bytes, &len), JOB_LOST);
    job_free(job);
    job = job_start(w, echo, "x", 1, -1);
    assert_int_equal(next(w, job, &bytes, &len), JOB_FRAME);
    job_free(job);
}

static void emit_pid(struct job_output *out, const char *input, size_t len, int fd)
{
    const pid_t pids[] = {getpid(), getppid()};

    (void)input;
    (void)len;
    (void)fd;
    job_emit(out, pids, sizeof(pids));
}

/* The process that does the next job, and the one that it was forked by. */
static void find_processes(struct workers *w, pid_t pids[2])
{
    struct job *job = job_start(w, emit_pid, "", 0, -1);
    const char *bytes;
    size_t len;

    assert_int_equal(next(w, job, &bytes, &len), JOB_FRAME);
    assert_int_equal(len, 2 * sizeof(pid_t));
    memcpy(pids, bytes, len);
    assert_int_equal(next(w, job, &bytes, &len), JOB_DONE);
    job_free(job);
}

TEST_WITH(a_process_that_was_killed_without_a_job_is_replaced, set_up, tear_down)
{
    struct workers *w = *state;
    pid_t before[2], after[2];

    for (int i = 0; i < 20; i++) {
        find_processes(w, before);
        assert_int_equal(kill(before[0], SIGKILL), 0);
        /* With and without the time to notice. */
        if (i % 2 == 0)
            workers_wait(w, PATIENCE_MS);
        struct job *job = job_start(w, echo, "x", 1, -1);
        const char *bytes;
        size_t len;
        enum job_state found = next(w, job, &bytes, &len);

        /* The process may end after it has received the job. */
        assert_true(found == JOB_FRAME || (found == JOB_LOST && i % 2 != 0));
        job_free(job);
        find_processes(w, after);
        assert_int_not_equal(before[0], after[0]);
        assert_int_equal(before[1], after[1]);
        assert_false(workers_ended(w));
    }
}

TEST_WITH(the_end_of_the_process_that_forks_is_noticed, set_up, tear_down)
{
    struct workers *w = *state;
    const char *bytes;
    pid_t pids[2];
    size_t len;

    find_processes(w, pids);
    workers_turn(w);
    assert_false(workers_ended(w));
    assert_int_equal(kill(pids[1], SIGKILL), 0);
    workers_wait(w, PATIENCE_MS);
    workers_turn(w);
    assert_true(workers_ended(w));
    /* workers_fd() reports the end once. */
    assert_false(is_readable(w));
    /* The child of the worker goes on. */
    find_processes(w, pids);
    assert_int_equal(kill(pids[0], SIGKILL), 0);
    workers_wait(w, PATIENCE_MS);
    struct job *job = job_start(w, echo, "x", 1, -1);
    assert_int_equal(job_next(job, 1, &bytes, &len), JOB_LOST);
    job_free(job);
}

TEST_WITH(too_many_that_hang_are_lost_not_waited_for, set_up, tear_down)
{
    struct workers *w = *state;
    struct job *jobs[64];
    const char *bytes;
    size_t len;
    size_t lost = 0;
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
        jobs[i] = job_start(w, wait_for_byte, "", 0, ends[0]);
        lost += job_next(jobs[i], 1, &bytes, &len) == JOB_LOST;
    }
    assert_in_range(lost, 1, ARRAY_LEN(jobs) - 8);
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++)
        job_free(jobs[i]);
    /* Their processes end once they can: then there is room again. */
    close(ends[0]);
    close(ends[1]);
    struct job *job = NULL;
    enum job_state found = JOB_LOST;
    for (int i = 0; i < 2000; i++) {
        job = job_start(w, echo, "x", 1, -1);
        found = job_next(job, 1, &bytes, &len);
        if (found != JOB_LOST)
            break;
        job_free(job);
        usleep(10 * 1000);
    }
    /* It may have answered at once. */
    if (found != JOB_FRAME)
        found = next(w, job, &bytes, &len);
    assert_int_equal(found, JOB_FRAME);
    job_free(job);
}

TEST_WITH(a_process_does_one_job_after_another, set_up, tear_down)
{
    struct workers *w = *state;
    const char *bytes;
    size_t len;

    for (int i = 0; i < 1000; i++) {
        struct job *job = job_start(w, echo, "x", 1, -1);

        assert_int_equal(next(w, job, &bytes, &len), JOB_FRAME);
        assert_int_equal(next(w, job, &bytes, &len), JOB_DONE);
        job_free(job);
    }
}

TEST_WITH(the_end_waits_for_no_job, set_up, NULL)
{
    struct workers *w = *state;
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct job *job = job_start(w, wait_for_byte, "", 0, ends[0]);

    job_free(job);
    workers_free(w);
    close(ends[0]);
    close(ends[1]);
}
