/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/graph.h"
#include "metrics/rules/selector_index.h"

/*
 * Which version of a kind Karmada looks at: the one that the API server prefers. A policy that
 * names another one selects nothing. Where no API server says so, in files, versions are matched
 * as they are written, and a policy names another one if objects have only others.
 */

/* An API server's answer about one apiVersion and kind. */
enum api_version_answer {
    API_VERSION_UNKNOWN,
    API_VERSION_WATCHED,
    API_VERSION_UNWATCHED, /* Another one is preferred, or the kind cannot be watched. */
};

/* Who knows; all zero: nobody. */
struct api_version_judge {
    enum api_version_answer (*judge)(const void *context, const char *api_version,
                                     const char *kind);
    const void *context;
};

/* True if Karmada looks at another version of the kind than this. */
bool api_version_is_unwatched(const struct store *store, const struct api_version_judge *judge,
                              const char *api_version, const char *kind);

/*
 * A template came (`old` is NULL), went or was replaced. Mark the policies if it is the first or
 * was the last of its version, and some policy names another version of its kind.
 */
void api_versions_changed(const struct selector_index *index, struct graph *graph,
                          const struct entry *template, const void *old);
