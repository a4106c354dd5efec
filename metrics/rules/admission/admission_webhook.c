/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/shown.h"
#include "metrics/model/metadata.h"
#include "metrics/rules/admission/admission_place.h"

/*
 * Karmada's validating webhooks for policies and override policies (Karmada: pkg/util/validation).
 * They see a policy after the mutating webhook, which drops empty lists and texts, except those of
 * a ClusterOverridePolicy. Values of a wrong type are left to the schema.
 */

const char *place_text(const struct place *p, const char *name)
{
    const char *text = cJSON_GetStringValue(place_member(p, name).value);

    return text ? text : "";
}

double place_number(const struct place *p, const char *name)
{
    const cJSON *value = place_member(p, name).value;

    return cJSON_IsNumber(value) ? value->valuedouble : 0;
}

bool place_has_elements(const struct place *list)
{
    return cJSON_IsArray(list->value) && list->value->child;
}

/* ---- clusters ---- */

static void check_field_selector(struct review *r, const struct place *affinity)
{
    struct place selector = place_member(affinity, "fieldSelector");
    struct place expressions = place_member(&selector, "matchExpressions");
    struct place e = {0};

    while (place_next_element(&expressions, &e)) {
        const char *key = place_text(&e, "key");
        const char *op = place_text(&e, "operator");

        if (strcmp(key, "provider") != 0 && strcmp(key, "region") != 0 && strcmp(key, "zone") != 0)
            review_refuse(r, &selector, e.releases,
                          "must have keys provider, region or zone, not \"%s\"", shown(key).text);
        else if (strcmp(op, "In") != 0 && strcmp(op, "NotIn") != 0)
            review_refuse(r, &selector, e.releases, "must have operators In or NotIn, not \"%s\"",
                          shown(op).text);
        else
            continue;
        return;
    }
}

