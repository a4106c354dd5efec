/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/metadata.h"

/*
 * Claim: the policy to which Karmada has bound a template, as written into the metadata of the
 * template and of its binding. By the rules, another policy may govern the template now.
 */

/* The policy that claims a template or binding. All texts are interned. */
struct claim {
    const char *ns; /* Namespace of the policy; "" for a ClusterPropagationPolicy. */
    const char *name;
    const char *id; /* Permanent id of the policy, an opaque text. */
    bool cluster_scoped;
};

/*
 * Returns the claim in `metadata`; NULL without a complete claim: name, id and, of a
 * PropagationPolicy, namespace. The claim of a PropagationPolicy has precedence over that of a
 * ClusterPropagationPolicy (Karmada: propagateResource). Names and namespaces come from
 * annotations, else labels (Karmada < 1.11); ids from the label permanent-id, else from the label
 * uid (Karmada 1.7). The claim is an interned block, which the caller drops by claim_release().
 */
const struct claim *claim_decode(struct decode *d, const cJSON *metadata);
/* Drops the result of claim_decode(), which may be NULL. */
void claim_release(struct intern *strings, const struct claim *claim);

/* Returns true if `metadata` has the id of a claim, even without the name of the policy. */
bool has_claim_id(struct decode *d, const cJSON *metadata);

/*
 * Returns true if both claims have the same policy and id, or both are NULL. Both need the same
 * string pool.
 */
bool claim_equal(const struct claim *a, const struct claim *b);

/* Returns true if the key of a label or annotation contains ".karmada.io". */
bool is_karmada_key(const char *key);

/*
 * Returns the label permanent-id of a policy, else the label uid (Karmada 1.7), interned; the
 * caller drops it. NULL if both are absent. `cluster_scoped`: it is a ClusterPropagationPolicy.
 */
const char *permanent_id_decode(struct decode *d, const cJSON *metadata, bool cluster_scoped);

/* Returns the key of the label permanent-id of policies. */
const char *permanent_id_key(bool cluster_scoped);
