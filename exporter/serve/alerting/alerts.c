/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/alerting/alerts.h"

const char alert_replica_label[] = "instance";

static bool labels_equal(const void *item, const void *key)
{
    return label_list_compare(&((const struct alert *)item)->labels, key) == 0;
}

void alerts_init(struct alerts *a, uint64_t seed)
{
    *a = (struct alerts){.by_labels = MAP_INIT(labels_equal), .seed = seed};
}

static uint64_t hash(const struct alerts *a, const struct label_list *labels)
{
    uint64_t sum = a->seed;

    for (size_t i = 0; i < labels->count; i++) {
        sum = map_hash(labels->items[i].name, strlen(labels->items[i].name), sum);
        sum = map_hash(labels->items[i].value, strlen(labels->items[i].value), sum);
    }
    return sum;
}

static void alert_free(struct alert *alert)
{
    label_list_release(&alert->labels);
    free(alert->texts);
    free(alert);
}

void alerts_release(struct alerts *a)
{
    for (struct alert *next, *alert = a->first; alert; alert = next) {
        next = alert->next;
        alert_free(alert);
    }
    map_release(&a->by_labels);
    *a = (struct alerts){.first = NULL};
}

/* A copy whose texts are its own. */
static void own_labels(struct alert *alert, const struct label_list *labels)
{
    size_t len = 1;
    char *at;

    for (size_t i = 0; i < labels->count; i++)
        len += strlen(labels->items[i].name) + strlen(labels->items[i].value) + 2;
    alert->texts = at = xmalloc(len);
    alert->labels = label_list_copy(labels);
    for (size_t i = 0; i < labels->count; i++) {
        struct label_pair *pair = &alert->labels.items[i];

        pair->name = at;
        at = stpcpy(at, labels->items[i].name) + 1;
        pair->value = at;
        at = stpcpy(at, labels->items[i].value) + 1;
    }
}

/* The alert of these labels, pending from now if there is none; NULL if there are too many. */
static struct alert *alerts_get(struct alerts *a, const struct alert_rule *rule,
                                const struct label_list *labels, const struct alert_moment *now)
{
    struct alert *alert = map_get(&a->by_labels, hash(a, labels), labels);

    if (alert)
        return alert;
    if (a->count == ALERTS_MAX) {
        a->overflow++;
        return NULL;
    }
    alert = xcalloc(1, sizeof(*alert));
    own_labels(alert, labels);
    alert->rule = rule;
    alert->since_ms = now->steady_ms;
    alert->gone_ms = INT64_MAX;
    alert->next = a->first;
    a->first = alert;
    a->count++;
    map_add(&a->by_labels, hash(a, &alert->labels), alert);
    return alert;
}

static void change(struct alert *alert, enum alert_state state, const struct alert_moment *now)
{
    alert->state = state;
    alert->changed_ms = now->steady_ms;
    if (state == ALERT_FIRING)
        alert->starts_ms = now->clock_ms;
    if (state == ALERT_RESOLVED)
        alert->ends_ms = now->clock_ms;
}

/* Its rule says so. */
static void confirm(struct alert *alert, double value, const struct alert_moment *now)
{
    alert->value = value;
    alert->gone_ms = INT64_MAX;
    if (alert->state == ALERT_RESOLVED) {
        change(alert, ALERT_PENDING, now);
        alert->since_ms = now->steady_ms;
        alert->adopted = false;
    }
    if (alert->state == ALERT_PENDING && now->steady_ms - alert->since_ms >= alert->rule->for_ms)
        change(alert, ALERT_FIRING, now);
}

/* Its rule does not say so any more. True if nobody is to be told of it. */
static bool miss(struct alert *alert, const struct alert_moment *now)
{
    const struct alert_rule *rule = alert->rule;
    /* What looks far back says nothing until it has seen as much as before the start. */
    bool early = alert->adopted && rule->window_ms > ALERT_WINDOW_MIN_MS &&
                 now->known_ms < earlier_of(rule->window_ms, ALERT_WINDOW_MAX_MS);

    if (alert->state == ALERT_PENDING)
        return true;
    if (alert->state == ALERT_RESOLVED)
        return now->steady_ms - alert->changed_ms >= ALERT_TOLD_MS;
    if (alert->gone_ms == INT64_MAX)
        alert->gone_ms = now->steady_ms;
    if (!now->incomplete && !early && now->steady_ms - alert->gone_ms >= rule->keep_ms)
        change(alert, ALERT_RESOLVED, now);
    return false;
}

void alerts_update(struct alerts *a, const struct alert_rule *rule, const struct vector *v,
                   const struct label_list *more, const struct alert_moment *now)
{
    a->updates++;
    for (size_t i = 0; i < v->count; i++) {
        struct label_list labels = label_list_copy(&v->items[i].labels);

        label_list_set(&labels, alert_replica_label, "");
        for (size_t n = 0; n < more->count; n++) {
            if (*label_list_get(&labels, more->items[n].name) == '\0')
                label_list_set(&labels, more->items[n].name, more->items[n].value);
        }
        label_list_set(&labels, "alertname", rule->name);
        label_list_set(&labels, "severity", rule->severity);
        label_list_set(&labels, "product", alert_product);
        struct alert *alert = alerts_get(a, rule, &labels, now);

        if (alert) {
            alert->seen = a->updates;
            snprintf(alert->replica, sizeof(alert->replica), "%s",
                     label_list_get(&v->items[i].labels, alert_replica_label));
            confirm(alert, v->items[i].value, now);
        }
        label_list_release(&labels);
    }
    for (struct alert **at = &a->first; *at;) {
        struct alert *alert = *at;

        if (alert->rule != rule || alert->seen == a->updates || !miss(alert, now)) {
            at = &alert->next;
            continue;
        }
        *at = alert->next;
        a->count--;
        map_take(&a->by_labels, hash(a, &alert->labels), &alert->labels);
        alert_free(alert);
    }
}

void alerts_adopt(struct alerts *a, const struct alert_rule *rule, const struct label_list *labels,
                  int64_t starts_ms, const struct alert_moment *now)
{
    struct alert *alert = alerts_get(a, rule, labels, now);

    if (!alert || alert->state != ALERT_PENDING)
        return;
    change(alert, ALERT_FIRING, now);
    alert->adopted = true;
    alert->starts_ms = starts_ms;
}
