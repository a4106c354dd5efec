/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/version_use.h"

#include "metrics/base/map.h"

static double requested(const struct binding *b, const char *resource)
{
    for (uint32_t i = 0; i < b->request_count; i++) {
        if (strcmp(b->requests[i].resource, resource) == 0)
            return b->requests[i].amount;
    }
    return 0;
}

static bool is_name(const void *item, const void *key)
{
    return item == key;
}

/* The names of clusters are shared texts: one is one pointer. */
static void add_binding(struct version_use *use, struct map *clusters, const struct binding *b)
{
    use->templates++;
    for (uint32_t i = 0; i < b->cluster_count; i++) {
        const struct target_cluster *c = &b->clusters[i];
        uint64_t hash = map_hash_address(c->name);

        use->replicas += c->replicas;
        use->cores += c->replicas * requested(b, "cpu");
        use->memory += c->replicas * requested(b, "memory");
        if (!map_get(clusters, hash, c->name))
            map_add(clusters, hash, (void *)(uintptr_t)c->name);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What the templates of a policy that run this version use. */
static struct version_use use_of(const struct entry *policy, const struct policy_version *v)
{
    struct version_use use = {.version = v};
    struct map clusters = MAP_INIT(is_name);
    const char *name;

    for (uint32_t i = 0; v->templates > 0 && i < policy->reader_count; i++) {
        const struct template_decision *d = template_decision(policy->readers[i]);

        if (d && d->version == v)
            add_binding(&use, &clusters, entry_binding(d->binding));
    }
    use.clusters = xreallocarray(NULL, clusters.count + 1, sizeof(const char *));
    for (size_t at = 0; (name = map_next(&clusters, &at)) != NULL;)
        use.clusters[use.cluster_count++] = name;
    qsort(use.clusters, use.cluster_count, sizeof(const char *), by_text);
    map_release(&clusters);
    return use;
}

struct version_uses version_uses_of(const struct entry *policy)
{
    const struct policy_decision *d = policy_decision(policy);
    const struct policy_history *h = d ? d->history : NULL;
    struct version_uses uses = {0};

    if (!h)
        return uses;
    uses.items = xreallocarray(NULL, h->count + 1, sizeof(*uses.items));
    for (size_t i = h->count; i-- > 0;)
        uses.items[uses.count++] = use_of(policy, h->versions[i]);
    if (h->unknown.templates > 0)
        uses.items[uses.count++] = use_of(policy, &h->unknown);
    return uses;
}

void version_uses_release(struct version_uses *uses)
{
    for (size_t i = 0; i < uses->count; i++)
        free(uses->items[i].clusters);
    free(uses->items);
    *uses = (struct version_uses){0};
}
