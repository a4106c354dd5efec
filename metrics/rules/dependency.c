/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/dependency.h"

#include <ctype.h>

#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/object_index.h"

struct dependency_values dependency_values_of(const struct propagation *p)
{
    return (struct dependency_values){{
        [DEPENDENCY_CONFLICT_RESOLUTION] = p->conflict_resolution == CONFLICT_RESOLUTION_OVERWRITE,
        [DEPENDENCY_PRESERVE] = p->preserve == OPTIONAL_TRUE,
    }};
}

bool dependency_values_equal(const struct dependency_values *a, const struct dependency_values *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* ---- referrers ---- */

static void add_referrer(struct dependency_referrers *list, struct dependency_referrer referrer)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = xreallocarray(list->items, list->capacity, sizeof(*list->items));
    }
    list->items[list->count++] = referrer;
}

void dependency_referrers_release(struct dependency_referrers *list)
{
    free(list->items);
    *list = (struct dependency_referrers){0};
}

/*
 * Returns the referrer for an element of spec.requiredBy. Its current values are those of the
 * policy that governs its template or, without such a policy, those of its binding.
 */
static struct dependency_referrer make_listed_referrer(const struct store *s,
                                                       const struct referrer *listed)
{
    struct identity id = referrer_identity(listed);
    struct dependency_referrer referrer = {.binding = store_find(s, &id)};
    const struct binding *b = entry_binding(referrer.binding);
    const struct template_decision *d;

    if (!b)
        return referrer;
    referrer.template = binding_template(s, b);
    referrer.observed = referrer.current = dependency_values_of(b->propagation);
    referrer.counts_observed = referrer.counts_current = true;
    d = referrer.template ? template_decision(referrer.template) : NULL;
    if (d && decision_governing(d)) {
        referrer.current = decision_values(d);
        referrer.counts_current = d->propagates;
    }
    return referrer;
}

static int compare_templates(const void *a, const void *b)
{
    const struct dependency_referrer *x = a, *y = b;

    return entry_compare(x->template, y->template);
}

static int compare_addresses(const void *a, const void *b)
{
    const struct entry *x = *(const struct entry *const *)a, *y = *(const struct entry *const *)b;

    return x < y ? -1 : x > y;
}

/* Returns the templates of the referrers, sorted by address. The caller frees the array. */
static const struct entry **sorted_templates(const struct dependency_referrer *referrers,
                                             size_t count)
{
    const struct entry **templates = xreallocarray(NULL, count + 1, sizeof(const struct entry *));

    for (size_t i = 0; i < count; i++)
        templates[i] = referrers[i].template;
    qsort(templates, count, sizeof(const struct entry *), compare_addresses);
    return templates;
}

/* Returns the referrer for a template whose binding, if any, is not in spec.requiredBy. */
static struct dependency_referrer make_unlisted_referrer(struct entry *template,
                                                         const struct template_decision *d)
{
    return (struct dependency_referrer){
        .binding = d->derived ? NULL : decision_binding(d),
        .template = template,
        .observed = decision_values(d),
        .current = decision_values(d),
        .counts_observed = d->derived && !d->waits,
        .counts_current = true,
        .derived = d->derived,
    };
}

static void add_unlisted_referrers(const struct entry *template, struct dependency_referrers *out)
{
    size_t listed = out->count;
    CLEANUP(free_cleanup) const struct entry **templates = sorted_templates(out->items, listed);

    for (uint32_t i = 0; i < entry_reader_count(template); i++) {
        struct entry *reader = entry_reader(template, i);
        const struct template_decision *d = template_decision(reader);

        /* Karmada makes the binding of a dependency in the namespace of its referrer. */
        if (d && d->propagates && entry_ns(reader) == entry_ns(template) &&
            !bsearch(&reader, templates, listed, sizeof(const struct entry *), compare_addresses))
            add_referrer(out, make_unlisted_referrer(reader, d));
    }
    if (out->count - listed > 1)
        qsort(out->items + listed, out->count - listed, sizeof(*out->items), compare_templates);
}

