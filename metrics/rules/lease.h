/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/connector.h"
#include "metrics/model/lease.h"

/*
 * Config Connector's leases (seed 004; pkg/lease/leaser): who may write the two labels of a
 * resource, and for how long that lasts. Seconds since the epoch everywhere.
 */
enum {
    LEASE_LIFE_S = 40 * 60,    /* What a lease lasts once obtained or extended. */
    LEASE_RENEWAL_S = 20 * 60, /* It is extended once less than this remains. */
};

/* The time, and by how much the clocks of others may differ from ours. */
struct lease_clock {
    int64_t now_s;
    int64_t skew_s;
};

enum lease_state {
    LEASE_HELD,
    LEASE_EXPIRING, /* Its holder should have extended it. */
    LEASE_EXPIRED,
    LEASE_ABSENT,  /* Nobody holds it. */
    LEASE_UNKNOWN, /* The snapshot is older than a lease lasts: it tells nothing any more. */
};
enum { LEASE_STATE_COUNT = LEASE_ABSENT + 1 }; /* Of those that are shown. */
extern const char *const lease_state_names[LEASE_UNKNOWN + 1];

enum lease_state lease_state(const struct lease *l, struct lease_clock clock);

/* When lease_state() has another answer though nothing changes; INT64_MAX for never. */
int64_t lease_state_ends_s(const struct lease *l, struct lease_clock clock);

/* True if the expiry is past: `now` is after it, by more than the skew. */
bool lease_is_past(int64_t expires_s, struct lease_clock clock);

/* What becomes of a namespace's attempt to manage a resource. */
enum lease_verdict {
    VERDICT_UNPROTECTED, /* It manages it without looking at any lease. */
    VERDICT_OBTAINS,     /* Nobody held it. */
    VERDICT_KEEPS,       /* It is its own, and lasts. */
    VERDICT_RENEWS,      /* It is its own, and is extended now. */
    VERDICT_TAKES_OVER,  /* Another's has expired. */
    VERDICT_REFUSED,     /* ManagementConflict: another holds it. */
};
extern const char *const lease_verdict_names[VERDICT_REFUSED + 1];

/* `own_id` is the namespace's, from the ConfigMap namespace-id; NULL: it has none yet. */
enum lease_verdict lease_verdict(enum prevention prevention, const struct lease *l,
                                 const char *own_id, struct lease_clock clock);
