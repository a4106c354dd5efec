/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>

#include "metrics/base/base.h"

/*
 * Who may have how many of the process's file descriptors. Each side keeps to its share, so
 * that neither clients that connect nor an API server with many kinds takes what the other, a
 * token file or a manifest needs.
 */
struct descriptor_shares {
    unsigned web; /* Connections of clients. */
    unsigned api; /* Sockets to API servers, and what libcurl opens beside them. */
    /*
     * The number from which clients' connections have theirs, 0 where they have any: the
     * numbers below stay free for sockets that fd_set has to hold.
     */
    int web_min_fd;
};

/* The shares of a limit of so many. What is left to nobody is for listeners and files. */
struct descriptor_shares descriptor_shares_of_limit(uint64_t limit);

/* The shares of the limit that is in force. */
struct descriptor_shares descriptor_shares_current(void);

/* Raise the soft limit to the hard one. Where that is refused the old one stays. */
void descriptors_raise_limit(void);

/*
 * Give another process of ours the soft limit that programs expect, since some count on
 * fd_set, and some close whatever the limit allows. Where that is refused it keeps ours.
 */
void descriptors_lower_limit(int pid);

/*
 * As poll(2), for who has to go on whatever happens: where it fails otherwise than by a signal (the
 * limit fell below `count`, or there is no memory), the answer is, after a moment, that all that
 * was wanted may be ready. -1 after a signal alone.
 */
int descriptors_poll(struct pollfd *wanted, size_t count, int timeout_ms);
