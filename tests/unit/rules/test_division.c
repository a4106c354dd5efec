/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/replica_projection.h"

#include "metrics/model/binding.h"

#include "metrics/model/metadata.h"
#include "tests/unit/suite.h"

enum { SHARES_MAX = 12, ROUNDS = 20000 };

static const char *const names[SHARES_MAX] = {"a", "b", "c", "d", "e", "f",
                                              "g", "h", "i", "j", "k", "l"};

/* UIDs with an even and an odd hash. */
static const char even_uid[] = "a";
static const char odd_uid[] = "b";

static uint32_t random_below(uint32_t *state, uint32_t limit)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state % limit;
}

/* Reference implementation: gives one replica at a time to the share with the highest priority. */
static void divide_one_by_one(struct share *shares, size_t count, int64_t replicas,
                              bool larger_name)
{
    for (; replicas > 0; replicas--) {
        struct share *best = &shares[0];

        for (size_t i = 1; i < count; i++) {
            struct share *s = &shares[i];
            double priority = (double)s->weight / (2 * (double)s->replicas + 1);
            double highest = (double)best->weight / (2 * (double)best->replicas + 1);
            bool name_wins = (strcmp(s->name, best->name) < 0) != larger_name;

            if (priority > highest ||
                (priority == highest &&
                 (s->replicas < best->replicas || (s->replicas == best->replicas && name_wins))))
                best = s;
        }
        best->replicas++;
    }
}

TEST(division_equals_giving_replicas_one_by_one)
{
    uint32_t random = 1;

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct share fast[SHARES_MAX];
        struct share slow[SHARES_MAX];
        size_t count = 1 + random_below(&random, SHARES_MAX);
        /* Small weights lead to ties, large weights to rounding. */
        uint32_t limit = round % 3 == 0 ? 4 : round % 3 == 1 ? 100 : 1 << 30;
        int64_t replicas = random_below(&random, round % 2 ? 20 : 300);
        bool odd = round % 5 < 2;

        for (size_t i = 0; i < count; i++) {
            fast[i] = (struct share){names[i], 1 + random_below(&random, limit), 77, 0};
            slow[i] = (struct share){names[i], fast[i].weight, 0, 0};
        }
        divide_by_weight(fast, count, replicas, uid_hash(odd ? odd_uid : even_uid));
        divide_one_by_one(slow, count, replicas, odd);
        for (size_t i = 0; i < count; i++) {
            if (fast[i].replicas != slow[i].replicas)
                fail_msg("round %u: %s gets %d, not %d", round, names[i], (int)fast[i].replicas,
                         (int)slow[i].replicas);
        }
    }
}

static struct tie_case {
    const char *name;
    const char *uid;
    int64_t weights[3];
    int64_t replicas;
    int64_t expected[3];
} tie_cases[] = {
    {"an even hash prefers the smaller name", even_uid, {1, 1, 1}, 1, {1, 0, 0}},
    {"an odd hash prefers the larger name", odd_uid, {1, 1, 1}, 1, {0, 0, 1}},
    {"fewer replicas win before the name", even_uid, {3, 1, 1}, 2, {1, 1, 0}},
    {"an empty UID has an odd hash", "", {1, 1, 1}, 2, {0, 1, 1}},
    {"no replicas", even_uid, {1, 2, 3}, 0, {0, 0, 0}},
    {"negative replicas", even_uid, {1, 2, 3}, -5, {0, 0, 0}},
    {"a weight a hundred times as high", even_uid, {100, 1, 1}, 10, {10, 0, 0}},
};

TEST_ROWS(ties_are_broken_by_replicas_then_name, tie_cases, name)
{
    const struct tie_case *c = *state;
    struct share shares[3];

    for (size_t i = 0; i < 3; i++)
        shares[i] = (struct share){names[i], c->weights[i], 0, 0};
    divide_by_weight(shares, 3, c->replicas, uid_hash(c->uid));
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(shares[i].replicas, c->expected[i]);
}

static int64_t divide_and_sum(int64_t first, int64_t second, int64_t replicas, size_t count)
{
    struct share *shares = xcalloc(count, sizeof(*shares));
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        shares[i] = (struct share){names[i % SHARES_MAX], i % 2 ? first : second, 0, 0};
    divide_by_weight(shares, count, replicas, uid_hash(even_uid));
    for (size_t i = 0; i < count; i++) {
        assert_true(shares[i].replicas >= 0);
        sum += shares[i].replicas;
    }
    free(shares);
    return sum;
}

/* Too many replicas for divide_one_by_one(): only the sum is checked. */
TEST(shares_of_huge_numbers_add_up)
{
    static const int64_t weights[][2] = {
        {1, 1}, {1, INT64_C(1) << 53}, {INT64_C(1) << 53, INT64_C(1) << 53}, {INT64_MAX, 1}, {7, 3},
    };
    static const size_t counts[] = {1, 2, 3, 1000};

    for (size_t i = 0; i < ARRAY_LEN(weights); i++) {
        for (size_t k = 0; k < ARRAY_LEN(counts); k++)
            assert_int_equal(divide_and_sum(weights[i][0], weights[i][1], INT32_MAX, counts[k]),
                             INT32_MAX);
    }
}

TEST(division_accepts_no_shares)
{
    divide_by_weight(NULL, 0, 5, uid_hash(even_uid));
}
