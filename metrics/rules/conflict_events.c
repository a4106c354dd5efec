/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/conflict_events.h"

#include <ctype.h>

#include "metrics/model/binding.h"
#include "metrics/model/store.h"

enum {
    MESSAGE_BYTES = 512,
    HASH_DIGITS = 16,
    PREFIX_MAX = OBJECT_NAME_MAX - HASH_DIGITS - 1,
};

void conflict_events_init(struct conflict_events *c, uint64_t seed)
{
    subject_index_init(&c->index, seed);
}

void conflict_events_release(struct conflict_events *c)
{
    subject_index_release(&c->index);
}

static struct subject subject_of(const struct event *event)
{
    return (struct subject){event->kind, event->ns, event->name};
}

void conflict_events_changed(struct conflict_events *c, struct entry *entry,
                             const struct event *old)
{
    const struct event *fresh = entry_event(entry);
    bool was = old && old->is_conflict, is = fresh && fresh->is_conflict;

    /* The index keeps texts of the event: those of the old one end with it. */
    if (was) {
        struct subject subject = subject_of(old);

        subject_index_remove(&c->index, &subject, entry);
    }
    if (is) {
        struct subject subject = subject_of(fresh);

        subject_index_add(&c->index, &subject, entry);
    }
}

static unsigned fields_of(const struct event *event)
{
    return (unsigned)event->conflict_resolution << DEPENDENCY_CONFLICT_RESOLUTION |
           (unsigned)event->preserve << DEPENDENCY_PRESERVE;
}

static const struct subject_group *events_about(const struct conflict_events *c,
                                                const struct entry *binding)
{
    return subject_index_find(
        &c->index, &(struct subject){entry_kind(binding), entry_ns(binding), binding->name});
}

/* Not about another binding that had its name. */
static bool is_about(const struct event *event, const struct binding *b)
{
    return !uid_hashes_differ(event->about_uid_hash, b->own_uid_hash);
}

unsigned conflict_events_by_others(const struct conflict_events *c, const struct entry *binding)
{
    const struct subject_group *events = events_about(c, binding);
    unsigned fields = 0;

    for (uint32_t i = 0; events && i < events->count; i++) {
        const struct event *event = entry_event(events->entries[i]);

        if (!event->ours && is_about(event, entry_binding(binding)))
            fields |= fields_of(event);
    }
    return fields;
}

const struct entry *conflict_events_own(const struct conflict_events *c,
                                        const struct entry *binding, unsigned fields)
{
    const struct subject_group *events = events_about(c, binding);

    for (uint32_t i = 0; events && i < events->count; i++) {
        const struct event *event = entry_event(events->entries[i]);

        if (event->ours && fields_of(event) == fields && is_about(event, entry_binding(binding)))
            return events->entries[i];
    }
    return NULL;
}

void conflict_event_hint(enum dependency_field field, struct strbuf *out)
{
    strbuf_addf(out, "%s conflicted (%s vs %s)", dependency_field_names[field],
                dependency_value_name(field, true), dependency_value_name(field, false));
}

void conflict_event_message(unsigned fields, struct strbuf *out)
{
    const char *before = "Dependency policy conflict detected: ";

    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        if (!(fields & 1U << i))
            continue;
        strbuf_adds(out, before);
        conflict_event_hint(i, out);
        before = "; ";
    }
    strbuf_addc(out, '.');
}

void conflict_event_name(const char *binding, const char *uid, unsigned fields, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(MESSAGE_BYTES);
    size_t len = strlen(binding);

    conflict_event_message(fields, &message);

    uint64_t hash = map_hash(message.data, message.len, map_hash(uid, strlen(uid), 0));

    len = len < PREFIX_MAX ? len : PREFIX_MAX;
    /* Before a dot there must be a letter or a digit. */
    while (len > 0 && !isalnum((unsigned char)binding[len - 1]))
        len--;
    strbuf_add(out, binding, len);
    strbuf_addf(out, ".%016" PRIx64, hash);
}
