/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>
#include <stdatomic.h>

#include "exporter/system/platform.h"
#include "exporter/web/access_control.h"
#include "exporter/web/api.h"
#include "exporter/web/metrics_page.h"
#include "exporter/web/request.h"
#include "exporter/web/request_queue.h"
#include "metrics/base/error.h"

/*
 * What the health paths answer. The threads that serve HTTP ask, and look for themselves: a page
 * would be as old as the loop is.
 */
struct probes;

/* From now on it is ready, or not, with this text, which is copied and ends its last line. */
void probes_set_ready(struct probes *p, bool ready, const char *text);

/* Who asks a health path. */
struct probe {
    struct MHD_Connection *connection;
    const char *name; /* Of the path, for ?verbose. */
    bool anonymous;   /* Is to be told no more than whether all is well. */
};

/*
 * One request, from its first line to its end. A connection has one at a time, and owns it:
 * libmicrohttpd does not complete every request that it begins.
 */
enum exchange_state { EXCHANGE_NEW, EXCHANGE_CHECKED, EXCHANGE_WAITING, EXCHANGE_ANSWERED };

struct exchange {
    enum exchange_state state;
    struct request_target target;
    bool malformed; /* The head is wrong: see request_head_check(). */
    bool dropped;   /* A part of the body was not kept. */
    _Atomic(enum verdict) verdict;
    struct queued_request *request; /* Of the API; NULL for anything else. Owned. */
    struct strbuf content;          /* What has come of its body. */
    atomic_bool *turn;              /* That it has taken; NULL: none. */
};

/* Begins a request with its URI as libmicrohttpd has read it. Ends the earlier one. */
void exchange_begin(struct exchange *v, const char *uri);
/* Releases everything that the request owns, and gives back its turn. May be called again. */
void exchange_end(struct exchange *v);

/* Are its headers complete just now, at the first call for the request? */
bool exchange_is_new(const struct exchange *v);

/* A piece of a request's body. */
struct body_piece {
    const char *bytes;
    size_t len;
};

/*
 * What the server serves: which path is answered by what. The library's threads
 * call it, several at once; all it changes are atomic counters.
 */
/* What is answered beside pages and API; a row is as those of PAGES are. */
#define OTHER_ROUTES(ANSWER)                                                                       \
    /* Health paths first: --web.probes-without-auth is about all of them. */                      \
    ANSWER(HEALTHY, "healthy", "/-/healthy")                                                       \
    ANSWER(READY, "ready", "/-/ready")                                                             \
    ANSWER(LIVEZ, "livez", "/livez")                                                               \
    ANSWER(READYZ, "readyz", "/readyz")                                                            \
    ANSWER(HEALTHZ, "healthz", "/healthz")                                                         \
    ANSWER(RELOAD, "reload", "/-/reload")                                                          \
    ANSWER(OTHER, "other", "") /* Any other path. */

/* Who answered, and with what: the labels of the counter of requests. */
#define HANDLER_ENUMERATOR(id, ...) SERVER_##id,
enum server_handler {
    PAGES(HANDLER_ENUMERATOR) ENDPOINTS(HANDLER_ENUMERATOR) OTHER_ROUTES(HANDLER_ENUMERATOR)
        SERVER_HANDLER_COUNT
};

/* THE table of the status codes that are answered with, as numbers. */
#define STATUS_CODES(CODE)                                                                         \
    CODE(200)                                                                                      \
    CODE(302)                                                                                      \
    CODE(400)                                                                                      \
    CODE(401)                                                                                      \
    CODE(403)                                                                                      \
    CODE(404)                                                                                      \
    CODE(405)                                                                                      \
    CODE(410)                                                                                      \
    CODE(413)                                                                                      \
    CODE(415)                                                                                      \
    CODE(429)                                                                                      \
    CODE(500)                                                                                      \
    CODE(503)                                                                                      \
    CODE(504)

#define CODE_ENUMERATOR(number) SERVER_##number,
enum server_code { STATUS_CODES(CODE_ENUMERATOR) SERVER_CODE_COUNT };

extern const char *const server_handler_names[SERVER_HANDLER_COUNT];
extern const char *const server_code_names[SERVER_CODE_COUNT];

struct routes;

/* What the site is made of. All of it is borrowed. */
struct routes_settings {
    const char *telemetry_path; /* Where the metrics are. */
    const char *prefix;         /* What every path begins with: "/karmada"; NULL: nothing. */
    struct page_store *page_store;
    struct request_queue *request_queue; /* For calls of the API. */
    struct request_queue *reloads;       /* For those who ask for a reload; NULL: nobody may. */
    bool plans;                          /* Plans may be asked for. */
    struct access_control *access_control;
    const struct heartbeat *heartbeat; /* Healthy while it beats; NULL: always. */
};

/* Every page of the site; not ready at first. NULL if the path of the metrics cannot be one. */
struct routes *routes_new(const struct routes_settings *parts, struct error *err) MUST_USE;

/* NULL is fine. No thread may be answering any more. */
void routes_free(struct routes *s);

/*
 * Answer a request. Called when the headers are complete, which is when requests are refused, then
 * with each piece of a body, then once more; and again when a call of the API has its answer, or a
 * password was checked. What is left of the piece then has to be given again.
 */
enum MHD_Result routes_handle_request(struct routes *s, struct MHD_Connection *connection,
                                      const char *path, const char *method,
                                      struct body_piece *body_piece, struct exchange *exchange);

/* See server_set_ready(). */
void routes_set_ready(struct routes *s, bool ready, const char *text);
uint64_t routes_request_count(const struct routes *s, enum server_handler handler,
                              enum server_code code);
