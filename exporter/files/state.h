/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/declarations.h"
#include "exporter/files/reading.h"
#include "exporter/files/rescan.h"
#include "exporter/files/scopes.h"
#include "exporter/kube/api_resources.h"

/* What source.h is about, seen from inside this folder. */
struct manifests {
    struct manifest_limits limits;
    struct tree tree;
    struct scopes scopes;
    const struct namespace_filter *filter; /* NULL: objects of all namespaces. Borrowed. */
    struct declarations declarations;
    bool (*put)(void *context, const cJSON *object, struct error *err); /* NULL: declare. */
    void *put_context;
    struct reading *reading;       /* The file that is being read, if any, ... */
    struct manifest_file *current; /* ... which one it is, ... */
    struct problems found;         /* ... and what is wrong with it so far. */
    struct problem_view view;
    bool view_is_old;
    struct rescan rescan;
    struct ahead ahead;
    int64_t waits_ms; /* Since when there is only waiting; 0: there is work, or nothing to do. */
    int64_t due_ms;   /* When to go on though nothing has arrived. */
};
