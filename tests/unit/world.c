/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/world.h"

#include <setjmp.h>

#include <cmocka.h>

#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/replica_projection.h"

void world_init(struct world *w, const struct rules_options *options, uint32_t seed)
{
    struct error err;

    *w = (struct world){.random = seed * 2654435761U + 1, .store = store_new(seed)};
    w->engine = engine_new(w->store, options, seed, &err);
    assert_non_null(w->engine);
}

void world_release(struct world *w)
{
    engine_free(w->engine);
    store_free(w->store);
}

/* Reads only as many bytes as `limit` needs, so that an inserted byte changes few numbers. */
static uint32_t choose(struct world *w, uint32_t limit)
{
    uint32_t value = 0;

    for (uint32_t rest = limit - 1; rest > 0 && w->choices_left > 0; rest >>= 8) {
        value = value << 8 | *w->choices++;
        w->choices_left--;
    }
    return value % limit;
}

/* xorshift32: the same numbers on each platform, so that a failing seed can be reproduced. */
uint32_t world_random(struct world *w, uint32_t limit)
{
    if (w->choices)
        return choose(w, limit);
    w->random ^= w->random << 13;
    w->random ^= w->random >> 17;
    w->random ^= w->random << 5;
    return w->random % limit;
}

void world_put(struct world *w, const cJSON *json)
{
    struct error err = {""};

    if (store_put(w->store, json, (struct origin){1, 1}, &err) == STORE_REJECTED)
        fail_msg("rejected: %s", err.text);
}

void world_put_text(struct world *w, const char *json)
{
    cJSON *tree = cJSON_Parse(json);

    assert_non_null(tree);
    world_put(w, tree);
    cJSON_Delete(tree);
}

void world_put_all(struct world *w, const cJSON *objects)
{
    const cJSON *object;

    cJSON_ArrayForEach (object, objects)
        world_put(w, object);
}

void world_run(struct world *w, int64_t now_ms)
{
    while (!engine_run(w->engine, now_ms, 7))
        ;
}

void world_pass(struct world *w, int64_t *now_ms, int64_t ms)
{
    int64_t end_ms = *now_ms + ms;

    world_run(w, *now_ms);
    while (engine_deadline(w->engine) <= end_ms) {
        *now_ms = later_of(engine_deadline(w->engine), *now_ms + 1);
        world_run(w, *now_ms);
    }
    *now_ms = end_ms;
    world_run(w, end_ms);
}

struct entry *world_find(const struct world *w, const char *api_version, const char *kind,
                         const char *ns, const char *name)
{
    return store_find(w->store, &(struct identity){api_version, kind, ns, name});
}

/* Returns all entries with an object, sorted by entry_compare(). The caller frees the array. */
static struct entry **list_sorted_entries(const struct world *w, size_t *out_count)
{
    struct entry **entries = NULL;
    size_t count = 0;

    for (const struct type *type = store_first_type(w->store); type; type = type->next) {
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type) {
            for (size_t i = 0; i < partition->count; i++) {
                if (!entry_object(partition_entry(partition, i)))
                    continue;
                entries = xreallocarray(entries, count + 1, sizeof(struct entry *));
                entries[count++] = partition_entry(partition, i);
            }
        }
    }
    for (size_t i = 1; i < count; i++) {
        for (size_t j = i; j > 0 && entry_compare(entries[j - 1], entries[j]) > 0; j--) {
            struct entry *swapped = entries[j];

            entries[j] = entries[j - 1];
            entries[j - 1] = swapped;
        }
    }
    *out_count = count;
    return entries;
}

static void copy_history(struct entry *to, const struct entry *from)
{
    const struct template *old = entry_template(from);
    const struct policy *old_policy = entry_policy(from);
    const struct binding *old_binding = entry_binding(from);

    if (old) {
        struct template *t = entry_object(to);

        t->changed = old->changed;
        t->changer_unknown = old->changer_unknown;
        t->user_version = old->user_version;
        t->user_version_is_lower = old->user_version_is_lower;
        t->user_change_observed = old->user_change_observed;
    } else if (old_policy) {
        struct policy *p = entry_object(to);

        p->changed_ms = old_policy->changed_ms;
        p->grace_extended_until_ms = old_policy->grace_extended_until_ms;
    } else if (old_binding) {
        struct binding *b = entry_object(to);

        b->status.was_placed = old_binding->status.was_placed;
    }
}

void world_inherit(struct world *w, const struct world *old)
{
    size_t count;
    CLEANUP(free_cleanup) struct entry **entries = list_sorted_entries(old, &count);

    for (size_t i = 0; i < count; i++) {
        struct entry *entry =
            world_find(w, entry_type(entries[i])->api_version, entry_kind(entries[i]),
                       entry_ns(entries[i]), entries[i]->name);

        if (entry && entry_object(entry))
            copy_history(entry, entries[i]);
    }
}

struct entry *world_pick(struct world *w)
{
    size_t count;
    CLEANUP(free_cleanup) struct entry **entries = list_sorted_entries(w, &count);

    return count ? entries[world_random(w, (uint32_t)count)] : NULL;
}

static void dump_reference(struct strbuf *out, const char *title, const struct entry *entry)
{
    if (entry)
        strbuf_addf(out, " %s=%s/%s/%s%s", title, entry_kind(entry), entry_ns(entry), entry->name,
                    entry_object(entry) ? "" : "(absent)");
}

