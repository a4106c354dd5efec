/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * What a snapshot of the cloud's assets says about one resource that Config Connector manages:
 * the two labels of its lease (seed 004). The name of the entry is the asset's,
 * "//pubsub.googleapis.com/projects/p/topics/t".
 *
 * The source of snapshots puts each as an object:
 * {"apiVersion": LEASE_API_VERSION, "kind": LEASE_KIND, "metadata": {"name"},
 *  "assetType", "holder", "expiration", "snapshotMilliseconds"}.
 */
#define LEASE_GROUP       "cloudasset.googleapis.com"
#define LEASE_API_VERSION LEASE_GROUP "/v1"
#define LEASE_KIND        "Asset"

struct lease {
    const char *asset_type; /* "pubsub.googleapis.com/Topic". Shared, as is the holder. */
    const char *holder;     /* The id of a namespace; NULL if nobody holds it. */
    int64_t expires_s;      /* Since the epoch; 0, which is past, if missing or malformed. */
    int64_t snapshot_ms;    /* When the snapshot was taken. */
};

/* As struct kind_def wants them. */
void *lease_decode(struct decode *d, const cJSON *json);
void lease_release(struct intern *strings, void *object);

/* The label cnrm-lease-expiration in seconds since the epoch; 0 for anything but a number. */
int64_t lease_expiry_read(const char *text);
