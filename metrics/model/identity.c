/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/identity.h"

#include "metrics/base/map.h"
#include "metrics/base/number.h"

static const uint32_t fnv_basis = 2166136261U;
static const uint32_t fnv_prime = 16777619U;

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

uint32_t uid_hash(const char *uid)
{
    uint32_t hash = fnv_basis;

    for (const char *c = uid; *c; c++)
        hash = (hash ^ (unsigned char)*c) * fnv_prime;
    return hash;
}

bool uid_hashes_differ(uint32_t a, uint32_t b)
{
    return a != b && a != fnv_basis && b != fnv_basis;
}

uint32_t version_mark_of(const char *version)
{
    uint64_t number = 0;

    if (*version && !parse_uint(version, UINT64_MAX, &number))
        number = map_hash(version, strlen(version), 0);
    return (uint32_t)number;
}

uint32_t version_mark(const cJSON *json)
{
    return version_mark_of(json_str(json_get(json, "metadata"), "resourceVersion", ""));
}
