/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/alerting/series_store.h"

#include "metrics/base/map.h"
#include "metrics/base/strbuf.h"
#include "metrics/expose/series.h"

enum {
    FIRST_POINTS = 8,
    KEEP_MIN_MS = 5 * 60 * 1000, /* For how long a number stands in for the next one. */
    LABELS_MAX_BYTES = 1024 * 1024,
};

struct stored_family {
    char *name;
    int64_t keep_ms;
    bool recorded; /* By a rule; on no page. */
    struct map by_text;
    struct stored_series **series;
    size_t count;
    size_t capacity;
};

struct series_store {
    struct label_list fixed;
    uint64_t seed;
    uint64_t number; /* Of pages, and of what is recorded. */
    struct map families;
};

static bool family_equal(const void *item, const void *key)
{
    return strcmp(((const struct stored_family *)item)->name, key) == 0;
}

static bool series_equal(const void *item, const void *key)
{
    return strcmp(((const struct stored_series *)item)->text, key) == 0;
}

static uint64_t hash(const struct series_store *s, const char *text)
{
    return map_hash(text, strlen(text), s->seed);
}

struct series_store *series_store_new(const struct label_list *fixed, uint64_t seed)
{
    struct series_store *s = xcalloc(1, sizeof(*s));

    s->fixed = label_list_copy(fixed);
    s->seed = seed;
    s->families = MAP_INIT(family_equal);
    return s;
}

static void series_free(struct stored_series *series)
{
    label_list_release(&series->labels);
    free(series->points);
    free(series->text);
    free(series->parts);
    free(series);
}

void series_store_free(struct series_store *s)
{
    struct stored_family *f;

    if (!s)
        return;
    for (size_t at = 0; (f = map_next(&s->families, &at));) {
        for (size_t i = 0; i < f->count; i++)
            series_free(f->series[i]);
        map_release(&f->by_text);
        free(f->series);
        free(f->name);
        free(f);
    }
    map_release(&s->families);
    label_list_release(&s->fixed);
    free(s);
}

void series_store_want(struct series_store *s, const char *family, int64_t keep_ms)
{
    struct stored_family *f = map_get(&s->families, hash(s, family), family);

    if (!f) {
        f = xcalloc(1, sizeof(*f));
        f->name = xstrdup(family);
        f->keep_ms = KEEP_MIN_MS;
        f->recorded = strchr(family, ':') != NULL;
        f->by_text = MAP_INIT(series_equal);
        map_add(&s->families, hash(s, family), f);
    }
    if (f->keep_ms < keep_ms)
        f->keep_ms = keep_ms;
}

/*
 * Take `name="value",...` apart where it is, each part ended by a NUL byte, escapes undone. Stops
 * at what is not of that form.
 */
static void take_apart(char *at, struct label_list *out)
{
    while (*at != '\0') {
        char *name = at;
        char *value, *to;

        at = strchr(at, '=');
        if (!at || at[1] != '"')
            return;
        *at = '\0';
        value = to = at + 2;
        for (at = value; *at != '"' && *at != '\0'; at++) {
            bool escaped = *at == '\\' && at[1] != '\0';

            at += escaped;
            *to++ = escaped && *at == 'n' ? '\n' : *at;
        }
        if (*at != '"')
            return;
        at++;
        *to = '\0';
        label_list_set(out, name, value);
        at += strspn(at, ", ");
    }
}

static struct stored_series *series_get(struct series_store *s, struct stored_family *f,
                                        const char *labels)
{
    struct stored_series *series = map_get(&f->by_text, hash(s, labels), labels);

    if (series)
        return series;
    series = xcalloc(1, sizeof(*series));
    series->text = xstrdup(labels);
    series->parts = xstrdup(labels);
    series->labels = label_list_copy(&s->fixed);
    take_apart(series->parts, &series->labels);
    if (f->count == f->capacity) {
        f->capacity = f->capacity == 0 ? FIRST_POINTS : 2 * f->capacity;
        f->series = xreallocarray(f->series, f->capacity, sizeof(struct stored_series *));
    }
    f->series[f->count++] = series;
    map_add(&f->by_text, hash(s, labels), series);
    return series;
}

