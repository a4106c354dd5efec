/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/rendering_text.h"

enum { LINE_MAX_BYTES = 8192, INDENT = 2 };

/* Appends "2 kustomizations with kustomize v5.8.2". Returns false if there is no such package. */
static bool add_kind(const struct manifests *m, bool is_chart, struct strbuf *line)
{
    const char *noun = is_chart ? "chart" : "kustomization";
    const struct rendering *last = NULL;
    size_t count = 0;

    for (size_t i = 0; i < manifests_rendering_count(m); i++) {
        const struct rendering *r = manifests_rendering(m, i);

        if (r->is_chart != is_chart)
            continue;
        last = r;
        count++;
    }
    if (!last)
        return false;
    strbuf_addf(line, "%s%zu %s%s with %s%s%s", line->len > 0 ? " and " : "Rendered ", count, noun,
                count == 1 ? "" : "s", last->program.name, *last->program.version ? " " : "",
                last->program.version);
    return true;
}

void rendering_text_print_programs(const struct manifests *m, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    size_t duplicates = manifests_rendered_duplicate_count(m);
    bool kustomizations = add_kind(m, false, &line);

    if (!add_kind(m, true, &line) && !kustomizations)
        return;
    strbuf_addc(&line, '.');
    output_add_line(o, 0, line.data);
    if (duplicates == 0)
        return;
    strbuf_reset(&line);
    strbuf_addf(&line,
                "%zu rendered object%s declared again by another overlay or file, which counts. "
                "Check overlays for different environments one by one: --environment NAME=PATH.",
                duplicates, duplicates == 1 ? " is" : "s are");
    output_add_line(o, 0, line.data);
}

void rendering_text_print_reasons(const struct manifests *m, struct output *o)
{
    size_t count = 0;

    for (size_t i = 0; i < manifests_problem_count(m); i++)
        count += manifests_problem(m, i).kind == PROBLEM_NOT_RENDERED;
    if (count == 0)
        return;
    strbuf_addc(&o->text, '\n');
    output_add_section(o, "Not rendered", count);
    for (size_t i = 0; i < manifests_problem_count(m); i++) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
        struct manifest_problem p = manifests_problem(m, i);

        if (p.kind != PROBLEM_NOT_RENDERED)
            continue;
        strbuf_addf(&line, "%s: %s", p.path, p.text);
        output_add_line(o, INDENT, line.data);
    }
}
