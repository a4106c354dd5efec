/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/context.h"

#include <limits.h>

enum { RESTORE_COST_MS = 10 * 1000 };

uint32_t reflector_random(struct reflector_context *context)
{
    /* splitmix64: spread is all that is asked of it. */
    uint64_t z = context->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z >> 32);
}

void reflector_begin_turn(struct reflector_context *context, int64_t now_ms, int64_t clock_ms)
{
    struct transport_room room = {UINT_MAX, UINT_MAX, UINT_MAX};

    if (context->transport.room)
        room = context->transport.room(context->transport.context);
    context->now_ms = now_ms;
    context->clock_ms = clock_ms;
    context->limiter.room = room.lists;
    context->streams.limit = room.streams;
    context->single_reads = room.single_reads;
}

void reflector_answered(struct reflector_context *context)
{
    if (context->failing_count > 0 && context->failing_count * 2 >= context->reflector_count)
        context->recovered_ms = context->now_ms;
}

void reflector_restored(struct reflector_context *context)
{
    if (haste_take(&context->haste, RESTORE_COST_MS, context->now_ms))
        context->restores++;
}
