/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/newest.h"

#include "metrics/base/map.h"
#include "metrics/base/number.h"

enum { ARRAY_FACTOR = 31 };

static uint64_t hash_text(const char *text, uint64_t seed)
{
    return map_hash(text, strlen(text), seed);
}

/* Servers write the same members in another order when they are asked in another way. */
static uint64_t hash_value(const cJSON *value)
{
    uint64_t hash = (uint64_t)(value->type & 0xff);
    const cJSON *child;

    if (cJSON_IsString(value))
        return hash_text(value->valuestring, hash);
    if (cJSON_IsNumber(value))
        return map_hash(&value->valuedouble, sizeof(value->valuedouble), hash);
    if (cJSON_IsArray(value)) {
        cJSON_ArrayForEach (child, value)
            hash = hash * ARRAY_FACTOR + hash_value(child);
    } else if (cJSON_IsObject(value)) {
        cJSON_ArrayForEach (child, value)
            hash += hash_text(child->string, hash_value(child));
    }
    return hash;
}

static const char *text_of(const cJSON *object, const char *key)
{
    return json_str(json_get(object, "metadata"), key, "");
}

static uint64_t hash_uid(const cJSON *object)
{
    return hash_text(text_of(object, "uid"), 0);
}

/* Two changes under the same number differ in this, unless they were made in the same second. */
static uint64_t hash_origin(const cJSON *object)
{
    const cJSON *metadata = json_get(object, "metadata");
    const cJSON *entry;
    int64_t generation = json_int(metadata, "generation", 0);
    uint64_t hash = map_hash(&generation, sizeof(generation), hash_uid(object));

    cJSON_ArrayForEach (entry, json_get(metadata, "managedFields"))
        hash = hash_text(json_str(entry, "time", ""), hash);
    return hash;
}

static void note(struct newest *n, const cJSON *object, const char *version, bool listed,
                 bool deleted)
{
    const char *ns = text_of(object, "namespace");
    const char *name = text_of(object, "name");

    if (!*name || !*version || strlen(ns) >= sizeof(n->ns) || strlen(name) >= sizeof(n->name) ||
        strlen(version) >= sizeof(n->version))
        return;
    memcpy(n->ns, ns, strlen(ns) + 1);
    memcpy(n->name, name, strlen(name) + 1);
    memcpy(n->version, version, strlen(version) + 1);
    n->uid = hash_uid(object);
    n->origin = hash_origin(object);
    n->content = listed ? 0 : hash_value(object);
    n->deleted = deleted;
}

void newest_note(struct newest *n, const cJSON *object, const char *version, bool deleted)
{
    note(n, object, version, false, deleted);
}

void newest_note_listed(struct newest *n, const cJSON *object, const char *version)
{
    if (!*n->name || number_compare(version, n->version) == NUMBER_GREATER)
        note(n, object, version, true, false);
}

void newest_replace(struct newest *n, const struct newest *listed)
{
    bool later = !*listed->name || number_compare(n->version, listed->version) == NUMBER_GREATER;

    /* A deletion is in no list. An object that is not is gone since, nobody knows when. */
    if (!n->deleted || !later)
        *n = *listed;
}

bool newest_is_of(const struct newest *n, const cJSON *object)
{
    return *n->name && strcmp(text_of(object, "name"), n->name) == 0 &&
           strcmp(text_of(object, "namespace"), n->ns) == 0;
}

bool newest_is_followed_by(const struct newest *n, const cJSON *object, bool deleted)
{
    return newest_is_of(n, object) && (n->deleted || deleted || hash_uid(object) == n->uid);
}

static enum newest_verdict compare_content(const struct newest *n, const cJSON *object)
{
    bool same = hash_origin(object) == n->origin;

    if (same && n->content != 0)
        same = hash_value(object) == n->content;
    return same ? NEWEST_HOLDS : NEWEST_ALTERED;
}

enum newest_verdict newest_judge(const struct newest *n, const char *position, const cJSON *object)
{
    const char *version = text_of(object, "resourceVersion");
    enum number_order order = number_compare(version, position);

    if (!object)
        return n->deleted ? NEWEST_HOLDS : NEWEST_UNDECIDED;
    if (!n->deleted && strcmp(version, n->version) == 0)
        return compare_content(n, object);
    return order == NUMBER_LESS || order == NUMBER_EQUAL ? NEWEST_UNDONE : NEWEST_UNDECIDED;
}

enum newest_verdict newest_judge_past(const struct newest *n, const cJSON *object)
{
    const char *version = text_of(object, "resourceVersion");

    if (!object || n->deleted)
        return !object == n->deleted ? NEWEST_HOLDS : NEWEST_UNDONE;
    return strcmp(version, n->version) == 0 ? compare_content(n, object) : NEWEST_UNDONE;
}
