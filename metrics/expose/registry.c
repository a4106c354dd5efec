/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/registry.h"

#include "metrics/expose/family.h"

/* ---- limits of policies and namespaces ---- */

enum {
    LINE_EXTRA_BYTES = 14, /* Braces, comma, blank, newline, and a value of nine digits, assumed. */
    NAMESPACE_SHARE = 8,   /* Families by namespace can have at least 1/8 of a page. */
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
 * Returns the size of the shown lines of families by namespace, or of all other families. Omits
 * families about the exporter itself and families that depend on past observations, because the
 * namespaces of a page must depend on the present objects only.
 */
static size_t shown_label_set_bytes(const struct family_state *families, size_t count,
                                    size_t details, bool by_namespace)
{
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        const struct family_state *f = &families[i];

        if (!f->def || f->def->classes == 0 || family_remembers(f->def) ||
            has_limit(f, LIMIT_BY_NAMESPACE) != by_namespace)
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

/* ---- registry ---- */

enum {
    /* Entries of these classes have samples only after a decision. */
    DECIDED_CLASSES = 1 << CLASS_TEMPLATE | 1 << CLASS_POLICY | 1 << CLASS_BINDING,
    /* Families of these classes are not shown before all objects of the class have been read. */
    COMPLETE_CLASSES = 1 << CLASS_CLUSTER | 1 << CLASS_EVENT | 1 << CLASS_LEASE,
    /*
     * Bytes of a page for each policy or namespace of the higher limit. With the default limit of
     * 1,000, this leaves 150 kB of 2 MB to help texts and families about the exporter itself.
     */
    BYTES_PER_SUBJECT = 1850,
};

const struct registry_options registry_options_default = {.detail_limit = 1000,
                                                          .policy_limit = 1000};

struct registry {
    struct registry_options options;
    struct family_state
        *families;            /* By index of family_at(); `def` is NULL if the family is off. */
    struct family_state *own; /* Families by enum own_family: the last part of `families`. */
    struct family_state **collected[CLASS_COUNT]; /* Families by class; each list ends with NULL. */
    struct samples samples;                       /* Buffer, reused for each entry. */
    struct contributions contributions;
    uint64_t version;
    /* By family, the number of series when details were removed; NULL while details are shown. */
    size_t *left_out;
};

/*
 * Returns true if the family has one label set that is always present: it has no free labels.
 * Gauges about the exporter itself are absent until they are set, because not every mode of the
 * exporter has them.
 */
static bool is_permanent(const struct family_def *def)
{
    return family_free_label_count(def) == 0 &&
           (def->aggregation != AGGREGATE_NONE || def->type != FAMILY_GAUGE);
}

/* Returns the families that entries of a class contribute to, up to a NULL. */
static struct family_state **list_collected(struct family_state *families, enum object_class class)
{
    struct family_state **list = xcalloc(family_count() + 1, sizeof(struct family_state *));
    size_t count = 0;

    for (size_t i = 0; i < family_count(); i++) {
        if (families[i].def && families[i].def->classes & 1u << class)
            list[count++] = &families[i];
    }
    return list;
}

struct registry *registry_new(const struct engine *engine, const struct registry_options *options,
                              uint64_t seed)
{
    struct registry *r = xcalloc(1, sizeof(*r));

    r->options = *options;
    samples_init(&r->samples, engine);
    contributions_init(&r->contributions, seed);
    r->families = xcalloc(family_count(), sizeof(*r->families));
    r->own = r->families + family_count() - OWN_FAMILY_COUNT;
    for (size_t i = 0; i < family_count(); i++) {
        const struct family_def *def = family_at(i);

        if (def->opt_in && !options->opt_in)
            continue;
        family_state_init(&r->families[i], def, seed);
        if (is_permanent(def))
            label_set_ref(samples_label_set(&r->samples, &r->families[i], 0, NULL));
    }
    for (unsigned i = 0; i < CLASS_COUNT; i++)
        r->collected[i] = list_collected(r->families, i);
    return r;
}

static void visit_entries(const struct store *store, void *context,
                          void (*visit)(void *context, struct entry *entry))
{
    for (const struct type *type = store_first_type(store); type; type = type->next) {
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type) {
            for (size_t i = 0; i < partition->count; i++)
                visit(context, partition->entries[i]);
        }
    }
}

static void free_contribution(void *context, struct entry *entry)
{
    struct registry *r = context;

    contribution_drop(&r->contributions, entry->contribution);
    entry->contribution = NULL;
}

void registry_free(struct registry *r)
{
    if (!r)
        return;
    if (r->samples.engine)
        visit_entries(engine_store(r->samples.engine), r, free_contribution);
    contributions_release(&r->contributions);
    for (size_t i = 0; i < family_count(); i++) {
        if (r->families[i].def)
            family_state_release(&r->families[i]);
    }
    for (unsigned i = 0; i < CLASS_COUNT; i++)
        free(r->collected[i]);
    free(r->left_out);
    free(r->families);
    samples_release(&r->samples);
    free(r);
}

static void add_to_series(const struct sample *sample)
{
    struct series *series = sample->series;

    label_set_ref(series->set);
    switch (series->set->family->def->aggregation) {
    case AGGREGATE_SUM:
        series_add(series, sample->value);
        series->set->zeros += sample->value == 0;
        return;
    case AGGREGATE_MIN:
        multiset_add(series->minimum, sample->value);
        return;
    case AGGREGATE_INCREASE:
    case AGGREGATE_FIRST:
    case AGGREGATE_WAIT:
    case AGGREGATE_ZEROS:
    case AGGREGATE_PRESENT:
    case AGGREGATE_NONE:
        return;
    }
    abort();
}

static void remove_from_series(const struct sample *sample)
{
    struct series *series = sample->series;

    switch (series->set->family->def->aggregation) {
    case AGGREGATE_SUM:
        series_add(series, -sample->value);
        series->set->zeros -= sample->value == 0;
        break;
    case AGGREGATE_MIN:
        multiset_remove(series->minimum, sample->value);
        break;
    case AGGREGATE_INCREASE:
    case AGGREGATE_FIRST:
    case AGGREGATE_WAIT:
    case AGGREGATE_ZEROS:
    case AGGREGATE_PRESENT:
    case AGGREGATE_NONE:
        break;
    }
    label_set_unref(series->set);
}

/* Counts a value in a histogram without labels. */
static void count_value(struct label_set *histogram, double value)
{
    const struct family_def *def = histogram->family->def;
    struct series *series = histogram->series;

    for (size_t i = 0; i < def->bucket_count; i++)
        series[i].number += value <= def->buckets[i];
    /* The bucket +Inf, the sum and the count. */
    series[def->bucket_count].number += 1;
    series[def->bucket_count + 1].number += value;
    series[def->bucket_count + 2].number += 1;
}

/* Counts new first samples (AGGREGATE_FIRST) and the growth of samples (AGGREGATE_INCREASE). */
static void count_new_samples(const struct samples *fresh, const struct contribution *old)
{
    for (size_t i = 0; i < fresh->count; i++) {
        struct series *series = fresh->items[i].series;
        int64_t value = fresh->items[i].value;
        enum family_aggregation aggregation = series->set->family->def->aggregation;

        if (aggregation == AGGREGATE_FIRST && !contribution_has(old, series))
            count_value(series->set, (double)value / 1000);
        if (aggregation != AGGREGATE_INCREASE)
            continue;
        int64_t before = contribution_value(old, series);
        if (value > before)
            series_add(series, value - before);
    }
}

/* AGGREGATE_WAIT: counts the wait of an old sample that was removed or replaced: see `ended`. */
static void count_wait(const struct registry *r, const struct entry *entry,
                       const struct sample *old)
{
    const struct family_def *def = old->series->set->family->def;
    int64_t waited_ms = engine_now_ms(r->samples.engine) - old->value;

    if (def->aggregation != AGGREGATE_WAIT || !entry->decision || !def->ended(entry))
        return;
    if (contribution_has(entry->contribution, old->series) &&
        contribution_value(entry->contribution, old->series) == old->value)
        return;
    count_value(old->series->set, (double)(waited_ms > 0 ? waited_ms : 0) / 1000);
}

/*
 * AGGREGATE_FIRST: if the entry already has a sample of the current family, keeps that instead of
 * the samples from index `before` on, even if there are no new ones.
 */
static void keep_first_samples(struct samples *out, size_t before, const struct contribution *old)
{
    struct series *series = samples_label_set(out, out->family, 0, NULL)->series;

    if (!contribution_has(old, series))
        return;
    out->count = before;
    samples_add_to(out, series, contribution_value(old, series));
}

static void collect_samples(struct registry *r, const struct entry *entry)
{
    enum object_class class = entry_class(entry);
    struct samples *out = &r->samples;

    out->count = 0;
    if (!entry_exists(entry) || (!entry->decision && (1u << class & DECIDED_CLASSES)))
        return;
    for (struct family_state **family = r->collected[class]; *family; family++) {
        size_t before = out->count;

        if (r->left_out && (*family)->def->detail)
            continue;
        out->family = *family;
        out->family->def->collect(entry, out);
        if (out->family->def->aggregation == AGGREGATE_FIRST)
            keep_first_samples(out, before, entry->contribution);
    }
}

void registry_update_entry(void *registry, struct entry *entry)
{
    struct registry *r = registry;
    const struct samples *fresh = &r->samples;
    struct contribution *old;
    struct sample sample;

    collect_samples(r, entry);
    if (contribution_equal(entry->contribution, fresh->items, fresh->count))
        return;
    old = entry->contribution;
    entry->contribution = contribution_get_shared(&r->contributions, fresh->items, fresh->count);
    r->version++;
    /* Add before removing, so that series in both lists keep a reference. */
    for (size_t i = 0; i < fresh->count; i++)
        add_to_series(&fresh->items[i]);
    count_new_samples(fresh, old);
    for (size_t at = 0; contribution_next(old, &at, &sample);) {
        count_wait(r, entry, &sample);
        remove_from_series(&sample);
    }
    contribution_drop(&r->contributions, old);
}

void registry_show_details(struct registry *r, bool shown)
{
    if (shown == !r->left_out)
        return;
    if (shown) {
        free(r->left_out);
        r->left_out = NULL;
    } else {
        r->left_out = xcalloc(family_count(), sizeof(*r->left_out));
        for (size_t i = 0; i < family_count(); i++)
            r->left_out[i] = r->families[i].def ? r->families[i].count : 0;
    }
    if (r->samples.engine)
        visit_entries(engine_store(r->samples.engine), r, registry_update_entry);
}

uint64_t registry_change_count(const struct registry *r)
{
    return r->version;
}

void registry_set(struct registry *r, enum own_family family, double value, size_t label_count,
                  const char *const *labels)
{
    struct label_set *set = samples_label_set(&r->samples, &r->own[family], label_count, labels);

    assert(set->family->def->type != FAMILY_HISTOGRAM);
    if (set->references == 0)
        label_set_ref(set);
    set->series[0].number = value;
}

void registry_clear_family(struct registry *r, enum own_family family)
{
    assert(!is_permanent(r->own[family].def));
    family_state_clear_sets(&r->own[family]);
}

void registry_observe(struct registry *r, enum own_family family, double value)
{
    assert(r->own[family].def->type == FAMILY_HISTOGRAM);
    count_value(samples_label_set(&r->samples, &r->own[family], 0, NULL), value);
}

/*
 * AGGREGATE_ZEROS: counts, by first label, the label sets of `of` with a sample of 0 in which the
 * counted series is 0. The label is compared as text with the beginning of each key.
 */
static void count_zeros(struct family_state *counts, const struct family_state *of)
{
    unsigned counted_index = counts->def->counted_index;

    for (unsigned i = 0; i < counts->series_count; i++) {
        const char *label = counts->texts[i].labels;
        int64_t count = 0;

        for (size_t k = 0; k < of->count; k++) {
            const struct label_set *set = of->sets[k];

            count += set->zeros > 0 && set->series[counted_index].sum == 0 &&
                     strncmp(set->key, label, strlen(label)) == 0;
        }
        counts->sets[0]->series[i].sum = count;
    }
}

/* AGGREGATE_PRESENT: counts, by series, the label sets of `of` in which the series is above 0. */
static void count_present(struct family_state *counts, const struct family_state *of)
{
    assert(counts->series_count == of->series_count);
    for (unsigned i = 0; i < counts->series_count; i++) {
        int64_t count = 0;

        for (size_t k = 0; k < of->count; k++)
            count += of->sets[k]->series[i].sum > 0;
        counts->sets[0]->series[i].sum = count;
    }
}

static const struct family_state *find_family(const struct registry *r, const char *name)
{
    size_t i = 0;

    while (strcmp(family_at(i)->name, name) != 0)
        i++;
    return &r->families[i];
}

/* Returns the number of series of a family that a page leaves out. */
static size_t count_omitted_series(const struct registry *r, size_t index)
{
    const struct family_state *family = &r->families[index];

    if (!family->def->detail)
        return family->folded_series;
    return r->left_out ? r->left_out[index] : family->count - registry_shown_count(r, family);
}

/*
 * Returns the limits of a page. Its limit in bytes is proportional to the highest of policy_limit,
 * detail_limit and the default of policy_limit.
 */
static struct page_limits make_page_limits(const struct registry_options *options)
{
    size_t most = registry_options_default.policy_limit;

