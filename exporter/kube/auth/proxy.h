/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * When a proxy that the environment names is used: exactly as Go's programs, and so kubectl, do it
 * (golang.org/x/net/http/httpproxy). A host is a name or an address without brackets.
 */

/* "localhost", or a loopback address. */
bool host_is_loopback(const char *host);

/*
 * True if requests to this host and port go through the proxy: not to loopback, nor to what
 * `no_proxy` names (NULL: nothing): "*", names, which stand for those below them as well
 * unless they begin with "." or "*.", addresses, networks such as 10.0.0.0/8; names and
 * addresses may have a port. What it cannot read there is ignored.
 */
bool proxy_is_used(const char *host, const char *port, const char *no_proxy);
