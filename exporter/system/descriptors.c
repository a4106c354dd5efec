/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/descriptors.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/select.h>

enum {
    /* Listeners, threads, the log, inotify, tokens, certificates, manifests, resolvers, plugins. */
    OTHERS = 64,
    OTHERS_LEAST = 24, /* Of a limit that is hardly one. */
    WEB_MOST = 2048,   /* Each has a buffer as well. */
    WEB_LEAST = 8,
    EXPECTED = 1024, /* The soft limit that systems start programs with. */
    REFUSED_PAUSE_MS = 20,
};

static unsigned at_most(uint64_t count, unsigned most)
{
    return count < most ? (unsigned)count : most;
}

struct descriptor_shares descriptor_shares_of_limit(uint64_t limit)
{
    uint64_t others = limit >= 4 * OTHERS ? OTHERS : OTHERS_LEAST;
    uint64_t rest = limit > others ? limit - others : 0;
    struct descriptor_shares shares = {.web_min_fd = 0};

    if (limit >= 2 * FD_SETSIZE) {
        shares.web_min_fd = FD_SETSIZE;
        shares.web = at_most(limit - FD_SETSIZE, WEB_MOST);
        shares.api = FD_SETSIZE - OTHERS;
        return shares;
    }
    shares.web = at_most(rest / 3, WEB_MOST);
    if (shares.web < WEB_LEAST)
        shares.web = WEB_LEAST;
    shares.api = rest > shares.web ? at_most(rest - shares.web, FD_SETSIZE - OTHERS) : 0;
    return shares;
}

struct descriptor_shares descriptor_shares_current(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        limit.rlim_cur = EXPECTED;
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

    if (prlimit(pid, RLIMIT_NOFILE, NULL, &limit) < 0 || limit.rlim_cur <= EXPECTED)
        return;
    limit.rlim_cur = EXPECTED;
    (void)prlimit(pid, RLIMIT_NOFILE, &limit, NULL);
}

int descriptors_poll(struct pollfd *wanted, size_t count, int timeout_ms)
{
    int ready = poll(wanted, count, timeout_ms);

    if (ready >= 0 || errno == EINTR)
        return ready;
    /* Else who waits would spin. */
    if (timeout_ms < 0 || timeout_ms > REFUSED_PAUSE_MS)
        timeout_ms = REFUSED_PAUSE_MS;
    (void)poll(NULL, 0, timeout_ms);
    for (size_t i = 0; i < count; i++)
        wanted[i].revents = wanted[i].fd >= 0 ? wanted[i].events : 0;
    return (int)count;
}
