/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Where the site is, as Prometheus' programs say it: for people, by --web.external-url, and for
 * whoever asks this process, by --web.route-prefix. Behind a proxy that takes a prefix off the two
 * differ.
 */
struct site_url {
    char *external; /* "https://proxy.example/karmada", without a '/' at its end; "" if unknown. */
    char *prefix;   /* "/karmada", which each path begins with; "" without. */
};

/*
 * `external_url` is "" if it is not known. `route_prefix`: "" for the path of that, else what each
 * path begins with, "/" for nothing. Release it in either case.
 */
bool site_url_parse(const char *external_url, const char *route_prefix, struct site_url *out,
                    struct error *err) MUST_USE;
/* All zero is fine. */
void site_url_release(struct site_url *p);

/* True if requests can have this path: it begins with '/', and nothing of it is escaped. */
bool site_url_path_is_plain(const char *path);

/*
 * The rest of a request's path behind the prefix, which begins with '/'; NULL if it does not begin
 * with the prefix, or is no more than that.
 */
const char *site_url_strip_prefix(const char *prefix, const char *path);
