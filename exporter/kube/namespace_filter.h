/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Which namespaces this exporter reads: those that are named, or all, but none of the
 * denied ones; and of these, where several exporters share the work, one shard.
 * Cluster-scoped objects belong to the shard of the namespace "".
 */
struct namespace_filter {
    const char *const *namespaces; /* Borrowed, as are the denied ones. None: all. */
    size_t namespace_count;
    const char *const *denied;
    size_t denied_count;
    uint32_t shard;
    uint32_t total_shards; /* 0 or 1: one exporter reads all. */
};

bool namespace_filter_allows(const struct namespace_filter *filter, const char *ns);
