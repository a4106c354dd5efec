/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/samples.h"

#include "metrics/expose/policy_names.h"
#include "metrics/model/cluster.h"
#include "metrics/model/store.h"
#include "metrics/rules/replica_projection.h"

/* Resources with a series for every member cluster, so that boards show 0 instead of a gap. */
static const char *const common_resources[] = {"cpu", "memory", "pods"};

/* Returns the unit of a resource (names as in a Kubernetes ResourceList); "integer" if unknown. */
static const char *resource_unit(const char *resource)
{
    static const char *const sizes[] = {"memory", "ephemeral-storage", "storage"};
    static const char pages[] = "hugepages-";

    if (strcmp(resource, "cpu") == 0)
        return "core";
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        if (strcmp(resource, sizes[i]) == 0)
            return "byte";
    }
    if (strcmp(resource, "pods") == 0)
        return "pod";
    return strncmp(resource, pages, strlen(pages)) == 0 ? "byte" : "integer";
}

/*
 * Unless `pods` is 0, appends a sample for each resource that `pods` pods request, and one for the
 * number of pods. `requests` are the requests of one pod, `label` is the value of the first label.
 */
static void add_requests(struct samples *out, const struct resource_request *requests,
                         uint32_t count, int32_t pods, unsigned index, const char *label)
{
    if (pods == 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        SAMPLE(out, requests_in_thousandths(requests[i].amount, pods), index, label,
               requests[i].resource, resource_unit(requests[i].resource));
    SAMPLE(out, requests_in_thousandths(1, pods), index, label, "pods", resource_unit("pods"));
}

/* Returns the capacity of a template, if any; NULL for entries of other classes. */
static const struct capacity *capacity_of(const struct entry *entry)
{
    const struct template_decision *d = template_decision(entry);

    return d ? decision_capacity(d) : NULL;
}

static bool is_cluster(const struct entry *entry)
{
    return entry_class(entry) == CLASS_CLUSTER;
}

/* Appends samples of 0 for the common resources of a cluster, so that its series are present. */
static void add_zeros(struct samples *out, const char *cluster)
{
    for (size_t i = 0; i < ARRAY_LEN(common_resources); i++)
        SAMPLE(out, 0, 0, cluster, common_resources[i], resource_unit(common_resources[i]));
}

static void collect_drift_replicas(const struct entry *entry, struct samples *out)
{
    struct movement_walk walk = {0};
    struct cluster_movement m;

    if (is_cluster(entry))
        SAMPLE(out, 0, 0, entry->name);
    while (capacity_next_movement(capacity_of(entry), &walk, &m)) {
        for (unsigned i = 0; i < MOVEMENT_COUNT; i++) {
            if (m.replicas[i] != 0)
                SAMPLE(out, m.replicas[i], i, m.cluster);
        }
    }
}

/* Clusters add no samples. Their class hides the family until all clusters have been read. */
static void collect_policy_drift_replicas(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);
    struct policy_name policy = policy_name_of(d ? decision_governing(d) : NULL);
    struct movement_walk walk = {0};
    struct cluster_movement m;

    while (capacity_next_movement(capacity_of(entry), &walk, &m)) {
        for (unsigned i = 0; i < MOVEMENT_COUNT; i++) {
            if (m.replicas[i] != 0)
                SAMPLE(out, m.replicas[i], i, policy.kind, policy.ns, policy.name);
        }
    }
}

static void add_movement(struct samples *out, const struct capacity *c,
                         const struct cluster_movement *m, const char *label)
{
    for (unsigned i = 0; i < MOVEMENT_COUNT; i++)
        add_requests(out, c->requests, c->request_count, m->replicas[i], i, label);
}

static void collect_drift_requests(const struct entry *entry, struct samples *out)
{
    struct movement_walk walk = {0};
    struct cluster_movement m;

    if (is_cluster(entry))
        add_zeros(out, entry->name);
    while (capacity_next_movement(capacity_of(entry), &walk, &m))
        add_movement(out, capacity_of(entry), &m, m.cluster);
}

static void collect_namespace_drift_requests(const struct entry *entry, struct samples *out)
{
    struct movement_walk walk = {0};
    struct cluster_movement m;

    while (capacity_next_movement(capacity_of(entry), &walk, &m))
        add_movement(out, capacity_of(entry), &m, entry_ns(entry));
}

static void collect_forbidden_replicas(const struct entry *entry, struct samples *out)
{
    const struct capacity *c = capacity_of(entry);

    if (is_cluster(entry))
        SAMPLE(out, 0, 0, entry->name);
    for (uint32_t i = 0; c && c->moves && i < c->assigned_count; i++) {
        if (c->assigned[i].forbidden)
            SAMPLE(out, c->assigned[i].replicas, 0, c->assigned[i].name);
    }
}

static void collect_undetermined_templates(const struct entry *entry, struct samples *out)
{
    const struct capacity *c = capacity_of(entry);

    if (c && c->moves && !c->projection.determined)
        SAMPLE(out, 1, c->projection.reason);
}

/* No policy governs an orphaned template: its requests are in no family of placement drift. */
static void collect_orphaned_requests(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);

    if (is_cluster(entry))
        add_zeros(out, entry->name);
    if (!d || d->state != STATE_ORPHANED)
        return;

    const struct binding *b = entry_binding(decision_binding(d));

    for (uint32_t i = 0; b && i < b->cluster_count; i++)
        add_requests(out, b->requests, b->request_count, b->clusters[i].replicas, 0,
                     b->clusters[i].name);
}

