/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/registry.h"

#include "metrics/expose/family.h"
#include "metrics/expose/page_limits.h"

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

const struct registry_options registry_options_default = {
    .detail_limit = 1000, .policy_limit = 1000, .problem_limit = 20};

struct registry {
    struct registry_options options;
    struct family_state
        *families;             /* By index of family_at(); `def` is NULL if the family is off. */
    struct family_state *own;  /* Families by enum own_family: the last part of `families`. */
    bool has_problems;         /* The families of problems have been filled. */
    uint64_t problems_version; /* Version that they were last filled from. */
    struct family_state **collected[CLASS_COUNT]; /* Families by class; each list ends with NULL. */
    struct samples samples;                       /* Buffer, reused for each entry. */
    struct contributions contributions;
    uint64_t version;
    /* By family, the number of label sets at the removal of details; NULL while they are shown. */
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
    contributions_init(&r->contributions,
                       engine ? intern_memory(store_string_pool(engine_store(engine))) : NULL,
                       seed);
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
                visit(context, partition_entry(partition, i));
        }
    }
}

static void free_contribution(void *context, struct entry *entry)
{
    struct registry *r = context;

    contribution_drop(&r->contributions, entry_contribution(entry));
    entry_set_contribution(entry, NULL);
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
    case AGGREGATE_PROBLEMS:
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
    case AGGREGATE_PROBLEMS:
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

/* Counts samples that `old` lacks (AGGREGATE_FIRST) and growth since `old` (AGGREGATE_INCREASE). */
static void count_first_samples_and_increases(const struct samples *fresh,
                                              const struct contribution *old)
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

/* AGGREGATE_WAIT: counts the wait of `old`, a sample that was removed or replaced: see `ended`. */
static void count_wait(const struct registry *r, const struct entry *entry,
                       const struct sample *old)
{
    const struct family_def *def = old->series->set->family->def;
    int64_t waited_ms = engine_now_ms(r->samples.engine) - old->value;

    if (def->aggregation != AGGREGATE_WAIT || !entry_decision(entry) || !def->ended(entry))
        return;
    if (contribution_has(entry_contribution(entry), old->series) &&
        contribution_value(entry_contribution(entry), old->series) == old->value)
        return;
    count_value(old->series->set, (double)(waited_ms > 0 ? waited_ms : 0) / 1000);
}

/*
 * AGGREGATE_FIRST: if `old` has a sample of the current family, puts this sample in place of the
 * samples from index `before` on, even if there are none.
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
    if (!entry_exists(entry) || (!entry_decision(entry) && (1u << class & DECIDED_CLASSES)))
        return;
    for (struct family_state **family = r->collected[class]; *family; family++) {
        size_t before = out->count;

        if (r->left_out && (*family)->def->detail)
            continue;
        out->family = *family;
        out->family->def->collect(entry, out);
        if (out->family->def->aggregation == AGGREGATE_FIRST)
            keep_first_samples(out, before, entry_contribution(entry));
    }
}

void registry_update_entry(void *registry, struct entry *entry)
{
    struct registry *r = registry;
    const struct samples *fresh = &r->samples;
    struct contribution *old;
    struct sample sample;

    collect_samples(r, entry);
    if (contribution_equal(entry_contribution(entry), fresh->items, fresh->count))
        return;
    old = entry_contribution(entry);
    entry_set_contribution(entry,
                           contribution_get_shared(&r->contributions, fresh->items, fresh->count));
    r->version++;
    /* Add before removing, so that series in both lists keep a reference. */
    for (size_t i = 0; i < fresh->count; i++)
        add_to_series(&fresh->items[i]);
    count_first_samples_and_increases(fresh, old);
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

bool registry_begin_problems(struct registry *r, uint64_t version)
{
    if (r->has_problems && r->problems_version == version)
        return false;
    /* The families of problems are the first ones. */
    for (size_t i = 0; i < problem_families.count; i++)
        family_state_clear_sets(&r->families[i]);
    r->has_problems = true;
    r->problems_version = version;
    return true;
}

double *registry_problem_value(struct registry *r, unsigned family, size_t label_count,
                               const char *const *labels)
{
    struct label_set *set =
        samples_label_set(&r->samples, &r->families[family], label_count, labels);

    assert(family < problem_families.count);
    if (set->references == 0)
        label_set_ref(set);
    return &set->series[0].number;
}

size_t registry_problem_limit(const struct registry *r)
{
    return r->options.problem_limit;
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

/* Returns the number of series of a family that a page leaves out or folds. */
static size_t count_omitted_series(const struct registry *r, size_t index)
{
    const struct family_state *family = &r->families[index];

    if (!family->def->detail)
        return family->folded_series;
    return r->left_out ? r->left_out[index] : family->count - registry_listed_set_count(r, family);
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
    for (size_t i = 0; i < family_count(); i++) {
        if (r->families[i].def)
            family_state_keep_texts(&r->families[i], registry_listed_set_count(r, &r->families[i]));
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

size_t registry_listed_set_count(const struct registry *r, const struct family_state *family)
{
    return family->def->detail && family->count > r->options.detail_limit ? r->options.detail_limit
                                                                          : family->count;
}
