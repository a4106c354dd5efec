/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/base/json.h"

/* What an API server serves, as its discovery documents say. */

struct api_resource {
    char *api_version; /* "apps/v1" */
    char *kind;        /* "Deployment" */
    char *resource;    /* "deployments", as in paths. */
    char *other_names; /* "deployment deploy ": the singular and the short ones; may be "". */
    bool namespaced;
    bool watchable; /* Can be listed, watched and deleted: Karmada demands it of a template. */
    bool preferred; /* Of the version that its group prefers. */
};

/* What is known of one version of a group. */
enum api_version_state {
    API_READ,   /* Its resources are in the table. */
    API_FAILED, /* It exists, and its resources could not be read, or are out of date. */
};

struct api_version {
    char *name; /* "apps/v1" */
    enum api_version_state state;
    bool preferred;
};

struct api_table {
    struct api_version *versions;
    size_t version_count;
    struct api_resource *resources;
    size_t resource_count;
    bool core_known;   /* Versions of the core group that are not listed do not exist. */
    bool groups_known; /* The same of all other groups. */
};

void api_table_release(struct api_table *t);

/* The resource of a kind; one that can be watched, if there are several. NULL if there is none. */
const struct api_resource *api_table_find(const struct api_table *t, const char *api_version,
                                          const char *kind);

/*
 * The resource as which Karmada looks at a kind of this group, whatever the version: of the
 * version that the group prefers, else of the first one that has it; NULL if there is none, or
 * it is not watchable (client-go: ServerPreferredResources).
 */
const struct api_resource *api_table_find_preferred(const struct api_table *t,
                                                    const char *api_version, const char *kind);

/*
 * The resource that somebody means by a kind, a plural, a singular or a short name, in any case,
 * as Karmada looks at it. `group` is NULL if it was left out: then the core group comes first.
 * NULL if there is none.
 */
const struct api_resource *api_table_find_by_name(const struct api_table *t, const char *typed,
                                                  const char *group);

/* What is known of "apps/v1"; NULL if it is not listed. */
struct api_version *api_table_find_version(const struct api_table *t, const char *name);

/* An APIGroupDiscoveryList: groups, versions and resources in one document. */
bool api_table_add_aggregated(struct api_table *t, const cJSON *json, struct error *err) MUST_USE;

/* An APIVersions or an APIGroupList: versions, whose resources have to be read each. */
bool api_table_add_versions(struct api_table *t, const cJSON *json, struct error *err) MUST_USE;

/* An APIResourceList: the resources of a version that is in the table. */
bool api_table_add_resources(struct api_table *t, const char *api_version, const cJSON *json,
                             struct error *err) MUST_USE;

/*
 * Copy from an earlier table what this one does not know: the resources of versions that
 * failed, and of all versions of a part that could not be listed. A kind that could not
 * be read has not been deleted.
 */
void api_table_inherit(struct api_table *t, const struct api_table *earlier);

/* True if both serve the same. */
bool api_table_equal(const struct api_table *a, const struct api_table *b);

/*
 * Which namespaces this exporter reads: those that are named, or all, but none of the
 * denied ones; and of these, where several exporters share the work, one shard.
 * Cluster-scoped objects belong to the shard of the namespace "".
 */
struct namespace_filter {
    const char *const *namespaces; /* Borrowed, as are the denied ones. None: all. */
    size_t namespace_count;
    const char *const *denied;
    size_t denied_count;
    uint32_t shard;
    uint32_t total_shards; /* 0 or 1: one exporter reads all. */
};

bool namespace_filter_allows(const struct namespace_filter *filter, const char *ns);
