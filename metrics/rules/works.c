/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/works.h"

#include "metrics/model/binding.h"

void works_init(struct works *w, uint64_t seed)
{
    *w = (struct works){0};
    subject_index_init(&w->index, seed);
}

void works_release(struct works *w)
{
    subject_index_release(&w->index);
}

/* The kind of a binding follows from its namespace. */
static struct subject subject_of(const char *binding_ns, const char *binding_name)
{
    return (struct subject){.kind = "", .ns = binding_ns, .name = binding_name};
}

static bool is_indexed(const struct entry *entry, const struct work *work)
{
    return work && work->binding_name && execution_cluster(entry_ns(entry));
}

bool works_changed(struct works *w, struct entry *entry, const struct work *old)
{
    const struct work *fresh = entry_work(entry);
    bool was = is_indexed(entry, old), is = is_indexed(entry, fresh);

    if (was && is && work_equal(old, fresh))
        return false;
    if (was) {
        struct subject subject = subject_of(old->binding_ns, old->binding_name);

        subject_index_remove(&w->index, &subject, entry);
    }
    if (is) {
        struct subject subject = subject_of(fresh->binding_ns, fresh->binding_name);

        subject_index_add(&w->index, &subject, entry);
    }
    return was || is;
}

/* The first of a cluster's in a group: the order is by namespace, and that names the cluster. */
static uint32_t first_of(const struct subject_group *group, const char *cluster)
{
    uint32_t first = 0, end = group->count;

    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        const char *ns = entry_ns(group->entries[middle]);

        if (strcmp(execution_cluster(ns), cluster) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

const struct work *work_of(const struct works *w, const struct entry *binding, const char *cluster)
{
    struct subject subject = subject_of(entry_ns(binding), binding->name);
    const struct subject_group *group = subject_index_find(&w->index, &subject);
    const struct binding *b = entry_binding(binding);

    for (uint32_t i = group ? first_of(group, cluster) : 0; group && i < group->count; i++) {
        const struct work *work = entry_work(group->entries[i]);

        if (strcmp(execution_cluster(entry_ns(group->entries[i])), cluster) != 0)
            break;
        if (!b || !uid_hashes_differ(b->id_hash, work->binding_id))
            return work;
    }
    return NULL;
}
