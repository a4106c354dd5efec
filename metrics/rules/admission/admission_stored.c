/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/admission/admission.h"
#include "metrics/rules/admission/admission_place.h"

/*
 * The object that the API server stores: pruned, with the defaults of the schema, and as Karmada's
 * mutating webhooks write it (Karmada: pkg/webhook, pkg/util/helper/policy.go).
 */

/* ---- schema ---- */

/* Returns the field of the release; NULL if the release drops it. */
static const struct crd_field *field_in(const struct field_variants *variants, release_set release)
{
    for (size_t i = 0; i < variants->count; i++) {
        if (variants->items[i].releases & release)
            return &variants->items[i];
    }
    return NULL;
}

static const struct crd_field *find_field(const struct place *list, const char *name)
{
    struct field_variants variants = place_find_fields(list, name);
    const struct crd_field *field = field_in(&variants, list->releases);

    if (field)
        return field;
    variants = place_find_fields(list, "{}");
    return field_in(&variants, list->releases);
}

static void add_defaults(cJSON *object, const struct place *list)
{
    for (uint16_t i = 0; i < list->count; i++) {
        const struct crd_field *field = &crd_fields[list->first + i];
        const char *fallback = crd_limits[field->limit].fallback;

        if (fallback && (field->releases & list->releases) && !json_get(object, field->name)) {
            cJSON_DeleteItemFromObjectCaseSensitive(object, field->name);
            cJSON_AddItemToObject(object, field->name, cJSON_Parse(fallback));
        }
    }
}

/* Removes the fields that the release does not have, and null; adds defaults. */
static void apply_schema(cJSON *value, const struct place *list)
{
    cJSON *next;

    if (list->count == 0)
        return;
    if (cJSON_IsObject(value))
        add_defaults(value, list);
    for (cJSON *item = value->child; item; item = next) {
        const struct crd_field *field = find_field(list, item->string ? item->string : "[]");

        next = item->next;
        if (!field || (item->string && cJSON_IsNull(item)))
            cJSON_Delete(cJSON_DetachItemViaPointer(value, item));
        else if (!(field->flags & CRD_PRESERVED))
            apply_schema(item, &(struct place){.releases = list->releases,
                                               .first = field->first,
                                               .count = field->count});
    }
}

/* ---- Go's encoding of the webhook ---- */

