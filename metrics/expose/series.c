/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/series.h"

#include "metrics/expose/contribution.h"

enum {
    KEY_MAX_BYTES = 64 << 10,
    /* Those without a decision give nothing yet; of all others, what they are is what they give. */
    DECIDED = 1 << CLASS_TEMPLATE | 1 << CLASS_POLICY | 1 << CLASS_BINDING,
};

const struct series_options series_options_default = {.detail_limit = 1000};

/* What the observe functions fill; its memory serves all entries. */
struct samples {
    const struct engine *engine;
    struct rows *rows; /* Of the family that is being observed. */
    struct item *items;
    size_t count;
    size_t capacity;
    struct strbuf key;
};

struct series {
    struct series_options options;
    struct rows *rows; /* By family; without a family where it is not to be shown. */
    struct samples samples;
    uint64_t version;
};

/* Absent until set is what a gauge of the exporter is, if the mode it runs in has no such thing. */
static bool is_permanent(const struct family *family)
{
    return family_free_labels(family) == 0 &&
           (family->fold != FOLD_SET || family->type != FAMILY_GAUGE);
}

struct series *series_new(const struct engine *engine, const struct series_options *options,
                          uint64_t seed)
{
    struct series *s = xcalloc(1, sizeof(*s));

    s->options = *options;
    s->samples.engine = engine;
    s->samples.key = STRBUF_INIT(KEY_MAX_BYTES);
    s->rows = xcalloc(family_count, sizeof(*s->rows));
    for (size_t i = 0; i < family_count; i++) {
        if (families[i].opt_in && !options->opt_in)
            continue;
        rows_init(&s->rows[i], &families[i], seed);
        if (is_permanent(&families[i]))
            block_hold(rows_get(&s->rows[i], &s->samples.key));
    }
    return s;
}

static void free_contributions(const struct store *store)
{
    for (const struct type *type = store_types(store); type; type = type->next) {
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type) {
            for (size_t i = 0; i < partition->count; i++) {
                free(partition->entries[i]->contribution);
                partition->entries[i]->contribution = NULL;
            }
        }
    }
}

void series_free(struct series *s)
{
    if (!s)
        return;
    if (s->samples.engine)
        free_contributions(engine_store(s->samples.engine));
    for (size_t i = 0; i < family_count; i++) {
        if (s->rows[i].family)
            rows_release(&s->rows[i]);
    }
    free(s->rows);
    free(s->samples.items);
    strbuf_release(&s->samples.key);
    free(s);
}

const struct engine *samples_engine(const struct samples *out)
{
    return out->engine;
}

/* The block that these labels name. */
static struct block *find_block(struct rows *rows, struct strbuf *key, size_t label_count,
                                const char *const *labels)
{
    assert(label_count == family_free_labels(rows->family));
    strbuf_reset(key);
    for (size_t i = 0; i < label_count; i++)
        key_add(key, rows->family->labels[i].name, labels[i]);
    return rows_get(rows, key);
}

static struct cell *find_cell(struct samples *out, unsigned row, size_t label_count,
                              const char *const *labels)
{
    assert(row < out->rows->cell_count);
    return &find_block(out->rows, &out->key, label_count, labels)->cells[row];
}

static void add_item(struct samples *out, struct cell *cell, int64_t value)
{
    if (out->count == out->capacity) {
        out->capacity = out->capacity ? out->capacity * 2 : 16;
        out->items = xreallocarray(out->items, out->capacity, sizeof(*out->items));
    }
    out->items[out->count++] = (struct item){cell, value};
}

void samples_add(struct samples *out, int64_t value, unsigned row, size_t label_count,
                 const char *const *labels)
{
    add_item(out, find_cell(out, row, label_count, labels), value);
}

void samples_add_once(struct samples *out, int64_t value, unsigned row, size_t label_count,
                      const char *const *labels)
{
    struct cell *cell = find_cell(out, row, label_count, labels);

    for (size_t i = 0; i < out->count; i++) {
        if (out->items[i].cell == cell)
            return;
    }
    add_item(out, cell, value);
}

/* Beyond 64 bits it wraps, so that taking back undoes it whatever was sent. */
static int64_t add_up(int64_t sum, int64_t value)
{
    return (int64_t)((uint64_t)sum + (uint64_t)value);
}

static void give(const struct item *item)
{
    struct block *block = item->cell->block;

    block_hold(block);
    switch (block->rows->family->fold) {
    case FOLD_SUM:
        item->cell->sum = add_up(item->cell->sum, item->value);
        block->present += item->value == 0;
        return;
    case FOLD_MIN:
        multiset_add(item->cell->minimum, item->value);
        return;
    case FOLD_ONSET:
    case FOLD_ONCE:
    case FOLD_ZEROS:
    case FOLD_SET:
        return;
    }
    abort();
}

static void take_back(const struct item *item)
{
    struct block *block = item->cell->block;

    switch (block->rows->family->fold) {
    case FOLD_SUM:
        item->cell->sum = add_up(item->cell->sum, -item->value);
        block->present -= item->value == 0;
        break;
    case FOLD_MIN:
        multiset_remove(item->cell->minimum, item->value);
        break;
    case FOLD_ONSET:
    case FOLD_ONCE:
    case FOLD_ZEROS:
    case FOLD_SET:
        break;
    }
    block_drop(block);
}

