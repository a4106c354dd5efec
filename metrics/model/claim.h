/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/metadata.h"

/*
 * The policy that claims a template: what Karmada writes into the metadata of the template and
 * of its binding. All texts are shared.
 */
struct claim {
    const char *ns; /* "" for a ClusterPropagationPolicy. */
    const char *name;
    const char *id; /* The policy's permanent id, an opaque text. */
    bool cluster_scoped;
};

/*
 * The claim in `metadata`; NULL if there is none, or only a part of one. A PropagationPolicy's
 * counts before a ClusterPropagationPolicy's (Karmada: propagateResource). Names are read from
 * annotations, else from the labels of releases before 1.11; ids from the label permanent-id,
 * else from the label uid of 1.7. The caller frees it with claim_free().
 */
struct claim *claim_decode(struct decode *d, const cJSON *metadata);
/* Drop the texts of a claim within a larger allocation. Takes NULL, as claim_free() does. */
void claim_release(struct intern *strings, const struct claim *claim);
void claim_free(struct intern *strings, struct claim *claim);

/* True if `metadata` has the id of a claim, whatever else is there of it. */
bool has_claim_id(struct decode *d, const cJSON *metadata);

/* True if both name the same policy under the same id; two absent claims do too. */
bool claim_equal(const struct claim *a, const struct claim *b);

/* True if the key contains ".karmada.io": Karmada itself writes those (seed 001). */
bool is_karmada_key(const char *key);

/* The permanent id in a policy's metadata, shared: the caller drops it; NULL if none. */
const char *permanent_id_decode(struct decode *d, const cJSON *metadata, bool cluster_scoped);
