/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/managed_fields.h"

#include "metrics/base/map.h"
#include "metrics/base/timestamp.h"
#include "metrics/model/claim.h"
#include "metrics/model/metadata.h"

static const char path[] = "metadata.managedFields[]";

/* Label that users set although its key contains ".karmada.io". */
static const char user_label[] = "namespace.karmada.io/skip-auto-propagation";

/* ---- members of metadata that decoders read ---- */

/* is_user_entry() reads the keys of labels and annotations in f:metadata. */
static const struct json_filter_row owned_metadata_rows[] = {
    JSON_ROW_KEEP("f:labels"),
    JSON_ROW_KEEP("f:annotations"),
};
static const struct json_filter owned_metadata =
    JSON_FILTER_OF(owned_metadata_rows, JSON_FILTER_OBJECT);

/* Of f:spec, the functions below and propagation_write_time_s() read which fields exist. */
static const struct json_filter_row owned_spec_rows[] = {
    JSON_ROW_PRESENT("f:replicas"),
    JSON_ROW_PRESENT("f:resource"),
    PROPAGATION_FIELDS(JSON_ROW_PRESENT),
};
static const struct json_filter owned_spec = JSON_FILTER_OF(owned_spec_rows, JSON_FILTER_DROP);

static const struct json_filter_row owned_rows[] = {
    JSON_ROW_OBJECT("f:metadata", &owned_metadata),
    JSON_ROW_OBJECT("f:spec", &owned_spec),
    JSON_ROW_DROP("f:status"),
};
static const struct json_filter owned_fields = JSON_FILTER_OF(owned_rows, JSON_FILTER_OBJECT);

static const struct json_filter_row managed_fields_rows[] = {
    JSON_ROW_KEEP("manager"),
    JSON_ROW_KEEP("time"),
    JSON_ROW_KEEP("subresource"),
    JSON_ROW_OBJECT("fieldsV1", &owned_fields),
};
static const struct json_filter managed_fields_entry =
    JSON_FILTER_OF(managed_fields_rows, JSON_FILTER_DROP);

#define MANAGED_FIELDS(when)                                                                       \
    {                                                                                              \
        .key = "managedFields", .action = JSON_FILTER_ELEMENTS, .inside = &managed_fields_entry,   \
        .condition = (when)                                                                        \
    }

static const struct json_filter_row metadata_rows[] = {MANAGED_FIELDS(JSON_FILTER_ALWAYS)};
static const struct json_filter metadata_fields = JSON_FILTER_OF(metadata_rows, JSON_FILTER_KEEP);
static const struct json_filter_row whole_object_rows[] = {
    JSON_ROW_OBJECT("metadata", &metadata_fields)};
const struct json_filter whole_object_fields = JSON_FILTER_OF(whole_object_rows, JSON_FILTER_KEEP);

static const struct json_filter_row derived_metadata_rows[] = {
    JSON_ROW_KEEP("name"),
    JSON_ROW_KEEP("namespace"),
    JSON_ROW_KEEP("uid"),
    JSON_ROW_KEEP("resourceVersion"),
    JSON_ROW_KEEP("generation"),
    JSON_ROW_KEEP("creationTimestamp"),
    JSON_ROW_KEEP("deletionTimestamp"),
    JSON_ROW_KEEP("labels"),
    JSON_ROW_KEEP("annotations"),
    MANAGED_FIELDS(JSON_FILTER_ALWAYS),
};
const struct json_filter metadata_fields_of_derived =
    JSON_FILTER_OF(derived_metadata_rows, JSON_FILTER_DROP);

static const struct json_filter_row template_metadata_rows[] = {
    {.key = "generation", .condition = JSON_FILTER_MARK},
    MANAGED_FIELDS(JSON_FILTER_IF_MARKED),
};
const struct json_filter metadata_fields_of_template =
    JSON_FILTER_OF(template_metadata_rows, JSON_FILTER_KEEP);

/* ---- changes ---- */

/*
 * Returns true if the field set `fields` of labels or annotations has a key that is not Karmada's
 * (is_karmada_key()), or the key `exception`, which may be NULL. Skips ".", the map itself.
 */
