/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/risk.h"

#include "metrics/model/store.h"

#define WORD(id, word, text) word,
/* In parentheses, because some are of several literals. */
#define TEXT(id, word, text) (text),

const char *const risk_names[RISK_COUNT] = {RISKS(WORD)};
const char *const risk_texts[RISK_COUNT] = {RISKS(TEXT)};

static_assert(RISK_COUNT <= 8, "a bit for each in a decision");

static bool is(struct standing at, enum stage stage, enum stage_reason reason)
{
    return at.stage == stage && at.reason == reason;
}

/* Karmada looks the class up at each reconcile, before it writes the binding. */
static bool is_frozen(const struct template_decision *d)
{
    const struct policy_decision *policy = d->governing ? policy_decision(d->governing) : NULL;

    return policy && policy->priority.state == PRIORITY_MISSING;
}

unsigned risks_of(const struct template_decision *d, const struct delivery_facts *delivery)
{
    struct standing at = d->way.at, on = d->way.delivery;
    unsigned risks = 0;

    if (is(at, STAGE_UNMATCHED, WHY_LEFT_BEHIND_CHANGED))
        risks |= 1U << RISK_MAY_TRAVEL;
    if (!delivery)
        return risks;
    if (is_frozen(d))
        risks |= 1U << RISK_FROZEN;
    if (is(on, STAGE_EVICTING, WHY_LAST_COPY))
        risks |= 1U << RISK_LAST_COPY;
    if (delivery->evicts_ready)
        risks |= 1U << RISK_READY_EVICTED;
    /* Only what was placed once can lose what it has. */
    if (is(on, STAGE_UNSCHEDULED, WHY_NO_CLUSTER_FIT) && delivery->binding->cluster_count == 0 &&
        delivery->binding->status.was_placed)
        risks |= 1U << RISK_EMPTIED;
    if (delivery->override_fails)
        risks |= 1U << RISK_OVERRIDE_FAILED;
    if (delivery->lists_gone_override)
        risks |= 1U << RISK_OVERRIDE_LISTED;
    return risks;
}

unsigned entry_risks(const struct entry *e)
{
    const struct template_decision *d = template_decision(e);

    return d ? d->risks : 0;
}
