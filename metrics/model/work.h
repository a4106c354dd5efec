/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"
#include "metrics/model/metadata.h"

/*
 * Work: the object of a binding for one member cluster, which its namespace names
 * (cluster_of_execution_ns()). Works that Karmada creates for Namespaces belong to no binding. The
 * status is not decoded: Karmada copies the useful part into the status of the binding.
 */
struct work {
    const char *binding_ns;   /* Interned; "" for a ClusterResourceBinding. */
    const char *binding_name; /* Interned; NULL if the Work belongs to no binding. */
    /* Names of the applied override policies, for work_take_next_override(); "" if empty. Interned.
     */
    const char *overrides;
    const char *cluster_overrides;
    uint32_t binding_id;          /* Result of binding_id_decode(). */
    uint32_t template_generation; /* Generation of the manifest's template; 0 if unknown. */
    /*
     * Earliest possible time of the manifest, in seconds since the epoch; 0 if unknown: the last
     * write in managedFields, else the creation of the Work.
     */
    uint32_t written_s;
    bool deleting;  /* The Work is being deleted; its object may still run. */
    bool suspended; /* spec.suspendDispatching: changes do not reach the cluster. */
};

/* Copies the next policy name of `*list` and advances `*list`. Returns false after the last. */
bool work_take_next_override(const char **list, char name[OBJECT_NAME_MAX + 1]);

/* Callbacks of the row in the table of kinds (struct kind_def). */
void *work_decode(struct decode *d, const cJSON *json);
void work_release(struct intern *strings, void *object);

/* Returns true if all members of two Works are equal. */
bool work_equal(const struct work *a, const struct work *b);

/*
 * Returns the member cluster of an execution namespace "karmada-es-<cluster>", as a part of `ns`;
 * NULL for other namespaces (Karmada: names.GetClusterName).
 */
const char *cluster_of_execution_ns(const char *ns);

/* Returns the namespace of the binding of a Work; "" if cluster-scoped, NULL without binding. */
const char *work_binding_ns(const cJSON *json);
