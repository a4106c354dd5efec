/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/collect.h"

#include "metrics/model/cluster.h"
#include "metrics/model/object.h"
#include "metrics/rules/capacity.h"

/* Of these every member cluster has its series, so that a board shows 0 and no gap. */
static const char *const common_resources[] = {"cpu", "memory"};

/* The names as in a Kubernetes resource list; what is no time and no space is counted. */
static const char *unit_of(const char *resource)
{
    static const char *const sizes[] = {"memory", "ephemeral-storage", "storage"};
    static const char pages[] = "hugepages-";

    if (strcmp(resource, "cpu") == 0)
        return "core";
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        if (strcmp(resource, sizes[i]) == 0)
            return "byte";
    }
    return strncmp(resource, pages, strlen(pages)) == 0 ? "byte" : "integer";
}

/* Thousandths, as many times; what does not fit stops at the largest number. */
static int64_t thousandths(double amount, int32_t times)
{
    double scaled = amount * 1000;
    int64_t product;

    if (!(scaled < 0x1p62) || __builtin_mul_overflow((int64_t)(scaled + 0.5), times, &product))
        return INT64_MAX;
    return product;
}

static void add_requests(struct samples *out, const struct capacity *c, const char *cluster,
                         int32_t replicas)
{
    for (uint32_t i = 0; i < c->request_count; i++) {
        const struct resource_request *r = &c->requests[i];

        SAMPLE(out, thousandths(r->amount, replicas), 0, cluster, r->resource,
               unit_of(r->resource));
    }
}

/* NULL also of a cluster, which only makes its series present. */
static const struct capacity *capacity_of(const struct entry *entry)
{
    const struct template_decision *d = template_decision(entry);

    return d ? d->capacity : NULL;
}

static bool is_cluster(const struct entry *entry)
{
    return entry_class(entry) == CLASS_CLUSTER;
}

static void add_zeros(struct samples *out, const char *cluster)
{
    for (size_t i = 0; i < ARRAY_LEN(common_resources); i++)
        SAMPLE(out, 0, 0, cluster, common_resources[i], unit_of(common_resources[i]));
}

static void collect_stale_replicas(const struct entry *entry, struct samples *out)
{
    const struct capacity *c = capacity_of(entry);

    if (is_cluster(entry))
        SAMPLE(out, 0, 0, entry->name);
    for (uint32_t i = 0; c && i < c->assigned_count; i++)
        SAMPLE(out, c->assigned[i].replicas, 0, c->assigned[i].name);
}

static void collect_stale_requests(const struct entry *entry, struct samples *out)
{
    const struct capacity *c = capacity_of(entry);

    if (is_cluster(entry))
        add_zeros(out, entry->name);
    for (uint32_t i = 0; c && i < c->assigned_count; i++)
        add_requests(out, c, c->assigned[i].name, c->assigned[i].replicas);
}

static void collect_forbidden_replicas(const struct entry *entry, struct samples *out)
{
    const struct capacity *c = capacity_of(entry);

    if (is_cluster(entry))
        SAMPLE(out, 0, 0, entry->name);
    for (uint32_t i = 0; c && i < c->assigned_count; i++) {
        if (c->assigned[i].forbidden)
            SAMPLE(out, c->assigned[i].replicas, 0, c->assigned[i].name);
    }
}

static void collect_projected_replicas(const struct entry *entry, struct samples *out)
{
    const struct capacity *c = capacity_of(entry);

    if (is_cluster(entry))
        SAMPLE(out, 0, 0, entry->name);
    for (uint32_t i = 0; c && i < c->projection.count; i++)
        SAMPLE(out, c->projection.clusters[i].replicas, 0, c->projection.clusters[i].name);
}

static void collect_projected_requests(const struct entry *entry, struct samples *out)
{
    const struct capacity *c = capacity_of(entry);

    if (is_cluster(entry))
        add_zeros(out, entry->name);
    for (uint32_t i = 0; c && i < c->projection.count; i++)
        add_requests(out, c, c->projection.clusters[i].name, c->projection.clusters[i].replicas);
}

