/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/family.h"

#include "metrics/base/json_writer.h"

const char *family_type_name(enum family_type type)
{
    static const char *const names[] = {
        [FAMILY_GAUGE] = "gauge",
        [FAMILY_COUNTER] = "counter",
        [FAMILY_HISTOGRAM] = "histogram",
    };

    return names[type];
}

unsigned family_free_label_count(const struct family_def *family)
{
    unsigned count = 0;

    while (family->labels[count].name && !family->labels[count].values)
        count++;
    return count;
}

unsigned family_limit_label_count(enum limit_kind limit_kind)
{
    static const unsigned labels[LIMIT_KIND_COUNT] = {
        [LIMIT_BY_POLICY] = 3, [LIMIT_BY_NAMESPACE] = 1};

    return labels[limit_kind];
}

const char *family_rest_value(enum limit_kind limit_kind)
{
    /* "_others" is no namespace: names of namespaces are DNS labels and do not begin with '_'. */
    static const char *const values[LIMIT_KIND_COUNT] = {
        [LIMIT_NONE] = "", [LIMIT_BY_POLICY] = "", [LIMIT_BY_NAMESPACE] = "_others"};

    return values[limit_kind];
}

unsigned family_series_per_set(const struct family_def *family)
{
    unsigned count = 1;

    for (const struct family_label *label = family->labels; label->name; label++)
        count *= label->values ? (unsigned)label->value_count : 1;
    return count;
}

bool family_has_series(const struct family_def *family, unsigned index)
{
    const struct family_label *label = &family->labels[family_free_label_count(family)];
    unsigned last_count;

    if (!family->pairs)
        return true;
    last_count = (unsigned)label[1].value_count;
    return family->pairs(index / last_count, index % last_count);
}

/* Returns the number of series of a label set, without impossible pairs of values. */
static unsigned count_possible_series(const struct family_def *family)
{
    unsigned count = 0;

    for (unsigned i = 0; i < family_series_per_set(family); i++)
        count += family_has_series(family, i);
    return count;
}

static const struct family_group *const groups[] = {
    &problem_families,   &template_families, &stage_families,      &policy_families,
    &version_families,   &binding_families,  &dependency_families, &capacity_families,
    &connector_families, &own_families,
};

size_t family_count(void)
{
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        count += groups[i]->count;
    return count;
}

const struct family_def *family_at(size_t index)
{
    size_t group = 0;

    for (; index >= groups[group]->count; group++)
        index -= groups[group]->count;
    return &groups[group]->families[index];
}

const struct family_def *family_find(const char *name)
{
    for (size_t i = 0; i < family_count(); i++) {
        if (strcmp(family_at(i)->name, name) == 0)
            return family_at(i);
    }
    return NULL;
}

static const char *stability_name(enum family_stability stability)
{
    return stability == STABILITY_STABLE ? "stable" : "experimental";
}

/* Appends a label and its possible values: "`reason` (no_match, excluded)". */
static void add_markdown_label(struct strbuf *out, const struct family_label *label)
{
    strbuf_addf(out, "`%s`", label->name);
    for (size_t i = 0; i < label->value_count; i++)
        strbuf_addf(out, "%s%s", i == 0 ? " (" : ", ", label->values[i]);
    strbuf_adds(out, label->value_count > 0 ? ")" : "");
}

/* Appends the maximal number of series as text. */
static void add_series_maximum(struct strbuf *out, const struct family_def *family)
{
    if (family->bound)
        strbuf_adds(out, family->bound);
    else
        strbuf_addf(out, "%u", count_possible_series(family));
}

static void add_markdown_family(struct strbuf *out, const struct family_def *family)
{
    strbuf_addf(out, "| `%s` | %s%s%s | ", family->name, family_type_name(family->type),
                family->unit ? ", " : "", family->unit ? family->unit : "");
    for (const struct family_label *label = family->labels; label->name; label++) {
        strbuf_adds(out, label == family->labels ? "" : ", ");
        add_markdown_label(out, label);
    }
    strbuf_addf(out, " | %s%s | ", family->help,
                family->opt_in ? " Off unless `--metrics.opt-in`." : "");
    add_series_maximum(out, family);
    strbuf_addf(out, " | %s |\n", stability_name(family->stability));
}

void catalogue_add_markdown(struct strbuf *out)
{
    strbuf_adds(out,
                "# Metrics\n\n"
                "Written by `karmada-policy-exporter metrics --output markdown`; a test fails "
                "where this file differs from what that prints.\n\n"
                "Series of labels with known values are always present, zeros too; a timestamp "
                "is present only while something has it. Families by policy or by namespace have "
                "no rows that are 0. They show at most as many policies as "
                "`--metrics.policy-limit`, and as many namespaces as `--metrics.detail-limit`, all "
                "of them the same; the others are added up in rows without a policy, and in "
                "`namespace=\"_others\"`. All families but "
                "`karmada_policy_exporter_` and `process_` are absent until all objects have "
                "been read once. Gauges say what is, and are the same after a restart, except that "
                "problems open only after the exporter has observed them (at most ten minutes); "
                "counters and histograms say what happened since the start, and the histogram of "
                "delays begins with the bindings that exist then. The families of problems have "
                "rows of a fixed maximum; the problems without a row are counted in "
                "`karmada_policy_exporter_detail_series_dropped`.\n\n"
                "| family | type, unit | labels | what it says | series at most | stability |\n"
                "|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < family_count(); i++)
        add_markdown_family(out, family_at(i));
}

static void write_json_label(struct json_writer *w, const struct family_label *label)
{
    json_writer_open(w, NULL, '{');
    json_writer_text(w, "name", label->name);
    json_writer_open(w, "values", '[');
    for (size_t i = 0; i < label->value_count; i++)
        json_writer_text(w, NULL, label->values[i]);
    json_writer_close(w, ']');
    json_writer_close(w, '}');
}

static void write_json_family(struct json_writer *w, const struct family_def *family)
{
    CLEANUP(strbuf_release) struct strbuf bound = STRBUF_INIT(SIZE_MAX);

    add_series_maximum(&bound, family);
    json_writer_open(w, NULL, '{');
    json_writer_text(w, "name", family->name);
    json_writer_text(w, "type", family_type_name(family->type));
    json_writer_text(w, "unit", family->unit);
    json_writer_text(w, "help", family->help);
    json_writer_open(w, "labels", '[');
    for (const struct family_label *label = family->labels; label->name; label++)
        write_json_label(w, label);
    json_writer_close(w, ']');
    json_writer_text(w, "stability", stability_name(family->stability));
    json_writer_text(w, "bound", bound.data);
    json_writer_bool(w, "detail", family->detail);
    json_writer_bool(w, "optIn", family->opt_in);
    json_writer_bool(w, "remembers", family_remembers(family));
    json_writer_close(w, '}');
}

void catalogue_add_json(struct strbuf *out)
{
    struct json_writer w = {.out = out, .lines = 1};

    json_writer_open(&w, NULL, '[');
    for (size_t i = 0; i < family_count(); i++)
        write_json_family(&w, family_at(i));
    json_writer_close(&w, ']');
    strbuf_addc(out, '\n');
}
