/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/namespace_filter.h"

#include "metrics/base/map.h"

static bool contains(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

bool scope_allows(const struct scope_filter *scope, const char *ns)
{
    if (*ns && scope->namespace_count > 0 &&
        !contains(scope->namespaces, scope->namespace_count, ns))
        return false;
    if (contains(scope->denied, scope->denied_count, ns))
        return false;
    /* No seed: all exporters have to agree on who looks at what. */
    return scope->total_shards <= 1 ||
           map_hash(ns, strlen(ns), 0) % scope->total_shards == scope->shard;
}