static bool selects_clusters(const struct place *affinity)
{
    struct place names = place_member(affinity, "clusterNames");
    struct place excluded = place_member(affinity, "exclude");

    return place_member(affinity, "labelSelector").value ||
           place_member(affinity, "fieldSelector").value || place_has_elements(&names) ||
           place_has_elements(&excluded);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Sorts the texts `key` of the elements of a list into `*out`, which the caller frees, and returns
 * their number. Sorting keeps the search for equal texts fast in long lists.
 */
static size_t sort_texts(const struct place *list, const char *key, const char ***out)
{
    size_t count = 0, size = (size_t)cJSON_GetArraySize(list->value);
    const char **texts = xreallocarray(NULL, size + 1, sizeof(*texts));
    struct place e = {0};

    while (place_next_element(list, &e))
        texts[count++] = place_text(&e, key);
    qsort(texts, count, sizeof(*texts), compare_texts);
    *out = texts;
    return count;
}

const char *place_find_twice(const struct place *list, const char *key, bool with_empty)
{
    const char *found = NULL;
    const char **texts;
    size_t count;

    if (!place_has_elements(list) || !list->value->child->next)
        return NULL;
    count = sort_texts(list, key, &texts);

    for (size_t i = 1; i < count && !found; i++) {
        if (strcmp(texts[i - 1], texts[i]) == 0 && (with_empty || *texts[i]))
            found = texts[i];
    }
    free(texts);
    return found;
}

static void check_affinity_name(struct review *r, const struct place *at, const char *name)
{
    if (!label_key_is_valid(name))
        review_refuse(r, at, at->releases, "\"%s\" is no valid label key", shown(name).text);
}

/* Refuses names of overflow affinities that are not valid or not unique in their group. */
static void check_overflow_names(struct review *r, const struct place *group,
                                 const struct place *overflow)
{
    const char *own = place_text(group, "affinityName");
    const char *twice = place_find_twice(overflow, "affinityName", true);
    struct place e = {0};
    bool first = true;

    while (place_next_element(overflow, &e)) {
        const char *name = place_text(&e, "affinityName");
        struct place at = place_member(&e, "affinityName");

        check_affinity_name(r, &at, name);
        if (strcmp(name, own) == 0 || (twice && !first && strcmp(name, twice) == 0))
            review_refuse(r, &at, at.releases, "\"%s\" is the name of another affinity",
                          shown(name).text);
        first = first && !(twice && strcmp(name, twice) == 0);
        check_field_selector(r, &e);
    }
}

static void check_overflow(struct review *r, const struct place *group, bool allowed)
{
    struct place overflow = place_member(group, "overflowAffinities");

    if (!place_has_elements(&overflow))
        return;
    if (!allowed)
        review_refuse(r, &overflow, overflow.releases,
                      "needs replicaScheduling with dynamicWeight or Aggregated");
    if (!selects_clusters(group))
        review_refuse(r, &overflow, overflow.releases, "needs an affinity of its own group");
    check_overflow_names(r, group, &overflow);
}

/* Returns true if replicaScheduling divides replicas by free capacity. */
static bool allows_overflow(const struct place *placement)
{
    struct place scheduling = place_member(placement, "replicaScheduling");
    struct place weights = place_member(&scheduling, "weightPreference");
    const char *type = place_text(&scheduling, "replicaSchedulingType");
    const char *preference = place_text(&scheduling, "replicaDivisionPreference");

    /* Defaults: Divided by the schema, Weighted by the mutating webhook. */
    if (!scheduling.value || (*type && strcmp(type, "Divided") != 0))
        return false;
    if (strcmp(preference, "Aggregated") == 0)
        return true;
    return (!*preference || strcmp(preference, "Weighted") == 0) &&
           *place_text(&weights, "dynamicWeight");
}

static void check_affinities(struct review *r, const struct place *placement)
{
    struct place affinity = place_member(placement, "clusterAffinity");
    struct place groups = place_member(placement, "clusterAffinities");
    bool overflow_allowed = allows_overflow(placement);
    const char *twice;
    struct place e = {0};

    check_field_selector(r, &affinity);
    if (!place_has_elements(&groups))
        return;
    if (affinity.value)
        review_refuse(r, placement, groups.releases,
                      "must not have both clusterAffinity and clusterAffinities");
    twice = place_find_twice(&groups, "affinityName", true);
    if (twice)
        review_refuse(r, &groups, groups.releases, "has two groups with affinityName \"%s\"",
                      shown(twice).text);
    while (place_next_element(&groups, &e)) {
        check_affinity_name(r, &e, place_text(&e, "affinityName"));
        check_field_selector(r, &e);
        check_overflow(r, &e, overflow_allowed);
    }
}

/* ---- rest of the placement ---- */

/* Default of the mutating webhook: a constraint without field and label is by cluster. */
static const char *spread_field(const struct place *constraint)
{
    const char *field = place_text(constraint, "spreadByField");

    return *field || *place_text(constraint, "spreadByLabel") ? field : "cluster";
}

static void check_spread_constraint(struct review *r, const struct place *constraint)
{
    double least = place_number(constraint, "minGroups"),
           most = place_number(constraint, "maxGroups");

    /* Default of the mutating webhook. */
    if (least == 0)
        least = 1;
    if (*place_text(constraint, "spreadByField") && *place_text(constraint, "spreadByLabel"))
        review_refuse(r, constraint, constraint->releases,
                      "must not have both spreadByField and spreadByLabel");
    if (least < 0)
        review_refuse(r, constraint, constraint->releases, "must not have a negative minGroups");
    if (most < 0)
        review_refuse(r, constraint, constraint->releases, "must not have a negative maxGroups");
    if (most > 0 && most < least)
        review_refuse(r, constraint, constraint->releases,
                      "must not have minGroups above maxGroups");
}

static void check_spread_constraints(struct review *r, const struct place *placement)
{
    struct place constraints = place_member(placement, "spreadConstraints");
    bool by_field = false, by_cluster = false, by_default = false;
    const char *twice = place_find_twice(&constraints, "spreadByField", false);
    struct place e = {0};

    while (place_next_element(&constraints, &e)) {
        const char *field = spread_field(&e);

        check_spread_constraint(r, &e);
        /* Two constraints by cluster, of which one has no field, are not equal in their texts. */
        if (strcmp(field, "cluster") == 0 && by_cluster &&
            (by_default || !*place_text(&e, "spreadByField")))
            twice = "cluster";
        by_default |= strcmp(field, "cluster") == 0 && !*place_text(&e, "spreadByField");
        by_field |= *field != '\0';
        by_cluster |= strcmp(field, "cluster") == 0;
    }
    if (twice)
        review_refuse(r, &constraints, constraints.releases, "has two constraints by %s",
                      shown(twice).text);
    if (by_field && !by_cluster)
        review_refuse(r, &constraints, constraints.releases,
                      "needs a constraint by cluster beside the constraint by another field");
}

static void check_group_key(struct review *r, const struct place *affinity)
{
    struct place at = place_member(affinity, "groupByLabelKey");
    const char *key = place_text(affinity, "groupByLabelKey");

    if (affinity->value && !label_key_is_valid(key))
        review_refuse(r, &at, at.releases, "\"%s\" is no valid label key", shown(key).text);
}

static void check_workload_affinity(struct review *r, const struct place *placement)
{
    struct place both = place_member(placement, "workloadAffinity");
    struct place affinity, anti;

    if (!both.value)
        return;
    affinity = place_member(&both, "affinity");
    anti = place_member(&both, "antiAffinity");
    check_group_key(r, &affinity);
    check_group_key(r, &anti);
    if (affinity.value && anti.value &&
        strcmp(place_text(&affinity, "groupByLabelKey"), place_text(&anti, "groupByLabelKey")) == 0)
        review_refuse(r, &both, both.releases,
                      "must not have the same groupByLabelKey in affinity and antiAffinity");
}

static void check_tolerations(struct review *r, const struct place *placement)
{
    struct place tolerations = place_member(placement, "clusterTolerations");
    struct place e = {0};

    while (place_next_element(&tolerations, &e)) {
        struct place at = place_member(&e, "operator");
        const char *op = place_text(&e, "operator");

        if (strcmp(op, "Lt") == 0 || strcmp(op, "Gt") == 0)
            review_refuse(r, &at, behaviour_releases(BEHAVIOUR_REFUSES_COMPARING_TOLERATIONS),
                          "must be Exists or Equal, not %s", op);
    }
}

/* ---- rest of a propagation policy ---- */

static void check_state_preservation(struct review *r, const struct place *failover)
{
    struct place preservation = place_member(failover, "statePreservation");
    struct place rules = place_member(&preservation, "rules");
    struct place e = {0};

    while (place_next_element(&rules, &e)) {
        struct place at = place_member(&e, "aliasLabelName");
        const char *name = place_text(&e, "aliasLabelName");

        if (!label_key_is_valid(name))
            review_refuse(r, &at, behaviour_releases(BEHAVIOUR_CHECKS_STATE_PRESERVATION),
                          "\"%s\" is no valid label key", shown(name).text);
    }
}

release_set webhook_graceful_releases(const char *purge_mode)
{
    /* Without a purgeMode the default is the graceful one of the release. */
    if (!*purge_mode)
        return (release_set)~0U;
    if (strcmp(purge_mode, "Gracefully") == 0)
        return behaviour_releases(BEHAVIOUR_PURGES_GRACEFULLY);
    if (strcmp(purge_mode, "Graciously") == 0)
        return (release_set)~behaviour_releases(BEHAVIOUR_FORGETS_GRACIOUSLY);
    return 0;
}

static void check_application_failover(struct review *r, const struct place *application)
{
    struct place conditions = place_member(application, "decisionConditions");
    struct place toleration = place_member(&conditions, "tolerationSeconds");
    struct place grace = place_member(application, "gracePeriodSeconds");
    release_set graceful = webhook_graceful_releases(place_text(application, "purgeMode"));

    if (place_number(&conditions, "tolerationSeconds") < 0)
        review_refuse(r, &toleration, toleration.releases, "must not be negative");
    if (cJSON_IsNumber(grace.value)) {
        review_refuse(r, &grace, (release_set)~graceful, "needs the graceful purgeMode");
        if (grace.value->valuedouble <= 0)
            review_refuse(r, &grace, grace.releases, "must be greater than 0");
    }
    check_state_preservation(r, application);
}

bool webhook_finds_service_import(const struct place *selectors)
{
    struct place e = {0};

    while (place_next_element(selectors, &e)) {
        if (strcmp(place_text(&e, "kind"), "ServiceImport") == 0 &&
            strcmp(place_text(&e, "apiVersion"), "multicluster.x-k8s.io/v1alpha1") == 0)
            return true;
    }
    return false;
}

static void check_failover(struct review *r, const struct place *spec)
{
    struct place failover = place_member(spec, "failover");
    struct place application, cluster, deps, selectors;

    if (!failover.value)
        return;
    application = place_member(&failover, "application");
    cluster = place_member(&failover, "cluster");
    check_state_preservation(r, &cluster);
    if (!application.value)
        return;
    deps = place_member(spec, "propagateDeps");
    selectors = place_member(spec, "resourceSelectors");
    /* The mutating webhook sets propagateDeps for ServiceImports. */
    if (!cJSON_IsTrue(deps.value) && !webhook_finds_service_import(&selectors))
        review_refuse(r, &deps, application.releases, "must be true with failover.application");
    check_application_failover(r, &application);
}

static void check_suspension(struct review *r, const struct place *spec)
{
    struct place suspension = place_member(spec, "suspension");
    struct place on, names;

    if (!suspension.value)
        return;
    on = place_member(&suspension, "dispatchingOnClusters");
    names = place_member(&on, "clusterNames");
    if (cJSON_IsTrue(place_member(&suspension, "dispatching").value) && place_has_elements(&names))
        review_refuse(r, &suspension, suspension.releases,
                      "must not have both dispatching and dispatchingOnClusters");
}

static void check_selectors(struct review *r, const struct place *spec)
{
    struct place selectors = place_member(spec, "resourceSelectors");
    bool preempts = strcmp(place_text(spec, "preemption"), "Always") == 0;
    struct place e = {0};

    while (place_next_element(&selectors, &e)) {
        struct place ns = place_member(&e, "namespace");
        struct place name = place_member(&e, "name");
        const char *text = place_text(&e, "namespace");

        /* Default of the mutating webhook: the namespace of the policy. */
        if (*r->ns && *text && strcmp(text, r->ns) != 0)
            review_refuse(r, &ns, behaviour_releases(BEHAVIOUR_CHECKS_SELECTOR_NAMESPACE),
                          "must be %s, the namespace of the policy", shown(r->ns).text);
        if (preempts && !*place_text(&e, "name"))
            review_refuse(r, &name, name.releases, "is required with preemption Always");
    }
}

static void check_propagation_policy(struct review *r, const struct place *spec)
{
    struct place placement = place_member(spec, "placement");

    check_affinities(r, &placement);
    check_spread_constraints(r, &placement);
    check_workload_affinity(r, &placement);
    check_tolerations(r, &placement);
    check_failover(r, spec);
    check_selectors(r, spec);
    check_suspension(r, spec);
}

/* ---- override policies ---- */

/* Refuses a text that is no JSON pointer: one begins with "/", or is empty. */
static void check_pointer(struct review *r, const struct place *parent, const char *key)
{
    struct place at = place_member(parent, key);
    const char *pointer = place_text(parent, key);

    if (*pointer && *pointer != '/')
        review_refuse(r, &at, at.releases, "must begin with \"/\", not \"%s\"",
                      shown(pointer).text);
}

static void check_patches(struct review *r, const struct place *overrider, const char *key)
{
    struct place patches = place_member(overrider, key);
    struct place e = {0};

    while (place_next_element(&patches, &e)) {
        struct place value = place_member(&e, "value");
        const char *op = place_text(&e, "operator");

        check_pointer(r, &e, "subPath");
        if (!value.value && (strcmp(op, "add") == 0 || strcmp(op, "replace") == 0))
            review_refuse(r, &value, value.releases, "is required with operator %s", op);
        if (value.value && strcmp(op, "remove") == 0)
            review_refuse(r, &value, value.releases, "must not be set with operator remove");
    }
}

static void check_field_overriders(struct review *r, const struct place *overriders)
{
    struct place list = place_member(overriders, "fieldOverrider");
    struct place e = {0};

    while (place_next_element(&list, &e)) {
        struct place json = place_member(&e, "json");
        struct place yaml = place_member(&e, "yaml");

        if (place_has_elements(&json) && place_has_elements(&yaml))
            review_refuse(r, &e, e.releases, "must not have both json and yaml");
        if (!place_has_elements(&json) && !place_has_elements(&yaml))
            review_refuse(r, &e, behaviour_releases(BEHAVIOUR_REQUIRES_FIELD_PATCHES),
                          "must have json or yaml");
        check_pointer(r, &e, "fieldPath");
        check_patches(r, &e, "json");
        check_patches(r, &e, "yaml");
    }
}

/* Refuses invalid labels or annotations. */
static void check_metadata_overriders(struct review *r, const struct place *overriders,
                                      const char *key, enum text_map kind)
{
    struct place list = place_member(overriders, key);
    struct place e = {0};

    while (place_next_element(&list, &e)) {
        struct place value = place_member(&e, "value");

        review_text_map(r, &value, kind);
    }
}

static void check_override_rule(struct review *r, const struct place *rule)
{
    struct place overriders = place_member(rule, "overriders");
    struct place images = place_member(&overriders, "imageOverrider");
    struct place target = place_member(rule, "targetCluster");
    struct place e = {0};

    check_metadata_overriders(r, &overriders, "annotationsOverrider", MAP_OF_ANNOTATIONS);
    check_metadata_overriders(r, &overriders, "labelsOverrider", MAP_OF_LABELS);
    while (place_next_element(&images, &e)) {
        struct place predicate = place_member(&e, "predicate");

        check_pointer(r, &predicate, "path");
    }
    check_field_overriders(r, &overriders);
    check_field_selector(r, &target);
}

/* Returns true if deprecated overriders are set. Karmada does not count fieldOverrider. */
static bool has_overriders(const struct place *overriders)
{
    static const char *const keys[] = {
        "plaintext",     "imageOverrider",  "commandOverrider",
        "argsOverrider", "labelsOverrider", "annotationsOverrider",
    };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct place list = place_member(overriders, keys[i]);

        if (place_has_elements(&list))
            return true;
    }
    return false;
}

