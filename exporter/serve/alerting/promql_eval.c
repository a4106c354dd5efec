/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "exporter/serve/alerting/promql_select.h"

/* ---- aggregations ---- */

static double add_up(enum promql_op op, double sum, double value)
{
    if (op == PROMQL_SUM)
        return sum + value;
    if (op == PROMQL_COUNT)
        return sum + 1;
    /* As in Prometheus a number goes before none. */
    if (op == PROMQL_MAX)
        return value > sum || isnan(sum) ? value : sum;
    return value < sum || isnan(sum) ? value : sum;
}

static struct vector aggregate(const struct promql *p, const struct vector *v)
{
    struct vector out = {.scalar = false};
    struct keyed *keys = vector_keys(v, &p->names);

    for (size_t i = 0; i < v->count; i++) {
        double value = keys[i].sample->value;
        struct vector_sample *last = out.count > 0 ? &out.items[out.count - 1] : NULL;

        if (last && label_list_compare(&last->labels, &keys[i].key) == 0)
            last->value = add_up(p->op, last->value, value);
        else
            vector_add(&out, label_list_copy(&keys[i].key), p->op == PROMQL_COUNT ? 1 : value);
    }
    vector_keys_free(keys, v->count);
    return out;
}

static int by_value(const void *a, const void *b)
{
    const struct vector_sample *left = a;
    const struct vector_sample *right = b;

    if (left->value != right->value)
        return left->value < right->value ? 1 : -1;
    return label_list_compare(&left->labels, &right->labels);
}

static void keep_highest(struct vector *v, double count)
{
    if (v->count > 0)
        qsort(v->items, v->count, sizeof(struct vector_sample), by_value);
    while (v->count > 0 && (double)v->count > count)
        label_list_release(&v->items[--v->count].labels);
}

/* ---- histograms ---- */

struct bucket {
    double le;
    double count;
};

static int by_le(const void *a, const void *b)
{
    double left = ((const struct bucket *)a)->le;
    double right = ((const struct bucket *)b)->le;

    return (left > right) - (left < right);
}

/* The number that a share of what was counted does not exceed; NAN where nothing was. */
static double quantile(double share, struct bucket *buckets, size_t count)
{
    size_t at = 0;

    qsort(buckets, count, sizeof(struct bucket), by_le);
    double rank = share * buckets[count - 1].count;

    if (count < 2 || !isinf(buckets[count - 1].le) || buckets[count - 1].count == 0)
        return NAN;
    while (at < count - 1 && buckets[at].count < rank)
        at++;
    if (at == count - 1)
        return buckets[count - 2].le;

    double from = at > 0 ? buckets[at - 1].le : 0;
    double below = at > 0 ? buckets[at - 1].count : 0;

    if (at == 0 && buckets[0].le <= 0)
        return buckets[0].le;
    return from + (buckets[at].le - from) * (rank - below) / (buckets[at].count - below);
}

static struct vector eval_quantile(double share, struct vector *v)
{
    CLEANUP(free_cleanup) struct bucket *buckets = xcalloc(v->count + 1, sizeof(struct bucket));
    CLEANUP(free_cleanup) double *limits = xcalloc(v->count + 1, sizeof(double));
    struct vector out = {.scalar = false};
    size_t count = 0;

    /* What is left of the labels says which histogram it is of. */
    for (size_t i = 0; i < v->count; i++) {
        limits[i] = strtod(label_list_get(&v->items[i].labels, "le"), NULL);
        label_list_set(&v->items[i].labels, "le", "");
    }
    struct keyed *keys = vector_keys(v, NULL);

    for (size_t i = 0; i < v->count; i++) {
        buckets[count++] =
            (struct bucket){limits[keys[i].sample - v->items], keys[i].sample->value};
        if (i + 1 < v->count && label_list_compare(&keys[i].key, &keys[i + 1].key) == 0)
            continue;
        vector_add(&out, label_list_copy(&keys[i].key), quantile(share, buckets, count));
        count = 0;
    }
    vector_keys_free(keys, v->count);
    return out;
}

/* ---- operators ---- */

static bool compares(enum promql_op op)
{
    return op >= PROMQL_EQUAL && op <= PROMQL_BELOW;
}

/* Of a comparison whether it holds. */
static double reckon(enum promql_op op, double a, double b)
{
    /* All that is no operator on two numbers does not come here. */
    switch ((int)op) {
    case PROMQL_EQUAL:
        return a == b;
    case PROMQL_NOT_EQUAL:
        return a != b;
    case PROMQL_AT_LEAST:
        return a >= b;
    case PROMQL_AT_MOST:
        return a <= b;
    case PROMQL_ABOVE:
        return a > b;
    case PROMQL_BELOW:
        return a < b;
    case PROMQL_PLUS:
        return a + b;
    case PROMQL_MINUS:
        return a - b;
    case PROMQL_TIMES:
        return a * b;
    case PROMQL_DIVIDED:
        return a / b;
    default:
        abort();
    }
}

