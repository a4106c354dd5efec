/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <curl/curl.h>

#include "exporter/kube/http/transport.h"
#include "metrics/base/base.h"
#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * Our credentials for the server, and the CA that we trust. Every request asks for them, so
 * that what was rotated is in force with the next one.
 */
struct kube_client_credentials {
    /*
     * Set trust, certificates and host on the request and append its headers (the token).
     * False with the reason: the request is not sent.
     */
    bool (*apply)(void *context, CURL *easy, struct curl_slist **headers, struct error *err);
    /* The server refused the token of a request: 401. */
    void (*refused)(void *context);
    /* Changes once open connections must not be used any more; may read files. */
    uint64_t (*version)(void *context);
    void *context;
};

struct kube_client_settings {
    const char *server; /* "https://host:port/prefix", without a slash at the end. Borrowed. */
    const char *user_agent;
    const char
        *authority; /* Who vouches for the server, for people: "the CA in 'FILE'". Borrowed. */
    struct kube_client_credentials identity;
    bool gzip;          /* Ask for compressed lists. */
    unsigned sockets;   /* For connections and what libcurl opens beside them; 0: a few hundred. */
    bool insecure_http; /* Allow plain http, where no credentials are sent. */
};

struct connection_pool;

/* Which HTTP the server speaks. */
enum http_version { HTTP_UNKNOWN, HTTP_1, HTTP_2 };

/* One request that is under way. */
struct transfer {
    struct transfer *next;
    struct connection_pool *connection_pool; /* NULL once it has ended. */
    bool *heard;                             /* Set when bytes of the body come; the pool's. */
    enum http_version *spoken;               /* Set when it responds; likewise. */
    CURL *easy;
    struct curl_slist *headers;
    struct transport_handler handler;
    enum request_class class;
    bool added;                /* Handed to curl; else it waits for its pool. */
    bool responded;            /* The status line is here. */
    enum http_version version; /* Of the response. */
    bool complete;
    unsigned http_status;
    int64_t retry_after_ms;
    int64_t started_ms;
    uint64_t bytes;
    char content_type[128];
    char error[CURL_ERROR_SIZE];
};

/* Never NULL. One that cannot be sent has ended already: `easy` is NULL, `error` says why. */
struct transfer *transfer_new(const struct kube_client_settings *settings,
                              const struct transport_request *request) MUST_USE;
void transfer_free(struct transfer *t);

/* curl has ended it with this result. A certificate that is not trusted is explained. */
void transfer_end(struct transfer *t, CURLcode code, const struct kube_client_settings *settings);

/* The result for its handler. */
struct transport_result transfer_result(const struct transfer *t);

/* True while curl holds it back because no connection has room for it. */
bool transfer_waits_for_connection(const struct transfer *t);

/*
 * How long a server asks us to wait, in milliseconds: at most five minutes, whatever it
 * says; 0 for nothing, the past and nonsense.
 */
int64_t retry_after_ms(int64_t seconds);

/* The same from a Retry-After header (NULL: none). Dates, which no API server sends, count as 0. */
int64_t retry_after_read(const char *header);
