/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/publisher.h"

#include <malloc.h>

#include "exporter/evaluation.h"
#include "exporter/system/platform.h"
#include "exporter/system/process.h"
#include "metrics/expose/problem_families.h"

/* ---- throttle ---- */

enum { COST_PARTS = 5 }; /* Interval of pages, as a multiple of the processor time. */

void throttle_init(struct throttle *t, int64_t shortest_ms, int64_t longest_ms, int64_t refresh_ms)
{
    *t = (struct throttle){
        .shortest_ms = shortest_ms,
        .longest_ms = longest_ms,
        .refresh_ms = refresh_ms,
        .published_ms = -longest_ms,
    };
}

void throttle_change(struct throttle *t, int64_t now_ms)
{
    if (t->changed_ms == 0)
        t->changed_ms = now_ms;
}

int64_t throttle_deadline(const struct throttle *t)
{
    int64_t refresh_ms = t->refreshed_ms + t->refresh_ms;
    int64_t change_ms = t->published_ms + t->interval_ms;

    return t->changed_ms != 0 && change_ms < refresh_ms ? change_ms : refresh_ms;
}

int64_t throttle_publish(struct throttle *t, int64_t cost_us, int64_t now_ms)
{
    int64_t waited_ms = t->changed_ms != 0 ? now_ms - t->changed_ms : 0;
    int64_t interval_ms = (cost_us * COST_PARTS + 999) / 1000;

    if (t->changed_ms != 0)
        t->published_ms = now_ms;
    if (interval_ms < t->shortest_ms)
        interval_ms = t->shortest_ms;
    t->interval_ms = interval_ms < t->longest_ms ? interval_ms : t->longest_ms;
    t->changed_ms = 0;
    t->refreshed_ms = now_ms;
    return waited_ms;
}

/* ---- pages ---- */

enum {
    SHORTEST_MS = 10, /* throttle.shortest_ms of the metrics page. */
    PAGE_MAX = 1024 * 1024 * 1024,
    ROOM_PART = 32, /* Divisor: 1/32 of a page's length is reserved for growth. */
};

void publisher_init(struct publisher *p, const struct log *log, int64_t longest_ms,
                    int64_t refresh_ms)
{
    *p = (struct publisher){
        .page_store = page_store_new(),
        .log = log,
        .empty_registry = registry_new(NULL, &registry_options_default, platform_random_seed()),
    };
    /* Other pages show the state of the exporter, which may be a little older. */
    for (unsigned i = 0; i < PAGE_COUNT; i++)
        throttle_init(&p->throttles[i], i == PAGE_METRICS ? SHORTEST_MS : longest_ms, longest_ms,
                      refresh_ms);
}

void publisher_release(struct publisher *p)
{
    metrics_page_drop(p->metrics);
    page_store_free(p->page_store);
    registry_free(p->empty_registry);
    *p = (struct publisher){.page_store = NULL};
}

void publisher_change(struct publisher *p, int64_t now_ms)
{
    for (unsigned i = 0; i < PAGE_COUNT; i++)
        throttle_change(&p->throttles[i], now_ms);
}

int64_t publisher_due(const struct publisher *p)
{
    int64_t due_ms = INT64_MAX;

    for (unsigned i = 0; i < PAGE_COUNT; i++) {
        if (throttle_deadline(&p->throttles[i]) < due_ms)
            due_ms = throttle_deadline(&p->throttles[i]);
    }
    return due_ms;
}

/* Returns false if the page would exceed PAGE_MAX. */
static bool publish_metrics(struct publisher *p, const struct health *h)
{
    const struct exposition how = {
        .synced = h->evaluation != NULL,
        .created_ms = h->started_ms,
        .since_ms = h->evaluation ? h->evaluation->since_ms : 0,
    };

    own_health_fill(h, h->registry);
    if (h->evaluation)
        problem_families_fill(h->registry, h->evaluation->engine);
    registry_prepare(h->registry);
    struct metrics_page *fresh = metrics_page_new(h->registry, how, p->metrics, PAGE_MAX,
                                                  page_store_segment_sum(p->page_store));

    if (!fresh)
        return false;
    metrics_page_drop(p->metrics);
    p->metrics = fresh;
    page_store_publish_metrics(p->page_store, fresh);
    return true;
}

/* Publishes a page other than metrics. Returns false if the page would exceed PAGE_MAX. */
static bool publish_text_page(struct publisher *p, enum page page, const struct health *h)
{
    struct strbuf text = STRBUF_INIT(PAGE_MAX);

    strbuf_reserve(&text, p->lengths[page] + p->lengths[page] / ROOM_PART);
    page_defs[page].write(h, &text);
    p->lengths[page] = text.len;
    bool fits = strbuf_ok(&text);

    if (fits)
        page_store_publish(p->page_store, page, &text);
    strbuf_release(&text);
    return fits;
}

