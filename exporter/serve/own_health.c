/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/own_health.h"

#include "exporter/serve/senders.h"
#include "exporter/serve/web_service.h"
#include "exporter/system/process.h"
#include "exporter/version.h"
#include "metrics/model/kind.h"

enum { RELEASE_MAX_BYTES = 64, RESOURCE_MAX = 512 };

/* Health of the watches of one resource, summed up over its reflectors. */
struct resource_health {
    bool synced;           /* All reflectors are synced and do not fail repeatedly. */
    bool polled;           /* At least one reflector polls. */
    int64_t last_event_ms; /* Since the epoch; 0 before the first event. */
    uint64_t rejected;     /* Number of rejections. */
    uint64_t too_large;    /* Number of rejections for the size. */
    struct watch_counts counts;
};

static void add_reflector_health(struct resource_health *sum, const struct reflector *f)
{
    /* A failure counts when it is logged, because single failures are normal. */
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

static void fill_unserved_kinds(const struct kube_source *source, struct registry *registry)
{
    for (size_t i = 0; i < kube_source_unserved_kind_count(source); i++) {
        const struct unserved_kind *u = kube_source_unserved_kind(source, i);

        if (u->answer == DISCOVERY_ABSENT)
            REGISTRY_SET(registry, OWN_KIND_NOT_SERVED, 1, u->api_version, u->kind);
    }
}

static void fill_late_kinds(const struct kube_source *source, struct registry *registry)
{
    CLEANUP(strbuf_release) struct strbuf resource = STRBUF_INIT(RESOURCE_MAX);

    for (size_t i = 0; i < kube_source_missing_kind_count(source); i++) {
        const struct missing_kind *k = kube_source_missing_kind(source, i);
        const struct reflector *r = k->reflector;

        if (!k->late)
            continue;
        strbuf_reset(&resource);
        append_resource_name_of(&resource, k->api_version, k->kind);
        if (!r)
            REGISTRY_SET(registry, OWN_WATCH_SYNCED, 0, resource.data);
        REGISTRY_SET(registry, OWN_WATCH_LATE, 1, resource.data,
                     !r                           ? "undiscovered"
                     : r->failure.text[0] == '\0' ? "waiting"
                                                  : end_reason_name(r->last_end));
    }
}

static void clear_watch_families(struct registry *registry)
{
    static const enum own_family families[] = {
        OWN_WATCH_SYNCED,     OWN_WATCH_LATE,    OWN_WATCH_LAST_EVENT,  OWN_WATCH_RESTARTS,
        OWN_LIST_REQUESTS,    OWN_LIST_FAILURES, OWN_DECODE_ERRORS,     OWN_KIND_NOT_SERVED,
        OWN_OBJECTS_REJECTED, OWN_AUDITS,        OWN_AUDIT_DIVERGENCES, OWN_WATCH_POLLED,
    };

    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        registry_clear_family(registry, families[i]);
}

/* Returns true if a reflector with a lower index reads the same resource. */
static bool is_repeated_resource(const struct kube_source *source, size_t at)
{
    const struct reflector *r = kube_source_reflector(source, at);

    /* Searches backwards: reflectors of one resource are mostly neighbours. */
    for (size_t i = at; i > 0; i--) {
        if (same_resource(r, kube_source_reflector(source, i - 1)))
            return true;
    }
    return false;
}

static void fill_watches(const struct kube_source *source, struct registry *registry)
{
    CLEANUP(strbuf_release) struct strbuf resource = STRBUF_INIT(RESOURCE_MAX);
    size_t count = kube_source_reflector_count(source);

    clear_watch_families(registry);
    REGISTRY_SET(registry, OWN_WATCHES, (double)count);
    for (size_t i = 0; i < count; i++) {
        const struct reflector *first = kube_source_reflector(source, i);
        struct resource_health sum = {.synced = true};

        if (is_repeated_resource(source, i))
            continue;
        for (size_t k = i; k < count; k++) {
            const struct reflector *r = kube_source_reflector(source, k);

            if (same_resource(first, r))
                add_reflector_health(&sum, r);
        }
        strbuf_reset(&resource);
        reflector_append_name(first, &resource);
        fill_resource(&sum, resource.data, registry);
    }
    fill_unserved_kinds(source, registry);
    fill_late_kinds(source, registry);
}

/* ---- health of process, web server and evaluation ---- */

/* Sets the series unless the value is negative: the kernel then does not report it. */
static void set_if_known(struct registry *registry, enum own_family family, double value)
{
    if (value >= 0)
        REGISTRY_SET(registry, family, value);
}

static void fill_process(struct registry *registry)
{
    struct process_metrics facts;

    process_metrics_read(&facts);
    set_if_known(registry, OWN_CPU_SECONDS, facts.cpu_seconds);
    set_if_known(registry, OWN_MAX_FDS, facts.max_fds);
    set_if_known(registry, OWN_OPEN_FDS, facts.open_fds);
    set_if_known(registry, OWN_RESIDENT_BYTES, facts.resident_bytes);
    set_if_known(registry, OWN_START_TIME, facts.start_seconds);
    set_if_known(registry, OWN_VIRTUAL_BYTES, facts.virtual_bytes);
}

static void fill_requests(const struct server *server, struct registry *registry)
{
    for (unsigned handler = 0; handler < SERVER_HANDLER_COUNT; handler++) {
        for (unsigned code = 0; code < SERVER_CODE_COUNT; code++) {
            uint64_t count =
                server_requests(server, (enum server_handler)handler, (enum server_code)code);

            if (count > 0)
                REGISTRY_SET(registry, OWN_HTTP_REQUESTS, (double)count,
                             server_handler_names[handler], server_code_names[code]);
        }
    }
}

static void fill_refused_connections(const struct server *server, struct registry *registry)
{
    for (unsigned reason = 0; reason < REFUSAL_COUNT; reason++)
        REGISTRY_SET(registry, OWN_REFUSED,
                     (double)server_refused(server, (enum connection_refusal)reason),
                     connection_refusal_names[reason]);
}

/* Sets no series without access control. */
static void fill_access_control(const struct web_service *web, struct registry *registry)
{
    int64_t not_after;

    if (!web->access_control)
        return;
    not_after = access_control_not_after(web->access_control);
    for (unsigned why = 0; why < ACCESS_REFUSALS; why++)
        REGISTRY_SET(registry, OWN_NOT_ADMITTED,
                     (double)access_control_refused(web->access_control, why),
                     access_control_refusal_names[why]);
    REGISTRY_SET(registry, OWN_WEB_CONFIG_VALID, web->valid ? 1 : 0);
    REGISTRY_SET(registry, OWN_WEB_CONFIG_TIME, (double)web->changed_ms / 1000);
    if (not_after > 0)
        REGISTRY_SET(registry, OWN_CERTIFICATE_END, (double)not_after);
}

static void fill_objects(const struct store *store, struct registry *registry)
{
    CLEANUP(strbuf_release) struct strbuf resource = STRBUF_INIT(RESOURCE_MAX);

    registry_clear_family(registry, OWN_OBJECTS);
    for (const struct type *type = store_first_type(store); type; type = type->next) {
        if (type->objects == 0)
            continue;
        strbuf_reset(&resource);
        append_resource_name(&resource, type->kind, type->group);
        REGISTRY_SET(registry, OWN_OBJECTS, (double)type->objects, resource.data);
    }
}

static void fill_thresholds(const struct options *o, struct registry *registry)
{
    REGISTRY_SET(registry, OWN_THRESHOLD, (double)o->stale_age_ms / 1000, "stale_age");
    REGISTRY_SET(registry, OWN_THRESHOLD, (double)o->pending_age_ms / 1000, "pending_age");
    REGISTRY_SET(registry, OWN_THRESHOLD, (double)o->unbound_age_ms / 1000, "unbound_age");
}

static void fill_history(const struct transitions *t, struct registry *registry)
{
    REGISTRY_SET(registry, OWN_HISTORY_ENTRIES, (double)transitions_count(t));
    REGISTRY_SET(registry, OWN_HISTORY_LIMIT, (double)transitions_limit(t));
    if (t)
        REGISTRY_SET(registry, OWN_HISTORY_START, (double)transitions_complete_since_ms(t) / 1000);
}

static void fill_evaluation(const struct evaluation *e, struct registry *registry)
{
    REGISTRY_SET(registry, OWN_EVALUATIONS, (double)engine_evaluations(e->engine));
    REGISTRY_SET(registry, OWN_MANIFEST_FILES, (double)manifests_file_count(e->manifests));
    REGISTRY_SET(registry, OWN_MANIFEST_ERRORS, (double)manifests_broken_file_count(e->manifests));
    REGISTRY_SET(registry, OWN_MANIFEST_DUPLICATES,
                 (double)manifests_duplicate_count(e->manifests));
    if (asset_source_snapshot_ms(e->assets) > 0)
        REGISTRY_SET(registry, OWN_ASSET_SNAPSHOT,
                     (double)asset_source_snapshot_ms(e->assets) / 1000);
    if (e->assets)
        REGISTRY_SET(registry, OWN_DECODE_ERRORS, (double)asset_source_rejected(e->assets),
                     "assets");
    fill_history(engine_transitions(e->engine), registry);
    fill_objects(e->store, registry);
    fill_thresholds(&e->options, registry);
}

/* The labels with the release of Karmada are empty until all objects have been read. */
static void fill_build_info(const struct evaluation *e, struct registry *registry)
{
    CLEANUP(strbuf_release) struct strbuf release = STRBUF_INIT(RELEASE_MAX_BYTES);
    const char *compiler = EXPORTER_COMPILER;
    const char *origin = e ? release_origin_name(e->release.range.origin) : "";

    if (e)
        release_range_append(e->release.range, &release);
    registry_clear_family(registry, OWN_BUILD_INFO);
    REGISTRY_SET(registry, OWN_BUILD_INFO, 1, EXPORTER_VERSION, exporter_revision, compiler,
                 release.data, origin);
}

void own_health_fill(const struct health *h, struct registry *registry)
{
    fill_build_info(h->evaluation, registry);
    REGISTRY_SET(registry, OWN_UP, h->evaluation ? 1 : 0);
    REGISTRY_SET(registry, OWN_SNAPSHOT, (double)h->now_ms / 1000);
    REGISTRY_SET(registry, OWN_HEARTBEAT, (double)(h->now_ms - h->beat_age_ms) / 1000);
    REGISTRY_SET(registry, OWN_LOG_DROPPED, (double)h->log_dropped);
    REGISTRY_SET(registry, OWN_RELOAD_SUCCESSFUL, h->config_loaded ? 1 : 0);
    fill_process(registry);
    fill_requests(h->web_service->server, registry);
    fill_refused_connections(h->web_service->server, registry);
    fill_access_control(h->web_service, registry);
    /* Comes first: it clears OWN_DECODE_ERRORS, which manifests and assets also set. */
    if (h->session)
        fill_watches(kube_session_source(h->session), registry);
    REGISTRY_SET(registry, OWN_DECODE_ERRORS, (double)h->rejected, "manifests");
    if (h->evaluation)
        fill_evaluation(h->evaluation, registry);
    if (h->senders)
        senders_fill(h->senders, registry);
}

/* ---- readiness ---- */

enum {
    TEXT_MAX_BYTES = 64 * 1024,
    SHOWN_MAX = 50, /* Maximum number of lines of a list. */
    CHECK_MS = 500,
};

void readiness_init(struct readiness *r, struct server *server)
{
    *r = (struct readiness){.server = server, .text = STRBUF_INIT(TEXT_MAX_BYTES)};
}

void readiness_release(struct readiness *r)
{
    strbuf_release(&r->text);
}

static void add_omitted_count(struct strbuf *out, size_t count)
{
    if (count > SHOWN_MAX)
        strbuf_addf(out, "and %zu more\n", count - SHOWN_MAX);
}

/*
 * Lists the kinds that are not read yet: the required ones or, with `required` false, all others
 * except optional ones. Lists at most SHOWN_MAX; returns the number of all.
 */
static size_t add_unread_kinds(struct strbuf *out, const struct kube_source *source, bool required)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_reflector_count(source); i++) {
        const struct reflector *f = kube_source_reflector(source, i);

        if (f->synced || f->required != required || f->optional || count++ >= SHOWN_MAX)
            continue;
        reflector_append_name(f, out);
        strbuf_addf(out, ": %s\n", missing_kind_reason(f));
    }
    add_omitted_count(out, count);
    return count;
}

