/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/health.h"

#include "exporter/serve/watch_health.h"
#include "exporter/system/process.h"
#include "exporter/version.h"

enum { RESOURCE_MAX = 512 };

#define OWN "karmada_policy_exporter_"

/* A number that the kernel does not tell has no row. */
static void set_known(struct series *series, const char *name, double value)
{
    if (value >= 0)
        SERIES_SET(series, name, value);
}

static void fill_process(struct series *series)
{
    struct process_facts facts;

    process_read(&facts);
    set_known(series, "process_cpu_seconds_total", facts.cpu_seconds);
    set_known(series, "process_max_fds", facts.max_fds);
    set_known(series, "process_open_fds", facts.open_fds);
    set_known(series, "process_resident_memory_bytes", facts.resident_bytes);
    set_known(series, "process_start_time_seconds", facts.start_seconds);
    set_known(series, "process_virtual_memory_bytes", facts.virtual_bytes);
}

static void fill_requests(const struct server *server, struct series *series)
{
    for (unsigned handler = 0; handler < SERVER_HANDLERS; handler++) {
        for (unsigned code = 0; code < SERVER_CODES; code++) {
            uint64_t count =
                server_requests(server, (enum server_handler)handler, (enum server_code)code);

            if (count > 0)
                SERIES_SET(series, OWN "http_requests_total", (double)count,
                           server_handler_names[handler], server_code_names[code]);
        }
    }
}

static void fill_objects(const struct store *store, struct series *series)
{
    CLEANUP(strbuf_release) struct strbuf resource = STRBUF_INIT(RESOURCE_MAX);

    series_clear(series, OWN "objects");
    for (const struct type *type = store_types(store); type; type = type->next) {
        if (type->objects == 0)
            continue;
        strbuf_reset(&resource);
        resource_name(&resource, type->kind, type->group);
        SERIES_SET(series, OWN "objects", (double)type->objects, resource.data);
    }
}

static void fill_thresholds(const struct options *o, struct series *series)
{
    SERIES_SET(series, OWN "threshold_seconds", (double)o->stale_age_ms / 1000, "stale_age");
    SERIES_SET(series, OWN "threshold_seconds", (double)o->pending_age_ms / 1000, "pending_age");
    SERIES_SET(series, OWN "threshold_seconds", (double)o->unbound_age_ms / 1000, "unbound_age");
}

static void fill_evaluation(const struct evaluation *e, struct series *series)
{
    SERIES_SET(series, OWN "evaluations_total", (double)engine_evaluations(e->engine));
    SERIES_SET(series, OWN "manifest_files", (double)manifests_file_count(e->manifests));
    SERIES_SET(series, OWN "manifest_errors", (double)manifests_broken_count(e->manifests));
    if (asset_source_snapshot_ms(e->assets) > 0)
        SERIES_SET(series, "karmada_configconnector_asset_snapshot_timestamp_seconds",
                   (double)asset_source_snapshot_ms(e->assets) / 1000);
    if (e->assets)
        SERIES_SET(series, OWN "decode_errors_total", (double)asset_source_rejected(e->assets),
                   "assets");
    fill_objects(e->store, series);
    fill_thresholds(&e->options, series);
}

void health_fill(const struct health *h, struct series *series)
{
    SERIES_SET(series, OWN "build_info", 1, EXPORTER_VERSION, exporter_revision, EXPORTER_COMPILER);
    SERIES_SET(series, OWN "snapshot_timestamp_seconds", (double)h->now_ms / 1000);
    SERIES_SET(series, OWN "config_last_reload_successful", h->config_loaded ? 1 : 0);
    fill_process(series);
    fill_requests(h->server, series);
    /* Clears what it shares with the manifests, and goes first therefore. */
    if (h->session)
        watch_health_fill(kube_session_source(h->session), series);
    SERIES_SET(series, OWN "decode_errors_total", (double)h->rejected, "manifests");
    if (h->evaluation)
        fill_evaluation(h->evaluation, series);
}
