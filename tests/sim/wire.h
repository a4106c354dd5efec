/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/http/transport.h"
#include "tests/sim/api.h"
#include "tests/sim/rng.h"

/*
 * What lies between the exporter and the API servers, in virtual time: connections to some server,
 * requests and pieces of responses with delays, and all the faults that a network and a server can
 * have. It has no patience of its own, as the HTTP client has none.
 */
struct wire {
    struct api *api;
    const struct plan *plan;
    struct rng rng;
    int64_t now_ms;
    struct transfer *transfers;
    unsigned connected[2]; /* To which server, for short requests and for streams. */
    uint64_t hash;         /* Of all that went over it. */
    uint64_t next_id;
    uint64_t strikes; /* How often a fault struck. */
    uint64_t requests[SIM_TARGET_COUNT];
    bool noisy;           /* All of it is told on stderr. */
    unsigned watches_max; /* Most streams of one kind, of events of one reason, */
    unsigned lists_max;   /* and most lists of one kind. */
};

void wire_init(struct wire *w, struct api *api, const struct plan *plan);
void wire_release(struct wire *w);
struct transport wire_transport(struct wire *w);

/* Do all that is due at `now_ms`. */
void wire_turn(struct wire *w, int64_t now_ms);
/* When something is due; INT64_MAX for never. */
int64_t wire_due(const struct wire *w);

/* The servers have something new: streams look for it soon. */
void wire_wake(struct wire *w);
/* Have a text count in the hash. */
void wire_hash_page(struct wire *w, const char *page);
/* A fault begins that concerns what is open. */
void wire_strike(struct wire *w, const struct fault *f);
