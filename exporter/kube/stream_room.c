/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/stream_room.h"

void stream_slot_init(struct stream_slot *slot, struct stream_room *room, bool required)
{
    *slot = (struct stream_slot){.room = room, .required = required};
    room->required += required;
}

void stream_slot_release(struct stream_slot *slot)
{
    stream_slot_leave(slot);
    slot->room->required -= slot->required;
}

bool stream_slot_enter(struct stream_slot *slot)
{
    struct stream_room *room = slot->room;
    unsigned kept = slot->required ? 0 : room->required;

    if (slot->held)
        return true;
    if (room->open >= room->limit || room->limit - room->open <= kept)
        return false;
    room->open++;
    room->required -= slot->required;
    slot->held = true;
    return true;
}

void stream_slot_leave(struct stream_slot *slot)
{
    if (!slot->held)
        return;
    slot->room->open--;
    slot->room->required += slot->required;
    slot->held = false;
}
