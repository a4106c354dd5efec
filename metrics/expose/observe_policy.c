/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/observe.h"

#include "metrics/expose/parties.h"

static void relate(struct samples *out, const struct entry *policy, enum relation relation)
{
    if (policy)
        SAMPLE(out, 1, relation, entry_kind(policy), entry_ns(policy), policy->name);
}

static void observe_relations(const struct entry *template, struct samples *out)
{
    const struct template_decision *d = template_decision(template);

    if (d->state == STATE_IGNORED)
        return;
    relate(out, d->claimed, RELATION_CLAIMED);
    relate(out, d->winner, RELATION_WON);
    for (uint32_t i = 0; i < d->candidate_count; i++) {
        const struct candidate *c = &d->candidates[i];

        if (c->excluded)
            relate(out, c->policy, RELATION_EXCLUDED);
        else if (candidate_eligible(c) && c->score > SCORE_NONE)
            relate(out, c->policy, RELATION_SELECTED);
    }
}

/*
 * A policy that exists has its rows even if it selects nothing; counting such
 * rows is how karmada_propagationpolicy_unused needs no list of its own.
 */
void observe_policy_templates(const struct entry *entry, struct samples *out)
{
    if (entry_class(entry) == CLASS_TEMPLATE)
        observe_relations(entry, out);
    else
        SAMPLE(out, 0, 0, entry_kind(entry), entry_ns(entry), entry->name);
}

static const char *bool_text(bool value)
{
    return value ? "true" : "false";
}

void observe_policy_info(const struct entry *entry, struct samples *out)
{
    const struct policy *policy = entry->object;
    const struct propagation *p = &policy->propagation;
    bool overwrites = p->conflict_resolution == CONFLICT_RESOLUTION_OVERWRITE;
    char priority[16];

    snprintf(priority, sizeof(priority), "%" PRId32, policy->priority);
    SAMPLE(out, 1, 0, entry_kind(entry), entry_ns(entry), entry->name,
           policy->lazy ? "Lazy" : "Immediate", policy->preempts ? "Always" : "Never", priority,
           bool_text(p->propagate_deps),
           dependency_value_name(DEPENDENCY_CONFLICT_RESOLUTION, overwrites),
           bool_text(p->preserve == OPTIONAL_TRUE));
}

void observe_policy_generation(const struct entry *entry, struct samples *out)
{
    const struct policy *policy = entry->object;

    SAMPLE(out, policy->generation, 0, entry_kind(entry), entry_ns(entry), entry->name);
}

void observe_policy_problems(const struct entry *entry, struct samples *out)
{
    const struct policy_decision *d = policy_decision(entry);

    for (unsigned i = 0; i < POLICY_PROBLEM_COUNT; i++) {
        if (d->problems & 1u << i)
            SAMPLE(out, 1, i);
    }
}