void dependency_referrers_gather(const struct store *s, const struct incomplete *incomplete,
                                 const struct entry *dependency, struct dependency_referrers *out)
{
    const struct binding *b = entry_binding(dependency);
    const struct entry *template = b ? binding_template(s, b) : dependency;

    for (uint32_t i = 0; b && i < binding_rare(b)->referrer_count; i++)
        add_referrer(out, make_listed_referrer(s, &binding_rare(b)->referrers[i]));
    /*
     * A left-over binding has no unlisted referrers: they belong to its template. As long as not
     * all templates of the kind have been read, the uid of the template in the store does not
     * count, so template_binding(), which compares uids, does not decide.
     */
    if (!b || (!b->has_placement && binding_rare(b)->referrer_count > 0 && template &&
               (incomplete_has_type(incomplete, entry_type(template)) ||
                template_binding(s, template) == dependency)))
        add_unlisted_referrers(template, out);
}

/* ---- decision about a dependency ---- */

/* Number of referrers that request each value of one field. */
struct value_count {
    uint32_t count[2]; /* Indexed by the value: false, true. */
};

static bool requests_both_values(const struct value_count *v)
{
    return v->count[false] > 0 && v->count[true] > 0;
}

/* Returns the resulting value: true if any referrer requests true. */
static bool resolved_value(const struct value_count *v)
{
    return v->count[true] > 0;
}

/* Counts over all referrers of a dependency. */
struct referrer_sum {
    struct value_count listed[DEPENDENCY_FIELD_COUNT];  /* Listed referrers that exist. */
    struct value_count now[DEPENDENCY_FIELD_COUNT];     /* Referrers with counts_observed. */
    struct value_count current[DEPENDENCY_FIELD_COUNT]; /* Referrers with counts_current. */
    uint32_t referrers;
    uint32_t dangling;
    bool derived;
    int64_t since_ms;
};

static void count_referrer(struct referrer_sum *c, const struct dependency_referrer *referrer)
{
    const struct binding *b = entry_binding(referrer->binding);

    if (referrer->binding && !b) {
        c->dangling++;
        return;
    }
    c->referrers += referrer->counts_observed;
    c->derived |= referrer->counts_observed && referrer->derived;
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        bool wants = referrer->observed.wants[i];

        c->listed[i].count[wants] += referrer->counts_observed && !referrer->derived;
        c->now[i].count[wants] += referrer->counts_observed;
        c->current[i].count[referrer->current.wants[i]] += referrer->counts_current;
    }
    if (b && referrer->counts_observed && binding_changed_ms(b) > c->since_ms)
        c->since_ms = binding_changed_ms(b);
}

static enum dependency_outcome outcome_of_value(bool value)
{
    return value ? DEPENDENCY_OUTCOME_TRUE : DEPENDENCY_OUTCOME_FALSE;
}

/* Inputs of the value that one release gives a field of a dependency's binding. */
struct outcome_input {
    struct value_count wants; /* Requests of the referrers. */
    bool stored;              /* Value in the binding. */
    bool has_binding;
    bool attached;
    bool lacks_referrer; /* requiredBy names a binding that does not exist. */
    enum dependency_field field;
};

/* Returns the value of the referrer that is reconciled last; `stored` without a referrer. */
static enum dependency_outcome outcome_of_last_writer(const struct value_count *wants, bool stored)
{
    if (requests_both_values(wants))
        return DEPENDENCY_OUTCOME_LAST_REFERRER;
    if (wants->count[false] + wants->count[true] == 0)
        return outcome_of_value(stored);
    return outcome_of_value(resolved_value(wants));
}

