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
 * Routes of the HTTP server: select the handler of a request by its path, and send the response.
 * Several threads of libmicrohttpd use them at the same time.
 */
struct routes;

/* ---- handlers and status codes: the labels of http_requests_total ---- */

/*
 * Paths that are neither pages nor endpoints of the API. A row has the enumerator, the value of the
 * label `handler`, and the path.
 */
#define OTHER_ROUTES(ROUTE)                                                                        \
    /* --web.probes-without-auth applies to the rows from HEALTHY to HEALTHZ. */                   \
    ROUTE(HEALTHY, "healthy", "/-/healthy")                                                        \
    ROUTE(READY, "ready", "/-/ready")                                                              \
    ROUTE(LIVEZ, "livez", "/livez")                                                                \
    ROUTE(READYZ, "readyz", "/readyz")                                                             \
    ROUTE(HEALTHZ, "healthz", "/healthz")                                                          \
    ROUTE(RELOAD, "reload", "/-/reload")                                                           \
    ROUTE(OTHER, "other", "") /* Paths that no row names, and invalid targets. */

#define HANDLER_ENUMERATOR(id, ...) SERVER_##id,
enum server_handler {
    PAGES(HANDLER_ENUMERATOR) ENDPOINTS(HANDLER_ENUMERATOR) OTHER_ROUTES(HANDLER_ENUMERATOR)
        SERVER_HANDLER_COUNT
};

/* All status codes of counted responses. */
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

/* ---- requests ---- */

enum exchange_state {
    EXCHANGE_NEW,      /* The headers are not complete, or not checked yet. */
    EXCHANGE_CHECKED,  /* The headers were accepted; the body may follow. */
    EXCHANGE_WAITING,  /* The request is in a queue of the loop; the connection is suspended. */
    EXCHANGE_ANSWERED, /* A response was passed to libmicrohttpd. */
};

/*
 * The present request of a connection. The connection owns the exchange and reuses it:
 * libmicrohttpd does not report the end of every request. All zeros is an exchange without request.
 */
struct exchange {
    enum exchange_state state;
    struct request_target target;
    bool malformed; /* The head is contiguous, but invalid; see request_head_check(). */
    bool dropped;   /* A part of the body was discarded. */
    _Atomic(enum verdict) verdict;
    struct queued_request *request; /* Passed to the loop; NULL until then. Owned. */
    struct strbuf content;          /* Bytes of the body received so far. */
    atomic_bool *plan_slot;         /* Flag that this request has set and must clear, or NULL. */
};

/* Starts a request with its URI as libmicrohttpd has read it. Ends the preceding request. */
void exchange_begin(struct exchange *v, const char *uri);

/* Releases everything that the request owns, including `plan_slot`. May be called repeatedly. */
void exchange_end(struct exchange *v);

/* Returns true until routes_handle_request() has checked the headers of the request. */
bool exchange_is_new(const struct exchange *v);

/* A part of the body of a request. */
struct body_piece {
    const char *bytes;
    size_t len;
};

/* ---- routes ---- */

/* Settings of the routes; all pointers but `telemetry_path` are borrowed. */
struct routes_settings {
    const char *telemetry_path; /* Path of the metrics, such as "/metrics". Copied. */
    const char *prefix;         /* First part of each path, such as "/karmada"; NULL for "". */
    struct page_store *page_store;
    struct request_queue *request_queue; /* Requests to ENDPOINTS. */
    struct request_queue *reloads;       /* Requests to reload; NULL if reloads are disabled. */
    bool plans;                          /* Posted plans are enabled. */
    struct access_control *access_control;
    const struct heartbeat *heartbeat; /* Heartbeat of the loop; NULL reports always healthy. */
};

/*
 * Returns the routes, which report not ready at first. Returns NULL with the reason if the
 * telemetry path is not plain, or is the path of another handler.
 */
struct routes *routes_new(const struct routes_settings *settings, struct error *err) MUST_USE;

/* Frees the routes. All threads of libmicrohttpd must have ended. Accepts NULL. */
void routes_free(struct routes *s);

/*
 * Handles a request. Called first when the headers are complete, then with each piece of the body,
 * then once with an empty piece; called again when a suspended connection resumes, because the loop
 * has answered or a password was checked. Sets `body_piece->len` to 0 if the piece was used; else
 * the caller must pass the same bytes again. Returns the result for libmicrohttpd: MHD_NO, which
 * closes the connection, if a response cannot be queued.
 */
enum MHD_Result routes_handle_request(struct routes *s, struct MHD_Connection *connection,
                                      const char *path, const char *method,
                                      struct body_piece *body_piece, struct exchange *v);

/*
 * Sets the readiness that /-/ready and /readyz report, and its text, which is copied and must end
 * with a newline. Any thread may call this function.
 */
void routes_set_ready(struct routes *s, bool ready, const char *text);

/* Returns how many responses a handler has sent with a status code. Any thread may call it. */
uint64_t routes_request_count(const struct routes *s, enum server_handler handler,
                              enum server_code code);
