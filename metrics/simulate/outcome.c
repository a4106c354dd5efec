/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/outcome.h"

#include "metrics/model/store.h"
#include "metrics/rules/drift.h"

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct target_cluster *)a)->name,
                  ((const struct target_cluster *)b)->name);
}

void outcome_read(const struct entry *template, struct outcome *out)
{
    const struct template_decision *d = template_decision(template);
    const struct binding *b = d ? entry_binding(d->binding) : NULL;

    *out = (struct outcome){.undetermined = UNDETERMINED_REASON_COUNT};
    if (!d)
        return;
    out->exists = true;
    out->state = d->state;
    out->reason = d->reason;
    out->policy = d->claimed ? d->claimed : d->governing;
    if (out->policy)
        store_pin(out->policy);
    out->binding = b;
    if (b && b->undetermined)
        out->undetermined = (enum undetermined_reason)(b->undetermined - 1);
    if (!b || b->cluster_count == 0)
        return;
    out->cluster_count = b->cluster_count;
    out->clusters = xreallocarray(NULL, b->cluster_count, sizeof(*out->clusters));
    memcpy(out->clusters, b->clusters, b->cluster_count * sizeof(*out->clusters));
    qsort(out->clusters, out->cluster_count, sizeof(*out->clusters), by_name);
}

void outcome_release(struct outcome *o, struct store *store)
{
    if (o->policy)
        store_unpin(store, o->policy);
    free(o->clusters);
    *o = (struct outcome){0};
}

bool outcome_same_clusters(const struct outcome *a, const struct outcome *b)
{
    if (a->cluster_count != b->cluster_count || a->undetermined != b->undetermined)
        return false;
    for (uint32_t i = 0; i < a->cluster_count; i++) {
        if (a->clusters[i].name != b->clusters[i].name ||
            a->clusters[i].replicas != b->clusters[i].replicas)
            return false;
    }
    return true;
}

unsigned outcome_fields(const struct outcome *a, const struct outcome *b)
{
    if (!a->binding || !b->binding)
        return 0;
    return drift_fields(&a->binding->propagation, NULL, &b->binding->propagation, false);
}

bool outcome_equal(const struct outcome *a, const struct outcome *b)
{
    return a->exists == b->exists && a->state == b->state && a->reason == b->reason &&
           a->policy == b->policy && outcome_same_clusters(a, b) && outcome_fields(a, b) == 0;
}
