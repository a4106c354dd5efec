/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "exporter/system/log.h"
#include "exporter/system/rate_limit.h"
#include "exporter/web/server_tls.h"

/*
 * A web configuration that is in force, or was: what the file says, with what the files that it
 * names hold. Connections hold the one that they began with.
 */
struct active_web_config {
    struct web_config config; /* Certificates, key and authorities are texts. */
    struct tls *tls;          /* NULL without, and before active_web_config_forge(). */
    unsigned char digest[32]; /* Of all that was read. */
    unsigned holders;         /* One at first; the admission's business. */
    unsigned readers;         /* The number of holders that read users; likewise. */
};

/*
 * Read the file at `path` and all that it names. NULL with the reason, which has no secret in it.
 */
struct active_web_config *active_web_config_read(const char *path, struct error *err) MUST_USE;
/* NULL is fine. */
void active_web_config_free(struct active_web_config *a);

/*
 * Call `each` with the path of the file and of each file that it names as of now, as far as that
 * can be told. "" is no file.
 */
void active_web_config_visit_files(const char *path, void (*each)(void *context, const char *path),
                                   void *context);

/*
 * Who may ask, as --web.config.file says: TLS, users, limits of requests, and headers of answers.
 * The configuration can be replaced while requests are answered. libmicrohttpd's threads call it,
 * but for access_control_new(), access_control_reload() and access_control_free(), which are the
 * loop's. Without a file there is none (NULL): everybody may ask.
 */
struct access_control;

struct access_control_options {
    const char *path;         /* Of the file. */
    bool probes_without_auth; /* Health paths are answered to everybody. */
};

/* NULL with the reason if the file is not valid. */
struct access_control *access_control_new(const struct access_control_options *options,
                                          struct error *err) MUST_USE;
/* No connection may be left. NULL is fine. */
void access_control_free(struct access_control *g);

/* Whoever waits for a password to be checked is refused, and whoever comes from now on. */
void access_control_stop_checks(struct access_control *g);

/*
 * Read the file anew, and put it in force if it has changed. False with the reason if it cannot be:
 * the old one stays in force. web_config_check_reload() says which changes need a restart.
 */
bool access_control_reload(struct access_control *g, bool *changed, struct error *err) MUST_USE;

/*
 * The certificate and the key to start a TLS server with, as PEM; NULL without TLS. Borrowed until
 * the next access_control_reload(): for who calls that.
 */
const char *access_control_certificate(const struct access_control *g);
const char *access_control_key(const struct access_control *g);

/* A connection begins; without TLS its session is NULL. What is answered is given back at its end.
 */
struct active_web_config *access_control_acquire_config(struct access_control *g,
                                                        gnutls_session_t session) MUST_USE;
void access_control_release_config(struct access_control *g,
                                   struct active_web_config *active_web_config);

enum verdict {
    VERDICT_NONE, /* Nobody has asked yet. */
    VERDICT_PENDING,
    VERDICT_ADMITTED,
    VERDICT_ANONYMOUS,    /* To be told no more than whether all is well. */
    VERDICT_UNAUTHORIZED, /* 401 */
    VERDICT_TOO_MANY,     /* 429 */
};

/*
 * May this request be answered? Where a password has to be checked the connection is suspended, and
 * `verdict` set before it goes on. `probe`: --web.probes-without-auth is about it.
 */
enum verdict access_control_admit(struct access_control *g, struct MHD_Connection *connection,
                                  bool probe, _Atomic(enum verdict) *verdict);

/* Set the headers that the file wants on every response, in place of our own of their names. */
void access_control_set_headers(struct access_control *g, struct MHD_Response *response);

/* ---- what the metrics tell; never NULL ---- */

/* THE table of why requests were not admitted: the enumerator, and the label's value. */
#define ACCESS_REFUSALS(ROW)                                                                       \
    ROW(MISSING, "credentials_missing")                                                            \
    ROW(WRONG, "credentials_wrong")                                                                \
    /* Too many passwords wait to be checked. */                                                   \
    ROW(QUEUE, "queue_full")                                                                       \
    ROW(RATE, "rate_limit")

#define ACCESS_ENUMERATOR(id, word) ACCESS_##id,
enum access_control_refusal { ACCESS_REFUSALS(ACCESS_ENUMERATOR) ACCESS_REFUSALS };
extern const char *const access_control_refusal_names[ACCESS_REFUSALS];

uint64_t access_control_refused(const struct access_control *g, enum access_control_refusal why);
/* When the certificate expires, in seconds since the epoch; 0 without TLS. */
int64_t access_control_not_after(struct access_control *g);
