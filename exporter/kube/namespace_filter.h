/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Which namespaces this exporter looks at: those that are named, or all, but
 * none of the denied ones, and of what is left the share of one of several exporters.
 * Cluster-scoped objects belong to the share of the namespace "".
 */
struct namespace_filter {
    const char *const *namespaces; /* Borrowed, as are the denied ones. None: all. */
    size_t namespace_count;
    const char *const *denied;
    size_t denied_count;
    uint32_t shard;
    uint32_t total_shards; /* 0 and 1: not shared. */
};

bool namespace_filter_allows(const struct namespace_filter *filter, const char *ns);
