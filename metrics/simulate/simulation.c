/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/simulation.h"

#include "metrics/model/store.h"
#include "metrics/rules/object_index.h"
#include "metrics/simulate/bindings.h"
#include "metrics/simulate/detector.h"
#include "metrics/simulate/distributor.h"
#include "metrics/simulate/scheduler.h"

/* ---- what a user does ---- */

/* What Karmada's webhook writes into a policy. */
static void admit_policy(const struct entry *entry, const struct policy *old, struct policy *fresh)
{
    bool cluster_scoped = entry->partition->type->def->cluster_scoped;

    if (old && !fresh->id && old->id)
        fresh->id = intern_ref(old->id);
    for (uint32_t i = 0; !cluster_scoped && i < fresh->selector_count; i++) {
        if (!fresh->selectors[i].ns)
            fresh->selectors[i].ns = intern_ref(entry_ns(entry));
    }
}

static void apply_policy(struct play *play, struct entry *entry, struct policy *fresh)
{
    const struct policy *old = entry_policy(entry);

    admit_policy(entry, old, fresh);
    if (old && policy_equal(old, fresh))
        return;
    play_replace(play, entry, fresh);
    detector_policy(play, entry, old);
}

/*
 * The user has changed a template to `fresh`. What the API server and Karmada have written stays:
 * the identity, and the claim. The version is a new one: no binding has it, unless others require
 * it, because the distributor follows each change for them.
 */
static void change_template(struct play *play, struct entry *entry, const struct template *fresh)
{
    const struct template *old = entry_template(entry);
    struct template *t = template_with_claim(fresh, fresh->claim ? fresh->claim : old->claim);
    struct entry *binding = bindings_entry(play, entry);
    const struct binding *b = entry_binding(binding);
    uint64_t known = b && b->resource_version > old->resource_version ? b->resource_version
                                                                      : old->resource_version;

    template_change(t, old, known + 2);
    play_replace(play, entry, play_keep(play, t));
    if (!b || !bindings_is_of(b, entry))
        return;
    struct binding *copy = bindings_copy(play, b);

    if (b->referrer_count > 0)
        bindings_follow(copy, t);
    else if (!b->resource_version)
        copy->resource_version = 1;
    play_replace(play, binding, copy);
}

/* Policies may have waited for an override policy, or a PriorityClass. */
static void retry_readers(struct play *play, const struct entry *entry)
{
    CLEANUP(entry_list_release)
    struct entry_list policies = play_readers(entry, CLASS_POLICY);

    play_evaluate(play);
    for (size_t i = 0; i < policies.count; i++)
        detector_retry(play, policies.items[i]);
}

static void apply_template(struct play *play, struct entry *entry, struct template *fresh)
{
    CLEANUP(entry_list_release) struct entry_list needed = {0};
    const struct template *old = entry_template(entry);
    struct entry *binding = bindings_entry(play, entry);

    if (old) {
        template_dependencies(play_context(play)->store, entry, entry_binding(binding), &needed);
        change_template(play, entry, fresh);
    } else {
        play_replace(play, entry, fresh);
    }
    play_evaluate(play);
    if (entry_binding(binding))
        distributor_drop(play, binding, &needed);
    if (!old)
        distributor_arrive(play, entry);
    retry_readers(play, entry);
    play_enqueue(play, (struct queue_item){entry, false});
}

static void apply_override(struct play *play, struct entry *entry, void *fresh)
{
    play_replace(play, entry, fresh);
    play_assume(play, ASSUMED_NOT_PLAYED);
    retry_readers(play, entry);
}

/* Somebody edits what Karmada has made: the scheduler and the distributor look at it. */
static void apply_binding(struct play *play, struct entry *entry, const struct binding *read)
{
    struct binding *fresh = bindings_copy(play, read);

    scheduler_play(play, entry_binding(entry), fresh);
    play_replace(play, entry, fresh);
    play_evaluate(play);
    distributor_sync(play, entry);
}

