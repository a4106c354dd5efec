/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/kube_source.h"

#include "exporter/kube/audit.h"
#include "exporter/kube/bound_templates.h"
#include "exporter/kube/initial_sync.h"
#include "exporter/kube/reflector.h"
#include "metrics/model/connector_resource.h"
#include "metrics/model/references.h"
#include "metrics/model/template.h"

enum {
    BODY_MAX_BYTES = 16 * 1024 * 1024,
    INTERVAL_MS = 30 * 1000,
    LEGACY_INTERVAL_MS = 5 * 60 * 1000, /* Without aggregated discovery. */
    INTERVAL_SPREAD_MS = 3 * 1000,
    RETRY_FIRST_MS = 1000,
    RETRY_SHIFTS = 5,
    INTERVAL_MIN_MS = 2 * 1000, /* Minimum time between two rounds that changes start. */
    FAILURES_BEFORE_READY = 3,
    VERSION_TIMEOUT_MIN_MS = 1000,
    VERSION_TIMEOUT_MAX_MS = 8 * 1000,
};

/* ---- discovery rounds ---- */

void discoverer_init(struct discoverer *d, struct reflector_context *context)
{
    *d = (struct discoverer){
        .context = context,
        .discovery = discovery_new(),
        .body = STRBUF_INIT(BODY_MAX_BYTES),
        .due_ms = context->now_ms,
        .started_ms = context->now_ms - INTERVAL_MIN_MS,
        .version_timeout_ms = VERSION_TIMEOUT_MIN_MS,
    };
}

void discoverer_release(struct discoverer *d)
{
    if (d->transfer)
        d->context->transport.cancel(d->context->transport.context, d->transfer);
    strbuf_release(&d->body);
    discovery_free(d->discovery);
}

static void end_discovery_round(struct discoverer *d)
{
    int64_t delay_ms = discovery_is_legacy(d->discovery) ? LEGACY_INTERVAL_MS : INTERVAL_MS;

    if (discovery_succeeded(d->discovery)) {
        bool again = d->unanswered > 0 && d->version_timeout_ms < VERSION_TIMEOUT_MAX_MS;

        d->failures = 0;
        d->version_timeout_ms = again ? 2 * d->version_timeout_ms : VERSION_TIMEOUT_MIN_MS;
        delay_ms = again ? RETRY_FIRST_MS : delay_ms;
    } else {
        unsigned shifts = d->failures < RETRY_SHIFTS ? d->failures : RETRY_SHIFTS - 1;

        delay_ms = (int64_t)RETRY_FIRST_MS << shifts;
        if (++d->failures == 2)
            log_write(d->context->log, LOG_LEVEL_WARN,
                      discovery_version(d->discovery) > 0
                          ? "cannot discover the API's kinds; using the last known list"
                          : "cannot discover the kinds of the API server; no kind is known so far");
    }
    d->unanswered = 0;
    d->ended_ms = d->context->now_ms;
    d->due_ms = d->ended_ms + delay_ms + reflector_context_random(d->context) % INTERVAL_SPREAD_MS;
}

static bool receive_discovery_body(void *context, unsigned http_status, const char *bytes,
                                   size_t len)
{
    struct discoverer *d = context;

    (void)http_status;
    progress_note_bytes(&d->progress, len, d->context->now_ms);
    strbuf_add(&d->body, bytes, len);
    return strbuf_ok(&d->body);
}

static void receive_discovery_status(void *context, unsigned http_status, const char *content_type)
{
    struct discoverer *d = context;

    (void)content_type;
    if (http_status == 200)
        reflector_context_note_response(d->context);
}

static void end_discovery_request(void *context, const struct transport_result *result)
{
    struct discoverer *d = context;
    struct discovery_reply reply = {
        .http_status = strbuf_ok(&d->body) ? result->http_status : 0,
        .content_type = result->content_type,
        .body = d->body.data,
        .len = d->body.len,
    };

    d->transfer = NULL;
    if (discovery_receive(d->discovery, &reply))
        end_discovery_round(d);
    strbuf_release(&d->body);
}

static bool requests_version(const struct discoverer *d)
{
    return strchr(discovery_path(d->discovery) + 1, '/') != NULL;
}

static int64_t request_deadline(const struct discoverer *d)
{
    return progress_deadline(&d->progress,
                             requests_version(d) ? d->version_timeout_ms : PROGRESS_SHORT_MS);
}

static void cancel_discovery_request(struct discoverer *d)
{
    d->context->transport.cancel(d->context->transport.context, d->transfer);
    d->unanswered += requests_version(d);
    end_discovery_request(d, &(struct transport_result){.error = ""});
}

