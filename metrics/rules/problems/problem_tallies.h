/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"
#include "metrics/model/store.h"
#include "metrics/rules/decision.h"

/*
 * Sums over the decisions of all templates, by policy and by member cluster, and the observed
 * readiness of member clusters. Conditions of problems read them. The engine updates the sums with
 * each decision, so that no problem needs a visit of all templates.
 *
 * Invariant, checked by tests: the sums equal those of a fresh engine over the same objects.
 */

struct problems;
struct cluster_tally;

struct problem_tallies {
    struct store *store;             /* Borrowed. */
    struct map policies;             /* Policies with a count above 0. */
    struct map clusters;             /* Member clusters with a sum, by name. */
    struct cluster_tally **numbered; /* Clusters by number; NULL for a free number. */
    uint32_t number_count;           /* Length of `numbered`. */
    struct map readiness;            /* Existing Clusters with an observed change of Ready. */
    bool undated;                    /* A change of readiness has no time yet. */
};

void problem_tallies_init(struct problem_tallies *t, struct store *store);
void problem_tallies_release(struct problem_tallies *t);

/*
 * Replaces the decision `old` about a template by `fresh` in all sums; either may be NULL. Adds the
 * policies, bindings and Clusters with conditions that may have changed to the queue of `problems`;
 * NULL in a simulation, which restores the sums at its end.
 */
void problem_tallies_update(struct problem_tallies *t, struct problems *problems,
                            struct template_decision *old, struct template_decision *fresh);

/* Queues all member clusters with a sum: whether Clusters are known has changed. */
void problem_tallies_queue_clusters(const struct problem_tallies *t, struct problems *problems);

/* ---- policies ---- */

/* Numbers of templates, without ignored ones. */
struct policy_sums {
    uint32_t selected;  /* The policy selects the template and does not exclude it. */
    uint32_t ties;      /* The policy wins against another one by name only. */
    uint32_t outranked; /* decision_is_outranked() */
};

/* Returns true if the template keeps its policy by its claim, and another wins a fresh match. */
static inline bool decision_is_outranked(const struct template_decision *d)
{
    return decision_governing(d) && decision_governing(d) == decision_claimed(d) &&
           decision_winner(d) && decision_winner(d) != decision_governing(d);
}

/*
 * Returns true if problems of the template show that the policy of its claim is missing; `d` may be
 * NULL. The template's binding with the same claim does not repeat the problem.
 */
static inline bool decision_reports_missing_claim(const struct template_decision *d)
{
    return d && ((d->defects & 1U << DEFECT_DANGLING_CLAIM) ||
                 (d->state == STATE_STALE && d->reason == STALE_POLICY_GONE));
}

struct policy_sums problem_tallies_policy(const struct problem_tallies *t,
                                          const struct entry *policy);

/* ---- member clusters ---- */

enum {
    REFUSED_MIN = 10, /* Fewer refused targets are no problem of the member cluster. */
    /* Targets on more clusters than this are not counted: a number has only 16 bits. */
    TALLY_CLUSTER_MAX = UINT16_MAX,
};

/* Numbers of targets of all templates on one member cluster. */
struct cluster_sums {
    uint32_t targets;
    uint32_t refused; /* STAGE_UNAPPLIED, WHY_REFUSED. */
};

struct cluster_sums problem_tallies_cluster(const struct problem_tallies *t,
                                            const struct entry *cluster);

/* Returns true for at least REFUSED_MIN, and more than half of the targets. */
static inline bool cluster_refuses(struct cluster_sums counts)
{
    return counts.refused >= REFUSED_MIN && 2 * (uint64_t)counts.refused > counts.targets;
}

/* Requests of all templates that move to or from a cluster, of one resource ("pods" included). */
struct movement_total {
    const char *resource; /* Borrowed until the next update. */
    double arriving;      /* In base units (cores, bytes). */
    double leaving;
};

/* Stores the next resource of a cluster, in no order; *at is 0 at first. False at the end. */
bool problem_tallies_next_movement(const struct problem_tallies *t, const struct entry *cluster,
                                   uint32_t *at, struct movement_total *out);

/* ---- observed readiness of member clusters ---- */

enum {
    FLAPS = 7, /* Changes of Ready within FLAP_WINDOW_MS that make a cluster flap. */
    FLAP_WINDOW_MS = 60 * 60 * 1000,
};

/* Notes that the readiness of an existing Cluster was seen to change. */
void problem_tallies_note_readiness(struct problem_tallies *t, struct entry *cluster);
/* Discards the changes of a Cluster that was deleted. */
void problem_tallies_forget_readiness(struct problem_tallies *t, const struct entry *cluster);
/* Dates the changes since the last call. */
void problem_tallies_date_readiness(struct problem_tallies *t, int64_t now_ms);

/* Returns the time at which the cluster stops flapping without a further change; 0: not known. */
int64_t problem_tallies_flaps_until_ms(const struct problem_tallies *t,
                                       const struct entry *cluster);
