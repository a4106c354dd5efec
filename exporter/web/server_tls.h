/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gnutls/gnutls.h>

#include "exporter/web/web_config.h"

/* What handshakes go by: a certificate, authorities of clients, versions and ciphers. */
struct tls;

/*
 * From a configuration whose files have been read. NULL with the reason if the certificate, the key
 * or the authorities are not valid, or the first two do not belong together. What it says of whom
 * to verify stays borrowed from the configuration.
 */
struct tls *server_tls_new(const struct web_config *config, struct error *err) MUST_USE;
/* No session that it was given to may be left. NULL is fine. */
void server_tls_free(struct tls *t);

/* Have a session that has not begun its handshake go by it. */
void server_tls_apply(struct tls *t, gnutls_session_t session);

/* When its certificate, or the first of its chain to do so, expires: seconds since the epoch. */
int64_t server_tls_not_after(const struct tls *t);
