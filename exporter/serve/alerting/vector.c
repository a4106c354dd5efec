/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/alerting/vector.h"

enum { FIRST_CAPACITY = 16 };

void label_list_release(struct label_list *l)
{
    free(l->items);
    *l = (struct label_list){NULL, 0};
}

struct label_list label_list_copy(const struct label_list *l)
{
    struct label_list copy = {xreallocarray(NULL, l->count + 1, sizeof(struct label_pair)),
                              l->count};

    if (l->count > 0)
        memcpy(copy.items, l->items, l->count * sizeof(struct label_pair));
    return copy;
}

void label_list_set(struct label_list *l, const char *name, const char *value)
{
    size_t at = 0;

    while (at < l->count && strcmp(l->items[at].name, name) < 0)
        at++;
    if (at < l->count && strcmp(l->items[at].name, name) == 0) {
        l->items[at].value = value;
        if (*value == '\0') {
            l->count--;
            memmove(&l->items[at], &l->items[at + 1], (l->count - at) * sizeof(struct label_pair));
        }
        return;
    }
    if (*value == '\0')
        return;
    l->items = xreallocarray(l->items, l->count + 1, sizeof(struct label_pair));
    memmove(&l->items[at + 1], &l->items[at], (l->count - at) * sizeof(struct label_pair));
    l->items[at] = (struct label_pair){name, value};
    l->count++;
}

const char *label_list_get(const struct label_list *l, const char *name)
{
    for (size_t i = 0; i < l->count; i++) {
        if (strcmp(l->items[i].name, name) == 0)
            return l->items[i].value;
    }
    return "";
}

struct label_list label_list_keep(const struct label_list *l, const struct name_list *names)
{
    struct label_list kept = {xreallocarray(NULL, l->count + 1, sizeof(struct label_pair)), 0};

    for (size_t i = 0; i < l->count; i++) {
        for (size_t n = 0; n < names->count; n++) {
            if (strcmp(l->items[i].name, names->items[n]) == 0) {
                kept.items[kept.count++] = l->items[i];
                break;
            }
        }
    }
    return kept;
}

int label_list_compare(const struct label_list *a, const struct label_list *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        int name = strcmp(a->items[i].name, b->items[i].name);
        int order = name != 0 ? name : strcmp(a->items[i].value, b->items[i].value);

        if (order != 0)
            return order;
    }
    return (a->count > b->count) - (a->count < b->count);
}

void vector_release(struct vector *v)
{
    for (size_t i = 0; i < v->count; i++)
        label_list_release(&v->items[i].labels);
    free(v->items);
    *v = (struct vector){NULL, 0, 0, false};
}

void vector_add(struct vector *v, struct label_list labels, double value)
{
    if (v->count == v->capacity) {
        v->capacity = v->capacity == 0 ? FIRST_CAPACITY : 2 * v->capacity;
        v->items = xreallocarray(v->items, v->capacity, sizeof(struct vector_sample));
    }
    v->items[v->count++] = (struct vector_sample){labels, value};
}

struct vector vector_scalar(double value)
{
    struct vector v = {.scalar = true};

    vector_add(&v, (struct label_list){NULL, 0}, value);
    return v;
}

static int by_key(const void *a, const void *b)
{
    const struct keyed *left = a;
    const struct keyed *right = b;

    return label_list_compare(&left->key, &right->key);
}

struct keyed *vector_keys(const struct vector *v, const struct name_list *names)
{
    struct keyed *keys = xcalloc(v->count + 1, sizeof(struct keyed));

    for (size_t i = 0; i < v->count; i++) {
        const struct label_list *labels = &v->items[i].labels;

        keys[i].key = names ? label_list_keep(labels, names) : label_list_copy(labels);
        keys[i].sample = &v->items[i];
    }
    qsort(keys, v->count, sizeof(struct keyed), by_key);
    return keys;
}

void vector_keys_free(struct keyed *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        label_list_release(&keys[i].key);
    free(keys);
}

const struct vector_sample *vector_keys_find(const struct keyed *keys, size_t count,
                                             const struct label_list *key)
{
    const struct keyed wanted = {.key = *key};
    const struct keyed *found = bsearch(&wanted, keys, count, sizeof(struct keyed), by_key);

    return found ? found->sample : NULL;
}
