/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/plan.h"

#include "exporter/cli/document.h"
#include "exporter/cli/load.h"
#include "exporter/cli/object_name.h"
#include "exporter/cli/plan_print.h"
#include "exporter/system/platform.h"

enum { DELETABLE = ~(1U << CLASS_OTHER) };

/* One half of the plan. What the command line says is read for each anew. */
static struct evaluation *load_half(const struct command *command, bool changed,
                                    enum exit_status *status)
{
    struct command half = *command;
    struct evaluation *e = NULL;
    struct error err;

    *status = STATUS_USAGE;
    if (options_load(&half.options, half.argc, half.argv, &err))
        e = load_sources(&half, changed ? &command->options.changes : NULL, status);
    else
        verbs_complain(command->err, err.text, NULL);
    options_release(&half.options);
    return e;
}

/* Delete what is to be deleted. False, naming it, if there is no such object. */
static bool delete_all(struct evaluation *e, const struct command *command)
{
    const struct text_list *deletions = &e->options.deletions;
    struct error err;

    for (size_t i = 0; i < deletions->count; i++) {
        const struct entry *entry = object_find(e->store, DELETABLE, deletions->items[i], &err);

        if (!entry) {
            verbs_complain(command->err, err.text, NULL);
            return false;
        }
        struct identity id = {entry->partition->type->api_version, entry_kind(entry),
                              entry_ns(entry), entry->name};
        store_remove(e->store, store_find(e->store, &id));
    }
    while (!evaluation_run(e, platform_now_ms(), SIZE_MAX))
        continue;
    return true;
}

static enum exit_status answer(const struct evaluation *before, const struct evaluation *after,
                               const struct command *command)
{
    CLEANUP(output_release) struct output o;
    CLEANUP(comparison_release) struct comparison c;
    struct error err;

    output_init(&o, command->out);
    comparison_make(before->engine, after->engine, &c);
    if (document_wanted(after->options.output))
        plan_write_json(&c, &o.text);
    else
        plan_print(&c, &o);
    document_finish(&o.text, after->options.output);
    if (!output_flush(&o, command->out, &err)) {
        verbs_complain(command->err, err.text, NULL);
        return STATUS_USAGE;
    }
    return c.template_count + c.conflict_count > 0 ? STATUS_FOUND : STATUS_OK;
}

static enum exit_status plan(const struct command *command)
{
    enum exit_status before_status, after_status = STATUS_USAGE, status = STATUS_USAGE;
    struct evaluation *before = load_half(command, false, &before_status);
    struct evaluation *after = before ? load_half(command, true, &after_status) : NULL;

    if (after && (before_status != STATUS_OK || after_status != STATUS_OK))
        load_complain(after, command);
    if (after && delete_all(after, command))
        status = answer(before, after, command);
    if (before_status != STATUS_OK)
        status = before_status;
    else if (after_status != STATUS_OK)
        status = after_status;
    evaluation_free(after);
    evaluation_free(before);
    return status;
}

static bool reads_standard_input(const struct text_list *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        if (strcmp(paths->items[i], "-") == 0)
            return true;
    }
    return false;
}

enum exit_status plan_run(struct command *command)
{
    const struct options *o = &command->options;

    if (o->changes.count + o->deletions.count == 0) {
        verbs_complain(command->err, "nothing to plan: name a change with -f or --delete",
                       "See 'karmada-policy-exporter plan --help'.");
        return STATUS_USAGE;
    }
    if (reads_standard_input(&o->arguments) || reads_standard_input(&o->manifests)) {
        verbs_complain(command->err,
                       "the manifests are read twice, which standard input cannot be: use -f - "
                       "for the change",
                       NULL);
        return STATUS_USAGE;
    }
    return plan(command);
}
