/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Returns the next number of a fixed sequence, so that a failure is reproducible. */
static inline uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}
