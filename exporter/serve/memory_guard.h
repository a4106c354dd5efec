/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/system/log.h"
#include "metrics/expose/registry.h"

/*
 * Keeps memory below its limit. Near it the families with one series an object go first: they
 * say nothing that the others do not count. They come back when there would be room for them.
 */
struct memory_guard {
    uint64_t limit;                  /* In bytes; 0: there is none. */
    const struct registry *registry; /* Whose families were left out; NULL: none are. */
    int64_t looked_ms;
    int64_t changed_ms;
    uint64_t before; /* Resident, when they went. */
    uint64_t freed;  /* By that; known from the next look on. */
    bool measured;
    bool warned; /* Of a limit that is reached all the same. */
};

enum memory_step { MEMORY_KEEP, MEMORY_SHED, MEMORY_RESTORE };

/*
 * What to do where so much is resident: shed from four fifths of the limit on, and restore a
 * minute later or more, once what was freed would leave it below seven tenths. The caller does it.
 */
enum memory_step memory_guard_decide(struct memory_guard *g, const struct registry *r,
                                     uint64_t resident, int64_t now_ms);

/*
 * Look, at most once a second, and do it; true if that changed what is shown. All objects have to
 * be evaluated. `now_ms` is steady.
 */
bool memory_guard_turn(struct memory_guard *g, struct registry *r, const struct log *log,
                       int64_t now_ms);
