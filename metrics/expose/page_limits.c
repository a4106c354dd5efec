/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/page_limits.h"

#include "metrics/expose/family.h"

enum {
    LINE_EXTRA_BYTES = 14, /* Braces, comma, blank, newline, and a value of nine digits, assumed. */
    NAMESPACE_SHARE = 32,  /* Families by namespace can have at least 1/32 of a page. */
};

/* Policy or namespace that is shown or folded. */
struct limited_subject {
    const char *key; /* Borrowed from a label set; the first labels name the subject. */
    int64_t weight[LIMIT_WEIGHTS];
    size_t bytes; /* Size of the subject's lines in all families with the limit. */
};

/* Policies or namespaces of a limit: first all of them, later those that are shown. */
struct subjects {
    unsigned labels;               /* Number of labels that name a subject. */
    bool exact;                    /* The keys of `items` have only the labels of the subject. */
    struct limited_subject *items; /* Sorted by key. */
    size_t count;
};

/* Returns true if the keys of a family have only the labels that name the subject. */
static bool has_only_subject_labels(const struct family_state *f, unsigned labels)
{
    return family_free_label_count(f->def) == labels;
}

/* Compares the first `labels` labels of two keys like strcmp(). */
static int compare_first_labels(const char *a, const char *b, unsigned labels)
{
    for (unsigned quotes = 2 * labels; quotes > 0; a++, b++) {
        /* A backslash belongs to the next character, which ends no label even if it is a quote. */
        bool escaped = *a == '\\' && *b == '\\';

        a += escaped;
        b += escaped;
        if (*a != *b)
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        quotes -= !escaped && *a == '"';
    }
    return 0;
}

/*
 * Compares the label set's subject with another one by key. `exact`: neither key has further
 * labels, which makes the comparison faster.
 */
static int compare_subject(const struct subjects *all, bool exact, const struct label_set *set,
                           const struct limited_subject *subject)
{
    return exact ? strcmp(set->key, subject->key)
                 : compare_first_labels(set->key, subject->key, all->labels);
}

/*
 * Merges the subjects of a family into `all`, and adds the weights of its label sets. Both lists
 * are sorted by key; several label sets can have the same subject.
 */
static void merge_subjects(struct subjects *all, const struct family_state *f)
{
    struct limited_subject *merged =
        xreallocarray(NULL, all->count + f->count + 1, sizeof(*merged));
    size_t count = 0, at = 0;

    for (size_t i = 0; i < f->count || at < all->count; count++) {
        bool is_new =
            at == all->count ||
            (i < f->count && compare_subject(all, all->exact, f->sets[i], &all->items[at]) < 0);

        merged[count] =
            is_new ? (struct limited_subject){.key = f->sets[i]->key} : all->items[at++];
        for (; i < f->count && compare_subject(all, all->exact, f->sets[i], &merged[count]) == 0;
             i++) {
            if (f->def->weigh)
                f->def->weigh(f->sets[i], merged[count].weight);
        }
    }
    free(all->items);
    all->items = merged;
    all->count = count;
}

/* Compares two subjects by descending weight, then by key. */
static int compare_weights(const struct limited_subject *a, const struct limited_subject *b)
{
    for (size_t i = 0; i < LIMIT_WEIGHTS; i++) {
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

/* Restores the order of a heap with the lightest subject first, after a change of heap[at]. */
static void restore_heap(struct limited_subject *heap, size_t count, size_t at)
{
    for (size_t below = 2 * at + 1; below < count; below = 2 * at + 1) {
        if (below + 1 < count && compare_weights(&heap[below], &heap[below + 1]) < 0)
            below++;
        if (compare_weights(&heap[at], &heap[below]) >= 0)
            return;
        swap(&heap[at], &heap[below]);
        at = below;
    }
}

/*
 * Moves the heaviest `limit` subjects to the front, unsorted. Sorting tens of thousands of policies
 * would take longer than writing the page.
 */
static void select_heaviest(struct limited_subject *items, size_t count, size_t limit)
{
    for (size_t i = limit / 2; i > 0; i--)
        restore_heap(items, limit, i - 1);
    for (size_t i = limit; limit > 0 && i < count; i++) {
        if (compare_weights(&items[i], &items[0]) < 0) {
            swap(&items[i], &items[0]);
            restore_heap(items, limit, 0);
        }
    }
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct limited_subject *)a)->key,
                  ((const struct limited_subject *)b)->key);
}

