/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/model/decode.h"
#include "metrics/model/metadata.h"

/*
 * Objects of Config Connector (seed 004): its resources (any kind of a group that ends in
 * ".cnrm.cloud.google.com"), its settings in Namespaces, the ids of namespaces, and the leases
 * that it stores in labels of cloud resources.
 */

/* Properties of a resource kind of Config Connector, as bits. */
enum connector_trait {
    CONNECTOR_NO_LABELS = 1U << 0,   /* The cloud resource has no labels, so it has no lease. */
    CONNECTOR_NO_IDENTITY = 1U << 1, /* Several objects may manage one cloud resource. */
    /* The cloud generates the name: only spec.resourceID, not metadata.name, tells it. */
    CONNECTOR_SERVER_ID = 1U << 2,
    CONNECTOR_GLOBAL = 1U << 3, /* The name is unique in the whole cloud, not in a project. */
};

/*
 * Returns true if the group of `api_version` ends in ".cnrm.cloud.google.com", but not in
 * "core.cnrm.cloud.google.com" (configuration of Config Connector). The rules need the spec and the
 * status of such objects, so metadata alone is not enough.
 */
bool is_connector_api_version(const char *api_version);

/* Returns the traits of a kind as bits of enum connector_trait; 0 for an unknown kind. */
unsigned connector_traits(const char *kind);

/* ---- parts of a template for Config Connector ---- */

/*
 * Role of an object for Config Connector. A template with a role has a "part": a struct with
 * decoded data, of a type that depends on the role. Few templates have a role.
 */
enum connector_role {
    ROLE_NONE,
    ROLE_RESOURCE,      /* The part is a struct connector. */
    ROLE_DEFAULTS,      /* The part is a struct connector_defaults. */
    ROLE_NAMESPACE_IDS, /* The part is a struct namespace_ids. */
};

/*
 * apiVersion in the store of the Namespaces and the ConfigMap cnrm-system/namespace-id that a
 * source reads as settings of Config Connector. With "v1" these objects would be templates.
 */
#define SETTING_GROUP       "cnrm.cloud.google.com"
#define SETTING_API_VERSION SETTING_GROUP "/v1"

/* Value of the annotation cnrm.cloud.google.com/management-conflict-prevention-policy. */
enum prevention {
    PREVENTION_UNSET,
    PREVENTION_NONE,
    PREVENTION_RESOURCE,
    PREVENTION_INVALID, /* Another value: Config Connector refuses the object. */
};

/* Kind of the cloud container (project, folder or organization) of a cloud resource. */
enum container_kind { CONTAINER_NONE, CONTAINER_PROJECT, CONTAINER_FOLDER, CONTAINER_ORGANIZATION };

struct container {
    enum container_kind kind;
    const char *id; /* Interned; NULL for CONTAINER_NONE. */
};

/* A resource of Config Connector. Interned texts, NULL if unset. */
struct connector {
    struct container container; /* From an annotation, else from a field such as spec.projectRef. */
    const char *resource_id;    /* spec.resourceID; if unset, the object's name is used. */
    /* Last path segment of the first of spec.location, region, zone that is not "global". */
    const char *location;
    const char *parent;          /* All references to parents, such as an instance, in one text. */
    const char *conflict_holder; /* Result of conflict_holder_decode(). */
    int64_t reconcile_s;         /* Reconcile interval in seconds; -1 if unset or invalid. */
    enum prevention prevention;
    bool unclear;  /* The cloud resource of the object cannot be determined. */
    bool abandons; /* Annotation deletion-policy is "abandon". */
};

/* Defaults that a Namespace sets for its Config Connector resources. */
struct connector_defaults {
    struct container container;
    enum prevention prevention;
    bool unclear; /* The Namespace has several container annotations. */
};

/* ConfigMap cnrm-system/namespace-id: the id with which each namespace holds leases. */
struct namespace_ids {
    struct labels ids; /* Key: namespace; value: its id. */
};

/*
 * Returns the id of the lease holder from the message of the condition Ready, if Ready is False
 * with the reason ManagementConflict: an interned text that the caller drops, "" if the message has
 * no id of at most 63 bytes. Returns NULL without such a condition.
 */
const char *conflict_holder_decode(struct decode *d, const cJSON *status);

/* Returns the role of an object for Config Connector; ROLE_NONE for most objects. */
enum connector_role connector_role_of(const cJSON *json);
/* Returns the new part of a template with this role; NULL for ROLE_NONE. */
void *connector_decode(struct decode *d, const cJSON *json, enum connector_role role);
/* Frees the part of a template; `part` may be NULL. */
void connector_release(struct intern *strings, void *part, enum connector_role role);

/* ---- leases of Config Connector ---- */

/*
 * Lease of one cloud resource, from a snapshot of the cloud's assets: the two labels that Config
 * Connector sets on the resource. The name of the store entry is the name of the asset, for example
 * "//pubsub.googleapis.com/projects/p/topics/t".
 *
 * The source that reads snapshots puts an object for each resource with a Config Connector label:
 * {"apiVersion": LEASE_API_VERSION, "kind": LEASE_KIND, "metadata": {"name"},
 *  "assetType", "holder", "expiration", "snapshotMilliseconds"}.
 */
#define LEASE_GROUP       "cloudasset.googleapis.com"
#define LEASE_API_VERSION LEASE_GROUP "/v1"
#define LEASE_KIND        "Asset"

struct lease {
    const char *asset_type; /* For example "pubsub.googleapis.com/Topic". Interned. */
    const char *holder;     /* Id of the namespace that holds the lease, or NULL. Interned. */
    int64_t expires_s;      /* Seconds since the epoch; 0 (expired) if missing or malformed. */
    int64_t snapshot_ms;    /* Time of the snapshot, in milliseconds since the epoch. */
};

/* Callbacks of the row in the table of kinds (struct kind_def). */
void *lease_decode(struct decode *d, const cJSON *json);
void lease_release(struct intern *strings, void *object);

/* Used only by connector_resource.c and tests. */

/* Parses cnrm-lease-expiration, in seconds since the epoch; 0 if NULL, no number or too large. */
int64_t lease_expiry_parse(const char *text);
