/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/system/log.h"
#include "exporter/web/connections.h"
#include "exporter/web/routes.h"
#include "metrics/base/error.h"

/*
 * The HTTP server: a thread that accepts connections on all addresses (acceptor.h) and decides
 * who stays (peers.h), and a libmicrohttpd daemon with a small pool of threads that only ever
 * queue responses. site.h says what is served where.
 */
struct server_options {
    const char *const *addresses; /* As --web.listen-address writes them. */
    size_t address_count;
    const char *telemetry_path; /* Where the metrics are: "/metrics". */
    const char *prefix;         /* Before every path: "/karmada"; NULL: nothing. Borrowed. */
    unsigned connection_limit;  /* For each address; 0: the default. */
    /* What their buffers may take, and what they read slowly; 0: a limit for the latter alone. */
    uint64_t memory_bytes;
    const struct log *log;                 /* For what libmicrohttpd complains of; NULL: nowhere. */
    const struct heartbeat *heartbeat;     /* Healthy while it beats; NULL: always. Borrowed. */
    struct access_control *access_control; /* Who may ask; outlives the server. Borrowed. */
    bool lifecycle;                        /* Reloads may be asked for. */
    bool plans;                            /* Plans may be asked for. */
};

struct server;

/*
 * Listen on every address, or on none. The snapshot is borrowed and outlives the
 * server. Threads inherit the caller's signal mask: block first what a signalfd is to receive.
 */
struct server *server_start(const struct server_options *options, struct snapshot *snapshot,
                            struct error *err) MUST_USE;

/* Close everything, answered or not, and wait for the threads. NULL is fine. */
void server_stop(struct server *s);

/*
 * What /-/ready and /readyz answer from here on: 200, or 503 with Retry-After, and this text,
 * which is copied and ends its last line. At first it is not ready. Any thread may call it.
 */
void server_set_ready(struct server *s, bool ready, const char *text);

/* Where calls of the API wait for whoever started it. Borrowed. */
struct request_queue *server_request_queue(const struct server *s);

/* Where those wait who ask for a reload; NULL where nobody may. Borrowed. */
struct request_queue *server_reload_queue(const struct server *s);

/* Returns the descriptor of the socket that listens on the address `at` of the options. */
int server_listener_fd(const struct server *s, size_t at);

/* Where it listens, in the order of the options, as in "127.0.0.1:19180". Borrowed. */
const char *server_address(const struct server *s, size_t at);

/* Requests answered since the start. Any thread may call it. */
uint64_t server_requests(const struct server *s, enum server_handler handler,
                         enum server_code code);

/* Clients sent away since the start. Any thread may call it. */
uint64_t server_refused(const struct server *s, enum connection_refusal reason);

/*
 * Where to listen, as --web.listen-address says it: ":19180" (every address of
 * the host, IPv4 and IPv6), "host:19180", "192.0.2.1:19180", "[::1]:19180".
 */
enum { ADDRESS_HOST_MAX = 256 };

struct address {
    char host[ADDRESS_HOST_MAX]; /* Without brackets; empty: every address of the host. */
    uint16_t port;               /* 0: one that is free. */
};

/* Parse the text; names are not looked up. */
bool address_parse(const char *text, struct address *out, struct error *err) MUST_USE;

/* Room for "[" address "%" zone "]:" port. */
enum { LISTENER_NAME_MAX = 96 };

/*
 * Look up the host, bind and listen. The socket does not block and is the
 * caller's to close. Of a host with several addresses the IPv4 one counts; no host at
 * all means both families on one socket, or IPv4 where there is no other.
 */
bool listener_open(const struct address *address, int *out_fd, struct error *err) MUST_USE;

/* What the socket is bound to, as in "127.0.0.1:19180" or "[::]:19180". */
void listener_name(int fd, char out[LISTENER_NAME_MAX]);
