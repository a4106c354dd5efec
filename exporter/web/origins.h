/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/socket.h>

#include "metrics/base/map.h"

/*
 * Where clients come from, for what one of them is not to take from all others: a host, or of IPv6
 * the network of which one host has all addresses (64 bits). Clients of a Unix socket, and those
 * whose address is not known, are one.
 */
uint64_t origin_of(const struct sockaddr *address);

/* How many there are of each. Whoever has it guards it. */
struct address_count {
    uint64_t address;
    unsigned count;
};

struct origins {
    struct map map;
    uint64_t seed;
};

void origins_init(struct origins *o);
/* Nobody may be left. */
void origins_release(struct origins *o);

/* One more of an address, or one less: the origin lives until the last one has left. */
struct address_count *origins_join(struct origins *o, uint64_t address) MUST_USE;
void origins_leave(struct origins *o, struct address_count *origin);
