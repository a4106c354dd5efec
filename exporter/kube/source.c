/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/source.h"

#include "exporter/kube/discoverer.h"
#include "exporter/kube/followed.h"
#include "metrics/model/connector.h"

struct unserved_list {
    struct unserved *items;
    size_t count;
};

struct kube_source {
    struct follow_context context;
    const struct engine *engine;
    struct discoverer discoverer;
    struct reflector **reflectors; /* The fixed kinds', then the templates'. */
    size_t count;
    size_t fixed_count;
    struct unserved_list unserved;
    uint64_t selected_version; /* Of what the reflectors are up to date with. */
    uint64_t discovery_version;
    bool synced_once;
    bool ready;
    struct watch_counts past;
};

static struct reflector *add_reflector(struct kube_source *s, const struct reflector_spec *spec)
{
    s->reflectors = xreallocarray(s->reflectors, s->count + 1, sizeof(struct reflector *));
    s->reflectors[s->count] = reflector_new(&s->context, spec);
    s->reflectors[s->count]->wanted = true;
    return s->reflectors[s->count++];
}

static void add_fixed(struct kube_source *s, const struct fixed_kind *fixed, const char *ns)
{
    struct reflector *f = add_reflector(s, &(struct reflector_spec){
                                               .api_version = fixed->api_version,
                                               .kind = fixed->kind,
                                               .resource = fixed->resource,
                                               .ns = ns,
                                               .field_selector = fixed->field_selector,
                                               .unscoped = fixed->unscoped,
                                           });

    f->required = fixed->required;
}

static void add_all_fixed(struct kube_source *s)
{
    const struct namespace_filter *filter = s->context.filter;

    for (size_t i = 0; i < FIXED_KIND_COUNT; i++) {
        const struct fixed_kind *fixed = &fixed_kinds[i];

        if (!fixed->namespaced || filter->namespace_count == 0) {
            if (fixed->namespaced || fixed->unscoped || namespace_filter_allows(filter, ""))
                add_fixed(s, fixed, NULL);
            continue;
        }
        for (size_t k = 0; k < filter->namespace_count; k++) {
            if (namespace_filter_allows(filter, filter->namespaces[k]))
                add_fixed(s, fixed, filter->namespaces[k]);
        }
    }
    s->fixed_count = s->count;
}

struct kube_source *kube_source_new(const struct kube_settings *settings)
{
    struct kube_source *s = xcalloc(1, sizeof(*s));

    s->context = (struct follow_context){
        .store = settings->store,
        .transport = settings->transport,
        .filter = settings->filter,
        .log = settings->log,
        .now_ms = settings->now_ms,
        .clock_ms = settings->clock_ms,
        .random = settings->seed,
        .streaming_lists = settings->streaming_lists,
    };
    list_limiter_init(&s->context.gate, settings->now_ms);
    s->engine = settings->engine;
    discoverer_init(&s->discoverer, &s->context);
    add_all_fixed(s);
    return s;
}

static void release_unserved(struct unserved_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].api_version);
        free(list->items[i].kind);
    }
    free(list->items);
}

void kube_source_free(struct kube_source *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        reflector_free(s->reflectors[i]);
    free(s->reflectors);
    release_unserved(&s->unserved);
    discoverer_release(&s->discoverer);
    free(s);
}

/* ---- which kinds ---- */

static const char *const whole[] = {NULL};

/* The namespaces to follow a resource in, one reflector each. */
static const char *const *namespaces_of(const struct kube_source *s,
                                        const struct api_resource *resource, size_t *count)
{
    const struct namespace_filter *filter = s->context.filter;

    *count = 1;
    if (!resource->namespaced || filter->namespace_count == 0)
        return whole;
    *count = filter->namespace_count;
    return filter->namespaces;
}

static struct reflector *find_reflector(const struct kube_source *s,
                                        const struct reflector_spec *spec)
{
    for (size_t i = s->fixed_count; i < s->count; i++) {
        struct reflector *f = s->reflectors[i];

        if (f->settings == spec->settings && strcmp(f->kind, spec->kind) == 0 &&
            strcmp(f->api_version, spec->api_version) == 0 &&
            strcmp(f->resource, spec->resource) == 0 &&
            strcmp(f->ns ? f->ns : "", spec->ns ? spec->ns : "") == 0)
            return f;
    }
    return NULL;
}

static void want(struct kube_source *s, const struct reflector_spec *spec)
{
    struct reflector *f = find_reflector(s, spec);

    if (!f)
        f = add_reflector(s, spec);
    f->wanted = true;
}

static void want_served(struct kube_source *s, const struct api_resource *resource)
{
    size_t count;
    const char *const *namespaces = namespaces_of(s, resource, &count);

    for (size_t i = 0; i < count; i++) {
        struct reflector_spec spec = {
            .api_version = resource->api_version,
            .kind = resource->kind,
            .resource = resource->resource,
            .ns = namespaces[i],
            .metadata_only = !connector_manages(resource->api_version),
        };

        if (!namespace_filter_allows(s->context.filter, namespaces[i] ? namespaces[i] : "") &&
            (namespaces[i] || !resource->namespaced))
            continue;
        want(s, &spec);
    }
}

static void want_settings(struct kube_source *s)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        want(s, &setting_specs[i]);
}

static bool was_absent(const struct unserved_list *list, const struct unserved *u)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].kind, u->kind) == 0 &&
            strcmp(list->items[i].api_version, u->api_version) == 0)
            return list->items[i].absent;
    }
    return false;
}

