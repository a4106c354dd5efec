/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/*
 * The kinds that every Kubernetes API server serves, with their API versions. All versions of a
 * kind serve the same objects, and Karmada watches the preferred version only. The table comes from
 * the discovery of a kube-apiserver: tests/e2e/cluster_kinds.test compares and writes it.
 */

/* One kind. */
struct builtin_kind {
    const char *group; /* "" for the core group. */
    const char *kind;
    const char *versions; /* Separated by spaces; the first one is preferred: "v2 v1". */
    bool cluster_scoped;
};

/* Returns the row of a kind for any version in `api_version`; NULL if the kind has no row. */
const struct builtin_kind *builtin_kind_find(const char *api_version, const char *kind);

/* Returns all rows, sorted by group and kind in byte order. */
const struct builtin_kind *builtin_kind_table(size_t *count);

/*
 * Returns true if the group in an apiVersion is one of Kubernetes' own. Its kinds are those of the
 * table: the API server serves no other kind of it. "extensions" is such a group without a kind.
 */
bool is_builtin_group(const char *api_version);

/*
 * Returns the row whose kind is most probably meant by a kind that no API server serves: the same
 * kind in another group, else a similar name in the same group, else in any group. NULL without
 * one.
 */
const struct builtin_kind *builtin_kind_suggest(const char *api_version, const char *kind);

/* Appends the kind with its preferred version, such as "Deployment of apps/v1". */
void builtin_kind_add_name(const struct builtin_kind *row, struct strbuf *out);

/* ---- API versions ---- */

/* Returns the length of the group in an apiVersion; 0 for "v1". */
size_t api_group_len(const char *api_version);
/* Returns true if the group in an apiVersion is `group`; `len` is its api_group_len(). */
bool api_group_is(const char *api_version, size_t len, const char *group);
/* Returns true if two apiVersions have the same group. */
bool api_group_equals(const char *a, const char *b);

/* Position of a version in a list such as `versions` of struct builtin_kind. */
enum version_rank {
    VERSION_PREFERRED, /* The first of the list. */
    VERSION_SERVED,    /* Another one of the list. */
    VERSION_UNSERVED,  /* Not in the list. */
};

/* Returns the rank of the version of `api_version`, such as "v1" of "autoscaling/v1". */
enum version_rank version_rank_of(const char *versions, const char *api_version);

/*
 * Compares two versions as Kubernetes sorts them: general availability, beta, alpha, each with the
 * highest number first; then all other names in byte order. Negative if `a` comes first.
 */
int version_compare(const char *a, const char *b);
