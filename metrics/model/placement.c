/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/placement.h"

#include "metrics/base/map.h"

static const char zone_key[] = "zone";

/*
 * Decodes fieldSelector as a label selector, as Karmada does. Requirements on the key "zone" become
 * a second selector, because Karmada matches them against a list of zones.
 */
static void read_field_selector(struct decode *d, const cJSON *json, const char *path,
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
    /* label_selector_decode() leaves out requirements with an unknown operator. */
    out->never = out->zones->count < (size_t)cJSON_GetArraySize(zone_list);
}

void cluster_affinity_decode(struct decode *d, const cJSON *json, const char *path,
                             struct cluster_affinity *out)
{
    *out = (struct cluster_affinity){0};
    out->labels = label_selector_decode(d, json, path, "labelSelector");
    read_field_selector(d, json, path, out);
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

/* Path in error messages, which placement_parse() does not report. */
static const char path[] = "placement";

/* Returns the hash of a part of a canonical text; 0 if `item` is NULL. */
static uint64_t hash_of_part(const cJSON *item)
{
    CLEANUP(free_cleanup) char *text = item ? cJSON_PrintUnformatted(item) : NULL;

    return text ? map_hash(text, strlen(text), 0) : 0;
}

/* Sets both hashes of an element of clusterAffinities. */
static void hash_group(const cJSON *item, struct affinity_group *group)
{
    CLEANUP(json_cleanup) cJSON *rest = cJSON_Duplicate(item, true);

    group->hash_with_overflow = hash_of_part(item);
    cJSON_DeleteItemFromObjectCaseSensitive(rest, "overflowAffinities");
    group->hash = hash_of_part(rest);
}

/* Reads clusterAffinity, else clusterAffinities: Karmada's webhook rejects placements with both. */
static void read_affinity_groups(struct decode *d, const cJSON *json, struct placement *p)
{
    const cJSON *one = decode_object(d, json, path, "clusterAffinity");
    const cJSON *several = decode_array(d, json, path, "clusterAffinities");
    const cJSON *item, *other;

    if (one) {
        p->groups = xcalloc(1, sizeof(*p->groups));
        p->group_count = 1;
        cluster_affinity_decode(d, one, path, &p->groups->affinity);
        return;
    }
    p->groups = decode_alloc_array(several, sizeof(*p->groups));
    p->has_groups = cJSON_GetArraySize(several) > 0;
    cJSON_ArrayForEach (item, several) {
        const cJSON *overflow = decode_array(d, item, path, "overflowAffinities");
        struct affinity_group *group = &p->groups[p->group_count++];

        decode_check_element(d, item, path);
        *group = (struct affinity_group){
            .name = decode_interned(d, item, path, "affinityName"),
            .overflow = decode_alloc_array(overflow, sizeof(*group->overflow)),
        };
        cluster_affinity_decode(d, item, path, &group->affinity);
        hash_group(item, group);
        cJSON_ArrayForEach (other, overflow) {
            decode_check_element(d, other, path);
            cluster_affinity_decode(d, other, path, &group->overflow[group->overflow_count++]);
        }
    }
}

static void read_tolerations(struct decode *d, const cJSON *json, struct placement *p)
{
    const cJSON *array = decode_array(d, json, path, "clusterTolerations");
    const cJSON *item;

    p->tolerations = decode_alloc_array(array, sizeof(*p->tolerations));
    cJSON_ArrayForEach (item, array) {
        decode_check_element(d, item, path);
        p->tolerations[p->toleration_count++] = (struct toleration){
            .key = decode_interned_or_empty(d, item, path, "key"),
            .op = decode_interned_or_empty(d, item, path, "operator"),
            .value = decode_interned_or_empty(d, item, path, "value"),
            .effect = decode_interned_or_empty(d, item, path, "effect"),
            .limited = json_get(item, "tolerationSeconds") != NULL,
        };
    }
}

static enum spread_field spread_field_from_text(const char *text)
{
    static const char *const fields[SPREAD_OTHER] = {
        [SPREAD_CLUSTER] = "cluster",
        [SPREAD_REGION] = "region",
        [SPREAD_ZONE] = "zone",
        [SPREAD_PROVIDER] = "provider",
    };
    unsigned field = 0;