static void add_unserved(struct kube_source *s, const char *api_version, const char *kind,
                         bool absent, const struct unserved_list *before)
{
    struct unserved *u;

    s->unserved.items =
        xreallocarray(s->unserved.items, s->unserved.count + 1, sizeof(*s->unserved.items));
    u = &s->unserved.items[s->unserved.count++];
    *u = (struct unserved){
        .api_version = xstrdup(api_version), .kind = xstrdup(kind), .absent = absent};
    if (absent && !was_absent(before, u))
        log_write(s->context.log, LOG_LEVEL_WARN, "a policy selects a kind that is not served",
                  "api_version", api_version, "kind", kind);
}

/* Mark what selectors name, and note down what of it there is nothing to follow of. */
static void want_selected(struct kube_source *s)
{
    struct unserved_list before = s->unserved;
    const char *api_version, *kind;
    bool connector = false;

    s->unserved = (struct unserved_list){0};
    for (size_t at = 0; engine_next_selected(s->engine, &at, &api_version, &kind);) {
        const struct api_resource *resource = NULL;

        if (!api_version || !kind || kind_of(api_version, kind)->class != CLASS_TEMPLATE)
            continue;

        enum discovery_answer answer =
            discovery_find(s->discoverer.discovery, api_version, kind, &resource);

        if (answer == DISCOVERY_SERVED) {
            want_served(s, resource);
            connector = connector || connector_manages(api_version);
            continue;
        }
        add_unserved(s, api_version, kind, answer == DISCOVERY_ABSENT, &before);
    }
    release_unserved(&before);
    if (connector)
        want_settings(s);
}

static void add_counts(struct watch_counts *sum, const struct watch_counts *counts)
{
    sum->lists += counts->lists;
    sum->list_failures += counts->list_failures;
    for (size_t i = 0; i < WATCH_STOP_COUNT; i++)
        sum->restarts[i] += counts->restarts[i];
}

static void drop_unwanted(struct kube_source *s)
{
    size_t kept = s->fixed_count;

    for (size_t i = s->fixed_count; i < s->count; i++) {
        struct reflector *f = s->reflectors[i];

        if (f->wanted) {
            s->reflectors[kept++] = f;
            continue;
        }
        add_counts(&s->past, &f->watch.counts);
        reflector_forget(f);
    }
    s->count = kept;
}

/* A fixed kind is asked for on and on; but once it is known to be gone, so are its objects. */
static void empty_absent(struct kube_source *s)
{
    const struct api_resource *ignored;

    for (size_t i = 0; i < s->fixed_count; i++) {
        struct reflector *f = s->reflectors[i];

        if (f->synced && f->last_stop == STOP_ABSENT && f->watch.stops > 0 &&
            discovery_find(s->discoverer.discovery, f->api_version, f->kind, &ignored) ==
                DISCOVERY_ABSENT)
            reflector_empty(f);
    }
}

static void follow_selected(struct kube_source *s)
{
    uint64_t selected = engine_selected_version(s->engine);
    uint64_t discovered = discovery_version(s->discoverer.discovery);

    if (s->synced_once && selected == s->selected_version && discovered == s->discovery_version)
        return;

    size_t unserved_before = s->unserved.count;

    s->synced_once = true;
    s->selected_version = selected;
    s->discovery_version = discovered;
    for (size_t i = s->fixed_count; i < s->count; i++)
        s->reflectors[i]->wanted = false;
    want_selected(s);
    drop_unwanted(s);
    if (s->unserved.count > unserved_before)
        discoverer_hasten(&s->discoverer);
}

/* ---- turns ---- */

static bool is_settled(const struct kube_source *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct reflector *f = s->reflectors[i];

        if (f->required ? !f->synced : !reflector_settled(f))
            return false;
    }
    return discoverer_settled(&s->discoverer);
}

void kube_source_turn(struct kube_source *s, int64_t now_ms, int64_t clock_ms)
{
    s->context.now_ms = now_ms;
    s->context.clock_ms = clock_ms;
    discoverer_turn(&s->discoverer);
    follow_selected(s);
    empty_absent(s);
    for (size_t i = 0; i < s->count; i++) {
        struct reflector *f = s->reflectors[i];

        reflector_turn(f);
        /* A kind that has just gone is known to be gone only once the server says so. */
        if (f->last_stop == STOP_ABSENT && f->stopped_ms > s->discoverer.begun_ms)
            discoverer_hasten(&s->discoverer);
    }
    s->ready = s->ready || is_settled(s);
}

int64_t kube_source_due(const struct kube_source *s)
{
    int64_t due_ms = discoverer_due(&s->discoverer);

    for (size_t i = 0; i < s->count; i++) {
        int64_t other_ms = reflector_due(s->reflectors[i]);

        due_ms = other_ms < due_ms ? other_ms : due_ms;
    }
    return due_ms;
}

bool kube_source_ready(const struct kube_source *s)
{
    return s->ready;
}

size_t kube_source_count(const struct kube_source *s)
{
    return s->count;
}

const struct reflector *kube_source_reflector(const struct kube_source *s, size_t at)
{
    return s->reflectors[at];
}

size_t kube_source_unserved_count(const struct kube_source *s)
{
    return s->unserved.count;
}

const struct unserved *kube_source_unserved(const struct kube_source *s, size_t at)
{
    return &s->unserved.items[at];
}

const struct watch_counts *kube_source_past_counts(const struct kube_source *s)
{
    return &s->past;
}