static bool has_user_key(const cJSON *fields, const char *exception)
{
    const cJSON *field;

    cJSON_ArrayForEach (field, json_object_or_null(fields)) {
        const char *key = strncmp(field->string, "f:", 2) == 0 ? field->string + 2 : field->string;

        if (strcmp(key, ".") == 0)
            continue;
        if (!is_karmada_key(key) || (exception && strcmp(key, exception) == 0))
            return true;
    }
    return false;
}

static bool has_user_metadata(const cJSON *metadata)
{
    const cJSON *field;

    cJSON_ArrayForEach (field, json_object_or_null(metadata)) {
        const char *name = field->string;

        if (strcmp(name, ".") == 0)
            continue;
        if (strcmp(name, "f:labels") == 0) {
            if (has_user_key(field, user_label))
                return true;
        } else if (strcmp(name, "f:annotations") == 0) {
            if (has_user_key(field, NULL))
                return true;
        } else {
            return true;
        }
    }
    return false;
}

/* Returns true for a user entry, as defined in managed_fields.h. */
static bool is_user_entry(struct decode *d, const cJSON *entry)
{
    const cJSON *fields = decode_object(d, entry, path, "fieldsV1");
    const char *subresource = decode_text(d, entry, path, "subresource");
    const cJSON *field;

    if (subresource && strcmp(subresource, "status") == 0)
        return false;
    cJSON_ArrayForEach (field, fields) {
        if (strcmp(field->string, ".") == 0)
            continue;
        if (strcmp(field->string, "f:status") == 0)
            continue;
        if (strcmp(field->string, "f:metadata") != 0 || has_user_metadata(field))
            return true;
    }
    return false;
}

int64_t user_change_time_ms(struct decode *d, const cJSON *metadata, const char **by)
{
    const cJSON *managed = decode_array(d, metadata, "metadata", "managedFields");
    int64_t generation = decode_int(d, metadata, "metadata", "generation", 0);
    const cJSON *entry;
    const char *manager = NULL;
    int64_t changed_ms = INT64_MIN;

    cJSON_ArrayForEach (entry, managed) {
        decode_check_element(d, entry, path);

        int64_t time_ms = decode_time(d, entry, path, "time");

        if (!json_get(entry, "time") || !is_user_entry(d, entry) || time_ms <= changed_ms)
            continue;
        changed_ms = time_ms;
        manager = json_str(entry, "manager", NULL);
    }
    if (by)
        *by = manager && *manager ? manager : NULL;
    if (changed_ms > INT64_MIN)
        return changed_ms;
    if (generation != 1 && cJSON_GetArraySize(managed) == 0)
        return 0;
    return decode_time(d, metadata, "metadata", "creationTimestamp");
}

uint32_t text_hash32(const char *text)
{
    return (uint32_t)map_hash(text, strlen(text), 0);
}

bool owns_replicas_field(const cJSON *metadata)
{
    const cJSON *entry;

    cJSON_ArrayForEach (entry, json_get(metadata, "managedFields")) {
        if (!json_get(entry, "subresource") &&
            json_get(json_get(json_get(entry, "fieldsV1"), "f:spec"), "f:replicas"))
            return true;
    }
    return false;
}

uint64_t resource_version_decode(struct decode *d, const cJSON *parent, const char *where)
{
    const char *text = decode_text(d, parent, where, "resourceVersion");
    uint64_t version = 0;

    for (const char *c = text; c && *c; c++) {
        unsigned digit = (unsigned)(*c - '0');

        if (digit > 9 || version > (UINT64_MAX - digit) / 10)
            return 0;
        version = version * 10 + digit;
    }
    return version;
}

/*
 * Adds the hash of each label or annotation, key and value, to `karmada_keys` if is_karmada_key(),
 * else to `user_keys`.
 */
