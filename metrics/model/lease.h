/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * What a snapshot of the cloud's assets says about one resource that Config Connector
 * manages: the two labels of its lease (seed 004). The entry's name is the asset's,
 * "//pubsub.googleapis.com/projects/p/topics/t".
 *
 * The source of the snapshot hands it over as an object of this kind:
 * {"apiVersion": LEASE_API_VERSION, "kind": LEASE_KIND, "metadata": {"name"},
 *  "assetType", "holder", "expiration", "snapshotMilliseconds"}.
 */
#define LEASE_GROUP       "cloudasset.googleapis.com"
#define LEASE_API_VERSION LEASE_GROUP "/v1"
#define LEASE_KIND        "Asset"

struct lease {
    const char *asset_type; /* "pubsub.googleapis.com/Topic". Shared, as is the holder. */
    const char *holder;     /* NULL: nobody. */
    int64_t expires_s;      /* Since the epoch; 0, which is past, where missing or malformed. */
    int64_t snapshot_ms;    /* When the snapshot was taken. */
};

void *lease_decode(struct decode *d, const cJSON *json);
void lease_release(struct intern *strings, void *object);

/* The seconds that the label cnrm-lease-expiration tells; 0 for anything but a whole number. */
int64_t lease_expiry_read(const char *text);
