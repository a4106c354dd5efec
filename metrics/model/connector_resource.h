/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/model/decode.h"
#include "metrics/model/metadata.h"

/* What is special about a kind of Config Connector; bits. */
enum connector_trait {
    CONNECTOR_NO_LABELS = 1U << 0,   /* Its cloud resource has none: it cannot have a lease. */
    CONNECTOR_NO_IDENTITY = 1U << 1, /* Several objects may rightly manage one resource. */
    CONNECTOR_SERVER_ID = 1U << 2, /* Named by the cloud: unknown before spec.resourceID is set. */
    CONNECTOR_GLOBAL = 1U << 3,    /* Its name is unique in the whole cloud, not in a project. */
};

/*
 * True for the apiVersion of a resource of Config Connector, but not of its own configuration
 * (core.cnrm.cloud.google.com and below). Objects of these kinds have to be read in full:
 * identity and conflict are in spec and status.
 */
bool connector_manages(const char *api_version);

/* Bits by enum connector_trait; 0 for kinds that the table does not have. */
unsigned connector_traits(const char *kind);

/*
 * What Config Connector reads (seed 004): annotations and fields of its resources (any kind of a
 * group that ends in ".cnrm.cloud.google.com"), annotations of a Namespace, and the ids of
 * namespaces. Only few templates have such a part: its role says which.
 */
enum connector_role {
    ROLE_NONE,
    ROLE_RESOURCE,      /* struct connector */
    ROLE_DEFAULTS,      /* struct connector_defaults */
    ROLE_NAMESPACE_IDS, /* struct namespace_ids */
};

/*
 * The apiVersion under which a source puts a Namespace, or the ConfigMap with the ids, that it
 * reads for these settings alone: as CLASS_SETTING, because it needs no policy.
 */
#define SETTING_GROUP       "cnrm.cloud.google.com"
#define SETTING_API_VERSION SETTING_GROUP "/v1"

/* cnrm.cloud.google.com/management-conflict-prevention-policy */
enum prevention {
    PREVENTION_UNSET,
    PREVENTION_NONE,
    PREVENTION_RESOURCE,
    PREVENTION_UNKNOWN, /* Any other value: it protects nothing. */
};

/* What a resource belongs to in the cloud. */
enum container_kind { CONTAINER_NONE, CONTAINER_PROJECT, CONTAINER_FOLDER, CONTAINER_ORGANIZATION };

struct container {
    enum container_kind kind;
    const char *id; /* Shared; NULL if there is none. */
};

/* Of a resource of Config Connector. Texts are shared, NULL if not set. */
struct connector {
    struct container container; /* By annotation, else by spec.projectRef and the like. */
    const char *resource_id;    /* spec.resourceID; without it the object's name counts. */
    const char *location;       /* spec.location, .region or .zone. */
    const char *parent;         /* Within which its name is unique: an instance, a dataset, ... */
    const char *refused_by;     /* The holder's id in a ManagementConflict; "" if it has none. */
    int64_t reconcile_s;        /* -1: the default. */
    enum prevention prevention;
    bool unclear;  /* The object leaves open which cloud resource it stands for. */
    bool abandons; /* deletion-policy: abandon. */
};

/* Of a Namespace: for those of its resources that set nothing themselves. */
struct connector_defaults {
    struct container container;
    enum prevention prevention;
    bool unclear; /* It names several containers. */
};

/* Of the ConfigMap cnrm-system/namespace-id: the id under which each namespace holds leases. */
struct namespace_ids {
    struct labels ids; /* Namespace to id. */
};

/*
 * The holder's id in a status whose condition Ready has the reason ManagementConflict: a shared
 * text that the caller drops, "" if the message has no id; NULL without such a condition. Never
 * fails: a status of another shape has no such condition.
 */
const char *management_conflict_decode(struct decode *d, const cJSON *status);

/* The role of an object; ROLE_NONE for most. */
enum connector_role connector_role_of(const cJSON *json);
/* A new struct of the role, which connector_release() frees; NULL for ROLE_NONE. */
void *connector_decode(struct decode *d, const cJSON *json, enum connector_role role);
/* Takes NULL. */
void connector_release(struct intern *strings, void *part, enum connector_role role);

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
