/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/senders.h"

#include "exporter/serve/alerting/alerting.h"
#include "exporter/system/platform.h"

bool senders_init(struct senders *s, const struct web_service_settings *settings,
                  const char *page_url, struct error *err)
{
    const struct alerting_settings alerting = {
        .options = settings->options,
        .page_store = settings->page_store,
        .page_url = page_url,
        .environment = platform_environment(),
        .log = settings->log,
    };

    events_init(&s->events, settings->log);
    if (alerting_wanted(settings->options))
        s->alerting = alerting_new(&alerting, err);
    return s->alerting || !alerting_wanted(settings->options);
}

void senders_release(struct senders *s, struct evaluation *current)
{
    events_release(&s->events, current);
    alerting_free(s->alerting);
    s->alerting = NULL;
}

bool senders_turn(struct senders *s, struct evaluation *current, int64_t now_ms, int64_t clock_ms)
{
    return events_turn(&s->events, current, now_ms, clock_ms);
}

int64_t senders_due(const struct senders *s)
{
    return events_due(&s->events);
}

void senders_forget(struct senders *s)
{
    events_forget(&s->events);
}

void senders_fill(const struct senders *s, struct registry *registry)
{
    events_fill(&s->events, registry);
    if (s->alerting)
        alerting_fill(s->alerting, registry);
}
