/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/placement.h"

static const char zone_key[] = "zone";

/* The elements of an array of objects; how many there can be, to make room. */
static const cJSON *read_array(struct decode *d, const cJSON *parent, const char *key, size_t *size)
{
    const cJSON *array = decode_array(d, parent, "placement", key);

    *size = (size_t)cJSON_GetArraySize(array);
    return array;
}

static const char *read_text(struct decode *d, const cJSON *parent, const char *key)
{
    const char *text = decode_text(d, parent, "placement", key);

    return intern_add(d->strings, text ? text : "");
}

/*
 * A fieldSelector is read as a label selector, which is what Karmada makes of
 * it, but for zones: those it compares by itself, so they are taken apart.
 */
static void read_fields(struct decode *d, const cJSON *json, struct cluster_affinity *out)
{
    static const char key[] = "fieldSelector";
    static const char list[] = "matchExpressions";
    const cJSON *selector = decode_object(d, json, "placement", key);
    CLEANUP(json_cleanup) cJSON *fields = cJSON_CreateObject();
    CLEANUP(json_cleanup) cJSON *zones = cJSON_CreateObject();
    cJSON *field_list = cJSON_AddArrayToObject(cJSON_AddObjectToObject(fields, key), list);
    cJSON *zone_list = cJSON_AddArrayToObject(cJSON_AddObjectToObject(zones, key), list);
    const cJSON *item;

    cJSON_ArrayForEach (item, decode_array(d, selector, key, list)) {
        bool is_zone = strcmp(json_str(item, "key", ""), zone_key) == 0;

        cJSON_AddItemToArray(is_zone ? zone_list : field_list, cJSON_Duplicate(item, true));
    }
    if (cJSON_GetArraySize(field_list) > 0)
        out->fields = label_selector_decode(d, fields, "placement", key);
    if (cJSON_GetArraySize(zone_list) == 0)
        return;
    out->zones = label_selector_decode(d, zones, "placement", key);
    /* What has an operator that nobody knows is left out there. */
    out->never = out->zones->count < (size_t)cJSON_GetArraySize(zone_list);
}

static void read_affinity(struct decode *d, const cJSON *json, struct cluster_affinity *out)
{
    *out = (struct cluster_affinity){0};
    out->labels = label_selector_decode(d, json, "placement", "labelSelector");
    read_fields(d, json, out);
    out->names = decode_texts(d, json, "placement", "clusterNames", &out->name_count);
    out->exclude = decode_texts(d, json, "placement", "exclude", &out->exclude_count);
}

static void read_group(struct decode *d, const cJSON *json, struct affinity_group *out)
{
    size_t size;
    const cJSON *overflow = read_array(d, json, "overflowAffinities", &size);
    const cJSON *item;

    decode_element(d, json, "placement");
    *out = (struct affinity_group){.name = decode_shared(d, json, "placement", "affinityName")};
    read_affinity(d, json, &out->affinity);
    if (size > 0)
        out->overflow = xreallocarray(NULL, size, sizeof(*out->overflow));
    cJSON_ArrayForEach (item, overflow) {
        decode_element(d, item, "placement");
        read_affinity(d, item, &out->overflow[out->overflow_count++]);
    }
}

/* Karmada filters by clusterAffinity where both are set, which its webhook refuses. */
static void read_groups(struct decode *d, const cJSON *json, struct placement *p)
{
    size_t size;
    const cJSON *one = decode_object(d, json, "placement", "clusterAffinity");
    const cJSON *several = read_array(d, json, "clusterAffinities", &size);
    const cJSON *item;

    if (one) {
        p->groups = xcalloc(1, sizeof(*p->groups));
        p->group_count = 1;
        read_affinity(d, one, &p->groups->affinity);
        return;
    }
    if (size > 0)
        p->groups = xreallocarray(NULL, size, sizeof(*p->groups));
    cJSON_ArrayForEach (item, several)
        read_group(d, item, &p->groups[p->group_count++]);
}

static void read_tolerations(struct decode *d, const cJSON *json, struct placement *p)
{
    size_t size;
    const cJSON *array = read_array(d, json, "clusterTolerations", &size);
    const cJSON *item;

    if (size > 0)
        p->tolerations = xreallocarray(NULL, size, sizeof(*p->tolerations));
    cJSON_ArrayForEach (item, array) {
        decode_element(d, item, "placement");
        p->tolerations[p->toleration_count++] = (struct toleration){
            .key = read_text(d, item, "key"),
            .op = read_text(d, item, "operator"),
            .value = read_text(d, item, "value"),
            .effect = read_text(d, item, "effect"),
        };
    }
}

