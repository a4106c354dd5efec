/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/control_plane.h"
#include "metrics/rules/scheduling/replica_assignment.h"

/*
 * Rules of Karmada's scheduler by release (Karmada: pkg/scheduler): when it processes a binding,
 * which clusters pass its filters, and which of them get replicas.
 */

/* ---- filters ---- */

/*
 * Filters of the scheduler. A row has an enumerator and the identifier of the verdict (product
 * contract 3.13).
 */
#define CLUSTER_FILTERS(ROW)                                                                       \
    ROW(CLUSTER_DELETING, "cluster_deleting")                                                      \
    ROW(AFFINITY, "affinity")                                                                      \
    ROW(API_NOT_SERVED, "api_not_served")                                                          \
    ROW(TAINT, "taint")                                                                            \
    ROW(EVICTING, "evicting")                                                                      \
    ROW(SPREAD_PROPERTY, "spread_property")                                                        \
    ROW(WORKLOAD_AFFINITY, "workload_affinity")

#define CLUSTER_FILTER_ENUMERATOR(id, name) FILTER_##id,
/* FILTER_COUNT stands for no filter: the cluster passes all of them. */
enum cluster_filter { CLUSTER_FILTERS(CLUSTER_FILTER_ENUMERATOR) FILTER_COUNT };
extern const char *const cluster_filter_names[FILTER_COUNT];

/*
 * Bindings of other workloads in the workload affinity group, and in the anti-affinity group, of a
 * binding. Arrays of borrowed bindings.
 */
struct workload_neighbours {
    const struct binding **together;
    const struct binding **apart;
    size_t together_count;
    size_t apart_count;
};

/* Input of the scheduler for one binding. */
struct scheduling {
    struct placements *placements;
    /* Input of the scheduler: `clusters` are the targets of the last scheduling. */
    const struct binding *binding;
    const struct resolved_placement *resolved; /* The placement in the binding. */
    const struct placement *applied;           /* That of the last scheduling; NULL without one. */
    gate_set gates;
    bool keeps_empty; /* The scheduler runs with --enable-empty-workload-propagation. */
    /* The template is unknown: only the filters that need no template exclude clusters. */
    bool lacks_template;
    /* For the filter by workloadAffinity; NULL: it cannot be computed. */
    const struct workload_neighbours *neighbours;
};

/*
 * Returns the first filter that excludes a Cluster from an affinity group, in the order of enum
 * cluster_filter; FILTER_COUNT if the cluster passes. Without `neighbours`,
 * FILTER_WORKLOAD_AFFINITY stands for a filter that cannot be computed.
 */
enum cluster_filter scheduling_filter(const struct scheduling *s, enum release release,
                                      uint32_t group, const struct entry *cluster);

/*
 * Returns true if a Cluster passes the filters of the affinity group with which the scheduler
 * starts, or of a later one. Unknown filters count as passed.
 */
bool scheduling_passes(const struct scheduling *s, enum release release,
                       const struct entry *cluster);

/*
 * Returns the index of the affinity group with which the scheduler starts: that of the last
 * scheduling, if the placement still has a group of this name, else 0.
 */
uint32_t scheduling_first_group(const struct scheduling *s, enum release release);

/*
 * Counts the Clusters that each filter excludes from the affinity group with which the scheduler
 * starts; counts[FILTER_COUNT] are the clusters that pass. Returns the number of all Clusters.
 */
size_t scheduling_count_filters(const struct scheduling *s, enum release release,
                                size_t counts[FILTER_COUNT + 1]);

/* Returns true if scheduling_passes() for some Cluster, in some release that Karmada may have. */
bool scheduling_fits_any(const struct scheduling *s);

/* ---- selection ---- */

/* Clusters of one affinity group after the filters and the spread constraints. */
struct group_selection {
    struct cluster_set selected; /* Sorted by name. Owned array; empty if `failed` or unknown. */
    bool failed;                 /* The clusters do not meet the spread constraints. */
    bool known;
    enum undetermined_reason reason; /* Valid if not known. */
};

/* Selects clusters in an affinity group. Free the result with group_selection_release(). */
void scheduling_select(const struct scheduling *s, enum release release, uint32_t group,
                       struct group_selection *out);
void group_selection_release(struct group_selection *selection);

/* ---- results ---- */

/* Result of the scheduler for one binding. */
struct schedule_result {
    bool runs; /* The scheduler processes the binding; if false, the other members are zero. */
    /*
     * The targets afterwards, if `scheduled` is SCHEDULED_TRUE or SCHEDULED_NO_CLUSTER_FIT. With
     * SCHEDULED_ERROR, the targets and the applied placement stay, and `targets` is empty.
     */
    struct projection targets;
    enum scheduled scheduled; /* Condition Scheduled; valid if the targets are determined. */
    uint32_t group;           /* Affinity group in use; valid with SCHEDULED_TRUE. */
};
/* Frees the targets and resets the result. */
void schedule_result_release(struct intern *strings, struct schedule_result *r);

/*
 * Computes what the scheduler of a release makes of a binding: nothing, new targets, or an
 * undetermined result. Release `out` with schedule_result_release().
 */
void scheduling_run(const struct scheduling *s, enum release release, struct schedule_result *out);

/* Returns true if the scheduler processes the binding in some release that Karmada may have. */
bool scheduling_is_triggered(const struct scheduling *s);

/* As scheduling_run(), but the scheduler processes the binding in any case. */
void scheduling_place(const struct scheduling *s, enum release release,
                      struct schedule_result *out);

/* Returns true if both results lead to the same targets, and fail or succeed alike. */
bool schedule_results_equal(const struct scheduling *s, const struct schedule_result *a,
                            const struct schedule_result *b);

/*
 * Computes scheduling_run(), or scheduling_place() if `runs`, for all releases that Karmada may
 * have (placements_release()). If the results differ, the reason is UNDETERMINED_RELEASE; texts get
 * the results of single releases from scheduling_run().
 */
void scheduling_run_in_range(const struct scheduling *s, bool runs, struct schedule_result *out);

/*
 * Assigns replicas to clusters that are not known as objects, for all releases that Karmada may
 * have. Considers no filter; spread constraints make the result undetermined.
 */
void scheduling_assign_in_range(const struct scheduling *s, const struct cluster_set *selected,
                                struct projection *out);
