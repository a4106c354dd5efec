/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/row.h"

#include <strings.h>

#include "metrics/expose/report_parts.h"
#include "metrics/expose/stage_words.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/policy_versions.h"

static void hold(struct entry *entry)
{
    if (entry)
        store_pin(entry);
}

static void let_go(struct store *store, struct entry *entry)
{
    if (entry)
        store_unpin(store, entry);
}

void row_take(struct row *row, struct entry *template, enum takeover takeover)
{
    const struct template_decision *d = template_decision(template);
    const char *owner = template_owner(entry_template(template));
    const char *changer = template_changer(template).by;
    struct since since = template_since(d);

    *row = (struct row){
        .template = template,
        .policy = d->state == STATE_IGNORED ? NULL : d->winner,
        .claimed = d->claimed,
        .changed_by = changer ? intern_ref(changer) : NULL,
        .owner = owner ? intern_ref(owner) : NULL,
        .since_ms = since.time_ms,
        .version = d->version ? d->version->number : 0,
        .behind = d->version ? policy_version_behind(d->version) : -1,
        .clusters = d->target_count,
        .state = d->state,
        .reason = (uint8_t)d->reason,
        .phase = d->phase,
        .stage = (uint8_t)d->way.at.stage,
        .stage_reason = (uint8_t)d->way.at.reason,
        .actor = (uint8_t)explain_who(d, takeover),
        .since_seen = since.seen,
        .claimed_exists = d->claimed && entry_exists(d->claimed),
    };
    hold(row->template);
    hold(row->policy);
    hold(row->claimed);
}

void row_drop(struct row *row, struct store *store)
{
    intern_drop(store_strings(store), row->changed_by);
    intern_drop(store_strings(store), row->owner);
    let_go(store, row->policy);
    let_go(store, row->claimed);
    let_go(store, row->template);
}

bool row_equal(const struct row *a, const struct row *b)
{
    return a->template == b->template && a->policy == b->policy && a->claimed == b->claimed &&
           a->changed_by == b->changed_by && a->owner == b->owner && a->since_ms == b->since_ms &&
           a->version == b->version && a->behind == b->behind && a->clusters == b->clusters &&
           a->state == b->state && a->reason == b->reason && a->phase == b->phase &&
           a->stage == b->stage && a->stage_reason == b->stage_reason && a->actor == b->actor &&
           a->since_seen == b->since_seen && a->claimed_exists == b->claimed_exists;
}

void row_write(struct writer *w, const struct row *row)
{
    const struct entry *e = row->template;
    bool staged = row->stage != STAGE_NONE;

    writer_open(w, NULL, '{');
    report_put_identity(
        w, (struct identity){e->partition->type->api_version, entry_kind(e), entry_ns(e), e->name});
    writer_text(w, "state", state_names[row->state]);
    writer_text(w, "reason", reason_name(row->state, row->reason));
    writer_text(w, "phase", row->state == STATE_STALE ? phase_names[row->phase] : NULL);
    writer_text(w, "stage", staged ? stage_names[row->stage] : NULL);
    writer_text(w, "stageReason",
                row->stage_reason != WHY_NONE ? stage_reason_names[row->stage_reason] : NULL);
    report_put_time(w, "since", row->since_ms);
    if (row->since_seen)
        writer_bool(w, "sinceSeen", true);
    report_put_policy(w, "policy", policy_name_of(row->policy));
    report_put_policy(w, "claimed", policy_name_of(row->claimed));
    report_put_known(w, "version", row->version, row->version > 0);
    report_put_known(w, "behind", row->behind, row->behind >= 0);
    writer_int(w, "clusters", row->clusters);
    writer_text(w, "changedBy", row->changed_by);
    writer_text(w, "owner", row->owner);
    writer_text(w, "actor", actor_names[row->actor]);
    writer_close(w, '}');
}

/* NAME, or NAMESPACE/NAME */
static bool is_named(const struct entry *policy, const char *name)
{
    const char *slash = strchr(name, '/');

    if (!policy)
        return false;
    if (!slash)
        return strcmp(policy->name, name) == 0;
    return strlen(entry_ns(policy)) == (size_t)(slash - name) &&
           strncmp(entry_ns(policy), name, (size_t)(slash - name)) == 0 &&
           strcmp(policy->name, slash + 1) == 0;
}

static bool differs(const char *wanted, const char *value)
{
    return wanted && (!value || strcmp(wanted, value) != 0);
}

bool row_matches(const struct row *row, const struct row_filter *filter)
{
    const struct entry *e = row->template;

    if (filter->state >= 0 && filter->state != row->state)
        return false;
    if (differs(filter->reason, reason_name(row->state, row->reason)) ||
        differs(filter->ns, entry_ns(e)) || differs(filter->group, e->partition->type->group) ||
        differs(filter->owner, row->owner) || differs(filter->name, e->name) ||
        differs(filter->actor, actor_names[row->actor]) ||
        differs(filter->stage, row->stage < STAGE_COUNT ? stage_names[row->stage] : NULL))
        return false;
    if (filter->kind && strcasecmp(filter->kind, entry_kind(e)) != 0)
        return false;
    if (filter->version >= 0 && filter->version != row->version)
        return false;
    if (filter->policy && !is_named(row->policy, filter->policy) &&
        !is_named(row->claimed, filter->policy))
        return false;
    return !filter->search || strcasestr(e->name, filter->search);
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
