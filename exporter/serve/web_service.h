/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"
#include "exporter/web/server.h"
#include "exporter/web/site_url.h"

/*
 * The loop's side of the web: the server, who may ask it, and who answers what is asked of the live
 * store.
 */
struct web_service {
    struct access_control *access_control;
    struct server *server;
    struct request_worker *request_worker;
    struct api *api;
    char *telemetry_path;     /* A reload may change the option, not the server. */
    struct site_url site_url; /* Likewise. */
    const struct log *log;
    int64_t checked_ms;   /* When the web configuration file was last looked at; steady. */
    int64_t changed_ms;   /* When it was last put in force; since the epoch. */
    bool valid;           /* It was, when it was last looked at. */
    struct error problem; /* Why it was not; that is in the log. */
};

struct web_service_settings {
    const struct options *options;
    const struct log *log; /* Borrowed, as are the next ones. */
    const struct heartbeat *heartbeat;
    struct page_store *page_store;
    uint64_t memory_bytes; /* What clients' buffers may take. */
};

/* Release it in either case. */
bool web_service_start(struct web_service *web_service, const struct web_service_settings *settings,
                       struct error *err) MUST_USE;
/* All zero is fine. What is lent is given back first. */
void web_service_release(struct web_service *web_service);

/* When the files of the web configuration are to be looked at again (steady); INT64_MAX: never. */
int64_t web_service_files_due(const struct web_service *web_service);
/*
 * They answer: read them, and put in force what has changed. True if there is news for the page.
 */
bool web_service_read_files(struct web_service *web_service);
