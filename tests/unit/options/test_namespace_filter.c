/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/options/namespace_filter.h"

#include "metrics/base/number.h"
#include "tests/unit/suite.h"

enum { TEXT_MAX = 64 * 1024 };

static struct namespace_filter shard_of(uint32_t shard, uint32_t total)
{
    return (struct namespace_filter){.shard = shard, .total_shards = total};
}

TEST(names_and_denied_names_limit_the_namespaces)
{
    static const char *const names[] = {"a", "b"};
    static const char *const denied[] = {"b", ""};
    const struct namespace_filter filter = {
        .namespaces = names, .namespace_count = 2, .denied = denied, .denied_count = 1};
    const struct namespace_filter no_cluster_scope = {.denied = denied, .denied_count = 2};

    assert_true(namespace_filter_allows(&filter, "a"));
    assert_true(namespace_filter_allows(&filter, ""));
    assert_false(namespace_filter_allows(&filter, "b"));
    assert_false(namespace_filter_allows(&filter, "c"));
    assert_true(namespace_filter_allows(&no_cluster_scope, "c"));
    assert_false(namespace_filter_allows(&no_cluster_scope, ""));
}

/* ---- hash ---- */

/* Results of HashField() in k8s.io/apimachinery/pkg/sharding of Kubernetes 1.36. */
TEST(hash_is_that_of_kubernetes)
{
    static const struct {
        const char *ns;
        uint64_t hash;
    } vectors[] = {
        {"", UINT64_C(0xcbf29ce484222325)},
        {"a", UINT64_C(0xaf63dc4c8601ec8c)},
        {"b", UINT64_C(0xaf63df4c8601f1a5)},
        {"default", UINT64_C(0xebada5168620c5fe)},
        {"shop", UINT64_C(0x46dc5e18e28e2409)},
        {"depot", UINT64_C(0x7626ff7600f4dd9d)},
        {"karmada-system", UINT64_C(0x539122385c0f20fe)},
        {"kube-system", UINT64_C(0xdf65c7bc1d82b35e)},
        {"team-a", UINT64_C(0xde90a3717d1252d6)},
        {"team-z", UINT64_C(0xde909a717d12438b)},
        {"ns-000", UINT64_C(0x9689183b225c9ceb)},
        {"ns-499", UINT64_C(0xb910373b35e23db1)},
        {"x-0123456789-0123456789-0123456789-0123456789-0123456789-01234",
         UINT64_C(0xc85e2af645d36ac8)},
    };

    for (size_t i = 0; i < ARRAY_LEN(vectors); i++)
        assert_int_equal(shard_hash(vectors[i].ns), vectors[i].hash);
}

/* ---- ranges ---- */

struct range {
    uint64_t first;
    uint64_t last; /* Inclusive. */
    uint32_t shard;
};

/* Reads "0x" and 16 digits, or 2^64 as 0. Returns the position after the closing quote. */
static const char *read_bound(const char *at, uint64_t *out)
{
    char digits[18];
    size_t len = strcspn(at, "'");

    assert_memory_equal(at, "0x", 2);
    assert_true(len - 2 < sizeof(digits));
    memcpy(digits, at + 2, len - 2);
    digits[len - 2] = '\0';
    if (strcmp(digits, "10000000000000000") == 0) {
        *out = 0;
    } else {
        char *end;

        assert_int_equal(len, 18);
        *out = strtoull(digits, &end, 16);
        assert_int_equal(*end, '\0');
    }
    return at + len + 1;
}

/* Appends the ranges in the selector of a shard to `out`; returns their number. */
static size_t read_ranges(const struct namespace_filter *filter, struct range *out)
{
    static const char start[] = "shardRange(object.metadata.namespace, '", between[] = " || ";
    CLEANUP(strbuf_release) struct strbuf selector = STRBUF_INIT(TEXT_MAX);
    size_t count = 0;

    namespace_filter_add_shard_selector(filter, &selector);
    for (const char *at = selector.data; *at;) {
        uint64_t end;

        if (count > 0) {
            assert_memory_equal(at, between, sizeof(between) - 1);
            at += sizeof(between) - 1;
        }
        assert_memory_equal(at, start, sizeof(start) - 1);
        at = read_bound(at + sizeof(start) - 1, &out[count].first);
        assert_memory_equal(at, ", '", 3);
        at = read_bound(at + 3, &end);
        assert_int_equal(*at++, ')');
        out[count].last = end - 1;
        out[count++].shard = filter->shard;
    }
    return count;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct range *left = a, *right = b;

    return (left->first > right->first) - (left->first < right->first);
}

