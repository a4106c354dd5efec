/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/etcd.h"
#include "tests/sim/plan.h"

/*
 * What API servers answer, as Kubernetes does: lists and streams from a cache that may be behind,
 * consistent reads and pages from etcd itself, discovery. It knows no connection and no fault.
 */
struct api_server {
    size_t applied; /* How much of the log its cache has seen. */
    int64_t lag_ms;
};

struct api {
    const struct plan *plan;
    struct etcd etcd;
    struct api_server servers[PLAN_SERVERS_MAX];
    bool unserved[SIM_KIND_COUNT];
    int64_t now_ms;
};

enum request_kind { REQUEST_LIST, REQUEST_WATCH, REQUEST_GET, REQUEST_DISCOVERY, REQUEST_OTHER };

/* A request as it was read. */
struct api_request {
    enum request_kind what;
    unsigned target; /* enum sim_kind, or SIM_DISCOVERY. */
    char ns[8];
    char name[48];        /* Of one object, also by a field selector; "" for all. */
    bool of_other_reason; /* Than EVENT_REASON: there are none. */
    bool metadata_only;
    bool has_version;
    bool initial;   /* sendInitialEvents */
    bool bookmarks; /* allowWatchBookmarks */
    bool core;      /* Discovery of /api rather than of /apis. */
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

void api_request_read(const char *path, const char *accept, struct api_request *out);

/* Have the caches see what they see by now. */
void api_advance(struct api *a);
/* When a cache sees the next change; INT64_MAX for never. */
int64_t api_due(const struct api *a, unsigned server);

/*
 * True if the server's cache is at least as fresh as the request demands, else it has to wait; and
 * the answer that it gets if it waited in vain.
 */
bool api_is_fresh(const struct api *a, unsigned server, const struct api_request *r);
void api_refuse_stale(struct api_response *out);

/* Answer a list, one object, or discovery. */
void api_answer(struct api *a, unsigned server, const struct api_request *r,
                struct api_response *out);

/* A stream of changes that is open. */
struct api_stream {
    size_t position;  /* In the log: what comes next. */
    uint64_t since;   /* Changes up to here are not sent. */
    uint64_t told;    /* The version that the client knows. */
    bool without_end; /* Its initial events never end. */
    bool over;        /* Nothing more comes after what is in the body. */
};

/*
 * Begin a stream: 200 with its initial events, if any, in the body; or something else. Where it is
 * `without_end`, the end of the initial events is not said.
 */
void api_open_stream(struct api *a, unsigned server, const struct api_request *r, bool without_end,
                     struct api_stream *s, struct api_response *out);
/* Append the next event that the server's cache has for the stream. False if there is none. */
bool api_next_event(struct api *a, unsigned server, const struct api_request *r,
                    struct api_stream *s, struct strbuf *out);
/* Append a bookmark, unless the client is ahead of the server. */
void api_bookmark(const struct api *a, unsigned server, struct api_stream *s, bool initial_end,
                  struct strbuf *out);
