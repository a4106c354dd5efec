/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/fold.h"

enum {
    /* Characters of a row that are in no name and no label, with a number of nine digits. */
    AROUND_BYTES = 14,
    NAMESPACE_SHARE = 8, /* Families by namespace have this part of a page in any case. */
};

/* A policy, or a namespace. */
struct limited_subject {
    const char *key; /* Borrowed from a label set: its first labels name the subject. */
    int64_t weight[FOLD_WEIGHTS];
    size_t bytes; /* Size of its rows in all families. */
};

struct ranking {
    unsigned labels;               /* How many of them name a subject. */
    bool exact;                    /* The keys have no other labels. */
    struct limited_subject *items; /* By key. */
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
                   const struct limited_subject *subject)
{
    return exact ? strcmp(set->key, subject->key)
                 : compare_first(set->key, subject->key, all->labels);
}

/* Enter the subjects of a family among those there are, and what its rows weigh. */
static void rank(struct ranking *all, const struct family_state *f)
{
    struct limited_subject *merged =
        xreallocarray(NULL, all->count + f->count + 1, sizeof(*merged));
    size_t count = 0, at = 0;

    for (size_t i = 0; i < f->count || at < all->count; count++) {
        int order = i == f->count      ? 1
                    : at == all->count ? -1
                                       : compare(all, all->exact, f->sets[i], &all->items[at]);

        merged[count] =
            order < 0 ? (struct limited_subject){.key = f->sets[i]->key} : all->items[at++];
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
static int compare_worst(const struct limited_subject *a, const struct limited_subject *b)
{
    for (size_t i = 0; i < FOLD_WEIGHTS; i++) {
        if (a->weight[i] != b->weight[i])
            return a->weight[i] > b->weight[i] ? -1 : 1;
    }
    return strcmp(a->key, b->key);
}

static void swap(struct limited_subject *a, struct limited_subject *b)
{
    struct limited_subject kept = *a;

    *a = *b;
    *b = kept;
}

/* A heap whose first item is the least bad one; the item at `at` may be worse than those below. */
static void sift_down(struct limited_subject *heap, size_t count, size_t at)
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
static void select_worst(struct limited_subject *items, size_t count, size_t limit)
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
    return strcmp(((const struct limited_subject *)a)->key,
                  ((const struct limited_subject *)b)->key);
}

/*
 * Returns the subject of a set; NULL if it is not among `all`, which is sorted by key. `at` is the
 * place to start at: that of the set before, 0 for a family's first set.
 */
static struct limited_subject *find(const struct ranking *all, bool exact,
                                    const struct label_set *set, size_t *at)
{
    int order = 1;

    while (*at < all->count && (order = compare(all, exact, set, &all->items[*at])) > 0)
        (*at)++;
    return *at < all->count && order == 0 ? &all->items[*at] : NULL;
}

static void fold(struct family_state *f, const struct ranking *shown)
{
    bool exact = shown->exact && is_exact(f, shown->labels);
    size_t at = 0;

    for (size_t i = 0; i < f->count; i++) {
        if (!find(shown, exact, f->sets[i], &at))
            family_state_fold(f, f->sets[i], shown->labels);
    }
}

/* Returns the size of the rows of a set on a page; for numbers of the usual length. */
static size_t row_bytes(const struct family_state *f, const struct label_set *set)
{
    size_t each = strlen(f->def->name) + strlen(set->key) + AROUND_BYTES;
    size_t bytes = 0;

    for (unsigned i = 0; i < f->series_count; i++) {
        if (family_has_series(f->def, i) && (!f->def->sparse || set->series[i].sum != 0))
            bytes += each + strlen(f->texts[i].labels);
    }
    return bytes;
}

static void add_bytes(struct ranking *all, const struct family_state *f)
{
    bool exact = all->exact && is_exact(f, all->labels);
    size_t at = 0;

    for (size_t i = 0; i < f->count; i++) {
        struct limited_subject *subject = find(all, exact, f->sets[i], &at);

        if (subject)
            subject->bytes += row_bytes(f, f->sets[i]);
    }
}

static bool is_of(const struct family_state *f, enum fold sort)
{
    return f->def && f->def->fold == sort;
}

static int by_weight(const void *a, const void *b)
{
    return compare_worst(a, b);
}

/* Removes the subjects with the lowest weight until the rows of the others have `room` bytes. */
static void cut(struct ranking *all, const struct family_state *families, size_t count,
                enum fold sort, size_t room)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (is_of(&families[i], sort))
            add_bytes(all, &families[i]);
    }
    qsort(all->items, all->count, sizeof(*all->items), by_weight);
    for (; kept < all->count && all->items[kept].bytes <= room; kept++)
        room -= all->items[kept].bytes;
    all->count = kept;
    qsort(all->items, all->count, sizeof(*all->items), by_key);
}

