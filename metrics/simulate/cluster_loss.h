/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/simulate/overlay.h"

/*
 * Loss of member clusters: Karmada's reaction to clusters that stop responding (Karmada:
 * pkg/controllers/cluster, taintClusterByCondition, processTaintBaseEviction,
 * NoExecuteTaintManager; pkg/controllers/taint; pkg/controllers/gracefuleviction). Timeouts,
 * tolerationSeconds and graceful eviction tasks count as over.
 */

/*
 * Reasons why a template keeps a lost cluster as a target. A row has an enumerator, the name in
 * JSON, and a sentence for people. The first row that holds applies.
 */
#define LOSS_REASONS(ROW)                                                                          \
    ROW(REQUIRED, "required",                                                                      \
        "Karmada evicts no dependency by itself: it follows the templates that refer to it.")      \
    ROW(FAILOVER_OFF, "failover_off",                                                              \
        "The feature gate Failover is off, its default: Karmada evicts no template from a lost "   \
        "cluster. If Failover is on, set --karmada.feature-gates Failover=true.")                  \
    ROW(NO_TAINT, "no_taint",                                                                      \
        "The lost cluster gets no NoExecute taint: since Karmada 1.14, only a ClusterTaintPolicy " \
        "or a person adds one.")                                                                   \
    ROW(TOLERATED, "tolerated",                                                                    \
        "The placement tolerates the NoExecute taints of the lost cluster without a limit in "     \
        "time.")                                                                                   \
    ROW(SCHEDULED_AGAIN, "scheduled_again",                                                        \
        "The placement tolerates the taints of the lost cluster for some time: after each "        \
        "eviction the scheduler selects the cluster again.")

#define LOSS_REASON_ENUMERATOR(id, name, text) LOSS_REASON_##id,
enum loss_reason { LOSS_REASONS(LOSS_REASON_ENUMERATOR) LOSS_REASON_COUNT };
extern const char *const loss_reason_names[LOSS_REASON_COUNT];
extern const char *const loss_reason_texts[LOSS_REASON_COUNT];

/*
 * What becomes of a template with copies in a lost cluster. A row has an enumerator and the name in
 * JSON.
 */
#define LOSS_FATES(ROW)                                                                            \
    /* Karmada evicts the template, and other clusters get its replicas or a copy. */              \
    ROW(MOVES, "moves")                                                                            \
    /* Karmada evicts the template. Copies in other clusters stay, and no cluster gets more. */    \
    ROW(LEAVES, "leaves")                                                                          \
    /* Karmada evicts the template, and no cluster is left for it. */                              \
    ROW(NOWHERE, "nowhere")                                                                        \
    /* The lost cluster stays a target. */                                                         \
    ROW(STAYS, "stays")                                                                            \
    /* The clusters cannot be computed (struct outcome). */                                        \
    ROW(UNDETERMINED, "undetermined")

#define LOSS_FATE_ENUMERATOR(id, name) LOSS_##id,
enum loss_fate { LOSS_FATES(LOSS_FATE_ENUMERATOR) LOSS_FATE_COUNT };
extern const char *const loss_fate_names[LOSS_FATE_COUNT];

/* Copies of a template in lost clusters at the time of the loss, and their fate. */
struct lost_copies {
    uint32_t clusters; /* Lost clusters with copies; 0 if the template has none there. */
    int64_t replicas;  /* In these clusters. */
    bool last_copy;    /* No other cluster that is Ready has a copy. */
    enum loss_fate fate;
    enum loss_reason reason; /* Only with LOSS_STAYS. */
};

/* Returns true if a cluster has the name of a lost one. */
bool cluster_is_lost(const struct entry_list *lost, const char *name);

/* Returns the copies of a template in lost clusters, before the loss; without their fate. */
struct lost_copies cluster_loss_count(struct overlay *overlay, const struct entry_list *lost,
                                      const struct outcome *o);

/*
 * Simulates the loss of existing Clusters at the same time. If the releases that Karmada may have
 * react in different ways, the targets of the concerned bindings become undetermined.
 */
void cluster_loss_apply(struct overlay *overlay, const struct entry_list *lost);

/* Sets fate and reason from the outcomes of the template before and after the loss. */
void cluster_loss_judge(struct overlay *overlay, const struct entry_list *lost,
                        const struct outcome *before, const struct outcome *after,
                        struct lost_copies *copies);