static void add_not_ready(struct strbuf *out, const struct kube_session *session)
{
    const struct kube_source *source = kube_session_source(session);
    const char *problem = kube_session_credentials_error(session);

    strbuf_addf(out, EXPORTER_NAME " is not ready: reading from %s\n",
                kube_session_server_url(session));
    if (*problem != '\0')
        strbuf_addf(out, "credentials: %s\n", problem);
    if (add_unread_kinds(out, source, true) == 0) {
        strbuf_addf(
            out, "policies and bindings have been read; waiting up to %d s for other resources:\n",
            KIND_WAIT_MS / 1000);
        add_unread_kinds(out, source, false);
    }
}

static void add_late_kinds(struct strbuf *out, const struct kube_source *source)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_missing_kind_count(source); i++) {
        const struct missing_kind *k = kube_source_missing_kind(source, i);

        if (!k->late || count++ >= SHOWN_MAX)
            continue;
        if (count == 1)
            strbuf_adds(out, "Not read yet; dependent results are missing:\n");
        append_resource_name_of(out, k->api_version, k->kind);
        strbuf_addf(out, ": %s\n", missing_kind_reason(k->reflector));
    }
    add_omitted_count(out, count);
}

/* Lists the components of Karmada whose Leases cannot be read. */
static void add_unreadable_leases(struct strbuf *out, const struct component_leases *leases)
{
    bool first = true;

    for (unsigned i = 0; leases && i < CONTROL_COUNT; i++) {
        struct component_lease lease;

        if (!component_leases_last(leases, (enum control_component)i, &lease) || lease.readable)
            continue;
        if (first)
            strbuf_adds(out, "Cannot determine whether these components of Karmada run:\n");
        first = false;
        strbuf_addf(out, "%s: %s\n", component_names[i], lease.error);
    }
}

void readiness_turn(struct readiness *r, bool ready, const struct kube_session *session,
                    const char *problem, int64_t now_ms)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);

    if (now_ms < r->due_ms && ready == r->ready)
        return;
    r->due_ms = now_ms + CHECK_MS;
    if (ready)
        strbuf_adds(&text, EXPORTER_NAME " is Ready.\n");
    else if (session)
        add_not_ready(&text, session);
    else
        strbuf_addf(&text, EXPORTER_NAME " is not ready: %s\n",
                    *problem ? problem : "reading manifests");
    if (ready && session) {
        add_late_kinds(&text, kube_session_source(session));
        add_unreadable_leases(&text, kube_session_leases(session));
    }
    if (!strbuf_ok(&text) || (ready == r->ready && strcmp(text.data, r->text.data) == 0))
        return;
    server_set_ready(r->server, ready, text.data);
    r->ready = ready;
    strbuf_reset(&r->text);
    strbuf_adds(&r->text, text.data);
}
