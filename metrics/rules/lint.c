/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/lint.h"

#include "metrics/model/store.h"

static bool has_invalid_labels(const struct resource_selector *selector)
{
    return selector->labels && selector->labels->invalid;
}

unsigned policy_problems(const struct entry *policy)
{
    const struct policy *p = entry_policy(policy);
    bool cluster_wide = policy->partition->type->def->cluster_scoped;
    unsigned problems = 0;

    if (p->selector_count == 0)
        problems |= 1U << POLICY_NO_SELECTOR;
    for (uint32_t i = 0; i < p->selector_count; i++) {
        const struct resource_selector *selector = &p->selectors[i];

        /* With a name the labelSelector is ignored. */
        if (!selector->name && has_invalid_labels(selector))
            problems |= 1U << POLICY_INVALID_SELECTOR;
        if (!cluster_wide && selector->ns && selector->ns != policy->partition->ns)
            problems |= 1U << POLICY_FOREIGN_NAMESPACE;
        if (p->preempts && !selector->name)
            problems |= 1U << POLICY_PREEMPTION_WITHOUT_NAME;
    }
    for (uint32_t i = 0; i < p->exclusion_count; i++) {
        if (exclusion_is_empty(&p->exclusions[i]))
            problems |= 1U << POLICY_EMPTY_EXCLUSION;
        if (has_invalid_labels(&p->exclusions[i]))
            problems |= 1U << POLICY_INVALID_EXCLUSION;
    }
    return problems;
}
