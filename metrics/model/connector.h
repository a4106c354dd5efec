/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/connector_kind.h"
#include "metrics/model/labels.h"

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
