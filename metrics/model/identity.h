/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/* What identifies an object. Cluster-scoped objects have the namespace "". Borrowed texts. */
struct identity {
    const char *api_version;
    const char *kind;
    const char *ns;
    const char *name;
};

/* Read the identity of an object; false if anything but the namespace is missing. */
bool identity_read(const cJSON *json, struct identity *out, struct error *err) MUST_USE;
