/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/connector_resource.h"

/*
 * Config Connector's leases (seed 004; pkg/lease/leaser): two labels of a cloud resource say who
 * may manage it and until when. All times are seconds, points in time since the epoch.
 */
enum {
    LEASE_LIFE_S = 40 * 60,    /* How long a lease lasts once obtained or extended. */
    LEASE_RENEWAL_S = 20 * 60, /* Its holder extends it once less than this remains. */
};

/* The time, and by how much the clocks of others may differ from ours. */
struct lease_clock {
    int64_t now_s;
    int64_t skew_s;
};

/* What a snapshot of the labels shows, as far as it still holds. */
enum lease_state {
    LEASE_HELD,
    LEASE_EXPIRING, /* At the time of the snapshot its holder should have extended it. */
    LEASE_EXPIRED,  /* It was past at that time. */
    LEASE_ABSENT,   /* Nobody holds it. */
    /* It was alive then and is past by now, or the snapshot is older than a lease lasts. */
    LEASE_UNKNOWN,
};
enum { LEASE_STATE_COUNT = LEASE_UNKNOWN + 1 };
extern const char *const lease_state_names[LEASE_STATE_COUNT];

enum lease_state lease_state(const struct lease *l, struct lease_clock clock);

/* When the answer of lease_state() changes by time alone; INT64_MAX for never. */
int64_t lease_state_ends_s(const struct lease *l, struct lease_clock clock);

/* True if the expiry is past by more than the skew. */
bool lease_is_past(int64_t expires_s, struct lease_clock clock);

/* What becomes of a namespace's attempt to manage a resource. */
enum lease_verdict {
    VERDICT_UNPROTECTED, /* It asks for no lease, and manages the resource regardless. */
    VERDICT_OBTAINS,     /* Nobody holds the lease: it gets it. */
    VERDICT_KEEPS,       /* It holds the lease, with time enough left. */
    VERDICT_RENEWS,      /* It holds the lease, and extends it. */
    VERDICT_TAKES_OVER,  /* Another's lease has expired: it gets it. */
    VERDICT_REFUSED,     /* Another holds the lease: ManagementConflict. */
};
extern const char *const lease_verdict_names[VERDICT_REFUSED + 1];

/* `own_id` is the namespace's id, from the ConfigMap namespace-id; NULL if it has none yet. */
enum lease_verdict lease_verdict(enum prevention prevention, const struct lease *l,
                                 const char *own_id, struct lease_clock clock);
