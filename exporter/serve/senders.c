/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/senders.h"

#include "exporter/notify/alert_sender.h"
#include "exporter/system/platform.h"

bool senders_init(struct senders *s, const struct web_service_settings *settings,
                  const char *site_url, struct error *err)
{
    const struct alert_sender_settings alert_sender = {
        .options = settings->options,
        .site_url = site_url,
        .environment = platform_environment(),
        .log = settings->log,
    };

    events_init(&s->events, settings->log);
    if (alert_sender_is_configured(settings->options))
        s->alert_sender = alert_sender_new(&alert_sender, err);
    return s->alert_sender || !alert_sender_is_configured(settings->options);
}

void senders_release(struct senders *s, struct evaluation *current)
{
    events_release(&s->events, current);
    alert_sender_free(s->alert_sender);
    s->alert_sender = NULL;
}

bool senders_turn(struct senders *s, struct evaluation *current, int64_t now_ms, int64_t clock_ms)
{
    if (s->alert_sender)
        alert_sender_turn(s->alert_sender, current, now_ms, clock_ms);
    return events_turn(&s->events, current, now_ms, clock_ms);
}

int64_t senders_due(const struct senders *s)
{
    int64_t due_ms = events_due(&s->events);

    return s->alert_sender ? earlier_of(due_ms, alert_sender_due(s->alert_sender)) : due_ms;
}

void senders_forget(struct senders *s)
{
    events_forget(&s->events);
}

void senders_fill(const struct senders *s, struct registry *registry)
{
    events_fill(&s->events, registry);
    if (s->alert_sender)
        alert_sender_fill(s->alert_sender, registry);
}
