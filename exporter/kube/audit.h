/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/reflector.h"

/*
 * Audit: compares the store with the API server, one resource after the other, to detect changes
 * that no watch event reported. Divergences are counted (at most 256 in an audit) and logged (at
 * most five), and the resource is listed again. They indicate a defect of the exporter or of the
 * server.
 *
 * An audit lists the resource at the version of the reflector's stream or later, page by page
 * unless audit_unpaged is set. Pages are requested only while no other list may start, with pauses
 * that keep the CPU use below 1 %. Two kinds of objects become suspects:
 *
 * - an object of the list that the store lacks or has in an older version, although the stream has
 *   passed the object's version;
 * - an object of the store that the list lacks, although its version is not newer than the list's.
 *
 * Each suspect is then read from the server, by a list of one object, which returns the version of
 * the collection. The suspect diverges if the store still differs when the stream has passed that
 * version, or after two minutes. Failed requests never count as divergences.
 *
 * An object of unknown name that was rejected counts until a complete list without such an object,
 * and a healthy watch may not list for weeks. A complete audit therefore lists the resource again
 * while reflector_store.unnamed_sweep is set, so at most once in each interval.
 *
 * If a reflector keeps only bound templates, objects that the store lacks are no suspects. Objects
 * of the list without a numeric resourceVersion are not compared.
 */
struct audit_suspect {
    struct audit_suspect *next;
    char *ns;
    char *name;
    bool checked;            /* The response was read, and the next three members are valid. */
    uint32_t server_version; /* short_version_of_object(); 0: not on the server. */
    char list_version[WATCH_VERSION_MAX]; /* Version of the collection in the response. */
    uint64_t removals;                    /* reflector_store.removals before the request. */
    int64_t deadline_ms; /* Steady time of the latest decision; 0: no request yet. */
};

struct audit {
    struct reflector_context *context; /* Borrowed. */
    int64_t interval_ms;               /* Between audits of a resource; 0 disables audits. */
    uint32_t source;                   /* Source number of the audited reflector; 0: no audit. */
    uint32_t sweep;      /* Number of the reflector's pass; a new pass ends the audit. */
    struct reflector *r; /* Looked up by `source` in each turn; NULL: no audit, or removed. */
    struct reflector_request request;
    struct list_ticket ticket;
    enum { AUDIT_LISTING, AUDIT_CHECKING, AUDIT_FAILED } step;
    char *token;                     /* Continue token of the next page; owned. */
    char version[WATCH_VERSION_MAX]; /* resourceVersion of the last page. */
    struct progress progress;        /* Progress of the open page. */
    bool compared;                   /* suspect_if_unlisted() was applied to the store. */
    struct audit_suspect *suspects;
    unsigned suspect_count;
    struct fetch *fetch; /* Request for the first suspect, open or ended; owned, may be NULL. */
    unsigned divergences;
    int64_t due_ms; /* Steady time of the next request; INT64_MAX: no audits. */
};

/* `context` is borrowed. */
void audit_init(struct audit *a, struct reflector_context *context, int64_t interval_ms);
/* Ends the current audit and frees memory. */
void audit_release(struct audit *a);

/* Begins, continues or ends an audit. Call after the transport's periodic work. */
void audit_turn(struct audit *a, struct reflector *const *reflectors, size_t count);
/*
 * Returns the steady time in ms of the next audit_turn() if no response data arrives before;
 * INT64_MAX: no call needed.
 */
int64_t audit_due(const struct audit *a);
