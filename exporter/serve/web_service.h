/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"
#include "exporter/web/server.h"
#include "exporter/web/site_url.h"

/*
 * The loop's side of the web: the server, who may ask it, and who answers what is asked of the live
 * store.
 */
struct web {
    struct access_control *access_control;
    struct server *server;
    struct request_worker *request_worker;
    struct api *api;
    char *telemetry_path;  /* A reload may change the option, not the server. */
    struct site_url place; /* Likewise. */
    const struct log *log;
    int64_t checked_ms;   /* When the web configuration file was last looked at; steady. */
    int64_t changed_ms;   /* When it was last put in force; since the epoch. */
    bool valid;           /* It was, when it was last looked at. */
    struct error problem; /* Why it was not; that is in the log. */
};

struct web_settings {
    const struct options *options;
    const struct log *log; /* Borrowed, as are the next ones. */
    const struct heartbeat *heartbeat;
    struct page_store *page_store;
    uint64_t memory_bytes; /* What clients' buffers may take. */
};

/* Release it in either case. */
bool web_start(struct web *web, const struct web_settings *settings, struct error *err) MUST_USE;
/* All zero is fine. What is lent is given back first. */
void web_release(struct web *web);

/* When the files of the web configuration are to be looked at again (steady); INT64_MAX: never. */
int64_t web_files_due(const struct web *web);
/*
 * They answer: read them, and put in force what has changed. True if there is news for the page.
 */
bool web_read_files(struct web *web);
