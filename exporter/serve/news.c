/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/news.h"

bool news_since(struct news *n, const struct evaluation *e, struct problem_log *problems,
                const struct log *log)
{
    const struct news now = {
        .evaluations = engine_evaluations(e->engine),
        .files = manifests_file_count(e->manifests),
        .health = e->session ? kube_source_health_version(kube_session_source(e->session)) : 0,
    };
    bool told = problem_log_update(problems, e->manifests, log);
    bool changed = told || now.evaluations != n->evaluations || now.files != n->files ||
                   now.health != n->health;

    *n = now;
    return changed;
}
