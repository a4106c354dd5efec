/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/capacity.h"

static int by_name(const void *a, const void *b)
{
    const struct assigned_cluster *x = a;
    const struct assigned_cluster *y = b;

    return strcmp(x->name, y->name);
}

static void set_assigned(struct capacity *c, struct placements *placements,
                         const struct resolved_placement *resolved, const struct binding *b)
{
    if (b->cluster_count == 0)
        return;
    c->assigned = xreallocarray(NULL, b->cluster_count, sizeof(*c->assigned));
    for (uint32_t i = 0; i < b->cluster_count; i++) {
        const char *name = b->clusters[i].name;

        c->assigned[c->assigned_count++] = (struct assigned_cluster){
            .name = intern_ref(name),
            .replicas = b->clusters[i].replicas,
            .forbidden = resolved && !placements_allow(placements, resolved, name),
        };
    }
    qsort(c->assigned, c->assigned_count, sizeof(*c->assigned), by_name);
}

static void set_requests(struct capacity *c, const struct binding *b)
{
    if (b->request_count == 0)
        return;
    c->requests = xreallocarray(NULL, b->request_count, sizeof(*c->requests));
    for (uint32_t i = 0; i < b->request_count; i++)
        c->requests[c->request_count++] = (struct resource_request){
            .resource = intern_ref(b->requests[i].resource),
            .amount = b->requests[i].amount,
        };
}

struct capacity *capacity_decide(struct intern *strings, struct placements *placements,
                                 const struct resolved_placement *resolved, const struct binding *b)
{
    struct capacity *c = xcalloc(1, sizeof(*c));

    c->governed = resolved != NULL;
    set_assigned(c, placements, resolved, b);
    set_requests(c, b);
    if (resolved)
        projection_make(strings, resolved, b, &c->projection);
    return c;
}

void capacity_free(struct intern *strings, struct capacity *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->assigned_count; i++)
        intern_drop(strings, c->assigned[i].name);
    for (uint32_t i = 0; i < c->request_count; i++)
        intern_drop(strings, c->requests[i].resource);
    projection_release(strings, &c->projection);
    free(c->assigned);
    free(c->requests);
    free(c);
}