static void read_weights(struct decode *d, const cJSON *preference, struct placement *p)
{
    size_t size;
    const cJSON *array = read_array(d, preference, "staticWeightList", &size);
    const cJSON *item;

    if (size > 0)
        p->weights = xreallocarray(NULL, size, sizeof(*p->weights));
    cJSON_ArrayForEach (item, array) {
        const cJSON *target = decode_object(d, item, "placement", "targetCluster");
        struct static_weight *weight = &p->weights[p->weight_count++];

        decode_element(d, item, "placement");
        weight->weight = decode_int(d, item, "placement", "weight", 0);
        read_affinity(d, target, &weight->target);
    }
}

static bool reads_as(const char *text, const char *expected)
{
    return text && strcmp(text, expected) == 0;
}

/* Defaults are in the canonical text already; no replicaScheduling at all is Duplicated. */
static enum division read_division(struct decode *d, const cJSON *scheduling,
                                   const cJSON *preference)
{
    const char *type = decode_text(d, scheduling, "placement", "replicaSchedulingType");
    const char *divided = decode_text(d, scheduling, "placement", "replicaDivisionPreference");
    const char *dynamic = decode_text(d, preference, "placement", "dynamicWeight");

    if (!scheduling || reads_as(type, "Duplicated"))
        return DIVISION_DUPLICATED;
    if (!reads_as(type, "Divided"))
        return DIVISION_UNKNOWN;
    if (reads_as(divided, "Aggregated"))
        return DIVISION_AGGREGATED;
    if (!reads_as(divided, "Weighted"))
        return DIVISION_UNKNOWN;
    return dynamic ? DIVISION_DYNAMIC_WEIGHT : DIVISION_STATIC_WEIGHT;
}

static bool has_elements(struct decode *d, const cJSON *json, const char *key)
{
    return cJSON_GetArraySize(decode_array(d, json, "placement", key)) > 0;
}

struct placement *placement_new(struct intern *strings, const char *canonical)
{
    struct error ignored = {""};
    struct decode d = {.strings = strings, .err = &ignored};
    struct placement *p = xcalloc(1, sizeof(*p));

    if (!canonical)
        return p;

    CLEANUP(json_cleanup) cJSON *json = json_parse(canonical, strlen(canonical), NULL, &ignored);
    const cJSON *scheduling = decode_object(&d, json, "placement", "replicaScheduling");
    const cJSON *preference = decode_object(&d, scheduling, "placement", "weightPreference");

    read_groups(&d, json, p);
    read_tolerations(&d, json, p);
    read_weights(&d, preference, p);
    p->division = read_division(&d, scheduling, preference);
    p->has_spread_constraints = has_elements(&d, json, "spreadConstraints");
    p->has_workload_affinity = decode_object(&d, json, "placement", "workloadAffinity");
    p->unreadable = d.failed || !cJSON_IsObject(json);
    return p;
}

static void release_affinity(struct intern *strings, struct cluster_affinity *affinity)
{
    label_selector_free(strings, affinity->labels);
    label_selector_free(strings, affinity->fields);
    label_selector_free(strings, affinity->zones);
    decode_texts_release(strings, affinity->names, affinity->name_count);
    decode_texts_release(strings, affinity->exclude, affinity->exclude_count);
}

static void release_group(struct intern *strings, struct affinity_group *group)
{
    intern_drop(strings, group->name);
    release_affinity(strings, &group->affinity);
    for (uint32_t i = 0; i < group->overflow_count; i++)
        release_affinity(strings, &group->overflow[i]);
    free(group->overflow);
}

void placement_free(struct intern *strings, struct placement *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->group_count; i++)
        release_group(strings, &p->groups[i]);
    for (uint32_t i = 0; i < p->toleration_count; i++) {
        intern_drop(strings, p->tolerations[i].key);
        intern_drop(strings, p->tolerations[i].op);
        intern_drop(strings, p->tolerations[i].value);
        intern_drop(strings, p->tolerations[i].effect);
    }
    for (uint32_t i = 0; i < p->weight_count; i++)
        release_affinity(strings, &p->weights[i].target);
    free(p->groups);
    free(p->tolerations);
    free(p->weights);
    free(p);
}
