/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * URLs of the site, as in Prometheus: --web.external-url is the URL for users, --web.route-prefix
 * the prefix of the paths in requests to this process. They differ behind a proxy that strips a
 * prefix.
 */
struct site_url {
    char *external; /* Such as "https://proxy.example/karmada", without a '/' at the end; "" if
                       unknown. */
    char *prefix;   /* Such as "/karmada", without a '/' at the end; "" without a prefix. */
};

/*
 * Parses both options. `external_url`: "" if unknown. `route_prefix`: "" for the path of
 * `external_url`, "/" for no prefix. Returns false with the reason; the caller releases `out` even
 * then.
 */
bool site_url_parse(const char *external_url, const char *route_prefix, struct site_url *out,
                    struct error *err) MUST_USE;
/* Frees the texts; a zeroed struct is allowed. */
void site_url_release(struct site_url *p);

/* Returns true for '/', followed by printable ASCII other than ' ', '?', '#' and '%'. */
bool site_url_path_is_plain(const char *path);

/*
 * Returns the part of the path after the prefix, beginning with '/'. Returns NULL if the path does
 * not begin with the prefix followed by '/'.
 */
const char *site_url_strip_prefix(const char *prefix, const char *path);
