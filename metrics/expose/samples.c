/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/samples.h"

/* Bit of a word for a sample of 1. Series are aligned: the lowest bit of their address is 0. */
enum { VALUE_IS_ONE = 1 };

struct contribution {
    uint64_t hash;
    uint32_t references;
    uint32_t word_count;
    uintptr_t words[]; /* A sample: the series with VALUE_IS_ONE; or the series, then the value. */
};

static_assert(sizeof(uintptr_t) >= sizeof(int64_t), "a word holds a value");

/* Key of a look-up in the map of contributions: a contribution, or samples. */
struct contribution_key {
    const struct contribution *same; /* Contribution to find; NULL to find equal samples. */
    const struct sample *samples;
    size_t count;
};

static bool is_wanted_contribution(const void *item, const void *key)
{
    const struct contribution_key *wanted = key;

    return wanted->same ? item == wanted->same
                        : contribution_equal(item, wanted->samples, wanted->count);
}

void contributions_init(struct contributions *all, struct pool *memory, uint64_t seed)
{
    *all = (struct contributions){
        .map = MAP_INIT(is_wanted_contribution), .memory = memory, .seed = seed};
}

void contributions_release(struct contributions *all)
{
    assert(all->map.count == 0);
    map_release(&all->map);
}

static struct contribution *pack_samples(struct pool *memory, const struct sample *samples,
                                         size_t count)
{
    size_t words = 0;

    for (size_t i = 0; i < count; i++)
        words += samples[i].value == 1 ? 1 : 2;

    struct contribution *c = pool_alloc(memory, sizeof(*c) + words * sizeof(*c->words));
    c->word_count = 0;
    for (size_t i = 0; i < count; i++) {
        uintptr_t series = (uintptr_t)samples[i].series;

        if (samples[i].value == 1) {
            c->words[c->word_count++] = series | VALUE_IS_ONE;
            continue;
        }
        c->words[c->word_count++] = series;
        c->words[c->word_count++] = (uintptr_t)samples[i].value;
    }
    return c;
}

struct contribution *contribution_get_shared(struct contributions *all,
                                             const struct sample *samples, size_t count)
{
    const struct contribution_key wanted = {.samples = samples, .count = count};
    uint64_t hash = map_hash(samples, count * sizeof(*samples), all->seed);
    struct contribution *c;

    if (count == 0)
        return NULL;
    c = map_get(&all->map, hash, &wanted);
    if (c) {
        c->references++;
        return c;
    }
    c = pack_samples(all->memory, samples, count);
    c->hash = hash;
    c->references = 1;
    map_add(&all->map, hash, c);
    return c;
}

void contribution_drop(struct contributions *all, struct contribution *c)
{
    if (!c || --c->references > 0)
        return;
    map_take(&all->map, c->hash, &(struct contribution_key){.same = c});
    pool_free(c);
}

bool contribution_next(const struct contribution *c, size_t *at, struct sample *out)
{
    if (!c || *at == c->word_count)
        return false;

    uintptr_t word = c->words[(*at)++];
    bool is_one = word & VALUE_IS_ONE;

    out->series = (struct series *)(word & ~(uintptr_t)VALUE_IS_ONE);
    out->value = is_one ? 1 : (int64_t)c->words[(*at)++];
    return true;
}

bool contribution_equal(const struct contribution *c, const struct sample *samples, size_t count)
{
    size_t at = 0, i = 0;
    struct sample sample;

    while (contribution_next(c, &at, &sample)) {
        if (i == count || samples[i].series != sample.series || samples[i].value != sample.value)
            return false;
        i++;
    }
    return i == count;
}

static bool find_sample(const struct contribution *c, const struct series *series,
                        struct sample *out)
{
    for (size_t at = 0; contribution_next(c, &at, out);) {
        if (out->series == series)
            return true;
    }
    return false;
}

bool contribution_has(const struct contribution *c, const struct series *series)
{
    struct sample sample;

    return find_sample(c, series, &sample);
}

int64_t contribution_value(const struct contribution *c, const struct series *series)
{
    struct sample sample;

    return find_sample(c, series, &sample) ? sample.value : 0;
}

enum { KEY_MAX_BYTES = 64 << 10 };

void samples_init(struct samples *s, const struct engine *engine)
{
    *s = (struct samples){.engine = engine, .key = STRBUF_INIT(KEY_MAX_BYTES)};
}

void samples_release(struct samples *s)
{
    free(s->items);
    strbuf_release(&s->key);
}

struct label_set *samples_label_set(struct samples *s, struct family_state *family,
                                    size_t label_count, const char *const *labels)
{
    assert(label_count == family_free_label_count(family->def));
    strbuf_reset(&s->key);
    for (size_t i = 0; i < label_count; i++)
        label_key_add(&s->key, family->def->labels[i].name, labels[i]);
    return family_state_find_or_add_set(family, &s->key);
}

static struct series *get_series(struct samples *out, unsigned index, size_t label_count,
                                 const char *const *labels)
{
    assert(index < out->family->series_count);
    return &samples_label_set(out, out->family, label_count, labels)->series[index];
}

void samples_add_to(struct samples *out, struct series *series, int64_t value)
{
    if (out->count == out->capacity) {
        out->capacity = out->capacity ? out->capacity * 2 : 16;
        out->items = xreallocarray(out->items, out->capacity, sizeof(*out->items));
    }
    out->items[out->count++] = (struct sample){series, value};
}

void samples_add(struct samples *out, int64_t value, unsigned index, size_t label_count,
                 const char *const *labels)
{
    samples_add_to(out, get_series(out, index, label_count, labels), value);
}

void samples_add_once(struct samples *out, int64_t value, unsigned index, size_t label_count,
                      const char *const *labels)
{
    struct series *series = get_series(out, index, label_count, labels);

    for (size_t i = 0; i < out->count; i++) {
        if (out->items[i].series == series)
            return;
    }
    samples_add_to(out, series, value);
}

void samples_add_bits(struct samples *out, unsigned bits)
{
    for (unsigned i = 0; bits > 0; bits >>= 1, i++) {
        if (bits & 1)
            SAMPLE(out, 1, i);
    }
}
