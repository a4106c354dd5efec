/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/text/text_table.h"
#include "metrics/simulate/plan.h"

/* Text of a plan about member clusters: their sums, and the loss of clusters. */

/*
 * Calls plan_lose() for the member cluster of this name. Returns false and sets `err` if there is
 * no such Cluster, or if it is lost already.
 */
bool plan_lose_typed(struct plan *p, const struct store *store, const char *name,
                     struct error *err) MUST_USE;

/* Appends text such as "Replicas: member1 -2, member2 +2.", and clusters without free capacity. */
void plan_print_replica_changes(const struct plan_result *r, struct output *o);

/* Appends a table with the sums of each member cluster; nothing without sums. */
void plan_print_clusters(const struct plan_result *r, struct output *o);

/*
 * Returns what becomes of the copies of a template in lost clusters, as a part of a sentence about
 * its change; NULL if the clusters before and after the loss tell it. Static.
 */
const char *plan_loss_sentence(const struct plan_template *t);

/*
 * Appends paragraphs about the lost clusters: the number of templates by their fate, and the
 * reasons why templates stay there. Appends nothing if no cluster is lost.
 */
void plan_print_losses(const struct plan_result *r, struct output *o);
