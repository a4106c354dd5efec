/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/health.h"

#include "exporter/serve/outlets.h"
#include "exporter/serve/watch_health.h"
#include "exporter/serve/web.h"
#include "exporter/system/process.h"
#include "exporter/version.h"

enum { RESOURCE_MAX = 512 };

/* A number that the kernel does not give has no series. */
static void set_known(struct registry *registry, enum own_family family, double value)
{
    if (value >= 0)
        REGISTRY_SET(registry, family, value);
}

static void fill_process(struct registry *registry)
{
    struct process_facts facts;

    process_read(&facts);
    set_known(registry, OWN_CPU_SECONDS, facts.cpu_seconds);
    set_known(registry, OWN_MAX_FDS, facts.max_fds);
    set_known(registry, OWN_OPEN_FDS, facts.open_fds);
    set_known(registry, OWN_RESIDENT_BYTES, facts.resident_bytes);
    set_known(registry, OWN_START_TIME, facts.start_seconds);
    set_known(registry, OWN_VIRTUAL_BYTES, facts.virtual_bytes);
}

static void fill_requests(const struct server *server, struct registry *registry)
{
    for (unsigned handler = 0; handler < SERVER_HANDLERS; handler++) {
        for (unsigned code = 0; code < SERVER_CODES; code++) {
            uint64_t count =
                server_requests(server, (enum server_handler)handler, (enum server_code)code);

            if (count > 0)
                REGISTRY_SET(registry, OWN_HTTP_REQUESTS, (double)count,
                             server_handler_names[handler], server_code_names[code]);
        }
    }
}

static void fill_refused(const struct server *server, struct registry *registry)
{
    for (unsigned reason = 0; reason < REFUSAL_COUNT; reason++)
        REGISTRY_SET(registry, OWN_REFUSED, (double)server_refused(server, (enum refusal)reason),
                     refusal_names[reason]);
}

/* Nothing where everybody may ask. */
static void fill_security(const struct web *web, struct registry *registry)
{
    int64_t not_after;

    if (!web->admission)
        return;
    not_after = admission_not_after(web->admission);
    for (unsigned why = 0; why < ADMISSION_REFUSALS; why++)
        REGISTRY_SET(registry, OWN_NOT_ADMITTED, (double)admission_refused(web->admission, why),
                     admission_refusal_names[why]);
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
        resource_name(&resource, type->kind, type->group);
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
    REGISTRY_SET(registry, OWN_MANIFEST_ERRORS, (double)manifests_broken_count(e->manifests));
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

void health_fill(const struct health *h, struct registry *registry)
{
    REGISTRY_SET(registry, OWN_BUILD_INFO, 1, EXPORTER_VERSION, exporter_revision,
                 EXPORTER_COMPILER);
    REGISTRY_SET(registry, OWN_UP, h->evaluation ? 1 : 0);
    REGISTRY_SET(registry, OWN_SNAPSHOT, (double)h->now_ms / 1000);
    REGISTRY_SET(registry, OWN_HEARTBEAT, (double)(h->now_ms - h->beat_age_ms) / 1000);
    REGISTRY_SET(registry, OWN_LOG_DROPPED, (double)h->log_dropped);
    REGISTRY_SET(registry, OWN_RELOAD_SUCCESSFUL, h->config_loaded ? 1 : 0);
    fill_process(registry);
    fill_requests(h->web->server, registry);
    fill_refused(h->web->server, registry);
    fill_security(h->web, registry);
    /* Clears what it shares with the manifests, and goes first therefore. */
    if (h->session)
        watch_health_fill(kube_session_source(h->session), registry);
    REGISTRY_SET(registry, OWN_DECODE_ERRORS, (double)h->rejected, "manifests");
    if (h->evaluation)
        fill_evaluation(h->evaluation, registry);
    if (h->outlets)
        outlets_fill(h->outlets, registry);
}