/* The samples of a whose labels are among those of b, or are not. */
static void add_matching(struct vector *out, const struct vector *a, const struct vector *b,
                         const struct name_list *names, bool wanted)
{
    struct keyed *keys = vector_keys(b, names);

    for (size_t i = 0; i < a->count; i++) {
        struct label_list all = label_list_copy(&a->items[i].labels);
        struct label_list key = names ? label_list_keep(&all, names) : label_list_copy(&all);

        if ((vector_keys_find(keys, b->count, &key) != NULL) == wanted)
            vector_add(out, all, a->items[i].value);
        else
            label_list_release(&all);
        label_list_release(&key);
    }
    vector_keys_free(keys, b->count);
}

/* Each sample of a with the one of b that has its labels. */
static void add_reckoned(struct vector *out, const struct promql *p, const struct vector *a,
                         const struct vector *b)
{
    const struct name_list *names = p->named ? &p->names : NULL;
    struct keyed *keys = vector_keys(b, names);

    for (size_t i = 0; i < a->count; i++) {
        const struct label_list *labels = &a->items[i].labels;
        struct label_list key = names ? label_list_keep(labels, names) : label_list_copy(labels);
        const struct vector_sample *other =
            a->scalar || b->scalar ? b->items : vector_keys_find(keys, b->count, &key);
        double result = other ? reckon(p->op, a->items[i].value, other->value) : 0;

        /* Of a pair only what it was matched by is left, unless many have the same partner. */
        if (other && (!compares(p->op) || result != 0))
            vector_add(out, p->many || b->scalar ? label_list_copy(labels) : label_list_copy(&key),
                       compares(p->op) ? a->items[i].value : result);
        label_list_release(&key);
    }
    vector_keys_free(keys, b->count);
}

static struct vector eval_binary(const struct promql *p, const struct vector *a,
                                 const struct vector *b)
{
    const struct name_list *names = p->named ? &p->names : NULL;
    struct vector out = {.scalar = a->scalar && b->scalar};

    if (p->op == PROMQL_OR) {
        add_matching(&out, a, &(struct vector){.items = NULL}, names, false);
        add_matching(&out, b, a, names, false);
    } else if (p->op == PROMQL_AND || p->op == PROMQL_UNLESS) {
        add_matching(&out, a, b, names, p->op == PROMQL_AND);
    } else if (a->scalar && !b->scalar) {
        /* Which comparisons with a number on the left would keep is never asked. */
        for (size_t i = 0; i < b->count; i++)
            vector_add(&out, label_list_copy(&b->items[i].labels),
                       reckon(p->op, a->items[0].value, b->items[i].value));
    } else {
        add_reckoned(&out, p, a, b);
    }
    return out;
}

/* ---- all ---- */

static struct vector eval_call(const struct promql *p, const struct series_store *store,
                               int64_t now_ms)
{
    if (p->op >= PROMQL_LAST && p->op <= PROMQL_CHANGES)
        return select_range(p->op, p->parts[0], store, now_ms);
    if (p->op == PROMQL_ABSENT)
        return select_absent(p->parts[0], store, now_ms);
    if (p->op == PROMQL_TIME)
        return vector_scalar((double)now_ms / 1000);

    bool number_first = p->op == PROMQL_TOPK || p->op == PROMQL_QUANTILE;
    CLEANUP(vector_release) struct vector v = promql_eval(p->parts[number_first], store, now_ms);
    struct vector out = {.scalar = false};

    if (p->op >= PROMQL_SUM && p->op <= PROMQL_COUNT)
        return aggregate(p, &v);
    if (p->op == PROMQL_QUANTILE)
        return eval_quantile(p->parts[0]->number, &v);
    if (p->op == PROMQL_TOPK)
        keep_highest(&v, p->parts[0]->number);
    for (size_t i = 0; i < v.count; i++) {
        if (p->op == PROMQL_LABEL_REPLACE)
            label_list_set(&v.items[i].labels, p->parts[1]->text, p->parts[2]->text);
        else if (p->op == PROMQL_CLAMP_MIN)
            v.items[i].value = fmax(v.items[i].value, p->parts[1]->number);
    }
    /* Moved. */
    out = v;
    v = (struct vector){.items = NULL};
    return out;
}

struct vector promql_eval(const struct promql *p, const struct series_store *store, int64_t now_ms)
{
    switch (p->kind) {
    case PROMQL_NUMBER:
        return vector_scalar(p->number);
    case PROMQL_SELECTOR:
        return select_instant(p, store, now_ms);
    case PROMQL_CALL:
        return eval_call(p, store, now_ms);
    case PROMQL_BINARY: {
        CLEANUP(vector_release) struct vector a = promql_eval(p->parts[0], store, now_ms);
        CLEANUP(vector_release) struct vector b = promql_eval(p->parts[1], store, now_ms);

        return eval_binary(p, &a, &b);
    }
    case PROMQL_TEXT:
        break;
    }
    return (struct vector){.items = NULL};
}
