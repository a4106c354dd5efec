/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/division.h"

/* The shares by who gets the next replica: a heap with the first in line on top. */
struct line {
    struct share **items;
    size_t count;
    bool larger_name; /* At a tie the larger name comes first. */
};

/* In doubles like Karmada, because rounding makes ties. */
static double priority(const struct share *share, int64_t replicas)
{
    return (double)share->weight / (2 * (double)replicas + 1);
}

static bool comes_before(const struct line *line, const struct share *a, const struct share *b)
{
    double first = priority(a, a->replicas);
    double second = priority(b, b->replicas);

    if (first != second)
        return first > second;
    if (a->replicas != b->replicas)
        return a->replicas < b->replicas;
    return (strcmp(a->name, b->name) < 0) != line->larger_name;
}

static void sink(struct line *line, size_t at)
{
    struct share *moved = line->items[at];

    for (size_t child = 2 * at + 1; child < line->count; child = 2 * at + 1) {
        if (child + 1 < line->count &&
            comes_before(line, line->items[child + 1], line->items[child]))
            child++;
        if (!comes_before(line, line->items[child], moved))
            break;
        line->items[at] = line->items[child];
        at = child;
    }
    line->items[at] = moved;
}

/* How many replicas the share gets before any other with a priority below `least`. */
static int64_t count_above(const struct share *share, double least)
{
    int64_t count = (int64_t)((double)share->weight / least / 2 + 0.5);

    /* The estimate may be off by a rounding. */
    while (count > 0 && priority(share, count - 1) < least)
        count--;
    while (priority(share, count) >= least)
        count++;
    return count;
}

/*
 * Hand out in one step what every share gets in any case: all replicas for which its priority is
 * at least `least`. Each share gets at most weight / (2 x least) + 1/2 by that, so with this
 * `least` all together get fewer than there are, and about one each remains. Returns the rest.
 */
static int64_t hand_out(struct share *shares, size_t count, int64_t replicas)
{
    double spare = 2 * (double)replicas - (double)count - 2;
    double total = 0;

    for (size_t i = 0; i < count; i++)
        total += (double)shares[i].weight;
    for (size_t i = 0; i < count && spare > 0; i++) {
        shares[i].replicas = count_above(&shares[i], total / spare);
        replicas -= shares[i].replicas;
    }
    return replicas;
}

void divide_by_weight(struct share *shares, size_t count, int64_t replicas, uint32_t uid_hash)
{
    for (size_t i = 0; i < count; i++)
        shares[i].replicas = 0;
    if (count == 0 || replicas <= 0)
        return;

    CLEANUP(free_cleanup) struct share **items = xreallocarray(NULL, count, sizeof(struct share *));
    struct line line = {items, count, uid_hash & 1};

    for (size_t i = 0; i < count; i++)
        items[i] = &shares[i];
    replicas = hand_out(shares, count, replicas);
    assert(replicas >= 0);
    for (size_t i = count; i > 0; i--)
        sink(&line, i - 1);
    for (; replicas > 0; replicas--) {
        items[0]->replicas++;
        sink(&line, 0);
    }
}
