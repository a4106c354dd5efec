/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/http/transport.h"
#include "exporter/kube/list_limiter.h"
#include "exporter/kube/namespace_filter.h"
#include "exporter/kube/stream_room.h"
#include "exporter/system/log.h"
#include "exporter/system/rate_limit.h"

struct discovery;
struct store;

/* What all reflectors of a source share, and its discoverer. */
struct reflector_context {
    struct store *store;
    struct transport transport;
    const struct namespace_filter *filter;
    const struct log *log;
    struct list_limiter limiter;
    struct stream_room streams;
    unsigned single_reads; /* How many may be open. */
    int64_t now_ms;        /* Steady. */
    int64_t clock_ms;      /* Since the epoch. */
    uint64_t random;
    unsigned reflector_count;
    unsigned failing_count; /* Of them, those that the server does not serve at the moment. */
    int64_t recovered_ms;   /* When it last answered again after it had failed most of them. */
    uint64_t restores;      /* How often the server was restored from a backup, as is known. */
    struct haste haste;     /* Of acting upon that. */
    uint32_t last_source;
    uint64_t health_version; /* Changes with what people are told of any reflector. */
    const struct discovery *discovery;
    bool streaming_lists; /* Ask for streams that begin with all objects, until that is refused. */
};

/* A turn begins: it is that late, and there is as much room as the transport says. */
void reflector_begin_turn(struct reflector_context *context, int64_t now_ms, int64_t clock_ms);

/* The server has answered a request as it should. */
void reflector_answered(struct reflector_context *context);

/*
 * The server was restored from a backup: what every reflector knows may be undone. Counts it,
 * unless there were too many of late for all of them to list anew.
 */
void reflector_restored(struct reflector_context *context);

/* The next random number. */
uint32_t reflector_random(struct reflector_context *context);
