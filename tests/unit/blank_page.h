/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/metrics_page.h"

enum { BLANK_PAGE_MAX = 1 << 30, BLANK_PAGE_SINCE_MS = 1500 };

/* Returns the present page of a registry, which may share parts with `previous`. */
static inline struct metrics_page *blank_page_of(struct registry *r, struct metrics_page *previous)
{
    registry_prepare(r);
    return metrics_page_new(r, (struct exposition){.created_ms = BLANK_PAGE_SINCE_MS}, previous,
                            BLANK_PAGE_MAX, NULL);
}

/* Publishes the metrics of an exporter that has no data. */
static inline void blank_page_publish(struct page_store *s)
{
    struct registry *r = registry_new(NULL, &registry_options_default, 1);

    REGISTRY_SET(r, OWN_UP, 1);
    struct metrics_page *page = blank_page_of(r, NULL);

    page_store_publish_metrics(s, page);
    metrics_page_drop(page);
    registry_free(r);
}
