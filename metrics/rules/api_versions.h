/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"
#include "metrics/rules/selector_index.h"

/*
 * API versions that Karmada watches: one version of each kind, the one that the API server prefers.
 * A policy that names another version selects nothing. An object has the same identity in all its
 * versions.
 */

/* Answer of a source about one apiVersion and kind. */
enum api_version_answer {
    API_VERSION_UNKNOWN,
    API_VERSION_WATCHED,   /* The preferred version. */
    API_VERSION_UNWATCHED, /* Another version is preferred, or the kind cannot be watched. */
    API_VERSION_UNSERVED,  /* Only other versions are served: the API server refuses objects. */
    API_VERSION_ABSENT,    /* The API server serves no version of the kind. */
};

/* Source of answers about apiVersions; all zero without a source. */
struct api_version_source {
    enum api_version_answer (*judge)(const void *context, const char *api_version,
                                     const char *kind);
    /*
     * Appends the preferred apiVersion of a kind, whatever version `api_version` names. Returns
     * false if it is unknown.
     */
    bool (*preferred)(const void *context, const char *api_version, const char *kind,
                      struct strbuf *out);
    const void *context;
    /*
     * The source is files: for a kind unknown to `judge`, a version counts as unwatched if the kind
     * has objects, and all of them have other versions.
     */
    bool objects_decide;
};

/* Returns the answer of the source; API_VERSION_UNKNOWN without a source. */
enum api_version_answer api_version_judge(const struct api_version_source *source,
                                          const char *api_version, const char *kind);

/* Returns true if the source knows that no version of the kind is served. */
bool api_version_is_absent(const struct api_version_source *source, const char *api_version,
                           const char *kind);

/* Returns true if this version of the kind counts as unwatched. */
bool api_version_is_unwatched(const struct store *store, const struct api_version_source *source,
                              const char *api_version, const char *kind);

/* Appends the preferred apiVersion of a kind. Returns false if it is unknown. */
bool api_version_add_preferred(const struct api_version_source *source, const char *api_version,
                               const char *kind, struct strbuf *out);

/*
 * Handles a template that was created (`old` is NULL), deleted or replaced. If the template is the
 * first or was the last object of its apiVersion and kind, api_version_is_unwatched() may have
 * another result: marks all override policies, and all policies if a selector names any version of
 * the kind.
 */
void api_versions_mark_policies(const struct selector_index *index, struct graph *graph,
                                const struct entry *template, const void *old);

/*
 * Marks the templates for which selector_index_find_other_version() may have another result after
 * the addition or removal of `policy`, which may be NULL.
 */
void api_versions_mark_templates(const struct store *store, struct graph *graph,
                                 const struct policy *policy);
/* Marks all templates of the kinds that a selector names in another version. */
void api_versions_mark_all_templates(const struct store *store, struct graph *graph,
                                     const struct selector_index *index);
