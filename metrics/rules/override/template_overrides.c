/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/override/template_overrides.h"

#include "metrics/base/json_patch.h"
#include "metrics/model/binding.h"
#include "metrics/model/template.h"
#include "metrics/rules/override/override_check.h"
#include "metrics/rules/placement_match.h"
#include "metrics/rules/prediction.h"
#include "metrics/rules/replica_projection.h"

/* ---- targets ---- */

static int compare_clusters(const void *a, const void *b)
{
    const struct target_override *left = a, *right = b;

    return strcmp(left->cluster, right->cluster);
}

static void add_target(struct template_overrides *o, const char *cluster, int32_t replicas)
{
    o->items = xreallocarray(o->items, o->count + 1, sizeof(*o->items));
    o->items[o->count++] = (struct target_override){.cluster = cluster, .replicas = replicas};
}

static void add_bound_targets(struct template_overrides *o, const struct binding *b)
{
    for (uint32_t i = 0; i < binding_target_count(b); i++)
        add_target(o, b->clusters[i].name, i < b->cluster_count ? b->clusters[i].replicas : 0);
}

/*
 * Without Cluster objects, as in most repositories of manifests, adds the clusters that the first
 * affinity of the policy names, if it selects by names alone.
 */
static void add_named_targets(const struct rule_context *c, const struct entry *template,
                              struct template_overrides *o)
{
    const struct entry *governing = decision_governing(template_decision(template));
    const struct policy_decision *policy = governing ? policy_decision(governing) : NULL;
    const struct placement *placement =
        policy && policy->resolved ? policy->resolved->placement : NULL;
    const struct cluster_affinity *affinity;

    if (store_object_count(c->store, CLASS_CLUSTER) > 0 || !placement || placement->unreadable)
        return;
    affinity = placement_group_by_name(placement, 0);
    for (uint32_t i = 0; affinity && i < affinity->name_count; i++) {
        if (affinity_allows_name(affinity, affinity->names[i]))
            add_target(o, affinity->names[i], 0);
    }
}

static void add_predicted_targets(const struct rule_context *c, const struct entry *template,
                                  struct template_overrides *o)
{
    struct predicted predicted;

    o->predicted = true;
    o->projection = xcalloc(1, sizeof(*o->projection));
    predicted = predict_in_context(c, template, o->projection);
    if (predicted.outcome == PREDICTION_UNDETERMINED)
        add_named_targets(c, template, o);
    if (predicted.outcome != PREDICTION_PLACED)
        return;
    for (uint32_t i = 0; i < o->projection->count; i++)
        add_target(o, o->projection->clusters[i].name, o->projection->clusters[i].replicas);
}

/* ---- evaluation ---- */

void template_set_replicas(cJSON *object, int32_t replicas)
{
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(object, "spec");
    cJSON *present = cJSON_GetObjectItemCaseSensitive(spec, "replicas");

    if (replicas > 0 && cJSON_IsNumber(present))
        json_replace(spec, present, cJSON_CreateNumber(replicas));
}

static void evaluate_target(const struct rule_context *c, const struct override_subject *subject,
                            const struct override_selection *selection, struct target_override *t)
{
    const struct kind_def *def = kind_of_clusters();
    const struct identity id = {def->api_version, def->name, "", t->cluster};
    const struct cluster *cluster = entry_cluster(store_find(c->store, &id));
    bool known = store_object_count(c->store, CLASS_CLUSTER) > 0 &&
                 !(incomplete_classes(&c->incomplete) & 1U << CLASS_CLUSTER);
    struct override_subject of_cluster = *subject;

    t->missing = known && !cluster;
    t->steps = override_steps_for_cluster(selection, t->cluster, cluster, c->release);
    if (t->missing || !subject->object)
        return;

    /* Karmada writes the scheduler's replicas before it applies the override policies. */
    CLEANUP(json_cleanup) cJSON *object = cJSON_Duplicate(subject->object, true);

    template_set_replicas(object, t->replicas);
    of_cluster.object = object;
    t->effect = override_effect_make(&of_cluster, selection, t->cluster, cluster);
}

/* Returns the whole template, owned by the caller; NULL if it is not known. */
static cJSON *read_document(const struct entry *template)
{
    const char *text = template_document(entry_template(template));

    return text ? cJSON_Parse(text) : NULL;
}

struct template_overrides template_overrides_make(const struct rule_context *c,
                                                  const struct entry *template, bool failures_only)
{
    const struct template_decision *d = template_decision(template);
    struct template_overrides o = {
        .selection = override_selection_make(c->store, template),
        .strings = store_string_pool(c->store),
    };
    CLEANUP(json_cleanup) cJSON *object = NULL;
    struct override_subject subject = {
        .store = c->store,
        .template = template,
        .yaml = c->options.yaml,
        .release = c->release,
        .failures_only = failures_only,
    };

    if (o.selection.count == 0 || !d)
        return o;
    subject.object = object = read_document(template);
    o.evaluated = object != NULL;
    if (failures_only && (!object || overrides_cannot_fail(&o.selection, object)))
        return o;
    if (entry_binding(decision_binding(d)))
        add_bound_targets(&o, entry_binding(decision_binding(d)));
    else
        add_predicted_targets(c, template, &o);
    if (o.count > 1)
        qsort(o.items, o.count, sizeof(*o.items), compare_clusters);
    for (size_t i = 0; i < o.count; i++)
        evaluate_target(c, &subject, &o.selection, &o.items[i]);
    return o;
}

void template_overrides_release(struct template_overrides *o)
{
    for (size_t i = 0; i < o->count; i++) {
        override_effect_release(&o->items[i].effect);
        override_steps_release(&o->items[i].steps);
    }
    free(o->items);
    if (o->projection)
        projection_release(o->strings, o->projection);
    free(o->projection);
    override_selection_release(&o->selection);
    *o = (struct template_overrides){0};
}

bool target_override_fails(const struct target_override *t)
{
    return t->effect.failed_policy && !t->effect.unsure && !t->effect.release_decides;
}

const struct target_override *template_overrides_find_failure(const struct template_overrides *o)
{
    for (size_t i = 0; i < o->count; i++) {
        if (target_override_fails(&o->items[i]))
            return &o->items[i];
    }
    return NULL;
}

bool override_values_are_hidden(const struct entry *template)
{
    return strcmp(entry_kind(template), "Secret") == 0 &&
           strcmp(entry_type(template)->api_version, "v1") == 0;
}

const char *override_failure_text(const struct override_effect *effect, bool hidden)
{
    return hidden ? "an overrider cannot be applied; values of Secrets are not shown"
                  : effect->err.text;
}
