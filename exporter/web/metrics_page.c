/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/metrics_page.h"

#include <stdatomic.h>

#include "metrics/expose/family.h"

/* By format; all NULL where a family is not on the page. */
struct family_parts {
    struct segment *head[EXPOSITION_FORMATS];
    struct segment *series[EXPOSITION_FORMATS];
};

struct metrics_page {
    _Atomic unsigned holders;
    struct segment_sum *sum;
    struct segment *ends[EXPOSITION_FORMATS];
    struct body *whole[EXPOSITION_FORMATS];
    size_t len; /* Of all that was written. */
    struct family_parts families[];
};

/* The text as a segment: the old one if that says the same. */
static struct segment *to_segment(struct metrics_page *p, const struct strbuf *text,
                                  struct segment *old)
{
    p->len += text->len;
    if (old && segment_len(old) == text->len &&
        memcmp(segment_bytes(old), text->data, text->len) == 0)
        return segment_hold(old);
    return segment_new(xmemdup0(text->data, text->len), text->len, p->sum);
}

/* Write what a family is in one format, its series only where they are not those of the first. */
static bool write_family(struct metrics_page *p, const struct registry *r, size_t index,
                         struct exposition how, const struct family_parts *old, struct strbuf *text)
{
    struct family_parts *parts = &p->families[index];

    strbuf_reset(text);
    exposition_write_head(family_at(index), how.format, text);
    parts->head[how.format] = to_segment(p, text, old ? old->head[how.format] : NULL);
    if (how.format != EXPOSITION_TEXT && family_at(index)->type == FAMILY_GAUGE) {
        parts->series[how.format] = segment_hold(parts->series[EXPOSITION_TEXT]);
        return true;
    }
    strbuf_reset(text);
    exposition_write_series(r, index, how, text);
    if (!strbuf_ok(text) || p->len + text->len > text->max)
        return false;
    parts->series[how.format] = to_segment(p, text, old ? old->series[how.format] : NULL);
    return true;
}

static struct body *gather(const struct metrics_page *p, enum exposition_format format,
                           const struct family_filter *filter)
{
    CLEANUP(free_cleanup)
    struct segment **segments = xcalloc(2 * family_count() + 1, sizeof(struct segment *));
    size_t count = 0;

    for (size_t i = 0; i < family_count(); i++) {
        if (!p->families[i].head[format] || !family_filter_wants(filter, i))
            continue;
        segments[count++] = p->families[i].head[format];
        segments[count++] = p->families[i].series[format];
    }
    segments[count++] = p->ends[format];
    return body_new(segments, count);
}

struct metrics_page *metrics_page_new(const struct registry *r, struct exposition how,
                                      const struct metrics_page *previous, size_t max,
                                      struct segment_sum *sum)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(max);
    const struct family_filter all = {0};
    struct metrics_page *p = xcalloc(1, sizeof(*p) + family_count() * sizeof(struct family_parts));
    bool fits = true;

    atomic_init(&p->holders, 1);
    p->sum = sum;
    for (how.format = 0; how.format < EXPOSITION_FORMATS; how.format++) {
        for (size_t i = 0; fits && i < family_count(); i++)
            fits = !exposition_has_family(r, how.synced, i) ||
                   write_family(p, r, i, how, previous ? &previous->families[i] : NULL, &text);
        if (!fits)
            break;
        strbuf_reset(&text);
        strbuf_adds(&text, exposition_trailer(how.format));
        p->ends[how.format] = to_segment(p, &text, previous ? previous->ends[how.format] : NULL);
        p->whole[how.format] = gather(p, how.format, &all);
    }
    if (fits)
        return p;
    metrics_page_drop(p);
    return NULL;
}

size_t metrics_page_len(const struct metrics_page *p)
{
    return p->len;
}

struct metrics_page *metrics_page_hold(struct metrics_page *p)
{
    if (p)
        atomic_fetch_add(&p->holders, 1);
    return p;
}

void metrics_page_drop(struct metrics_page *p)
{
    if (!p || atomic_fetch_sub(&p->holders, 1) > 1)
        return;
    for (size_t f = 0; f < EXPOSITION_FORMATS; f++) {
        for (size_t i = 0; i < family_count(); i++) {
            segment_drop(p->families[i].head[f]);
            segment_drop(p->families[i].series[f]);
        }
        segment_drop(p->ends[f]);
        body_drop(p->whole[f]);
    }
    free(p);
}

struct body *metrics_page_body(const struct metrics_page *p, enum exposition_format format,
                               const struct family_filter *filter)
{
    return filter->named ? gather(p, format, filter) : body_hold(p->whole[format]);
}

void metrics_page_text(const struct metrics_page *p, struct strbuf *out)
{
    for (size_t i = 0; i < family_count(); i++) {
        const struct family_parts *parts = &p->families[i];

        if (!parts->head[EXPOSITION_TEXT])
            continue;
        strbuf_add(out, segment_bytes(parts->head[EXPOSITION_TEXT]),
                   segment_len(parts->head[EXPOSITION_TEXT]));
        strbuf_add(out, segment_bytes(parts->series[EXPOSITION_TEXT]),
                   segment_len(parts->series[EXPOSITION_TEXT]));
    }
}
