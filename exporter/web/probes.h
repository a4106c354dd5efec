/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "exporter/system/platform.h"

/*
 * What the health paths answer. The threads that serve HTTP ask, and look for themselves: a page
 * would be as old as the loop is.
 */
struct probes;

/* `heartbeat`, which is borrowed: healthy while it beats; NULL: always. Not ready at first. */
struct probes *probes_new(const struct heartbeat *heartbeat) MUST_USE;
/* NULL is fine. */
void probes_free(struct probes *p);

/* From now on it is ready, or not, with this text, which is copied and ends its last line. */
void probes_set_ready(struct probes *p, bool ready, const char *text);

/* Who asks a health path. */
struct probe {
    struct MHD_Connection *connection;
    const char *name; /* Of the path, for ?verbose. */
    bool anonymous;   /* Is to be told no more than whether all is well. */
};

/* Does the loop turn, and is there something to serve? */
struct MHD_Response *probes_health(struct probes *p, const struct probe *probe,
                                   unsigned *out_status) MUST_USE;
struct MHD_Response *probes_readiness(struct probes *p, const struct probe *probe,
                                      unsigned *out_status) MUST_USE;
