/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/web/server.h"

/* The exporter's own health: the families that no object gives anything to. */
struct health {
    const struct evaluation *evaluation; /* NULL while the first one is not complete. */
    const struct kube_session *session;  /* Its own, or that of the first one; NULL without. */
    const struct server *server;
    const char *telemetry_path;
    bool config_loaded; /* The last reload succeeded. */
    uint64_t rejected;  /* Manifests that could not be read, so far. */
    int64_t now_ms;
};

/* Set all of it in `series`. */
void health_fill(const struct health *h, struct registry *registry);
