/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/overrides.h"

#include "metrics/model/store.h"
#include "metrics/rules/affinity.h"

/* ---- who selects it ---- */

static bool is_cluster_wide(const struct entry *policy)
{
    return policy->partition->type->def->cluster_scoped;
}

/* Those of one kind in one namespace. */
static void add_selecting(const struct store *store, bool cluster_scoped, const char *ns,
                          const struct entry *template, struct override_selection *out)
{
    const struct kind_def *def = kind_override(cluster_scoped);
    const struct type *type = store_find_type(store, def->api_version, def->name);
    const char *shared_ns = intern_find(store_strings(store), ns);
    const struct partition *partition =
        type && shared_ns ? type_partition(store, type, shared_ns) : NULL;

    for (size_t i = 0; partition && i < partition->count; i++) {
        const struct override *override = entry_override(partition->entries[i]);
        enum selector_score score = SCORE_ALL;

        if (!override)
            continue;
        if (override->selector_count > 0)
            score = selectors_score(override->selectors, override->selector_count, template);
        if (score == SCORE_NONE)
            continue;
        if (out->count == out->capacity) {
            out->capacity = out->capacity ? 2 * out->capacity : 8;
            out->items = xreallocarray(out->items, out->capacity, sizeof(*out->items));
        }
        out->items[out->count++] = (struct overriding){partition->entries[i], score};
    }
}

static int by_application(const void *left, const void *right)
{
    const struct overriding *a = left;
    const struct overriding *b = right;

    if (is_cluster_wide(a->policy) != is_cluster_wide(b->policy))
        return is_cluster_wide(a->policy) ? -1 : 1;
    if (a->score != b->score)
        return a->score < b->score ? -1 : 1;
    return strcmp(a->policy->name, b->policy->name);
}

struct override_selection override_selection_make(const struct store *store,
                                                  const struct entry *template)
{
    struct override_selection selection = {0};

    add_selecting(store, true, "", template, &selection);
    if (*entry_ns(template))
        add_selecting(store, false, entry_ns(template), template, &selection);
    if (selection.count > 1)
        qsort(selection.items, selection.count, sizeof(*selection.items), by_application);
    return selection;
}

void override_selection_release(struct override_selection *selection)
{
    free(selection->items);
    *selection = (struct override_selection){0};
}

/* ---- where they act ---- */

static bool acts(const struct override_rule *rule, const char *name, const struct cluster *cluster,
                 bool *unsure)
{
    const struct cluster_affinity *target = rule->target;

    if (!target)
        return true;
    if (cluster)
        return affinity_matches(target, name, cluster);
    if (target->never || !affinity_allows_name(target, name))
        return false;
    *unsure |= target->labels || target->fields || target->zones;
    return true;
}

struct override_steps override_steps_make(const struct override_selection *selection,
                                          const char *name, const struct cluster *cluster)
{
    struct override_steps steps = {0};

    for (size_t i = 0; i < selection->count; i++) {
        const struct overriding *by = &selection->items[i];
        const struct override *override = entry_override(by->policy);

        for (uint32_t k = 0; k < override->rule_count; k++) {
            const struct override_rule *rule = &override->rules[k];

            if (!acts(rule, name, cluster, &steps.unsure))
                continue;
            steps.items = xreallocarray(steps.items, steps.count + 1, sizeof(*steps.items));
            steps.items[steps.count++] = (struct override_step){by, rule};
            steps.others_may_act |= rule->writes_identity && is_cluster_wide(by->policy);
        }
    }
    return steps;
}

void override_steps_release(struct override_steps *steps)
{
    free(steps->items);
    *steps = (struct override_steps){0};
}

bool override_steps_equal(const struct override_steps *a, const struct override_steps *b)
{
    if (a->count != b->count || a->unsure != b->unsure)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (a->items[i].rule != b->items[i].rule)
            return false;
    }
    return true;
}

uint32_t override_step_index(const struct override_step *step)
{
    return (uint32_t)(step->rule - entry_override(step->by->policy)->rules);
}
