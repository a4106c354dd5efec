/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/engine.h"
#include "metrics/rules/scheduling/verdicts.h"

/*
 * Verdicts by cluster about templates and policies. A template with a placed binding is judged by
 * the placement of the binding, because the scheduler reads that; a template without one by the
 * placement of the policy that governs it; a template that others require by the verdicts of these.
 */

/* Verdicts about all member clusters, sorted by name. */
struct cluster_verdicts {
    struct cluster_verdict *items; /* Owned. */
    size_t count;
    char *group;            /* Affinity group in use; NULL without named groups. Owned. */
    bool has_placement;     /* False: no policy governs the template, and nothing requires it. */
    bool clusters_unknown;  /* No Cluster has been read, or not all of them. */
    bool placement_invalid; /* Karmada cannot read the placement. */
};
void cluster_verdicts_release(struct cluster_verdicts *v);

/* Judges all member clusters for a decided template. Release the result. */
struct cluster_verdicts template_verdicts(const struct engine *e, const struct entry *template);

/*
 * Judges one member cluster for a decided template, without texts. Returns false if there is no
 * verdict. Release `out` with cluster_verdict_release().
 */
bool template_verdict_of_cluster(const struct engine *e, const struct entry *template,
                                 const struct entry *cluster, bool texts,
                                 struct cluster_verdict *out);

/*
 * Judges all member clusters for the placement of a policy. Only the filters that need no template
 * apply; clusters that pass have the verdict CLUSTER_VERDICT_COUNT.
 */
struct cluster_verdicts policy_verdicts(const struct engine *e, const struct entry *policy);

/* Templates that are not placed in a member cluster, sorted by entry_compare(). */
struct template_rejections {
    const struct entry **templates;   /* Owned. */
    enum cluster_verdict_kind *kinds; /* Owned; verdict of each template. */
    size_t count;
    size_t counts[CLUSTER_VERDICT_COUNT]; /* Templates by verdict. */
};
void template_rejections_release(struct template_rejections *r);

/* Judges a Cluster for all templates that have a verdict. Release the result. */
struct template_rejections template_rejections_of(const struct engine *e,
                                                  const struct entry *cluster);

/* Returns true if the scheduler has not placed the present binding of a decided template. */
bool template_is_unscheduled(const struct template_decision *d);

/*
 * Counts the member clusters that each filter excludes for an unscheduled template
 * (scheduling_count_filters()), without FILTER_WORKLOAD_AFFINITY. Returns false, and counts
 * nothing, if its placement or the Clusters are unknown.
 */
bool template_count_filters(const struct engine *e, const struct entry *template,
                            size_t counts[FILTER_COUNT + 1]);
