/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/exposition.h"

#include "metrics/expose/families.h"
#include "metrics/expose/number_text.h"

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

/* OpenMetrics names a counter without its _total here, and knows units. */
static void add_comments(struct strbuf *out, const struct family_def *def,
                         enum exposition_format format)
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
        number_add_seconds(out, minimum);
    else if (def->aggregation == AGGREGATE_NONE || def->type == FAMILY_HISTOGRAM)
        number_add_double(out, series->number);
    else if (def->milli)
        number_add_seconds(out, series->sum);
    else
        number_add_int(out, series->sum);
    strbuf_addc(out, '\n');
}

static void add_label_set(struct strbuf *out, const struct family_state *family,
                          const struct label_set *set)
{
    for (unsigned i = 0; i < family->shown_count; i++)
        add_series(out, &set->series[family->order[i]], family->def);
}

void exposition_write(const struct registry *r, enum exposition_format format, bool synced,
                      struct strbuf *out)
{
    for (size_t i = 0; i < family_count(); i++) {
        const struct family_state *family = registry_family(r, i);

        if (!family || (!synced && family->def->aggregation != AGGREGATE_NONE))
            continue;
        assert(family->sorted == family->count && family->gone == 0);
        add_comments(out, family->def, format);
        size_t shown = registry_shown(r, family);
        for (size_t k = 0; k < family->rest_count; k++)
            add_label_set(out, family, family->rest[k]);
        for (size_t k = 0; k < shown; k++) {
            if (!family->sets[k]->folded)
                add_label_set(out, family, family->sets[k]);
        }
    }
    if (format == EXPOSITION_OPENMETRICS)
        strbuf_adds(out, "# EOF\n");
}