static void check_override_policy(struct review *r, const struct place *spec, bool mutated)
{
    struct place target = place_member(spec, "targetCluster");
    struct place overriders = place_member(spec, "overriders");
    struct place rules = place_member(spec, "overrideRules");
    bool has_rules = mutated ? place_has_elements(&rules) : rules.value != NULL;
    struct place e = {0};

    check_field_selector(r, &target);
    if (target.value && has_rules)
        review_refuse(r, &target, target.releases, "must not be set with overrideRules");
    if (has_overriders(&overriders) && has_rules)
        review_refuse(r, &overriders, overriders.releases, "must not be set with overrideRules");
    while (place_next_element(&rules, &e))
        check_override_rule(r, &e);
    check_selectors(r, spec);
}

void webhook_review(struct review *r, const struct place *spec)
{
    const char *kind = r->kind->kind;

    if (!cJSON_IsObject(spec->value))
        return;
    if (strcmp(r->kind->group, "policy.karmada.io") != 0) {
        webhook_review_other(r, spec);
        return;
    }
    if (strcmp(kind, "PropagationPolicy") == 0 || strcmp(kind, "ClusterPropagationPolicy") == 0)
        check_propagation_policy(r, spec);
    else if (strcmp(kind, "OverridePolicy") == 0)
        check_override_policy(r, spec, true);
    else if (strcmp(kind, "ClusterOverridePolicy") == 0)
        check_override_policy(r, spec, false);
    else
        webhook_review_other(r, spec);
}
