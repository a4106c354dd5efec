/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/object_request.h"

/*
 * Election of a leader among several exporters by a Lease of coordination.k8s.io/v1, compatible
 * with client-go's leader election. The times are those of client-go, in proportion to the
 * duration: with 15 s, the holder renews the Lease every 2 s and leads for 10 s after a renewal.
 *
 * Another replica takes the Lease over if the Lease has no holder, or if the replica has observed
 * no change of the spec for the duration in the Lease. The replica measures this time by its
 * steady clock, so wall clocks may differ by any amount.
 *
 * A leader counts its 10 s from the request of the last successful renewal. No other replica can
 * have observed that renewal before, so 5 s remain for requests under way before another replica
 * can lead. Writes name the resourceVersion that was read: of two concurrent writes, one fails
 * (409).
 */
struct leader_election_settings {
    const char *ns;
    const char *name;
    const char *identity; /* Unique for each process. */
    const char *field_manager;
    int64_t lease_ms; /* Duration; a multiple of 1000. */
};

/* Problem of the Lease to report to users. */
enum leader_election_problem {
    LEADER_ELECTION_FINE,
    LEADER_ELECTION_FORBIDDEN,    /* The API server denies `verb` on leases. */
    LEADER_ELECTION_NO_NAMESPACE, /* A user must create the namespace of the Lease. */
    LEADER_ELECTION_FAILED,       /* Another error, in `err`. */
};

/* All times are steady milliseconds. */
struct leader_election {
    struct leader_election_settings settings; /* The strings are borrowed. */
    struct fetch *fetch;                      /* Request under way; NULL without one. */
    const char *verb;      /* Verb of the last request: "get", "create", "update". */
    cJSON *lease;          /* Lease last read or written; NULL before, or if deleted. Owned. */
    char *record;          /* Spec last read or written, as JSON; NULL before. Owned. */
    int64_t observed_ms;   /* When `record` was first observed. */
    int64_t asked_ms;      /* Start of the last request. */
    int64_t held_until_ms; /* End of the leadership; past, or 0, unless this replica leads. */
    int64_t due_ms;        /* Earliest next request. */
    bool read;             /* `lease` is current: the next request can be a write. */
    bool releasing;        /* leader_election_resign() has been called. */
    bool released;         /* After leader_election_resign(): the Lease is not held. */
    unsigned failures;     /* Failed requests in a row, without conflicts (409) and late ones. */
    uint32_t random;       /* State of the random numbers that spread requests of replicas. */
    enum leader_election_problem problem;
    struct error err; /* Error of the last failed request. */
};

/* `random` is a seed that differs between replicas. */
void leader_election_init(struct leader_election *e,
                          const struct leader_election_settings *settings, uint32_t random);
void leader_election_release(struct leader_election *e);

/*
 * Processes a response and starts a due request over `transport`, which may differ after
 * leader_election_suspend(). `clock_ms`, since the epoch, is only written into the Lease.
 */
void leader_election_turn(struct leader_election *e, struct transport transport, int64_t now_ms,
                          int64_t clock_ms);
/* Returns the time of the next turn if no response arrives before; INT64_MAX: never. */
int64_t leader_election_due(const struct leader_election *e);

/* Cancels the request under way; call this before its transport ends. The leadership continues. */
void leader_election_suspend(struct leader_election *e);

/* Returns true if this replica leads. */
bool leader_election_leads(const struct leader_election *e, int64_t now_ms);

/*
 * Ends the leadership. If this replica may hold the Lease, the following turns clear the holder in
 * the Lease and then set `released`, so that another replica need not wait for the end of the
 * duration. Otherwise sets `released` at once.
 */
void leader_election_resign(struct leader_election *e);
