/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/changes.h"

#include "metrics/model/claim.h"

static const char path[] = "metadata.managedFields[]";

/* A label that users set, although its key contains ".karmada.io". */
static const char users_label[] = "namespace.karmada.io/skip-auto-propagation";

/* True if the field set has a key that is not Karmada's. "." stands for the map itself. */
static bool has_user_key(const cJSON *fields, const char *exception)
{
    const cJSON *field;

    cJSON_ArrayForEach (field, fields) {
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

    cJSON_ArrayForEach (field, metadata) {
        const char *name = field->string;

        if (strcmp(name, ".") == 0)
            continue;
        if (strcmp(name, "f:labels") == 0) {
            if (has_user_key(field, users_label))
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

/* True if an element of managedFields owns anything that only users change. */
static bool is_users(struct decode *d, const cJSON *entry)
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

int64_t user_changed_ms(struct decode *d, const cJSON *metadata)
{
    const cJSON *managed = decode_array(d, metadata, "metadata", "managedFields");
    int64_t generation = decode_int(d, metadata, "metadata", "generation", 0);
    const cJSON *entry;
    int64_t changed_ms = INT64_MIN;

    cJSON_ArrayForEach (entry, managed) {
        decode_element(d, entry, path);

        int64_t time_ms = decode_time(d, entry, path, "time");

        if (json_get(entry, "time") && is_users(d, entry) && time_ms > changed_ms)
            changed_ms = time_ms;
    }
    if (changed_ms > INT64_MIN)
        return changed_ms;
    if (generation != 1 && cJSON_GetArraySize(managed) == 0)
        return 0;
    return decode_time(d, metadata, "metadata", "creationTimestamp");
}
