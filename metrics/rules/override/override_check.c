/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/override/override_check.h"

#include <math.h>

#include "metrics/model/override_policy.h"
#include "metrics/rules/override/image_reference.h"
#include "metrics/rules/override/workload_schema.h"

/* What is known about the object; each part is examined once, when a rule needs it. */
struct checked_object {
    const cJSON *object;
    const struct override_selection *selection;
    const cJSON *containers;     /* NULL without. */
    bool has_containers_checked; /* The next members are set. */
    bool containers_fit;         /* The object fits its kind, and all images are valid. */
    bool has_images_checked;     /* The next member is set. */
    bool changes_images;         /* Some rule changes images: texts may not be replaced. */
};

/* ---- containers ---- */

static bool images_are_valid(const cJSON *containers)
{
    static const struct image_change nothing = {"Registry", "", ""};
    const cJSON *container;

    cJSON_ArrayForEach (container, containers) {
        CLEANUP(strbuf_release) struct strbuf same = STRBUF_INIT(1 << 16);
        struct error ignored;

        if (!image_apply_change(json_str(container, "image", ""), &nothing, &same, &ignored))
            return false;
    }
    return true;
}

/* Returns true if the object has no containers, or fits the types of its kind with valid images. */
static bool containers_fit(struct checked_object *o)
{
    const char *kind = json_str(o->object, "kind", "");
    const cJSON *spec = json_get(o->object, "spec");
    struct error ignored;

    if (o->has_containers_checked)
        return o->containers_fit;
    o->has_containers_checked = true;
    if (!workload_has_containers(kind))
        return o->containers_fit = true;
    if (strcmp(kind, "Pod") != 0)
        spec = json_get(json_get(spec, "template"), "spec");
    o->containers = json_get(spec, "containers");
    return o->containers_fit = workload_fits_schema(o->object, kind, &ignored) &&
                               cJSON_IsArray(o->containers) && images_are_valid(o->containers);
}

/* ---- lists of overriders ---- */

typedef bool check_fn(struct checked_object *o, const cJSON *item);

static const char *text_of(const cJSON *value)
{
    return cJSON_IsString(value) ? value->valuestring : "";
}

static bool image_cannot_fail(struct checked_object *o, const cJSON *item)
{
    struct image_change change = {"", "", ""};
    const cJSON *field;

    cJSON_ArrayForEach (field, item) {
        if (strcmp(field->string, "component") == 0)
            change.component = text_of(field);
        else if (strcmp(field->string, "operator") == 0)
            change.op = text_of(field);
        else if (strcmp(field->string, "value") == 0)
            change.value = text_of(field);
        else
            return false;
    }
    return image_change_keeps_valid(&change) && containers_fit(o);
}

static bool list_cannot_fail(struct checked_object *o, const cJSON *item)
{
    (void)item;
    return containers_fit(o);
}

/* Returns true if metadata.<map> has only texts, and the keys need no escapes. */
static bool map_cannot_fail(const struct checked_object *o, const char *map, const cJSON *item)
{
    const cJSON *metadata = json_get(o->object, "metadata");
    const cJSON *present = cJSON_GetObjectItemCaseSensitive(metadata, map);
    const char *op = json_str(item, "operator", "");
    const cJSON *value;

    if (!metadata || (present && !cJSON_IsObject(present)) ||
        (strcmp(op, "add") != 0 && strcmp(op, "replace") != 0))
        return false;
    cJSON_ArrayForEach (value, present) {
        if (!cJSON_IsString(value))
            return false;
    }
    cJSON_ArrayForEach (value, json_object_or_null(json_get(item, "value"))) {
        if (strchr(value->string, '~') || *value->string == '\0' || !cJSON_IsString(value))
            return false;
    }
    return true;
}

static bool labels_cannot_fail(struct checked_object *o, const cJSON *item)
{
    return map_cannot_fail(o, "labels", item);
}

static bool annotations_cannot_fail(struct checked_object *o, const cJSON *item)
{
    return map_cannot_fail(o, "annotations", item);
}

/* Returns the member or element of a container at a part with `len` bytes, without escapes. */
static const cJSON *find_child(const cJSON *container, const char *part, size_t len)
{
    const cJSON *child = container->child;

    if (cJSON_IsArray(container))
        return len == 1 && *part >= '0' && *part <= '9' ? cJSON_GetArrayItem(container, *part - '0')
                                                        : NULL;
    if (!cJSON_IsObject(container))
        return NULL;
    while (child && (strncmp(child->string, part, len) != 0 || child->string[len] != '\0'))
        child = child->next;
    return child;
}

