/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/plan_clusters.h"

#include "metrics/model/cluster.h"
#include "metrics/model/store.h"

static struct plan_cluster *find_cluster(struct plan_clusters *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->items[i].name, name) == 0)
            return &c->items[i];
    }
    c->items = xreallocarray(c->items, c->count + 1, sizeof(*c->items));
    c->items[c->count] = (struct plan_cluster){.name = name};
    return &c->items[c->count++];
}

static double request_of(const struct binding *b, const char *resource)
{
    for (uint32_t i = 0; i < b->request_count; i++) {
        if (strcmp(b->requests[i].resource, resource) == 0)
            return b->requests[i].amount;
    }
    return 0;
}

void plan_clusters_add(struct plan_clusters *c, const struct outcome *o, enum plan_side side)
{
    for (uint32_t i = 0; i < o->cluster_count; i++) {
        struct plan_cluster *cluster = find_cluster(c, o->clusters[i].name);
        int32_t replicas = o->clusters[i].replicas;

        cluster->replicas[side] += replicas;
        cluster->cores[side] += replicas * request_of(o->binding, "cpu");
        cluster->memory_bytes[side] += replicas * request_of(o->binding, "memory");
    }
}

/* True if more arrives than the cluster has free of a resource; what it does not report is. */
static bool exceeds(const struct cluster *c, const char *resource, double arriving)
{
    for (uint32_t i = 0; i < c->resource_count; i++) {
        const struct cluster_resource *r = &c->resources[i];

        if (strcmp(r->resource, resource) == 0)
            return arriving > 0 && arriving > r->allocatable - r->allocated - r->allocating;
    }
    return false;
}

static void judge(const struct store *store, struct plan_cluster *row)
{
    const struct kind_def *def = kind_cluster();
    const struct entry *entry =
        store_find(store, &(struct identity){def->api_version, def->name, "", row->name});
    const struct cluster *c = entry_cluster(entry);

    row->overflows =
        c &&
        (exceeds(c, "cpu", row->cores[PLAN_AFTER] - row->cores[PLAN_BEFORE]) ||
         exceeds(c, "memory", row->memory_bytes[PLAN_AFTER] - row->memory_bytes[PLAN_BEFORE]) ||
         exceeds(c, "pods", (double)(row->replicas[PLAN_AFTER] - row->replicas[PLAN_BEFORE])));
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct plan_cluster *)a)->name, ((const struct plan_cluster *)b)->name);
}

void plan_clusters_finish(struct plan_clusters *c, const struct store *store)
{
    if (c->count > 1)
        qsort(c->items, c->count, sizeof(*c->items), by_name);
    for (size_t i = 0; i < c->count; i++)
        judge(store, &c->items[i]);
}

void plan_clusters_release(struct plan_clusters *c)
{
    free(c->items);
    *c = (struct plan_clusters){0};
}
