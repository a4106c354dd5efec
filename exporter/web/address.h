/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Where to listen, as --web.listen-address says it: ":19180" (every address of
 * the host, IPv4 and IPv6), "host:19180", "192.0.2.1:19180", "[::1]:19180".
 */
enum { ADDRESS_HOST_MAX = 256 };

struct address {
    char host[ADDRESS_HOST_MAX]; /* Without brackets; empty: every address of the host. */
    uint16_t port;               /* 0: one that is free. */
};

/* Parse the text; names are not looked up. */
bool address_parse(const char *text, struct address *out, struct error *err) MUST_USE;
