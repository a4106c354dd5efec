/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/asset.h"

#include "metrics/model/connector_resource.h"

static const char holder_label[] = "cnrm-lease-holder-id";
static const char expiration_label[] = "cnrm-lease-expiration";
static const char managed_label[] = "managed-by-cnrm";

bool asset_may_concern(const char *json, size_t len)
{
    /* Part of all three labels. */
    return memmem(json, len, "cnrm", strlen("cnrm")) != NULL;
}

/* Services keep the labels of their resources in different places. */
static const cJSON *labels_of(const cJSON *asset)
{
    const cJSON *data = json_get(json_get(asset, "resource"), "data");
    const cJSON *const places[] = {
        json_get(data, "labels"),         json_get(json_get(data, "settings"), "userLabels"),
        json_get(data, "resourceLabels"), json_get(data, "userLabels"),
        json_get(asset, "labels"),
    };

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (cJSON_IsObject(places[i]))
            return places[i];
    }
    return NULL;
}

static void add_text(cJSON *object, const char *key, const char *text)
{
    if (text && *text != '\0' && !cJSON_AddStringToObject(object, key, text))
        memory_exhausted(0);
}

cJSON *asset_convert(const cJSON *asset, int64_t snapshot_ms)
{
    const cJSON *labels = labels_of(asset);
    const char *holder = json_str(labels, holder_label, NULL);
    const char *expiration = json_str(labels, expiration_label, NULL);
    cJSON *object, *metadata;

    if (!holder && !expiration && !json_str(labels, managed_label, NULL))
        return NULL;
    object = cJSON_CreateObject();
    metadata = cJSON_AddObjectToObject(object, "metadata");
    if (!metadata || !cJSON_AddNumberToObject(object, "snapshotMilliseconds", (double)snapshot_ms))
        memory_exhausted(0);
    add_text(object, "apiVersion", LEASE_API_VERSION);
    add_text(object, "kind", LEASE_KIND);
    add_text(metadata, "name", json_str(asset, "name", NULL));
    add_text(object, "assetType",
             json_str(asset, "asset_type", json_str(asset, "assetType", NULL)));
    add_text(object, "holder", holder);
    add_text(object, "expiration", expiration);
    return object;
}
