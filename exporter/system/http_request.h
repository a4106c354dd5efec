/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <curl/curl.h>

#include "exporter/system/url.h"
#include "metrics/base/strbuf.h"

/* A request to one server, for callers that wait for the response. Texts are borrowed. */
struct http_request {
    const struct server_url *server;
    const char *path; /* With its query; follows the URL of the server. */
    const char *user_agent;
    const char *ca;                /* PEM; NULL: the authorities that the system trusts. */
    const char *certificate, *key; /* PEM; NULL without a client certificate. */
    const char *user, *password;   /* For Basic authentication; NULL without. */
    struct strbuf *body; /* Gets the response. A longer one fails with CURLE_WRITE_ERROR. */
};

/*
 * Returns a handle with the settings of the request and of http_request_restrict(). PEM, server and
 * body outlive the handle. The caller adds settings of its own, such as a timeout, and calls
 * curl_easy_perform() and curl_easy_cleanup(). A path that is too long fails with
 * CURLE_URL_MALFORMAT.
 */
CURL *http_request_new(const struct http_request *request) MUST_USE;

/*
 * Sets what all requests have in common: TLS 1.2 or newer, which is verified, 10 s to connect, and
 * no redirect, proxy, .netrc or signal.
 */
void http_request_restrict(CURL *easy);

/* Overwrites and frees headers of a request: one of them may be a token. Accepts NULL. */
void http_request_free_headers(struct curl_slist *headers);
