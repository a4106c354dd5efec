/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/url.h"

#include <curl/curl.h>
#include <strings.h>

#include "exporter/system/secret.h"
#include "metrics/base/shown.h"
#include "metrics/base/strbuf.h"

static void add_escaped(struct strbuf *out, const char *text)
{
    /* libcurl 7.82 and later ignore the handle. */
    char *escaped = curl_easy_escape(NULL, text, 0);

    if (!escaped)
        memory_exhausted(0);
    strbuf_adds(out, escaped);
    curl_free(escaped);
}

void url_add_parameter(struct strbuf *out, const char *key, const char *value)
{
    if (out->len > 0 && out->data[out->len - 1] != '?')
        strbuf_addc(out, '&');
    strbuf_addf(out, "%s=", key);
    add_escaped(out, value);
}

void url_add_segment(struct strbuf *out, const char *text)
{
    strbuf_addc(out, '/');
    add_escaped(out, text);
}

enum { URL_MAX_BYTES = 8 * 1024 };

static void url_cleanup(CURLU **url)
{
    curl_url_cleanup(*url);
}

/* Returns a copy of a part of `url`, which the caller frees; NULL if the part is missing. */
static char *copy_part(CURLU *url, CURLUPart which, unsigned flags)
{
    char *text = NULL;
    char *copy = NULL;

    if (curl_url_get(url, which, &text, flags) == CURLUE_OK && text)
        copy = xstrdup(text);
    curl_free(text);
    return copy;
}

static bool has_part(CURLU *url, CURLUPart which)
{
    char *text = copy_part(url, which, 0);
    bool has = text != NULL;

    secret_free(text); /* `which` may be the password. */
    return has;
}

static bool parse_url(CURLU *url, const char *text, struct error *err)
{
    if (!url)
        memory_exhausted(0);
    if (strlen(text) > URL_MAX_BYTES)
        return fail(err, "the address is longer than %d bytes", URL_MAX_BYTES);
    if (!strstr(text, "://"))
        return fail(err, "the address must begin with 'https://'");

    CURLUcode code = curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME);
    if (code != CURLUE_OK)
        return fail(err, "not an address: %s", curl_url_strerror(code));
    return true;
}

void server_url_release(struct server_url *url)
{
    free(url->base);
    free(url->connect_to);
    free(url->host);
    free(url->address);
    free(url->port);
    *url = (struct server_url){.base = NULL};
}

/* Returns "[scheme://]host[:port][path]" without final slashes; the caller frees the text. */
static char *join_parts(const char *scheme, const char *host, const char *port, const char *path)
{
    char *text = NULL;
    size_t path_len = strlen(path);

    while (path_len > 0 && path[path_len - 1] == '/')
        path_len--;
    if (asprintf(&text, "%s%s%s%s%s%.*s", scheme, scheme[0] ? "://" : "", host, port[0] ? ":" : "",
                 port, (int)path_len, path) < 0)
        memory_exhausted(0);
    return text;
}

/* Replaces the host of `url` by `name`. Sets out->connect_to and out->host from the old host. */
static bool set_tls_name(CURLU *url, const char *name, struct server_url *out, struct error *err)
{
    CLEANUP(free_cleanup) char *host = copy_part(url, CURLUPART_HOST, 0);
    CLEANUP(free_cleanup) char *port = copy_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    CLEANUP(free_cleanup) char *explicit_port = copy_part(url, CURLUPART_PORT, 0);
    CLEANUP(free_cleanup) char *bracketed = NULL;
    bool is_ip6 = strchr(name, ':') && name[0] != '[';

    if (asprintf(&bracketed, "%s%s%s", is_ip6 ? "[" : "", name, is_ip6 ? "]" : "") < 0)
        memory_exhausted(0);
    if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]") !=
            strlen(name) ||
        curl_url_set(url, CURLUPART_HOST, bracketed, 0) != CURLUE_OK)
        return fail(err, "'%s' is not the name of a host", shown(name).text);
    if (asprintf(&out->connect_to, "%s:%s:%s:%s", bracketed, port, host, port) < 0)
        memory_exhausted(0);
    out->host = join_parts("", host, explicit_port ? explicit_port : "", "");
    return true;
}

static bool set_server_url(CURLU *url, const char *tls_server_name, struct server_url *out,
                           struct error *err)
{
    CLEANUP(free_cleanup) char *scheme = copy_part(url, CURLUPART_SCHEME, 0);

    if (!scheme || (strcasecmp(scheme, "https") != 0 && strcasecmp(scheme, "http") != 0))
        return fail(err, "the address must begin with 'https://'");
    if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD))
        return fail(err, "the address must not hold a user or a password");
    out->tls = strcasecmp(scheme, "https") == 0;
    out->address = copy_part(url, CURLUPART_HOST, 0);
    out->port = copy_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    if (out->address && out->address[0] == '[') {
        size_t len = strlen(out->address) - 2;

        memmove(out->address, out->address + 1, len);
        out->address[len] = '\0';
    }
    if (out->tls && tls_server_name && !set_tls_name(url, tls_server_name, out, err))
        return false;

    CLEANUP(free_cleanup) char *host = copy_part(url, CURLUPART_HOST, 0);
    CLEANUP(free_cleanup) char *port = copy_part(url, CURLUPART_PORT, 0);
    CLEANUP(free_cleanup) char *path = copy_part(url, CURLUPART_PATH, 0);
    if (!host || !*host)
        return fail(err, "the address has no host");
    out->base = join_parts(out->tls ? "https" : "http", host, port ? port : "", path ? path : "");
    return true;
}

bool server_url_parse(const char *text, const char *tls_server_name, struct server_url *out,
                      struct error *err)
{
    CLEANUP(url_cleanup) CURLU *url = curl_url();
    struct server_url parts = {.base = NULL};

    if (!parse_url(url, text, err))
        return false;
    if (!set_server_url(url, tls_server_name, &parts, err)) {
        server_url_release(&parts);
        return false;
    }
    *out = parts;
    return true;
}

bool proxy_url_check(const char *text, struct error *err)
{
    static const char *const schemes[] = {"http", "https", "socks5"};
    CLEANUP(url_cleanup) CURLU *url = curl_url();

    if (!parse_url(url, text, err))
        return fail_in(err, "a proxy");

    CLEANUP(free_cleanup) char *scheme = copy_part(url, CURLUPART_SCHEME, 0);
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        if (scheme && strcasecmp(scheme, schemes[i]) == 0)
            return true;
    }
    return fail(err, "the scheme of a proxy is http, https or socks5");
}
