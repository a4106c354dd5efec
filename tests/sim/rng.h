/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* splitmix64: the same numbers everywhere, and as many independent streams as there are starts. */
struct rng {
    uint64_t state;
};

static inline uint64_t rng_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The stream `stream` of a seed: what it brings does not depend on what others have drawn. */
static inline struct rng rng_of(uint64_t seed, uint64_t stream)
{
    return (struct rng){rng_mix(seed * UINT64_C(0x9e3779b97f4a7c15) + 1) ^
                        rng_mix(stream + UINT64_C(0x632be59bd9b4e019))};
}

/* The next number below `limit`. */
static inline uint32_t rng_below(struct rng *r, uint32_t limit)
{
    return (uint32_t)(rng_mix(r->state += UINT64_C(0x9e3779b97f4a7c15)) % limit);
}

static inline bool rng_chance(struct rng *r, unsigned percent)
{
    return rng_below(r, 100) < percent;
}

/* Between both, which it may be. */
static inline int64_t rng_between(struct rng *r, int64_t from, int64_t to)
{
    return from + (int64_t)rng_below(r, (uint32_t)(to - from + 1));
}
