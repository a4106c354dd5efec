/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/metrics.h"

#include "exporter/cli/document.h"
#include "exporter/cli/table.h"
#include "metrics/expose/catalogue.h"
#include "metrics/expose/families.h"

static void print_table(struct output *o)
{
    static const char *const headings[] = {"FAMILY", "TYPE", "WHAT IT SAYS"};
    CLEANUP(table_release) struct table t = table_make(headings, ARRAY_LEN(headings), 0);

    for (size_t i = 0; i < family_count(); i++) {
        table_add(&t, STYLE_HEADING, family_at(i)->name);
        table_add(&t, STYLE_FAINT, family_type_name(family_at(i)->type));
        table_add(&t, STYLE_PLAIN, family_at(i)->help);
    }
    table_print(&t, o);
}

enum exit_status metrics_run(struct command *command)
{
    CLEANUP(output_release) struct output o;
    struct error err;

    output_init(&o, command->out);
    if (document_wanted(command->options.output))
        catalogue_json(&o.text);
    else if (command->options.output == OUTPUT_MARKDOWN)
        catalogue_markdown(&o.text);
    else
        print_table(&o);
    document_finish(&o.text, command->options.output);
    if (output_flush(&o, command->out, &err))
        return STATUS_OK;
    verbs_complain(command->err, err.text, NULL);
    return STATUS_USAGE;
}
