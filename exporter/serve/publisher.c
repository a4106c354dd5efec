/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/publisher.h"

#include "exporter/system/platform.h"
#include "exporter/web/pages/index_page.h"
#include "metrics/expose/exposition.h"

enum {
    SHORTEST_MS = 50, /* Between two pages of metrics: no scraper looks more often. */
    PAGE_MAX = 1024 * 1024 * 1024,
};

void publisher_init(struct publisher *p, const struct log *log, int64_t longest_ms,
                    int64_t refresh_ms)
{
    *p = (struct publisher){
        .snapshot = snapshot_new(),
        .log = log,
        .blank = registry_new(NULL, &registry_options_default, platform_seed()),
    };
    throttle_init(&p->metrics, SHORTEST_MS, longest_ms, refresh_ms);
    throttle_init(&p->index, longest_ms, longest_ms, refresh_ms);
}

void publisher_release(struct publisher *p)
{
    snapshot_free(p->snapshot);
    registry_free(p->blank);
    *p = (struct publisher){.snapshot = NULL};
}

void publisher_change(struct publisher *p, int64_t now_ms)
{
    throttle_change(&p->metrics, now_ms);
    throttle_change(&p->index, now_ms);
}

int64_t publisher_due(const struct publisher *p)
{
    int64_t metrics_ms = throttle_deadline(&p->metrics);
    int64_t index_ms = throttle_deadline(&p->index);

    return metrics_ms < index_ms ? metrics_ms : index_ms;
}

static void publish_page(struct publisher *p, enum snapshot_page page, struct strbuf *text,
                         const char *content_type)
{
    if (strbuf_ok(text))
        snapshot_publish(p->snapshot, page, text, content_type);
    else
        log_write(p->log, LOG_LEVEL_ERROR, "the page is too large to be published");
    strbuf_release(text);
}

static void publish_index(struct publisher *p, const struct health *health)
{
    struct strbuf text = STRBUF_INIT(PAGE_MAX);
    int64_t used_ms = platform_thread_ms();

    index_page_write(health, &text);
    publish_page(p, SNAPSHOT_INDEX, &text, "text/html; charset=utf-8");
    throttle_publish(&p->index, platform_thread_ms() - used_ms, platform_steady_ms());
}

static void publish_metrics(struct publisher *p, const struct health *health)
{
    struct registry *registry = health->evaluation ? health->evaluation->registry : p->blank;
    struct strbuf text = STRBUF_INIT(PAGE_MAX);
    int64_t used_ms = platform_thread_ms();

    health_fill(health, registry);
    registry_prepare(registry);
    exposition_write(registry, EXPOSITION_TEXT, health->evaluation != NULL, &text);
    publish_page(p, SNAPSHOT_METRICS, &text, "text/plain; version=0.0.4; charset=utf-8");

    /* It is on the next page: this one had to be there first. */
    int64_t waited_ms =
        throttle_publish(&p->metrics, platform_thread_ms() - used_ms, platform_steady_ms());
    if (health->evaluation && waited_ms > 0)
        registry_count(registry, OWN_EVENT_LAG, (double)waited_ms / 1000);
}

void publisher_turn(struct publisher *p, const struct health *health, int64_t now_ms)
{
    if (now_ms >= throttle_deadline(&p->metrics))
        publish_metrics(p, health);
    if (now_ms >= throttle_deadline(&p->index))
        publish_index(p, health);
}

void publisher_all(struct publisher *p, const struct health *health)
{
    publish_metrics(p, health);
    publish_index(p, health);
}
