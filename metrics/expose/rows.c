/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/rows.h"

#include "metrics/expose/label_text.h"
#include "metrics/expose/number_text.h"

enum {
    LABELS_MAX_BYTES = 64 << 10,
    TEXTS_MAX_BYTES = 64 << 20,
    /* With fewer of them gone, tidying up before the next page is not worth it. */
    GONE_MIN = 64,
};

static bool is_block(const void *item, const void *key)
{
    const struct block *block = item;

    return strcmp(block->key, key) == 0;
}

void key_add(struct strbuf *key, const char *name, const char *value)
{
    if (key->len > 0)
        strbuf_addc(key, ',');
    strbuf_adds(key, name);
    strbuf_adds(key, "=\"");
    label_text_add(key, value);
    strbuf_addc(key, '"');
}

/* The enumerated labels of one row, the last one changing fastest. */
static char *row_labels(const struct family *family, unsigned row)
{
    struct strbuf text = STRBUF_INIT(LABELS_MAX_BYTES);
    const struct family_label *label = &family->labels[family_free_labels(family)];
    unsigned rest = family_rows(family);

    for (; label->name; label++) {
        rest /= (unsigned)label->value_count;
        key_add(&text, label->name, label->values[row / rest % label->value_count]);
    }
    return strbuf_take(&text, NULL);
}

static void name_buckets(struct rows *r)
{
    const struct family *family = r->family;
    size_t count = family->bucket_count;

    for (size_t i = 0; i <= count; i++) {
        struct strbuf text = STRBUF_INIT(LABELS_MAX_BYTES);

        strbuf_adds(&text, "le=\"");
        number_add_double(&text, i < count ? family->buckets[i] : __builtin_inf());
        strbuf_addc(&text, '"');
        r->texts[i] = (struct row_text){"_bucket", strbuf_take(&text, NULL)};
    }
    r->texts[count + 1] = (struct row_text){"_sum", xstrdup("")};
    r->texts[count + 2] = (struct row_text){"_count", xstrdup("")};
}

/* By insertion: families have few rows a block. Buckets keep the order of their bounds. */
static void order_cells(struct rows *r)
{
    for (unsigned i = 0; i < r->cell_count; i++) {
        unsigned at = i;

        for (; at > 0 && r->family->type != FAMILY_HISTOGRAM &&
               strcmp(r->texts[r->order[at - 1]].labels, r->texts[i].labels) > 0;
             at--)
            r->order[at] = r->order[at - 1];
        r->order[at] = i;
    }
}

void rows_init(struct rows *r, const struct family *family, uint64_t seed)
{
    bool histogram = family->type == FAMILY_HISTOGRAM;

    *r = (struct rows){.family = family, .seed = seed, .found = MAP_INIT(is_block)};
    r->cell_count = histogram ? (unsigned)family->bucket_count + 3 : family_rows(family);
    r->texts = xcalloc(r->cell_count, sizeof(*r->texts));
    r->order = xcalloc(r->cell_count, sizeof(*r->order));
    if (histogram) {
        name_buckets(r);
    } else {
        for (unsigned i = 0; i < r->cell_count; i++)
            r->texts[i] = (struct row_text){"", row_labels(family, i)};
    }
    order_cells(r);
}

static void block_free(struct block *b)
{
    for (unsigned i = 0; i < b->rows->cell_count && b->rows->family->fold == FOLD_MIN; i++) {
        multiset_release(b->cells[i].minimum);
        free(b->cells[i].minimum);
    }
    free(b->key);
    free(b);
}

void rows_clear(struct rows *r)
{
    for (size_t i = 0; i < r->count; i++)
        block_free(r->blocks[i]);
    map_release(&r->found);
    r->count = r->sorted = r->gone = 0;
}

void rows_release(struct rows *r)
{
    rows_clear(r);
    for (unsigned i = 0; i < r->cell_count; i++)
        free(r->texts[i].labels);
    free(r->blocks);
    free(r->texts);
    free(r->order);
    *r = (struct rows){0};
}

