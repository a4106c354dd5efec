/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/*
 * Namespaces that this exporter reads. Cluster-scoped objects count as objects of the namespace "":
 * a list of namespaces does not exclude them, and with several shards they belong to one of them.
 *
 * Shards divide the namespaces in such a way that Kubernetes' server-side sharding (KEP-5866) can
 * select the objects of a shard: by ranges of the 64-bit FNV-1a hash of the namespace's name. The
 * hashes of names with different last characters only are neighbours. Each shard therefore has
 * SHARD_RANGES ranges at equal distances, so that large groups of similar names are divided, too.
 */
struct namespace_filter {
    const char *const *namespaces; /* Borrowed. Empty: all namespaces. */
    size_t namespace_count;
    const char *const *denied; /* Borrowed. Takes precedence over `namespaces`. */
    size_t denied_count;
    uint32_t shard;        /* From 0 to total_shards - 1. */
    uint32_t total_shards; /* Number of exporters with a shard; 0 or 1: not divided. */
};

enum { SHARD_RANGES = 4 };

bool namespace_filter_allows(const struct namespace_filter *filter, const char *ns);

/* Returns true if some shard reads the namespace. */
bool namespace_filter_allows_in_any_shard(const struct namespace_filter *filter, const char *ns);

/*
 * Appends the shardSelector of lists and watches that selects the objects in namespaces of the
 * shard; nothing if the namespaces are not divided. The text is in the form in which API servers
 * return it in the metadata of lists (shardInfo).
 */
void namespace_filter_add_shard_selector(const struct namespace_filter *filter, struct strbuf *out);

/* Used only by namespace_filter.c and tests. */

/* Returns the hash of a namespace's name that API servers compare with the ranges. */
uint64_t shard_hash(const char *ns);
