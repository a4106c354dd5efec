/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * Base64 as Go reads and writes it, so that we accept what kubectl accepts: the
 * standard alphabet, padded, with line ends anywhere.
 */

/* Append the bytes. False if this is not base64; some may be there then. Check strbuf_ok(). */
bool base64_decode(const char *text, struct strbuf *out) MUST_USE;

void base64_encode(const void *bytes, size_t len, struct strbuf *out);

/*
 * Whether a text is the PEM that it should be: enough to tell a file that is
 * half written, or another file, from a good one before curl is given it. What
 * is inside the blocks is looked at by the TLS library only.
 */

/* One certificate or more, each block complete. */
bool pem_check_certificates(const char *text, struct error *err) MUST_USE;

/* One private key, without a passphrase: curl would ask for it on the terminal, and wait. */
bool pem_check_key(const char *text, struct error *err) MUST_USE;
