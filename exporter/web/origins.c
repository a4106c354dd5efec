/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/origins.h"

#include <netinet/in.h>

#include "exporter/system/platform.h"

uint64_t origin_of(const struct sockaddr *address)
{
    uint64_t network = 0;

    if (address && address->sa_family == AF_INET)
        return ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr;
    if (address && address->sa_family == AF_INET6) {
        const struct in6_addr *six =
            &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        size_t skipped = IN6_IS_ADDR_V4MAPPED(six) ? sizeof(*six) - sizeof(uint32_t) : 0;

        memcpy(&network, six->s6_addr + skipped, skipped ? sizeof(uint32_t) : sizeof(network));
    }
    return network;
}

static bool is_of(const void *item, const void *key)
{
    const struct address_count *origin = item;
    const uint64_t *address = key;

    return origin->address == *address;
}

static uint64_t hash_of(const struct origins *o, uint64_t address)
{
    return map_hash(&address, sizeof(address), o->seed);
}

void origins_init(struct origins *o)
{
    *o = (struct origins){.map = MAP_INIT(is_of), .seed = platform_seed()};
}

void origins_release(struct origins *o)
{
    assert(o->map.count == 0);
    map_release(&o->map);
}

struct address_count *origins_join(struct origins *o, uint64_t address)
{
    uint64_t hash = hash_of(o, address);
    struct address_count *origin = map_get(&o->map, hash, &address);

    if (!origin) {
        origin = xcalloc(1, sizeof(*origin));
        origin->address = address;
        map_add(&o->map, hash, origin);
    }
    origin->count++;
    return origin;
}

void origins_leave(struct origins *o, struct address_count *origin)
{
    if (--origin->count > 0)
        return;
    (void)map_take(&o->map, hash_of(o, origin->address), &origin->address);
    free(origin);
}
