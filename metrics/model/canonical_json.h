/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * Canonical JSON: structures with the same meaning have the same text, so defaults, empty lists and
 * the order of keys are not reported as drift.
 *
 * Keys are sorted. Members with the value null, "", false, 0, [] or {}, and objects with only such
 * members, are omitted. Exceptions: elements of arrays, members of matchLabels, and the number 0 in
 * tolerationSeconds and gracePeriodSeconds. The defaults of Karmada's CRDs and webhooks are added.
 */
enum canonical_kind {
    CANONICAL_PLAIN, /* A structure without defaults. */
    CANONICAL_PLACEMENT,
    CANONICAL_FAILOVER,
    CANONICAL_SUSPENSION, /* Only dispatching and dispatchingOnClusters: policies set no others. */
};

/*
 * Returns the canonical JSON of `json`, interned; the caller drops it. NULL if `json` is NULL or
 * all its members are omitted. If the text exceeds 4 MiB, calls decode_fail() and returns NULL.
 */
const char *canonical_text(struct decode *d, const cJSON *json, enum canonical_kind kind);