/*
 * Returns the subject of a label set; NULL if `all` does not have it. Callers pass the sets of a
 * family in order: sets and subjects are sorted by key, so each search starts at *at, where the
 * last one ended. *at must be 0 for the first set.
 */
static struct limited_subject *find_subject(const struct subjects *all, bool exact,
                                            const struct label_set *set, size_t *at)
{
    int order = 1;

    while (*at < all->count && (order = compare_subject(all, exact, set, &all->items[*at])) > 0)
        (*at)++;
    return *at < all->count && order == 0 ? &all->items[*at] : NULL;
}

/* Folds the label sets of subjects that are not shown. */
static void fold_hidden_sets(struct family_state *f, const struct subjects *shown)
{
    bool exact = shown->exact && has_only_subject_labels(f, shown->labels);
    size_t at = 0;

    for (size_t i = 0; i < f->count; i++) {
        if (!find_subject(shown, exact, f->sets[i], &at))
            family_state_fold_set(f, f->sets[i], shown->labels);
    }
}

/* Returns the size of all lines of a label set on a page, for values of usual length. */
static size_t label_set_bytes(const struct family_state *f, const struct label_set *set)
{
    size_t each = strlen(f->def->name) + strlen(set->key) + LINE_EXTRA_BYTES;
    size_t bytes = 0;

    for (unsigned i = 0; i < f->series_count; i++) {
        if (family_has_series(f->def, i) && (!f->def->sparse || set->series[i].sum != 0))
            bytes += each + strlen(f->texts[i].labels);
    }
    return bytes;
}

/* Adds the size of the label sets of a family to their subjects. */
static void measure_subjects(struct subjects *all, const struct family_state *f)
{
    bool exact = all->exact && has_only_subject_labels(f, all->labels);
    size_t at = 0;

    for (size_t i = 0; i < f->count; i++) {
        struct limited_subject *subject = find_subject(all, exact, f->sets[i], &at);

        if (subject)
            subject->bytes += label_set_bytes(f, f->sets[i]);
    }
}

static bool has_limit(const struct family_state *f, enum limit_kind kind)
{
    return f->def && f->def->limit_kind == kind;
}

static int by_weight(const void *a, const void *b)
{
    return compare_weights(a, b);
}

/* Removes the lightest subjects until the lines of the others have at most `max_bytes` bytes. */
static void drop_lightest(struct subjects *all, const struct family_state *families, size_t count,
                          enum limit_kind kind, size_t max_bytes)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (has_limit(&families[i], kind))
            measure_subjects(all, &families[i]);
    }
    qsort(all->items, all->count, sizeof(*all->items), by_weight);
    for (; kept < all->count && all->items[kept].bytes <= max_bytes; kept++)
        max_bytes -= all->items[kept].bytes;
    all->count = kept;
    qsort(all->items, all->count, sizeof(*all->items), by_key);
}

/* Returns true if a family has more label sets than `limit`: some of them may need to be folded. */
static bool may_exceed_limit(const struct family_state *families, size_t count,
                             enum limit_kind kind, size_t limit)
{
    for (size_t i = 0; i < count; i++) {
        if (has_limit(&families[i], kind) && families[i].count > limit)
            return true;
    }
    return false;
}

/*
 * Shows the heaviest policies or namespaces: at most `limit`, with lines of at most `max_bytes`
 * bytes in total (SIZE_MAX: no maximum). Folds the others.
 */
