/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/server.h"

/* Starts a server on a free port of 127.0.0.1. Returns NULL with `err` set on failure. */
static inline struct server *local_server(struct page_store *page_store, struct error *err)
{
    static const char *const address = "127.0.0.1:0";
    const struct server_options options = {
        .addresses = &address, .address_count = 1, .telemetry_path = "/metrics"};

    return server_start(&options, page_store, err);
}
