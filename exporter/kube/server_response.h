/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/watch_state.h"
#include "metrics/base/json.h"

/* ---- error responses ---- */

/* Status object of an API server (metav1.Status), or the error body of a proxy. */
struct status {
    unsigned code;          /* 0 without a code. */
    bool version_too_large; /* The requested resourceVersion is newer than the server's. */
    int64_t retry_after_ms; /* 0 if the server does not ask for a wait. */
    /* For users, cut, without control characters. Has room for a 403 with a long user name. */
    char message[400];
};

/* Parses a Status object. Returns false, with `out` unchanged, if the object has another kind. */
bool status_read(const cJSON *json, struct status *out) MUST_USE;

/* Parses a body. If it is not a Status, sets only the message: the beginning of the body. */
void status_read_body(const char *body, size_t len, struct status *out);

/* Returns why a request ended with an HTTP status other than 200. */
enum end_reason end_reason_of_response(unsigned http_status, const struct status *status);

/* Returns why a stream ended with an error event that has this status. */
enum end_reason end_reason_of_error(const struct status *status);

/* ---- Content-Type ---- */

/* Media types of the responses of API servers. */
#define CONTENT_TYPE_JSON     "application/json"
#define CONTENT_TYPE_PROTOBUF "application/vnd.kubernetes.protobuf"

/* Returns true for this media type, with or without parameters. `content_type` NULL: false. */
bool content_type_is(const char *content_type, const char *media_type);

/* Returns true if the Content-Type has the parameter with this value. NULL: false. */
bool content_type_has_parameter(const char *content_type, const char *name, const char *value);

/* ---- requests ---- */

/* Objects that a list or watch selects. A selector that is NULL or "" selects all objects. */
struct selectors {
    const char *field;
    const char *shard; /* namespace_filter_add_shard_selector() */
};

/* Appends the parameters of the selectors. */
void url_add_selectors(struct strbuf *out, const struct selectors *selectors);

/* Appends "?" and the query of the watch's next request. */
void url_add_watch_query(struct strbuf *out, const struct watch *w,
                         const struct selectors *selectors);

/* Appends the path of a resource. `ns` "": all namespaces, or a cluster-scoped resource. */
void url_add_resource_path(struct strbuf *out, const char *api_version, const char *ns,
                           const char *resource);

/* Part of the objects that a request asks for. */
enum requested_content {
    REQUEST_OBJECTS,       /* Full objects, in JSON. */
    REQUEST_METADATA,      /* PartialObjectMetadata in JSON, or full objects. */
    REQUEST_FAST_METADATA, /* PartialObjectMetadata in protobuf; otherwise, as REQUEST_METADATA. */
};

/* Returns the static Accept header for a list, or (`list` is false) for an object or a stream. */
const char *accept_header(enum requested_content content, bool list);

/* Used only by server_response.c and tests. */

/* Appends the query of url_add_watch_query() without "?" and selectors. */
void url_add_watch_parameters(const struct watch *w, struct strbuf *out);
