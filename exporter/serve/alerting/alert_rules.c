/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/alerting/alert_rules.h"

#include "exporter/serve/alerting/alert_table.h"

#define RECORD_ROW(name_, interval, expression_)                                                   \
    {{.name = (name_), .interval_ms = (interval)*1000}, expression_},
#define ALERT_ROW(name_, severity_, interval, for_, keep, runbook, expression_, summary_, board,   \
                  description_, origin, page_)                                                     \
    {{.name = (name_),                                                                             \
      .severity = (severity_),                                                                     \
      .interval_ms = (interval)*1000,                                                              \
      .for_ms = (for_)*1000,                                                                       \
      .keep_ms = (keep)*1000,                                                                      \
      .summary = (summary_),                                                                       \
      .description = (description_),                                                               \
      .runbook_url = (runbook),                                                                    \
      .dashboard_url = (board),                                                                    \
      .page_origin = (origin),                                                                     \
      .page = (page_)},                                                                            \
     expression_},

static const struct {
    struct alert_rule rule;
    const char *expression;
} rows[] = {ALERT_TABLE(RECORD_ROW, ALERT_ROW)};

const char *const alert_plane[] = {ALERT_PLANE, NULL};
const char alert_product[] = ALERT_PRODUCT;
const char alert_job[] = ALERT_JOB;

/* The widest window of the selectors, and of what is recorded that they look at. */
struct width {
    const struct alert_rules *rules;
    int64_t ms;
};

static void widen(void *context, const struct promql *selector)
{
    struct width *w = context;
    int64_t ms = selector->range_ms + selector->offset_ms;

    /* That it answers says the same of a day as of a moment. */
    if (strcmp(selector->text, "up") == 0)
        return;
    for (size_t i = 0; i < w->rules->count; i++) {
        const struct alert_rule *recorded = &w->rules->items[i];

        if (!recorded->severity && strcmp(recorded->name, selector->text) == 0)
            ms += recorded->window_ms;
    }
    if (w->ms < ms)
        w->ms = ms;
}

static void add_name(struct name_list *names, char *name)
{
    names->items = xreallocarray(names->items, names->count + 1, sizeof(char *));
    names->items[names->count++] = name;
}

/* All that it aggregates by or sets. */
static void add_names(const struct promql *p, struct name_list *out)
{
    for (size_t i = 0; p->kind == PROMQL_CALL && i < p->names.count; i++)
        add_name(out, p->names.items[i]);
    if (p->kind == PROMQL_CALL && p->op == PROMQL_LABEL_REPLACE)
        add_name(out, p->parts[1]->text);
    for (size_t i = 0; i < p->part_count; i++)
        add_names(p->parts[i], out);
}

bool alert_rules_load(struct alert_rules *out, struct error *err)
{
    *out = (struct alert_rules){.items = xcalloc(ARRAY_LEN(rows), sizeof(struct alert_rule))};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct alert_rule *rule = &out->items[out->count];
        struct width width = {.rules = out};

        *rule = rows[i].rule;
        rule->expression = promql_parse(rows[i].expression, err);
        if (!rule->expression) {
            alert_rules_release(out);
            return fail_in(err, "the rule %s", rows[i].rule.name);
        }
        promql_each_selector(rule->expression, widen, &width);
        rule->window_ms = width.ms;
        add_names(rule->expression, &rule->labels);
        out->count++;
    }
    return true;
}

void alert_rules_release(struct alert_rules *r)
{
    for (size_t i = 0; i < r->count; i++) {
        promql_free(r->items[i].expression);
        free(r->items[i].labels.items);
    }
    free(r->items);
    *r = (struct alert_rules){.items = NULL};
}

const struct alert_rule *alert_rules_find(const struct alert_rules *r, const char *name)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->items[i].severity && strcmp(r->items[i].name, name) == 0)
            return &r->items[i];
    }
    return NULL;
}

static void want(void *store, const struct promql *selector)
{
    series_store_want(store, selector->text, selector->range_ms + selector->offset_ms);
}

/* The families that a text of an alert asks about, which have no window. */
static void want_queries(const char *text, struct series_store *store)
{
    static const char prefix[] = "karmada_";

    for (const char *at = strstr(text, prefix); at; at = strstr(at + 1, prefix)) {
        CLEANUP(free_cleanup)
        char *family = xmemdup0(at, strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789"));

        series_store_want(store, family, 0);
    }
}

void alert_rules_want(const struct alert_rules *r, struct series_store *store)
{
    for (size_t i = 0; i < r->count; i++) {
        promql_each_selector(r->items[i].expression, want, store);
        if (r->items[i].severity)
            want_queries(r->items[i].description, store);
    }
}
