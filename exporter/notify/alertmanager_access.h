/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <curl/curl.h>

#include "exporter/kube/auth/tls_files.h"
#include "exporter/options/options.h"
#include "exporter/system/url.h"

/*
 * Address of an Alertmanager, with the credentials and the trust for requests to it. Passwords and
 * tokens are read for each request and freed after it.
 */
struct alertmanager_access {
    struct server_url url;
    char *host;  /* Host and port. */
    char *proxy; /* URL of the proxy, which may contain a password; NULL without a proxy. */
    char *user;  /* "" if unset, as the files below. */
    char *password_file;
    char *token_file;
    char *ca_file;
    struct tls_files tls;
};

/*
 * Initializes the access to the Alertmanager at a URL from the options and, for the proxy, the
 * environment. Returns false if an option is not valid or one of its files cannot be read; the
 * reason contains no secret. The caller releases `a` even then.
 */
bool alertmanager_access_init(struct alertmanager_access *a, const struct options *o,
                              const char *url, const char *const *environment,
                              struct error *err) MUST_USE;
void alertmanager_access_release(struct alertmanager_access *a);

/* Calls `each` with the path of every file that the options name; an unset option has "". */
void alertmanager_access_each_file(const struct options *o,
                                   void (*each)(void *context, const char *path), void *context);

/*
 * Returns a handle for a JSON request to a path; see http_request_new(). Reads the password or
 * token, and fails if that is not possible. The caller frees `headers` with
 * http_request_free_headers() after the handle.
 */
CURL *alertmanager_access_request(struct alertmanager_access *a, const char *path,
                                  struct strbuf *body, struct curl_slist **headers,
                                  struct error *err) MUST_USE;
