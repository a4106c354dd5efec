/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/web_service.h"

#include "exporter/system/platform.h"

enum { CHECK_EVERY_MS = 1000 };

static bool start_admission(struct web_service *web_service, const struct options *o,
                            struct error *err)
{
    web_service->access_control = access_control_new(
        &(struct access_control_options){.path = o->web_config_file,
                                         .probes_without_auth = o->probes_without_auth},
        err);
    web_service->valid = web_service->access_control;
    web_service->changed_ms = platform_now_ms();
    web_service->checked_ms = platform_steady_ms();
    return web_service->access_control || fail_in(err, "--web.config.file");
}

bool web_service_start(struct web_service *web_service, const struct web_service_settings *settings,
                       struct error *err)
{
    const struct options *o = settings->options;

    web_service->log = settings->log;
    web_service->telemetry_path = xstrdup(o->telemetry_path);
    if (!site_url_parse(o->external_url, o->route_prefix, &web_service->site_url, err))
        return false;
    if (*o->web_config_file && !start_admission(web_service, o, err))
        return false;

    const struct server_options server = {
        .addresses = (const char *const *)o->listen_addresses.items,
        .address_count = o->listen_addresses.count,
        .telemetry_path = web_service->telemetry_path,
        .prefix = web_service->site_url.prefix,
        .log = web_service->log,
        .heartbeat = settings->heartbeat,
        .memory_bytes = settings->memory_bytes,
        .access_control = web_service->access_control,
        .lifecycle = o->lifecycle,
        .plans = o->plans,
    };

    web_service->server = server_start(&server, settings->page_store, err);
    web_service->request_worker = web_service->server ? request_worker_new(err) : NULL;
    if (web_service->request_worker)
        web_service->api = api_new(server_request_queue(web_service->server),
                                   web_service->request_worker, platform_seed());
    return web_service->api;
}

void web_service_release(struct web_service *web_service)
{
    if (web_service->server)
        server_set_ready(web_service->server, false, "karmada-policy-exporter is stopping\n");
    request_worker_free(web_service->request_worker);
    api_free(web_service->api);
    server_stop(web_service->server);
    access_control_free(web_service->access_control);
    free(web_service->telemetry_path);
    site_url_release(&web_service->site_url);
    *web_service = (struct web_service){.valid = false};
}

int64_t web_service_files_due(const struct web_service *web_service)
{
    return web_service->access_control ? web_service->checked_ms + CHECK_EVERY_MS : INT64_MAX;
}

bool web_service_read_files(struct web_service *web_service)
{
    bool changed, was_valid = web_service->valid;
    struct error err = {""};

    web_service->checked_ms = platform_steady_ms();
    web_service->valid = access_control_reload(web_service->access_control, &changed, &err);
    if (changed) {
        web_service->changed_ms = platform_now_ms();
        log_write(web_service->log, LOG_LEVEL_INFO,
                  "the web configuration has changed and is in force");
    } else if (web_service->valid && !was_valid) {
        log_write(web_service->log, LOG_LEVEL_INFO,
                  "the web configuration in force is the file's again");
    } else if (!web_service->valid && strcmp(err.text, web_service->problem.text) != 0) {
        log_write(web_service->log, LOG_LEVEL_ERROR,
                  "the web configuration cannot be used; the old one stays in force", "error",
                  err.text);
    }
    web_service->problem = err;
    return changed || web_service->valid != was_valid;
}
