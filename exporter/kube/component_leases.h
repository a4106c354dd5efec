/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/object_request.h"
#include "exporter/system/log.h"
#include "metrics/rules/problems/control_plane_work.h"

/*
 * Reads the Leases of Karmada's controller manager and scheduler at the API server: one GET for
 * each Lease every COMPONENT_LEASE_INTERVAL_MS, whether the last one succeeded or not. A component
 * renews its Lease while it runs.
 *
 * Without the right to read a Lease, or without the Lease, the exporter works and cannot judge
 * whether the component runs. The log says so once, and once more when the Lease can be read.
 */
enum { COMPONENT_LEASE_INTERVAL_MS = 30 * 1000 };

/* Names of the components and of their Leases. */
extern const char *const component_names[CONTROL_COUNT];

/* Result of one read. Texts are borrowed until the next read. */
struct component_lease {
    enum control_component component;
    bool readable;      /* False: access is denied, or the request failed; see `error`. */
    bool exists;        /* False also if not `readable`. */
    const char *holder; /* spec.holderIdentity; "" without a holder. */
    int64_t renew_ms; /* spec.renewTime, in milliseconds since the epoch; 0 without a valid time. */
    int64_t acquire_ms; /* spec.acquireTime, likewise. */
    const char *error;  /* Reason for people if not `readable`; else "". */
};

/* Receives the result of each read. */
struct component_lease_observer {
    void (*read)(void *context, const struct component_lease *lease); /* NULL: no observer. */
    void *context;
};

struct component_leases_settings {
    const char *ns; /* Namespace of the Leases. Pointers are borrowed. */
    struct transport transport;
    const struct log *log;
    struct component_lease_observer observer;
};

enum component_lease_state {
    COMPONENT_LEASE_READABLE,
    COMPONENT_LEASE_ABSENT,
    COMPONENT_LEASE_UNREADABLE
};

/* State of one Lease. */
struct component_lease_reader {
    struct fetch *fetch; /* NULL between requests. */
    int64_t due_ms;      /* Steady time of the next request. */
    bool read;           /* A read has ended; the following members are set. */
    bool readable;       /* This and the following members: see struct component_lease. */
    bool exists;
    int64_t renew_ms;
    int64_t acquire_ms;
    char *holder;                      /* Owned; NULL: "". */
    struct error err;                  /* Reason if not `readable`. */
    unsigned failures;                 /* Reads in a row that were not `readable`. */
    enum component_lease_state logged; /* What the log says about the Lease. */
};

struct component_leases {
    struct component_leases_settings settings;
    struct component_lease_reader readers[CONTROL_COUNT];
};

/* Initializes without a request. Released with component_leases_release(). */
void component_leases_init(struct component_leases *l,
                           const struct component_leases_settings *settings);
/* Cancels open requests. */
void component_leases_release(struct component_leases *l);

/* Processes responses, calls the observer, and starts due requests. `now_ms` is steady. */
void component_leases_turn(struct component_leases *l, int64_t now_ms);
/* Returns the steady time in ms of the next component_leases_turn() if no data arrives before. */
int64_t component_leases_due(const struct component_leases *l);

/* Stores the result of the last read of a Lease. Returns false before the end of the first read. */
bool component_leases_last(const struct component_leases *l, enum control_component component,
                           struct component_lease *out) MUST_USE;