static void add_label_hashes(const cJSON *map, uint32_t *user_keys, uint32_t *karmada_keys)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, json_object_or_null(map)) {
        const char *value = cJSON_IsString(item) ? item->valuestring : "";
        uint64_t hash = map_hash(value, strlen(value), text_hash32(item->string));

        /* A sum of hashes does not depend on the order of keys, which differs between files. */
        *(is_karmada_key(item->string) ? karmada_keys : user_keys) += (uint32_t)hash;
    }
}

/* Returns a hash of a value, independent of the order of object members. */
static uint64_t hash_value(const cJSON *value)
{
    uint64_t hash = (uint64_t)(value->type & 0xff);
    const cJSON *item;

    if (cJSON_IsString(value))
        return map_hash(value->valuestring, strlen(value->valuestring), hash);
    if (cJSON_IsNumber(value))
        return map_hash(&value->valuedouble, sizeof(value->valuedouble), hash);
    cJSON_ArrayForEach (item, value) {
        uint64_t item_hash = hash_value(item);

        if (cJSON_IsObject(value))
            hash += map_hash(item->string, strlen(item->string), item_hash);
        else
            hash = map_hash(&item_hash, sizeof(item_hash), hash);
    }
    return hash;
}

/* Returns a hash of an object without metadata and status, independent of the order of members. */
static uint32_t hash_content(const cJSON *json)
{
    uint64_t hash = 0;
    const cJSON *item;

    cJSON_ArrayForEach (item, json) {
        if (strcmp(item->string, "metadata") != 0 && strcmp(item->string, "status") != 0)
            hash += map_hash(item->string, strlen(item->string), hash_value(item));
    }
    return (uint32_t)hash;
}

struct hash_list {
    uint64_t *items;
    size_t count;
};

/* Returns true for a known map: managedFields can list an empty map, which is no user field. */
static bool is_map_field(const char *key)
{
    static const char *const maps[] = {"f:metadata", "f:labels", "f:annotations",
                                       "f:spec",     "f:data",   "f:binaryData"};

    for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
        if (strcmp(maps[i], key) == 0)
            return true;
    }
    return false;
}

