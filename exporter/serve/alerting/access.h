/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <curl/curl.h>

#include "exporter/kube/auth/tls_files.h"
#include "exporter/options/options.h"
#include "exporter/system/url.h"

/*
 * Where an Alertmanager is, whom to trust and who we are to it. Passwords and tokens are read for
 * each request, and kept no longer.
 */
struct access {
    struct server_url url;
    char *host;  /* With its port. */
    char *proxy; /* NULL without one. May hold a password. */
    char *user;  /* "" without, as are the files. */
    char *password_file;
    char *token_file;
    char *ca_file;
    struct tls_files tls;
};

/*
 * What the options say of the Alertmanager at a URL. False if they are not valid, or a file of them
 * cannot be read; errors hold no secret. To be released in any case.
 */
bool access_init(struct access *a, const struct options *o, const char *url,
                 const char *const *environment, struct error *err) MUST_USE;
void access_release(struct access *a);

/* Call `each` with the path of each file that the options name for it; "" is no file. */
void access_each_file(const struct options *o, void (*each)(void *context, const char *path),
                      void *context);

/*
 * Returns a handle for a JSON request to a path; see http_request_new(). Reads the password or
 * token, and fails if that is not possible. The caller frees `headers` with
 * http_request_free_headers() after the handle.
 */
CURL *access_request(struct access *a, const char *path, struct strbuf *body,
                     struct curl_slist **headers, struct error *err) MUST_USE;
