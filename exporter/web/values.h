/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/config.h"

/*
 * The values of a web configuration: their names, and which of them go together. A NULL text is no
 * text at all, and refused. No error repeats a hash.
 */

/* The place of a name in such a list; else an error that says what it is not, with the nearest. */
bool web_name_find(const char *const *names, const char *what, const char *text, unsigned *out,
                   struct error *err) MUST_USE;

bool web_client_auth_parse(const char *text, enum web_client_auth *out, struct error *err) MUST_USE;
bool web_tls_version_parse(const char *text, enum web_tls_version *out, struct error *err) MUST_USE;

/* A duration as Go writes it ("1s", "1.5s", "100ms", "1m30s", "0"), not negative. */
bool web_interval_parse(const char *text, int64_t *out_ns, struct error *err) MUST_USE;
bool web_burst_parse(const char *text, uint32_t *out, struct error *err) MUST_USE;

/* A value of the header at that place of web_header_names; NULL is none, and fine. */
bool web_header_check(unsigned at, const char *value, struct error *err) MUST_USE;

/* $2a$, $2b$ or $2y$, a cost up to WEB_BCRYPT_COST_MAX, salt and hash. */
bool web_hash_check(const char *hash, struct error *err) MUST_USE;

/* Is what tls_server_config says complete, and free of contradictions? */
bool web_tls_check(const struct web_config *c, struct error *err) MUST_USE;

/*
 * Returns true if a reload may put `fresh` in force in the place of `old`. A reload turns neither
 * TLS, nor client certificates, nor authentication off: a file that an editor or a full disk has
 * cut short must not open the port. It returns false with the reason if `fresh` has no TLS, asks
 * less of client certificates, accepts older versions of TLS or has no users any more. Single
 * users and names may come and go.
 */
bool web_reload_check(const struct web_config *old, const struct web_config *fresh,
                      struct error *err) MUST_USE;
