/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/alerting/alert_batch.h"

#include <stdatomic.h>

#include "metrics/base/timestamp.h"

enum {
    TEXT_MAX_BYTES = 16 * 1024, /* Of an annotation. */
    MS_LEN = 40,
};

/* ---- what is told ---- */

/* The text of a rule; what cannot be filled in stays out, and the rest counts. */
static void add_text(cJSON *annotations, const char *name, const struct alert_text *about,
                     const char *text)
{
    CLEANUP(strbuf_release) struct strbuf filled = STRBUF_INIT(TEXT_MAX_BYTES);
    struct error ignored;

    if (alert_text_write(about, text, &filled, &ignored))
        cJSON_AddStringToObject(annotations, name, filled.data);
}

/* To the millisecond: an alert that is resolved in the second in which it began ends after it. */
static void add_time(cJSON *json, const char *name, int64_t ms)
{
    char seconds[32];
    char text[MS_LEN];

    format_timestamp(ms, seconds);
    snprintf(text, sizeof(text), "%.19s.%03dZ", seconds, (int)((ms % 1000 + 1000) % 1000));
    cJSON_AddStringToObject(json, name, text);
}

cJSON *alert_json(const struct alert *alert, const struct alert_batch_settings *settings)
{
    CLEANUP(free_cleanup) char *page = NULL;
    cJSON *json = cJSON_CreateObject();
    cJSON *labels = cJSON_AddObjectToObject(json, "labels");
    cJSON *annotations = cJSON_AddObjectToObject(json, "annotations");
    const struct alert_rule *rule = alert->rule;
    bool known = *settings->page_url != '\0';
    CLEANUP(label_list_release) struct label_list known_as = label_list_copy(&alert->labels);
    const struct alert_text about = {
        .labels = &known_as,
        .value = alert->value,
        .store = settings->store,
        .now_ms = settings->clock_ms,
    };

    label_list_set(&known_as, alert_replica_label, alert->replica);
    for (size_t i = 0; i < alert->labels.count; i++)
        cJSON_AddStringToObject(labels, alert->labels.items[i].name, alert->labels.items[i].value);
    if (asprintf(&page, "%s%s", known ? settings->page_url : rule->page_origin, rule->page) < 0)
        memory_exhausted(0);
    add_text(annotations, "summary", &about, rule->summary);
    add_text(annotations, "description", &about, rule->description);
    add_text(annotations, "runbook_url", &about, rule->runbook_url);
    add_text(annotations, "dashboard_url", &about, rule->dashboard_url);
    add_text(annotations, "page_url", &about, page);
    add_time(json, "startsAt", alert->starts_ms);
    add_time(json, "endsAt",
             alert->state == ALERT_RESOLVED ? alert->ends_ms : settings->clock_ms + ALERT_LIVES_MS);
    return json;
}

static void add_request(struct alert_batch *b, struct strbuf *text, size_t alerts)
{
    struct alert_request *request;

    strbuf_addc(text, ']');
    b->requests = xreallocarray(b->requests, b->count + 1, sizeof(*b->requests));
    request = &b->requests[b->count++];
    request->alerts = alerts;
    request->json = strbuf_take(text, &request->len);
}

struct alert_batch *alert_batch_new(const struct alerts *a,
                                    const struct alert_batch_settings *settings)
{
    struct alert_batch *b = xcalloc(1, sizeof(*b));
    /* One alert more, and the end, fit in any case. */
    struct strbuf text = STRBUF_INIT(2 * ALERT_REQUEST_MAX_BYTES);
    size_t count = 0;

    atomic_init(&b->holders, 1);
    for (const struct alert *alert = a->first; alert; alert = alert->next) {
        if (alert->state == ALERT_PENDING)
            continue;
        CLEANUP(json_cleanup) cJSON *json = alert_json(alert, settings);
        char *printed = cJSON_PrintUnformatted(json);

        if (!printed)
            memory_exhausted(ALERT_REQUEST_MAX_BYTES);
        if (count > 0 && text.len + strlen(printed) > ALERT_REQUEST_MAX_BYTES) {
            add_request(b, &text, count);
            count = 0;
        }
        strbuf_addc(&text, count++ == 0 ? '[' : ',');
        strbuf_adds(&text, printed);
        cJSON_free(printed);
        b->alerts++;
    }
    if (count > 0)
        add_request(b, &text, count);
    strbuf_release(&text);
    return b;
}

struct alert_batch *alert_batch_hold(struct alert_batch *b)
{
    atomic_fetch_add(&b->holders, 1);
    return b;
}

void alert_batch_drop(struct alert_batch *b)
{
    if (!b || atomic_fetch_sub(&b->holders, 1) > 1)
        return;
    for (size_t i = 0; i < b->count; i++)
        free(b->requests[i].json);
    free(b->requests);
    free(b);
}

/* ---- what was told before ---- */

/* What Alertmanager merges is what we would send: a label more, and another one sends it. */
static bool is_ours(const struct alert_rule *rule, const struct label_list *labels,
                    const struct label_list *more)
{
    static const char *const common[] = {"alertname", "severity", "product"};
    size_t known = 0;

    for (size_t i = 0; i < more->count; i++) {
        if (strcmp(label_list_get(labels, more->items[i].name), more->items[i].value) != 0)
            return false;
    }
    for (size_t i = 0; alert_plane[i]; i++) {
        if (strcmp(label_list_get(labels, alert_plane[i]), label_list_get(more, alert_plane[i])) !=
            0)
            return false;
    }
    if (strcmp(label_list_get(labels, "severity"), rule->severity) != 0 ||
        strcmp(label_list_get(labels, "product"), alert_product) != 0)
        return false;
    for (size_t i = 0; i < labels->count; i++) {
        const char *name = labels->items[i].name;
        bool found = *label_list_get(more, name) != '\0';

        for (size_t n = 0; n < ARRAY_LEN(common); n++)
            found |= strcmp(name, common[n]) == 0;
        for (size_t n = 0; n < rule->labels.count; n++)
            found |=
                strcmp(name, rule->labels.items[n]) == 0 && strcmp(name, alert_replica_label) != 0;
        known += found;
    }
    return known == labels->count;
}

int alert_batch_adopt(struct alerts *a, const struct alert_rules *rules,
                      const struct label_list *more, const char *json,
                      const struct alert_moment *now)
{
    struct error ignored;
    CLEANUP(json_cleanup) cJSON *answer = json_parse(json, strlen(json), NULL, &ignored);
    const cJSON *one, *label;
    int count = 0;

    if (!cJSON_IsArray(answer))
        return -1;
    cJSON_ArrayForEach (one, answer) {
        const cJSON *texts = json_object_or_null(json_get(one, "labels"));
        const struct alert_rule *rule = alert_rules_find(rules, json_str(texts, "alertname", ""));
        struct label_list labels = {NULL, 0};
        int64_t starts_ms;

        cJSON_ArrayForEach (label, texts) {
            if (cJSON_IsString(label))
                label_list_set(&labels, label->string, label->valuestring);
        }
        if (rule && is_ours(rule, &labels, more) &&
            parse_timestamp(json_str(one, "startsAt", ""), &starts_ms)) {
            alerts_adopt(a, rule, &labels, starts_ms, now);
            count++;
        }
        label_list_release(&labels);
    }
    return count;
}
