/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/watch.h"
#include "metrics/base/json.h"

/*
 * The response of an API server that is not what was asked for: a Status object, or
 * whatever a proxy before it writes.
 */
struct status {
    unsigned code;          /* 0 if there is none. */
    bool version_too_large; /* Our resourceVersion is ahead of the server's. */
    int64_t retry_after_ms; /* 0 if there is none. */
    /* Cut to fit; for people. Of a refusal all of it fits, with a user's name of 200 bytes. */
    char message[400];
};

/* Read a Status object. False if it is something else. */
bool status_read(const cJSON *json, struct status *out) MUST_USE;

/* As status_read(), from a body. If it is no Status, the message is how the body begins. */
void status_read_body(const char *body, size_t len, struct status *out);

/* Why a request with this HTTP status ended; not for 200. */
enum end_reason end_reason_of_response(unsigned http_status, const struct status *status);

/* Why a stream ended that sent this error. */
enum end_reason end_reason_of_error(const struct status *status);

/* True if the Content-Type is JSON, with or without parameters. */
bool content_type_is_json(const char *content_type);

/* The value of a parameter of a Content-Type, in any order, is `value`. */
bool content_type_has_parameter(const char *content_type, const char *name, const char *value);

/* The query part of request URLs. */

/* Append the query of the request that a watch orders to be opened. */
void url_add_watch_parameters(const struct watch *w, struct strbuf *out);

/* The same after "?", with a field selector unless that is NULL. */
void url_add_watch_query(struct strbuf *out, const struct watch *w, const char *field_selector);

/* Append the path of a resource, in a namespace or ("") in all or none. */
void url_add_resource_path(struct strbuf *out, const char *api_version, const char *ns,
                           const char *resource);

/* The Accept header for a list, or for an object or a stream: of metadata where the server can. */
const char *accept_header(bool metadata_only, bool list);
