/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/engine_state.h"

#include "metrics/rules/lint.h"

void engine_policy_forget(struct engine *e, struct entry *entry)
{
    struct policy_decision *d = entry->decision;

    if (!d)
        return;
    placements_drop(e->placements, d->placed);
    free(d);
    entry->decision = NULL;
}

void engine_decide_policy(struct engine *e, struct entry *entry)
{
    const struct policy *policy = entry->object;
    bool cluster_wide = entry->partition->type->def->cluster_scoped;
    const struct kind_def *row = kind_override(cluster_wide);
    struct policy_decision *old = entry->decision;
    struct policy_decision *fresh = xcalloc(1, sizeof(*fresh));

    e->reads.count = 0;
    fresh->problems = policy_problems(entry);
    fresh->placed = placements_hold(e->placements, policy->propagation.placement);
    for (uint32_t i = 0; i < policy->override_count; i++) {
        struct entry *override =
            store_refer(e->store, &(struct identity){row->api_version, row->name, entry_ns(entry),
                                                     policy->overrides[i]});
        entry_list_add(&e->reads, override);
        fresh->override_missing |= !override->object;
    }
    edges_replace(e->store, entry, e->reads.items, e->reads.count);
    if (old && old->override_missing != fresh->override_missing)
        engine_mark_dependents(e, entry);
    engine_policy_forget(e, entry);
    entry->decision = fresh;
}
