/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/system/log.h"
#include "exporter/web/snapshot.h"

/*
 * The HTTP server: one libmicrohttpd daemon for each address, each with a small
 * pool of threads that only ever queue responses that are made already. What is
 * served where is one table, in server.c: a new path is one row of it.
 */
struct server_options {
    const char *const *addresses; /* As --web.listen-address writes them. */
    size_t address_count;
    const char *telemetry_path; /* Where the metrics are: "/metrics". */
    unsigned connection_limit;  /* For each address; 0: the default. */
    const struct log *log;      /* The library's own complaints; NULL: nowhere. */
};

/* Who answered, and with what: the labels of the counter of requests. */
enum server_handler {
    SERVER_METRICS,
    SERVER_INDEX,
    SERVER_HEALTHY,
    SERVER_READY,
    SERVER_OTHER,
    SERVER_HANDLERS
};

enum server_code {
    SERVER_200,
    SERVER_400,
    SERVER_404,
    SERVER_405,
    SERVER_413,
    SERVER_503,
    SERVER_CODES
};

extern const char *const server_handler_names[SERVER_HANDLERS];
extern const char *const server_code_names[SERVER_CODES];

struct server;

/*
 * Listen on every address, or on none. The snapshot is borrowed and outlives the
 * server. Threads take the caller's signal mask: block what a signalfd is to get.
 */
struct server *server_start(const struct server_options *options, struct snapshot *snapshot,
                            struct error *err) MUST_USE;

/* Close everything, answered or not, and wait for the threads. NULL is fine. */
void server_stop(struct server *s);

/* What /-/ready answers from here on; at first it is not ready. Any thread may call it. */
void server_set_ready(struct server *s, bool ready);

/* Where it listens, in the order of the options, as in "127.0.0.1:19180". Borrowed. */
const char *server_address(const struct server *s, size_t at);

/* Requests answered since the start. Any thread may call it. */
uint64_t server_requests(const struct server *s, enum server_handler handler,
                         enum server_code code);