static void publish_page(struct publisher *p, enum page page, const struct health *health)
{
    struct health shown = *health;
    int64_t used_us = platform_thread_cpu_us();

    shown.registry = health->evaluation ? health->evaluation->registry : p->empty_registry;
    if (!(page == PAGE_METRICS ? publish_metrics(p, &shown) : publish_text_page(p, page, &shown)))
        log_write(p->log, LOG_LEVEL_ERROR, "page is too large to publish", "page",
                  page_defs[page].handler);

    int64_t waited_ms = throttle_publish(&p->throttles[page], platform_thread_cpu_us() - used_us,
                                         platform_steady_ms());
    /* The wait ends with this publication, so the next page reports its duration. */
    if (page == PAGE_METRICS && health->evaluation && waited_ms > 0)
        registry_observe(shown.registry, OWN_EVENT_LAG, (double)waited_ms / 1000);
}

void publisher_turn(struct publisher *p, const struct health *health, int64_t now_ms)
{
    for (unsigned i = 0; i < PAGE_COUNT; i++) {
        if (now_ms >= throttle_deadline(&p->throttles[i]))
            publish_page(p, (enum page)i, health);
    }
}

void publisher_all(struct publisher *p, const struct health *health)
{
    publisher_turn(p, health, INT64_MAX);
}

/* ---- memory guard ---- */

enum {
    CHECK_INTERVAL_MS = 1000,
    RESTORE_AFTER_MS = 60 * 1000,
    /* Resident bytes in hundredths of the limit. */
    SHED_AT = 80,
    RESTORE_BELOW = 70,
    WARN_AT = 95,
};

static bool is_at_least(uint64_t bytes, uint64_t limit, unsigned hundredths)
{
    return (double)bytes * 100 >= (double)limit * hundredths;
}

enum memory_action memory_guard_decide(struct memory_guard *g, const struct registry *r,
                                       uint64_t resident, int64_t now_ms)
{
    /* The registry of a reload still has its detail families. */
    if (g->reduced && g->reduced != r)
        g->reduced = NULL;
    if (!g->reduced) {
        if (!is_at_least(resident, g->limit, SHED_AT))
            return MEMORY_KEEP;
        g->reduced = r;
        g->resident_before = resident;
        g->measured = false;
        g->reduced_ms = now_ms;
        return MEMORY_SHED;
    }
    if (!g->measured)
        g->freed = g->resident_before > resident ? g->resident_before - resident : 0;
    g->measured = true;
    if (now_ms - g->reduced_ms < RESTORE_AFTER_MS ||
        is_at_least(resident + g->freed, g->limit, RESTORE_BELOW))
        return MEMORY_KEEP;
    g->reduced = NULL;
    return MEMORY_RESTORE;
}

static void log_memory(const struct log *log, enum log_level level, const char *message,
                       uint64_t resident, uint64_t limit)
{
    log_write(log, level, message, "resident", LOG_NUMBER((int64_t)resident), "limit",
              LOG_NUMBER((int64_t)limit));
}

static void warn_if_used_up(struct memory_guard *g, uint64_t resident, const struct log *log)
{
    bool used_up = is_at_least(resident, g->limit, WARN_AT);

    if (used_up && !g->warned)
        log_memory(log, LOG_LEVEL_ERROR,
                   "memory is nearly used up; raise the limit, or watch fewer namespaces", resident,
                   g->limit);
    g->warned = used_up;
}

bool memory_guard_turn(struct memory_guard *g, struct registry *r, const struct log *log,
                       int64_t now_ms)
{
    if (g->limit == 0 || now_ms - g->checked_ms < CHECK_INTERVAL_MS)
        return false;
    g->checked_ms = now_ms;
    uint64_t resident = process_resident_bytes();

    switch (memory_guard_decide(g, r, resident, now_ms)) {
    case MEMORY_SHED:
        log_memory(log, LOG_LEVEL_WARN,
                   "memory is short; metrics with one series for each object are omitted", resident,
                   g->limit);
        registry_show_details(r, false);
        /* Freed memory counts as resident until the C library returns it to the kernel. */
        malloc_trim(0);
        return true;
    case MEMORY_RESTORE:
        log_memory(
            log, LOG_LEVEL_INFO,
            "memory is sufficient again; metrics with one series for each object are served again",
            resident, g->limit);
        registry_show_details(r, true);
        return true;
    case MEMORY_KEEP:
        break;
    }
    warn_if_used_up(g, resident, log);
    return false;
}
