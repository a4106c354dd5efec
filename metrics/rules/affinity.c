/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/affinity.h"

#include "metrics/rules/selector.h"

static bool lists(const char *const *texts, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(texts[i], text) == 0)
            return true;
    }
    return false;
}

bool affinity_allows_name(const struct cluster_affinity *affinity, const char *name)
{
    if (lists(affinity->exclude, affinity->exclude_count, name))
        return false;
    return affinity->name_count == 0 || lists(affinity->names, affinity->name_count, name);
}

/* Add a field of the cluster under the selector's own key: keys are compared as pointers. */
static void add_field(const struct label_selector *selector, const char *key, const char *value,
                      struct labels *out)
{
    for (size_t i = 0; value && i < selector->count; i++) {
        if (strcmp(selector->items[i].key, key) == 0) {
            out->items[out->count++] = (struct label){selector->items[i].key, value};
            return;
        }
    }
}

static bool fields_match(const struct label_selector *selector, const struct cluster *cluster)
{
    struct label items[2];
    struct labels fields = {.items = items};

    add_field(selector, "provider", cluster->provider, &fields);
    add_field(selector, "region", cluster->region, &fields);
    return label_selector_matches(selector, &fields);
}

static bool shares_zone(const struct label_requirement *r, const struct cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->zone_count; i++) {
        if (lists(r->values, r->value_count, cluster->zones[i]))
            return true;
    }
    return false;
}

/* In holds if one of the cluster's zones is listed; so does NotIn fail. */
static bool zone_matches(const struct label_requirement *r, const struct cluster *cluster)
{
    switch (r->op) {
    case LABEL_IN:
        return shares_zone(r, cluster);
    case LABEL_NOT_IN:
        return !shares_zone(r, cluster);
    case LABEL_EXISTS:
        return cluster->zone_count > 0;
    case LABEL_DOES_NOT_EXIST:
        return cluster->zone_count == 0;
    }
    abort();
}

/* Karmada does not check that zones are legal label values, so `invalid` does not count here. */
static bool zones_match(const struct label_selector *selector, const struct cluster *cluster)
{
    for (size_t i = 0; i < selector->count; i++) {
        if (!zone_matches(&selector->items[i], cluster))
            return false;
    }
    return true;
}

bool affinity_matches(const struct cluster_affinity *affinity, const char *name,
                      const struct cluster *cluster)
{
    if (affinity->never || !affinity_allows_name(affinity, name))
        return false;
    if (affinity->labels && !label_selector_matches(affinity->labels, &cluster->labels))
        return false;
    if (affinity->fields && !fields_match(affinity->fields, cluster))
        return false;
    return !affinity->zones || zones_match(affinity->zones, cluster);
}

/* apimachinery: Toleration.ToleratesTaint */
static bool tolerates(const struct toleration *t, const struct taint *taint)
{
    if (*t->effect && strcmp(t->effect, taint->effect) != 0)
        return false;
    if (*t->key && strcmp(t->key, taint->key) != 0)
        return false;
    if (strcmp(t->op, "Exists") == 0)
        return true;
    return (!*t->op || strcmp(t->op, "Equal") == 0) && strcmp(t->value, taint->value) == 0;
}

static bool is_tolerated(const struct placement *placement, const struct taint *taint)
{
    for (uint32_t i = 0; i < placement->toleration_count; i++) {
        if (tolerates(&placement->tolerations[i], taint))
            return true;
    }
    return strcmp(taint->effect, "NoSchedule") != 0 && strcmp(taint->effect, "NoExecute") != 0;
}

bool placement_tolerates(const struct placement *placement, const struct cluster *cluster)
{
    /* Karmada will taint it, if it has not yet. */
    if (cluster->deleting)
        return false;
    for (uint32_t i = 0; i < cluster->taint_count; i++) {
        if (!is_tolerated(placement, &cluster->taints[i]))
            return false;
    }
    return true;
}
