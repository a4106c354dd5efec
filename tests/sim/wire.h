/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/http/transport.h"
#include "tests/sim/api.h"
#include "tests/sim/rng.h"

/*
 * Transport between the exporter and the API servers, in virtual time. Requests and pieces of
 * responses have delays; connections, requests and streams suffer the faults of the plan. As in the
 * HTTP client, a response has no timeout: the caller cancels a request that stalls.
 */
struct wire {
    struct api *api;
    const struct plan *plan;
    struct rng rng;
    int64_t now_ms;
    struct transfer *transfers;
    unsigned connected[2]; /* Servers for short requests, and for streams. */
    uint64_t hash;         /* Hash of all requests and responses, and of the last page. */
    uint64_t next_id;
    uint64_t strikes; /* Number of times that a fault took effect. */
    /* Number of requests by target, without continued pages and reads of one object. */
    uint64_t requests[SIM_TARGET_COUNT];
    bool noisy;           /* Requests and responses are printed on stderr. */
    unsigned watches_max; /* Most watches of a kind at a time; of Events, of a reason. */
    unsigned lists_max;   /* Most lists of a kind at a time, counted as watches_max. */
};

void wire_init(struct wire *w, struct api *api, const struct plan *plan);
void wire_release(struct wire *w);
struct transport wire_transport(struct wire *w);

/* Advances the time to `now_ms`, and performs all actions that are due. */
void wire_turn(struct wire *w, int64_t now_ms);
/* Returns the time of the next action; INT64_MAX if no transfer has one. */
int64_t wire_due(const struct wire *w);

/* Makes open streams check for new events after a short delay. */
void wire_wake(struct wire *w);
/* Adds a page to the hash. */
void wire_hash_page(struct wire *w, const char *page);
/* Applies the start of a fault to connections and open transfers. */
void wire_strike(struct wire *w, const struct fault *f);
