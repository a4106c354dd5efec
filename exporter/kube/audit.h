/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/reflector.h"

/*
 * Compares what is in the store with what the server has, one resource after the other, so that
 * what no stream told does not stay wrong for ever. It must find nothing; what it finds is
 * counted, logged, and read anew.
 *
 * A list at the version of the reflector's stream, or later, may come from the server's watch
 * cache; its pages come while no other list waits, at a pace that costs less than one per cent of
 * a CPU. Store and list are never of the same moment. Only suspects come of what differs:
 *
 * - an object of the list that is missing, or older in the store, though the stream has passed
 *   its version;
 * - an object that the list lacks, though it is older than the list.
 *
 * A suspect is read alone, by a list, which says at which version it was so. It diverges if the
 * store has it otherwise when the stream has passed that version, or after two minutes. A list that
 * lags or fails removes nothing, and counts for nothing.
 *
 * Of a resource of which only what bindings refer to is kept, nothing counts as missing: it may be
 * on its way. Versions that are no numbers are not compared.
 */
struct audit_suspect {
    struct audit_suspect *next;
    char *ns;
    char *name;
    bool answered;
    uint32_t mark; /* The answer: its short_version_of_object(), 0 if it is not there, */
    char as_of[WATCH_VERSION_MAX]; /* when the server was at this version, */
    uint64_t removals;             /* and the store at so many. */
    int64_t until_ms;              /* 0: it has not been asked about. */
};

struct audit {
    struct reflector_context *context; /* Borrowed. */
    int64_t interval_ms;               /* Between two of one resource; 0: there are none. */
    uint32_t source;                   /* Of the reflector under audit; 0: none. */
    uint32_t sweep;                    /* Its pass. A new one ends the audit. */
    struct reflector *r;               /* It, during a turn, and while a request is open. */
    struct reflector_request reflector_request;
    struct list_ticket ticket;
    enum { AUDIT_LISTING, AUDIT_ASKING, AUDIT_FAILED } step;
    char *token;                     /* Of the next page. Owned. */
    char version[WATCH_VERSION_MAX]; /* Of the list. */
    struct progress progress;        /* Of the page. */
    bool compared;                   /* With the list, what the store has. */
    struct audit_suspect *suspects;
    unsigned suspect_count;
    struct fetch *fetch; /* Of the first. */
    unsigned divergences;
    int64_t due_ms; /* When there is something to do. */
};

void audit_init(struct audit *a, struct reflector_context *context, int64_t interval_ms);
void audit_release(struct audit *a);

/* Do what is due, with the reflectors that there are now. */
void audit_turn(struct audit *a, struct reflector *const *reflectors, size_t count);
/* When a turn is due without the transport; INT64_MAX for never. */
int64_t audit_due(const struct audit *a);
