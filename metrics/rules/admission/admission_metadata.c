/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/shown.h"
#include "metrics/model/metadata.h"
#include "metrics/rules/admission/admission_place.h"

/*
 * Metadata that the API server refuses for objects of all kinds, in all releases (Kubernetes:
 * ValidateObjectMeta in apimachinery/pkg/api/validation).
 */

static bool is_annotation_key(const char *key)
{
    char *lower = xstrdup(key);
    bool valid;

    for (char *c = lower; *c; c++) {
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    }
    valid = label_key_is_valid(lower);
    free(lower);
    return valid;
}

void review_text_map(struct review *r, const struct place *map, enum text_map kind)
{
    enum { ANNOTATIONS_MAX_BYTES = 256 * 1024 };
    bool labels = kind == MAP_OF_LABELS;
    const cJSON *member;
    size_t size = 0;

    cJSON_ArrayForEach (member, json_object_or_null(map->value)) {
        const char *key = member->string, *text = cJSON_GetStringValue(member);

        size += strlen(key) + (text ? strlen(text) : 0);
        if (labels ? !label_key_is_valid(key) : !is_annotation_key(key))
            review_refuse(r, map, map->releases, "has the invalid key \"%s\"", shown(key).text);
        else if (labels && text && !label_value_is_valid(text))
            review_refuse(r, map, map->releases, "has the invalid value \"%s\"", shown(text).text);
    }
    if (!labels && size > ANNOTATIONS_MAX_BYTES)
        review_refuse(r, map, map->releases, "must have at most 256 KiB");
}

/* Refuses values of a map that are no texts, such as true without quotes; null is dropped. */
static void check_value_types(struct review *r, const struct place *map)
{
    const cJSON *member;

    cJSON_ArrayForEach (member, json_object_or_null(map->value)) {
        const struct place value = {
            .parent = map, .key = member->string, .releases = map->releases};

        if (!cJSON_IsString(member) && !cJSON_IsNull(member))
            review_refuse(r, &value, value.releases, "must be a string");
    }
}

static void check_map(struct review *r, const struct place *metadata, const char *key,
                      enum text_map kind)
{
    struct place map = place_unlisted_member(metadata, key);

    if (map.value && !cJSON_IsObject(map.value))
        review_refuse(r, &map, map.releases, "must be an object");
    check_value_types(r, &map);
    review_text_map(r, &map, kind);
}

void metadata_review(struct review *r, const struct place *root)
{
    const struct place metadata = {.parent = root,
                                   .key = "metadata",
                                   .value = json_get(root->value, "metadata"),
                                   .releases = root->releases};
    struct place name = place_unlisted_member(&metadata, "name");
    const char *text = cJSON_GetStringValue(name.value);

    if (text && *text && !object_name_is_valid(text))
        review_refuse(r, &name, name.releases, "\"%s\" is no valid name", shown(text).text);
    check_map(r, &metadata, "labels", MAP_OF_LABELS);
    check_map(r, &metadata, "annotations", MAP_OF_ANNOTATIONS);
}
