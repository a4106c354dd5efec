/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gnutls/gnutls.h>

#include "exporter/web/web_config.h"

/* TLS settings of the server: certificate, client authorities, versions, ciphers and curves. */
struct server_tls;

/*
 * Returns the settings for a configuration, which is borrowed until server_tls_free(). The contents
 * of its files have to be in `cert`, `key` and `client_ca`. Returns NULL with the reason if these
 * or the combination of versions, ciphers and curves cannot be used.
 */
struct server_tls *server_tls_new(const struct web_config *config, struct error *err) MUST_USE;
/* Frees the settings; NULL is allowed. No session may use them any more. */
void server_tls_free(struct server_tls *t);

/* Applies the settings to a session before its handshake. The session borrows them. */
void server_tls_apply(struct server_tls *t, gnutls_session_t session);

/* Returns the earliest expiry in the certificate chain, in seconds since the epoch; 0: unknown. */
int64_t server_tls_not_after(const struct server_tls *t);
