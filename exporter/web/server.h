/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/system/log.h"
#include "exporter/web/connections.h"
#include "exporter/web/routes.h"
#include "metrics/base/error.h"

/*
 * The HTTP server: the acceptor thread, which accepts connections on all addresses and limits them
 * (connections.h), and a libmicrohttpd daemon with a small pool of threads, which pass each request
 * to routes.h.
 */
struct server_options {
    const char *const *addresses; /* In the syntax of address_parse(). */
    size_t address_count;
    const char *telemetry_path; /* Path of the metrics, such as "/metrics". */
    const char *prefix;         /* Prefix of every path, such as "/karmada", or NULL. Borrowed. */
    unsigned connection_limit;  /* For all addresses; 0: derived from the descriptor limit. */
    /*
     * Limit in bytes of all connection buffers (for 32 connections at least), and the same again of
     * unread responses and replaced metrics pages. 0: no limit of buffers, and a default for these.
     */
    uint64_t memory_bytes;
    const struct log *log;                 /* For libmicrohttpd's messages, or NULL. Borrowed. */
    const struct heartbeat *heartbeat;     /* For health paths; NULL: always healthy. Borrowed. */
    struct access_control *access_control; /* NULL: no access control. Borrowed. */
    bool lifecycle;                        /* Enables /-/reload. */
    bool plans;                            /* Enables requests for plans. */
};

struct server;

/*
 * Listens on every address and starts the threads. Returns NULL with the reason on failure.
 * `page_store` is borrowed until server_stop(). Threads inherit the caller's signal mask: block the
 * signals for a signalfd before.
 */
struct server *server_start(const struct server_options *options, struct page_store *page_store,
                            struct error *err) MUST_USE;

/* Closes all connections, waits for the threads and frees the server; NULL is allowed. */
void server_stop(struct server *s);

/*
 * Sets the response of /-/ready and /readyz: 200, or 503 with Retry-After, and the text, which is
 * copied and has to end with a line end. A new server is not ready. Any thread may call it.
 */
void server_set_ready(struct server *s, bool ready, const char *text);

/* Returns the queue of API requests for the event loop. Borrowed. */
struct request_queue *server_request_queue(const struct server *s);

/* Returns the queue of reload requests for the event loop; NULL without `lifecycle`. Borrowed. */
struct request_queue *server_reload_queue(const struct server *s);

/* Returns the listening socket of the address with index `at` in the options. Borrowed. */
int server_listener_fd(const struct server *s, size_t at);

/* Returns the bound address, such as "127.0.0.1:19180", of server_listener_fd(s, at). Borrowed. */
const char *server_address(const struct server *s, size_t at);

/* Returns the number of responses with this handler and code so far. Any thread may call it. */
uint64_t server_requests(const struct server *s, enum server_handler handler,
                         enum server_code code);

/* Returns the number of connections refused or ended for this reason. Any thread may call it. */
uint64_t server_refused(const struct server *s, enum connection_refusal reason);

/* Used only by server.c and tests. */

enum { ADDRESS_HOST_MAX = 256 };

/*
 * Listen address, in the syntax of --web.listen-address: ":19180" (every address of the host, IPv4
 * and IPv6), "host:19180", "192.0.2.1:19180", "[::1]:19180".
 */
struct address {
    char host[ADDRESS_HOST_MAX]; /* Name or address without brackets; empty: every address. */
    uint16_t port;               /* 0: a free port. */
};

/* Parses the text without looking up names. Returns false with the reason, `out` unchanged. */
bool address_parse(const char *text, struct address *out, struct error *err) MUST_USE;

/* Bytes for "[" address "%" zone "]:" port. */
enum { LISTENER_NAME_MAX = 96 };

/*
 * Looks up the host, binds and listens. The socket is non-blocking; the caller closes it. Binds to
 * the first IPv4 address of the host; without one, or if the system lacks it, to the first IPv6
 * address. An empty host means both families, or IPv4 without IPv6. Returns false with the reason.
 */
bool listener_open(const struct address *address, int *out_fd, struct error *err) MUST_USE;

/* Writes the bound address of the socket: "127.0.0.1:19180", "[::]:19180"; "?:?" on failure. */
void listener_name(int fd, char out[LISTENER_NAME_MAX]);
