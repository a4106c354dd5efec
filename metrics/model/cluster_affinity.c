/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/cluster_affinity.h"

static const char zone_key[] = "zone";

/*
 * A fieldSelector is read as a label selector, as Karmada does, but for requirements on zones:
 * Karmada compares those in its own way, so they make a second selector.
 */
static void read_fields(struct decode *d, const cJSON *json, const char *path,
                        struct cluster_affinity *out)
{
    static const char key[] = "fieldSelector";
    static const char list[] = "matchExpressions";
    const cJSON *selector = decode_object(d, json, path, key);
    CLEANUP(json_cleanup) cJSON *fields = cJSON_CreateObject();
    CLEANUP(json_cleanup) cJSON *zones = cJSON_CreateObject();
    cJSON *field_list = cJSON_AddArrayToObject(cJSON_AddObjectToObject(fields, key), list);
    cJSON *zone_list = cJSON_AddArrayToObject(cJSON_AddObjectToObject(zones, key), list);
    const cJSON *item;
    char where[128];

    snprintf(where, sizeof(where), "%s.%s", path, key);
    cJSON_ArrayForEach (item, decode_array(d, selector, where, list)) {
        bool is_zone = strcmp(json_str(item, "key", ""), zone_key) == 0;

        cJSON_AddItemToArray(is_zone ? zone_list : field_list, cJSON_Duplicate(item, true));
    }
    if (cJSON_GetArraySize(field_list) > 0)
        out->fields = label_selector_decode(d, fields, path, key);
    if (cJSON_GetArraySize(zone_list) == 0)
        return;
    out->zones = label_selector_decode(d, zones, path, key);
    /* The selector lacks requirements with an unknown operator. */
    out->never = out->zones->count < (size_t)cJSON_GetArraySize(zone_list);
}

void cluster_affinity_decode(struct decode *d, const cJSON *json, const char *path,
                             struct cluster_affinity *out)
{
    *out = (struct cluster_affinity){0};
    out->labels = label_selector_decode(d, json, path, "labelSelector");
    read_fields(d, json, path, out);
    out->names = decode_texts(d, json, path, "clusterNames", &out->name_count);
    out->exclude = decode_texts(d, json, path, "exclude", &out->exclude_count);
}

void cluster_affinity_release(struct intern *strings, struct cluster_affinity *affinity)
{
    label_selector_free(strings, affinity->labels);
    label_selector_free(strings, affinity->fields);
    label_selector_free(strings, affinity->zones);
    decode_texts_release(strings, affinity->names, affinity->name_count);
    decode_texts_release(strings, affinity->exclude, affinity->exclude_count);
}
