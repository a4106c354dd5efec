/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/address.h"
#include "metrics/base/error.h"

/* Room for "[" address "%" zone "]:" port. */
enum { LISTENER_NAME_MAX = 96 };

/*
 * Look up the host, bind and listen. The socket does not block and is the
 * caller's to close. Of a host with several addresses the IPv4 one counts; no host at
 * all means both families on one socket, or IPv4 where there is no other.
 */
bool listener_open(const struct address *address, int *out_fd, struct error *err) MUST_USE;

/* What the socket is bound to, as in "127.0.0.1:19180" or "[::]:19180". */
void listener_name(int fd, char out[LISTENER_NAME_MAX]);
