/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/watch_health.h"

#include <ctype.h>

#include "metrics/model/connector.h"

enum { RESOURCE_MAX = 512 };

#define OWN "karmada_policy_exporter_"

void resource_name(struct strbuf *out, const char *kind, const char *group)
{
    for (const char *c = kind; *c != '\0'; c++)
        strbuf_addc(out, (char)tolower((unsigned char)*c));
    if (*group != '\0')
        strbuf_addf(out, ".%s", group);
}

static void name_reflector(struct strbuf *out, const struct reflector *f)
{
    size_t len = strcspn(f->api_version, "/");
    CLEANUP(free_cleanup)
    char *group = xmemdup0(f->api_version, f->api_version[len] == '/' ? len : 0);

    resource_name(out, f->kind, f->objects.settings ? SETTING_GROUP : group);
}

/* What the reflectors of one resource say together. */
struct resource_health {
    bool synced;
    int64_t last_event_ms;
    uint64_t rejected;
    struct watch_counts counts;
};

static void add_reflector(struct resource_health *sum, const struct reflector *f)
{
    /* One failure is part of life; from the second in a row on it is told of, and shown. */
    sum->synced = sum->synced && f->synced && !f->warned;
    if (f->last_event_ms > sum->last_event_ms)
        sum->last_event_ms = f->last_event_ms;
    sum->rejected += f->objects.rejected;
    sum->counts.lists += f->watch.counts.lists;
    sum->counts.list_failures += f->watch.counts.list_failures;
    for (size_t i = 0; i < END_REASON_COUNT; i++)
        sum->counts.restarts[i] += f->watch.counts.restarts[i];
}

static void fill_resource(const struct resource_health *sum, const char *resource,
                          struct series *series)
{
    SERIES_SET(series, OWN "watch_synced", sum->synced ? 1 : 0, resource);
    SERIES_SET(series, OWN "list_requests_total", (double)sum->counts.lists, resource);
    SERIES_SET(series, OWN "list_request_failures_total", (double)sum->counts.list_failures,
               resource);
    SERIES_SET(series, OWN "decode_errors_total", (double)sum->rejected, resource);
    if (sum->last_event_ms > 0)
        SERIES_SET(series, OWN "watch_last_event_timestamp_seconds",
                   (double)sum->last_event_ms / 1000, resource);
    for (size_t i = 0; i < END_REASON_COUNT; i++) {
        if (sum->counts.restarts[i] > 0)
            SERIES_SET(series, OWN "watch_restarts_total", (double)sum->counts.restarts[i],
                       resource, end_reason_name((enum end_reason)i));
    }
}

/* Reflectors of one resource, one per namespace, stand together. */
static bool same_resource(const struct reflector *a, const struct reflector *b)
{
    return a->objects.settings == b->objects.settings && strcmp(a->kind, b->kind) == 0 &&
           strcmp(a->api_version, b->api_version) == 0;
}

static void fill_unserved(const struct kube_source *source, struct series *series)
{
    for (size_t i = 0; i < kube_source_unserved_count(source); i++) {
        const struct unserved *u = kube_source_unserved(source, i);

        if (u->absent)
            SERIES_SET(series, OWN "selected_kind_not_served", 1, u->api_version, u->kind);
    }
}

static void clear(struct series *series)
{
    static const char *const names[] = {
        OWN "watch_synced",
        OWN "watch_last_event_timestamp_seconds",
        OWN "watch_restarts_total",
        OWN "list_requests_total",
        OWN "list_request_failures_total",
        OWN "decode_errors_total",
        OWN "selected_kind_not_served",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        series_clear(series, names[i]);
}

void watch_health_fill(const struct kube_source *source, struct series *series)
{
    CLEANUP(strbuf_release) struct strbuf resource = STRBUF_INIT(RESOURCE_MAX);
    size_t count = kube_source_count(source);

    clear(series);
    SERIES_SET(series, OWN "watches", (double)count);
    for (size_t i = 0; i < count;) {
        const struct reflector *first = kube_source_reflector(source, i);
        struct resource_health sum = {.synced = true};

        for (; i < count && same_resource(first, kube_source_reflector(source, i)); i++)
            add_reflector(&sum, kube_source_reflector(source, i));
        strbuf_reset(&resource);
        name_reflector(&resource, first);
        fill_resource(&sum, resource.data, series);
    }
    fill_unserved(source, series);
}
