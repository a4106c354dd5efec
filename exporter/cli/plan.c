/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/verb.h"

#include "exporter/cli/document.h"
#include "exporter/cli/load.h"
#include "exporter/cli/object_name.h"
#include "exporter/cli/plan_print.h"
#include "exporter/options/config.h"
#include "exporter/system/platform.h"

enum { DELETABLE = ~(1U << CLASS_OTHER) };

/* Evaluate the manifests, with the change or without. Each half has its own options. */
static struct evaluation *load_half(const struct command *command, bool changed,
                                    enum exit_status *status)
{
    struct command half = *command;
    struct evaluation *e = NULL;
    struct error err;

    *status = STATUS_USAGE;
    if (config_load(&half.options, half.argc, half.argv, &err))
        e = load_sources(&half, changed ? &command->options.changes : NULL, status);
    else
        command_complain(command, err.text);
    options_release(&half.options);
    return e;
}

/* Delete each --delete. False, naming it, if there is no such object. */
static bool delete_all(struct evaluation *e, const struct command *command)
{
    const struct text_list *deletions = &e->options.deletions;
    struct error err;

    for (size_t i = 0; i < deletions->count; i++) {
        const struct entry *entry = object_find(e->store, DELETABLE, deletions->items[i], &err);

        if (!entry) {
            command_complain(command, err.text);
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

static enum exit_status plan(const struct command *command)
{
    enum exit_status before_status, after_status = STATUS_USAGE, status = STATUS_USAGE;
    struct evaluation *before = load_half(command, false, &before_status);
    struct evaluation *after = before ? load_half(command, true, &after_status) : NULL;

    if (after && (before_status != STATUS_OK || after_status != STATUS_OK))
        load_complain(after, command);
    if (after && delete_all(after, command)) {
        CLEANUP(output_release) struct output o;
        CLEANUP(comparison_release) struct comparison c;

        output_init(&o, command->out);
        comparison_make(before->engine, after->engine, &c);
        if (document_wanted(after->options.output))
            plan_write_json(&c, &o.text);
        else
            plan_print(&c, &o);
        document_finish(&o.text, after->options.output);
        status = command_print(command, &o,
                               c.template_count + c.conflict_count > 0 ? STATUS_FOUND : STATUS_OK);
    }
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

static enum exit_status run_plan(struct command *command)
{
    const struct options *o = &command->options;

    if (o->changes.count + o->deletions.count == 0)
        return command_refuse(command, "nothing to plan: name a change with -f or --delete");
    if (reads_standard_input(&o->arguments) || reads_standard_input(&o->manifests)) {
        command_complain(command, "the manifests are read twice, which standard input cannot be: "
                                  "use -f - for the change");
        return STATUS_USAGE;
    }
    return plan(command);
}

static const char *const examples[] = {
    "plan -f new-policy.yaml ./manifests",
    "plan --delete pp/default/web ./manifests",
    NULL,
};

const struct verb plan_verb = {
    .name = "plan",
    .usage = "[FLAGS] [-f CHANGE] [PATH...]",
    .summary = "show what a change of policies or templates would do",
    .details = "Reads the manifests at each PATH, or Karmada's API server where there is no "
               "PATH, then once more with each CHANGE applied and each OBJECT deleted, and "
               "prints what differs: templates gained, lost, moved or out of date, replicas by "
               "member cluster, and conflicts. Exits with 1 if anything differs.",
    .examples = examples,
    .bit = VERB_PLAN,
    .takes_paths = true,
    .run = run_plan,
};