static void dump_referrer(void *context, const struct dependency_referrer *b)
{
    struct strbuf *out = context;

    dump_reference(out, "referrer", b->binding);
    dump_reference(out, "of", b->template);
    strbuf_addf(out, " %d%d%d%d %d%d%d", b->observed.wants[0], b->observed.wants[1],
                b->current.wants[0], b->current.wants[1], b->counts_observed, b->counts_current,
                b->derived);
}

static void dump_dependency(const struct world *w, struct strbuf *out, const struct entry *entry)
{
    const struct dependency_decision *d = dependency_decision(entry);

    if (!d)
        return;
    engine_dependency_referrers(w->engine, entry, dump_referrer, out);
    strbuf_addf(out, " dependency(referrers=%u dangling=%u attached=%d derived=%d since=%" PRId64,
                d->referrers, d->dangling, d->attached, d->derived, d->since_ms);
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        strbuf_addf(out, " %d%d%d%d%d%d%d%u%u", d->fields[i].conflict, d->fields[i].resolved,
                    d->fields[i].stored, d->fields[i].unapplied, d->fields[i].overridden,
                    d->fields[i].predicted, d->fields[i].predicted_resolved, d->fields[i].outcome,
                    d->fields[i].predicted_outcome);
    strbuf_adds(out, ")");
}

static void dump_capacity(struct strbuf *out, const struct capacity *c)
{
    if (!c)
        return;
    strbuf_addf(out, " capacity(governed=%d", c->governed);
    for (uint32_t i = 0; i < c->request_count; i++)
        strbuf_addf(out, " %s=%g", c->requests[i].resource, c->requests[i].amount);
    for (uint32_t i = 0; i < c->assigned_count; i++)
        strbuf_addf(out, " %s:%d%s", c->assigned[i].name, c->assigned[i].replicas,
                    c->assigned[i].forbidden ? "!" : "");
    if (c->governed && !c->projection.determined)
        strbuf_addf(out, " undetermined=%s", undetermined_reason_names[c->projection.reason]);
    for (uint32_t i = 0; i < c->projection.count; i++)
        strbuf_addf(out, " ->%s:%d", c->projection.clusters[i].name,
                    c->projection.clusters[i].replicas);
    strbuf_adds(out, ")");
}

static void dump_policy(struct strbuf *out, const struct policy_decision *p)
{
    strbuf_addf(out, " problems=%x override_missing=%d clusters=", p->problems,
                p->override_missing);
    for (uint32_t i = 0; i < p->resolved->cluster_count; i++)
        strbuf_addf(out, "%s,", p->resolved->clusters[i]);
}

static void dump_connector(struct strbuf *out, const struct entry *entry)
{
    const struct template_decision *d = template_decision(entry);
    const struct connector_decision *c = d ? decision_connector(d) : NULL;
    const struct lease_decision *l = lease_decision(entry);

    if (c)
        strbuf_addf(out, " connector=%d/%s/%s/%s protection=%s", c->identity.container.kind,
                    c->identity.container.id, c->identity.location ? c->identity.location : "",
                    c->identity.name, protection_names[c->protection]);
    if (l)
        strbuf_addf(out, " lease=%s of %s", lease_state_names[l->state],
                    l->holder_ns ? l->holder_ns : "nobody");
    strbuf_addf(out, " conflicts=%x", connector_conflicts(entry));
}

static void dump_template(struct strbuf *out, const struct template_decision *d)
{
    strbuf_addf(out, " state=%s reason=%u phase=%d fields=%x flags=%x uptake=%d",
                state_names[d->state], d->reason, d->phase, d->fields, d->flags, d->change_applied);
    strbuf_addf(out, " own=%d propagates=%d%d%d since=%" PRId64, d->own_claim, d->propagates,
                d->derived, d->waits, decision_since_ms(d));
    dump_reference(out, "winner", decision_winner(d));
    dump_reference(out, "governing", decision_governing(d));
    dump_reference(out, "claimed", decision_claimed(d));
    dump_reference(out, "binding", decision_binding(d));
    for (uint32_t i = 0; i < d->candidate_count; i++) {
        dump_reference(out, "candidate", decision_candidate(d, i).policy);
        strbuf_addf(out, "(%d,%d,%d)", d->candidates[i].score, d->candidates[i].excluded,
                    d->candidates[i].deleting);
    }
    dump_capacity(out, decision_capacity(d));
}

void world_dump(const struct world *w, struct strbuf *out)
{
    size_t count;
    CLEANUP(free_cleanup) struct entry **entries = list_sorted_entries(w, &count);

    for (size_t i = 0; i < count; i++) {
        const struct entry *entry = entries[i];
        const struct binding_decision *b = binding_decision(entry);
        const struct policy_decision *p = policy_decision(entry);

        strbuf_addf(out, "%s %s/%s", entry_kind(entry), entry_ns(entry), entry->name);
        if (template_decision(entry))
            dump_template(out, template_decision(entry));
        strbuf_addf(out, " defects=%x", entry_defects(entry));
        dump_connector(out, entry);
        if (b)
            dump_reference(out, "template", binding_decision_template(b));
        if (b)
            dump_reference(out, "claimed", binding_claimed_policy(entry));
        dump_dependency(w, out, entry);
        if (p)
            dump_policy(out, p);
        strbuf_addc(out, '\n');
    }
}
