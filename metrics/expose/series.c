/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/series.h"

#include "metrics/base/map.h"
#include "metrics/base/number.h"
#include "metrics/base/utf8.h"

/* ---- label values ---- */

static const char replacement_character[] = "\xef\xbf\xbd";

enum { REPLACEMENT_LEN = 3, HASH_MARK_LEN = 3 + 16 };

/* Returns true for C0 controls, DEL, and C1 controls in UTF-8. */
static bool is_control(const char *s)
{
    unsigned char first = (unsigned char)s[0];

    return first < 0x20 || first == 0x7f || (first == 0xc2 && (unsigned char)s[1] < 0xa0);
}

/*
 * Moves *s past one character. Points `out` to the bytes of the character in a label value, U+FFFD
 * for a control character or a byte that is not UTF-8. Returns the number of these bytes.
 */
static unsigned next_character(const char **s, const char **out)
{
    const char *from = *s;
    unsigned len = utf8_char_len(from);

    if (len == 0) {
        *s = from + 1;
        *out = replacement_character;
        return REPLACEMENT_LEN;
    }
    *s = from + len;
    *out = is_control(from) ? replacement_character : from;
    return *out == from ? len : REPLACEMENT_LEN;
}

/*
 * Returns how many bytes of a label value are kept at most, counted after replacement by U+FFFD and
 * before escaping. If the replaced value is above LABEL_VALUE_MAX, the number is lower, so that
 * "..." and the hash fit.
 */
static size_t kept_bytes_max(const char *value)
{
    const char *bytes;
    size_t len = 0;

    /* A value of this length fits even if U+FFFD replaces every byte. */
    if (strlen(value) <= LABEL_VALUE_MAX / REPLACEMENT_LEN)
        return LABEL_VALUE_MAX;
    while (*value && len <= LABEL_VALUE_MAX)
        len += next_character(&value, &bytes);
    return len <= LABEL_VALUE_MAX ? LABEL_VALUE_MAX : LABEL_VALUE_MAX - HASH_MARK_LEN;
}

/* ASCII characters that stay as they are in a label value. */
static const bool plain_characters[256] = {
    [0x20 ... '"' - 1] = true,
    ['"' + 1 ... '\\' - 1] = true,
    ['\\' + 1 ... 0x7e] = true,
};

/* Returns the length of a value that stays as it is, as most values do; SIZE_MAX for others. */
static size_t plain_value_len(const char *value)
{
    size_t len = 0;

    while (plain_characters[(unsigned char)value[len]])
        len++;
    return value[len] == '\0' && len <= LABEL_VALUE_MAX ? len : SIZE_MAX;
}

void label_text_add(struct strbuf *out, const char *value)
{
    const char *from = value ? value : "";
    size_t plain = plain_value_len(from);

    if (plain != SIZE_MAX) {
        strbuf_add(out, from, plain);
        return;
    }

    size_t room = kept_bytes_max(from);
    const char *at = from;

    while (*at) {
        const char *bytes;
        const char *next = at;
        unsigned len = next_character(&next, &bytes);

        if (len > room)
            break;
        if (*bytes == '"' || *bytes == '\\')
            strbuf_addc(out, '\\');
        strbuf_add(out, bytes, len);
        room -= len;
        at = next;
    }
    if (*at)
        strbuf_addf(out, "...%016" PRIx64, map_hash(from, strlen(from), 0));
}

/* ---- multiset with minimum ---- */

/* Minimal size of `present` for compact_multiset(): smaller heaps waste little memory. */
enum { COMPACT_FROM = 32 };

void multiset_release(struct multiset *m)
{
    free(m->present.values);
    free(m->removed.values);
    *m = (struct multiset){0};
}

