/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/web_service.h"

#include "exporter/system/platform.h"

enum { CHECK_EVERY_MS = 1000 };

static bool open_access_control(struct web_service *web, const struct options *o, struct error *err)
{
    web->access_control = access_control_new(
        &(struct access_control_options){.path = o->web_config_file,
                                         .probes_without_auth = o->probes_without_auth},
        err);
    web->valid = web->access_control;
    web->changed_ms = platform_now_ms();
    web->checked_ms = platform_steady_ms();
    return web->access_control || fail_in(err, "--web.config.file");
}

bool web_service_start(struct web_service *web, const struct web_service_settings *settings,
                       struct error *err)
{
    const struct options *o = settings->options;

    web->log = settings->log;
    web->telemetry_path = xstrdup(o->telemetry_path);
    if (!site_url_parse(o->external_url, o->route_prefix, &web->site_url, err))
        return false;
    if (*o->web_config_file && !open_access_control(web, o, err))
        return false;

    const struct server_options server = {
        .addresses = (const char *const *)o->listen_addresses.items,
        .address_count = o->listen_addresses.count,
        .telemetry_path = web->telemetry_path,
        .prefix = web->site_url.prefix,
        .log = web->log,
        .heartbeat = settings->heartbeat,
        .memory_bytes = settings->memory_bytes,
        .access_control = web->access_control,
        .lifecycle = o->lifecycle,
        .plans = o->plans,
    };

    web->server = server_start(&server, settings->page_store, err);
    web->request_worker = web->server ? request_worker_new(err) : NULL;
    if (web->request_worker)
        web->api =
            api_new(server_request_queue(web->server), web->request_worker, platform_random_seed());
    return web->api;
}

void web_service_release(struct web_service *web)
{
    if (web->server)
        server_set_ready(web->server, false, "karmada-policy-exporter is stopping\n");
    request_worker_free(web->request_worker);
    api_free(web->api);
    server_stop(web->server);
    access_control_free(web->access_control);
    free(web->telemetry_path);
    site_url_release(&web->site_url);
    *web = (struct web_service){.valid = false};
}

int64_t web_service_files_due(const struct web_service *web)
{
    return web->access_control ? web->checked_ms + CHECK_EVERY_MS : INT64_MAX;
}

bool web_service_read_files(struct web_service *web)
{
    bool changed, was_valid = web->valid;
    struct error err = {""};

    web->checked_ms = platform_steady_ms();
    web->valid = access_control_reload(web->access_control, &changed, &err);
    if (changed) {
        web->changed_ms = platform_now_ms();
        log_write(web->log, LOG_LEVEL_INFO, "the web configuration has changed and is in force");
    } else if (web->valid && !was_valid) {
        log_write(web->log, LOG_LEVEL_INFO, "the web configuration of the file is in force again");
    } else if (!web->valid && strcmp(err.text, web->problem.text) != 0) {
        log_write(web->log, LOG_LEVEL_ERROR,
                  "the web configuration cannot be used; the old one stays in force", "error",
                  err.text);
    }
    web->problem = err;
    return changed || web->valid != was_valid;
}
