/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/* What names an object. Cluster-scoped objects have the namespace "". Borrowed texts. */
struct identity {
    const char *api_version;
    const char *kind;
    const char *ns;
    const char *name;
};

/* Read apiVersion, kind, metadata.namespace and metadata.name; all but the namespace must be set.
 */
bool identity_read(const cJSON *json, struct identity *out, struct error *err) MUST_USE;
