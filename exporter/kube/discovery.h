/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/api_resources.h"

/*
 * Asking an API server which kinds it serves, in rounds: two requests where it answers for
 * all groups at once (Kubernetes since 1.26), else two and one for each version
 * of each group. No connection is inside: it says what to get and is given the answers.
 *
 * What a round cannot read stays as an earlier round read it.
 */
struct discovery;

enum discovery_answer {
    DISCOVERY_UNKNOWN, /* Not read yet, or not readable now. */
    DISCOVERY_ABSENT,  /* Not served. */
    /*
     * Served, but Karmada does not look at it: another version is preferred, or it cannot be
     * listed, watched and deleted.
     */
    DISCOVERY_UNWATCHED,
    DISCOVERY_SERVED,
};

struct discovery *discovery_new(void) MUST_USE;
void discovery_free(struct discovery *d);

/* Start a round, unless one is under way. */
void discovery_begin(struct discovery *d);

/* The path to get now; NULL between rounds. */
const char *discovery_path(const struct discovery *d);
/* The Accept header to get it with. */
const char *discovery_accept(void);

/* A response. `http_status` is 0 if there was none. */
struct discovery_reply {
    unsigned http_status;
    const char *content_type; /* NULL if there is none. */
    const char *body;
    size_t len;
};

/* Read the response to discovery_path(). True if that ended the round. */
bool discovery_receive(struct discovery *d, const struct discovery_reply *reply) MUST_USE;

/* True if the last complete round read the lists of all versions. */
bool discovery_succeeded(const struct discovery *d);
/* True if it had to ask for each version. */
bool discovery_is_legacy(const struct discovery *d);

/* A number that changes with every change of what is known. */
uint64_t discovery_version(const struct discovery *d);

/*
 * Is the kind served? If so, watched by Karmada or not, `out` is how; borrowed until the next
 * round ends.
 */
enum discovery_answer discovery_find(const struct discovery *d, const char *api_version,
                                     const char *kind, const struct api_resource **out);
/* api_table_find_preferred(), of what is known; borrowed likewise. */
const struct api_resource *discovery_find_preferred(const struct discovery *d,
                                                    const char *api_version, const char *kind);
/* api_table_find_by_name(), likewise. */
const struct api_resource *discovery_find_by_name(const struct discovery *d, const char *typed,
                                                  const char *group);
