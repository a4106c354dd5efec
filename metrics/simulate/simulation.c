/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/simulation.h"

#include "metrics/model/listing.h"
#include "metrics/rules/links.h"
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

static void apply_policy(struct world *w, struct entry *entry, struct policy *fresh)
{
    const struct policy *old = entry_policy(entry);

    admit_policy(entry, old, fresh);
    if (old && policy_equal(old, fresh))
        return;
    world_replace(w, entry, fresh);
    world_evaluate(w);
    detector_policy(w, entry, old);
}

/*
 * What the API server and Karmada have written stays: the identity, and the claim. The version is
 * a new one, which no binding is made from yet.
 */
static struct template *renew(struct world *w, const struct template *old,
                              const struct template *fresh)
{
    struct template *t = template_with_claim(fresh, fresh->claim ? fresh->claim : old->claim);

    template_change(t, old);
    return world_keep(w, t);
}

static void apply_template(struct world *w, struct entry *entry, struct template *fresh)
{
    CLEANUP(entry_list_release) struct entry_list needed = {0};
    const struct template *old = entry_template(entry);
    struct entry *binding = bindings_entry(w, entry);

    if (old)
        template_dependencies(world_context(w)->store, entry, entry_binding(binding), &needed);
    world_replace(w, entry, old ? renew(w, old, fresh) : fresh);
    world_evaluate(w);
    if (entry_binding(binding))
        distributor_drop(w, binding, &needed);
    if (!old)
        distributor_arrive(w, entry);
    world_enqueue(w, (struct event){entry, false});
}

static void apply_override(struct world *w, struct entry *entry, void *fresh)
{
    CLEANUP(entry_list_release)
    struct entry_list policies = world_readers(entry, CLASS_POLICY);

    world_replace(w, entry, fresh);
    world_evaluate(w);
    for (size_t i = 0; i < policies.count; i++)
        detector_retry(w, policies.items[i]);
}

/* Somebody edits what Karmada has made: the scheduler and the distributor look at it. */
static void apply_binding(struct world *w, struct entry *entry, struct binding *fresh)
{
    enum undetermined_reason reason = scheduler_play(w, entry_binding(entry), fresh);

    if (reason != UNDETERMINED_REASON_COUNT)
        fresh->undetermined = (uint8_t)(1 + reason);
    world_replace(w, entry, fresh);
    world_evaluate(w);
    distributor_sync(w, entry);
}

void simulation_apply(struct world *w, struct applied_object applied)
{
    struct entry *entry = applied.entry;
    void *fresh = applied.object;

    switch (entry_class(entry)) {
    case CLASS_POLICY:
        apply_policy(w, entry, fresh);
        return;
    case CLASS_TEMPLATE:
        apply_template(w, entry, fresh);
        return;
    case CLASS_BINDING:
        apply_binding(w, entry, fresh);
        return;
    case CLASS_OVERRIDE:
        apply_override(w, entry, fresh);
        return;
    case CLASS_CLUSTER:
    case CLASS_EVENT:
    case CLASS_LEASE:
    case CLASS_SETTING:
    case CLASS_OTHER:
        world_replace(w, entry, fresh);
        world_assume(w, ASSUMED_NOT_PLAYED);
        return;
    case CLASS_COUNT:
        break;
    }
    abort();
}

bool simulation_read(struct world *w, const cJSON *json, struct applied_object *out,
                     struct error *err)
{
    struct store *store = world_context(w)->store;
    struct decode d = {.strings = store_strings(store), .err = err};
    const struct kind_def *def;
    struct identity id;
    void *object;

    if (!identity_read(json, &id, err))
        return false;
    def = kind_of(id.api_version, id.kind);
    object = def->decode(&d, json);
    if (!object)
        return fail_in(err, "%s '%s%s%s'", id.kind, id.ns, *id.ns ? "/" : "", id.name);
    *out = (struct applied_object){store_refer(store, &id), world_own(w, def, object)};
    return true;
}

/* The garbage collector takes the binding with its owner; nobody requires what it needs. */
static void delete_template(struct world *w, struct entry *entry)
{
    struct entry *binding = template_binding(world_context(w)->store, entry);

    world_replace(w, entry, NULL);
    if (!binding)
        return;
    distributor_leave(w, binding);
    world_replace(w, binding, NULL);
}

void simulation_delete(struct world *w, struct entry *entry)
{
    if (!entry_exists(entry))
        return;
    if (entry_policy(entry))
        detector_policy_gone(w, entry);
    else if (entry_binding(entry))
        distributor_leave(w, entry);
    else if (!entry_template(entry))
        world_assume(w, ASSUMED_NOT_PLAYED);
    if (entry_template(entry))
        delete_template(w, entry);
    else
        world_replace(w, entry, NULL);
    world_evaluate(w);
}

void simulation_touch(struct world *w, struct entry *template)
{
    const struct template *t = entry_template(template);

    if (!t)
        return;
    world_replace(w, template, renew(w, t, t));
    world_enqueue(w, (struct event){template, false});
}

/* ---- what Karmada does ---- */

static bool is_due(struct world *w, const struct entry *template)
{
    return world_is_due(template) || world_is_due(bindings_entry(w, template));
}

bool simulation_settle(struct world *w)
{
    size_t limit = store_count(world_context(w)->store, CLASS_TEMPLATE) * SIMULATION_EVENTS_EACH +
                   SIMULATION_EVENTS_MIN;
    struct event event;

    while (world_next(w, &event)) {
        if (limit-- == 0) {
            while (world_next(w, &event))
                continue;
            world_evaluate(w);
            return false;
        }
        if (is_due(w, event.template))
            world_evaluate(w);
        detector_template(w, event);
    }
    world_evaluate(w);
    return true;
}

bool simulation_admit(struct world *w)
{
    CLEANUP(listing_release)
    struct listing all = listing_make(world_context(w)->store, CLASS_TEMPLATE);
    uint32_t unknown = uid_hash("");

    for (size_t i = 0; i < all.count; i++) {
        const struct template *t = entry_template(all.entries[i]);
        const struct template_decision *d = template_decision(all.entries[i]);

        if (t->uid_hash == unknown && !t->claim && !d->binding)
            world_enqueue(w, (struct event){(struct entry *)(uintptr_t)all.entries[i], false});
    }
    return simulation_settle(w);
}
