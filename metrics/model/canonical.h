/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * One text for everything that means the same, so that defaults, empty lists
 * and the order of keys are never taken for drift: keys sorted; null, "",
 * false, [], {} and the number 0 left out, but 0 seconds kept (there absent means a
 * default) and so are empty values in matchLabels and empty elements of arrays;
 * CRD and webhook defaults of the given structure filled in. Of a suspension, only
 * what policies own is written: `scheduling` is set by others.
 */
enum canonical_kind {
    CANONICAL_PLAIN,
    CANONICAL_PLACEMENT,
    CANONICAL_FAILOVER,
    CANONICAL_SUSPENSION,
};

/* The canonical text of `json`, shared; NULL if nothing is left. The caller drops it. */
const char *canonical_text(struct decode *d, const cJSON *json, enum canonical_kind kind);
