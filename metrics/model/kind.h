/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/model/builtin_kinds.h"
#include "metrics/model/decode.h"

/*
 * Table of the input kinds: how their objects are watched, decoded and released. Objects of a kind
 * without a row are templates, except objects of Karmada's own groups (CLASS_OTHER). To add an
 * input kind, add a file in this folder and a row in kind.c.
 */

/* Kind of the objects that represent member clusters. */
#define CLUSTER_GROUP       "cluster.karmada.io"
#define CLUSTER_API_VERSION CLUSTER_GROUP "/v1alpha1"
#define CLUSTER_KIND        "Cluster"

/* Kind of the limits of a namespace. */
#define QUOTA_API_VERSION "policy.karmada.io/v1alpha1"
#define QUOTA_KIND        "FederatedResourceQuota"

/* Classes of objects: the rules treat all objects of a class alike. */
enum object_class {
    CLASS_TEMPLATE, /* Any object that a policy can select. */
    CLASS_POLICY,
    CLASS_BINDING,
    CLASS_OVERRIDE,
    CLASS_CLUSTER,
    CLASS_EVENT,
    CLASS_WORK,
    CLASS_LEASE,
    CLASS_QUOTA,
    CLASS_SETTING, /* Object with settings, which rules read even if no policy selects it. */
    CLASS_OTHER,   /* Object of Karmada itself without a decision. */
    CLASS_COUNT,
};

#define TAINT_POLICY_KIND "ClusterTaintPolicy"

/* Object of CLASS_OTHER: of Karmada's groups, without a decision of its own. */
struct other {
    struct admission *admission;   /* Owned; NULL without findings. */
    char *taint_policy;            /* JSON of spec of a ClusterTaintPolicy; else NULL. Owned. */
    struct autoscaler *autoscaler; /* Owned; NULL unless the object is a FederatedHPA. */
};

/* Condition under which the exporter watches a kind at an API server. */
enum watch_condition {
    WATCH_ALWAYS = 1,       /* Not 0: a row without a condition is a mistake. */
    WATCH_WITH_CONNECTOR,   /* While a policy selects a served kind of Config Connector. */
    WATCH_WITH_PRIORITY,    /* While a policy has schedulePriority and the feature gate is on. */
    WATCH_WITH_WORKS,       /* If reading of Works is enabled. */
    WATCH_WITH_OVERRIDES,   /* If reading of Works is enabled, while override policies exist. */
    WATCH_IF_SERVED,        /* While the API server serves the kind. */
    WATCH_IF_SELECTED,      /* While a policy selects the kind, or an object refers to it. */
    WATCH_NEVER_USED,       /* Never: no rule uses the objects. */
    WATCH_NEVER_DUPLICATE,  /* Never: the resource of another row serves the same objects. */
    WATCH_NEVER_FROM_FILES, /* Never: no API server serves the kind; objects come from files. */
};

/* Watch of a kind. Members but `when` apply to WATCH_ALWAYS, _WITH_... and _IF_SERVED only. */
struct kind_watch {
    enum watch_condition when;
    const char *resource; /* Plural name in API paths: "propagationpolicies". */
    bool required;        /* The exporter is not ready before these objects have been read. */
    /* The initial sync does not wait for these objects, unless the source marks them as awaited. */
    bool optional;
    bool supplement; /* Second watch of a kind, not needed for the kind to count as read. */
    bool unfiltered; /* The namespace filter does not apply to the namespace of the objects. */
    bool by_binding; /* For Works: the namespace filter applies to the binding's namespace. */
    bool metadata_only;
    const char *field_selector;   /* NULL reads all objects. */
    const char *only_namespace;   /* NULL reads all namespaces. */
    const char *read_api_version; /* apiVersion in API paths; NULL if equal to api_version. */
};

/* A kind: one row of the table in kind.c. */
struct kind_def {
    const char *group;
    const char *name;
    /* apiVersion of the stored identities, even if the API server serves another version. */
    const char *api_version;
    enum object_class class;
    bool cluster_scoped;
    /* Returns a new object; NULL with the reason in d->err if `json` is invalid. */
    void *(*decode)(struct decode *d, const cJSON *json);
    /* Frees an object; `object` may be NULL. */
    void (*release)(struct intern *strings, void *object);
    /*
     * Sets the members of `fresh` that follow from a comparison with `old`, the previous object of
     * the entry. `relisted`: versions between both may have been missed. NULL without such members.
     */
    void (*inherit)(void *fresh, const void *old, bool relisted);
    /*
     * Members that `decode`, `inherit` and the readers of stored objects' JSON in exporter/kube
     * use; NULL: all members.
     */
    const struct json_filter *fields;
    struct kind_watch watch;
};

/*
 * Returns the row of a group and kind; the version does not matter. For a kind without a row,
 * returns the row of CLASS_OTHER if the group is Karmada's own, else the row of CLASS_TEMPLATE.
 */
const struct kind_def *kind_of(const char *api_version, const char *kind);

/* Returns all rows of single kinds in a fixed order. */
const struct kind_def *kind_table(size_t *count);

/* Return the row of policies, bindings, override policies or member clusters. */
const struct kind_def *kind_of_policies(bool cluster_scoped);
const struct kind_def *kind_of_bindings(bool cluster_scoped);
const struct kind_def *kind_of_overrides(bool cluster_scoped);
const struct kind_def *kind_of_clusters(void);

/* Scope of the objects of a kind. */
enum scope {
    SCOPE_UNKNOWN, /* The kind may come from a CustomResourceDefinition. */
    SCOPE_NAMESPACED,
    SCOPE_CLUSTER,
};

/*
 * Returns the scope of a kind. A kind that neither kind.c nor builtin_kinds.h lists counts as
 * namespaced if its group has no dot or has a listed kind; else its scope is unknown.
 */
enum scope scope_of_kind(const char *api_version, const char *kind);
