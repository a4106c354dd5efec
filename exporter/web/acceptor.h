/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/socket.h>

#include "exporter/web/peers.h"
#include "metrics/base/error.h"

/*
 * The thread that accepts connections and watches over their deadlines, and what they hold. It is
 * ours because the library's stops accepting when its table is full, or when a descriptor is
 * missing, until a client goes by itself; with none connected it spins.
 */
struct acceptor_settings {
    const int *listeners; /* Sockets that listen and do not block. Borrowed. */
    size_t listener_count;
    struct peers *peers; /* Borrowed. */
    int from;            /* The least number of a connection's descriptor, if there is one free. */
    /* Take over a connection, which does not block; false if it could not, and closed it. */
    bool (*hand_over)(void *context, int fd, const struct sockaddr *address, socklen_t len);
    /* Do answers hold more memory than they may? NULL: never. */
    bool (*overfull)(void *context);
    void *context;
};

struct acceptor;

/* Start the thread, which inherits the caller's signal mask. */
struct acceptor *acceptor_start(const struct acceptor_settings *settings,
                                struct error *err) MUST_USE;

/* End the thread; the listeners stay open. NULL is fine. */
void acceptor_stop(struct acceptor *a);
