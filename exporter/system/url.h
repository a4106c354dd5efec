/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * Appends "key=value" to a URL or query, with an escaped value. A "&" precedes the key unless `out`
 * is empty or ends in "?".
 */
void url_add_parameter(struct strbuf *out, const char *key, const char *value);

/* Appends "/" and the escaped text. */
void url_add_segment(struct strbuf *out, const char *text);

/*
 * URL of a server, such as an API server. If the certificate must have another name than the host
 * (tls-server-name of a kubeconfig), `base` contains that name, `connect_to` maps it to the real
 * host, and `host` is the Host header of the original URL: libcurl has no option for a TLS name.
 */
struct server_url {
    char *base;       /* "http[s]://host[:port][/prefix]", without query or final slash. */
    char *connect_to; /* Value of CURLOPT_CONNECT_TO; NULL without tls-server-name. */
    char *host;       /* "host[:port]" for the Host header; NULL without tls-server-name. */
    char *address;    /* Real host name or IP address; IPv6 without brackets. */
    char *port;       /* Real port, such as "443" for an https URL without a port. */
    bool tls;
};

/* Frees the members. */
void server_url_release(struct server_url *url);

/*
 * Parses an http or https URL without user and password. `tls_server_name` may be NULL, and is
 * ignored for http. The caller releases `out`; on failure `out` is unchanged. Error texts do not
 * contain `text`, because it may contain a password.
 */
bool server_url_parse(const char *text, const char *tls_server_name, struct server_url *out,
                      struct error *err) MUST_USE;

/*
 * Returns true if `text` is the URL of a proxy with the scheme http, https or socks5. Error texts
 * do not contain `text`.
 */
bool proxy_url_check(const char *text, struct error *err) MUST_USE;
