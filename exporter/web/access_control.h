/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "exporter/system/log.h"
#include "exporter/system/rate_limit.h"
#include "exporter/web/server_tls.h"

/*
 * Web configuration that is or was in force: the parsed file, and the contents of the files that
 * it refers to. A connection keeps the configuration that was in force when the connection began.
 */
struct active_web_config {
    struct web_config config; /* `cert`, `key` and `client_ca` also hold the contents of files. */
    struct server_tls *tls;   /* NULL without TLS, and in a result of active_web_config_read(). */
    unsigned char digest[32]; /* SHA-256 of all files that were read. */
    unsigned holders;         /* References; 1 at first. Guarded by the access control's lock. */
    /* References that need the secrets; at 0, a replaced configuration loses them. Same lock. */
    unsigned readers;
};

/*
 * Calls `visit` with `path`; then, if the file can be parsed, with the path of the certificate, the
 * key and the client authorities, or "" for a path that the file does not set.
 */
void active_web_config_visit_files(const char *path, void (*visit)(void *context, const char *path),
                                   void *context);

/*
 * Enforces --web.config.file: TLS, users, request rate, and response headers. The configuration can
 * be replaced while requests are answered. Without a file the access control is NULL; then every
 * request is admitted. NULL is allowed where the comment of a function says so.
 *
 * Only the event loop calls access_control_new(), _reload(), _free(), _certificate() and _key().
 */
struct access_control;

struct access_control_options {
    const char *path;         /* Path of the configuration file. Copied. */
    bool probes_without_auth; /* Health paths without a query need no credentials. */
};

/* Returns NULL with the reason if the files are unusable or no thread starts. */
struct access_control *access_control_new(const struct access_control_options *options,
                                          struct error *err) MUST_USE;
/* Frees the access control; NULL is allowed. No connection may be left. */
void access_control_free(struct access_control *g);

/*
 * Waits for the password check in progress. Refuses the requests that wait for a check, resumes
 * their connections, and refuses later requests that need a check. NULL is allowed.
 */
void access_control_stop_checks(struct access_control *g);

/*
 * Reads the files again. If their contents have changed, puts the new configuration in force and
 * sets `changed`, which is false otherwise. Returns false with the reason if the files cannot be
 * read, are invalid, or need a restart (web_config_check_reload()); the old configuration stays.
 */
bool access_control_reload(struct access_control *g, bool *changed, struct error *err) MUST_USE;

/*
 * Return the certificate and the key to start a TLS server with, as PEM; NULL without TLS. Borrowed
 * until the next access_control_reload(). NULL is allowed.
 */
const char *access_control_certificate(const struct access_control *g);
const char *access_control_key(const struct access_control *g);

/*
 * Returns a reference to the configuration in force for a new connection, and applies its TLS
 * settings to the session unless `session` is NULL. Returns NULL if `g` is NULL. The caller drops
 * the reference with access_control_release_config() when the connection ends.
 */
struct active_web_config *access_control_acquire_config(struct access_control *g,
                                                        gnutls_session_t session) MUST_USE;
/* Drops a reference of access_control_acquire_config(); does nothing if `g` is NULL. */
void access_control_release_config(struct access_control *g,
                                   struct active_web_config *active_web_config);

enum verdict {
    VERDICT_NONE, /* Not checked yet. */
    VERDICT_PENDING,
    VERDICT_ADMITTED,
    VERDICT_ANONYMOUS,    /* Health path, credentials unchecked: the response has no details. */
    VERDICT_UNAUTHORIZED, /* Status 401. */
    VERDICT_TOO_MANY,     /* Status 429, for ACCESS_QUEUE or ACCESS_RATE. */
};

/*
 * Checks a request and returns the verdict, which is also stored in `verdict`. If `verdict` already
 * holds a value other than VERDICT_NONE, returns that value. If a password has to be checked first,
 * suspends the connection and returns VERDICT_PENDING; the connection is resumed when `verdict`
 * holds the result. `verdict` has to live until then. `probe`: if users and probes_without_auth are
 * set, the verdict is VERDICT_ANONYMOUS. If `g` is NULL, returns VERDICT_ADMITTED and stores
 * nothing.
 */
enum verdict access_control_admit(struct access_control *g, struct MHD_Connection *connection,
                                  bool probe, _Atomic(enum verdict) *verdict);

/* Sets the configured headers, replacing headers of the same names. NULL as `g` is allowed. */
void access_control_set_headers(struct access_control *g, struct MHD_Response *response);

/* ---- metrics ---- */

/* Reasons not to admit a request: enumerator, value of the label. */
#define ACCESS_REFUSALS(ROW)                                                                       \
    ROW(MISSING, "credentials_missing")                                                            \
    ROW(WRONG, "credentials_wrong")                                                                \
    /* Too many passwords wait to be checked, or access_control_stop_checks() was called. */       \
    ROW(QUEUE, "queue_full")                                                                       \
    ROW(RATE, "rate_limit")

#define ACCESS_ENUMERATOR(id, word) ACCESS_##id,
enum access_control_refusal { ACCESS_REFUSALS(ACCESS_ENUMERATOR) ACCESS_REFUSALS };
extern const char *const access_control_refusal_names[ACCESS_REFUSALS];

/* Returns the number of requests refused for this reason. */
uint64_t access_control_refused(const struct access_control *g, enum access_control_refusal reason);
/* Returns the earliest expiry in the certificate chain, seconds since 1970; 0: unknown, no TLS. */
int64_t access_control_not_after(struct access_control *g);

/* Used only by access_control.c and tests. */

/*
 * Reads the file at `path` and the files that it refers to. The caller frees the result. Returns
 * NULL with the reason, which contains no secret, on failure.
 */
struct active_web_config *active_web_config_read(const char *path, struct error *err) MUST_USE;
/* Frees the configuration and wipes its secrets; NULL is allowed. */
void active_web_config_free(struct active_web_config *a);