void discoverer_turn(struct discoverer *d)
{
    if (d->transfer && d->context->now_ms >= request_deadline(d))
        cancel_discovery_request(d);
    if (d->transfer)
        return;
    /* The server has recovered since the failure: shorten the delay. */
    if (d->failures > 0 && d->context->recovered_ms >= d->ended_ms &&
        d->due_ms > d->ended_ms + RETRY_FIRST_MS)
        d->due_ms = d->ended_ms + RETRY_FIRST_MS;
    if (!discovery_path(d->discovery)) {
        if (d->context->now_ms < d->due_ms)
            return;
        d->started_ms = d->context->now_ms;
        discovery_begin(d->discovery);
    }
    progress_begin(&d->progress, d->context->now_ms);
    d->transfer = d->context->transport.start(d->context->transport.context,
                                              &(struct transport_request){
                                                  .path = discovery_path(d->discovery),
                                                  .accept = discovery_accept(),
                                                  .class = REQUEST_SHORT,
                                                  .handler = {.responded = receive_discovery_status,
                                                              .data = receive_discovery_body,
                                                              .done = end_discovery_request,
                                                              .context = d},
                                              });
}

int64_t discoverer_due(const struct discoverer *d)
{
    if (d->transfer)
        return request_deadline(d);
    return discovery_path(d->discovery) ? d->context->now_ms : d->due_ms;
}

/* Moves the next round forward, to two seconds after the last start; not after a failed round. */
static void discoverer_request_round(struct discoverer *d)
{
    int64_t soon_ms = d->started_ms + INTERVAL_MIN_MS;

    if (d->failures == 0 && d->due_ms > soon_ms)
        d->due_ms = soon_ms;
}

/* Returns true if the last round succeeded or several rounds in a row failed. */
static bool discoverer_ready(const struct discoverer *d)
{
    return discovery_succeeded(d->discovery) || d->failures >= FAILURES_BEFORE_READY;
}

/* Karmada watches only the preferred version of a kind, if it is watchable. */
static enum api_version_answer classify_version(const void *context, const char *api_version,
                                                const char *kind)
{
    const struct api_resource *preferred = discovery_find_preferred(context, api_version, kind);
    const struct api_resource *ignored;

    if (preferred)
        return strcmp(preferred->api_version, api_version) == 0 ? API_VERSION_WATCHED
                                                                : API_VERSION_UNWATCHED;
    switch (discovery_find(context, api_version, kind, &ignored)) {
    case DISCOVERY_UNWATCHED:
        return API_VERSION_UNWATCHED;
    case DISCOVERY_ABSENT:
        return API_VERSION_ABSENT;
    case DISCOVERY_UNKNOWN:
    case DISCOVERY_SERVED:
        break;
    }
    return API_VERSION_UNKNOWN;
}

static bool add_preferred_version(const void *context, const char *api_version, const char *kind,
                                  struct strbuf *out)
{
    const struct api_resource *preferred = discovery_find_preferred(context, api_version, kind);

    if (preferred)
        strbuf_adds(out, preferred->api_version);
    return preferred;
}

static struct api_version_source get_api_version_source(const struct discoverer *d)
{
    return (struct api_version_source){
        .judge = classify_version,
        .preferred = add_preferred_version,
        .context = d->discovery,
    };
}

/* ---- source ---- */

struct kube_source {
    struct reflector_context context;
    struct discoverer discoverer;
    struct release_reader release_reader;
    struct bound_templates bound_templates;
    struct reflector_list list;
    struct audit audit;
    struct unserved_kinds unserved_kinds;
    /* Versions of the inputs at the last update of `list`. */
    uint64_t selected_version;
    uint64_t bound_types_version;
    uint64_t discovery_version;
    bool bindings_read; /* True once all reflectors of bindings have synced. */
    enum { REFERENCED_NOT_REQUESTED, REFERENCED_REQUESTED, REFERENCED_WATCHED } referenced;
    bool references;
    bool works;
    bool inputs_recorded; /* False: the next turn updates `list` without a change of inputs. */
    struct missing_kinds missing;
};

static void on_bound_template_changed(void *context, const struct identity *template)
{
    bound_templates_note_change(context, template);
}

struct kube_source *kube_source_new(const struct kube_source_settings *settings)
{
    struct kube_source *s = xcalloc(1, sizeof(*s));