    while (field < SPREAD_OTHER && (!text || strcmp(text, fields[field]) != 0))
        field++;
    return (enum spread_field)field;
}

static void read_spread_constraints(struct decode *d, const cJSON *json, struct placement *p)
{
    const cJSON *array = decode_array(d, json, path, "spreadConstraints");
    const cJSON *item;

    p->spread = decode_alloc_array(array, sizeof(*p->spread));
    cJSON_ArrayForEach (item, array) {
        decode_check_element(d, item, path);
        p->spread[p->spread_count++] = (struct spread_constraint){
            .field = spread_field_from_text(decode_text(d, item, path, "spreadByField")),
            .least = decode_int(d, item, path, "minGroups", 0),
            .most = decode_int(d, item, path, "maxGroups", 0),
        };
    }
    p->has_spread_constraints = p->spread_count > 0;
}

static void hash_parts(const cJSON *json, struct placement *p)
{
    static const char *const keys[PLACEMENT_PART_COUNT] = {
        [PLACEMENT_AFFINITY] = "clusterAffinity",
        [PLACEMENT_TOLERATIONS] = "clusterTolerations",
        [PLACEMENT_SPREAD] = "spreadConstraints",
        [PLACEMENT_SCHEDULING] = "replicaScheduling",
        [PLACEMENT_WORKLOAD_AFFINITY] = "workloadAffinity",
    };

    for (size_t i = 0; i < PLACEMENT_PART_COUNT; i++)
        p->hashes[i] = hash_of_part(json_get(json, keys[i]));
}

static void read_weights(struct decode *d, const cJSON *preference, struct placement *p)
{
    const cJSON *array = decode_array(d, preference, path, "staticWeightList");
    const cJSON *item;

    p->weights = decode_alloc_array(array, sizeof(*p->weights));
    cJSON_ArrayForEach (item, array) {
        const cJSON *target = decode_object(d, item, path, "targetCluster");
        struct static_weight *weight = &p->weights[p->weight_count++];

        decode_check_element(d, item, path);
        weight->weight = decode_int(d, item, path, "weight", 0);
        cluster_affinity_decode(d, target, path, &weight->target);
    }
}

static bool text_equals(const char *text, const char *expected)
{
    return text && strcmp(text, expected) == 0;
}

/* Returns the division of replicas; without replicaScheduling, that is Duplicated. */
static enum division read_division(struct decode *d, const cJSON *scheduling,
                                   const cJSON *preference)
{
    const char *type = decode_text(d, scheduling, path, "replicaSchedulingType");
    const char *divided = decode_text(d, scheduling, path, "replicaDivisionPreference");
    const char *dynamic = decode_text(d, preference, path, "dynamicWeight");

    if (!scheduling || text_equals(type, "Duplicated"))
        return DIVISION_DUPLICATED;
    if (!text_equals(type, "Divided"))
        return DIVISION_UNKNOWN;
    if (text_equals(divided, "Aggregated"))
        return DIVISION_AGGREGATED;
    if (!text_equals(divided, "Weighted"))
        return DIVISION_UNKNOWN;
    return dynamic ? DIVISION_DYNAMIC_WEIGHT : DIVISION_STATIC_WEIGHT;
}

struct placement *placement_parse(struct intern *strings, const char *canonical)
{
    struct error ignored = {""};
    struct decode d = {.strings = strings, .err = &ignored};
    struct placement *p = xcalloc(1, sizeof(*p));

    if (!canonical)
        return p;

    CLEANUP(json_cleanup) cJSON *json = json_parse(canonical, strlen(canonical), NULL, &ignored);
    const cJSON *scheduling = decode_object(&d, json, path, "replicaScheduling");
    const cJSON *preference = decode_object(&d, scheduling, path, "weightPreference");

    read_affinity_groups(&d, json, p);
    read_tolerations(&d, json, p);
    read_weights(&d, preference, p);
    p->division = read_division(&d, scheduling, preference);
    read_spread_constraints(&d, json, p);
    hash_parts(json, p);
    p->has_workload_affinity = decode_object(&d, json, path, "workloadAffinity");
    p->unreadable = d.failed || !cJSON_IsObject(json);
    return p;
}

void placement_free(struct intern *strings, struct placement *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->group_count; i++) {
        struct affinity_group *group = &p->groups[i];

        intern_drop(strings, group->name);
        cluster_affinity_release(strings, &group->affinity);
        for (uint32_t k = 0; k < group->overflow_count; k++)
            cluster_affinity_release(strings, &group->overflow[k]);
        free(group->overflow);
    }
    for (uint32_t i = 0; i < p->toleration_count; i++) {
        intern_drop(strings, p->tolerations[i].key);
        intern_drop(strings, p->tolerations[i].op);
        intern_drop(strings, p->tolerations[i].value);
        intern_drop(strings, p->tolerations[i].effect);
    }
    for (uint32_t i = 0; i < p->weight_count; i++)
        cluster_affinity_release(strings, &p->weights[i].target);
    free(p->groups);
    free(p->spread);
    free(p->tolerations);
    free(p->weights);
    free(p);
}
