/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * Canonical JSON: structures with the same meaning have the same text, so defaults, empty lists and
 * the order of keys are not reported as drift.
 *
 * Keys are sorted. null, "", false, [], {} and the number 0 are omitted, except 0 seconds (an
 * absent value means a default), values of matchLabels, and elements of arrays. The defaults of
 * Karmada's CRDs and webhooks are added.
 */
enum canonical_kind {
    CANONICAL_PLAIN, /* A structure without defaults. */
    CANONICAL_PLACEMENT,
    CANONICAL_FAILOVER,
    CANONICAL_SUSPENSION, /* Only the members that policies own, without `scheduling`. */
};

/*
 * Returns the canonical JSON of `json`, interned; the caller drops it. Returns NULL if the text
 * would be empty. If it would exceed 4 MiB, calls decode_fail() and returns NULL.
 */
const char *canonical_text(struct decode *d, const cJSON *json, enum canonical_kind kind);