/* Fields that are pointers in Go: a value of zero or false is written. */
static bool is_pointer(const char *name)
{
    static const char *const names[] = {
        "dispatching",       "preserveResourcesOnDeletion", "priority",
        "tolerationSeconds", "gracePeriodSeconds",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

/* Returns true if Go leaves out the value because it is the zero value of the field. */
static bool is_omitted(const cJSON *item, const struct crd_field *field)
{
    bool is_map = field->count == 1 && strcmp(crd_fields[field->first].name, "{}") == 0;

    if ((field->flags & CRD_REQUIRED) || is_pointer(field->name))
        return false;
    return (cJSON_IsString(item) && !*item->valuestring) || cJSON_IsFalse(item) ||
           (cJSON_IsNumber(item) && item->valuedouble == 0) ||
           (cJSON_IsArray(item) && !item->child) ||
           (cJSON_IsObject(item) && is_map && !item->child);
}

static void omit_zero_values(cJSON *value, const struct place *list)
{
    cJSON *next;

    for (cJSON *item = value->child; item; item = next) {
        const struct crd_field *field = find_field(list, item->string ? item->string : "[]");

        next = item->next;
        if (!field || (field->flags & CRD_PRESERVED))
            continue;
        if (field->count > 0)
            omit_zero_values(item, &(struct place){.releases = list->releases,
                                                   .first = field->first,
                                                   .count = field->count});
        if (item->string && strcmp(field->name, "{}") != 0 && is_omitted(item, field))
            cJSON_Delete(cJSON_DetachItemViaPointer(value, item));
    }
}

static cJSON *member(cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* Adds an empty object: in Go the field is a structure, which is always written. */
static cJSON *member_or_empty(cJSON *object, const char *key)
{
    cJSON *found = member(object, key);

    return found ? found : cJSON_AddObjectToObject(object, key);
}

/* Adds the values of patches that Go writes as null. */
static void write_null_values(cJSON *patches)
{
    cJSON *patch;

    cJSON_ArrayForEach (patch, patches) {
        if (!member(patch, "value"))
            cJSON_AddNullToObject(patch, "value");
    }
}

static void complete_overriders(cJSON *overriders)
{
    cJSON *item;

    write_null_values(member(overriders, "plaintext"));
    cJSON_ArrayForEach (item, member(overriders, "fieldOverrider")) {
        write_null_values(member(item, "json"));
        write_null_values(member(item, "yaml"));
    }
}

/* ---- mutating webhooks ---- */

static void set_text(cJSON *object, const char *key, const char *text)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    cJSON_AddStringToObject(object, key, text);
}

static void set_selector_namespaces(cJSON *spec, const char *ns)
{
    cJSON *selector;

    cJSON_ArrayForEach (selector, member(spec, "resourceSelectors")) {
        if (*ns && !*json_str(selector, "namespace", ""))
            set_text(selector, "namespace", ns);
    }
}

static void set_spread_defaults(cJSON *placement)
{
    cJSON *constraint;

    cJSON_ArrayForEach (constraint, member(placement, "spreadConstraints")) {
        if (!*json_str(constraint, "spreadByField", "") &&
            !*json_str(constraint, "spreadByLabel", ""))
            set_text(constraint, "spreadByField", "cluster");
        if (json_int(constraint, "minGroups", 0) == 0) {
            cJSON_DeleteItemFromObjectCaseSensitive(constraint, "minGroups");
            cJSON_AddNumberToObject(constraint, "minGroups", 1);
        }
    }
}

/* Adds a toleration of NoExecute for 300 s, unless the list has one that differs in time only. */
static void add_toleration(cJSON *tolerations, const char *key)
{
    cJSON *item;

    cJSON_ArrayForEach (item, tolerations) {
        if (strcmp(json_str(item, "key", ""), key) == 0 &&
            strcmp(json_str(item, "operator", ""), "Exists") == 0 &&
            strcmp(json_str(item, "effect", ""), "NoExecute") == 0 && !*json_str(item, "value", ""))
            return;
    }
    item = cJSON_CreateObject();
    set_text(item, "key", key);
    set_text(item, "operator", "Exists");
    set_text(item, "effect", "NoExecute");
    cJSON_AddNumberToObject(item, "tolerationSeconds", 300);
    cJSON_AddItemToArray(tolerations, item);
}

static void add_default_tolerations(cJSON *placement)
{
    cJSON *tolerations = member(placement, "clusterTolerations");

    if (!tolerations)
        tolerations = cJSON_AddArrayToObject(placement, "clusterTolerations");
    add_toleration(tolerations, "cluster.karmada.io/not-ready");
    add_toleration(tolerations, "cluster.karmada.io/unreachable");
}

static void mutate_propagation_policy(cJSON *spec, enum release release,
                                      const struct place *spec_place)
{
    cJSON *placement = member_or_empty(spec, "placement");
    cJSON *scheduling = member(placement, "replicaScheduling");
    cJSON *application = member(member(spec, "failover"), "application");
    const struct place selectors = place_member(spec_place, "resourceSelectors");

    set_spread_defaults(placement);
    if (!release_has(release, BEHAVIOUR_NO_DEFAULT_TOLERATIONS))
        add_default_tolerations(placement);
    if (webhook_finds_service_import(&selectors) && !member(spec, "propagateDeps"))
        cJSON_AddTrueToObject(spec, "propagateDeps");
    if (strcmp(json_str(scheduling, "replicaSchedulingType", ""), "Divided") == 0 &&
        !*json_str(scheduling, "replicaDivisionPreference", ""))
        set_text(scheduling, "replicaDivisionPreference", "Weighted");
    if (application && !member(application, "gracePeriodSeconds") &&
        (webhook_graceful_releases(json_str(application, "purgeMode", "")) & 1U << release))
        cJSON_AddNumberToObject(application, "gracePeriodSeconds", 600);
}

static void mutate_override_policy(cJSON *spec)
{
    cJSON *rule;

    complete_overriders(member_or_empty(spec, "overriders"));
    cJSON_ArrayForEach (rule, member(spec, "overrideRules"))
        complete_overriders(member_or_empty(rule, "overriders"));
}

static void mutate(cJSON *object, const struct place *root, enum release release)
{
    const char *kind = json_str(object, "kind", "");
    const char *ns = json_str(json_get(object, "metadata"), "namespace", "");
    cJSON *spec = member(object, "spec");
    struct place spec_place = place_member(root, "spec");
    bool overrides = strcmp(kind, "OverridePolicy") == 0;

    if (!cJSON_IsObject(spec) || (!overrides && strcmp(kind, "PropagationPolicy") != 0 &&
                                  strcmp(kind, "ClusterPropagationPolicy") != 0))
        return;
    omit_zero_values(spec, &spec_place);
    if (overrides)
        mutate_override_policy(spec);
    else
        mutate_propagation_policy(spec, release, &spec_place);
    set_selector_namespaces(spec, ns);
}

cJSON *admission_make_stored(const cJSON *object, enum release release)
{
    cJSON *stored = cJSON_Duplicate(object, true);
    const struct crd_kind *kind =
        admission_find_kind(json_str(object, "apiVersion", ""), json_str(object, "kind", ""));
    struct place root = {.value = stored, .releases = (release_set)(1U << release)};

    if (!stored)
        abort();
    if (!kind || !(kind->releases & root.releases))
        return stored;
    root.first = kind->first;
    root.count = kind->count;
    apply_schema(stored, &root);
    mutate(stored, &root, release);
    return stored;
}