static void add_text(struct strbuf *out, const struct rows *r, const char *key, unsigned cell)
{
    const struct row_text *text = &r->texts[cell];

    strbuf_adds(out, r->family->name);
    strbuf_adds(out, text->suffix);
    if (*key || *text->labels) {
        strbuf_addc(out, '{');
        strbuf_adds(out, key);
        if (*key && *text->labels)
            strbuf_addc(out, ',');
        strbuf_adds(out, text->labels);
        strbuf_addc(out, '}');
    }
    strbuf_add(out, " ", 2); /* With its NUL. */
}

static struct block *block_new(struct rows *r, const struct strbuf *key)
{
    struct block *b = xcalloc(1, sizeof(*b) + r->cell_count * sizeof(*b->cells));
    struct strbuf texts = STRBUF_INIT(TEXTS_MAX_BYTES);

    b->rows = r;
    strbuf_add(&texts, key->data, key->len + 1);
    for (unsigned i = 0; i < r->cell_count; i++)
        add_text(&texts, r, key->data, i);
    assert(strbuf_ok(&texts));
    b->key = strbuf_take(&texts, NULL);

    const char *text = b->key;
    for (unsigned i = 0; i < r->cell_count; i++) {
        text += strlen(text) + 1;
        b->cells[i].block = b;
        b->cells[i].text = text;
        if (r->family->fold == FOLD_MIN)
            b->cells[i].minimum = xcalloc(1, sizeof(struct multiset));
    }
    return b;
}

struct block *rows_get(struct rows *r, const struct strbuf *key)
{
    assert(strbuf_ok(key));
    uint64_t hash = map_hash(key->data, key->len, r->seed);
    struct block *b = map_get(&r->found, hash, key->data);

    if (b)
        return b;
    b = block_new(r, key);
    map_add(&r->found, hash, b);
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? r->capacity * 2 : 4;
        r->blocks = xreallocarray(r->blocks, r->capacity, sizeof(struct block *));
    }
    r->blocks[r->count++] = b;
    return b;
}

void block_drop(struct block *b)
{
    struct rows *r = b->rows;

    assert(b->contributors > 0);
    if (--b->contributors > 0)
        return;
    map_take(&r->found, map_hash(b->key, strlen(b->key), r->seed), b->key);
    b->gone = true;
    r->gone++;
    if (r->gone > GONE_MIN && r->gone > r->count / 2)
        rows_sort(r);
}

/* Free what is gone; those that are sorted stay in front. */
static void tidy(struct rows *r)
{
    size_t kept = 0;
    size_t sorted = r->sorted;

    if (r->gone == 0)
        return;
    for (size_t i = 0; i < r->count; i++) {
        if (i == sorted)
            r->sorted = kept;
        if (r->blocks[i]->gone)
            block_free(r->blocks[i]);
        else
            r->blocks[kept++] = r->blocks[i];
    }
    if (sorted == r->count)
        r->sorted = kept;
    r->count = kept;
    r->gone = 0;
}

static int by_key(const void *a, const void *b)
{
    return strcmp((*(struct block *const *)a)->key, (*(struct block *const *)b)->key);
}

void rows_sort(struct rows *r)
{
    tidy(r);

    size_t sorted = r->sorted;
    size_t fresh = r->count - sorted;

    if (fresh == 0)
        return;

    struct block **tail = xreallocarray(NULL, fresh, sizeof(struct block *));
    size_t at = r->count;

    memcpy(tail, r->blocks + sorted, fresh * sizeof(struct block *));
    qsort(tail, fresh, sizeof(struct block *), by_key);
    while (fresh > 0) {
        if (sorted > 0 && by_key(&r->blocks[sorted - 1], &tail[fresh - 1]) > 0)
            r->blocks[--at] = r->blocks[--sorted];
        else
            r->blocks[--at] = tail[--fresh];
    }
    free(tail);
    r->sorted = r->count;
}
