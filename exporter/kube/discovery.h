/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/api_resources.h"

/*
 * Discovery of the kinds that an API server serves, in rounds of two requests. Servers without
 * aggregated discovery (Kubernetes before 1.26) need one more request for each version of a group.
 * The caller sends the requests: discovery_path() returns the next one, discovery_receive() reads
 * the response. If a round cannot read some kinds, their earlier results stay valid.
 */
struct discovery;

enum discovery_answer {
    DISCOVERY_UNKNOWN,   /* The kind's version has not been read. */
    DISCOVERY_ABSENT,    /* The server does not serve the kind. */
    DISCOVERY_UNWATCHED, /* The server serves the kind, but Karmada does not watch this version. */
    DISCOVERY_SERVED,    /* The server serves the kind, and Karmada watches this version. */
};

struct discovery *discovery_new(void) MUST_USE;
void discovery_free(struct discovery *d);

/* Starts a round, unless one is active. */
void discovery_begin(struct discovery *d);
/* Returns the path of the next request; NULL between rounds. Valid until discovery_receive(). */
const char *discovery_path(const struct discovery *d);
/* Returns the Accept header for all requests. */
const char *discovery_accept(void);

struct discovery_reply {
    unsigned http_status;     /* 0: no response. */
    const char *content_type; /* NULL: no such header. */
    const char *body;
    size_t len;
};

/* Reads the response to discovery_path(). Returns true if the round has ended. */
bool discovery_receive(struct discovery *d, const struct discovery_reply *reply) MUST_USE;

/*
 * Returns true if the round that ended last has read the versions of all groups; false before the
 * first round has ended. Resources of single versions may be missing.
 */
bool discovery_succeeded(const struct discovery *d);
/* Returns true if the server had no aggregated discovery in the current or last round. */
bool discovery_is_legacy(const struct discovery *d);

/* Returns a number that changes with each change of the results. */
uint64_t discovery_version(const struct discovery *d);

/*
 * Returns how the server serves the kind in this version. Sets `out` to the resource for
 * DISCOVERY_UNWATCHED and DISCOVERY_SERVED. Resources from this and the next two functions are
 * borrowed until the next round ends.
 */
enum discovery_answer discovery_find(const struct discovery *d, const char *api_version,
                                     const char *kind, const struct api_resource **out);

/* Return api_table_find_preferred() and api_table_find_by_name() of the results. */
const struct api_resource *discovery_find_preferred(const struct discovery *d,
                                                    const char *api_version, const char *kind);
const struct api_resource *discovery_find_by_name(const struct discovery *d, const char *typed,
                                                  const char *group);
