/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"
#include "metrics/model/metadata.h"

/*
 * A Work: a binding's object for one member cluster, which is that of its namespace
 * (execution_cluster). What Karmada makes for a Namespace itself belongs to no binding. Its status
 * is not read: what is of use there Karmada copies into the binding's.
 */
struct work {
    const char *binding_ns;   /* Shared; "" for a ClusterResourceBinding. */
    const char *binding_name; /* Shared; NULL: it belongs to no binding. */
    /*
     * The names of the override policies that it lists as applied, in its binding's namespace and
     * in none; "" without any. Shared. See work_next_override().
     */
    const char *overrides;
    const char *cluster_overrides;
    uint32_t binding_id;          /* binding_id_decode() */
    uint32_t template_generation; /* That its manifest was built from; 0 if unknown. */
    /*
     * Its manifest was not built before this, in seconds since the epoch; 0 if unknown. That is
     * the last write of it in managedFields, or its creation where these are not known.
     */
    uint32_t written_s;
    bool deleting;  /* Its object may still run there: the Work goes after that. */
    bool suspended; /* spec.suspendDispatching: what changes does not reach the cluster. */
};

enum { WORK_OVERRIDES_MAX = 64 };

/* Copy the next name of a list of override policies, and move on; false after the last one. */
bool work_next_override(const char **list, char name[OBJECT_NAME_MAX + 1]);

/* As struct kind_def wants them. */
void *work_decode(struct decode *d, const cJSON *json);
void work_release(struct intern *strings, void *object);

/* True if the two say the same of the same binding. */
bool work_equal(const struct work *a, const struct work *b);

/*
 * The member cluster of an execution namespace, "karmada-es-<cluster>", within that text; NULL if
 * it is none (Karmada: names.GetClusterName). Cluster names are short enough to stand there whole.
 */
const char *execution_cluster(const char *ns);

/* The namespace of the binding that a Work belongs to, "" if it has none; NULL: it belongs to none.
 */
const char *work_binding_ns(const cJSON *json);
