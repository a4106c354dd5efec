/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/verb.h"

#include "exporter/cli/document.h"
#include "exporter/cli/load.h"
#include "exporter/cli/object_name.h"
#include "metrics/expose/explain.h"
#include "metrics/expose/report_items.h"

enum { LINE_MAX_BYTES = 1 << 20, INDENT = 2, DETAIL_INDENT = 5 };

/* One line of the explanation, wrapped to the terminal. */
static void print_line(void *context, enum explain_style style, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(LINE_MAX_BYTES);
    struct output *o = context;
    size_t indent = style == EXPLAIN_DETAIL ? DETAIL_INDENT : INDENT;

    output_safe(&safe, text);
    if (style == EXPLAIN_HEADING) {
        strbuf_addc(&o->text, '\n');
        output_styled(o, STYLE_HEADING, safe.data);
    } else {
        strbuf_addf(&o->text, "%*s", (int)indent, "");
        output_wrap(&o->text, safe.data, indent, indent, o->width);
    }
    strbuf_addc(&o->text, '\n');
}

static enum exit_status explain(const struct evaluation *e, const char *typed,
                                const struct command *command)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(output_release) struct output o;
    const struct entry *entry;
    struct error err;

    output_init(&o, command->out);
    entry = object_find(e->store, 1U << CLASS_TEMPLATE, typed, &err);
    if (!entry) {
        command_complain(command, err.text);
        return STATUS_USAGE;
    }
    if (document_wanted(e->options.output)) {
        struct writer w = {.out = &o.text, .lines = 2};

        report_template(&w, e->engine, entry);
        strbuf_addc(&o.text, '\n');
        document_finish(&o.text, e->options.output);
    } else {
        strbuf_addf(&name, "%s %s%s%s", entry_kind(entry), entry_ns(entry),
                    *entry_ns(entry) ? "/" : "", entry->name);
        output_safe(&o.text, name.data);
        strbuf_addc(&o.text, '\n');
        explain_template(e->engine, entry, print_line, &o);
    }
    return command_print(command, &o, STATUS_OK);
}

static enum exit_status run_explain(struct command *command)
{
    struct options *o = &command->options;
    CLEANUP(free_cleanup) char *typed = NULL;
    struct evaluation *e;
    enum exit_status status;

    if (o->arguments.count > 0)
        typed = text_list_take(&o->arguments, 0);
    if (!typed)
        return command_refuse(command, "nothing to explain: name a template");
    e = load_sources(command, NULL, &status);
    if (!e)
        return status;
    if (status != STATUS_OK)
        load_complain(e->manifests, command);
    status = explain(e, typed, command);
    evaluation_free(e);
    return status;
}

static const char *const examples[] = {
    "explain deployment/default/web ./manifests",
    "explain configmaps/my-config ./manifests",
    NULL,
};

const struct verb explain_verb = {
    .name = "explain",
    .usage = "[FLAGS] TEMPLATE [PATH...]",
    .summary = "explain the decision about one template",
    .details = "Reads the manifests at each PATH, or Karmada's API server where there is no "
               "PATH, and explains the decision about one TEMPLATE, written "
               "KIND[.GROUP]/[NAMESPACE/]NAME: "
               "its state and what it means, the policies in question and what made each lose, "
               "whose claim stands, what its binding says otherwise, who requires it, and what "
               "its next change will do.",
    .examples = examples,
    .bit = VERB_EXPLAIN,
    .takes_paths = true,
    .run = run_explain,
};
