/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/cluster.h"
#include "metrics/model/placement.h"

/* Which member clusters a placement may use (Karmada: ClusterMatches, TaintToleration). */

/* True if the affinity allows this cluster: all that is set in it must hold. */
bool affinity_matches(const struct cluster_affinity *affinity, const char *name,
                      const struct cluster *cluster);

/*
 * True if the affinity allows a cluster as far as its name says: all that is known of a cluster
 * whose object is not in the source.
 */
bool affinity_allows_name(const struct cluster_affinity *affinity, const char *name);

/*
 * True if the scheduler may put something new on the cluster: the placement tolerates its
 * taints, and it is not being removed.
 */
bool placement_tolerates(const struct placement *placement, const struct cluster *cluster);
