/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/override/override_effect.h"

#include "metrics/base/json_patch.h"

/* ---- application ---- */

/* The object while its override policies are applied. */
struct application {
    const struct override_subject *subject;
    const char *name;
    const struct cluster *cluster;
    cJSON *object; /* Owned. */
    struct override_effect *effect;
};

static void note_applied(struct application *a, const struct override_step *step,
                         const cJSON *before)
{
    struct override_effect *e = a->effect;
    struct applied_override *applied;

    e->applied = xreallocarray(e->applied, e->applied_count + 1, sizeof(*e->applied));
    applied = &e->applied[e->applied_count++];
    *applied = (struct applied_override){.policy = step->by->policy, .rule = step->rule};
    if (before)
        override_changes_find(before, a->object, &applied->changes);
}

/* Applies one rule. Returns false after a failure. */
static bool apply_step(struct application *a, const struct override_step *step)
{
    struct override_effect *e = a->effect;
    const cJSON *overriders = step->rule->overriders;
    CLEANUP(json_cleanup) cJSON *before = NULL;
    enum overriders_result result;

    if (!a->subject->failures_only && overriders)
        before = cJSON_Duplicate(a->object, true);
    result = overriders_apply(overriders, &a->object, a->subject->yaml, &e->err);
    if (result == OVERRIDERS_APPLIED) {
        note_applied(a, step, before);
        return true;
    }
    e->failed_policy = step->by->policy;
    e->failed_rule = step->rule;
    e->panicked = result == OVERRIDERS_PANICKED;
    return false;
}

/* Applies the rules of one kind of override policies in a selection. False after a failure. */
static bool apply_selection(struct application *a, const struct override_selection *selection,
                            bool cluster_scoped)
{
    struct override_steps steps =
        override_steps_for_cluster(selection, a->name, a->cluster, a->subject->release);
    bool applied = true;

    a->effect->unsure |= steps.unsure;
    a->effect->release_decides |= steps.release_decides;
    for (size_t i = 0; applied && i < steps.count; i++) {
        if (entry_is_cluster_scoped(steps.items[i].by->policy) == cluster_scoped)
            applied = apply_step(a, &steps.items[i]);
    }
    override_steps_release(&steps);
    return applied;
}

/* Returns true if a field by which override policies select has changed. */
static bool identity_differs(const cJSON *a, const cJSON *b)
{
    static const char *const keys[] = {"apiVersion", "kind"};
    static const char *const metadata_keys[] = {"namespace", "name"};
    const cJSON *left = json_get(a, "metadata"), *right = json_get(b, "metadata");
    const cJSON *left_labels = json_get(left, "labels"), *right_labels = json_get(right, "labels");
    bool differs = !left_labels != !right_labels ||
                   (left_labels && !cJSON_Compare(left_labels, right_labels, true));

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        differs |= strcmp(json_str(a, keys[i], ""), json_str(b, keys[i], "")) != 0;
    for (size_t i = 0; i < ARRAY_LEN(metadata_keys); i++)
        differs |= strcmp(json_str(left, metadata_keys[i], ""),
                          json_str(right, metadata_keys[i], "")) != 0;
    return differs;
}

/* Applies both kinds: the OverridePolicies are selected by the result of the first kind. */
static bool apply_all(struct application *a, const struct override_selection *selection)
{
    struct override_selection changed;
    bool applied;

    if (!apply_selection(a, selection, true))
        return false;
    if (a->effect->applied_count == 0 || !identity_differs(a->subject->object, a->object))
        return apply_selection(a, selection, false);
    changed = override_selection_of_object(a->subject->store, a->object);
    applied = apply_selection(a, &changed, false);
    override_selection_release(&changed);
    return applied;
}

struct override_effect override_effect_make(const struct override_subject *subject,
                                            const struct override_selection *selection,
                                            const char *name, const struct cluster *cluster)
{
    struct override_effect effect = {0};
    struct application a = {subject, name, cluster, NULL, &effect};

    a.object = cJSON_Duplicate(subject->object, true);
    if (apply_all(&a, selection) && !subject->failures_only) {
        override_changes_find(subject->object, a.object, &effect.changes);
        effect.result = a.object;
        return effect;
    }
    cJSON_Delete(a.object);
    return effect;
}

void override_effect_release(struct override_effect *effect)
{
    for (size_t i = 0; i < effect->applied_count; i++)
        override_changes_release(&effect->applied[i].changes);
    free(effect->applied);
    override_changes_release(&effect->changes);
    cJSON_Delete(effect->result);
    *effect = (struct override_effect){0};
}

bool override_effects_equal(const struct override_effect *a, const struct override_effect *b)
{
    if (a->applied_count != b->applied_count || a->failed_rule != b->failed_rule ||
        a->unsure != b->unsure || a->release_decides != b->release_decides ||
        a->panicked != b->panicked)
        return false;
    for (size_t i = 0; i < a->applied_count; i++) {
        if (a->applied[i].rule != b->applied[i].rule ||
            !override_changes_equal(&a->applied[i].changes, &b->applied[i].changes))
            return false;
    }
    return strcmp(a->err.text, b->err.text) == 0 &&
           override_changes_equal(&a->changes, &b->changes);
}

uint32_t override_rule_index(const struct entry *policy, const struct override_rule *rule)
{
    return (uint32_t)(rule - entry_override(policy)->rules);
}

/* ---- annotations of the Work ---- */

cJSON *override_effect_annotation(const struct override_effect *effect, bool cluster_scoped)
{
    cJSON *list = NULL;

    for (size_t i = 0; i < effect->applied_count; i++) {
        const struct applied_override *applied = &effect->applied[i];
        size_t at = 0;
        cJSON *item;

        if (entry_is_cluster_scoped(applied->policy) != cluster_scoped)
            continue;
        if (!list)
            list = cJSON_CreateArray();
        /* Rules of one policy keep their order. */
        cJSON_ArrayForEach (item, list)
            at += strcmp(json_str(item, "policyName", ""), applied->policy->name) <= 0;
        item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "policyName", applied->policy->name);
        cJSON_AddItemToObject(item, "overriders", overriders_normalize(applied->rule->overriders));
        json_insert(list, at, item);
    }
    return list;
}
