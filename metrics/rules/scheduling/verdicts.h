/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"
#include "metrics/rules/scheduling/scheduling.h"

/*
 * Verdicts by cluster (product contract 3.13): why the scheduler does not place a workload in a
 * member cluster. The first filter that excludes the cluster, else the result of the selection.
 */

/*
 * Verdicts beside those of the filters. A row has an enumerator and the identifier in JSON and
 * labels.
 */
#define SELECTION_VERDICTS(ROW)                                                                    \
    ROW(SPREAD_CONSTRAINT, "spread_constraint")                                                    \
    ROW(WEIGHT_ZERO, "weight_zero")                                                                \
    ROW(REPLICAS_EXHAUSTED, "replicas_exhausted")                                                  \
    ROW(UNDETERMINED, "undetermined")                                                              \
    ROW(TARGET, "target")                                                                          \
    ROW(REQUIRED, "required")

/*
 * The first enumerators equal those of enum cluster_filter. CLUSTER_VERDICT_COUNT stands for no
 * verdict: the cluster passes the filters, and the selection is not known.
 */
#define CLUSTER_VERDICT_ENUMERATOR(id, name) CLUSTER_VERDICT_##id,
enum cluster_verdict_kind {
    CLUSTER_FILTERS(CLUSTER_VERDICT_ENUMERATOR) SELECTION_VERDICTS(CLUSTER_VERDICT_ENUMERATOR)
        CLUSTER_VERDICT_COUNT
};
extern const char *const cluster_verdict_names[CLUSTER_VERDICT_COUNT];

/* The field that decides, and its value; texts are owned. */
struct verdict_reason {
    enum cluster_verdict_kind kind;
    char *field;  /* Field of the placement, binding or Cluster; NULL without one. */
    char *value;  /* Required or deciding value; NULL without one. */
    char *actual; /* The cluster's value that does not match `value`; NULL without one. */
};

/* Verdict in an affinity group that is not in use. */
struct group_verdict {
    char *group;                    /* Name. Owned. */
    enum cluster_verdict_kind kind; /* Of the filters; CLUSTER_VERDICT_COUNT: all pass. */
};

/* Verdict about one member cluster. */
struct cluster_verdict {
    const struct entry *cluster;
    struct verdict_reason reason; /* If `next` is set and the cluster is a target: of `next`. */
    enum cluster_verdict_kind kind;
    /*
     * Verdict of the next scheduling if that differs: of a target that it would remove, and
     * CLUSTER_VERDICT_TARGET of a cluster that it would add. Else CLUSTER_VERDICT_COUNT.
     */
    enum cluster_verdict_kind next;
    bool predicted;               /* The cluster is about to become a target. */
    int32_t replicas;             /* Of a target. */
    struct group_verdict *others; /* Owned; empty with fewer than two affinity groups. */
    uint32_t other_count;
    /* Template that requires this one, or whose verdict this is; NULL without one. */
    const struct entry *referrer;
};
/* Frees the texts and resets the verdict. */
void cluster_verdict_release(struct cluster_verdict *v);

/* Reasons why the scheduler's result is not known, beside enum undetermined_reason. */
enum verdict_limit {
    VERDICT_LIMIT_NONE,
    VERDICT_LIMIT_POLICY,          /* Without a template, there is no selection. */
    VERDICT_LIMIT_OTHER_SCHEDULER, /* Only filters of Karmada's scheduler are known. */
    VERDICT_LIMIT_SUSPENDED,       /* Scheduling is suspended. */
    VERDICT_LIMIT_REPLICAS,        /* The replicas of the template are unknown. */
};

/* One binding, present or expected, with the result of its scheduling. */
struct verdict_base {
    struct scheduling s; /* Borrowed pointers. */
    struct release_range range;
    uint32_t group; /* Affinity group in use, else the one with which the scheduler starts. */
    enum verdict_limit limit;
    bool settled;                    /* The scheduler does not process the binding now. */
    struct schedule_result result;   /* As if the scheduler processed the binding. */
    struct group_selection selected; /* In `group`, for the newest release. */
};

/*
 * Schedules the binding of `s` for verdict_make(). `bound`: the binding exists, else a policy would
 * create it. The placement must be readable. Release `out` with verdict_base_release().
 */
void verdict_base_make(const struct scheduling *s, bool bound, enum verdict_limit limit,
                       struct verdict_base *out);
void verdict_base_release(struct verdict_base *base);

/*
 * Sets the verdict about a Cluster. `texts`: also the texts and the other groups. Release `out`
 * with cluster_verdict_release().
 */
void verdict_make(const struct verdict_base *base, const struct entry *cluster, bool texts,
                  struct cluster_verdict *out);
