/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/platform.h"

#include <errno.h>
#include <poll.h>
#include <sys/random.h>
#include <unistd.h>

static struct timespec read_clock(clockid_t clock)
{
    struct timespec now;

    /* Cannot fail for the clocks that every Linux has. */
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

int64_t platform_thread_ms(void)
{
    return read_ms(CLOCK_THREAD_CPUTIME_ID);
}

double platform_steady_seconds(void)
{
    struct timespec now = read_clock(CLOCK_MONOTONIC);

    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

uint64_t platform_seed(void)
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
 * In place of the one of metrics/, which cannot write. There is no memory for the log; a pipe
 * that nobody reads must not hold us up.
 */
void memory_exhausted(size_t size)
{
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    char line[128];

    int len =
        snprintf(line, sizeof(line),
                 "karmada-policy-exporter: out of memory: %zu bytes more cannot be had; raise "
                 "its limit\n",
                 size);
    if (poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) != 0)
        (void)!write(STDERR_FILENO, line, (size_t)len);
    abort();
}
