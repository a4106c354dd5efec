/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/binder.h"

#include "metrics/simulate/bindings.h"
#include "metrics/simulate/claims.h"
#include "metrics/simulate/distributor.h"
#include "metrics/simulate/scheduler.h"

/* Copy what the policy says (BuildResourceBinding, and the mutations of ApplyPolicy). */
static void copy_policy(struct binding *b, const struct binding *old, const struct policy *p,
                        bool cluster_scoped)
{
    const char *priority = b->propagation.schedule_priority;
    bool propagate_deps = b->propagation.propagate_deps;

    b->propagation = p->propagation;
    /* The number behind a PriorityClass is not known here: an old one stays. */
    b->propagation.schedule_priority = p->propagation.schedule_priority ? priority : NULL;
    /* ApplyClusterPolicy copies it only when it makes the binding. */
    if (old && cluster_scoped)
        b->propagation.propagate_deps = propagate_deps;
    b->has_placement = true;
    b->has_conflict_resolution = true;
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
    if (t->replicas >= 0)
        b->replicas = t->replicas;
    return t->replicas >= 0 || old;
}

void binder_apply(struct play *play, struct entry *template, const struct entry *policy)
{
    struct entry *entry = bindings_entry(play, template);
    const struct binding *old = entry_binding(entry);
    bool cluster_scoped = entry->partition->type->def->cluster_scoped;
    enum undetermined_reason reason;
    struct binding *fresh;

    if (old && !bindings_is_of(old, template))
        return;
    fresh = old ? bindings_copy(play, old) : bindings_make(play, template);
    copy_policy(fresh, old, entry_policy(policy), cluster_scoped);
    fresh->claim = (struct claim *)(uintptr_t)claims_of(play, policy);
    bindings_follow(fresh, entry_template(template));
    fresh->undetermined = 0;
    if (copy_replicas(fresh, old, template)) {
        reason = scheduler_play(play, old, fresh);
    } else {
        play_assume(play, ASSUMED_REPLICAS_UNKNOWN);
        reason = UNDETERMINED_UNSUPPORTED;
    }
    if (reason != UNDETERMINED_REASON_COUNT)
        fresh->undetermined = (uint8_t)(1 + reason);
    play_replace(play, entry, fresh);
    distributor_sync(play, entry);
}