/*
 * Returns the plain value at a JSON pointer; NULL without one, and for pointers with an escape, an
 * empty part or a large index.
 */
static const cJSON *find_plain_value(const cJSON *object, const char *pointer)
{
    const cJSON *at = object;

    while (at && *pointer == '/') {
        size_t len = strcspn(++pointer, "/~");

        at = len > 0 && pointer[len] != '~' ? find_child(at, pointer, len) : NULL;
        pointer += len;
    }
    return at && *pointer == '\0' && !cJSON_IsObject(at) && !cJSON_IsArray(at) ? at : NULL;
}

static bool changes_images(struct checked_object *o)
{
    if (o->has_images_checked)
        return o->changes_images;
    o->has_images_checked = true;
    for (size_t i = 0; i < o->selection->count; i++) {
        const struct override *policy = entry_override(o->selection->items[i].policy);

        for (uint32_t k = 0; k < policy->rule_count; k++)
            o->changes_images |= json_get(policy->rules[k].overriders, "imageOverrider") != NULL;
    }
    return o->changes_images;
}

/* Returns true if a text at the path has a meaning for other overriders, or for the selection. */
static bool is_special_path(const char *path)
{
    return strncmp(path, "/metadata/", strlen("/metadata/")) == 0 || strcmp(path, "/kind") == 0 ||
           strcmp(path, "/apiVersion") == 0;
}

/* A plain value that replaces one of the same type cannot fail, now or later. */
static bool plaintext_cannot_fail(struct checked_object *o, const cJSON *item)
{
    const char *path = "", *op = "";
    const cJSON *value = NULL, *field, *present;

    cJSON_ArrayForEach (field, item) {
        if (strcmp(field->string, "value") == 0)
            value = field;
        else if (strcmp(field->string, "path") == 0)
            path = text_of(field);
        else if (strcmp(field->string, "operator") == 0)
            op = text_of(field);
    }
    if (strcmp(op, "replace") != 0 || !value)
        return false;
    present = find_plain_value(o->object, path);
    if (cJSON_IsNumber(present))
        return cJSON_IsNumber(value) && value->valuedouble == trunc(value->valuedouble);
    if (cJSON_IsBool(present))
        return cJSON_IsBool(value);
    return cJSON_IsString(present) && cJSON_IsString(value) && !is_special_path(path) &&
           !changes_images(o);
}

/* Lists without a row, such as fieldOverrider, may always fail. */
static const struct {
    const char *list;
    check_fn *cannot_fail;
} lists[] = {
    {"imageOverrider", image_cannot_fail}, {"commandOverrider", list_cannot_fail},
    {"argsOverrider", list_cannot_fail},   {"labelsOverrider", labels_cannot_fail},
    {"plaintext", plaintext_cannot_fail},  {"annotationsOverrider", annotations_cannot_fail},
};

static bool overriders_cannot_fail(struct checked_object *o, const cJSON *overriders)
{
    const cJSON *list, *item;

    cJSON_ArrayForEach (list, overriders) {
        size_t i = 0;

        while (i < ARRAY_LEN(lists) && strcmp(lists[i].list, list->string) != 0)
            i++;
        if (i == ARRAY_LEN(lists) && list->child)
            return false;
        cJSON_ArrayForEach (item, list) {
            if (!cJSON_IsObject(item) || !lists[i].cannot_fail(o, item))
                return false;
        }
    }
    return true;
}

bool overrides_cannot_fail(const struct override_selection *selection, const cJSON *object)
{
    struct checked_object checked = {.object = object, .selection = selection};

    for (size_t i = 0; i < selection->count; i++) {
        const struct entry *policy = selection->items[i].policy;
        const struct override *o = entry_override(policy);
        bool cluster_wide = entry_is_cluster_scoped(policy);

        for (uint32_t k = 0; k < o->rule_count; k++) {
            /* Other OverridePolicies of the namespace may be selected afterwards. */
            if (cluster_wide && o->rules[k].writes_identity && selection->namespace_has_policies)
                return false;
            if (!overriders_cannot_fail(&checked, o->rules[k].overriders))
                return false;
        }
    }
    return true;
}
