/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/exposition.h"

#include "metrics/base/number.h"
#include "metrics/expose/family.h"

enum { SERIES_MAX_BYTES = 1 << 20 };

static void add_comment(struct strbuf *out, const char *keyword, const char *name, size_t name_len,
                        const char *text)
{
    strbuf_adds(out, "# ");
    strbuf_adds(out, keyword);
    strbuf_addc(out, ' ');
    strbuf_add(out, name, name_len);
    strbuf_addc(out, ' ');
    strbuf_adds(out, text);
    strbuf_addc(out, '\n');
}

/* OpenMetrics has a line for the unit, and omits the suffix _total of counters in these lines. */
void exposition_write_head(const struct family_def *def, enum exposition_format format,
                           struct strbuf *out)
{
    size_t len = strlen(def->name);

    if (format == EXPOSITION_OPENMETRICS && def->type == FAMILY_COUNTER)
        len -= strlen("_total");
    add_comment(out, "HELP", def->name, len, def->help);
    add_comment(out, "TYPE", def->name, len, family_type_name(def->type));
    if (format == EXPOSITION_OPENMETRICS && def->unit)
        add_comment(out, "UNIT", def->name, len, def->unit);
}

static void add_series(struct strbuf *out, const struct series *series,
                       const struct family_def *def)
{
    int64_t minimum = 0;

    if (def->aggregation == AGGREGATE_MIN && !multiset_min(series->minimum, &minimum))
        return;
    if (def->sparse && series->sum == 0)
        return;
    series_add_text(out, series);
    if (def->aggregation == AGGREGATE_MIN)
        strbuf_add_seconds(out, minimum);
    else if (def->aggregation == AGGREGATE_NONE || def->aggregation == AGGREGATE_PROBLEMS ||
             def->type == FAMILY_HISTOGRAM)
        strbuf_add_double(out, series->number);
    else if (def->milli)
        strbuf_add_seconds(out, series->sum);
    else
        strbuf_add_int(out, series->sum);
    strbuf_addc(out, '\n');
}

/*
 * Appends the OpenMetrics series `_created`, with the labels of the series at index `at`. Called
 * for each series of a counter, and for the last series of a histogram.
 */
static void add_start_time(struct strbuf *out, const struct label_set *set, unsigned at,
                           int64_t created_ms)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(SERIES_MAX_BYTES);
    const struct family_state *family = set->family;
    size_t len = strlen(family->def->name);

    series_add_text(&text, &set->series[at]);
    strbuf_add(out, family->def->name,
               family->def->type == FAMILY_COUNTER ? len - strlen("_total") : len);
    strbuf_adds(out, "_created");
    /* The labels follow the name and its suffix. */
    strbuf_adds(out, text.data + len + strlen(family->texts[at].suffix));
    strbuf_add_seconds(out, created_ms);
    strbuf_addc(out, '\n');
}

static void add_series_of_set(struct strbuf *out, const struct family_state *family,
                              const struct label_set *set, const struct exposition *how)
{
    bool has_created = how->format == EXPOSITION_OPENMETRICS && how->created_ms > 0;
    bool restarts = !family->def->of_process && how->since_ms > how->created_ms;

    for (unsigned i = 0; i < family->shown_count; i++) {
        bool last = i + 1 == family->shown_count;
        size_t before = out->len;

        add_series(out, &set->series[family->order[i]], family->def);
        if (has_created && out->len > before &&
            (family->def->type == FAMILY_COUNTER ||
             (family->def->type == FAMILY_HISTOGRAM && last)))
            add_start_time(out, set, family->order[i], restarts ? how->since_ms : how->created_ms);
    }
}

bool exposition_has_family(const struct registry *r, bool synced, size_t family)
{
    const struct family_state *state = registry_family(r, family);

    return state && (synced || state->def->aggregation == AGGREGATE_NONE);
}

void exposition_write_series(const struct registry *r, size_t family, struct exposition how,
                             struct strbuf *out)
{
    const struct family_state *state = registry_family(r, family);
    size_t shown = registry_listed_set_count(r, state);

    assert(state->sorted == state->count && state->gone == 0);
    for (size_t k = 0; k < state->rest_count; k++)
        add_series_of_set(out, state, state->rest[k], &how);
    for (size_t k = 0; k < shown; k++) {
        if (!state->sets[k]->folded)
            add_series_of_set(out, state, state->sets[k], &how);
    }
}

const char *exposition_trailer(enum exposition_format format)
{
    return format == EXPOSITION_OPENMETRICS ? "# EOF\n" : "";
}

void exposition_write(const struct registry *r, struct exposition how, struct strbuf *out)
{
    for (size_t i = 0; i < family_count(); i++) {
        if (!exposition_has_family(r, how.synced, i))
            continue;
        exposition_write_head(family_at(i), how.format, out);
        exposition_write_series(r, i, how, out);
    }
    strbuf_adds(out, exposition_trailer(how.format));
}
