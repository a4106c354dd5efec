/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* Pseudorandom number generator splitmix64; the numbers are the same on every platform. */
struct rng {
    uint64_t state;
};

static inline uint64_t rng_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/*
 * Returns the generator of number sequence `stream` of a seed. Draws from one sequence do not
 * affect the others.
 */
static inline struct rng rng_of(uint64_t seed, uint64_t stream)
{
    return (struct rng){rng_mix(seed * UINT64_C(0x9e3779b97f4a7c15) + 1) ^
                        rng_mix(stream + UINT64_C(0x632be59bd9b4e019))};
}

/* Returns the next number below `limit`, which must not be 0. */
static inline uint32_t rng_below(struct rng *r, uint32_t limit)
{
    return (uint32_t)(rng_mix(r->state += UINT64_C(0x9e3779b97f4a7c15)) % limit);
}

/* Returns true with a probability of `percent`. */
static inline bool rng_chance(struct rng *r, unsigned percent)
{
    return rng_below(r, 100) < percent;
}

/* Returns a number from `from` to `to`, both included. */
static inline int64_t rng_between(struct rng *r, int64_t from, int64_t to)
{
    return from + (int64_t)rng_below(r, (uint32_t)(to - from + 1));
}
