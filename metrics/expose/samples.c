/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/samples.h"

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
    assert(label_count == family_free_labels(family->def));
    strbuf_reset(&s->key);
    for (size_t i = 0; i < label_count; i++)
        label_key_add(&s->key, family->def->labels[i].name, labels[i]);
    return family_state_get(family, &s->key);
}

static struct series *find_series(struct samples *out, unsigned index, size_t label_count,
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
    samples_add_to(out, find_series(out, index, label_count, labels), value);
}

void samples_add_once(struct samples *out, int64_t value, unsigned index, size_t label_count,
                      const char *const *labels)
{
    struct series *series = find_series(out, index, label_count, labels);

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
