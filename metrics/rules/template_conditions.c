/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/template_conditions.h"

#include "metrics/rules/rule.h"

void template_conditions(const struct rule_context *c, const struct entry *template,
                         struct condition_list *out, int64_t *due_ms)
{
    const struct template_decision *d = template_decision(template);

    (void)c;
    (void)due_ms;
    if (d->state == STATE_ORPHANED)
        condition_list_add(out, (struct condition){PROBLEM_REASON_ORPHANED, d->since_ms, false});
}
