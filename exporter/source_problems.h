/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/asset_source.h"
#include "exporter/files/manifest_source.h"
#include "exporter/kube/kube_source.h"
#include "metrics/rules/problems/problems.h"

/*
 * Problems of the sources: kinds and files that cannot be read as they are now (data_incomplete),
 * and objects that files declare more than once (duplicate_object). The subject of data_incomplete
 * is the resource or the path; of several reasons, the first in the table holds.
 */
struct source_problems;

/* The sources to watch; borrowed. Without a source, `server` or `assets` is NULL. */
struct source_set {
    const struct kube_source *server;
    const struct manifests *manifests;
    const struct asset_source *assets;
};

/*
 * Returns the problems of `sources`, none so far. After a reload, `last` has the problems before
 * it, and the times of asset exports go on if the file is the same; else it is NULL.
 */
struct source_problems *source_problems_new(struct source_set sources,
                                            const struct source_problems *last) MUST_USE;
/* Accepts NULL. */
void source_problems_free(struct source_problems *s);

/*
 * Reports the present problems of the sources to `ps` and withdraws those that have ended. Call it
 * after the sources have been read, and again when their state may have changed. `now_ms` is
 * milliseconds since the epoch.
 */
void source_problems_update(struct source_problems *s, struct problems *ps, int64_t now_ms);

/*
 * Callback of struct problem_options, with a struct source_problems as context: returns true if the
 * API server's objects of the type, or policies or bindings, could not be read at the last update.
 */
bool source_problems_is_unreadable(const void *s, const struct type *type);

/* Returns true unless policies or bindings could not be read at the last update. */
bool source_problems_core_is_readable(const struct source_problems *s);
