/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/handle_map.h"

#include "tests/unit/number_sequence.h"
#include "tests/unit/suite.h"

enum { MANY = 40000 };

struct item {
    unsigned key;
};

static bool item_equal(const void *item, const void *key)
{
    return ((const struct item *)item)->key == *(const unsigned *)key;
}

/* Parameters of hash_of(): each row distributes the keys differently over the table. */
static struct spread_case {
    const char *name;
    unsigned keys;
    uint64_t multiply;
    uint64_t add;
} spread_cases[] = {
    {"spread hashes of many keys", 20000, UINT64_C(0x9e3779b97f4a7c15), 0},
    {"spread hashes", 200, UINT64_C(0x9e3779b97f4a7c15), 0},
    {"consecutive hashes", 200, 1, 0},
    {"one hash for all keys", 200, 0, 3},
    {"runs that wrap around the end of the table", 200, UINT64_C(1) << 24, UINT32_MAX - 7},
    {"hashes of two parts", 6000, UINT64_C(1) << 12, UINT64_C(0xff000000)},
};

struct lab {
    const struct spread_case *spread;
    struct pool *pool;
    struct handle_map map;
    struct item **items; /* By key; NULL if the map has no item. */
    unsigned *seen;
};

static void lab_setup(struct lab *lab, const struct spread_case *spread)
{
    *lab = (struct lab){.spread = spread, .pool = pool_new()};
    lab->map = HANDLE_MAP_INIT(lab->pool, item_equal);
    lab->items = xcalloc(spread->keys, sizeof(struct item *));
    lab->seen = xcalloc(spread->keys, sizeof(*lab->seen));
}

static void lab_release(struct lab *lab)
{
    handle_map_release(&lab->map);
    for (unsigned key = 0; key < lab->spread->keys; key++)
        pool_free(lab->items[key]);
    free(lab->items);
    free(lab->seen);
    pool_destroy(lab->pool);
}

static uint64_t hash_of(const struct spread_case *c, unsigned key)
{
    return key * c->multiply + c->add;
}

static void add_item(struct lab *lab, unsigned key)
{
    struct item *item = pool_alloc(lab->pool, sizeof(*item));

    item->key = key;
    handle_map_add(&lab->map, hash_of(lab->spread, key), item);
    lab->items[key] = item;
}

static void take_item(struct lab *lab, unsigned key)
{
    assert_ptr_equal(handle_map_take(&lab->map, hash_of(lab->spread, key), &key), lab->items[key]);
    pool_free(lab->items[key]);
    lab->items[key] = NULL;
}

/* Compares handle_map_get() of each key, and an iteration, with the items. */
static void compare_with_items(const struct lab *lab)
{
    const struct item *item;
    size_t count = 0;
    uint64_t at = 0;

    memset(lab->seen, 0, lab->spread->keys * sizeof(*lab->seen));
    while ((item = handle_map_next(&lab->map, &at)) != NULL)
        lab->seen[item->key]++;
    for (unsigned key = 0; key < lab->spread->keys; key++) {
        assert_ptr_equal(handle_map_get(&lab->map, hash_of(lab->spread, key), &key),
                         lab->items[key]);
        assert_int_equal(lab->seen[key], lab->items[key] != NULL);
        count += lab->items[key] != NULL;
    }
    assert_int_equal(lab->map.count, count);
}

TEST_ROWS(handle_map_agrees_with_an_array, spread_cases, name)
{
    const struct spread_case *c = *state;
    CLEANUP(lab_release) struct lab lab;
    uint64_t random = 20260101;

    lab_setup(&lab, c);
    for (unsigned step = 0; step < MANY; step++) {
        unsigned key = next_random(&random) % c->keys;
        /* The map grows and shrinks in turn: deletions occur in long and in short runs. */
        bool growing = step / (4 * c->keys) % 2 == 0;

        if (next_random(&random) % 4 >= (growing ? 3 : 1))
            take_item(&lab, key);
        else if (!lab.items[key])
            add_item(&lab, key);
        if (step % (MANY / 20) == 0)
            compare_with_items(&lab);
    }
    compare_with_items(&lab);
}

TEST(large_handle_map_is_nearly_full)
{
    static const struct spread_case spread = {.keys = MANY};
    CLEANUP(lab_release) struct lab lab;
    size_t slots = 0;

    lab_setup(&lab, &spread);
    for (unsigned key = 0; key < MANY; key++) {
        lab.items[key] = pool_alloc(lab.pool, sizeof(struct item));
        lab.items[key]->key = key;
        handle_map_add(&lab.map, map_hash(&key, sizeof(key), 1), lab.items[key]);
    }
    for (unsigned i = 0; i < HANDLE_MAP_PARTS; i++)
        slots += lab.map.parts[i].capacity;
    assert_in_range(slots, MANY * 5 / 4, MANY * 3 / 2);
}

TEST(empty_handle_map_returns_null)
{
    struct handle_map m = HANDLE_MAP_INIT(NULL, item_equal);
    unsigned key = 1;
    uint64_t at = 0;

    assert_null(handle_map_get(&m, 1, &key));
    assert_null(handle_map_take(&m, 1, &key));
    assert_null(handle_map_next(&m, &at));
    handle_map_release(&m);
}

TEST(released_handle_map_is_usable_again)
{
    static const struct spread_case spread = {.keys = 10, .multiply = 7};
    CLEANUP(lab_release) struct lab lab;

    lab_setup(&lab, &spread);
    add_item(&lab, 9);
    handle_map_release(&lab.map);
    pool_free(lab.items[9]);
    lab.items[9] = NULL;
    compare_with_items(&lab);
    add_item(&lab, 9);
    compare_with_items(&lab);
}

TEST(an_emptied_table_has_no_slots)
{
    struct lab lab;

    lab_setup(&lab, &spread_cases[0]);
    for (unsigned round = 0; round < 2; round++) {
        uint64_t at = 0;

        for (unsigned key = 0; key < lab.spread->keys; key++) {
            lab.items[key] = pool_alloc(lab.pool, sizeof(struct item));
            lab.items[key]->key = key;
            handle_map_add(&lab.map, hash_of(lab.spread, key), lab.items[key]);
        }
        for (unsigned key = 0; key < lab.spread->keys; key++) {
            assert_ptr_equal(handle_map_take(&lab.map, hash_of(lab.spread, key), &key),
                             lab.items[key]);
            pool_free(lab.items[key]);
            lab.items[key] = NULL;
        }
        assert_null(handle_map_next(&lab.map, &at));
        for (unsigned i = 0; i < HANDLE_MAP_PARTS; i++)
            assert_null(lab.map.parts[i].slots);
    }
    lab_release(&lab);
}
