/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/site_url.h"

#include "exporter/system/url.h"
#include "metrics/base/shown.h"

/* Returns the path with one '/' at the beginning and none at the end; "" for "/" and "". */
static char *trim_path(const char *path)
{
    size_t len;
    char *text;

    path += strspn(path, "/");
    len = strlen(path);
    while (len > 0 && path[len - 1] == '/')
        len--;
    if (len == 0)
        return xstrdup("");
    if (asprintf(&text, "/%.*s", (int)len, path) < 0)
        memory_exhausted(0);
    return text;
}

static bool parse_external_url(const char *text, struct site_url *out, struct error *err)
{
    struct server_url url;

    if (*text == '\0') {
        out->external = xstrdup("");
        return true;
    }
    if (strpbrk(text, "?#"))
        return fail(err, "the address must not have a '?' or '#'");
    if (!server_url_parse(text, NULL, &url, err))
        return false;
    out->external = xstrdup(url.base);
    server_url_release(&url);
    return true;
}

bool site_url_parse(const char *external_url, const char *route_prefix, struct site_url *out,
                    struct error *err)
{
    const char *host, *path;

    *out = (struct site_url){.external = NULL};
    if (!parse_external_url(external_url, out, err))
        return fail_in(err, "--web.external-url");
    host = strstr(out->external, "://");
    path = host ? strchr(host + strlen("://"), '/') : NULL;
    out->prefix = trim_path(*route_prefix ? route_prefix : path ? path : "");
    return *out->prefix == '\0' || site_url_path_is_plain(out->prefix) ||
           fail(err, "--web.route-prefix: '%s' is not a plain path like '/karmada'",
                shown(out->prefix).text);
}

void site_url_release(struct site_url *p)
{
    free(p->external);
    free(p->prefix);
    *p = (struct site_url){.external = NULL};
}

bool site_url_path_is_plain(const char *path)
{
    bool plain = path[0] == '/';

    /* Decoded paths without a query are compared: clients would have to escape other characters. */
    for (const char *at = path; *at != '\0'; at++)
        plain = plain && *at > ' ' && *at < 0x7F && !strchr("?#%", *at);
    return plain;
}

const char *site_url_strip_prefix(const char *prefix, const char *path)
{
    size_t len = strlen(prefix);

    return strncmp(path, prefix, len) == 0 && path[len] == '/' ? path + len : NULL;
}