    if (options->policy_limit > most)
        most = options->policy_limit;
    if (options->detail_limit > most)
        most = options->detail_limit;
    return (struct page_limits){
        .policies = options->policy_limit,
        .namespaces = options->detail_limit,
        .details = options->detail_limit,
        .page_bytes = most < SIZE_MAX / BYTES_PER_SUBJECT ? most * BYTES_PER_SUBJECT : SIZE_MAX};
}

void registry_prepare(struct registry *r)
{
    const struct page_limits limits = make_page_limits(&r->options);

    for (size_t i = 0; i < family_count(); i++) {
        if (r->families[i].def)
            family_state_sort_sets(&r->families[i]);
    }
    page_limits_apply(r->families, family_count(), &limits);
    for (size_t i = 0; i < family_count(); i++) {
        struct family_state *family = &r->families[i];

        if (!family->def)
            continue;
        /* OWN_DETAIL_DROPPED, a later family, has new label sets if REGISTRY_SET() added them. */
        family_state_sort_sets(family);
        if (family->def->detail || family->def->limit_kind)
            REGISTRY_SET(r, OWN_DETAIL_DROPPED, (double)count_omitted_series(r, i),
                         family->def->name);
        if (family->def->aggregation == AGGREGATE_ZEROS)
            count_zeros(family, find_family(r, family->def->of));
        else if (family->def->aggregation == AGGREGATE_PRESENT)
            count_present(family, find_family(r, family->def->of));
    }
}

const struct family_state *registry_family(const struct registry *r, size_t index)
{
    const struct family_def *def = r->families[index].def;
    const struct engine *engine = r->samples.engine;

    if (!def || (engine && def->classes & COMPLETE_CLASSES & engine_incomplete_classes(engine)) ||
        (engine && def->supported && !def->supported(engine)))
        return NULL;
    return &r->families[index];
}

size_t registry_shown_count(const struct registry *r, const struct family_state *family)
{
    return family->def->detail && family->count > r->options.detail_limit ? r->options.detail_limit
                                                                          : family->count;
}
