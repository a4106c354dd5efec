/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <curl/curl.h>

#include "exporter/system/url.h"
#include "metrics/base/strbuf.h"

/* Request of a caller that blocks until the response is complete. All members are borrowed. */
struct http_request {
    const struct server_url *server;
    const char *path; /* Includes the query; appended to the URL of the server. */
    const char *user_agent;
    const char *ca;                /* PEM; NULL for the default CA certificates. */
    const char *certificate, *key; /* PEM; NULL for no client certificate. */
    const char *user, *password;   /* Basic authentication; NULL for no user. */
    struct strbuf *body; /* Gets the response body; CURLE_WRITE_ERROR if its limit is exceeded. */
};

/*
 * Returns a handle with the settings of the request and of http_request_restrict(). The PEM texts
 * and the body must outlive the handle. The caller may add settings, such as a timeout, and calls
 * curl_easy_perform() and curl_easy_cleanup(). If the URL exceeds 64 KiB, it is not set, and
 * curl_easy_perform() fails with CURLE_URL_MALFORMAT.
 */
CURL *http_request_new(const struct http_request *request) MUST_USE;

/*
 * Sets the options of all requests: TLS 1.2 or newer with verification, a connect timeout of 10 s,
 * no redirects, .netrc or signals, and no proxy unless set later.
 */
void http_request_restrict(CURL *easy);

/* Overwrites and frees request headers, which may contain a token. Accepts NULL. */
void http_request_free_headers(struct curl_slist *headers);
