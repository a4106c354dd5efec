/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/labels.h"

/*
 * Which policy an object says it was propagated by: the complete claim metadata
 * that Karmada writes on templates and on their bindings. All texts are shared.
 */
struct claim {
    const char *ns; /* "" for a ClusterPropagationPolicy. */
    const char *name;
    const char *id; /* The policy's permanent id, an opaque text. */
    bool cluster_scoped;
};

/*
 * The complete claim in `metadata`, NULL if there is none. A part of a claim is
 * no claim, and a PropagationPolicy's counts before a ClusterPropagationPolicy's
 * (Karmada: propagateResource). Names are read from annotations, else from the
 * labels of releases before 1.11; ids from permanent-id, else from the uid label
 * of 1.7. The caller frees it with claim_free.
 */
struct claim *claim_decode(struct decode *d, const cJSON *metadata);
/* Drops the texts only, where the claim is part of something larger. Takes NULL, as claim_free. */
void claim_release(struct intern *strings, const struct claim *claim);
void claim_free(struct intern *strings, struct claim *claim);

/* True if both name the same policy under the same id; two absent claims do too. */
bool claim_equal(const struct claim *a, const struct claim *b);

/* True if the text contains ".karmada.io": what Karmada itself writes (seed 001). */
bool is_karmada_key(const char *key);

/* The permanent id that a policy carries itself; NULL if none. Shared: the caller drops it. */
const char *permanent_id_decode(struct decode *d, const cJSON *metadata, bool cluster_scoped);
