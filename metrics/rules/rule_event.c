/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/rule.h"

static void mark(struct rule_context *c, const struct event *event)
{
    struct entry *template = override_event_template(&c->override_events, event);

    if (template)
        graph_mark(c->graph, template);
}

static void changed(struct rule_context *c, struct entry *entry, const void *old)
{
    conflict_events_changed(&c->conflict_events, entry, old);
    if (!override_events_changed(&c->override_events, entry, old))
        return;
    mark(c, old);
    mark(c, entry_event(entry));
}

const struct rule rule_event = {.rank = RULE_RANK_LAST, .changed = changed};
