/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/binder.h"

#include "metrics/model/template.h"
#include "metrics/rules/drift.h"
#include "metrics/simulate/bindings.h"
#include "metrics/simulate/claims.h"
#include "metrics/simulate/distributor.h"
#include "metrics/simulate/scheduler.h"

/* Copy what the policy says (BuildResourceBinding, and the mutations of ApplyPolicy). */
static void copy_policy(struct binding *b, const struct binding *old, const struct policy *p,
                        const char *priority, bool cluster_scoped)
{
    bool propagate_deps = b->propagation.propagate_deps;

    b->propagation = p->propagation;
    b->propagation.schedule_priority = priority;
    /* ApplyClusterPolicy copies it only when it makes the binding. */
    if (old && cluster_scoped)
        b->propagation.propagate_deps = propagate_deps;
    b->has_placement = true;
    b->has_conflict_resolution = true;
}

/*
 * What schedulePriority of the policy comes to in a binding; false if Karmada cannot resolve it,
 * and applies nothing at all. An unknown number stays as it was.
 */
static bool resolve_priority(struct play *play, const struct entry *template,
                             const struct policy *p, const char **text)
{
    CLEANUP(entry_list_release) struct entry_list reads = {0};
    struct rule_context *c = play_context(play);
    char canonical[32];

    if (!p->propagation.schedule_priority || !*entry_ns(template)) {
        *text = NULL;
        return true;
    }
    struct priority priority = priority_of(c->store, c->gates, p, &reads);

    if (priority.state == PRIORITY_VALUE) {
        snprintf(canonical, sizeof(canonical), "{\"priority\":%" PRId32 "}", priority.value);
        *text = priority.value ? play_text(play, canonical) : NULL;
    }
    return priority.state != PRIORITY_MISSING;
}

/*
 * Copy the replicas of a kind that Karmada itself reads. Of any other, a customization may say
 * what they are: they stay as they were. False if they are not known.
 */
static bool copy_replicas(struct binding *b, const struct binding *old,
                          const struct entry *template)
{
    const struct template *t = entry_template(template);

    if (!template_has_replicas(template->partition->type->api_version, entry_kind(template)))
        return true;
    b->has_requirements = true;
    b->has_replicas = true;
    if (t->replicas >= 0)
        b->replicas = t->replicas;
    return t->replicas >= 0 || old;
}

/* What a pod requests, where the template says: it is what Karmada writes. */
static void copy_requests(struct play *play, struct binding *b, const struct template *t)
{
    struct intern *strings = store_strings(play_context(play)->store);
    struct resource_request *requests;

    if (!t->requests)
        return;
    requests = requests_of(strings, t->requests, &b->request_count);
    for (uint32_t i = 0; i < b->request_count; i++) {
        const char *name = requests[i].resource;

        requests[i].resource = play_text(play, name);
        intern_drop(strings, name);
    }
    b->requests = play_keep(play, requests);
}

void binder_apply(struct play *play, struct entry *template, const struct entry *policy)
{
    struct entry *entry = bindings_entry(play, template);
    const struct binding *old = entry_binding(entry);
    bool cluster_scoped = entry->partition->type->def->cluster_scoped;
    const char *priority = old ? old->propagation.schedule_priority : NULL;
    struct binding *fresh;

    if (old && (old->deleting || !bindings_is_of(old, template)))
        return;
    if (!resolve_priority(play, template, entry_policy(policy), &priority))
        return;
    fresh = old ? bindings_copy(play, old) : bindings_make(play, template);
    copy_policy(fresh, old, entry_policy(policy), priority, cluster_scoped);
    fresh->claim = claims_of(play, policy, fresh->claim);
    bindings_follow(fresh, entry_template(template));
    copy_requests(play, fresh, entry_template(template));
    fresh->undetermined = 0;
    if (copy_replicas(fresh, old, template)) {
        scheduler_play(play, old, fresh);
    } else {
        play_assume(play, ASSUMED_REPLICAS_UNKNOWN);
        bindings_set_undetermined(fresh, UNDETERMINED_UNSUPPORTED);
    }
    play_replace(play, entry, fresh);
    distributor_sync(play, entry);
}