static const struct range *find_range(const struct range *ranges, size_t count, uint64_t hash)
{
    for (size_t i = 0; i < count; i++) {
        if (hash >= ranges[i].first && hash <= ranges[i].last)
            return &ranges[i];
    }
    return NULL;
}

/* Reads the ranges of all shards in ascending order; the caller frees them. */
static struct range *read_all_ranges(uint32_t total, size_t *count)
{
    struct range *ranges = xcalloc((size_t)total * SHARD_RANGES, sizeof(*ranges));

    *count = 0;
    for (uint32_t shard = 0; shard < total; shard++) {
        struct namespace_filter filter = shard_of(shard, total);
        size_t own = read_ranges(&filter, ranges + *count);

        assert_int_equal(own, SHARD_RANGES);
        *count += own;
    }
    qsort(ranges, *count, sizeof(*ranges), compare_ranges);
    return ranges;
}

TEST(ranges_of_all_shards_are_the_whole_hash_space)
{
    static const uint32_t totals[] = {2, 3, 4, 5, 7, 8, 10, 100, 255, 256, 257, 1000};

    for (size_t i = 0; i < ARRAY_LEN(totals); i++) {
        size_t count;
        CLEANUP(free_cleanup) struct range *ranges = read_all_ranges(totals[i], &count);

        assert_int_equal(ranges[0].first, 0);
        for (size_t at = 1; at < count; at++)
            assert_int_equal(ranges[at].first, ranges[at - 1].last + 1);
        assert_true(ranges[count - 1].last == UINT64_MAX);
    }
}

TEST(each_namespace_is_in_the_shard_whose_range_has_its_hash)
{
    static const uint32_t totals[] = {2, 3, 7, 64, 1000};
    char ns[32];

    for (size_t i = 0; i < ARRAY_LEN(totals); i++) {
        size_t count;
        CLEANUP(free_cleanup) struct range *ranges = read_all_ranges(totals[i], &count);

        for (unsigned name = 0; name < 500; name++) {
            snprintf(ns, sizeof(ns), name ? "%x-%u" : "", name * 2654435761U, name);
            const struct range *range = find_range(ranges, count, shard_hash(ns));

            assert_non_null(range);
            for (uint32_t shard = 0; shard < totals[i]; shard++) {
                struct namespace_filter filter = shard_of(shard, totals[i]);

                assert_int_equal(namespace_filter_allows(&filter, ns), shard == range->shard);
            }
        }
    }
}

TEST(largest_number_of_shards)
{
    struct namespace_filter filter = shard_of(UINT32_MAX - 1, UINT32_MAX);
    struct range ranges[SHARD_RANGES];

    assert_int_equal(read_ranges(&filter, ranges), SHARD_RANGES);
    assert_true(ranges[SHARD_RANGES - 1].last == UINT64_MAX);
    for (size_t i = 1; i < SHARD_RANGES; i++)
        assert_true(ranges[i].first > ranges[i - 1].last);
}

TEST(namespaces_that_are_not_divided_have_no_selector)
{
    for (uint32_t total = 0; total < 2; total++) {
        struct namespace_filter filter = shard_of(0, total);
        struct range ranges[1];

        assert_int_equal(read_ranges(&filter, ranges), 0);
        assert_true(namespace_filter_allows(&filter, "a"));
    }
}

TEST(selector_has_the_form_that_api_servers_return)
{
    CLEANUP(strbuf_release) struct strbuf selector = STRBUF_INIT(TEXT_MAX);
    struct namespace_filter filter = shard_of(1, 2);

    namespace_filter_add_shard_selector(&filter, &selector);
    assert_string_equal(
        selector.data,
        "shardRange(object.metadata.namespace, '0x2000000000000000', '0x4000000000000000') || "
        "shardRange(object.metadata.namespace, '0x6000000000000000', '0x8000000000000000') || "
        "shardRange(object.metadata.namespace, '0xa000000000000000', '0xc000000000000000') || "
        "shardRange(object.metadata.namespace, '0xe000000000000000', '0x10000000000000000')");
}

/* With one range for each shard, the names below would all be in one of two shards. */
TEST(similar_names_are_divided)
{
    struct namespace_filter filter = shard_of(0, 2);
    unsigned own = 0;
    char ns[16];

    for (unsigned i = 0; i < 500; i++) {
        snprintf(ns, sizeof(ns), "ns-%03u", i);
        own += namespace_filter_allows(&filter, ns);
    }
    assert_in_range(own, 200, 300);
}
