/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/* Base64 with padding, as in StdEncoding of Go, which kubectl uses. Decoding ignores line ends. */

/*
 * Appends the decoded bytes. Returns false if the text is not valid base64; some bytes may have
 * been appended. The caller checks strbuf_ok().
 */
bool base64_decode(const char *text, struct strbuf *out) MUST_USE;

/* Appends the encoded text, without line ends. */
void base64_encode(const void *bytes, size_t len, struct strbuf *out);

/* PEM checks detect incomplete or wrong files. They do not decode the contents of the blocks. */

/* Returns true if the text holds a non-empty certificate and no incomplete PEM block. */
bool pem_check_certificates(const char *text, struct error *err) MUST_USE;

/*
 * Returns true if the text holds a non-empty private key, and the first such key is not encrypted:
 * libcurl would ask for a passphrase on the terminal, and block. Returns false, too, if a block
 * before the key is incomplete.
 */
bool pem_check_key(const char *text, struct error *err) MUST_USE;