/* Appends the hash of the path of each leaf field, except empty maps and Karmada's keys. */
static void append_field_hashes(const cJSON *fields, uint64_t path_hash, struct hash_list *out)
{
    const cJSON *field;

    cJSON_ArrayForEach (field, json_object_or_null(fields)) {
        const char *key = field->string;
        uint64_t hash = map_hash(key, strlen(key), path_hash);

        if (strcmp(key, ".") == 0 || is_karmada_key(key))
            continue;
        if (field->child) {
            append_field_hashes(field, hash, out);
        } else if (!is_map_field(key)) {
            out->items = xreallocarray(out->items, out->count + 1, sizeof(*out->items));
            out->items[out->count++] = hash;
        }
    }
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Returns the number of different fields in user entries. Ignores entries with a subresource. */
static uint32_t count_user_fields(struct decode *d, const cJSON *managed)
{
    struct hash_list fields = {0};
    const cJSON *entry;
    uint32_t count = 0;

    cJSON_ArrayForEach (entry, managed) {
        if (!json_get(entry, "subresource") && is_user_entry(d, entry))
            append_field_hashes(json_get(entry, "fieldsV1"), 0, &fields);
    }
    if (fields.count > 1)
        qsort(fields.items, fields.count, sizeof(*fields.items), compare_hashes);
    for (size_t i = 0; i < fields.count; i++)
        count += i == 0 || fields.items[i] != fields.items[i - 1];
    free(fields.items);
    return count;
}

/* Updates newest_s, newest_by and other_s of `t` for a write by `manager`. */
static void record_write(struct traces *t, uint32_t manager, uint32_t time_s)
{
    if (manager == t->newest_by || t->newest_s == 0) {
        t->newest_by = manager;
        t->newest_s = time_s > t->newest_s ? time_s : t->newest_s;
    } else if (time_s > t->newest_s) {
        t->other_s = t->newest_s;
        t->newest_by = manager;
        t->newest_s = time_s;
    } else if (time_s > t->other_s) {
        t->other_s = time_s;
    }
}

void traces_decode(struct decode *d, const cJSON *json, struct traces *out)
{
    const cJSON *metadata = json_get(json, "metadata");
    const cJSON *managed = json_get(metadata, "managedFields");
    int64_t generation = decode_int(d, metadata, "metadata", "generation", 0);
    uint32_t karmada_keys = 0;
    const cJSON *entry;

    *out = (struct traces){.managed = cJSON_GetArraySize(managed) > 0,
                           .has_generation = generation > 0};
    add_label_hashes(json_get(metadata, "annotations"), &out->user_keys, &karmada_keys);
    out->karmada_keys = karmada_keys & 0x3fffffff;
    /*
     * karmada_keys serves to recognize a claim by its annotations, because a change of annotations
     * increments the generation of some kinds. Labels never do: their hash is dropped.
     */
    add_label_hashes(json_get(metadata, "labels"), &out->user_keys, &(uint32_t){0});
    cJSON_ArrayForEach (entry, managed) {
        uint32_t time_s = timestamp_seconds(decode_time(d, entry, path, "time"));

        if (time_s > 0 && !json_get(entry, "subresource") && is_user_entry(d, entry))
            record_write(out, text_hash32(json_str(entry, "manager", "")), time_s);
    }
    if (generation > 0)
        out->number = generation < UINT32_MAX ? (uint32_t)generation : UINT32_MAX;
    else
        out->number = out->managed ? count_user_fields(d, managed) : hash_content(json);
}

/*
 * Returns true if a user changed an object that has no generation. With managedFields, the newest
 * user entry is newer, or users own fewer fields: the removal of a field may leave no new time.
 * Without managedFields, the hash `content` differs. Returns false if only one has managedFields.
 */
static bool was_content_changed_by_user(const struct traces *old, const struct traces *fresh)
{
    if (old->managed != fresh->managed)
        return false;
    if (!fresh->managed)
        return traces_content(fresh) != traces_content(old);
    return fresh->newest_s > old->newest_s || traces_content(fresh) < traces_content(old);
}

bool was_changed_by_user(const struct traces *old, const struct traces *fresh,
                         bool claim_moves_generation)
{
    /* A new claim changes annotations and increments the generation by one. */
    uint32_t generation = traces_generation(fresh), old_generation = traces_generation(old);
    bool claimed = claim_moves_generation && generation == old_generation + 1 &&
                   fresh->karmada_keys != old->karmada_keys;

    if (fresh->user_keys != old->user_keys)
        return true;
    if (!generation && !old_generation)
        return was_content_changed_by_user(old, fresh);
    return generation && old_generation && generation != old_generation && !claimed;
}

uint32_t other_manager_write_time_s(const struct traces *t, uint32_t manager)
{
    return t->newest_by == manager ? t->other_s : t->newest_s;
}

void spec_write_decode(struct decode *d, const cJSON *metadata, struct spec_write *out)
{
    const char *manager = "";
    const cJSON *entry;

    *out = (struct spec_write){0};
    cJSON_ArrayForEach (entry, json_get(metadata, "managedFields")) {
        int64_t time_ms = decode_time(d, entry, path, "time");

        if (time_ms < out->time_ms || time_ms == 0 || json_get(entry, "subresource") ||
            !json_get(json_get(entry, "fieldsV1"), "f:spec"))
            continue;
        out->time_ms = time_ms;
        manager = json_str(entry, "manager", "");
    }
    if (*manager)
        out->manager = intern_add(d->strings, manager);
}

void binding_write_decode(struct decode *d, const cJSON *metadata, struct binding_write *out)
{
    const cJSON *entry;
    bool owned = false;

    *out = (struct binding_write){0};
    cJSON_ArrayForEach (entry, json_get(metadata, "managedFields")) {
        uint32_t time_s = timestamp_seconds(decode_time(d, entry, path, "time"));
        bool owns = json_get(json_get(json_get(entry, "fieldsV1"), "f:spec"), "f:resource") != NULL;

        if (time_s == 0 || json_get(entry, "subresource") || owns < owned)
            continue;
        if (owns > owned || time_s > out->time_s)
            *out = (struct binding_write){time_s, text_hash32(json_str(entry, "manager", ""))};
        owned = owns;
    }
}
