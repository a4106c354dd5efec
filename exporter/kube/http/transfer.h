/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <curl/curl.h>

#include "exporter/kube/http/transport.h"
#include "metrics/base/base.h"
#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * Credentials of the exporter and the CA that it trusts. `apply` is called for every request, so
 * that the next request uses rotated credentials.
 */
struct kube_client_credentials {
    /*
     * Sets proxy, connect address, trust and, over TLS, the client certificate on `easy`. Appends
     * the headers Host and, over TLS, Authorization and Impersonate-*, as far as they are set.
     * Without TLS sets no credentials. Returns false with the reason in `err`: the request is not
     * sent; options and headers may be incomplete.
     */
    bool (*apply)(void *context, CURL *easy, struct curl_slist **headers, struct error *err);
    /* Called at the end of each transfer with status 401 that was not cancelled. */
    void (*refused)(void *context);
    /* Returns a number that changes when open connections must be closed. */
    uint64_t (*version)(void *context);
    void *context;
};

struct kube_client_settings {
    const char *server; /* "http[s]://host:port/prefix", without a slash at the end. Borrowed. */
    const char *user_agent; /* Borrowed. */
    const char *authority;  /* For people: "the CA in 'FILE'". Borrowed; NULL: unknown. */
    struct kube_client_credentials identity;
    bool gzip; /* Requests compressed responses, except for streams. */
    /*
     * Descriptors for connections, 16 of them for probes and for libcurl itself. 0: 256; below 32:
     * 32. Watches over HTTP/2 are not limited.
     */
    unsigned sockets;
    bool insecure_http; /* Allows http:// in `server`. */
};

struct connection_pool;

/* Version of the protocol in the last response of a server. */
enum http_version { HTTP_UNKNOWN, HTTP_1, HTTP_2 };

/* One request, from its start until its result has been reported. */
struct transfer {
    struct transfer *next;
    struct connection_pool *connection_pool; /* NULL: not in a pool, or ended. */
    bool *body_received;               /* Member of the pool, set for each piece of the body. */
    enum http_version *server_version; /* Member of the pool, set by each final response. */
    CURL *easy;                        /* NULL if the request cannot be sent. */
    struct curl_slist *headers;
    struct transport_handler handler;
    enum request_class class;
    bool added_to_curl;        /* In the curl_multi handle of its pool. */
    bool responded;            /* The headers of the final response (not 1xx) have come. */
    enum http_version version; /* Version of the response. */
    bool complete;
    unsigned http_status;
    int64_t retry_after_ms;
    int64_t started_ms; /* Steady time of curl_multi_add_handle(). */
    uint64_t bytes;     /* Length of the body so far, decompressed. */
    char content_type[128];
    char error[CURL_ERROR_SIZE];
};

/*
 * Returns a transfer that has not begun, never NULL; the caller owns it. If the request cannot be
 * sent, `easy` is NULL and `error` has the reason.
 */
struct transfer *transfer_new(const struct kube_client_settings *settings,
                              const struct transport_request *request) MUST_USE;
/* Frees a transfer that no curl_multi handle has. NULL is allowed. */
void transfer_free(struct transfer *t);

/*
 * Sets `complete` and `error` by the result of curl. `error` names settings->authority if the
 * server's certificate is not signed by it.
 */
void transfer_record_result(struct transfer *t, CURLcode code,
                            const struct kube_client_settings *settings);

/* Returns the result for the handler. Its texts are valid as long as the transfer. */
struct transport_result transfer_result(const struct transfer *t);

/* Returns true if curl has the transfer and has not sent the request, also while it connects. */
bool transfer_waits_for_connection(const struct transfer *t);

/* Returns the wait that a server requests, in ms: at most five minutes; 0 if `seconds` <= 0. */
int64_t retry_after_ms(int64_t seconds);

/* Used only by transfer.c and tests. */

/*
 * Parses the value of a Retry-After header and returns its retry_after_ms(); 0 for NULL and for
 * other values than a number of seconds below 2^32, such as a date.
 */
int64_t retry_after_parse_ms(const char *value);
