/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/refusals.h"

#include "metrics/model/template.h"

void refusals_init(struct refusals *r, struct store *store, uint64_t seed)
{
    *r = (struct refusals){.store = store};
    subject_index_init(&r->index, seed);
}

void refusals_release(struct refusals *r)
{
    subject_index_release(&r->index);
}

static bool is_refusal(const struct event *event)
{
    return event && event->refusal &&
           kind_of(event->refusal->api_version, event->kind)->class == CLASS_TEMPLATE;
}

static struct subject subject_of_event(const struct event *event)
{
    return (struct subject){event->kind, event->ns, event->name};
}

static bool has_same_content(const struct event *a, const struct event *b)
{
    return a->kind == b->kind && a->ns == b->ns && a->name == b->name &&
           a->refusal->api_version == b->refusal->api_version &&
           a->refusal->time_ms == b->refusal->time_ms &&
           a->refusal->uid_hash == b->refusal->uid_hash;
}

bool refusals_update(struct refusals *r, struct entry *entry, const struct event *old)
{
    const struct event *fresh = entry_event(entry);
    bool was_indexed = is_refusal(old), is_indexed_now = is_refusal(fresh);

    if (was_indexed && is_indexed_now && has_same_content(old, fresh))
        return false;
    if (was_indexed) {
        struct subject subject = subject_of_event(old);

        subject_index_remove(&r->index, &subject, entry);
    }
    if (is_indexed_now) {
        struct subject subject = subject_of_event(fresh);

        subject_index_add(&r->index, &subject, entry);
    }
    return was_indexed || is_indexed_now;
}

/* Returns true unless the Event is about another object than the present template. */
static bool concerns_template(const struct refusal_event *e, const struct entry *template)
{
    const struct template *t = entry_template(template);

    return strcmp(e->api_version, entry_type(template)->api_version) == 0 &&
           !(t && uid_hashes_differ(e->uid_hash, t->uid_hash));
}

struct entry *refused_template(const struct refusals *r, const struct event *event)
{
    struct entry *template =
        is_refusal(event)
            ? store_find(r->store, &(struct identity){event->refusal->api_version, event->kind,
                                                      event->ns, event->name})
            : NULL;

    return template && concerns_template(event->refusal, template) ? template : NULL;
}

int64_t refusals_latest_ms(const struct refusals *r, const struct entry *template)
{
    const struct subject subject = {entry_kind(template), entry_ns(template), template->name};
    const struct subject_group *events = subject_index_find(&r->index, &subject);
    int64_t latest_ms = 0;

    for (uint32_t i = 0; events && i < events->count; i++) {
        const struct refusal_event *e = entry_event(events->entries[i])->refusal;

        if (concerns_template(e, template) && e->time_ms > latest_ms)
            latest_ms = e->time_ms;
    }
    return latest_ms;
}
