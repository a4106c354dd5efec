/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/api_table.h"

/*
 * Asking an API server what it serves, in rounds: two requests where it can
 * say it all at once (Kubernetes since 1.26), else two and one for each version
 * of each group. No connection is inside: it says what to get and takes answers.
 *
 * What one round could not read counts as it was before.
 */
struct discovery;

enum discovery_answer {
    DISCOVERY_UNKNOWN, /* Not read yet, or cannot be read now. */
    DISCOVERY_ABSENT,  /* Not served, or not to be watched. */
    DISCOVERY_SERVED,
};

struct discovery *discovery_new(void) MUST_USE;
void discovery_free(struct discovery *d);

/* Start a round, unless one goes on. */
void discovery_begin(struct discovery *d);

/* The path to get now; NULL between rounds. */
const char *discovery_path(const struct discovery *d);
/* The Accept header to get it with. */
const char *discovery_accept(void);

/* What came back. `http_status` is 0 if nothing did. */
struct discovery_reply {
    unsigned http_status;
    const char *content_type; /* NULL if not told. */
    const char *body;
    size_t len;
};

/* Take the answer to discovery_path(). True if that ended the round. */
bool discovery_take(struct discovery *d, const struct discovery_reply *reply) MUST_USE;

/* The last round that ended read the lists of all versions. */
bool discovery_succeeded(const struct discovery *d);
/* It had to ask for each version. */
bool discovery_is_legacy(const struct discovery *d);

/* Another number whenever what is known has changed. */
uint64_t discovery_version(const struct discovery *d);

/* Is the kind served? If so, `out` is how; borrowed until the next round ends. */
enum discovery_answer discovery_find(const struct discovery *d, const char *api_version,
                                     const char *kind, const struct api_resource **out);
