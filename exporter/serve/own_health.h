/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/kube/kube_source.h"
#include "exporter/kube/session.h"
#include "exporter/web/api.h"
#include "exporter/web/server.h"
#include "metrics/expose/registry.h"

/* Set the families of own health in the registry, which has to be prepared anew afterwards. */
void own_health_fill(const struct health *h, struct registry *registry);

/*
 * Keeps what /-/ready says up to date: whether everything has been read once, what is waited for
 * meanwhile and why it has not come, and which kinds the rest goes on without.
 */
struct readiness {
    struct server *server; /* Borrowed. */
    struct strbuf said;
    bool ready;
    int64_t due_ms; /* When to look again: reasons change with time. */
};

/* Not ready: nothing has been read. */
void readiness_init(struct readiness *r, struct server *server);
void readiness_release(struct readiness *r);

/*
 * Say what is so now. `session` is that of the evaluation that is shown or, while there is none,
 * of the one that is prepared; NULL where everything comes from manifests, of which `problem` says
 * what is waited for, if anything. `now_ms` is steady.
 */
void readiness_turn(struct readiness *r, bool ready, const struct kube_session *session,
                    const char *problem, int64_t now_ms);
