/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/etcd.h"
#include "tests/sim/plan.h"

/*
 * Responses of the simulated API servers, modeled on Kubernetes. Lists with a resourceVersion and
 * watch streams come from a watch cache, which may lag; other lists, continued pages and reads of
 * one object come from etcd. wire.h simulates connections and most faults.
 */

struct api_server {
    size_t applied; /* Number of changes that the watch cache has applied. */
    int64_t lag_ms; /* Delay of the watch cache. */
};

struct api {
    const struct plan *plan;
    struct etcd etcd;
    struct api_server servers[PLAN_SERVERS_MAX];
    bool unserved[SIM_KIND_COUNT]; /* True while the kind's CRD is deleted. */
    int64_t now_ms;
};

enum request_type { REQUEST_LIST, REQUEST_WATCH, REQUEST_GET, REQUEST_DISCOVERY, REQUEST_OTHER };

/* Parsed request. */
struct api_request {
    enum request_type type;
    unsigned target; /* enum sim_kind; SIM_DISCOVERY also for REQUEST_OTHER. */
    char ns[8];
    char name[48];     /* Object name from the path or the field selector; "" for all objects. */
    bool other_reason; /* The field selector excludes EVENT_REASON, and thus all Events. */
    bool metadata_only;
    bool has_version;
    bool initial;   /* sendInitialEvents */
    bool bookmarks; /* allowWatchBookmarks */
    bool core;      /* Discovery of /api; false for /apis. */
    uint64_t version;
    unsigned limit;
    int64_t timeout_ms;
    char token[64];
};

struct api_response {
    unsigned http_status;
    int64_t retry_after_ms;
    const char *content_type;
    struct strbuf body;
};

void api_init(struct api *a, const struct plan *plan);
void api_release(struct api *a);

/* Parses the path, including the query, and the Accept header of a request. */
void api_request_read(const char *path, const char *accept, struct api_request *out);

/* Applies the changes that are due at now_ms to the watch caches. */
void api_advance(struct api *a);
/* Returns when the server's watch cache applies its next change; INT64_MAX if no change is left. */
int64_t api_due(const struct api *a, unsigned server);

/*
 * Returns false if the server's watch cache is older than the request demands: the server then
 * waits before it answers.
 */
bool api_is_fresh(const struct api *a, unsigned server, const struct api_request *r);
/* Writes the 504 response to a request for which the watch cache did not become fresh in time. */
void api_refuse_stale(struct api_response *out);

/* Writes the response to any request but a watch. Unknown paths and kinds not served get 404. */
void api_answer(struct api *a, unsigned server, const struct api_request *r,
                struct api_response *out);

/* State of an open watch stream. */
struct api_stream {
    size_t position;  /* Index of the next change in the log. */
    uint64_t since;   /* Changes up to this version are not sent. */
    uint64_t sent;    /* Highest version sent, without initial events; at first `since`. */
    bool without_end; /* The bookmark that ends the initial events is never sent. */
    bool over;        /* The stream ends after the present body. */
};

/*
 * Opens a watch stream. Writes status 200, with the initial events if the request demands them, or
 * an error: another status, or an ERROR event with s->over set. The bookmark that ends the initial
 * events is omitted with `without_end`, or if the plan demands INITIAL_WITHOUT_END for the kind.
 */
void api_open_stream(struct api *a, unsigned server, const struct api_request *r, bool without_end,
                     struct api_stream *s, struct api_response *out);
/* Appends the next event from the server's watch cache. Returns false if the cache has none. */
bool api_next_event(struct api *a, unsigned server, const struct api_request *r,
                    struct api_stream *s, struct strbuf *out);
/*
 * Appends a bookmark, unless the client has a newer version than the server's watch cache.
 * `initial_end` marks the end of the initial events.
 */
void api_bookmark(const struct api *a, unsigned server, struct api_stream *s, bool initial_end,
                  struct strbuf *out);
