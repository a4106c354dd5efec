/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

struct evaluation;
struct findings;
struct kube_session;
struct outlets;
struct registry;
struct web;

/* What pages and answers are written from: all that the exporter knows about objects and itself. */
struct health {
    const struct evaluation *evaluation; /* NULL while the first one is not complete. */
    const struct findings *findings;     /* Of that; pages of metrics do not need them. */
    const struct kube_session *session;  /* Its own, or that of the first one; NULL without. */
    const struct web *web;               /* Whom it serves, and how. */
    const struct outlets *outlets;       /* What it sends; NULL: nothing. */
    struct registry *registry; /* Of the evaluation; before the first one without any object. */
    const char *telemetry_path;
    const char *external_url; /* Where people reach the site; "" if that is not known. */
    bool config_loaded;       /* The last reload succeeded. */
    uint64_t rejected;        /* Manifests that could not be read, so far. */
    uint64_t log_dropped;     /* Lines of the log. */
    int64_t beat_age_ms;      /* How long ago the loop last turned. */
    int64_t now_ms;
    int64_t started_ms; /* When the process was; 0 if unknown. */
};
