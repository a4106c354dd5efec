/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * How many streams may be open. Over HTTP/2 any number; over HTTP/1.1 each takes a connection, and
 * those are bounded. Required resources have theirs first: room is kept for those that have none
 * open at the moment.
 */
struct stream_room {
    unsigned limit;
    unsigned open;
    unsigned required; /* Slots of required resources that hold no room. */
};

/* The room of one stream. */
struct stream_slot {
    struct stream_room *room; /* Borrowed. */
    bool required;
    bool held;
};

/* From now on the resource may have a stream; stream_slot_release() ends that. */
void stream_slot_init(struct stream_slot *slot, struct stream_room *room, bool required);
void stream_slot_release(struct stream_slot *slot);

/* True if a stream may open, or is; then call stream_slot_leave() when it has ended. */
bool stream_slot_enter(struct stream_slot *slot) MUST_USE;
/* Does nothing if no room is held. */
void stream_slot_leave(struct stream_slot *slot);
