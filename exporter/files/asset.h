/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/*
 * One asset of a Cloud Asset Inventory export, as gcloud writes it to a file
 * (asset_type) or the API sends it (assetType).
 */

/* False if the bytes hold nothing about a lease, as for most assets: no need to parse them. */
bool asset_may_concern(const char *json, size_t len);

/*
 * The asset as an object for the store (metrics/model/connector_resource.h), NULL if Config
 * Connector has nothing to do with it: neither a label of a lease nor managed-by-cnrm. The caller
 * deletes it.
 */
cJSON *asset_convert(const cJSON *asset, int64_t snapshot_ms) MUST_USE;
