/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"
#include "metrics/model/metadata.h"

/*
 * Work: the manifest of a template for one member cluster (cluster_of_execution_ns()), which
 * Karmada creates from the binding. Works that Karmada creates for Namespaces belong to no binding.
 * The status is not decoded: Karmada copies the useful part into the status of the binding.
 */
struct work {
    const char *binding_ns;   /* Interned; "" if cluster-scoped, NULL without binding. */
    const char *binding_name; /* Interned; NULL if the Work belongs to no binding. */
    /* Interned lists of at most 64 names for work_take_next_override(); NULL without binding. */
    const char *overrides;         /* Applied OverridePolicies. */
    const char *cluster_overrides; /* Applied ClusterOverridePolicies. */
    uint32_t binding_id;           /* Result of binding_id_decode(). */
    uint32_t template_generation;  /* Generation of the template in the manifest; 0: unknown. */
    /* Last write, or creation if later, in seconds since the epoch; 0 if unknown. */
    uint32_t written_s;
    bool deleting;  /* The Work is being deleted; the object may still run in the cluster. */
    bool suspended; /* spec.suspendDispatching: changes do not reach the cluster. */
};

/* Copies the next name of `*list` to `name` and advances `*list`. Returns false after the last. */
bool work_take_next_override(const char **list, char name[OBJECT_NAME_MAX + 1]);

/* Members that work_decode() reads, for the row in the table of kinds (struct kind_def). */
extern const struct json_filter work_fields;

/* Callbacks of the row in the table of kinds (struct kind_def). */
void *work_decode(struct decode *d, const cJSON *json);
void work_release(struct intern *strings, void *object);

/* Returns true if all members are equal. Both need the same string pool. */
bool work_equal(const struct work *a, const struct work *b);

/*
 * Returns the name of the member cluster in the execution namespace "karmada-es-<cluster>",
 * borrowed from `ns`; NULL for other namespaces (Karmada: names.GetClusterName).
 */
const char *cluster_of_execution_ns(const char *ns);

/* Returns the namespace of a Work's binding, borrowed; "" if cluster-scoped; NULL if no binding. */
const char *work_binding_ns(const cJSON *json);
