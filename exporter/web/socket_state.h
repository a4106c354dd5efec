/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* What the kernel knows of a connection, without reading from it. False where it does not say. */

/* Has its client sent what was not read yet? */
bool socket_has_unread(int fd);

/* Was anything written that its client has not taken yet? */
bool socket_has_unsent(int fd);

/*
 * Has anything come from its client at all, read or not? Between two messages of a handshake of TLS
 * nothing may be unread. Of TCP alone.
 */
bool socket_has_received(int fd);
