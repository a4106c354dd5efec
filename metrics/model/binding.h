/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/policy.h"

/* Another binding that needs this one (an entry of spec.requiredBy). Shared texts, "" if unset. */
struct referrer {
    const char *ns;
    const char *name;
};

/* A member cluster and the replicas it was given (an entry of spec.clusters). */
struct target_cluster {
    const char *name;
    int32_t replicas;
};

/* One resource a replica asks for, in the resource's base unit (cores, bytes, ...). */
struct resource_request {
    const char *resource;
    double amount;
};

/* A member cluster that says ManagementConflict of the resource (Config Connector). Shared. */
struct member_conflict {
    const char *cluster; /* NULL ends a list. */
    const char *holder;  /* The id of who holds the lease; "" if not told. */
};

/* A ResourceBinding or a ClusterResourceBinding. */
struct binding {
    const char *api_version; /* spec.resource: the template. "" where not told. */
    const char *kind;
    const char *ns;
    const char *name; /* In the binding's own block. */
    struct claim *claim;
    const char *managed_by; /* binding.karmada.io/managed-by */
    struct propagation propagation;
    const char *applied_placement; /* What the scheduler last worked with, canonical. */
    struct referrer *referrers;
    struct target_cluster *clusters;
    struct resource_request *requests;
    struct member_conflict *member_conflicts; /* NULL: none. */
    uint32_t referrer_count;
    uint32_t cluster_count;
    uint32_t request_count;
    uint32_t component_count; /* Several pod templates: spec.components. */
    int32_t replicas;
    uint32_t uid_hash; /* Of spec.resource.uid: all that anybody asks of it. */
    int64_t created_ms;
    int64_t changed_ms; /* Last change of the spec; 0 if unknown. */
    bool has_placement; /* Present, be it empty: made by a policy, not attached. */
    bool has_conflict_resolution;
    bool deleting;
};

void *binding_decode(struct decode *d, const cJSON *json);
void binding_release(struct intern *strings, void *object);

/* FNV-1a with 32 bits: its last bit decides ties when replicas are divided (Karmada >= 1.16). */
uint32_t uid_hash(const char *uid);

/*
 * The name that Karmada gives the binding of a template: "<name>-<kind>" in
 * lower case with ':' as '.' (Karmada: names.GenerateBindingName). Written into
 * `out`, which is reset first.
 */
enum { BINDING_NAME_MAX = 1024 }; /* Names are at most 253 bytes, kinds 63. */
void binding_name(const char *kind, const char *name, struct strbuf *out);