enum cluster_amount { AMOUNT_ALLOCATABLE, AMOUNT_ALLOCATED, AMOUNT_ALLOCATING };

static void collect_cluster_amount(const struct entry *entry, struct samples *out,
                                   enum cluster_amount amount)
{
    const struct cluster *cluster = entry_cluster(entry);

    for (uint32_t i = 0; i < cluster->resource_count; i++) {
        const struct cluster_resource *r = &cluster->resources[i];
        const double amounts[] = {r->allocatable, r->allocated, r->allocating};

        SAMPLE(out, requests_in_thousandths(amounts[amount], 1), 0, entry->name, r->resource,
               resource_unit(r->resource));
    }
}

static void collect_allocatable(const struct entry *entry, struct samples *out)
{
    collect_cluster_amount(entry, out, AMOUNT_ALLOCATABLE);
}

static void collect_allocated(const struct entry *entry, struct samples *out)
{
    collect_cluster_amount(entry, out, AMOUNT_ALLOCATED);
}

static void collect_allocating(const struct entry *entry, struct samples *out)
{
    collect_cluster_amount(entry, out, AMOUNT_ALLOCATING);
}

#define MEMBER   FREE_LABEL("member_cluster")
#define RESOURCE FREE_LABEL("resource"), FREE_LABEL("unit")
#define MOVEMENT ENUM_LABEL("movement", movement_names)

static const struct family_def families[] = {
    {.name = "karmada_placement_drift_replicas",
     .help = "Replicas of templates with placement drift: placement of the "
             "binding and of the governing policy differ. By member "
             "cluster and by movement when the template changes to the "
             "placement of the policy. Undetermined: only the scheduler can determine the member "
             "cluster.",
     .bound = "member clusters x 4",
     .labels = {MEMBER, MOVEMENT},
     FROM(TEMPLATE_ENTRIES | CLUSTER_ENTRIES, collect_drift_replicas)},
    {.name = "karmada_placement_drift_resource_requests",
     .help = "Resources that the replicas of karmada_placement_drift_replicas request, including "
             "the number of pods.",
     .bound = "member clusters x resources x 4",
     .milli = true,
     .labels = {MEMBER, RESOURCE, MOVEMENT},
     FROM(TEMPLATE_ENTRIES | CLUSTER_ENTRIES, collect_drift_requests)},
    {.name = "karmada_placement_drift_forbidden_replicas",
     .help = "Leaving or undetermined replicas on member clusters that the governing policy's "
             "affinity no longer selects.",
     .bound = "member clusters",
     .labels = {MEMBER},
     FROM(TEMPLATE_ENTRIES | CLUSTER_ENTRIES, collect_forbidden_replicas)},
    {.name = "karmada_placement_drift_undetermined_templates",
     .help = "Templates with placement drift for which only the scheduler "
             "can determine the new member clusters, by reason.",
     .labels = {ENUM_LABEL("reason", undetermined_reason_names)},
     FROM(TEMPLATE_ENTRIES | CLUSTER_ENTRIES, collect_undetermined_templates)},
    {.name = "karmada_propagationpolicy_placement_drift_replicas",
     .help = "Replicas of karmada_placement_drift_replicas in all member clusters, by governing "
             "policy. Rows of 0 are omitted.",
     .bound = "policy limit x 4",
     .limit_kind = LIMIT_BY_POLICY,
     .sparse = true,
     .labels = {POLICY_LABELS, MOVEMENT},
     FROM(TEMPLATE_ENTRIES | CLUSTER_ENTRIES, collect_policy_drift_replicas)},
    {.name = "karmada_namespace_placement_drift_resource_requests",
     .help =
         "Resources of karmada_placement_drift_resource_requests in all member clusters, by "
         "namespace of the templates; empty for cluster-scoped templates. Rows of 0 are omitted.",
     .bound = "detail limit x resources x 4",
     .limit_kind = LIMIT_BY_NAMESPACE,
     .milli = true,
     .sparse = true,
     .labels = {FREE_LABEL("namespace"), RESOURCE, MOVEMENT},
     FROM(TEMPLATE_ENTRIES | CLUSTER_ENTRIES, collect_namespace_drift_requests)},
    {.name = "karmada_orphaned_resource_requests",
     .help = "Resources that the replicas of orphaned templates request, including the number of "
             "pods, by member cluster.",
     .bound = "member clusters x resources",
     .milli = true,
     .labels = {MEMBER, RESOURCE},
     FROM(TEMPLATE_ENTRIES | CLUSTER_ENTRIES, collect_orphaned_requests)},
    {.name = "karmada_member_cluster_allocatable",
     .help = "Allocatable resources of a member cluster.",
     .bound = "member clusters x resources",
     .milli = true,
     .labels = {MEMBER, RESOURCE},
     FROM(CLUSTER_ENTRIES, collect_allocatable)},
    {.name = "karmada_member_cluster_allocated",
     .help = "Allocated resources of a member cluster: requests of its pods.",
     .bound = "member clusters x resources",
     .milli = true,
     .labels = {MEMBER, RESOURCE},
     FROM(CLUSTER_ENTRIES, collect_allocated)},
    {.name = "karmada_member_cluster_allocating",
     .help = "Allocating resources of a member cluster: requests of pods that are not scheduled "
             "yet. Free is allocatable minus allocated minus allocating.",
     .bound = "member clusters x resources",
     .milli = true,
     .labels = {MEMBER, RESOURCE},
     FROM(CLUSTER_ENTRIES, collect_allocating)},
};
const struct family_group capacity_families = {families, ARRAY_LEN(families)};
