/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"
#include "exporter/web/server.h"
#include "exporter/web/site_url.h"

/*
 * HTTP service of the exporter: the web server, its access control, and the API, which answers
 * requests that need the current evaluation. Only the loop thread calls the functions.
 */
struct web_service {
    struct access_control *access_control; /* NULL without --web.config.file. */
    struct server *server;
    struct request_worker *request_worker; /* Thread that writes the responses of `api`. */
    struct api *api;
    char *telemetry_path;     /* A copy: reloads do not change the server. */
    struct site_url site_url; /* A copy, like telemetry_path. */
    const struct log *log;    /* Borrowed. */
    int64_t checked_ms;       /* Last check of the files of the web configuration; steady. */
    int64_t changed_ms;       /* Last change of the web configuration in force; since the epoch. */
    bool valid;               /* At the last check the files were valid and needed no restart. */
    struct error problem;     /* Error of the last check; "" if `valid`. */
};

struct web_service_settings {
    const struct options *options;     /* Borrowed until web_service_start() returns. */
    const struct log *log;             /* Borrowed, as are the next two members. */
    const struct heartbeat *heartbeat; /* Heartbeat of the loop. */
    struct page_store *page_store;     /* Pages to serve. */
    uint64_t memory_bytes;             /* Limit in struct server_options; 0 for no limit. */
};

/*
 * Listens on the addresses of the options and starts the threads. `web` is zeroed before. Returns
 * false with the reason on failure; the caller calls web_service_release() even then.
 */
bool web_service_start(struct web_service *web, const struct web_service_settings *settings,
                       struct error *err) MUST_USE;
/* Waits for the request worker, closes connections, frees everything. Accepts a zeroed struct. */
void web_service_release(struct web_service *web);

/* Returns the steady time in ms of the next web_service_read_files(); INT64_MAX: never. */
int64_t web_service_files_due(const struct web_service *web);
/*
 * Reads the files of the web configuration and puts valid changes in force; blocks while a file
 * does not answer. Needs --web.config.file. Returns true if `valid` or the configuration in
 * force has changed.
 */
bool web_service_read_files(struct web_service *web);