    s->context = (struct reflector_context){
        .store = settings->store,
        .engine = settings->engine,
        .transport = settings->transport,
        .filter = settings->filter,
        .log = settings->log,
        .now_ms = settings->now_ms,
        .clock_ms = settings->clock_ms,
        .random = settings->seed,
        .streaming_lists = settings->streaming_lists,
    };
    list_limiter_init(&s->context.limiter, settings->now_ms);
    s->list.context = &s->context;
    discoverer_init(&s->discoverer, &s->context);
    s->context.discovery = s->discoverer.discovery;
    release_reader_init(&s->release_reader, &s->context);
    missing_kinds_init(&s->missing, s->context.engine, s->discoverer.discovery, settings->log);
    bound_templates_init(&s->bound_templates, &s->context);
    audit_init(&s->audit, &s->context, settings->audit_interval_ms);
    s->references = settings->references;
    s->works = settings->works;
    engine_follow_works(s->context.engine, s->works);
    engine_observe_bound_templates(
        s->context.engine, (struct bound_observer){on_bound_template_changed, &s->bound_templates});
    reflector_list_mark_kinds_wanted(&s->list, WATCH_ALWAYS, false);
    s->list.always_count = s->list.count;
    return s;
}

void kube_source_free(struct kube_source *s)
{
    if (!s)
        return;
    missing_kinds_release(&s->missing);
    audit_release(&s->audit);
    reflector_list_release(&s->list);
    engine_observe_bound_templates(s->context.engine, (struct bound_observer){0});
    engine_set_api_version_source(s->context.engine, (struct api_version_source){0});
    engine_follow_works(s->context.engine, false);
    bound_templates_release(&s->bound_templates);
    unserved_kinds_release(&s->unserved_kinds);
    release_reader_release(&s->release_reader);
    discoverer_release(&s->discoverer);
    free(s);
}

/* ---- kinds to watch ---- */

static bool is_metadata_sufficient(const struct kube_source *s, const struct api_resource *resource)
{
    return !template_needs_object(resource->api_version, resource->kind) &&
           !(s->references && kind_has_references(resource->api_version, resource->kind));
}

/* Marks a template kind as wanted: all its objects, or those that others refer to. */
static void want_templates(struct kube_source *s, const struct api_resource *resource,
                           bool bound_templates_only, bool again)
{
    reflector_list_mark_wanted(&s->list,
                               (struct reflector_spec){
                                   .api_version = resource->api_version,
                                   .kind = resource->kind,
                                   .resource = resource->resource,
                                   .metadata_only = is_metadata_sufficient(s, resource),
                                   .bound_templates_only = bound_templates_only,
                                   .again = again,
                               },
                               resource->namespaced);
}

/*
 * Marks as wanted the kinds that selectors name, and those of Config Connector and priority classes
 * if needed. Puts the other kinds that selectors name, which discovery does not offer, into
 * unserved_kinds.
 */
static void want_selected_kinds(struct kube_source *s)
{
    struct unserved_kinds unserved_before = s->unserved_kinds;
    const char *api_version, *kind;
    bool connector = false;

    s->unserved_kinds = (struct unserved_kinds){0};
    for (size_t at = 0; engine_next_selected_type(s->context.engine, &at, &api_version, &kind);) {
        const struct api_resource *resource = NULL;

        if (!api_version || !kind || kind_of(api_version, kind)->watch.when != WATCH_IF_SELECTED)
            continue;

        enum discovery_answer answer =
            discovery_find(s->discoverer.discovery, api_version, kind, &resource);

        if (answer == DISCOVERY_SERVED) {
            want_templates(s, resource, false, false);
            connector = connector || is_connector_api_version(api_version);
            continue;
        }
        unserved_kinds_add(&s->unserved_kinds,
                           &(struct identity){.api_version = api_version, .kind = kind}, answer,
                           &unserved_before, s->context.log);
    }
    unserved_kinds_release(&unserved_before);
    if (connector)
        reflector_list_mark_kinds_wanted(&s->list, WATCH_WITH_CONNECTOR, false);
    if (engine_uses_priority_classes(s->context.engine))
        reflector_list_mark_kinds_wanted(&s->list, WATCH_WITH_PRIORITY, false);
}

/* Marks as wanted the kinds of the table that are read if the API server serves them. */
static void want_served_kinds(struct kube_source *s)
{
    size_t count;
    const struct kind_def *table = kind_table(&count);
    const struct api_resource *ignored;

    for (size_t i = 0; i < count; i++) {
        enum discovery_answer answer =
            discovery_find(s->discoverer.discovery, table[i].api_version, table[i].name, &ignored);

        if (table[i].watch.when == WATCH_IF_SERVED &&
            (answer == DISCOVERY_SERVED || answer == DISCOVERY_UNWATCHED))
            reflector_list_mark_kind_wanted(&s->list, &table[i], s->references);
    }
}

