/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/exposition.h"

#include "metrics/expose/number_text.h"

static const char *const type_names[] = {
    [FAMILY_GAUGE] = "gauge",
    [FAMILY_COUNTER] = "counter",
    [FAMILY_HISTOGRAM] = "histogram",
};

static void add_line(struct strbuf *out, const char *what, const char *name, size_t name_len,
                     const char *text)
{
    strbuf_adds(out, "# ");
    strbuf_adds(out, what);
    strbuf_addc(out, ' ');
    strbuf_add(out, name, name_len);
    strbuf_addc(out, ' ');
    strbuf_adds(out, text);
    strbuf_addc(out, '\n');
}

/* OpenMetrics names a counter without its _total here, and knows units. */
static void add_head(struct strbuf *out, const struct family *family, enum exposition_format format)
{
    size_t len = strlen(family->name);

    if (format == EXPOSITION_OPENMETRICS && family->type == FAMILY_COUNTER)
        len -= strlen("_total");
    add_line(out, "HELP", family->name, len, family->help);
    add_line(out, "TYPE", family->name, len, type_names[family->type]);
    if (format == EXPOSITION_OPENMETRICS && family->unit)
        add_line(out, "UNIT", family->name, len, family->unit);
}

static void add_cell(struct strbuf *out, const struct cell *cell, const struct family *family)
{
    enum family_fold fold = family->fold;
    int64_t minimum;

    if (fold == FOLD_MIN && !multiset_min(cell->minimum, &minimum))
        return;
    strbuf_adds(out, cell->text);
    if (fold == FOLD_MIN)
        number_add_seconds(out, minimum);
    else if (fold == FOLD_SET || fold == FOLD_ONCE)
        number_add_double(out, cell->number);
    else if (family->milli)
        number_add_seconds(out, cell->sum);
    else
        number_add_int(out, cell->sum);
    strbuf_addc(out, '\n');
}

static void add_rows(struct strbuf *out, const struct rows *rows, size_t shown)
{
    for (size_t i = 0; i < shown; i++) {
        for (unsigned k = 0; k < rows->cell_count; k++)
            add_cell(out, &rows->blocks[i]->cells[rows->order[k]], rows->family);
    }
}

void exposition_write(struct series *s, enum exposition_format format, bool synced,
                      struct strbuf *out)
{
    SERIES_SET(s, "karmada_policy_exporter_up", synced);
    series_run(s);
    for (size_t i = 0; i < family_count; i++) {
        const struct rows *rows = series_rows(s, i);

        if (!rows || (!synced && families[i].fold != FOLD_SET))
            continue;
        add_head(out, &families[i], format);
        add_rows(out, rows, series_shown(s, rows));
    }
    if (format == EXPOSITION_OPENMETRICS)
        strbuf_adds(out, "# EOF\n");
}
