/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/*
 * Base64 as Go reads and writes it, so that we accept what kubectl accepts: the
 * standard alphabet, padded, with line ends anywhere.
 */

/* Append the bytes. False if this is not base64; some may be there then. Check strbuf_ok(). */
bool base64_decode(const char *text, struct strbuf *out) MUST_USE;

void base64_encode(const void *bytes, size_t len, struct strbuf *out);