/*
 * Marks as wanted the kinds that bindings refer to, after all bindings have been read. Returns true
 * if a binding refers to another version than Karmada watches now, because the binding was read
 * before discovery returned the watched version.
 */
static bool want_bound_kinds(struct kube_source *s)
{
    const char *api_version, *kind;
    bool outdated = false;

    for (size_t at = 0;
         s->bindings_read && engine_next_bound_type(s->context.engine, &at, &api_version, &kind);) {
        const struct api_resource *resource =
            discovery_find_preferred(s->discoverer.discovery, api_version, kind);

        outdated = outdated || (resource && strcmp(resource->api_version, api_version) != 0);
        if (resource)
            want_templates(s, resource, true, false);
    }
    return outdated;
}

static bool lacks_referenced_templates(const struct type *type)
{
    for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
        for (size_t i = 0; i < p->count; i++) {
            if (!entry_exists(partition_entry(p, i)) &&
                reflector_store_is_referred(partition_entry(p, i)))
                return true;
        }
    }
    return false;
}

/* Marks as wanted the kinds of missing templates that other objects refer to. */
static void want_referenced_kinds(struct kube_source *s)
{
    for (const struct type *type = store_first_type(s->context.store); type; type = type->next) {
        const struct api_resource *resource = NULL;

        if (type->def->class == CLASS_TEMPLATE && lacks_referenced_templates(type))
            resource =
                discovery_find_preferred(s->discoverer.discovery, type->api_version, type->kind);
        if (resource && strcmp(resource->api_version, type->api_version) == 0)
            want_templates(s, resource, true, s->referenced == REFERENCED_REQUESTED);
    }
    s->referenced = REFERENCED_WATCHED;
}

/* Removes objects of always watched kinds that the server no longer serves. */
static void clear_absent_kinds(struct kube_source *s)
{
    const struct api_resource *ignored;

    for (size_t i = 0; i < s->list.always_count; i++) {
        struct reflector *r = s->list.items[i];

        if (r->synced && r->last_end == END_ABSENT && r->watch.retries > 0 &&
            discovery_find(s->discoverer.discovery, r->api_version, r->kind, &ignored) ==
                DISCOVERY_ABSENT)
            reflector_clear(r);
    }
}

static bool are_bindings_read(const struct kube_source *s)
{
    for (size_t i = 0; i < s->list.always_count; i++) {
        if (reflector_reads_bindings(s->list.items[i]) && !s->list.items[i]->synced)
            return false;
    }
    return true;
}

/* Lists bindings again, so that their references get the version that Karmada watches now. */
static void relist_bindings(struct kube_source *s)
{
    for (size_t i = 0; i < s->list.always_count; i++) {
        if (reflector_reads_bindings(s->list.items[i]))
            reflector_relist(s->list.items[i]);
    }
}

/* Records the input versions. Returns true after a change, or if inputs_recorded was false. */
static bool record_input_versions(struct kube_source *s)
{
    uint64_t selected = engine_needed_kinds_version(s->context.engine);
    uint64_t bound_templates = engine_bound_types_version(s->context.engine);
    uint64_t discovered = discovery_version(s->discoverer.discovery);
    bool read = s->bindings_read || are_bindings_read(s);
    bool same = s->inputs_recorded && selected == s->selected_version &&
                bound_templates == s->bound_types_version && discovered == s->discovery_version &&
                read == s->bindings_read;

    s->inputs_recorded = true;
    s->selected_version = selected;
    s->bound_types_version = bound_templates;
    s->discovery_version = discovered;
    s->bindings_read = read;
    return !same;
}

static void update_reflectors(struct kube_source *s)
{
    size_t unserved_before = s->unserved_kinds.count;
    uint64_t discovered = s->discovery_version;
    bool read = s->bindings_read;

    if (!record_input_versions(s))
        return;
    if (discovered != s->discovery_version)
        engine_set_api_version_source(s->context.engine, get_api_version_source(&s->discoverer));
    reflector_list_unmark_wanted(&s->list);
    want_selected_kinds(s);
    /*
     * List again only after a change of discovery or the first read of all bindings: a binding that
     * still refers to another version after the list would otherwise cause one list after another.
     */
    if (want_bound_kinds(s) && (discovered != s->discovery_version || read != s->bindings_read))
        relist_bindings(s);
    if (s->referenced != REFERENCED_NOT_REQUESTED)
        want_referenced_kinds(s);
    /* With `references` the initial sync waits for optional kinds. */
    want_served_kinds(s);
    if (s->works)
        reflector_list_mark_kinds_wanted(&s->list, WATCH_WITH_WORKS, s->references);
    if (s->works && engine_has_overrides(s->context.engine))
        reflector_list_mark_kinds_wanted(&s->list, WATCH_WITH_OVERRIDES, s->references);
    reflector_list_drop_unwanted(&s->list);
    if (s->unserved_kinds.count > unserved_before)
        discoverer_request_round(&s->discoverer);
}

