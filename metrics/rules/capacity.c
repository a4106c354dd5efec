/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/capacity.h"

const char *const movement_names[MOVEMENT_COUNT] = {
    [MOVEMENT_STAYING] = "staying",
    [MOVEMENT_LEAVING] = "leaving",
    [MOVEMENT_ARRIVING] = "arriving",
    [MOVEMENT_UNDETERMINED] = "undetermined",
};

static int by_name(const void *a, const void *b)
{
    const struct assigned_cluster *x = a;
    const struct assigned_cluster *y = b;

    return strcmp(x->name, y->name);
}

struct capacity *capacity_decide(struct intern *strings, struct placements *placements,
                                 const struct resolved_placement *resolved, const struct binding *b,
                                 bool outrun, bool moves)
{
    struct capacity *c = xcalloc(1, sizeof(*c));

    c->governed = resolved != NULL;
    c->moves = moves;
    if (b->cluster_count > 0)
        c->assigned = xreallocarray(NULL, b->cluster_count, sizeof(*c->assigned));
    for (uint32_t i = 0; i < b->cluster_count; i++) {
        const char *name = b->clusters[i].name;

        c->assigned[c->assigned_count++] = (struct assigned_cluster){
            .name = intern_ref(name),
            .replicas = b->clusters[i].replicas,
            .forbidden = resolved && !placements_allow(placements, resolved, name),
        };
    }
    if (c->assigned_count > 1)
        qsort(c->assigned, c->assigned_count, sizeof(*c->assigned), by_name);
    if (b->request_count > 0)
        c->requests = xreallocarray(NULL, b->request_count, sizeof(*c->requests));
    for (uint32_t i = 0; i < b->request_count; i++)
        c->requests[c->request_count++] = (struct resource_request){
            .resource = intern_ref(b->requests[i].resource),
            .amount = b->requests[i].amount,
        };
    if (resolved && outrun)
        c->projection.reason = UNDETERMINED_TEMPLATE_UPDATED;
    else if (resolved)
        projection_make(strings, resolved, b, &c->projection);
    return c;
}

/* Of two ordered lists: below 0 if the first has the next name, 0 if both have it. */
static int compare_next(const struct capacity *c, const struct movement_walk *at)
{
    if (at->assigned == c->assigned_count)
        return 1;
    if (at->projected == c->projection.count)
        return -1;
    return strcmp(c->assigned[at->assigned].name, c->projection.clusters[at->projected].name);
}

bool capacity_movement(const struct capacity *c, struct movement_walk *at,
                       struct cluster_movement *out)
{
    int32_t now = 0, then = 0;

    if (!c || !c->moves ||
        (at->assigned == c->assigned_count && at->projected == c->projection.count))
        return false;

    int next = compare_next(c, at);

    *out = (struct cluster_movement){0};
    if (next >= 0) {
        out->cluster = c->projection.clusters[at->projected].name;
        then = c->projection.clusters[at->projected++].replicas;
    }
    if (next <= 0) {
        out->cluster = c->assigned[at->assigned].name;
        now = c->assigned[at->assigned++].replicas;
    }
    if (!c->projection.determined) {
        out->replicas[MOVEMENT_UNDETERMINED] = now;
        return true;
    }
    out->replicas[MOVEMENT_STAYING] = now < then ? now : then;
    out->replicas[MOVEMENT_LEAVING] = now - out->replicas[MOVEMENT_STAYING];
    out->replicas[MOVEMENT_ARRIVING] = then - out->replicas[MOVEMENT_STAYING];
    return true;
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