/* Returns the value after Karmada of one release has reconciled all referrers. */
static enum dependency_outcome outcome_of_release(const struct outcome_input *in,
                                                  enum release release)
{
    if (!in->attached) {
        struct value_count writers = in->wants;

        if (in->field != DEPENDENCY_PRESERVE || release_has(release, BEHAVIOUR_KEEPS_OWN_PRESERVE))
            return outcome_of_value(in->stored);
        /* The binding's own policy writes the value, too, and may be the last writer. */
        writers.count[in->stored]++;
        return outcome_of_last_writer(&writers, in->stored);
    }
    if (in->has_binding && in->lacks_referrer &&
        release_has(release, BEHAVIOUR_REQUIRES_ALL_REFERRERS))
        return outcome_of_value(in->stored);
    if (release_has(release, BEHAVIOUR_RESOLVES_DEPENDENCIES))
        return outcome_of_value(resolved_value(&in->wants));
    return outcome_of_last_writer(&in->wants, in->stored);
}

/* Returns the common outcome of all releases of a range. */
static enum dependency_outcome outcome_of_range(const struct outcome_input *in,
                                                struct release_range range)
{
    enum dependency_outcome outcome = outcome_of_release(in, range.oldest);

    for (unsigned release = range.oldest; release <= (unsigned)range.newest; release++) {
        if (outcome_of_release(in, (enum release)release) != outcome)
            return DEPENDENCY_OUTCOME_BY_RELEASE;
    }
    return outcome;
}

/* Resolves one field of a dependency; `b` is NULL if it has no binding yet. */
static struct field_resolution resolve_field(const struct referrer_sum *c,
                                             enum dependency_field field, const struct binding *b,
                                             struct release_range release)
{
    const struct value_count *now = &c->now[field], *current = &c->current[field];
    bool attached = !b || !b->has_placement;
    bool resolved = resolved_value(now);
    bool resolves =
        release_range_has(release, BEHAVIOUR_RESOLVES_DEPENDENCIES) == RELEASE_ANSWER_YES;
    bool keeps = field != DEPENDENCY_PRESERVE ||
                 release_range_has(release, BEHAVIOUR_KEEPS_OWN_PRESERVE) == RELEASE_ANSWER_YES;
    /* A future binding will store the resolved value. */
    bool stored = b ? dependency_values_of(b->propagation).wants[field] : resolved;
    bool differs = b && attached && stored != resolved_value(&c->listed[field]);
    struct outcome_input input = {*now, stored, b != NULL, attached, c->dangling > 0, field};
    struct outcome_input ahead = input;

    ahead.wants = *current;
    return (struct field_resolution){
        .conflict = attached && requests_both_values(now),
        .resolved = resolved,
        .stored = stored,
        .unapplied = differs && resolves,
        .unsupported = differs && !resolves,
        .overridden = !attached && keeps && stored != resolved,
        .ahead = attached && requests_both_values(current),
        .predicted = attached && !requests_both_values(now) && requests_both_values(current),
        .predicted_resolved = resolved_value(current),
        .outcome = outcome_of_range(&input, release),
        .predicted_outcome = outcome_of_range(&ahead, release),
    };
}

static bool has_conflict_ahead(const struct referrer_sum *c)
{
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        if (requests_both_values(&c->current[i]))
            return true;
    }
    return false;
}

struct dependency_decision *dependency_decide(struct pool *memory, const struct binding *b,
                                              const struct dependency_referrers *referrers,
                                              struct release_range release)
{
    bool attached = !b || !b->has_placement;
    struct referrer_sum c = {0};

    /* A binding with a placement of its own and without referrers is no dependency. */
    if (b && !attached && binding_rare(b)->referrer_count == 0)
        return NULL;
    for (size_t i = 0; i < referrers->count; i++)
        count_referrer(&c, &referrers->items[i]);
    if (!b && c.referrers == 0 && !has_conflict_ahead(&c))
        return NULL;

