/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/system/rate_limit.h"
#include "exporter/web/tls.h"

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
/* Make what TLS needs of what was read. False with the reason. */
bool armour_forge(struct armour *a, const char *path, struct error *err) MUST_USE;
/*
 * Wipes the users and the private key of a configuration that has been replaced. Connections that
 * began with the configuration need only the rest.
 */
void armour_forget(struct armour *a);
/* NULL is fine. */
void armour_free(struct armour *a);

/*
 * Call `each` with the path of the file and of each file that it names as of now, as far as that
 * can be told. "" is no file.
 */
void armour_each_file(const char *path, void (*each)(void *context, const char *path),
                      void *context);
