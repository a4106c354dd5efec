/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/descriptors.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/select.h>

enum {
    /* Reserve for listeners, log, inotify, tokens and manifests. */
    OTHERS = 64,
    OTHERS_MIN = 24, /* Reserve if the limit is below 4 * OTHERS. */
    WEB_MAX = 2048,  /* Limits the memory for the buffers of connections. */
    WEB_MIN = 8,
    DEFAULT_SOFT_LIMIT = 1024, /* Usual soft limit of a process. */
    ERROR_PAUSE_MS = 20,
};

static unsigned limit_count(uint64_t count, unsigned most)
{
    return count < most ? (unsigned)count : most;
}

struct descriptor_shares descriptor_shares_of_limit(uint64_t limit)
{
    uint64_t others = limit >= 4 * OTHERS ? OTHERS : OTHERS_MIN;
    uint64_t rest = limit > others ? limit - others : 0;
    struct descriptor_shares shares = {.web_min_fd = 0};

    if (limit >= 2 * FD_SETSIZE) {
        shares.web_min_fd = FD_SETSIZE;
        shares.web = limit_count(limit - FD_SETSIZE, WEB_MAX);
        shares.api = FD_SETSIZE - OTHERS;
        return shares;
    }
    shares.web = limit_count(rest / 3, WEB_MAX);
    if (shares.web < WEB_MIN)
        shares.web = WEB_MIN;
    shares.api = rest > shares.web ? limit_count(rest - shares.web, FD_SETSIZE - OTHERS) : 0;
    return shares;
}

struct descriptor_shares descriptor_shares_current(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        limit.rlim_cur = DEFAULT_SOFT_LIMIT;
    return descriptor_shares_of_limit(limit.rlim_cur);
}

void descriptors_raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

void descriptors_lower_limit(int pid)
{
    struct rlimit limit;

    if (prlimit(pid, RLIMIT_NOFILE, NULL, &limit) < 0 || limit.rlim_cur <= DEFAULT_SOFT_LIMIT)
        return;
    limit.rlim_cur = DEFAULT_SOFT_LIMIT;
    (void)prlimit(pid, RLIMIT_NOFILE, &limit, NULL);
}

int descriptors_poll(struct pollfd *wanted, size_t count, int timeout_ms)
{
    int ready = poll(wanted, count, timeout_ms);

    if (ready >= 0 || errno == EINTR)
        return ready;
    /* Without a pause the caller would retry in a busy loop. */
    if (timeout_ms < 0 || timeout_ms > ERROR_PAUSE_MS)
        timeout_ms = ERROR_PAUSE_MS;
    (void)poll(NULL, 0, timeout_ms);
    for (size_t i = 0; i < count; i++)
        wanted[i].revents = wanted[i].fd >= 0 ? wanted[i].events : 0;
    return (int)count;
}
