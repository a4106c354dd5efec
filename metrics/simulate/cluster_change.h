/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/cluster.h"
#include "metrics/simulate/overlay.h"

/*
 * Reaction of Karmada's scheduler to a changed member cluster (Karmada: pkg/scheduler,
 * updateCluster, enqueueAffectedBindings; pkg/controllers/cluster). The scheduler handles a binding
 * again if the affinity group in use matches the old or the new version of the cluster. A binding
 * without a claim is handled too.
 */

/*
 * Applies a Cluster as its user. Like the API server, keeps the status of a Cluster that exists. A
 * new Cluster counts as ready. An unchanged Cluster has no effect. A Cluster that is in deletion in
 * `fresh` is deleted by cluster_change_delete(). `fresh` is owned by the overlay. Returns true if
 * Karmada may evict templates because of a new NoExecute taint, which is not simulated.
 */
bool cluster_change_apply(struct overlay *overlay, struct entry *entry,
                          const struct cluster *fresh) MUST_USE;

/* Schedules a binding, and writes it with its dependencies if the result differs. */
void reschedule_binding(struct overlay *overlay, struct entry *entry);

/*
 * Deletes a Cluster as its user. The Cluster is in deletion until no binding has it as a target;
 * only then it is removed.
 */
void cluster_change_delete(struct overlay *overlay, struct entry *entry);

/* Returns a copy of a Cluster, owned by the overlay, that borrows from `c`. */
struct cluster *cluster_change_copy(struct overlay *overlay, const struct cluster *c) MUST_USE;
/* Replaces the Cluster by one of the overlay, and simulates the scheduler. */
void cluster_change_replace(struct overlay *overlay, struct entry *entry, struct cluster *fresh);

/*
 * Returns true if the cluster is a target of a binding that does not tolerate `taints`, or only for
 * some time. Like Karmada's taint manager, considers the placement of the last scheduling.
 */
bool cluster_change_evicts(struct overlay *overlay, const struct binding *b, const char *name,
                           const struct cluster *taints);

/* Returns true if two versions of a binding have the same targets and result of the scheduler. */
bool cluster_change_keeps_targets(const struct binding *a, const struct binding *b);
