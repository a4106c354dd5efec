/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/type_counts.h"

struct type_count {
    const char *names[2];
    size_t references;
};

static bool is_type_count(const void *item, const void *key)
{
    const struct type_count *type = item;

    return memcmp(type->names, key, sizeof(type->names)) == 0;
}

void type_counts_init(struct type_counts *c, uint64_t seed)
{
    *c = (struct type_counts){.types = MAP_INIT(is_type_count), .seed = seed};
}

void type_counts_release(struct type_counts *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->order[i]);
    free(c->order);
    map_release(&c->types);
}

void type_counts_add(struct type_counts *c, const char *api_version, const char *kind)
{
    const char *names[] = {api_version, kind};
    uint64_t hash = map_hash(names, sizeof(names), c->seed);
    struct type_count *type = map_get(&c->types, hash, names);

    if (!type) {
        type = xcalloc(1, sizeof(*type));
        memcpy(type->names, names, sizeof(names));
        map_add(&c->types, hash, type);
        c->order = xreallocarray(c->order, c->count + 1, sizeof(struct type_count *));
        c->order[c->count++] = type;
        c->version++;
    }
    type->references++;
}

void type_counts_remove(struct type_counts *c, const char *api_version, const char *kind)
{
    const char *names[] = {api_version, kind};
    uint64_t hash = map_hash(names, sizeof(names), c->seed);
    struct type_count *type = map_get(&c->types, hash, names);
    size_t at = 0;

    assert(type && type->references > 0);
    if (--type->references > 0)
        return;
    map_take(&c->types, hash, names);
    while (c->order[at] != type)
        at++;
    memmove(&c->order[at], &c->order[at + 1], (--c->count - at) * sizeof(struct type_count *));
    free(type);
    c->version++;
}

size_t type_counts_get(const struct type_counts *c, const char *api_version, const char *kind)
{
    const char *names[] = {api_version, kind};
    const struct type_count *type =
        map_get(&c->types, map_hash(names, sizeof(names), c->seed), names);

    return type ? type->references : 0;
}

bool type_counts_next(const struct type_counts *c, size_t *at, const char **api_version,
                      const char **kind)
{
    if (*at == c->count)
        return false;
    *api_version = c->order[*at]->names[0];
    *kind = c->order[(*at)++]->names[1];
    return true;
}
