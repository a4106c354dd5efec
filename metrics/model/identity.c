/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/identity.h"

bool identity_read(const cJSON *json, struct identity *out, struct error *err)
{
    const cJSON *metadata = json_get(json, "metadata");
    struct identity id = {
        .api_version = json_str(json, "apiVersion", ""),
        .kind = json_str(json, "kind", ""),
        .ns = json_str(metadata, "namespace", ""),
        .name = json_str(metadata, "name", ""),
    };

    if (!*id.api_version)
        return fail(err, "the object has no apiVersion");
    if (!*id.kind)
        return fail(err, "the object has no kind");
    if (!*id.name)
        return fail(err, "the %s has no metadata.name", id.kind);
    *out = id;
    return true;
}