static void point_add(struct stored_series *series, struct point point)
{
    if (series->count == series->capacity) {
        series->capacity = series->capacity == 0 ? FIRST_POINTS : 2 * series->capacity;
        series->points = xreallocarray(series->points, series->capacity, sizeof(struct point));
    }
    series->points[series->count++] = point;
    series->gone = point.gone;
}

/* What was on no page since `number` has ended; what no window reaches any more is freed. */
static void end_family(struct series_store *s, struct stored_family *f, int64_t now_ms)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->count; i++) {
        struct stored_series *series = f->series[i];
        size_t old = 0;

        if (series->number != s->number && !series->gone)
            point_add(series, (struct point){now_ms, 0, true});
        /* The limit itself is inside, and so is what a clock that was set back left behind. */
        while (old < series->count && series->points[old].at_ms < now_ms - f->keep_ms)
            old++;
        series->count -= old;
        memmove(series->points, series->points + old, series->count * sizeof(struct point));
        if (series->count > 0) {
            f->series[kept++] = series;
        } else {
            struct stored_series *same = map_take(&f->by_text, hash(s, series->text), series->text);

            assert(same == series);
            series_free(same);
        }
    }
    f->count = kept;
}

void series_store_add(struct series_store *s, const char *family, const char *labels,
                      struct point point)
{
    struct stored_family *f = map_get(&s->families, hash(s, family), family);
    struct stored_series *series;

    if (!f)
        return;
    series = series_get(s, f, labels);
    series->number = s->number;
    /* A clock that was set back: what is there is of a time to come. */
    while (series->count > 0 && series->points[series->count - 1].at_ms >= point.at_ms)
        series->count--;
    point_add(series, point);
}

/* The line as family, labels and number, ended where they end; false if it is none. */
static bool read_line(char *line, const char **family, const char **labels, double *value)
{
    char *end = line + strcspn(line, "{ ");
    char *rest;

    *family = line;
    *labels = end;
    if (*end == '{') {
        *labels = end + 1;
        for (rest = end + 1; *rest != '}' && *rest != '\0'; rest++) {
            if (*rest != '"')
                continue;
            for (rest++; *rest != '"' && *rest != '\0'; rest++)
                rest += *rest == '\\' && rest[1] != '\0';
            if (*rest == '\0')
                return false;
        }
        if (*rest != '}' || rest[1] != ' ')
            return false;
        *rest++ = '\0';
    } else {
        rest = end;
    }
    if (*rest != ' ')
        return false;
    *end = '\0';
    *value = strtod(rest + 1, &end);
    return end != rest + 1;
}

void series_store_page(struct series_store *s, const char *text, int64_t now_ms)
{
    CLEANUP(free_cleanup) char *page = xstrdup(text);
    struct stored_family *f;
    char *next;

    s->number++;
    for (char *line = page; *line != '\0'; line = next) {
        const char *family, *labels;
        double value;

        next = line + strcspn(line, "\n");
        if (*next == '\n')
            *next++ = '\0';
        if (*line != '#' && read_line(line, &family, &labels, &value))
            series_store_add(s, family, labels, (struct point){now_ms, value, false});
    }
    for (size_t at = 0; (f = map_next(&s->families, &at));) {
        if (!f->recorded)
            end_family(s, f, now_ms);
    }
}

void series_store_record(struct series_store *s, const char *family, const struct vector *v,
                         int64_t now_ms)
{
    CLEANUP(strbuf_release) struct strbuf labels = STRBUF_INIT(LABELS_MAX_BYTES);
    struct stored_family *f = map_get(&s->families, hash(s, family), family);

    s->number++;
    for (size_t i = 0; i < v->count; i++) {
        const struct label_list *l = &v->items[i].labels;

        strbuf_reset(&labels);
        for (size_t n = 0; n < l->count; n++)
            label_key_add(&labels, l->items[n].name, l->items[n].value);
        series_store_add(s, family, labels.data, (struct point){now_ms, v->items[i].value, false});
    }
    if (f)
        end_family(s, f, now_ms);
}

struct stored_series *const *series_store_get(const struct series_store *s, const char *family,
                                              size_t *out_count)
{
    const struct stored_family *f = map_get(&s->families, hash(s, family), family);

    *out_count = f ? f->count : 0;
    return f ? f->series : NULL;
}
