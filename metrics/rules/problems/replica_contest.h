/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/autoscaler.h"
#include "metrics/rules/graph.h"
#include "metrics/rules/problems/problem_table.h"

/*
 * Workloads with two writers of spec.replicas (problem replicas_contested): Karmada, which
 * propagates the replicas of the template, and an autoscaler.
 *
 * A HorizontalPodAutoscaler scales the copies in member clusters, and Karmada resets them, unless
 * the template has RETAIN_REPLICAS_LABEL (Karmada: retainWorkloadReplicas). Karmada sets that label
 * only if the controller hpaScaleTargetMarker is enabled (until 1.9: hpaReplicasSyncer); both are
 * disabled by default. A FederatedHPA writes spec.replicas of the template, and each apply of a
 * manifest with spec.replicas resets it (Karmada: FHPAController).
 */

struct rule_context;

/* Index of the autoscalers by the workload that they scale. */
struct autoscalers;

/* Returns an empty index, which borrows `store`. `seed` is the seed of its hashes. */
struct autoscalers *autoscalers_new(struct store *store, uint64_t seed) MUST_USE;
/* Accepts NULL. */
void autoscalers_free(struct autoscalers *a);

/* Returns the autoscaler that a HorizontalPodAutoscaler or FederatedHPA is; NULL for others. */
const struct autoscaler *entry_autoscaler(const struct entry *entry);

/*
 * Updates the index after an entry was created, replaced or deleted. `old` is the
 * entry_autoscaler() of the previous object, or NULL. Marks the scaled workloads if the autoscaler
 * differs.
 */
void autoscalers_update(struct autoscalers *a, struct graph *graph, struct entry *entry,
                        const struct autoscaler *old);

/* Marks the template that the entry scales; does nothing unless the entry is an autoscaler. */
void autoscalers_mark_target(const struct autoscalers *a, struct graph *graph,
                             const struct entry *entry);

/* Returns true if an autoscaler may scale the template: replica_contest_reason() may hold. */
bool has_autoscaler(const struct autoscalers *a, const struct entry *template);

/*
 * Returns the reason of replicas_contested for a template; PROBLEM_REASON_COUNT without one. Stores
 * in `since_ms` the time that the autoscaler and the template prove, or 0. All decisions must be up
 * to date.
 */
enum problem_reason replica_contest_reason(const struct rule_context *c,
                                           const struct entry *template, int64_t *since_ms);

/* Calls `each` for the autoscalers that make the problem of this reason hold for a template. */
void replica_contest_each_autoscaler(const struct rule_context *c, const struct entry *template,
                                     enum problem_reason reason,
                                     void (*each)(void *context, const struct entry *autoscaler),
                                     void *context);

/*
 * Calls `each` for the known member clusters in which the autoscalers of the reason scale the
 * template; a cluster may repeat.
 */
void replica_contest_each_cluster(const struct rule_context *c, const struct entry *template,
                                  enum problem_reason reason,
                                  void (*each)(void *context, const char *cluster), void *context);
