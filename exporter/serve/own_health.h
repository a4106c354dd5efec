/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/kube/kube_source.h"
#include "exporter/kube/session.h"
#include "exporter/web/api.h"
#include "exporter/web/server.h"
#include "metrics/expose/registry.h"

/* Sets the families about the exporter itself. Call registry_prepare() afterwards. */
void own_health_fill(const struct health *h, struct registry *registry);

/*
 * Keeps the response of /-/ready up to date: the state; until the exporter is ready, also the kinds
 * to be read and the reasons why they are missing; then the kinds that are late.
 */
struct readiness {
    struct server *server; /* Borrowed. */
    struct strbuf text;    /* Text of the last response set; "" before the first. */
    bool ready;            /* Last state set. */
    int64_t due_ms;        /* Next check of the text while `ready` stays the same; steady. */
};

/* Initializes the state to not ready, as in a new server. Released with readiness_release(). */
void readiness_init(struct readiness *r, struct server *server);
void readiness_release(struct readiness *r);

/*
 * Updates the response at most every 500 ms, and at once if `ready` has changed. `session` is the
 * session of the current evaluation, or of the next evaluation if there is no current one; NULL
 * without an API server. `problem`, for not `ready` without a session: the reason; "" if manifests
 * are being read. `now_ms` is steady.
 */
void readiness_turn(struct readiness *r, bool ready, const struct kube_session *session,
                    const char *problem, int64_t now_ms);
