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
struct armour {
    struct web_config config; /* Certificates, key and authorities are texts. */
    struct tls *tls;          /* NULL without, and before armour_forge(). */
    unsigned char digest[32]; /* Of all that was read. */
    unsigned holders;         /* One at first; the admission's business. */
    unsigned readers;         /* The number of holders that read users; likewise. */
};

/*
 * Read the file at `path` and all that it names. NULL with the reason, which has no secret in it.
 */
struct armour *armour_read(const char *path, struct error *err) MUST_USE;
/* NULL is fine. */
void armour_free(struct armour *a);

/*
 * Call `each` with the path of the file and of each file that it names as of now, as far as that
 * can be told. "" is no file.
 */
void armour_each_file(const char *path, void (*each)(void *context, const char *path),
                      void *context);

/*
 * Who may ask, as --web.config.file says: TLS, users, limits of requests, and headers of answers.
 * The configuration can be replaced while requests are answered. libmicrohttpd's threads call it,
 * but for admission_new(), admission_reload() and admission_free(), which are the loop's. Without a
 * file there is none (NULL): everybody may ask.
 */
struct admission;

struct admission_options {
    const char *path;         /* Of the file. */
    bool probes_without_auth; /* Health paths are answered to everybody. */
};

/* NULL with the reason if the file is not valid. */
struct admission *admission_new(const struct admission_options *options,
                                struct error *err) MUST_USE;
/* No connection may be left. NULL is fine. */
void admission_free(struct admission *g);

/* Whoever waits for a password to be checked is refused, and whoever comes from now on. */
void admission_close(struct admission *g);

/*
 * Read the file anew, and put it in force if it has changed. False with the reason if it cannot be:
 * the old one stays in force. web_reload_check() says which changes need a restart.
 */
bool admission_reload(struct admission *g, bool *changed, struct error *err) MUST_USE;

/*
 * The certificate and the key to start a TLS server with, as PEM; NULL without TLS. Borrowed until
 * the next admission_reload(): for who calls that.
 */
const char *admission_certificate(const struct admission *g);
const char *admission_key(const struct admission *g);

/* A connection begins; without TLS its session is NULL. What is answered is given back at its end.
 */
struct armour *admission_greet(struct admission *g, gnutls_session_t session) MUST_USE;
void admission_leave(struct admission *g, struct armour *armour);

enum verdict {
    VERDICT_OPEN, /* Nobody has asked yet. */
    VERDICT_WAITS,
    VERDICT_ADMITTED,
    VERDICT_ANONYMOUS, /* To be told no more than whether all is well. */
    VERDICT_UNKNOWN,   /* 401 */
    VERDICT_TOO_MANY,  /* 429 */
};

/*
 * May this request be answered? Where a password has to be checked the connection is suspended, and
 * `verdict` set before it goes on. `probe`: --web.probes-without-auth is about it.
 */
enum verdict admission_admit(struct admission *g, struct MHD_Connection *connection, bool probe,
                             _Atomic(enum verdict) *verdict);

/* Set the headers that the file wants on every response, in place of our own of their names. */
void admission_dress(struct admission *g, struct MHD_Response *response);

/* ---- what the metrics tell; never NULL ---- */

/* THE table of why requests were not admitted: the enumerator, and the label's value. */
#define REFUSED_ADMISSIONS(ROW)                                                                    \
    ROW(MISSING, "credentials_missing")                                                            \
    ROW(WRONG, "credentials_wrong")                                                                \
    /* Too many passwords wait to be checked. */                                                   \
    ROW(QUEUE, "queue_full")                                                                       \
    ROW(RATE, "rate_limit")

#define ADMISSION_ENUMERATOR(id, word) ADMISSION_##id,
enum admission_refusal { REFUSED_ADMISSIONS(ADMISSION_ENUMERATOR) ADMISSION_REFUSALS };
extern const char *const admission_refusal_names[ADMISSION_REFUSALS];

uint64_t admission_refused(const struct admission *g, enum admission_refusal why);
/* When the certificate expires, in seconds since the epoch; 0 without TLS. */
int64_t admission_not_after(struct admission *g);
