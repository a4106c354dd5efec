/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/map.h"

#include "tests/unit/number_sequence.h"
#include "tests/unit/suite.h"

enum { KEYS = 200, STEPS = 40000 };

struct item {
    unsigned key;
    bool inside; /* Expected presence in the map. */
};

static bool item_equal(const void *item, const void *key)
{
    return ((const struct item *)item)->key == *(const unsigned *)key;
}

/* Parameters of hash_of(): each row distributes the keys differently over the table. */
static struct spread_case {
    const char *name;
    uint64_t multiply;
    uint64_t modulo;
    uint64_t add;
} spread_cases[] = {
    {"spread hashes", UINT64_C(0x9e3779b97f4a7c15), UINT64_MAX, 0},
    {"consecutive hashes", 1, UINT64_MAX, 0},
    {"seven different hashes", 1, 7, 0},
    {"one hash for all keys", 0, UINT64_MAX, 3},
    {"runs that wrap around the end of the table", 1, 16, UINT64_MAX - 7},
    {"different hashes in one bucket", UINT64_C(1) << 32, UINT64_MAX, 5},
};

static uint64_t hash_of(const struct spread_case *c, unsigned key)
{
    return key * c->multiply % c->modulo + c->add;
}

/* Compares map_get() of each key, and an iteration with map_next(), with `items`. */
static void compare_with_items(const struct spread_case *c, const struct map *m, struct item *items)
{
    unsigned seen[KEYS] = {0};
    size_t count = 0;
    size_t at = 0;
    const struct item *item;

    for (unsigned key = 0; key < KEYS; key++) {
        void *want = items[key].inside ? &items[key] : NULL;

        assert_ptr_equal(map_get(m, hash_of(c, key), &key), want);
        count += items[key].inside ? 1 : 0;
    }
    assert_int_equal(m->count, count);
    while ((item = map_next(m, &at)) != NULL)
        seen[item->key]++;
    for (unsigned key = 0; key < KEYS; key++)
        assert_int_equal(seen[key], items[key].inside ? 1 : 0);
}

TEST_ROWS(map_agrees_with_an_array, spread_cases, name)
{
    const struct spread_case *c = *state;
    CLEANUP(map_release) struct map m = MAP_INIT(item_equal);
    struct item items[KEYS];
    uint64_t random = 20260101;

    for (unsigned key = 0; key < KEYS; key++)
        items[key] = (struct item){.key = key};
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned key = next_random(&random) % KEYS;
        /* The map grows and shrinks in turn: deletions occur in long and in short runs. */
        bool growing = step / 1000 % 2 == 0;
        bool add = next_random(&random) % 4 < (growing ? 3 : 1);

        if (add && !items[key].inside) {
            map_add(&m, hash_of(c, key), &items[key]);
            items[key].inside = true;
        } else if (!add) {
            void *want = items[key].inside ? &items[key] : NULL;

            assert_ptr_equal(map_take(&m, hash_of(c, key), &key), want);
            items[key].inside = false;
        }
        if (step % 97 == 0)
            compare_with_items(c, &m, items);
    }
    compare_with_items(c, &m, items);
}

TEST(empty_map_returns_null)
{
    struct map m = MAP_INIT(item_equal);
    unsigned key = 1;
    size_t at = 0;

    assert_null(map_get(&m, 1, &key));
    assert_null(map_take(&m, 1, &key));
    assert_null(map_next(&m, &at));
    map_release(&m);
}

TEST(released_map_is_usable_again)
{
    CLEANUP(map_release) struct map m = MAP_INIT(item_equal);
    struct item item = {.key = 9};

    map_add(&m, 1, &item);
    map_release(&m);
    assert_int_equal(m.count, 0);
    assert_null(map_get(&m, 1, &item.key));
    map_add(&m, 1, &item);
    assert_ptr_equal(map_get(&m, 1, &item.key), &item);
}

TEST(map_hash_depends_on_bytes_and_seed)
{
    assert_true(map_hash("abc", 3, 1) == map_hash("abc", 3, 1));
    assert_true(map_hash("abc", 3, 1) != map_hash("abc", 3, 2));
    assert_true(map_hash("abc", 3, 1) != map_hash("abd", 3, 1));
    assert_true(map_hash("abc", 3, 1) != map_hash("abc", 2, 1));
}
