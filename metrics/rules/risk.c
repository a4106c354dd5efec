/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/risk.h"

#include "metrics/model/object.h"

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

/* Only what was placed once can lose what it has. */
static bool is_emptied(const struct delivery_facts *f, struct standing delivery)
{
    return is(delivery, STAGE_UNSCHEDULED, WHY_NO_CLUSTER_FIT) && f->binding->cluster_count == 0 &&
           f->binding->status.was_placed;
}

static bool has_failed_override(const struct delivery_facts *f)
{
    for (uint32_t i = 0; i < binding_target_count(f->binding); i++) {
        if (f->targets[i].failure)
            return true;
    }
    return false;
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
    if (is_emptied(delivery, on))
        risks |= 1U << RISK_EMPTIED;
    if (has_failed_override(delivery))
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