    struct dependency_decision *d = pool_alloc_zeroed(memory, sizeof(*d));
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        d->fields[i] = resolve_field(&c, i, b, release);
    d->attached = attached;
    d->derived = c.derived;
    d->referrers = c.referrers;
    d->dangling = c.dangling;
    d->since_ms = b && binding_changed_ms(b) > c.since_ms ? binding_changed_ms(b) : c.since_ms;
    return d;
}

void dependency_describe_resolved(const struct dependency_decision *d, enum dependency_field field,
                                  bool predicted, struct strbuf *out)
{
    const struct field_resolution *f = &d->fields[field];
    enum dependency_outcome outcome = predicted ? f->predicted_outcome : f->outcome;
    bool resolved = predicted ? f->predicted_resolved : f->resolved;

    strbuf_adds(out, dependency_resolved_name(field, outcome, resolved));
    if (dependency_outcome_is_certain(outcome))
        return;
    strbuf_addf(out,
                ", because Karmada before %s applies the value of the referrer that it has "
                "reconciled last",
                release_name(behaviour_since(BEHAVIOUR_RESOLVES_DEPENDENCIES)));
    if (outcome == DEPENDENCY_OUTCOME_LAST_REFERRER)
        return;
    if (!d->attached || d->dangling > 0)
        strbuf_addf(out, ", and later releases keep %s", dependency_value_name(field, f->stored));
    else
        strbuf_addf(out, ", and later releases apply %s", dependency_value_name(field, resolved));
}

/* ---- Events about conflicts ---- */

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

static struct subject subject_of_event(const struct event *event)
{
    return (struct subject){event->kind, event->ns, event->name};
}

void conflict_events_update(struct conflict_events *c, struct entry *entry, const struct event *old)
{
    const struct event *fresh = entry_event(entry);
    bool was_indexed = old && old->is_conflict, is_indexed = fresh && fresh->is_conflict;

    if (was_indexed) {
        struct subject subject = subject_of_event(old);

        subject_index_remove(&c->index, &subject, entry);
    }
    if (is_indexed) {
        struct subject subject = subject_of_event(fresh);

        subject_index_add(&c->index, &subject, entry);
    }
}

static unsigned fields_of_event(const struct event *event)
{
    return (unsigned)event->conflict_resolution << DEPENDENCY_CONFLICT_RESOLUTION |
           (unsigned)event->preserve << DEPENDENCY_PRESERVE;
}

static const struct subject_group *find_events_about(const struct conflict_events *c,
                                                     const struct entry *binding)
{
    return subject_index_find(
        &c->index, &(struct subject){entry_kind(binding), entry_ns(binding), binding->name});
}

/* Returns false if the Event is about a deleted binding of the same name (another uid). */
static bool is_about_binding(const struct event *event, const struct binding *b)
{
    return !uid_hashes_differ(event->about_uid_hash, b->own_uid_hash);
}

unsigned conflict_events_by_others(const struct conflict_events *c, const struct entry *binding)
{
    const struct subject_group *events = find_events_about(c, binding);
    unsigned fields = 0;

    for (uint32_t i = 0; events && i < events->count; i++) {
        const struct event *event = entry_event(events->entries[i]);

        if (!event->ours && is_about_binding(event, entry_binding(binding)))
            fields |= fields_of_event(event);
    }
    return fields;
}

const struct entry *conflict_events_find_own(const struct conflict_events *c,
                                             const struct entry *binding, unsigned fields)
{
    const struct subject_group *events = find_events_about(c, binding);

    for (uint32_t i = 0; events && i < events->count; i++) {
        const struct event *event = entry_event(events->entries[i]);

        if (event->ours && fields_of_event(event) == fields &&
            is_about_binding(event, entry_binding(binding)))
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
    /* In object names a letter or digit must precede a dot. */
    while (len > 0 && !isalnum((unsigned char)binding[len - 1]))
        len--;
    strbuf_add(out, binding, len);
    strbuf_addf(out, ".%016" PRIx64, hash);
}
