/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/intern.h"

#include "metrics/base/map.h"

struct intern {
    uint64_t seed;
    struct map strings;
};

/* What stands in front of every shared string. */
struct shared {
    uint64_t hash;
    uint32_t len;
    uint32_t holders;
    char text[];
};

struct text_key {
    const char *text;
    size_t len;
};

static bool shared_equal(const void *item, const void *key)
{
    const struct shared *string = item;
    const struct text_key *k = key;

    return string->len == k->len && memcmp(string->text, k->text, k->len) == 0;
}

/* Callers get `const char *` so that they cannot write; the block itself is ours to count in. */
static struct shared *header_of(const char *shared)
{
    return (struct shared *)((uintptr_t)shared - offsetof(struct shared, text));
}

struct intern *intern_new(uint64_t seed)
{
    struct intern *pool = xmalloc(sizeof(*pool));

    *pool = (struct intern){.seed = seed, .strings = MAP_INIT(shared_equal)};
    return pool;
}

void intern_free(struct intern *pool)
{
    size_t at = 0;
    void *string;

    if (!pool)
        return;
    while ((string = map_next(&pool->strings, &at)) != NULL)
        free(string);
    map_release(&pool->strings);
    free(pool);
}

const char *intern_add(struct intern *pool, const char *s)
{
    return intern_add_len(pool, s, strlen(s));
}

const char *intern_add_len(struct intern *pool, const char *s, size_t len)
{
    uint64_t hash = map_hash(s, len, pool->seed);
    struct shared *string = map_get(&pool->strings, hash, &(struct text_key){s, len});

    if (string)
        return intern_ref(string->text);

    assert(len < UINT32_MAX);
    string = xmalloc(sizeof(*string) + len + 1);
    string->hash = hash;
    string->len = (uint32_t)len;
    string->holders = 1;
    if (len > 0)
        memcpy(string->text, s, len);
    string->text[len] = '\0';
    map_add(&pool->strings, hash, string);
    return string->text;
}

const char *intern_ref(const char *shared)
{
    struct shared *string = header_of(shared);

    /* Wrapping would free a string under its holders. */
    assert(string->holders < UINT32_MAX);
    string->holders++;
    return shared;
}

const char *intern_find(const struct intern *pool, const char *s)
{
    size_t len = strlen(s);
    const struct shared *string =
        map_get(&pool->strings, map_hash(s, len, pool->seed), &(struct text_key){s, len});

    return string ? string->text : NULL;
}

void intern_drop(struct intern *pool, const char *shared)
{
    if (!shared)
        return;

    struct shared *string = header_of(shared);

    if (--string->holders > 0)
        return;
    free(map_take(&pool->strings, string->hash, &(struct text_key){string->text, string->len}));
}

size_t intern_count(const struct intern *pool)
{
    return pool->strings.count;
}
