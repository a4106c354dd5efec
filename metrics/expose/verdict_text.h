/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/simulate/template_verdicts.h"

/* Verdicts by cluster (product contract 3.13) as text for people and as JSON. */

/* Returns the identifier of a verdict; "allowed" for CLUSTER_VERDICT_COUNT. */
const char *verdict_word(enum cluster_verdict_kind kind);

/*
 * Appends the reason of a verdict, such as "gpu=true:NoSchedule is not tolerated". Appends the
 * replicas of a target, the verdict of the next scheduling and those of other affinity groups.
 */
void verdict_add_reason(const struct cluster_verdict *v, struct strbuf *out);

/* Appends the members of a verdict to a JSON object. */
void verdict_put_members(struct json_writer *w, const struct cluster_verdict *v);

/* Returns true if the workload is, or is about to be, in the cluster. */
bool verdict_is_placed(const struct cluster_verdict *v);

/* Returns true if the placement allows the cluster in some affinity group. */
bool verdict_is_allowed(const struct cluster_verdict *v);

/*
 * Appends the number of clusters that have the workload and, by verdict, of those that do not, such
 * as "Placed in 1 of 4 member clusters; affinity 2, taint 1.".
 */
void verdicts_add_summary(const struct cluster_verdicts *v, struct strbuf *out);
