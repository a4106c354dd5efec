/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/dependency.h"

#include <ctype.h>

#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/object_index.h"

struct vote vote_of(const struct propagation *p)
{
    return (struct vote){{
        [DEPENDENCY_CONFLICT_RESOLUTION] = p->conflict_resolution == CONFLICT_RESOLUTION_OVERWRITE,
        [DEPENDENCY_PRESERVE] = p->preserve == OPTIONAL_TRUE,
    }};
}

bool vote_equal(const struct vote *a, const struct vote *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* ---- ballots ---- */

static void add_ballot(struct ballot_list *list, struct ballot ballot)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = xreallocarray(list->items, list->capacity, sizeof(*list->items));
    }
    list->items[list->count++] = ballot;
}

void ballot_list_release(struct ballot_list *list)
{
    free(list->items);
    *list = (struct ballot_list){0};
}

/*
 * The ballot of an element of spec.requiredBy. What it currently wants is what the policy that
 * governs its template says, or, without such a policy, what its binding says.
 */
static struct ballot observed_ballot(const struct store *s, const struct referrer *referrer)
{
    struct identity id = referrer_identity(referrer);
    struct ballot ballot = {.binding = store_find(s, &id)};
    const struct binding *b = entry_binding(ballot.binding);
    const struct template_decision *d;

    if (!b)
        return ballot;
    ballot.template = binding_template(s, b);
    ballot.observed = ballot.current = vote_of(&b->propagation);
    ballot.counts_observed = ballot.counts_current = true;
    d = ballot.template ? template_decision(ballot.template) : NULL;
    if (d && d->governing) {
        ballot.current = d->vote;
        ballot.counts_current = d->propagates;
    }
    return ballot;
}

static int by_template(const void *a, const void *b)
{
    const struct ballot *x = a, *y = b;

    return entry_compare(x->template, y->template);
}

static int by_address(const void *a, const void *b)
{
    const struct entry *x = *(const struct entry *const *)a, *y = *(const struct entry *const *)b;

    return x < y ? -1 : x > y;
}

/* The templates of these ballots, by address. The caller frees them. */
static const struct entry **templates_of(const struct ballot *ballots, size_t count)
{
    const struct entry **templates = xreallocarray(NULL, count + 1, sizeof(const struct entry *));

    for (size_t i = 0; i < count; i++)
        templates[i] = ballots[i].template;
    qsort(templates, count, sizeof(const struct entry *), by_address);
    return templates;
}

/* The ballot of a template that needs the dependency, but is not in its spec.requiredBy. */
static struct ballot unlisted_ballot(struct entry *template, const struct template_decision *d)
{
    return (struct ballot){
        .binding = d->derived ? NULL : d->binding,
        .template = template,
        .observed = d->vote,
        .current = d->vote,
        .counts_observed = d->derived && !d->waits,
        .counts_current = true,
        .derived = d->derived,
    };
}

static void gather_unlisted(const struct entry *template, struct ballot_list *out)
{
    size_t listed = out->count;
    CLEANUP(free_cleanup) const struct entry **templates = templates_of(out->items, listed);

    for (uint32_t i = 0; i < template->reader_count; i++) {
        struct entry *reader = template->readers[i];
        const struct template_decision *d = template_decision(reader);

        /* Karmada's binding of a dependency is in its referrer's namespace: elsewhere, another. */
        if (d && d->propagates && entry_ns(reader) == entry_ns(template) &&
            !bsearch(&reader, templates, listed, sizeof(const struct entry *), by_address))
            add_ballot(out, unlisted_ballot(reader, d));
    }
    if (out->count - listed > 1)
        qsort(out->items + listed, out->count - listed, sizeof(*out->items), by_template);
}

void ballots_gather(const struct store *s, const struct incomplete *incomplete,
                    const struct entry *dependency, struct ballot_list *out)
{
    const struct binding *b = entry_binding(dependency);
    const struct entry *template = b ? binding_template(s, b) : dependency;

    for (uint32_t i = 0; b && i < b->referrer_count; i++)
        add_ballot(out, observed_ballot(s, &b->referrers[i]));
    /*
     * A binding that nobody needs any more is left over: its template speaks for itself. One of a
     * kind that has not been read as a whole is not asked whose it is.
     */
    if (!b || (!b->has_placement && b->referrer_count > 0 && template &&
               (incomplete_has_type(incomplete, template->partition->type) ||
                template_binding(s, template) == dependency)))
        gather_unlisted(template, out);
}

/* ---- the decision ---- */

/* The sum over all referrers. */
struct count {
    struct tally listed[DEPENDENCY_FIELD_COUNT]; /* What Karmada has to go by. */
    struct tally now[DEPENDENCY_FIELD_COUNT];    /* Those, and the derived ones. */
    struct tally current[DEPENDENCY_FIELD_COUNT];
    uint32_t referrers;
    uint32_t dangling;
    bool derived;
    int64_t since_ms;
};

static void count_ballot(struct count *c, const struct ballot *ballot)
{
    const struct binding *b = entry_binding(ballot->binding);

    if (ballot->binding && !b) {
        c->dangling++;
        return;
    }
    c->referrers += ballot->counts_observed;
    c->derived |= ballot->counts_observed && ballot->derived;
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        bool wants = ballot->observed.wants[i];

        c->listed[i].count[wants] += ballot->counts_observed && !ballot->derived;
        c->now[i].count[wants] += ballot->counts_observed;
        c->current[i].count[ballot->current.wants[i]] += ballot->counts_current;
    }
    if (b && ballot->counts_observed && b->changed_ms > c->since_ms)
        c->since_ms = b->changed_ms;
}

/* About one field of a dependency, with its binding or, where there is none yet, without. */
static struct field_resolution resolve(const struct count *c, enum dependency_field field,
                                       const struct binding *b, bool resolves)
{
    const struct tally *now = &c->now[field], *current = &c->current[field];
    bool attached = !b || !b->has_placement;
    bool resolved = tally_resolved(now);
    /* Without a binding, what is resolved is what will be stored. */
    bool stored = b ? vote_of(&b->propagation).wants[field] : resolved;
    bool differs = b && attached && stored != tally_resolved(&c->listed[field]);

    return (struct field_resolution){
        .conflict = attached && tally_conflict(now),
        .resolved = resolved,
        .stored = stored,
        .unapplied = differs && resolves,
        .unsupported = differs && !resolves,
        .overridden = !attached && stored != resolved,
        .ahead = attached && tally_conflict(current),
        .predicted = attached && !tally_conflict(now) && tally_conflict(current),
        .predicted_resolved = tally_resolved(current),
    };
}

static bool is_ahead(const struct count *c)
{
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        if (tally_conflict(&c->current[i]))
            return true;
    }
    return false;
}

struct dependency_decision *dependency_decide(const struct binding *b,
                                              const struct ballot_list *ballots, bool resolves)
{
    bool attached = !b || !b->has_placement;
    struct count c = {0};

    /* With a placement of its own and nobody who requires it, it is no dependency. */
    if (b && !attached && b->referrer_count == 0)
        return NULL;
    for (size_t i = 0; i < ballots->count; i++)
        count_ballot(&c, &ballots->items[i]);
    if (!b && c.referrers == 0 && !is_ahead(&c))
        return NULL;

    struct dependency_decision *d = xcalloc(1, sizeof(*d));
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        d->fields[i] = resolve(&c, i, b, resolves);
    d->attached = attached;
    d->derived = c.derived;
    d->referrers = c.referrers;
    d->dangling = c.dangling;
    d->since_ms = b && b->changed_ms > c.since_ms ? b->changed_ms : c.since_ms;
    return d;
}

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
