/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Decides if a request uses the proxy of the environment, by the rules of Go's
 * golang.org/x/net/http/httpproxy and therefore of kubectl. A host is a name or an IP address
 * without brackets.
 */

/* Returns true for "localhost" and for loopback addresses. */
bool host_is_loopback(const char *host);

/*
 * Returns true if requests to the host and port use the proxy. Loopback hosts and the hosts in
 * `no_proxy` do not. `no_proxy` is NULL or a list with commas: names, addresses, networks such as
 * 10.0.0.0/8, or "*" for all hosts. A name includes its subdomains; ".name" and "*.name" are only
 * the subdomains. Names and addresses may have a port. Invalid items are ignored.
 */
bool proxy_is_used(const char *host, const char *port, const char *no_proxy);
