/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/list_table.h"

/*
 * Lists of member clusters and of namespaces (list_table.h): sums over the decisions about all
 * templates.
 */

/*
 * Member clusters by name: those that exist, and those that templates are placed on or move to.
 * Numbers equal those of the families karmada_placement_drift_* and karmada_member_cluster_*.
 */
extern const struct list cluster_list;

/* Namespaces with templates, policies or problems, by name. */
extern const struct list namespace_list;
