/* SPDX-License-Identifier: Apache-2.0 */

#include "exporter/cli/command.h"
#include "exporter/cli/document.h"
#include "exporter/text/text_table.h"
#include "metrics/expose/family.h"

static enum exit_status run_metrics(struct invocation *invocation)
{
    static const char *const headings[] = {"FAMILY", "TYPE", "WHAT IT SAYS"};
    CLEANUP(table_release) struct table t = table_make(headings, ARRAY_LEN(headings), 0);
    CLEANUP(output_release) struct output o;

    output_init(&o, invocation->out);
    for (size_t i = 0; i < family_count(); i++) {
        table_add(&t, STYLE_HEADING, family_at(i)->name);
        table_add(&t, STYLE_FAINT, family_type_name(family_at(i)->type));
        table_add(&t, STYLE_PLAIN, family_at(i)->help);
    }
    if (document_is_requested(invocation->options.output))
        catalogue_add_json(&o.text);
    else if (invocation->options.output == OUTPUT_MARKDOWN)
        catalogue_add_markdown(&o.text);
    else
        table_print(&t, &o);
    document_convert(&o.text, invocation->options.output);
    return invocation_print_output(invocation, &o, STATUS_OK);
}

static const char *const examples[] = {
    "metrics",
    "metrics --output markdown >METRICS.md",
    NULL,
};

const struct command metrics_command = {
    .name = "metrics",
    .usage = "[FLAGS]",
    .summary = "list the families of metrics",
    .details = "Prints the catalogue of metric families: name, type, labels with their values, "
               "description, and the limit of the number of series.",
    .examples = examples,
    .bit = COMMAND_METRICS,
    .run = run_metrics,
};
