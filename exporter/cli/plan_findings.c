/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/plan_findings.h"

#include "exporter/findings.h"

static unsigned bit(bool holds, unsigned place)
{
    return (unsigned)holds << place;
}

/* The template comes into a state that it was not in. */
static unsigned enters(const struct plan_template *t, enum template_state state, unsigned place)
{
    bool was = t->before.exists && t->before.state == state;

    return bit(t->after.exists && t->after.state == state && !was, place);
}

static unsigned of_template(const struct plan_template *t)
{
    bool stays = t->before.exists && t->after.exists;
    bool moves = !outcome_same_clusters(&t->before, &t->after);

    return enters(t, STATE_PENDING, FINDING_PENDING) | enters(t, STATE_STALE, FINDING_STALE) |
           enters(t, STATE_ORPHANED, FINDING_ORPHANED) | bit(stays && moves, CONSEQUENCE_MOVE) |
           bit(stays && t->before.policy && !t->after.policy, CONSEQUENCE_LOST) |
           bit(t->when == PLAN_AT_NEXT_CHANGE, CONSEQUENCE_WAIT);
}

unsigned plan_findings(const struct plan_result *r)
{
    unsigned found = bit(r->conflicts_appear > 0, FINDING_CONFLICT) |
                     bit(r->undetermined > 0, CONSEQUENCE_UNDETERMINED) |
                     bit(!r->settled, CONSEQUENCE_UNSETTLED);

    for (size_t i = 0; i < r->template_count; i++)
        found |= of_template(&r->templates[i]);
    for (size_t i = 0; i < r->clusters.count; i++)
        found |= bit(r->clusters.items[i].overflows, CONSEQUENCE_OVERFLOW);
    return found;
}
