/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/transition_row.h"

#include "metrics/expose/report_parts.h"

static void write_moment(struct writer *w, const char *key, const struct moment *m)
{
    if (!m->decided) {
        writer_text(w, key, NULL);
        return;
    }
    writer_open(w, key, '{');
    writer_text(w, "state", state_names[m->state]);
    writer_text(w, "reason", reason_name((enum template_state)m->state, m->reason));
    writer_text(w, "phase", m->state == STATE_STALE ? phase_names[m->phase] : NULL);
    writer_text(w, "stage", m->stage != STAGE_NONE ? stage_names[m->stage] : NULL);
    writer_text(w, "stageReason",
                m->stage_reason != WHY_NONE ? stage_reason_names[m->stage_reason] : NULL);
    report_put_policy(w, "policy", policy_name_of(m->policy));
    report_put_policy(w, "claimed", policy_name_of(m->claimed));
    report_put_known(w, "version", m->version, m->version > 0);
    writer_int(w, "clusters", m->clusters);
    writer_close(w, '}');
}

void transition_write(struct writer *w, const struct transition *x)
{
    const struct entry *e = x->template;

    writer_open(w, NULL, '{');
    writer_int(w, "number", (int64_t)x->number);
    report_put_time(w, "time", x->time_ms);
    writer_text(w, "cause", cause_names[x->cause]);
    report_put_identity(
        w, (struct identity){e->partition->type->api_version, entry_kind(e), entry_ns(e), e->name});
    write_moment(w, "before", &x->before);
    write_moment(w, "after", &x->after);
    writer_bool(w, "otherClusters", x->before.cluster_hash != x->after.cluster_hash);
    writer_close(w, '}');
}

/* Of a template without a decision there is nothing to ask but what it is. */
static bool fits(const struct transition *x, const struct moment *m,
                 const struct row_filter *filter)
{
    const struct row row = {
        .template = x->template,
        .policy = m->policy,
        .claimed = m->claimed,
        .version = m->version,
        .behind = -1,
        .clusters = m->clusters,
        .state = m->state,
        .reason = m->reason,
    };

    return (m->decided || filter->state < 0) && row_matches(&row, filter);
}

bool transition_matches(const struct transition *x, const struct row_filter *filter)
{
    return fits(x, &x->before, filter) || fits(x, &x->after, filter);
}
