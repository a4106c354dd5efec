/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/foresight.h"

#include "metrics/model/store.h"
#include "metrics/simulate/detector.h"

/*
 * Nothing makes Karmada look at it again: it does not watch PriorityClasses, and half a claim is
 * matched at the template's next change.
 */
static bool is_left_alone(const struct entry *template, const struct template_decision *d)
{
    if (d->state == STATE_STALE && d->reason == STALE_POLICY_REPLACED)
        return entry_template(template)->half_claim;
    if (d->state == STATE_UNBOUND)
        return d->reason == UNBOUND_STUCK;
    return d->priority_moved && d->phase == PHASE_DEFERRED;
}

/* Its policy was changed, and Karmada has yet to see whom it does not select any more. */
static bool is_being_released(const struct template_decision *d)
{
    return d->state == STATE_STALE && d->reason == STALE_SELECTOR_MISMATCH &&
           d->phase == PHASE_DEFERRED;
}

/* Karmada looks at the template as it would after any event that is not its user's. */
static bool play_rest(struct play *play, struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const struct policy *policy = d ? entry_policy(d->governing) : NULL;
    bool is_static = play_context(play)->options.takeover == TAKEOVER_STATIC;

    if (d && is_left_alone(template, d))
        return true;
    if (d && is_being_released(d))
        detector_policy(play, d->claimed, NULL);
    play_enqueue(play, (struct queue_item){template, is_static || (policy && policy->lazy)});
    return simulation_settle(play);
}

void foresight_make(struct engine *e, const struct entry *template,
                    void (*each)(void *context, const struct foresight *f), void *context)
{
    struct entry *entry = (struct entry *)(uintptr_t) template;
    struct play *play = play_new(e);
    struct foresight f = {0};

    outcome_read(entry, &f.now);
    f.settled = play_rest(play, entry);
    outcome_read(entry, &f.rest);
    simulation_touch(play, entry);
    f.settled &= simulation_settle(play);
    outcome_read(entry, &f.next);
    f.assumptions = play_take_assumptions(play);
    each(context, &f);
    outcome_release(&f.now, play_context(play)->store);
    outcome_release(&f.rest, play_context(play)->store);
    outcome_release(&f.next, play_context(play)->store);
    play_free(play);
}
