/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/connector_kind.h"
#include "metrics/model/labels.h"

/*
 * What Config Connector's own annotations and fields say (seed 004): about one of its
 * resources (any kind of a group that ends in ".cnrm.cloud.google.com"), about a
 * Namespace, and about the ids of namespaces. It is what few templates have beside all else.
 */
enum connector_role {
    ROLE_NONE,
    ROLE_RESOURCE,      /* struct connector */
    ROLE_DEFAULTS,      /* struct connector_defaults */
    ROLE_NAMESPACE_IDS, /* struct namespace_ids */
};

/*
 * Under what a source puts a Namespace, or the ConfigMap with the ids, that it reads for
 * these settings alone: it is no template then, and nobody asks for its policy.
 */
#define SETTING_GROUP       "cnrm.cloud.google.com"
#define SETTING_API_VERSION SETTING_GROUP "/v1"

/* cnrm.cloud.google.com/management-conflict-prevention-policy */
enum prevention {
    PREVENTION_UNSET,
    PREVENTION_NONE,
    PREVENTION_RESOURCE,
    PREVENTION_UNKNOWN, /* Anything else: it protects nothing. */
};

/* What a resource belongs to. */
enum container_kind { CONTAINER_NONE, CONTAINER_PROJECT, CONTAINER_FOLDER, CONTAINER_ORGANIZATION };

struct container {
    enum container_kind kind;
    const char *id; /* Shared; NULL if there is none. */
};

/* On a resource of Config Connector. Texts are shared, NULL if not told. */
struct connector {
    struct container container; /* By annotation, else by spec.projectRef and its like. */
    const char *resource_id;    /* spec.resourceID; without it the object's name counts. */
    const char *location;       /* spec.location, .region or .zone. */
    const char *parent;         /* What its name is one within: an instance, a dataset, ... */
    const char *refused_by;     /* The holder's id in a ManagementConflict; "" if not told. */
    int64_t reconcile_s;        /* -1: the default. */
    enum prevention prevention;
    bool unclear;  /* Which cloud resource it stands for cannot be told. */
    bool abandons; /* deletion-policy: abandon. */
};

/* On a Namespace: what its resources have where they say nothing. */
struct connector_defaults {
    struct container container;
    enum prevention prevention;
    bool unclear; /* It tells several containers. */
};

/* On the ConfigMap cnrm-system/namespace-id: which id each namespace signs its leases with. */
struct namespace_ids {
    struct labels ids; /* Namespace to id. */
};

/*
 * The holder's id in the condition Ready of a status with the reason ManagementConflict: a
 * shared text, "" where the message names none; NULL without such a condition. A status of
 * another shape has none: it is others' business.
 */
const char *management_conflict_decode(struct decode *d, const cJSON *status);

/* Which of the three an object is, what it says, and letting that go. */
enum connector_role connector_role_of(const cJSON *json);
void *connector_decode(struct decode *d, const cJSON *json, enum connector_role role);
/* Takes NULL. */
void connector_release(struct intern *strings, void *said, enum connector_role role);
