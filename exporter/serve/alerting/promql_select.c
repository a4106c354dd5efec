/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/alerting/promql_select.h"

#include <math.h>

enum {
    LOOKBACK_MS = 5 * 60 * 1000, /* How old the number of an instant may be. */
    PERCENT_OF_STEP = 110,       /* A window that begins nearer to a number is full. */
};

/* The numbers of one series in a window that ends with `until_ms`. */
struct window {
    int64_t from_ms;
    int64_t until_ms;
    struct point *points; /* Owned. */
    size_t count;
};

/* Copy what the window sees; the end of a series is no number. */
static void window_fill(struct window *w, const struct stored_series *series)
{
    w->count = 0;
    w->points = xreallocarray(w->points, series->count + 1, sizeof(struct point));
    for (size_t i = 0; i < series->count; i++) {
        const struct point *p = &series->points[i];

        if (p->at_ms >= w->from_ms && p->at_ms <= w->until_ms && !p->gone)
            w->points[w->count++] = *p;
    }
}

static bool selects(const struct promql *selector, const struct stored_series *series)
{
    for (size_t i = 0; i < selector->matcher_count; i++) {
        if (!promql_matches(&selector->matchers[i], &series->labels))
            return false;
    }
    return true;
}

struct vector select_instant(const struct promql *p, const struct series_store *store,
                             int64_t now_ms)
{
    int64_t at_ms = now_ms - p->offset_ms;
    struct vector out = {.scalar = false};
    size_t count;
    struct stored_series *const *series = series_store_get(store, p->text, &count);

    for (size_t i = 0; i < count; i++) {
        const struct point *last = NULL;

        for (size_t n = 0; n < series[i]->count && series[i]->points[n].at_ms <= at_ms; n++)
            last = &series[i]->points[n];
        if (last && !last->gone && last->at_ms >= at_ms - LOOKBACK_MS && selects(p, series[i]))
            vector_add(&out, label_list_copy(&series[i]->labels), last->value);
    }
    return out;
}

/*
 * How much a counter grew, as Prometheus reckons: what is between first and last number, resets
 * added, and carried on to the ends of the window where these are near.
 */
static double increase(const struct window *w)
{
    const struct point *first = &w->points[0];
    const struct point *last = &w->points[w->count - 1];
    double sum = last->value - first->value;
    double sampled = (double)(last->at_ms - first->at_ms);
    double step = sampled / (double)(w->count - 1);
    double before = (double)(first->at_ms - w->from_ms);
    double after = (double)(w->until_ms - last->at_ms);
    double near = step * PERCENT_OF_STEP / 100;

    for (size_t i = 1; i < w->count; i++) {
        if (w->points[i].value < w->points[i - 1].value)
            sum += w->points[i - 1].value;
    }
    /* A counter is never below zero, so it began no earlier than where it would have been that. */
    if (sum > 0 && first->value >= 0)
        before = fmin(before, sampled * (first->value / sum));
    return sum *
           (sampled + (before < near ? before : step / 2) + (after < near ? after : step / 2)) /
           sampled;
}

/* NAN where the window does not have enough of it. */
static double range_value(enum promql_op op, const struct window *w)
{
    double value = w->count > 0 ? w->points[w->count - 1].value : NAN;

    if (op == PROMQL_INCREASE || op == PROMQL_RATE) {
        if (w->count < 2)
            return NAN;
        value = increase(w);
        return op == PROMQL_RATE ? value * 1000 / (double)(w->until_ms - w->from_ms) : value;
    }
    if (op == PROMQL_CHANGES && w->count > 0)
        value = 0;
    for (size_t i = 0; i < w->count; i++) {
        if (op == PROMQL_LOWEST)
            value = fmin(value, w->points[i].value);
        else if (op == PROMQL_HIGHEST)
            value = fmax(value, w->points[i].value);
        else if (op == PROMQL_CHANGES && i > 0)
            value += w->points[i].value != w->points[i - 1].value;
    }
    return value;
}

struct vector select_range(enum promql_op op, const struct promql *p,
                           const struct series_store *store, int64_t now_ms)
{
    struct window w = {.until_ms = now_ms - p->offset_ms};
    struct vector out = {.scalar = false};
    size_t count;
    struct stored_series *const *series = series_store_get(store, p->text, &count);

    w.from_ms = w.until_ms - p->range_ms;
    for (size_t i = 0; i < count; i++) {
        if (!selects(p, series[i]))
            continue;
        window_fill(&w, series[i]);
        double value = range_value(op, &w);

        if (w.count > (op == PROMQL_INCREASE || op == PROMQL_RATE))
            vector_add(&out, label_list_copy(&series[i]->labels), value);
    }
    free(w.points);
    return out;
}

struct vector select_absent(const struct promql *p, const struct series_store *store,
                            int64_t now_ms)
{
    struct vector found = select_range(PROMQL_LAST, p, store, now_ms);
    struct vector out = {.scalar = false};
    struct label_list labels = {NULL, 0};

    if (found.count == 0) {
        for (size_t i = 0; i < p->matcher_count; i++) {
            if (!p->matchers[i].regex && !p->matchers[i].negative)
                label_list_set(&labels, p->matchers[i].label, p->matchers[i].value);
        }
        vector_add(&out, labels, 1);
    }
    vector_release(&found);
    return out;
}
