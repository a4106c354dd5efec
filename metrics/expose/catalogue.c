/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/catalogue.h"

#include "metrics/base/json_writer.h"
#include "metrics/expose/families.h"

static const char *stability_name(enum family_stability stability)
{
    return stability == STABILITY_STABLE ? "stable" : "experimental";
}

/* "`reason` (no_match, excluded)": a label, and what it may be. */
static void add_label(struct strbuf *out, const struct family_label *label)
{
    strbuf_addf(out, "`%s`", label->name);
    for (size_t i = 0; i < label->value_count; i++)
        strbuf_addf(out, "%s%s", i == 0 ? " (" : ", ", label->values[i]);
    strbuf_adds(out, label->value_count > 0 ? ")" : "");
}

/* How many series the family has at most, for people. */
static void add_bound(struct strbuf *out, const struct family_def *family)
{
    if (family->bound)
        strbuf_adds(out, family->bound);
    else
        strbuf_addf(out, "%u", family_shown_per_set(family));
}

static void add_family(struct strbuf *out, const struct family_def *family)
{
    strbuf_addf(out, "| `%s` | %s%s%s | ", family->name, family_type_name(family->type),
                family->unit ? ", " : "", family->unit ? family->unit : "");
    for (const struct family_label *label = family->labels; label->name; label++) {
        strbuf_adds(out, label == family->labels ? "" : ", ");
        add_label(out, label);
    }
    strbuf_addf(out, " | %s%s | ", family->help,
                family->opt_in ? " Off unless `--metrics.opt-in`." : "");
    add_bound(out, family);
    strbuf_addf(out, " | %s |\n", stability_name(family->stability));
}

void catalogue_markdown(struct strbuf *out)
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
                "been read once. Gauges say what is, and are the same after a restart; counters "
                "and histograms say what happened since the start, and the histogram of delays "
                "begins with the bindings that exist then.\n\n"
                "| family | type, unit | labels | what it says | series at most | stability |\n"
                "|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < family_count(); i++)
        add_family(out, family_at(i));
}

static void write_label(struct writer *w, const struct family_label *label)
{
    writer_open(w, NULL, '{');
    writer_text(w, "name", label->name);
    writer_open(w, "values", '[');
    for (size_t i = 0; i < label->value_count; i++)
        writer_text(w, NULL, label->values[i]);
    writer_close(w, ']');
    writer_close(w, '}');
}

static void write_family(struct writer *w, const struct family_def *family)
{
    CLEANUP(strbuf_release) struct strbuf bound = STRBUF_INIT(SIZE_MAX);

    add_bound(&bound, family);
    writer_open(w, NULL, '{');
    writer_text(w, "name", family->name);
    writer_text(w, "type", family_type_name(family->type));
    writer_text(w, "unit", family->unit);
    writer_text(w, "help", family->help);
    writer_open(w, "labels", '[');
    for (const struct family_label *label = family->labels; label->name; label++)
        write_label(w, label);
    writer_close(w, ']');
    writer_text(w, "stability", stability_name(family->stability));
    writer_text(w, "bound", bound.data);
    writer_bool(w, "detail", family->detail);
    writer_bool(w, "optIn", family->opt_in);
    writer_bool(w, "remembers", family_remembers(family));
    writer_close(w, '}');
}

void catalogue_json(struct strbuf *out)
{
    struct writer w = {.out = out, .lines = 1};

    writer_open(&w, NULL, '[');
    for (size_t i = 0; i < family_count(); i++)
        write_family(&w, family_at(i));
    writer_close(&w, ']');
    strbuf_addc(out, '\n');
}
