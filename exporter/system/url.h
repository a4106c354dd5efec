/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/* Append "key=value" to a query, after "&" unless it is the first, with the value escaped. */
void url_add_parameter(struct strbuf *out, const char *key, const char *value);

/* Append "/" and a text as a segment of a path. */
void url_add_segment(struct strbuf *out, const char *text);

/*
 * The address of a server, such as an API server, and what curl needs to verify another name than
 * the one it connects to: it knows only one name for a host. So the URL holds
 * the name that the certificate must have, and `connect_to` leads from there to
 * the real host, which `host` names to the server.
 */
struct server_url {
    char *base;       /* "https://host[:port][/prefix]": no query, no slash at the end. */
    char *connect_to; /* For CURLOPT_CONNECT_TO; NULL without a name of its own. */
    char *host;       /* For the Host header; likewise. */
    char *address;    /* The real host alone, an IPv6 address without brackets, ... */
    char *port;       /* ... and its port, also where the URL names none. */
    bool tls;
};

void server_url_release(struct server_url *url);

/* `tls_server_name` may be NULL. `out` is to be released. Errors never hold the text itself,
 * which may hold a password. */
bool server_url_parse(const char *text, const char *tls_server_name, struct server_url *out,
                      struct error *err) MUST_USE;

/* A proxy that curl can be given: http, https, or socks5, where the proxy looks the name up. */
bool proxy_url_check(const char *text, struct error *err) MUST_USE;