static void heap_add(struct heap *h, int64_t value)
{
    if (h->count == h->capacity) {
        /* By an eighth: the multisets of a control plane have a number for each template. */
        h->capacity += h->capacity / 8 + 4;
        h->values = xreallocarray(h->values, h->capacity, sizeof(*h->values));
    }

    size_t at = h->count++;

    while (at > 0 && h->values[(at - 1) / 2] > value) {
        h->values[at] = h->values[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    h->values[at] = value;
}

static void heap_pop(struct heap *h)
{
    int64_t last = h->values[--h->count];
    size_t at = 0;

    if (h->count == 0)
        return;
    for (size_t child = 1; child < h->count; child = 2 * at + 1) {
        if (child + 1 < h->count && h->values[child + 1] < h->values[child])
            child++;
        if (h->values[child] >= last)
            break;
        h->values[at] = h->values[child];
        at = child;
    }
    h->values[at] = last;
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

/* Removes the values of `removed` from both heaps. A sorted array is a valid heap. */
static void compact_multiset(struct multiset *m)
{
    size_t kept = 0;
    size_t gone = 0;

    qsort(m->present.values, m->present.count, sizeof(int64_t), compare_numbers);
    qsort(m->removed.values, m->removed.count, sizeof(int64_t), compare_numbers);
    for (size_t i = 0; i < m->present.count; i++) {
        if (gone < m->removed.count && m->removed.values[gone] == m->present.values[i])
            gone++;
        else
            m->present.values[kept++] = m->present.values[i];
    }
    assert(gone == m->removed.count);
    m->present.count = kept;
    m->removed.count = 0;
}

void multiset_add(struct multiset *m, int64_t value)
{
    heap_add(&m->present, value);
}

void multiset_remove(struct multiset *m, int64_t value)
{
    assert(m->present.count > m->removed.count);
    heap_add(&m->removed, value);
    while (m->removed.count > 0 && m->removed.values[0] == m->present.values[0]) {
        heap_pop(&m->removed);
        heap_pop(&m->present);
    }
    if (m->present.count >= COMPACT_FROM && m->removed.count > m->present.count / 2)
        compact_multiset(m);
}

bool multiset_min(const struct multiset *m, int64_t *out)
{
    if (m->present.count == 0)
        return false;
    *out = m->present.values[0];
    return true;
}

/* ---- series and label sets ---- */

enum {
    LABELS_MAX_BYTES = 64 << 10,
    TEXTS_MAX_BYTES = 64 << 20,
    GONE_MIN = 64, /* Up to this number, label sets that are gone wait for the next page. */
};

static bool has_key(const void *item, const void *key)
{
    const struct label_set *set = item;

    return strcmp(set->key, key) == 0;
}

/* Copies `len` bytes. Returns the end of the copy. */
static char *copy_bytes(char *to, const char *from, size_t len)
{
    memcpy(to, from, len);
    return to + len;
}

void label_key_add(struct strbuf *key, const char *name, const char *value)
{
    const char *comma = key->len > 0 ? "," : "";
    size_t name_len = strlen(name), plain = plain_value_len(value ? value : "");
    char *to;

    if (plain == SIZE_MAX) {
        strbuf_addf(key, "%s%s=\"", comma, name);
        label_text_add(key, value);
        strbuf_addc(key, '"');
        return;
    }
    /* Each evaluation of an entry makes several keys: one check of the room is enough. */
    to = strbuf_extend(key, strlen(comma) + name_len + 2 + plain + 1);
    if (!to)
        return;
    to = copy_bytes(to, comma, strlen(comma));
    to = copy_bytes(to, name, name_len);
    to = copy_bytes(to, "=\"", 2);
    to = copy_bytes(to, value ? value : "", plain);
    *to = '"';
}

/* Returns the enumerated labels of the series with an index (struct samples) as an owned text. */
static char *enumerated_labels(const struct family_def *def, unsigned index)
{
    struct strbuf text = STRBUF_INIT(LABELS_MAX_BYTES);
    const struct family_label *label = &def->labels[family_free_label_count(def)];
    unsigned rest = family_series_per_set(def);

    for (; label->name; label++) {
        rest /= (unsigned)label->value_count;
        label_key_add(&text, label->name, label->values[index / rest % label->value_count]);
    }
    return strbuf_take(&text, NULL);
}

static void init_histogram_texts(struct family_state *f)
{
    size_t count = f->def->bucket_count;

    for (size_t i = 0; i <= count; i++) {
        struct strbuf text = STRBUF_INIT(LABELS_MAX_BYTES);

        strbuf_adds(&text, "le=\"");
        strbuf_add_double(&text, i < count ? f->def->buckets[i] : __builtin_inf());
        strbuf_addc(&text, '"');
        f->texts[i] = (struct series_text){"_bucket", strbuf_take(&text, NULL)};
    }
    f->texts[count + 1] = (struct series_text){"_sum", xstrdup("")};
    f->texts[count + 2] = (struct series_text){"_count", xstrdup("")};
}

/*
 * Fills `order` with the indexes of the possible series, sorted by labels: an insertion sort,
 * because label sets have few series. Histograms keep the order of their bounds.
 */
static void sort_possible_series(struct family_state *f)
{
    for (unsigned i = 0; i < f->series_count; i++) {
        unsigned at = f->shown_count;

        if (!family_has_series(f->def, i))
            continue;
        f->shown_count++;
        for (; at > 0 && f->def->type != FAMILY_HISTOGRAM &&
               strcmp(f->texts[f->order[at - 1]].labels, f->texts[i].labels) > 0;
             at--)
            f->order[at] = f->order[at - 1];
        f->order[at] = i;
    }
}

void family_state_init(struct family_state *f, const struct family_def *def, uint64_t seed)
{
    bool histogram = def->type == FAMILY_HISTOGRAM;

    *f = (struct family_state){.def = def, .seed = seed, .by_key = MAP_INIT(has_key)};
    f->series_count = histogram ? (unsigned)def->bucket_count + 3 : family_series_per_set(def);
    f->texts = xcalloc(f->series_count, sizeof(*f->texts));
    f->order = xcalloc(f->series_count, sizeof(*f->order));
    if (histogram) {
        init_histogram_texts(f);
    } else {
        for (unsigned i = 0; i < f->series_count; i++)
            f->texts[i] = (struct series_text){"", enumerated_labels(def, i)};
    }
    sort_possible_series(f);
}

static void label_set_free(struct label_set *set)
{
    const struct family_state *f = set->family;

    for (unsigned i = 0; i < f->series_count && f->def->aggregation == AGGREGATE_MIN; i++) {
        multiset_release(set->series[i].minimum);
        free(set->series[i].minimum);
    }
    free(set->texts);
    free(set->key);
    free(set);
}

void family_state_unfold_sets(struct family_state *f)
{
    for (size_t i = 0; f->folded > 0 && i < f->count; i++)
        f->sets[i]->folded = false;
    for (size_t i = 0; i < f->rest_count; i++)
        label_set_free(f->rest[i]);
    free(f->rest);
    f->rest = NULL;
    f->rest_count = f->folded = f->folded_series = 0;
}

void family_state_clear_sets(struct family_state *f)
{
    family_state_unfold_sets(f);
    for (size_t i = 0; i < f->count; i++)
        label_set_free(f->sets[i]);
    map_release(&f->by_key);
    f->count = f->sorted = f->gone = 0;
}

void family_state_release(struct family_state *f)
{
    family_state_clear_sets(f);
    for (unsigned i = 0; i < f->series_count; i++)
        free(f->texts[i].labels);
    free(f->sets);
    free(f->texts);
    free(f->order);
    *f = (struct family_state){0};
}

/* Appends the text of a series, `name{labels} `; `key` is the key of its label set. */
static void add_series_text(struct strbuf *out, const struct family_state *f, const char *key,
                            unsigned index)
{
    const struct series_text *text = &f->texts[index];

    strbuf_adds(out, f->def->name);
    strbuf_adds(out, text->suffix);
    if (*key || *text->labels) {
        strbuf_addc(out, '{');
        strbuf_adds(out, key);
        if (*key && *text->labels)
            strbuf_addc(out, ',');
        strbuf_adds(out, text->labels);
        strbuf_addc(out, '}');
    }
    strbuf_addc(out, ' ');
}

void series_add_text(struct strbuf *out, const struct series *series)
{
    const struct label_set *set = series->set;
    unsigned index = (unsigned)(series - set->series);
    uint32_t span[2];

    if (!set->texts) {
        add_series_text(out, set->family, set->key, index);
        return;
    }
    memcpy(span, set->texts + index * sizeof(span[0]), sizeof(span));
    strbuf_add(out, set->texts + span[0], span[1] - span[0]);
}

/*
 * Sets the texts of a label set: the offsets of the text of each series and of their end, 32 bits
 * each, and then the texts.
 */
static void add_texts(struct label_set *set)
{
    CLEANUP(strbuf_release) struct strbuf texts = STRBUF_INIT(TEXTS_MAX_BYTES);
    const struct family_state *f = set->family;
    uint32_t *offsets = xcalloc(f->series_count + (size_t)1, sizeof(*offsets));
    size_t head = (f->series_count + (size_t)1) * sizeof(*offsets);

    for (unsigned i = 0; i < f->series_count; i++) {
        offsets[i] = (uint32_t)(head + texts.len);
        add_series_text(&texts, f, set->key, i);
    }
    offsets[f->series_count] = (uint32_t)(head + texts.len);
    assert(strbuf_ok(&texts));
    set->texts = xmalloc(head + texts.len);
    memcpy(set->texts, offsets, head);
    memcpy(set->texts + head, texts.data, texts.len);
    free(offsets);
}

static void keep_texts_if(struct label_set *set, bool shown)
{
    if (shown && !set->texts) {
        add_texts(set);
    } else if (!shown && set->texts) {
        free(set->texts);
        set->texts = NULL;
    }
}

void family_state_keep_texts(struct family_state *f, size_t listed)
{
    if (f->def->sparse)
        return;
    for (size_t i = 0; i < f->rest_count; i++)
        keep_texts_if(f->rest[i], true);
    for (size_t i = 0; i < f->count; i++)
        keep_texts_if(f->sets[i], i < listed && !f->sets[i]->folded);
}

static_assert(sizeof(struct series) == 16, "a label set has up to dozens of series");

static struct label_set *label_set_new(struct family_state *f, const struct strbuf *key)
{
    struct label_set *set = xcalloc(1, sizeof(*set) + f->series_count * sizeof(*set->series));

    set->family = f;
    set->key = xmemdup0(key->data, key->len);
    for (unsigned i = 0; i < f->series_count; i++) {
        set->series[i].set = set;
        if (f->def->aggregation == AGGREGATE_MIN)
            set->series[i].minimum = xcalloc(1, sizeof(struct multiset));
    }
    return set;
}

/*
 * Appends the key of the rest set of a folded set with the key `from`: the first `labels` labels
 * get the value of family_rest_value(), the others stay.
 */
static void add_rest_key(struct strbuf *key, const struct family_def *def, const char *from,
                         unsigned labels)
{
    for (unsigned i = 0; i < labels; i++)
        label_key_add(key, def->labels[i].name, family_rest_value(def->limit_kind));
    /* Each label has two quotes; quotes in a value come after a backslash. */
    for (unsigned quotes = 2 * labels; quotes > 0; from++) {
        quotes -= *from == '"';
        from += *from == '\\';
    }
    strbuf_adds(key, from);
}

/* Returns the rest set of a folded set; adds it if it is missing. */
static struct label_set *find_or_add_rest_set(struct family_state *f, const struct label_set *set,
                                              unsigned labels)
{
    CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(LABELS_MAX_BYTES);
    size_t at = f->rest_count;

    /* Without other free labels, all folded sets have the same rest set. */
    if (at > 0 && family_free_label_count(f->def) == labels)
        return f->rest[0];
    add_rest_key(&key, f->def, set->key, labels);
    for (size_t i = 0; i < f->rest_count; i++) {
        if (strcmp(f->rest[i]->key, key.data) == 0)
            return f->rest[i];
    }
    f->rest = xreallocarray(f->rest, f->rest_count + 1, sizeof(struct label_set *));
    for (; at > 0 && strcmp(f->rest[at - 1]->key, key.data) > 0; at--)
        f->rest[at] = f->rest[at - 1];
    f->rest_count++;
    return f->rest[at] = label_set_new(f, &key);
}

void family_state_fold_set(struct family_state *f, struct label_set *set, unsigned labels)
{
    struct label_set *rest = f->def->no_rest ? NULL : find_or_add_rest_set(f, set, labels);

    assert(f->def->aggregation == AGGREGATE_SUM);
    set->folded = true;
    f->folded++;
    for (unsigned i = 0; i < f->series_count; i++) {
        if (rest)
            series_add(&rest->series[i], set->series[i].sum);
        f->folded_series += set->series[i].sum != 0;
    }
}

struct label_set *family_state_find_or_add_set(struct family_state *f, const struct strbuf *key)
{
    assert(strbuf_ok(key));
    uint64_t hash = map_hash(key->data, key->len, f->seed);
    struct label_set *set = map_get(&f->by_key, hash, key->data);

    if (set)
        return set;
    set = label_set_new(f, key);
    map_add(&f->by_key, hash, set);
    if (f->count == f->capacity) {
        f->capacity = f->capacity ? f->capacity * 2 : 4;
        f->sets = xreallocarray(f->sets, f->capacity, sizeof(struct label_set *));
    }
    f->sets[f->count++] = set;
    return set;
}

void label_set_unref(struct label_set *set)
{
    struct family_state *f = set->family;

    assert(set->references > 0);
    if (--set->references > 0)
        return;
    map_take(&f->by_key, map_hash(set->key, strlen(set->key), f->seed), set->key);
    set->gone = true;
    f->gone++;
    if (f->gone > GONE_MIN && f->gone > f->count / 2)
        family_state_sort_sets(f);
}

/* Frees the label sets that are gone. The others keep their order; updates `sorted`. */
static void free_gone_sets(struct family_state *f)
{
    size_t kept = 0;
    size_t sorted = f->sorted;

    if (f->gone == 0)
        return;
    for (size_t i = 0; i < f->count; i++) {
        if (i == sorted)
            f->sorted = kept;
        if (f->sets[i]->gone)
            label_set_free(f->sets[i]);
        else
            f->sets[kept++] = f->sets[i];
    }
    if (sorted == f->count)
        f->sorted = kept;
    f->count = kept;
    f->gone = 0;
}

static int by_key(const void *a, const void *b)
{
    return strcmp((*(struct label_set *const *)a)->key, (*(struct label_set *const *)b)->key);
}

void family_state_sort_sets(struct family_state *f)
{
    free_gone_sets(f);

    size_t sorted = f->sorted;
    size_t fresh = f->count - sorted;

    if (fresh == 0)
        return;

    struct label_set **tail = xreallocarray(NULL, fresh, sizeof(struct label_set *));
    size_t at = f->count;

    /* Sorts the new sets and merges them with the sorted ones, starting with the last keys. */
    memcpy(tail, f->sets + sorted, fresh * sizeof(struct label_set *));
    qsort(tail, fresh, sizeof(struct label_set *), by_key);
    while (fresh > 0) {
        if (sorted > 0 && by_key(&f->sets[sorted - 1], &tail[fresh - 1]) > 0)
            f->sets[--at] = f->sets[--sorted];
        else
            f->sets[--at] = tail[--fresh];
    }
    free(tail);
    f->sorted = f->count;
}
