/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/platform.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

static struct timespec read_clock(clockid_t clock)
{
    struct timespec now;

    /* The clocks of the callers exist on every Linux kernel. */
    if (clock_gettime(clock, &now) < 0)
        abort();
    return now;
}

static int64_t read_ms(clockid_t clock)
{
    struct timespec now = read_clock(clock);

    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t platform_now_ms(void)
{
    return read_ms(CLOCK_REALTIME);
}

int64_t platform_steady_ms(void)
{
    return read_ms(CLOCK_MONOTONIC);
}

int64_t platform_thread_cpu_us(void)
{
    struct timespec used = read_clock(CLOCK_THREAD_CPUTIME_ID);

    return (int64_t)used.tv_sec * 1000000 + used.tv_nsec / 1000;
}

double platform_steady_seconds(void)
{
    struct timespec now = read_clock(CLOCK_MONOTONIC);

    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

uint64_t platform_random_seed(void)
{
    uint64_t seed;

    while (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed)) {
        if (errno != EINTR)
            abort();
    }
    return seed;
}

const char *const *platform_environment(void)
{
    return (const char *const *)environ;
}

/*
 * Replaces the weak definition of metrics/base/base.c, which writes no message. The function does
 * not allocate, does not use the log and its thread, and does not write to a full pipe. The lock of
 * stderr is never released: at most the first thread writes a message before the process aborts.
 */
void memory_exhausted(size_t size)
{
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    char bytes[64] = "";
    char line[128];

    flockfile(stderr);
    if (size > 0)
        snprintf(bytes, sizeof(bytes), ": cannot get %zu bytes", size);
    int len = snprintf(line, sizeof(line),
                       "karmada-policy-exporter: out of memory%s; raise the memory limit\n", bytes);

    if (poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) != 0)
        (void)!write(STDERR_FILENO, line, (size_t)len);
    abort();
}

/* Relaxed memory order: the time does not publish other data. */
void heartbeat_update(struct heartbeat *h, int64_t now_ms)
{
    atomic_store_explicit(&h->at_ms, now_ms, memory_order_relaxed);
}

int64_t heartbeat_age_ms(const struct heartbeat *h, int64_t now_ms)
{
    int64_t at_ms = atomic_load_explicit(&h->at_ms, memory_order_relaxed);

    return at_ms < now_ms ? now_ms - at_ms : 0;
}

int thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(thread, NULL, run, context);

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

void condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t steady;

    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &steady);
    pthread_condattr_destroy(&steady);
}

bool condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until_ms)
{
    struct timespec until = {until_ms / 1000, until_ms % 1000 * 1000000};

    return pthread_cond_timedwait(condition, lock, &until) != ETIMEDOUT;
}
