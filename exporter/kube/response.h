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
bool content_is_json(const char *content_type);

/* The value of a parameter of a Content-Type, in any order, is `value`. */
bool content_parameter_is(const char *content_type, const char *name, const char *value);