/* One observation in a histogram without labels. */
static void measure(struct cell *cells, const struct family *family, double value)
{
    for (size_t i = 0; i < family->bucket_count; i++)
        cells[i].number += value <= family->buckets[i];
    cells[family->bucket_count].number += 1;
    cells[family->bucket_count + 1].number += value;
    cells[family->bucket_count + 2].number += 1;
}

/* What an entry gives now beyond what it gave before. */
static void count_onsets(const struct samples *fresh, const struct contribution *old)
{
    for (size_t i = 0; i < fresh->count; i++) {
        const struct item *item = &fresh->items[i];
        struct block *block = item->cell->block;
        const struct family *family = block->rows->family;

        if (family->fold == FOLD_ONCE && !contribution_has(old, item->cell))
            measure(block->cells, family, (double)item->value / 1000);
        if (family->fold != FOLD_ONSET)
            continue;
        int64_t before = contribution_value(old, item->cell);
        if (item->value > before)
            item->cell->sum = add_up(item->cell->sum, item->value - before);
    }
}

/* What an entry has given once it goes on giving, whatever became of it. */
static void keep_first(struct samples *out, size_t before, const struct contribution *old)
{
    struct block *block = find_block(out->rows, &out->key, 0, NULL);

    if (!contribution_has(old, &block->cells[0]))
        return;
    out->count = before;
    add_item(out, &block->cells[0], contribution_value(old, &block->cells[0]));
}

static void observe(struct series *s, const struct entry *entry)
{
    unsigned class = 1u << entry_class(entry);

    s->samples.count = 0;
    if (!entry->object || (!entry->decision && (class & DECIDED)))
        return;
    for (size_t i = 0; i < family_count; i++) {
        if (!(families[i].classes & class) || !s->rows[i].family)
            continue;
        size_t before = s->samples.count;
        s->samples.rows = &s->rows[i];
        families[i].observe(entry, &s->samples);
        if (families[i].fold == FOLD_ONCE)
            keep_first(&s->samples, before, entry->contribution);
    }
}

void series_decided(void *series, struct entry *entry)
{
    struct series *s = series;
    const struct samples *fresh = &s->samples;
    CLEANUP(free_cleanup) struct contribution *old = NULL;
    struct item item;

    observe(s, entry);
    if (contribution_equal(entry->contribution, fresh->items, fresh->count))
        return;
    old = entry->contribution;
    entry->contribution = contribution_pack(fresh->items, fresh->count);
    s->version++;
    /* First given, then taken back: what is in both is never gone in between. */
    for (size_t i = 0; i < fresh->count; i++)
        give(&fresh->items[i]);
    count_onsets(fresh, old);
    for (size_t at = 0; contribution_next(old, &at, &item);)
        take_back(&item);
}

uint64_t series_version(const struct series *s)
{
    return s->version;
}

static struct rows *find_rows(struct series *s, const char *name, enum family_fold fold)
{
    const struct family *family = family_find(name);

    assert(family && family->fold == fold);
    return &s->rows[family - families];
}

void series_set(struct series *s, const char *name, double value, size_t label_count,
                const char *const *labels)
{
    struct rows *rows = find_rows(s, name, FOLD_SET);
    struct block *block = find_block(rows, &s->samples.key, label_count, labels);

    if (block->contributors == 0)
        block_hold(block);
    block->cells[0].number = value;
}

void series_clear(struct series *s, const char *name)
{
    struct rows *rows = find_rows(s, name, FOLD_SET);

    assert(!is_permanent(rows->family));
    rows_clear(rows);
}

void series_measure(struct series *s, const char *name, double value)
{
    struct rows *rows = find_rows(s, name, FOLD_SET);
    const struct family *family = rows->family;
    struct cell *cells = find_block(rows, &s->samples.key, 0, NULL)->cells;

    assert(family->type == FAMILY_HISTOGRAM);
    measure(cells, family, value);
}

/* A block says nothing of what its labels were but its text, which begins with the first label. */
static void count_zeros(struct rows *counts, const struct rows *of)
{
    const struct family *family = counts->family;
    struct cell *cells = counts->blocks[0]->cells;

    for (unsigned i = 0; i < counts->cell_count; i++) {
        const char *label = counts->texts[i].labels;

        cells[i].sum = 0;
        for (size_t k = 0; k < of->count; k++) {
            const struct block *block = of->blocks[k];

            cells[i].sum += block->present > 0 && block->cells[family->of_row].sum == 0 &&
                            strncmp(block->key, label, strlen(label)) == 0;
        }
    }
}

void series_run(struct series *s)
{
    for (size_t i = 0; i < family_count; i++)
        rows_sort(&s->rows[i]);
    for (size_t i = 0; i < family_count; i++) {
        struct rows *rows = &s->rows[i];

        if (families[i].fold == FOLD_ZEROS)
            count_zeros(rows, find_rows(s, families[i].of, FOLD_SUM));
        if (families[i].detail && rows->family)
            SERIES_SET(s, "karmada_policy_exporter_detail_series_dropped",
                       (double)(rows->count - series_shown(s, rows)), families[i].name);
    }
    rows_sort(find_rows(s, "karmada_policy_exporter_detail_series_dropped", FOLD_SET));
}

const struct rows *series_rows(const struct series *s, size_t index)
{
    return s->rows[index].family ? &s->rows[index] : NULL;
}

size_t series_shown(const struct series *s, const struct rows *rows)
{
    return rows->family->detail && rows->count > s->options.detail_limit ? s->options.detail_limit
                                                                         : rows->count;
}
