/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/wire.h"

/* One request and its response; for the wire alone. */
enum transfer_state {
    TRANSFER_NEW,     /* Under way to the server, */
    TRANSFER_STALE,   /* which waits for its cache to become fresh enough; */
    TRANSFER_HANGING, /* or says nothing, for ever. */
    TRANSFER_SENDING, /* The body comes, and that is the end. */
    TRANSFER_STREAMING,
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
    bool stream; /* To the client: it may be quiet. */
    bool deaf;
    bool cut_looks_fine;
    size_t cut_at; /* Where the body breaks off; SIZE_MAX: nowhere. */
    size_t sent;
    int64_t opened_ms;
    int64_t next_ms; /* When there is something to do. */
    int64_t lost_ms; /* When its connection breaks; INT64_MAX: never. */
    int64_t bookmark_ms;
    int64_t ends_ms;
    int64_t struck_ms; /* When a fault of streams struck it last. */
};

void wire_hash(struct wire *w, const void *bytes, size_t len);
int64_t wire_delay(struct wire *w);
/* The transfer is over: say so, and let it go. */
void wire_finish(struct wire *w, struct transfer *t, bool complete, const char *error);

/* Do what is due. The transfer may be gone afterwards. */
void transfer_turn(struct wire *w, struct transfer *t);
