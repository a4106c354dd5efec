/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/watch_health.h"

#include <ctype.h>

#include "metrics/model/kind.h"

enum { RESOURCE_MAX = 512 };

void resource_name(struct strbuf *out, const char *kind, const char *group)
{
    for (const char *c = kind; *c != '\0'; c++)
        strbuf_addc(out, (char)tolower((unsigned char)*c));
    if (*group != '\0')
        strbuf_addf(out, ".%s", group);
}

static void name_kind(struct strbuf *out, const char *api_version, const char *kind)
{
    CLEANUP(free_cleanup) char *group = xmemdup0(api_version, api_group_len(api_version));

    resource_name(out, kind, group);
}

void reflector_name(struct strbuf *out, const struct reflector *f)
{
    name_kind(out, f->objects.settings ? f->objects.settings : f->api_version, f->kind);
}

void missing_kind_name(struct strbuf *out, const struct missing_kind *k)
{
    name_kind(out, k->api_version, k->kind);
}

/* The sum over the reflectors of one resource. */
struct resource_health {
    bool synced;
    bool polled;
    int64_t last_event_ms;
    uint64_t rejected;
    uint64_t too_large;
    struct watch_counts counts;
};

static void add_reflector(struct resource_health *sum, const struct reflector *f)
{
    /* A single failure is normal; from the second in a row on it is logged, and shown here. */
    sum->synced = sum->synced && f->synced && !f->failure.warned;
    sum->polled = sum->polled || f->watch.polled;
    if (f->last_event_ms > sum->last_event_ms)
        sum->last_event_ms = f->last_event_ms;
    sum->rejected += f->objects.rejected;
    sum->too_large += f->objects.too_large;
    sum->counts.lists += f->watch.counts.lists;
    sum->counts.list_failures += f->watch.counts.list_failures;
    sum->counts.audits += f->watch.counts.audits;
    sum->counts.divergences += f->watch.counts.divergences;
    for (size_t i = 0; i < END_REASON_COUNT; i++)
        sum->counts.restarts[i] += f->watch.counts.restarts[i];
}

static void fill_resource(const struct resource_health *sum, const char *resource,
                          struct registry *registry)
{
    REGISTRY_SET(registry, OWN_WATCH_SYNCED, sum->synced ? 1 : 0, resource);
    REGISTRY_SET(registry, OWN_WATCH_POLLED, sum->polled ? 1 : 0, resource);
    REGISTRY_SET(registry, OWN_LIST_REQUESTS, (double)sum->counts.lists, resource);
    REGISTRY_SET(registry, OWN_LIST_FAILURES, (double)sum->counts.list_failures, resource);
    REGISTRY_SET(registry, OWN_AUDITS, (double)sum->counts.audits, resource);
    REGISTRY_SET(registry, OWN_AUDIT_DIVERGENCES, (double)sum->counts.divergences, resource);
    REGISTRY_SET(registry, OWN_DECODE_ERRORS, (double)sum->rejected, resource);
    REGISTRY_SET(registry, OWN_OBJECTS_REJECTED, (double)sum->too_large, resource);
    if (sum->last_event_ms > 0)
        REGISTRY_SET(registry, OWN_WATCH_LAST_EVENT, (double)sum->last_event_ms / 1000, resource);
    for (size_t i = 0; i < END_REASON_COUNT; i++) {
        if (sum->counts.restarts[i] > 0)
            REGISTRY_SET(registry, OWN_WATCH_RESTARTS, (double)sum->counts.restarts[i], resource,
                         end_reason_name((enum end_reason)i));
    }
}

static bool same_resource(const struct reflector *a, const struct reflector *b)
{
    return a->objects.settings == b->objects.settings && strcmp(a->kind, b->kind) == 0 &&
           strcmp(a->api_version, b->api_version) == 0;
}

static void fill_unserved(const struct kube_source *source, struct registry *registry)
{
    for (size_t i = 0; i < kube_source_unserved_count(source); i++) {
        const struct unserved *u = kube_source_unserved(source, i);

        if (u->answer == DISCOVERY_ABSENT)
            REGISTRY_SET(registry, OWN_KIND_NOT_SERVED, 1, u->api_version, u->kind);
    }
}

static void fill_late(const struct kube_source *source, struct registry *registry)
{
    CLEANUP(strbuf_release) struct strbuf resource = STRBUF_INIT(RESOURCE_MAX);

    for (size_t i = 0; i < kube_source_missing_count(source); i++) {
        const struct missing_kind *k = kube_source_missing(source, i);
        const struct reflector *r = k->reflector;

        if (!k->late)
            continue;
        strbuf_reset(&resource);
        missing_kind_name(&resource, k);
        if (!r)
            REGISTRY_SET(registry, OWN_WATCH_SYNCED, 0, resource.data);
        REGISTRY_SET(registry, OWN_WATCH_LATE, 1, resource.data,
                     !r                           ? "undiscovered"
                     : r->failure.text[0] == '\0' ? "waiting"
                                                  : end_reason_name(r->last_end));
    }
}

static void clear(struct registry *registry)
{
    static const enum own_family families[] = {
        OWN_WATCH_SYNCED,     OWN_WATCH_LATE,    OWN_WATCH_LAST_EVENT,  OWN_WATCH_RESTARTS,
        OWN_LIST_REQUESTS,    OWN_LIST_FAILURES, OWN_DECODE_ERRORS,     OWN_KIND_NOT_SERVED,
        OWN_OBJECTS_REJECTED, OWN_AUDITS,        OWN_AUDIT_DIVERGENCES, OWN_WATCH_POLLED,
    };

    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        registry_clear_family(registry, families[i]);
}

/* True if one before it reads the same resource: mostly its neighbour, for another namespace. */
static bool is_repeated(const struct kube_source *source, size_t at)
{
    const struct reflector *r = kube_source_reflector(source, at);
    bool repeated = false;

    for (size_t i = at; i > 0 && !repeated; i--)
        repeated = same_resource(r, kube_source_reflector(source, i - 1));
    return repeated;
}

void watch_health_fill(const struct kube_source *source, struct registry *registry)
{
    CLEANUP(strbuf_release) struct strbuf resource = STRBUF_INIT(RESOURCE_MAX);
    size_t count = kube_source_count(source);

    clear(registry);
    REGISTRY_SET(registry, OWN_WATCHES, (double)count);
    for (size_t i = 0; i < count; i++) {
        const struct reflector *first = kube_source_reflector(source, i);
        struct resource_health sum = {.synced = true};

        if (is_repeated(source, i))
            continue;
        for (size_t k = i; k < count; k++) {
            const struct reflector *r = kube_source_reflector(source, k);

            if (same_resource(first, r))
                add_reflector(&sum, r);
        }
        strbuf_reset(&resource);
        reflector_name(&resource, first);
        fill_resource(&sum, resource.data, registry);
    }
    fill_unserved(source, registry);
    fill_late(source, registry);
}
