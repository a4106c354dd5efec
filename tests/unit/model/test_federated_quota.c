/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/federated_quota.h"

#include "metrics/base/number.h"
#include "metrics/model/store.h"

#include "tests/unit/suite.h"
#include "tests/unit/world_format.h"

enum { TEXT_MAX = 1 << 12 };

/* ---- amounts ---- */

static const struct unit_case {
    const char *name;
    const char *resource;
    double amount;
    enum quota_rounding rounding;
    int64_t units;
    const char *text;
} unit_cases[] = {
    {"thousandths of a core", "cpu", 0.1, QUOTA_ROUND_UP, 100, "100m"},
    {"a product of floating point", "cpu", 0.57, QUOTA_ROUND_DOWN, 570, "570m"},
    {"whole cores", "cpu", 2, QUOTA_ROUND_UP, 2000, "2"},
    {"a fraction of a thousandth is rounded up", "cpu", 0.0001, QUOTA_ROUND_UP, 1, "1m"},
    {"a fraction of a limit is rounded down", "cpu", 0.0019, QUOTA_ROUND_DOWN, 1, "1m"},
    {"bytes", "memory", 64 << 20, QUOTA_ROUND_UP, 64 << 20, "64Mi"},
    {"odd bytes", "memory", 1000, QUOTA_ROUND_UP, 1000, "1000"},
    {"no bytes", "memory", 0, QUOTA_ROUND_UP, 0, "0"},
    {"pieces", "example.com/gpu", 1024, QUOTA_ROUND_UP, 1024, "1024"},
    {"a negative amount", "cpu", -1, QUOTA_ROUND_DOWN, -1000, "-1"},
    {"the largest number", "memory", 1e30, QUOTA_ROUND_DOWN, INT64_MAX, "9223372036854775807"},
};

TEST_ROWS(quota_units_of, unit_cases, name)
{
    const struct unit_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);

    assert_int_equal(quota_units(c->resource, c->amount, c->rounding), c->units);
    quota_add_amount(&text, c->resource, c->units);
    assert_string_equal(text.data, c->text);
}

static const struct requested_case {
    const char *name;
    bool requested;
} requested_cases[] = {
    {"cpu", true},           {"memory", true},         {"ephemeral-storage", true},
    {"hugepages-2Mi", true}, {"nvidia.com/gpu", true}, {"requests.cpu", false},
    {"limits.cpu", false},   {"pods", false},          {"requests.nvidia.com/gpu", false},
    {"services", false},
};

TEST_ROWS(quota_resource_is_requested_for, requested_cases, name)
{
    const struct requested_case *c = *state;

    assert_int_equal(quota_resource_is_requested(c->name), c->requested);
}

/* ---- objects ---- */

#define QUOTA(metadata, rest)                                                                      \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'FederatedResourceQuota','metadata':{"      \
    "'name':'q','namespace':'a'" metadata "}," rest "}"

static const struct object_case {
    const char *name;
    const char *json;
    const char *read; /* Limits as "resource amount used", then clusters. */
} object_cases[] = {
    {"limits in the order of their names",
     QUOTA("", "'spec':{'overall':{'memory':'1Gi','cpu':'500m'}},"
               "'status':{'overallUsed':{'cpu':'0.4'}}"),
     "cpu 500 400, memory 1073741824 -"},
    {"numbers", QUOTA("", "'spec':{'overall':{'cpu':2}}"), "cpu 2000 -"},
    {"static assignments",
     QUOTA("", "'spec':{'overall':{},'staticAssignments':[{'clusterName':'m1','hard':{}},"
               "{'clusterName':'m2'}]}"),
     "@m1 @m2"},
    {"an amount that is no quantity limits nothing",
     QUOTA("", "'spec':{'overall':{'cpu':'many','memory':'1'}}"), "memory 1 -"},
    {"null limits nothing", QUOTA("", "'spec':{'overall':{'cpu':null}}"), ""},
    {"without spec", QUOTA("", "'status':{}"), ""},
    {"in deletion",
     QUOTA(",'deletionTimestamp':'2026-01-01T00:00:00Z'", "'spec':{'overall':{'cpu':1}}"),
     "cpu 1000 - deleting"},
    {"a resource that is used and not limited",
     QUOTA("", "'spec':{'overall':{'cpu':1}},'status':{'overallUsed':{'memory':'1'}}"),
     "cpu 1000 -"},
};

static void add_quota(const struct federated_quota *q, struct strbuf *out)
{
    for (uint32_t i = 0; i < q->limit_count; i++) {
        const struct quota_limit *limit = &q->limits[i];

        strbuf_addf(out, "%s%s %" PRId64 " ", i ? ", " : "", limit->resource, limit->amount);
        if (limit->used_known)
            strbuf_add_int(out, limit->used);
        else
            strbuf_addc(out, '-');
    }
    for (uint32_t i = 0; i < q->cluster_count; i++)
        strbuf_addf(out, "%s@%s", out->len ? " " : "", q->clusters[i]);
    if (q->deleting)
        strbuf_adds(out, " deleting");
}

TEST_ROWS(quota_is_read_with, object_cases, name)
{
    const struct object_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_format(&w, "%s", c->json);
    add_quota(entry_quota(world_find(&w, QUOTA_API_VERSION, QUOTA_KIND, "a", "q")), &text);
    assert_string_equal(text.len > 0 ? text.data : "", c->read);
    world_release(&w);
}
