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

bool namespace_filter_allows(const struct namespace_filter *filter, const char *ns)
{
    if (*ns && filter->namespace_count > 0 &&
        !contains(filter->namespaces, filter->namespace_count, ns))
        return false;
    if (contains(filter->denied, filter->denied_count, ns))
        return false;
    /* No seed: all exporters have to agree on who reads which namespace. */
    return filter->total_shards <= 1 ||
           map_hash(ns, strlen(ns), 0) % filter->total_shards == filter->shard;
}
