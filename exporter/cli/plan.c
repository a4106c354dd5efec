/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/verb.h"

#include "exporter/cli/document.h"
#include "exporter/cli/load.h"
#include "exporter/cli/plan_findings.h"
#include "exporter/cli/plan_print.h"
#include "exporter/text/object_name.h"
#include "metrics/expose/report.h"

enum { DELETABLE = ~(1U << CLASS_OTHER) };

/* Delete each --delete. False, naming it, if there is no such object. */
static bool delete_all(struct plan *p, const struct evaluation *e, const struct command *command)
{
    const struct text_list *deletions = &e->options.deletions;
    struct error err;

    for (size_t i = 0; i < deletions->count; i++) {
        const struct entry *entry = object_find(e->store, DELETABLE, deletions->items[i], &err);

        if (!entry) {
            command_complain(command, err.text);
            return false;
        }
        plan_delete(p, (struct entry *)(uintptr_t)entry);
    }
    return true;
}

static bool apply_one(void *context, const cJSON *object, struct error *err)
{
    return plan_apply(context, object, err);
}

/* Apply the objects of each -f, in the order in which they stand. False, having complained. */
static bool apply_all(struct plan *p, const struct evaluation *e, const struct command *command)
{
    const struct text_list *changes = &e->options.changes;
    struct manifests *m = manifests_new(NULL, (const char *const *)changes->items, changes->count,
                                        e->options.namespace, &manifest_limits_default);
    struct error err;
    bool fine;

    manifests_know(m, e->manifests);
    manifests_hand_out(m, apply_one, p);
    fine = manifests_load(m, &err);
    if (!fine)
        command_complain(command, err.text);
    for (size_t i = 0; i < manifests_problem_count(m); i++)
        fine &= !problem_kind_is_unread(manifests_problem(m, i).kind);
    load_complain(m, command);
    manifests_free(m);
    return fine;
}

/* With --fail-on, the member `fails` lists the objects that fail the plan. */
static void write_document(struct plan *p, const struct plan_result *result,
                           const struct evaluation *e, unsigned wanted, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf fails = STRBUF_INIT(out->max);

    if (wanted)
        plan_fails_write(result, wanted, &fails);
    report_plan(p, result, e->engine, wanted ? fails.data : NULL, out);
}

static enum exit_status print(struct plan *p, const struct evaluation *e,
                              const struct command *command)
{
    CLEANUP(output_release) struct output o;
    const struct plan_result *result = plan_finish(p);
    unsigned wanted = e->options.on_command_line[OPTION_OF_fail_on] ? e->options.fail_on : 0;
    unsigned found = plan_findings(result);

    output_init(&o, command->out);
    if (document_wanted(e->options.output)) {
        write_document(p, result, e, wanted, &o.text);
    } else {
        plan_print(result, &o);
        plan_fails_print(result, wanted, &o);
    }
    document_finish(&o.text, e->options.output);
    return command_print(command, &o, found & wanted ? STATUS_FOUND : STATUS_OK);
}

/* Play the change on what was read: STATUS_USAGE if it cannot be read. */
static enum exit_status overlay(struct evaluation *e, const struct command *command)
{
    struct plan *p = plan_new(e->engine);
    enum exit_status status = STATUS_USAGE;

    /* At an API server everything has been applied. */
    if (!e->session)
        plan_admit_manifests(p);
    if (delete_all(p, e, command) && apply_all(p, e, command))
        status = print(p, e, command);
    plan_free(p);
    return status;
}

static enum exit_status run_plan(struct command *command)
{
    const struct options *o = &command->options;
    enum exit_status status, read;
    struct evaluation *e;

    if (o->changes.count + o->deletions.count == 0)
        return command_refuse(command, "nothing to plan: name a change with -f or --delete");
    e = load_sources(command, &read);
    if (!e)
        return read;
    if (read != STATUS_OK)
        load_complain(e->manifests, command);
    status = overlay(e, command);
    evaluation_free(e);
    return read != STATUS_OK ? read : status;
}

static const char *const examples[] = {
    "plan -f new-policy.yaml ./manifests",
    "plan --delete pp/default/web --fail-on move,lost",
    NULL,
};

const struct verb plan_verb = {
    .name = "plan",
    .usage = "[FLAGS] [-f CHANGE] [PATH...]",
    .summary = "show what Karmada would make of a change of policies or templates",
    .details = "Reads the manifests at each PATH, or Karmada's API server where there is no "
               "PATH; deletes each OBJECT, then applies each CHANGE, and plays what Karmada makes "
               "of it until nothing moves. Prints what happens at once, what waits for the "
               "template's next change, and what never does; the policy, the clusters and the "
               "replicas of each template from and to; conflicts that appear or vanish; and the "
               "replicas, CPU and memory by member cluster. Writes nothing.",
    .examples = examples,
    .bit = VERB_PLAN,
    .takes_arguments = true,
    .run = run_plan,
};
