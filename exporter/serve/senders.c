/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/senders.h"

#include "exporter/serve/alerting/alerting.h"
#include "exporter/system/platform.h"

bool senders_init(struct senders *o, const struct web_service_settings *settings,
                  const char *page_url, struct error *err)
{
    const struct alerting_settings alerting = {
        .options = settings->options,
        .page_store = settings->page_store,
        .page_url = page_url,
        .environment = platform_environment(),
        .log = settings->log,
    };

    events_init(&o->events, settings->log);
    if (alerting_wanted(settings->options))
        o->alerting = alerting_new(&alerting, err);
    return o->alerting || !alerting_wanted(settings->options);
}

void senders_release(struct senders *o, struct evaluation *current)
{
    events_release(&o->events, current);
    alerting_free(o->alerting);
    o->alerting = NULL;
}

bool senders_turn(struct senders *o, struct evaluation *current, int64_t now_ms, int64_t clock_ms)
{
    return events_turn(&o->events, current, now_ms, clock_ms);
}

int64_t senders_due(const struct senders *o)
{
    return events_due(&o->events);
}

void senders_forget(struct senders *o)
{
    events_forget(&o->events);
}

void senders_fill(const struct senders *o, struct registry *registry)
{
    events_fill(&o->events, registry);
    if (o->alerting)
        alerting_fill(o->alerting, registry);
}
