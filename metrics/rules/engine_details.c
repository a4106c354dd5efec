/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/connector_lookup.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/rule.h"

const char *engine_target_message(const struct engine *e, const struct entry *template,
                                  uint32_t target)
{
    return delivery_target_message(&engine_facts(e)->deliveries, template, target);
}

const char *engine_delivery_message(const struct engine *e, const struct entry *template)
{
    return delivery_message(&engine_facts(e)->deliveries, template);
}

const char *engine_namespace_of_id(const struct engine *e, const char *id)
{
    return namespace_of_id(connector_known_ids(engine_facts(e)->store), id);
}

size_t engine_sharers(const struct engine *e, const struct entry *template,
                      const struct entry **out, size_t max)
{
    bool shares = connector_conflicts(template) & 1u << CONNECTOR_DUPLICATE_IDENTITY;

    return shares ? collisions_others(engine_facts(e)->cloud_resources, template, out, max) : 0;
}

const struct entry *engine_lease_of(const struct engine *e, const struct entry *template)
{
    const struct connector_decision *d = template_decision(template)->connector;

    return d->identity.unclear
               ? NULL
               : cloud_index_lease(engine_facts(e)->cloud_names, template, &d->identity);
}

enum lease_verdict engine_lease_verdict(const struct engine *e, const struct entry *template,
                                        const struct entry *lease)
{
    const struct rule_context *c = engine_facts(e);
    struct lease_clock clock = {c->now_ms / 1000, c->options.lease_skew_ms / 1000};

    return connector_lease_verdict(c->store, template, lease, clock);
}

void engine_ballots(const struct engine *e, const struct entry *dependency,
                    void (*each)(void *context, const struct ballot *ballot), void *context)
{
    CLEANUP(ballot_list_release) struct ballot_list ballots = {0};

    ballots_gather(engine_facts(e)->store, &engine_facts(e)->incomplete, dependency, &ballots);
    for (size_t i = 0; i < ballots.count; i++)
        each(context, &ballots.items[i]);
}
