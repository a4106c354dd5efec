/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/options/namespace_filter.h"

static bool contains_name(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

uint64_t shard_hash(const char *ns)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *c = ns; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return hash;
}

/* Returns the number of ranges of all shards. Range i belongs to shard i modulo total_shards. */
static uint64_t count_ranges(const struct namespace_filter *filter)
{
    return (uint64_t)SHARD_RANGES * filter->total_shards;
}

/* Returns the size of each of `count` ranges: 2^64 / count. The last range is larger. */
static uint64_t range_size(uint64_t count)
{
    return (UINT64_MAX - count + 1) / count + 1;
}

static bool is_divided(const struct namespace_filter *filter)
{
    return filter->total_shards > 1;
}

static bool is_in_shard(const struct namespace_filter *filter, const char *ns)
{
    uint64_t count = count_ranges(filter);
    uint64_t at = shard_hash(ns) / range_size(count);

    return (at < count ? at : count - 1) % filter->total_shards == filter->shard;
}

bool namespace_filter_allows_in_any_shard(const struct namespace_filter *filter, const char *ns)
{
    bool named = !*ns || filter->namespace_count == 0 ||
                 contains_name(filter->namespaces, filter->namespace_count, ns);

    return named && !contains_name(filter->denied, filter->denied_count, ns);
}

bool namespace_filter_allows(const struct namespace_filter *filter, const char *ns)
{
    return namespace_filter_allows_in_any_shard(filter, ns) &&
           (!is_divided(filter) || is_in_shard(filter, ns));
}

void namespace_filter_add_shard_selector(const struct namespace_filter *filter, struct strbuf *out)
{
    uint64_t count = count_ranges(filter);

    if (!is_divided(filter))
        return;
    for (uint64_t i = filter->shard; i < count; i += filter->total_shards) {
        strbuf_addf(out, "%sshardRange(object.metadata.namespace, '0x%016" PRIx64 "', ",
                    i > filter->shard ? " || " : "", i * range_size(count));
        if (i == count - 1)
            strbuf_adds(out, "'0x10000000000000000')"); /* 2^64 */
        else
            strbuf_addf(out, "'0x%016" PRIx64 "')", (i + 1) * range_size(count));
    }
}
