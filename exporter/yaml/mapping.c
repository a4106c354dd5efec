/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/mapping.h"

#include "exporter/system/secret.h"

/* Up to this many keys, comparing each is faster than a map. */
enum { KEYS_SEARCHED = 16 };

static bool is_member(const void *item, const void *key)
{
    return strcmp(((const cJSON *)item)->string, key) == 0;
}

static uint64_t hash_key(const struct mapping *m, const char *key)
{
    return map_hash(key, strlen(key), m->seed);
}

void mapping_init(struct mapping *m, uint64_t seed)
{
    *m = (struct mapping){
        .seed = seed,
        .object = cJSON_CreateObject(),
        .merged = cJSON_CreateArray(),
        .seen = MAP_INIT(is_member),
    };
    if (!m->object || !m->merged)
        memory_exhausted(0);
}

void mapping_release(struct mapping *m)
{
    secret_tree_cleanup(&m->object);
    cJSON_Delete(m->merged);
    map_release(&m->seen);
}

bool mapping_has(const struct mapping *m, const char *key)
{
    if (m->count > KEYS_SEARCHED)
        return map_get(&m->seen, hash_key(m, key), key) != NULL;
    return cJSON_GetObjectItemCaseSensitive(m->object, key) != NULL;
}

void mapping_put(struct mapping *m, const char *key, cJSON *item)
{
    cJSON *member = NULL;

    if (!cJSON_AddItemToObject(m->object, key, item))
        memory_exhausted(0);
    m->count++;
    if (m->count == KEYS_SEARCHED + 1) {
        cJSON_ArrayForEach (member, m->object)
            map_add(&m->seen, hash_key(m, member->string), member);
    } else if (m->count > KEYS_SEARCHED) {
        map_add(&m->seen, hash_key(m, key), item);
    }
}

bool mapping_merge(struct mapping *m, cJSON *value)
{
    const cJSON *source;
    bool fine = cJSON_IsObject(value) || cJSON_IsArray(value);

    if (cJSON_IsArray(value)) {
        cJSON_ArrayForEach (source, value)
            fine = fine && cJSON_IsObject(source);
    }
    if (fine && !cJSON_AddItemReferenceToArray(m->merged, value))
        memory_exhausted(0);
    return fine;
}

static void merge_from(struct mapping *m, const cJSON *source)
{
    const cJSON *member;

    cJSON_ArrayForEach (member, source) {
        cJSON *copy = mapping_has(m, member->string) ? NULL : cJSON_Duplicate(member, true);

        if (copy)
            mapping_put(m, member->string, copy);
    }
}

cJSON *mapping_take(struct mapping *m)
{
    const cJSON *value;
    const cJSON *source;
    cJSON *object = m->object;

    cJSON_ArrayForEach (value, m->merged) {
        if (cJSON_IsObject(value)) {
            merge_from(m, value);
            continue;
        }
        cJSON_ArrayForEach (source, value)
            merge_from(m, source);
    }
    m->object = NULL;
    return object;
}
