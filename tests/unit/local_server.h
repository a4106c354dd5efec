/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/server.h"

/* A server on a free port of this machine, as tests that need no more of it start it. */
static inline struct server *local_server(struct snapshot *snapshot, struct error *err)
{
    static const char *const address = "127.0.0.1:0";
    const struct server_options options = {
        .addresses = &address, .address_count = 1, .telemetry_path = "/metrics"};

    return server_start(&options, snapshot, err);
}
