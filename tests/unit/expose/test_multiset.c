/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/series.h"

#include "tests/unit/suite.h"

enum { STEPS = 4000, VALUES_MAX = 64 };

struct churn {
    const char *name;
    uint32_t values;   /* Number of different values. */
    uint32_t add_of_8; /* Number of steps, of 8, that add a value. */
};

static struct churn churns[] = {
    {"few values, mostly added", 3, 6},
    {"few values, as often removed", 3, 4},
    {"many values, as often removed", VALUES_MAX, 4},
    {"many values, mostly removed", VALUES_MAX, 2},
};

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Compares the multiset with a count of each value. Some values are negative. */
TEST_ROWS(multiset_agrees_with_counts, churns, name)
{
    const struct churn *churn = *state;
    CLEANUP(multiset_release) struct multiset m = {0};
    uint32_t counts[VALUES_MAX] = {0};
    uint32_t random = 12345;

    for (unsigned step = 0; step < STEPS; step++) {
        uint32_t value = next_random(&random) % churn->values;
        int64_t smallest = -99;
        uint32_t first = 0;

        if (next_random(&random) % 8 < churn->add_of_8) {
            multiset_add(&m, (int64_t)value - 2);
            counts[value]++;
        } else if (counts[value] > 0) {
            multiset_remove(&m, (int64_t)value - 2);
            counts[value]--;
        }
        while (first < churn->values && counts[first] == 0)
            first++;
        assert_int_equal(multiset_min(&m, &smallest), first < churn->values);
        assert_int_equal(smallest, first < churn->values ? (int64_t)first - 2 : -99);
    }
}

/* Removed values must not stay in the heap as long as an older value is the smallest. */
TEST(memory_of_removed_values_is_reused)
{
    CLEANUP(multiset_release) struct multiset m = {0};
    int64_t smallest = 0;

    multiset_add(&m, 1);
    for (int64_t i = 2; i < 100000; i++) {
        multiset_add(&m, i);
        multiset_remove(&m, i);
    }
    assert_true(multiset_min(&m, &smallest));
    assert_int_equal(smallest, 1);
    assert_true(m.present.capacity <= 256);
    assert_true(m.removed.capacity <= 256);
}

TEST(smallest_and_largest_integer_are_values)
{
    CLEANUP(multiset_release) struct multiset m = {0};
    int64_t smallest = 0;

    assert_false(multiset_min(&m, &smallest));
    multiset_add(&m, INT64_MAX);
    multiset_add(&m, INT64_MIN);
    assert_true(multiset_min(&m, &smallest));
    assert_true(smallest == INT64_MIN);
    multiset_remove(&m, INT64_MIN);
    assert_true(multiset_min(&m, &smallest));
    assert_true(smallest == INT64_MAX);
    multiset_remove(&m, INT64_MAX);
    assert_false(multiset_min(&m, &smallest));
}