static bool has_more(const struct family_state *families, size_t count, enum fold sort,
                     size_t limit)
{
    for (size_t i = 0; i < count; i++) {
        if (is_of(&families[i], sort) && families[i].count > limit)
            return true;
    }
    return false;
}

static void fold_sort(struct family_state *families, size_t count, enum fold sort, size_t limit,
                      size_t room)
{
    struct ranking all = {.labels = family_fold_labels(sort)};
    size_t before;

    for (size_t i = 0; i < count; i++)
        all.exact |= is_of(&families[i], sort) && is_exact(&families[i], all.labels);
    /*
     * Families with more labels have no policy or namespace of their own: each policy has a
     * generation, and each namespace has templates in a state.
     */
    for (size_t i = 0; i < count; i++) {
        if (is_of(&families[i], sort) && is_exact(&families[i], all.labels) == all.exact)
            rank(&all, &families[i]);
    }
    before = all.count;
    if (all.count > limit) {
        select_worst(all.items, all.count, limit);
        all.count = limit;
        qsort(all.items, all.count, sizeof(*all.items), by_key);
    }
    if (room != SIZE_MAX)
        cut(&all, families, count, sort, room);
    for (size_t i = 0; all.count < before && i < count; i++) {
        if (is_of(&families[i], sort))
            fold(&families[i], &all);
    }
    free(all.items);
}

/*
 * Returns the size of the rows that a page shows of the families by namespace, or of the other
 * families. Families of the exporter itself, and those that count past events, are left out: the
 * namespaces of a page depend on the present objects only.
 */
static size_t shown_bytes(const struct family_state *families, size_t count, size_t details,
                          bool by_namespace)
{
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        const struct family_state *f = &families[i];

        if (!f->def || f->def->classes == 0 || family_remembers(f->def) ||
            is_of(f, FOLD_NAMESPACE) != by_namespace)
            continue;
        for (size_t k = 0; k < f->count && (!f->def->detail || k < details); k++)
            bytes += f->sets[k]->folded ? 0 : row_bytes(f, f->sets[k]);
    }
    return bytes;
}

/* Returns the size that families by namespace may have; SIZE_MAX if they have no more than that. */
static size_t namespace_room(const struct family_state *families, size_t count,
                             const struct fold_limits *limits)
{
    size_t wanted = shown_bytes(families, count, limits->details, true);
    size_t room = limits->page_bytes / NAMESPACE_SHARE;
    size_t others;

    if (wanted <= room)
        return SIZE_MAX;
    others = shown_bytes(families, count, limits->details, false);
    if (others < limits->page_bytes && limits->page_bytes - others > room)
        room = limits->page_bytes - others;
    return wanted <= room ? SIZE_MAX : room;
}

void fold_apply(struct family_state *families, size_t count, const struct fold_limits *limits)
{
    size_t room;

    for (size_t i = 0; i < count; i++) {
        if (families[i].def)
            family_state_unfold(&families[i]);
    }
    if (has_more(families, count, FOLD_POLICY, limits->policies))
        fold_sort(families, count, FOLD_POLICY, limits->policies, SIZE_MAX);
    room = namespace_room(families, count, limits);
    if (room != SIZE_MAX || has_more(families, count, FOLD_NAMESPACE, limits->namespaces))
        fold_sort(families, count, FOLD_NAMESPACE, limits->namespaces, room);
}
