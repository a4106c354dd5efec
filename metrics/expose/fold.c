/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/fold.h"

/* A policy, or a namespace. */
struct subject {
    const char *key; /* Borrowed from a label set: its first labels name the subject. */
    int64_t weight[FOLD_WEIGHTS];
};

struct ranking {
    unsigned labels;       /* How many of them name a subject. */
    bool exact;            /* The keys have no other labels. */
    struct subject *items; /* By key. */
    size_t count;
};

static bool is_exact(const struct family_state *f, unsigned labels)
{
    return family_free_labels(f->def) == labels;
}

/* Like strcmp of the first labels of two keys, up to the quote that ends the last of them. */
static int compare_first(const char *a, const char *b, unsigned labels)
{
    for (unsigned quotes = 2 * labels; quotes > 0; a++, b++) {
        bool escaped = *a == '\\' && *b == '\\';

        a += escaped;
        b += escaped;
        if (*a != *b)
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        quotes -= !escaped && *a == '"';
    }
    return 0;
}

/* A label set by its subject. Most keys are a subject's name and no more: that is told faster. */
static int compare(const struct ranking *all, bool exact, const struct label_set *set,
                   const struct subject *subject)
{
    return exact ? strcmp(set->key, subject->key)
                 : compare_first(set->key, subject->key, all->labels);
}

/* Enter the subjects of a family among those there are, and what its rows weigh. */
static void rank(struct ranking *all, const struct family_state *f)
{
    struct subject *merged = xreallocarray(NULL, all->count + f->count + 1, sizeof(*merged));
    size_t count = 0, at = 0;

    for (size_t i = 0; i < f->count || at < all->count; count++) {
        int order = i == f->count      ? 1
                    : at == all->count ? -1
                                       : compare(all, all->exact, f->sets[i], &all->items[at]);

        merged[count] = order < 0 ? (struct subject){.key = f->sets[i]->key} : all->items[at++];
        for (; i < f->count && compare(all, all->exact, f->sets[i], &merged[count]) == 0; i++) {
            if (f->def->weigh)
                f->def->weigh(f->sets[i], merged[count].weight);
        }
    }
    free(all->items);
    all->items = merged;
    all->count = count;
}

/* Below 0 if `a` is the worse of two subjects. */
static int compare_worst(const struct subject *a, const struct subject *b)
{
    for (size_t i = 0; i < FOLD_WEIGHTS; i++) {
        if (a->weight[i] != b->weight[i])
            return a->weight[i] > b->weight[i] ? -1 : 1;
    }
    return strcmp(a->key, b->key);
}

static void swap(struct subject *a, struct subject *b)
{
    struct subject kept = *a;

    *a = *b;
    *b = kept;
}

/* A heap whose first item is the least bad one; the item at `at` may be worse than those below. */
static void sift_down(struct subject *heap, size_t count, size_t at)
{
    for (size_t below = 2 * at + 1; below < count; below = 2 * at + 1) {
        if (below + 1 < count && compare_worst(&heap[below], &heap[below + 1]) < 0)
            below++;
        if (compare_worst(&heap[at], &heap[below]) >= 0)
            return;
        swap(&heap[at], &heap[below]);
        at = below;
    }
}

/*
 * Bring the worst `limit` of them to the front, in no order. Sorting tens of thousands of policies
 * for each page would cost more than to write it.
 */
static void select_worst(struct subject *items, size_t count, size_t limit)
{
    for (size_t i = limit / 2; i > 0; i--)
        sift_down(items, limit, i - 1);
    for (size_t i = limit; limit > 0 && i < count; i++) {
        if (compare_worst(&items[i], &items[0]) < 0) {
            swap(&items[i], &items[0]);
            sift_down(items, limit, 0);
        }
    }
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct subject *)a)->key, ((const struct subject *)b)->key);
}

static void fold(struct family_state *f, const struct ranking *shown)
{
    bool exact = shown->exact && is_exact(f, shown->labels);
    size_t at = 0;

    for (size_t i = 0; i < f->count; i++) {
        int order = 1;

        while (at < shown->count &&
               (order = compare(shown, exact, f->sets[i], &shown->items[at])) > 0)
            at++;
        if (at == shown->count || order != 0)
            family_state_fold(f, f->sets[i], shown->labels);
    }
}

static bool is_of(const struct family_state *f, enum fold sort)
{
    return f->def && f->def->fold == sort;
}

static void fold_sort(struct family_state *families, size_t count, enum fold sort, size_t limit)
{
    struct ranking all = {.labels = family_fold_labels(sort)};
    bool more = false;

    for (size_t i = 0; i < count; i++) {
        more |= is_of(&families[i], sort) && families[i].count > limit;
        all.exact |= is_of(&families[i], sort) && is_exact(&families[i], all.labels);
    }
    /* What has more labels has no policy of its own: each has a generation. */
    for (size_t i = 0; more && i < count; i++) {
        if (is_of(&families[i], sort) && is_exact(&families[i], all.labels) == all.exact)
            rank(&all, &families[i]);
    }
    if (all.count > limit) {
        select_worst(all.items, all.count, limit);
        all.count = limit;
        qsort(all.items, all.count, sizeof(*all.items), by_key);
        for (size_t i = 0; i < count; i++) {
            if (is_of(&families[i], sort))
                fold(&families[i], &all);
        }
    }
    free(all.items);
}

void fold_apply(struct family_state *families, size_t count, size_t limit)
{
    for (size_t i = 0; i < count; i++) {
        if (families[i].def)
            family_state_unfold(&families[i]);
    }
    for (unsigned sort = FOLD_NONE + 1; sort < FOLD_COUNT; sort++)
        fold_sort(families, count, sort, limit);
}