/* ---- periodic work ---- */

void kube_source_turn(struct kube_source *s, int64_t now_ms, int64_t clock_ms)
{
    reflector_context_begin_turn(&s->context, now_ms, clock_ms);
    discoverer_turn(&s->discoverer);
    release_reader_turn(&s->release_reader);
    update_reflectors(s);
    clear_absent_kinds(s);
    bound_templates_turn(&s->bound_templates, s->list.items, s->list.count);
    for (size_t i = 0; i < s->list.count; i++) {
        struct reflector *r = s->list.items[i];

        reflector_turn(r);
        /* A 404 alone does not prove that a kind is gone: run discovery. */
        if (r->last_end == END_ABSENT && r->ended_ms > s->discoverer.started_ms)
            discoverer_request_round(&s->discoverer);
    }
    audit_turn(&s->audit, s->list.items, s->list.count);
    missing_kinds_turn(&s->missing, &s->list, &s->unserved_kinds,
                       discoverer_ready(&s->discoverer) &&
                           bound_templates_ready(&s->bound_templates) &&
                           release_reader_ready(&s->release_reader),
                       now_ms);
}

int64_t kube_source_due(const struct kube_source *s)
{
    const int64_t parts_ms[] = {discoverer_due(&s->discoverer),
                                release_reader_due(&s->release_reader),
                                bound_templates_due(&s->bound_templates),
                                missing_kinds_due(&s->missing), audit_due(&s->audit)};
    int64_t due_ms = INT64_MAX;

    for (size_t i = 0; i < ARRAY_LEN(parts_ms); i++)
        due_ms = parts_ms[i] < due_ms ? parts_ms[i] : due_ms;
    for (size_t i = 0; i < s->list.count; i++) {
        int64_t reflector_ms = reflector_due(s->list.items[i]);

        due_ms = reflector_ms < due_ms ? reflector_ms : due_ms;
    }
    return due_ms;
}

bool kube_source_ready(const struct kube_source *s)
{
    return s->missing.ready;
}

void kube_source_read_referenced_templates(struct kube_source *s)
{
    s->referenced = REFERENCED_REQUESTED;
    s->inputs_recorded = false;
    missing_kinds_wait_again(&s->missing);
}

size_t kube_source_reflector_count(const struct kube_source *s)
{
    return s->list.count;
}

const struct reflector *kube_source_reflector(const struct kube_source *s, size_t at)
{
    return s->list.items[at];
}

bool kube_source_is_cluster_scoped(const struct kube_source *s, const char *api_version,
                                   const char *kind)
{
    const struct api_resource *resource =
        discovery_find_preferred(s->discoverer.discovery, api_version, kind);

    return resource && !resource->namespaced;
}

size_t kube_source_unserved_kind_count(const struct kube_source *s)
{
    return s->unserved_kinds.count;
}

const struct unserved_kind *kube_source_unserved_kind(const struct kube_source *s, size_t at)
{
    return &s->unserved_kinds.items[at];
}

size_t kube_source_missing_kind_count(const struct kube_source *s)
{
    return s->missing.count;
}

const struct missing_kind *kube_source_missing_kind(const struct kube_source *s, size_t at)
{
    return &s->missing.kinds[at];
}

const struct release_reader *kube_source_release(const struct kube_source *s)
{
    return &s->release_reader;
}

const struct discovery *kube_source_discovery(const struct kube_source *s)
{
    return s->discoverer.discovery;
}

bool kube_source_reads_refusals(const struct kube_source *s)
{
    for (size_t i = 0; i < s->list.count; i++) {
        const struct reflector *r = s->list.items[i];

        if (reflector_reads_refusals(r) && (!r->synced || r->failure.warned))
            return false;
    }
    return true;
}

uint64_t kube_source_restores(const struct kube_source *s)
{
    return s->context.restores;
}

uint64_t kube_source_health_version(const struct kube_source *s)
{
    return s->context.health_version;
}
