/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/multiset.h"

/* Below this many numbers a clean-up is not worth its call. */
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
        h->capacity = h->capacity ? h->capacity * 2 : 4;
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

static int ascending(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

/* Drop what was removed from both heaps. A sorted array is a heap too. */
static void compact(struct multiset *m)
{
    size_t kept = 0;
    size_t gone = 0;

    qsort(m->present.values, m->present.count, sizeof(int64_t), ascending);
    qsort(m->removed.values, m->removed.count, sizeof(int64_t), ascending);
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
        compact(m);
}

bool multiset_min(const struct multiset *m, int64_t *out)
{
    if (m->present.count == 0)
        return false;
    *out = m->present.values[0];
    return true;
}
