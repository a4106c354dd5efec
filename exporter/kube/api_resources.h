/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/base/json.h"

/* Groups, versions and resources of an API server, read from its discovery documents. */

struct api_resource {
    char *api_version; /* "apps/v1" */
    char *kind;        /* "Deployment" */
    char *resource;    /* "deployments", as in paths. */
    char *other_names; /* Singular and short names, each followed by a space; may be "". */
    bool namespaced;
    bool watchable; /* Has the verbs list, watch and delete, which Karmada requires of templates. */
    bool preferred; /* The version is the preferred one of its group. */
};

enum api_version_state {
    API_READ,   /* The table has the version's resources. */
    API_FAILED, /* The resources have not been read, or the server reports them as stale. */
};

struct api_version {
    char *name; /* "apps/v1" */
    enum api_version_state state;
    bool preferred; /* Preferred version of its group. */
};

struct api_table {
    struct api_version *versions;
    size_t version_count;
    struct api_resource *resources;
    size_t resource_count;
    bool core_known;   /* `versions` has all versions of the core group. */
    bool groups_known; /* `versions` has all versions of the other groups. */
};

void api_table_release(struct api_table *t);

/* Appends the name of a resource in metrics, on pages and in problems, such as "deployment.apps".
 */
void append_resource_name(struct strbuf *out, const char *kind, const char *group);
/* Calls append_resource_name() with the group of an apiVersion. */
void append_resource_name_of(struct strbuf *out, const char *api_version, const char *kind);

/*
 * Returns the resource of a kind, or NULL. If a version has several resources of the kind, a
 * watchable one takes precedence.
 */
const struct api_resource *api_table_find(const struct api_table *t, const char *api_version,
                                          const char *kind);

/*
 * Returns the watchable resource of a kind that Karmada uses for the group of `api_version`: that
 * of the group's preferred version, else of the first version in the table (client-go:
 * ServerPreferredResources). NULL if no version has one.
 */
const struct api_resource *api_table_find_preferred(const struct api_table *t,
                                                    const char *api_version, const char *kind);

/*
 * Returns api_table_find_preferred() of the kind that a user typed: a kind, or a plural, singular
 * or short name, in any case. With NULL as `group`, the core group takes precedence over the first
 * match in other groups. NULL if there is no match or Karmada does not watch the match.
 */
const struct api_resource *api_table_find_by_name(const struct api_table *t, const char *typed,
                                                  const char *group);

/* Returns the version with this name, such as "apps/v1"; NULL if it is not in the table. */
struct api_version *api_table_find_version(const struct api_table *t, const char *name);

/*
 * These functions add a document to the table: an APIGroupDiscoveryList with groups, versions and
 * resources; an APIVersions or APIGroupList, whose new versions get the state API_FAILED; and an
 * APIResourceList with the resources of a version that is in the table. They return false with the
 * reason in `err` if the document has another type or the version is not in the table. Versions
 * after the first 5,000 and resources after the first 20,000 are dropped.
 */
bool api_table_add_aggregated(struct api_table *t, const cJSON *json, struct error *err) MUST_USE;
bool api_table_add_versions(struct api_table *t, const cJSON *json, struct error *err) MUST_USE;
bool api_table_add_resources(struct api_table *t, const char *api_version, const cJSON *json,
                             struct error *err) MUST_USE;

/*
 * Copies the versions and resources that are unknown in `t` from `earlier`, the table of the
 * previous round, so that a kind does not seem deleted because a request failed.
 */
void api_table_inherit(struct api_table *t, const struct api_table *earlier);

/* Returns true if versions, states, resources and known groups are equal. Ignores `other_names`. */
bool api_table_equal(const struct api_table *a, const struct api_table *b);