static void collect_undetermined(const struct entry *entry, struct samples *out)
{
    const struct capacity *c = capacity_of(entry);

    if (c && c->governed && !c->projection.determined)
        SAMPLE(out, 1, c->projection.reason);
}

static void collect_allocatable(const struct entry *entry, struct samples *out)
{
    const struct cluster *cluster = entry_cluster(entry);

    for (uint32_t i = 0; i < cluster->resource_count; i++) {
        const struct cluster_resource *r = &cluster->resources[i];

        SAMPLE(out, thousandths(r->allocatable, 1), 0, entry->name, r->resource,
               unit_of(r->resource));
    }
}

static void collect_allocated(const struct entry *entry, struct samples *out)
{
    const struct cluster *cluster = entry_cluster(entry);

    for (uint32_t i = 0; i < cluster->resource_count; i++) {
        const struct cluster_resource *r = &cluster->resources[i];

        SAMPLE(out, thousandths(r->allocated, 1), 0, entry->name, r->resource,
               unit_of(r->resource));
    }
}

#define MEMBER   FREE_LABEL("member_cluster")
#define RESOURCE FREE_LABEL("resource"), FREE_LABEL("unit")

static const struct family_def families[] = {
    {.name = "karmada_stale_replicas",
     .help = "Replicas of stale templates by the member cluster that they are assigned to.",
     .bound = "member clusters",
     .labels = {MEMBER},
     FROM(TEMPLATES | CLUSTERS, collect_stale_replicas)},
    {.name = "karmada_stale_resource_requests",
     .help = "Resources that the replicas of stale templates request, by member cluster.",
     .bound = "member clusters x resources",
     .milli = true,
     .labels = {MEMBER, RESOURCE},
     FROM(TEMPLATES | CLUSTERS, collect_stale_requests)},
    {.name = "karmada_stale_forbidden_replicas",
     .help = "Replicas of stale templates on member clusters that the governing policy's affinity "
             "no longer selects.",
     .bound = "member clusters",
     .labels = {MEMBER},
     FROM(TEMPLATES | CLUSTERS, collect_forbidden_replicas)},
    {.name = "karmada_stale_projected_replicas",
     .help = "Replicas of stale templates by the member cluster that the governing policy's "
             "placement would assign them to, as far as that is determined.",
     .bound = "member clusters",
     .labels = {MEMBER},
     FROM(TEMPLATES | CLUSTERS, collect_projected_replicas)},
    {.name = "karmada_stale_projected_resource_requests",
     .help = "Resources that the replicas of stale templates would request, by the member cluster "
             "that they would be assigned to.",
     .bound = "member clusters x resources",
     .milli = true,
     .labels = {MEMBER, RESOURCE},
     FROM(TEMPLATES | CLUSTERS, collect_projected_requests)},
    {.name = "karmada_stale_undetermined_templates",
     .help = "Stale templates whose assignment under the governing policy is undetermined, by "
             "reason.",
     .labels = {ENUM_LABEL("reason", undetermined_reason_names)},
     FROM(TEMPLATES | CLUSTERS, collect_undetermined)},
    {.name = "karmada_member_cluster_allocatable",
     .help = "Resources that a member cluster has for pods.",
     .bound = "member clusters x resources",
     .milli = true,
     .labels = {MEMBER, RESOURCE},
     FROM(CLUSTERS, collect_allocatable)},
    {.name = "karmada_member_cluster_allocated",
     .help = "Resources of a member cluster that pods have requested.",
     .bound = "member clusters x resources",
     .milli = true,
     .labels = {MEMBER, RESOURCE},
     FROM(CLUSTERS, collect_allocated)},
};
const struct family_group capacity_families = {families, ARRAY_LEN(families)};
