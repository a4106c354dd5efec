/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * JSON in a canonical form: one text for all that means the same, so that defaults, empty lists
 * and the order of keys are never mistaken for drift.
 *
 * Keys are sorted. null, "", false, [], {} and the number 0 are left out, but for 0 seconds
 * (where absent means a default), values of matchLabels and elements of arrays. The defaults of
 * Karmada's CRDs and webhooks are filled in. Of a suspension only what policies own is written,
 * not `scheduling`.
 */
enum canonical_kind {
    CANONICAL_PLAIN, /* A structure without defaults. */
    CANONICAL_PLACEMENT,
    CANONICAL_FAILOVER,
    CANONICAL_SUSPENSION,
};

/*
 * The canonical text of `json`, shared: the caller drops it. NULL if nothing is left, or after
 * decode_fail() if it is longer than 4 MiB.
 */
const char *canonical_text(struct decode *d, const cJSON *json, enum canonical_kind kind);
