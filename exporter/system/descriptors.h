/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>

#include "metrics/base/base.h"

/*
 * Maximum numbers of file descriptors for the web server and connections to API servers. The rest
 * of the process limit is for listeners, files and other purposes.
 */
struct descriptor_shares {
    unsigned web; /* Connections of HTTP clients; at least 8. */
    unsigned api; /* Descriptors that libcurl opens, such as sockets to API servers; may be 0. */
    /*
     * Lowest descriptor number for connections of HTTP clients; 0 for no minimum. Lower numbers
     * stay free for sockets in an fd_set, which holds numbers below FD_SETSIZE only.
     */
    int web_min_fd;
};

/* Returns the shares for a process limit of `limit` descriptors. */
struct descriptor_shares descriptor_shares_of_limit(uint64_t limit);

/* Returns the shares for the current soft limit of the process. */
struct descriptor_shares descriptor_shares_current(void);

/* Raises the soft limit of the process to the hard limit. Ignores errors. */
void descriptors_raise_limit(void);

/*
 * Lowers the soft limit of the child process `pid` to at most 1024. Some programs use fd_set, or
 * close every descriptor number up to the limit. Ignores errors.
 */
void descriptors_lower_limit(int pid);

/*
 * Calls poll(2) and returns its result, for a caller that cannot handle errors other than EINTR: -1
 * only after a signal. After another error, such as ENOMEM or a limit below `count`, the function
 * waits up to 20 ms, reports all requested events as ready, and returns `count`.
 */
int descriptors_poll(struct pollfd *wanted, size_t count, int timeout_ms);
