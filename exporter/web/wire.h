/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "metrics/base/base.h"

/*
 * What libmicrohttpd hands on of a request beside what was sent: it takes bytes that no header and
 * no target may have, and what a proxy in front of it reads otherwise is how one request is
 * smuggled inside another.
 */

/*
 * The target of a request line as it was sent, out of the library's buffer; "%00" where it has a
 * NUL. That ends the library's text, with the rest of the target behind it in place of the version.
 */
const char *wire_target(const char *uri);

/* The path of a target, which may be a whole URL (RFC 9112, 3.2.2). Whom it names is not looked at.
 */
const char *wire_path(const char *target);

/*
 * Are all names of headers tokens (RFC 9110, 5.1), and all values without control characters? What
 * is behind a NUL in a value the library does not have.
 */
bool wire_headers_are_sound(struct MHD_Connection *connection);
