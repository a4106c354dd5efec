/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/override_events.h"

#include "metrics/model/override_policy.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"

void override_events_init(struct override_events *o, struct store *store,
                          const struct incomplete *incomplete, uint64_t seed)
{
    *o = (struct override_events){.store = store, .incomplete = incomplete};
    subject_index_init(&o->index, seed);
}

void override_events_release(struct override_events *o)
{
    subject_index_release(&o->index);
}

/* Karmada writes some about bindings, too, which say the same once more. */
static bool is_indexed(const struct event *event)
{
    return event && event->override &&
           kind_of(event->override->api_version, event->kind)->class == CLASS_TEMPLATE;
}

static struct subject subject_of(const struct event *event)
{
    return (struct subject){event->kind, event->ns, event->name};
}

bool override_events_changed(struct override_events *o, struct entry *entry,
                             const struct event *old)
{
    const struct event *fresh = entry_event(entry);
    bool was = is_indexed(old), is = is_indexed(fresh);

    if (was && is && old->kind == fresh->kind && old->ns == fresh->ns && old->name == fresh->name &&
        override_event_equal(old->override, fresh->override))
        return false;
    if (was) {
        struct subject subject = subject_of(old);

        subject_index_remove(&o->index, &subject, entry);
    }
    if (is) {
        struct subject subject = subject_of(fresh);

        subject_index_add(&o->index, &subject, entry);
    }
    return was || is;
}

struct entry *override_event_template(const struct override_events *o, const struct event *event)
{
    return is_indexed(event)
               ? store_find(o->store, &(struct identity){event->override->api_version, event->kind,
                                                         event->ns, event->name})
               : NULL;
}

/* What is asked about. */
struct question {
    const struct incomplete *incomplete;
    const struct entry *template;
    const struct subject_group *events;
    const char *cluster;
    const struct work *work;
};

static bool is_about(const struct entry *event, const struct question *q)
{
    const struct override_event *e = entry_event(event)->override;
    const struct template *t = entry_template(q->template);

    return !incomplete_has_type(q->incomplete, event->partition->type) &&
           e->api_version == q->template->partition->type->api_version &&
           !(t && uid_hashes_differ(e->uid_hash, t->uid_hash)) &&
           (e->outcome == WORKS_WRITTEN || strcmp(e->cluster, q->cluster) == 0);
}

static struct entry *policy_of(const struct override_events *o, const struct override_event *e)
{
    const struct kind_def *def = kind_override(!*e->policy_ns);

    return store_refer(o->store,
                       &(struct identity){def->api_version, def->name, e->policy_ns, e->policy});
}

static bool is_later(int64_t ms, const struct override_event *failure)
{
    return ms / 1000 > failure->time_ms / 1000;
}

/* True if the policy, as it is now, has not failed: it is another one since, or none. */
static bool is_another(const struct override_events *o, const struct entry *policy,
                       const struct override_event *failure)
{
    const struct override *override = policy->object;

    if (incomplete_has_type(o->incomplete, policy->partition->type))
        return false;
    return !override || is_later(override->changed_ms, failure) ||
           is_later(override->created_ms, failure);
}

/* True if something later says that it worked. */
static bool is_overcome(const struct question *q, const struct override_event *failure)
{
    bool overcome = q->work && is_later((int64_t)q->work->written_s * 1000, failure);

    for (uint32_t i = 0; i < q->events->count && !overcome; i++) {
        const struct override_event *e = entry_event(q->events->entries[i])->override;
        bool same = e->policy == failure->policy && e->policy_ns == failure->policy_ns;

        overcome = e->outcome != OVERRIDE_FAILED && (same || e->outcome == WORKS_WRITTEN) &&
                   is_about(q->events->entries[i], q) && is_later(e->time_ms, failure);
    }
    return overcome;
}

bool override_failed(const struct override_events *o, const struct entry *template,
                     const struct work *work, const char *cluster, struct entry_list *reads,
                     struct override_failure *out)
{
    const struct subject subject = {entry_kind(template), entry_ns(template), template->name};
    const struct question q = {
        .incomplete = o->incomplete,
        .template = template,
        .events = subject_index_find(&o->index, &subject),
        .cluster = cluster,
        .work = work,
    };
    const struct override_event *latest = NULL;

    for (uint32_t i = 0; q.events && i < q.events->count; i++) {
        const struct override_event *e = entry_event(q.events->entries[i])->override;
        struct entry *policy;

        if (e->outcome != OVERRIDE_FAILED || !is_about(q.events->entries[i], &q))
            continue;
        policy = policy_of(o, e);
        entry_list_add(reads, policy);
        if (!is_another(o, policy, e) && !is_overcome(&q, e) &&
            (!latest || e->time_ms > latest->time_ms))
            latest = e;
    }
    if (latest)
        *out = (struct override_failure){latest->policy_ns, latest->policy, latest->message,
                                         latest->time_ms};
    return latest != NULL;
}