void simulation_apply(struct play *play, struct applied_object applied)
{
    struct entry *entry = applied.entry;
    void *fresh = applied.object;

    switch (entry_class(entry)) {
    case CLASS_POLICY:
        apply_policy(play, entry, fresh);
        return;
    case CLASS_TEMPLATE:
        apply_template(play, entry, fresh);
        return;
    case CLASS_BINDING:
        apply_binding(play, entry, fresh);
        return;
    case CLASS_OVERRIDE:
        apply_override(play, entry, fresh);
        return;
    case CLASS_CLUSTER:
    case CLASS_EVENT:
    case CLASS_WORK:
    case CLASS_LEASE:
    case CLASS_SETTING:
    case CLASS_OTHER:
        play_replace(play, entry, fresh);
        play_assume(play, ASSUMED_NOT_PLAYED);
        return;
    case CLASS_COUNT:
        break;
    }
    abort();
}

bool simulation_read(struct play *play, const cJSON *json, struct applied_object *out,
                     struct error *err)
{
    struct store *store = play_context(play)->store;
    struct decode d = store_decode(store, err);
    const struct kind_def *def;
    struct identity id;
    void *object;

    if (!identity_read(json, &id, err))
        return false;
    def = kind_of(id.api_version, id.kind);
    object = def->decode(&d, json);
    if (!object)
        return fail_in(err, "%s '%s%s%s'", id.kind, id.ns, *id.ns ? "/" : "", id.name);
    *out = (struct applied_object){store_refer(store, &id), play_own(play, def, object)};
    return true;
}

/* The garbage collector takes the binding with its owner; nobody requires what it needs. */
static void delete_template(struct play *play, struct entry *entry)
{
    struct entry *binding = template_binding(play_context(play)->store, entry);

    play_replace(play, entry, NULL);
    if (!binding)
        return;
    distributor_leave(play, binding);
    play_replace(play, binding, NULL);
}

void simulation_delete(struct play *play, struct entry *entry)
{
    if (!entry_exists(entry))
        return;
    if (entry_policy(entry))
        detector_policy_gone(play, entry);
    else if (entry_binding(entry))
        distributor_leave(play, entry);
    else if (!entry_template(entry))
        play_assume(play, ASSUMED_NOT_PLAYED);
    if (entry_template(entry))
        delete_template(play, entry);
    else
        play_replace(play, entry, NULL);
    play_evaluate(play);
}

void simulation_touch(struct play *play, struct entry *template)
{
    const struct template *t = entry_template(template);

    if (!t)
        return;
    change_template(play, template, t);
    play_enqueue(play, (struct queue_item){template, false});
}

/* ---- what Karmada does ---- */

bool simulation_settle(struct play *play)
{
    size_t limit = store_count(play_context(play)->store, CLASS_TEMPLATE) * SIMULATION_EVENTS_EACH +
                   SIMULATION_EVENTS_MIN;
    struct queue_item item;

    while (play_next(play, &item)) {
        if (limit-- == 0 || play_is_cut(play)) {
            do
                play_note_unsettled(play, item.template);
            while (play_next(play, &item));
            play_evaluate(play);
            return false;
        }
        detector_template(play, item);
    }
    play_evaluate(play);
    return true;
}

bool simulation_admit(struct play *play)
{
    CLEANUP(listing_release)
    struct listing all = listing_make(play_context(play)->store, CLASS_TEMPLATE);
    uint32_t unknown = uid_hash("");

    for (size_t i = 0; i < all.count; i++) {
        const struct template *t = entry_template(all.entries[i]);
        const struct template_decision *d = template_decision(all.entries[i]);

        if (d && t->uid_hash == unknown && !t->claim && !d->binding)
            play_enqueue(play,
                         (struct queue_item){(struct entry *)(uintptr_t)all.entries[i], false});
    }
    return simulation_settle(play);
}
