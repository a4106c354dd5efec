/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/verb.h"

#include "exporter/cli/document.h"
#include "exporter/cli/findings_table.h"
#include "exporter/cli/load.h"
#include "exporter/cli/table.h"

enum { INDENT = 2, LINE_MAX_BYTES = 8192 };

/* Everything that the answer is made from. */
struct check {
    struct evaluation *evaluation;
    struct findings findings;
    size_t unread; /* Files and documents that could not be read. */
    size_t notes;  /* Documents that count for nothing: declared again, or not Kubernetes'. */
    enum exit_status read; /* STATUS_OK if everything there is was read. */
};

static void print_problems(const struct check *c, const char *title, bool unread, size_t count,
                           struct output *o)
{
    const struct manifests *m = c->evaluation->manifests;
    CLEANUP(table_release) struct table t = table_make(NULL, 2, INDENT);
    CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT(LINE_MAX_BYTES);

    if (count == 0)
        return;
    section_print(o, title, count);
    for (size_t i = 0; i < manifests_problem_count(m); i++) {
        struct manifest_problem p = manifests_problem(m, i);

        if (unread ? !load_is_unread(p.kind)
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
static void print_read(const struct check *c, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    const struct findings *f = &c->findings;
    size_t files = manifests_file_count(c->evaluation->manifests);
    const char *between = " (";

    if (c->evaluation->session)
        strbuf_addf(&line, "Read %s", kube_session_server(c->evaluation->session));
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
    output_wrap(&o->text, line.data, 0, 0, o->width);
    strbuf_addc(&o->text, '\n');
}

static size_t count_class(const struct check *c, enum finding_class class)
{
    return class == FINDING_DUPLICATE ? manifests_duplicate_count(c->evaluation->manifests)
                                      : findings_count(&c->findings, class);
}

static bool counts(const struct check *c, enum finding_class class)
{
    return c->evaluation->options.fail_on & 1U << class && count_class(c, class) > 0;
}

/*
 * "Found 2 conflicts, 1 pending template.": what makes the exit status 1. `listed`: something was
 * printed, whether or not it counts.
 */
static void print_found(const struct check *c, bool listed, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    const char *between = "Found ";

    for (unsigned i = 0; i < FINDING_CLASSES; i++) {
        if (!counts(c, i))
            continue;
        strbuf_addf(&line, "%s%zu %s", between, count_class(c, i),
                    finding_noun(i, count_class(c, i)));
        between = ", ";
    }
    if (line.len > 0)
        output_styled(o, STYLE_BAD, line.data);
    else if (listed)
        output_styled(o, STYLE_CAUTION, "Found nothing that --fail-on names");
    else if (c->read == STATUS_OK)
        output_styled(o, STYLE_GOOD, "Nothing found");
    else
        output_styled(o, STYLE_BAD, "Nothing found in what there is");
    strbuf_adds(&o->text, c->unread > 0 ? ". Not everything could be read.\n" : ".\n");
}

static enum exit_status answer(const struct check *c, const struct command *command)
{
    enum exit_status status = c->read;
    CLEANUP(output_release) struct output o;

    output_init(&o, command->out);
    if (document_wanted(c->evaluation->options.output)) {
        evaluation_report(c->evaluation, &o.text);
    } else {
        size_t start = o.text.len;

        findings_print(c->evaluation->engine, &c->findings, &o);
        print_problems(c, "Notes", false, c->notes, &o);
        bool listed = o.text.len > start;

        print_problems(c, "Not read", true, c->unread, &o);
        print_read(c, &o);
        print_found(c, listed, &o);
    }
    document_finish(&o.text, c->evaluation->options.output);
    for (unsigned i = 0; i < FINDING_CLASSES && status == STATUS_OK; i++) {
        if (counts(c, i))
            status = STATUS_FOUND;
    }
    return command_print(command, &o, status);
}

static enum exit_status run_check(struct command *command)
{
    struct check c = {0};
    enum exit_status status;

    c.evaluation = load_sources(command, &c.read);
    if (!c.evaluation)
        return c.read;
    for (size_t i = 0; i < manifests_problem_count(c.evaluation->manifests); i++) {
        enum problem_kind kind = manifests_problem(c.evaluation->manifests, i).kind;

        c.unread += load_is_unread(kind);
        c.notes += kind == PROBLEM_DUPLICATE || kind == PROBLEM_FOREIGN;
    }
    /* The table lists them; a program that reads a document may miss them there. */
    if (document_wanted(c.evaluation->options.output))
        load_complain(c.evaluation->manifests, command);
    findings_gather(c.evaluation->store, &c.findings);
    status = answer(&c, command);
    findings_release(&c.findings);
    evaluation_free(c.evaluation);
    return status;
}

static const char *const examples[] = {
    "check ./manifests",
    "check --fail-on conflict -o json app.yaml policies/",
    "check - <all.yaml",
    "check --kubeconfig karmada.config",
    NULL,
};

const struct verb check_verb = {
    .name = "check",
    .usage = "[FLAGS] [PATH...]",
    .summary = "evaluate once and print what is found",
    .details = "Reads the manifests at each PATH (a file, a folder with all below it, - for "
               "standard input), or Karmada's API server where there is no PATH, and prints "
               "the findings. Exits with 1 if there are any of a class in --fail-on, with 2 if "
               "something could not be read, with 3 if the server could not, else with 0.",
    .examples = examples,
    .bit = VERB_CHECK,
    .takes_paths = true,
    .run = run_check,
};
