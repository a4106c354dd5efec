/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/admission/quota.h"
#include "metrics/simulate/overlay.h"

/*
 * Simulation of Karmada's webhook that enforces FederatedResourceQuotas (Karmada:
 * pkg/webhook/resourcebinding). The usage of a quota is the sum over the bindings of its namespace:
 * Karmada sets it to this sum at each deletion of a binding, and every five minutes.
 */

/*
 * Returns true if a quota refuses the scheduler's write of the targets into `fresh`; sets
 * binding_rare(fresh)->quota_excess in memory of the overlay. `old` is the binding in the store;
 * NULL if it is new. Records ASSUMED_QUOTA if the sum of the targets, or not all quotas or usages,
 * are known.
 */
bool quota_refuses_targets(struct overlay *overlay, const struct binding *old,
                           struct binding *fresh, const struct projection *targets);

/*
 * Returns true if a quota refuses the detector's write of the requests of `fresh`, which still has
 * the clusters of `old`; sets binding_rare(fresh)->quota_excess and records ASSUMED_QUOTA like
 * quota_refuses_targets().
 */
bool quota_refuses_requests(struct overlay *overlay, const struct binding *old,
                            struct binding *fresh);

/* Records ASSUMED_QUOTA if a quota may refuse targets of the binding that are undetermined. */
void quota_assume_unknown(struct overlay *overlay, const struct binding *b);

/*
 * Appends the bindings whose last write a quota has refused, in the namespaces in which a quota
 * changed or a usage fell since the last call, in the order of entry_compare(): Karmada tries these
 * writes again.
 */
void quota_list_retries(struct overlay *overlay, struct entry_list *out);

/* The binding of a template before and after a change. */
struct quota_competitor {
    const char *ns;
    const struct binding *before; /* NULL without a binding, likewise `after`. Borrowed. */
    const struct binding *after;
    bool contested; /* Result of quota_find_contested(); false before. */
};

/*
 * Sets `contested` of the bindings that a quota refuses only because others got its room, and of
 * these others: Karmada handles them in an order that nothing determines. The overlay has the
 * objects after the change.
 */
void quota_find_contested(const struct overlay *overlay, struct quota_competitor *all,
                          size_t count);
