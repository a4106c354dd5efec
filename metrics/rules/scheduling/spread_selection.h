/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/rules/control_plane.h"
#include "metrics/rules/placement_match.h"

/* Selection of clusters by spread constraints (Karmada: SelectBestClusters). */

enum spread_result {
    SPREAD_SELECTED,
    SPREAD_FAILED, /* The scheduler reports an error: too few clusters, or a field not supported. */
    SPREAD_UNKNOWN, /* The free capacity of clusters decides. */
};

struct spread_input {
    const struct placement *placement;
    const struct binding *binding; /* `clusters` are the present targets. */
    enum release release;
    gate_set gates;
    bool overflows; /* overflowAffinities allow some of the clusters. */
};

/*
 * Selects among the clusters that pass the filters, in place; `set` owns its array and not its
 * names. Keeps all clusters without spread constraints, and with static weights, for which Karmada
 * ignores the constraints. The selected clusters are sorted by name.
 */
enum spread_result spread_select(const struct spread_input *input, struct cluster_set *set);

/* Sorts the members of a set by name, in byte order. */
void cluster_set_sort(struct cluster_set *set);
