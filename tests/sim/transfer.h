/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/wire.h"

/* Name of the object, without a namespace, that lists without end repeat (FAULT_PAGES). */
#define ENDLESS_NAME "again"

/* One request and its response. Private to wire.c and transfer.c. */

enum transfer_state {
    TRANSFER_NEW,       /* The request is on its way to the server. */
    TRANSFER_STALE,     /* The server waits for its watch cache. */
    TRANSFER_HANGING,   /* The server sends nothing more, for ever. */
    TRANSFER_SENDING,   /* The server sends the body; then the transfer ends. */
    TRANSFER_STREAMING, /* The watch stream is open. */
};

struct transfer {
    struct transfer *next;
    uint64_t id;
    struct transport_handler handler;
    struct api_request request;
    struct api_response response;
    struct api_stream changes;
    enum transfer_state state;
    unsigned server;
    bool stream;         /* Uses the connection for streams. */
    bool deaf;           /* FAULT_DEAF: the stream sends nothing more. */
    bool cut_looks_fine; /* The transport reports a cut body as complete. */
    size_t cut_at;       /* Bytes of the present body before the cut; SIZE_MAX: not cut. */
    size_t sent;
    int64_t opened_ms;
    int64_t next_ms;     /* Time of the next action. */
    int64_t lost_ms;     /* Time at which the connection breaks; INT64_MAX: never. */
    int64_t bookmark_ms; /* Time of the next bookmark. */
    int64_t ends_ms;     /* Time at which the server ends the stream. */
    int64_t struck_ms;   /* Last time at which faults of the stream were drawn. */
};

/* Adds bytes to the hash. */
void wire_hash(struct wire *w, const void *bytes, size_t len);
/* Returns a random delay in milliseconds. */
int64_t wire_delay(struct wire *w);
/* Frees the transfer and calls the handler's `done`, with `error` unless `complete`. */
void wire_finish(struct wire *w, struct transfer *t, bool complete, const char *error);

/* Performs the transfer's next action. May free the transfer. */
void transfer_turn(struct wire *w, struct transfer *t);
