/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/decision.h"
#include "metrics/rules/delivery.h"

/*
 * What will hurt people who go by what they see now; bits by this order. A row is its enumerator,
 * its word for programs and a sentence for people. A new one is a row here, and a line in risk.c.
 */
#define RISKS(ROW)                                                                                 \
    ROW(LAST_COPY, "last_copy",                                                                    \
        "its only copy is deleted when its eviction times out, and no other cluster takes it")     \
    ROW(READY_EVICTED, "ready_cluster_evicted",                                                    \
        "the cluster that it is moved off is ready, and loses its copy all the same")              \
    ROW(EMPTIED, "placement_emptied",                                                              \
        "it was placed, no cluster fits any more, and so its copies are deleted")                  \
    ROW(FROZEN, "frozen_by_priority_class",                                                        \
        "its binding takes no change, of its policy or its own, before the PriorityClass that "    \
        "its policy names exists")                                                                 \
    ROW(OVERRIDE_FAILED, "override_failed",                                                        \
        "an override policy fails for a member cluster, so that no change reaches it")             \
    /* Karmada: its annotations applied-overrides and applied-cluster-overrides are only added to. \
     */                                                                                            \
    ROW(OVERRIDE_LISTED, "override_still_listed",                                                  \
        "a Work lists an override policy as applied that does not exist any more")                 \
    ROW(MAY_TRAVEL, "change_may_travel",                                                           \
        "it was changed after its policy went, and a restart of Karmada's controllers, or a move " \
        "of a cluster, delivers that")

#define RISK_ENUMERATOR(id, word, text) RISK_##id,
enum risk { RISKS(RISK_ENUMERATOR) RISK_COUNT };
extern const char *const risk_names[RISK_COUNT];
/* One sentence for people, without its ends. */
extern const char *const risk_texts[RISK_COUNT];

/*
 * The risks of a template whose stage is decided. `delivery` is NULL without a binding that a
 * policy made or others require. Pure.
 */
unsigned risks_of(const struct template_decision *d, const struct delivery_facts *delivery);

/* The risks of a template; 0 for any other entry. */
unsigned entry_risks(const struct entry *e);
