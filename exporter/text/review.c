/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/review.h"

#include "exporter/text/findings_table.h"
#include "exporter/text/table.h"

enum { INDENT = 2, LINE_MAX_BYTES = 8192, SAFE_MAX_BYTES = 4 * LINE_MAX_BYTES };

static void print_problems(const struct review *r, const char *title, bool unread, size_t count,
                           struct output *o)
{
    const struct manifests *m = r->evaluation->manifests;
    CLEANUP(table_release) struct table t = table_make(NULL, 2, INDENT);
    CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT(LINE_MAX_BYTES);

    if (count == 0)
        return;
    section_print(o, title, count);
    for (size_t i = 0; i < manifests_problem_count(m); i++) {
        struct manifest_problem p = manifests_problem(m, i);

        if (unread ? !problem_kind_is_unread(p.kind)
                   : p.kind != PROBLEM_DUPLICATE && p.kind != PROBLEM_FOREIGN)
            continue;
        strbuf_reset(&place);
        manifest_problem_place(&p, &place);
        table_add(&t, STYLE_PLAIN, place.data);
        table_add(&t, unread ? STYLE_BAD : STYLE_PLAIN, p.text);
    }
    table_print(&t, o);
    strbuf_addc(&o->text, '\n');
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* "Read 4 files with 3 templates (2 unbound, 1 attached), 2 policies and no bindings." */
static void print_read(const struct review *r, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(SAFE_MAX_BYTES);
    const struct findings *f = &r->findings;
    size_t files = manifests_file_count(r->evaluation->manifests);
    const char *between = " (";

    if (r->evaluation->session)
        strbuf_addf(&line, "Read %s", kube_session_server(r->evaluation->session));
    else
        strbuf_addf(&line, "Read %zu file%s", files, plural(files));
    strbuf_addf(&line, " with %zu template%s", f->templates, plural(f->templates));
    for (unsigned i = 0; i < STATE_COUNT; i++) {
        if (f->states[i] == 0)
            continue;
        strbuf_addf(&line, "%s%zu %s", between, f->states[i], state_names[i]);
        between = ", ";
    }
    strbuf_addf(&line, "%s, %zu polic%s and %zu binding%s.", f->templates > 0 ? ")" : "",
                f->policies, f->policies == 1 ? "y" : "ies", f->bindings, plural(f->bindings));
    if (f->not_selected > 0)
        strbuf_addf(&line, " Not listed: %zu pending template%s of kinds that no policy selects.",
                    f->not_selected, plural(f->not_selected));
    output_safe(&safe, line.data);
    output_wrap(&o->text, safe.data, 0, 0, o->width);
    strbuf_addc(&o->text, '\n');
}

/*
 * "Found 2 conflicts, 1 pending template.": what makes the exit status 1. `listed`: something was
 * printed, whether or not it counts. If nothing can count, the number of all that was printed.
 */
static void print_found(const struct review *r, unsigned fail_on, bool listed, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    const size_t *counts = r->counts.classes;
    const char *between = "Found ";

    for (unsigned i = 0; i < FINDING_CLASSES; i++) {
        if (!(fail_on >> i & 1) || counts[i] == 0)
            continue;
        strbuf_addf(&line, "%s%zu %s", between, counts[i], finding_noun(i, counts[i]));
        between = ", ";
    }
    if (line.len > 0) {
        output_styled(o, STYLE_BAD, line.data);
    } else if (listed && fail_on == 0) {
        size_t count = findings_listed(&r->findings) + r->notes;

        strbuf_addf(&line, "Found %zu finding%s, which do not count: --fail-on is empty", count,
                    plural(count));
        output_styled(o, STYLE_CAUTION, line.data);
    } else if (listed)
        output_styled(o, STYLE_CAUTION, "Found nothing that --fail-on names");
    else if (r->complete)
        output_styled(o, STYLE_GOOD, "Nothing found");
    else
        output_styled(o, STYLE_BAD, "Nothing found in what there is");
    strbuf_adds(&o->text, r->counts.unread > 0 ? ". Not everything could be read.\n" : ".\n");
}

void review_print(const struct review *r, unsigned fail_on, struct output *o)
{
    size_t start = o->text.len;

    findings_print(r->evaluation->engine, &r->findings, fail_on, o);
    print_problems(r, "Notes", false, r->notes, o);
    bool listed = o->text.len > start;

    print_problems(r, "Not read", true, r->unread, o);
    print_read(r, o);
    print_found(r, fail_on, listed, o);
}

static size_t count_missing(const struct kube_session *session)
{
    const struct kube_source *source = session ? kube_session_source(session) : NULL;
    size_t count = 0;

    for (size_t i = 0; source && i < kube_source_missing_count(source); i++)
        count += missing_kind_is_failure(kube_source_missing(source, i));
    return count;
}

void review_make(struct review *r, const struct evaluation *e)
{
    *r = (struct review){.evaluation = e};
    for (size_t i = 0; i < manifests_problem_count(e->manifests); i++) {
        enum problem_kind kind = manifests_problem(e->manifests, i).kind;

        r->unread += problem_kind_is_unread(kind);
        r->notes += kind == PROBLEM_DUPLICATE || kind == PROBLEM_FOREIGN;
    }
    r->counts.unread = r->unread + (*asset_source_problem(e->assets) != '\0');
    r->counts.missing = count_missing(e->session);
    r->complete = r->counts.unread == 0 && r->counts.missing == 0;
    findings_gather(e->store, &r->findings);
    for (unsigned i = 0; i < FINDING_CLASSES; i++)
        r->counts.classes[i] = findings_count(&r->findings, i);
    r->counts.classes[FINDING_DUPLICATE] = manifests_duplicate_count(e->manifests);
}

void review_release(struct review *r)
{
    findings_release(&r->findings);
}