static void apply_limit(struct family_state *families, size_t count, enum limit_kind kind,
                        size_t limit, size_t max_bytes)
{
    struct subjects all = {.labels = family_limit_label_count(kind)};
    size_t total;

    for (size_t i = 0; i < count; i++)
        all.exact |=
            has_limit(&families[i], kind) && has_only_subject_labels(&families[i], all.labels);
    /*
     * If the keys of some families have only the labels of a subject, only these families add
     * subjects: their keys compare faster, and karmada_propagationpolicy_generation has all
     * policies, karmada_namespace_templates all namespaces.
     */
    for (size_t i = 0; i < count; i++) {
        if (has_limit(&families[i], kind) &&
            has_only_subject_labels(&families[i], all.labels) == all.exact)
            merge_subjects(&all, &families[i]);
    }
    total = all.count;
    if (all.count > limit) {
        select_heaviest(all.items, all.count, limit);
        all.count = limit;
        qsort(all.items, all.count, sizeof(*all.items), by_key);
    }
    if (max_bytes != SIZE_MAX)
        drop_lightest(&all, families, count, kind, max_bytes);
    for (size_t i = 0; all.count < total && i < count; i++) {
        if (has_limit(&families[i], kind))
            fold_hidden_sets(&families[i], &all);
    }
    free(all.items);
}

/*
 * Returns true if the size of a family determines which namespaces are shown: families of problems,
 * and families with samples of entries that do not remember, so that the present objects and
 * problems alone determine the namespaces.
 */
static bool takes_space(const struct family_def *def)
{
    return def->aggregation == AGGREGATE_PROBLEMS || (def->classes != 0 && !family_remembers(def));
}

/*
 * Returns the bytes of the shown lines of families by namespace (`by_namespace`), or of all other
 * families; of a `detail` family, at most `details` lines. See takes_space().
 */
static size_t shown_label_set_bytes(const struct family_state *families, size_t count,
                                    size_t details, bool by_namespace)
{
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        const struct family_state *f = &families[i];

        if (!f->def || !takes_space(f->def) || has_limit(f, LIMIT_BY_NAMESPACE) != by_namespace)
            continue;
        for (size_t k = 0; k < f->count && (!f->def->detail || k < details); k++)
            bytes += f->sets[k]->folded ? 0 : label_set_bytes(f, f->sets[k]);
    }
    return bytes;
}

/* Returns the maximal size of the families by namespace; SIZE_MAX if they fit on the page. */
static size_t namespace_bytes_max(const struct family_state *families, size_t count,
                                  const struct page_limits *limits)
{
    size_t needed = shown_label_set_bytes(families, count, limits->details, true);
    size_t max_bytes = limits->page_bytes / NAMESPACE_SHARE;
    size_t others;

    if (needed <= max_bytes)
        return SIZE_MAX;
    others = shown_label_set_bytes(families, count, limits->details, false);
    if (others < limits->page_bytes && limits->page_bytes - others > max_bytes)
        max_bytes = limits->page_bytes - others;
    return needed <= max_bytes ? SIZE_MAX : max_bytes;
}

void page_limits_apply(struct family_state *families, size_t count,
                       const struct page_limits *limits)
{
    size_t max_bytes;

    for (size_t i = 0; i < count; i++) {
        if (families[i].def)
            family_state_unfold_sets(&families[i]);
    }
    if (may_exceed_limit(families, count, LIMIT_BY_POLICY, limits->policies))
        apply_limit(families, count, LIMIT_BY_POLICY, limits->policies, SIZE_MAX);
    max_bytes = namespace_bytes_max(families, count, limits);
    if (max_bytes != SIZE_MAX ||
        may_exceed_limit(families, count, LIMIT_BY_NAMESPACE, limits->namespaces))
        apply_limit(families, count, LIMIT_BY_NAMESPACE, limits->namespaces, max_bytes);
}
