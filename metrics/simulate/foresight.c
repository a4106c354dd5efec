/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/foresight.h"

#include "metrics/model/object.h"

/* Karmada looks at the template as it would after any event that is not its user's. */
static bool play_rest(struct world *w, struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const struct policy *policy = d ? entry_policy(d->governing) : NULL;

    world_enqueue(w, (struct event){template, policy && policy->lazy});
    return simulation_settle(w);
}

void foresight_make(struct engine *e, const struct entry *template, int64_t now_ms,
                    void (*each)(void *context, const struct foresight *f), void *context)
{
    struct entry *entry = (struct entry *)(uintptr_t) template;
    struct world *w = world_new(e, now_ms);
    struct foresight f = {0};

    outcome_read(entry, &f.now);
    f.settled = play_rest(w, entry);
    outcome_read(entry, &f.rest);
    world_rollback(w, 0);
    world_evaluate(w);
    simulation_touch(w, entry);
    f.settled &= simulation_settle(w);
    outcome_read(entry, &f.next);
    f.assumptions = world_take_assumptions(w);
    each(context, &f);
    outcome_release(&f.now);
    outcome_release(&f.rest);
    outcome_release(&f.next);
    world_free(w);
}
