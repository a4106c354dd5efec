/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/verb.h"

#include "exporter/cli/document.h"
#include "exporter/cli/find.h"
#include "exporter/cli/load.h"
#include "exporter/cli/reconcile_act.h"
#include "exporter/cli/reconcile_print.h"

/*
 * The hash of the version that --from-version names. A number may be another version's once this
 * one is out of force, while the present run goes on; the hash is not. False, having complained, if
 * there is none. A hash that is not known any more is one that no template runs.
 */
static bool read_version(const struct options *o, const struct command *command,
                         const struct entry *policy, char hash[POLICY_VERSION_HASH_SIZE])
{
    const struct policy_decision *d = policy_decision(policy);
    const struct policy_version *v =
        d && d->history ? policy_history_find_version(d->history, o->from_version) : NULL;
    struct error err;

    if (v) {
        policy_version_hash(v, hash);
        return true;
    }
    snprintf(hash, POLICY_VERSION_HASH_SIZE, "%s", o->from_version);
    if (strlen(o->from_version) == POLICY_VERSION_HASH_SIZE - 1)
        return true;
    fail(&err, "%s has no version '%s': 'explain %s' lists those there are", o->policy,
         o->from_version, o->policy);
    command_complain(command, err.text);
    return false;
}

/* Whom the options mean. False, having complained, if that is nobody. */
static bool read_wish(struct evaluation *e, const struct command *command,
                      struct reconcile_filter *out, struct label_selector **labels,
                      char version[POLICY_VERSION_HASH_SIZE], enum exit_status *status)
{
    const struct options *o = &e->options;
    struct error err;

    *out = (struct reconcile_filter){
        .ns = o->on_command_line[OPTION_OF_namespace] ? o->namespace : NULL,
        .version = *o->from_version != '\0' ? version : NULL,
        .max = o->max_templates < SIZE_MAX ? (size_t)o->max_templates : SIZE_MAX,
        .undo = o->undo,
    };
    if (*o->selector != '\0') {
        *labels = label_selector_parse(store_string_pool(e->store), o->selector, &err);
        out->labels = *labels;
        *status = STATUS_USAGE;
        if (!*labels) {
            command_complain(command, err.text);
            return false;
        }
    }
    if (*o->policy == '\0')
        return true;
    out->policy = find_or_fetch(e, 1U << CLASS_POLICY, o->policy, status, &err);
    if (out->policy && entry_class(out->policy) == CLASS_POLICY) {
        *status = STATUS_USAGE;
        return !out->version || read_version(o, command, out->policy, version);
    }
    if (out->policy)
        fail(&err, "'%s' is not a policy: write pp/NAMESPACE/NAME or cpp/NAME", o->policy);
    command_complain(command, err.text);
    return false;
}

/* Say what would be done, and do it if that is wanted and not refused. */
static enum exit_status reconcile(struct evaluation *e, const struct command *command,
                                  const struct reconcile_filter *wish)
{
    const struct options *o = &e->options;
    struct reconcile *r = reconcile_new(e->engine, wish, !e->session);
    bool refused = r->chosen.count > 0 && reconcile_refusals(r, o);
    bool acts = o->yes && !refused && r->chosen.count > 0;
    enum exit_status status = refused ? STATUS_FOUND : STATUS_OK;
    bool document = document_wanted(o->output);
    CLEANUP(output_release) struct output out;

    output_init(&out, command->out);

    struct json_writer w = {.out = &out.text, .lines = 2};

    if (document) {
        json_writer_open(&w, NULL, '{');
        reconcile_write(&w, r, o);
    } else {
        reconcile_print(r, o, wish->policy, &out);
        if (acts)
            status = command_print(command, &out, status);
    }
    reconcile_end_plan(r);
    if (acts && status == STATUS_OK)
        status = reconcile_act(e, command, wish, r, document ? &w : NULL);
    if (document) {
        json_writer_close(&w, '}');
        strbuf_addc(&out.text, '\n');
        document_finish(&out.text, o->output);
    }
    reconcile_free(r);
    return command_print(command, &out, status);
}

static enum exit_status run_reconcile(struct command *command)
{
    const struct options *o = &command->options;
    struct label_selector *labels = NULL;
    enum exit_status status, read;
    char version[POLICY_VERSION_HASH_SIZE];
    struct reconcile_filter wish;
    struct evaluation *e;

    if (*o->policy == '\0' && *o->selector == '\0')
        return command_refuse(command, "nothing to reconcile: name a policy with --policy, or "
                                       "labels with -l");
    if (*o->from_version != '\0' && *o->policy == '\0')
        return command_refuse(command,
                              "--from-version is one of a policy's: name it with --policy");
    if (o->yes && o->manifests.count + o->arguments.count > 0)
        return command_refuse(command, "--yes writes to an API server, and manifests are files: "
                                       "leave out one of them");
    if (o->batch == 0)
        return command_refuse(command, "--batch 0 changes nothing: name one template or more");
    e = load_sources(command, &read);
    if (!e)
        return read;
    if (read != STATUS_OK)
        load_complain(e->manifests, command);
    if (read != STATUS_OK && e->options.yes) {
        command_complain(command, "not everything could be read, so nothing is written");
        status = read;
    } else if (read_wish(e, command, &wish, &labels, version, &status)) {
        status = reconcile(e, command, &wish);
    }
    label_selector_free(store_string_pool(e->store), labels);
    evaluation_free(e);
    return read != STATUS_OK ? read : status;
}

static const char *const examples[] = {
    "reconcile --policy pp/default/web",
    "reconcile --policy cpp/all -n shop --max 10 --yes",
    "reconcile -l app=web --wait healthy --batch 5 --yes",
    "reconcile --policy pp/default/web --undo",
    "reconcile --policy pp/default/web ./manifests",
    NULL,
};

const struct verb reconcile_verb = {
    .name = "reconcile",
    .usage = "[FLAGS] --policy OBJECT [PATH...]",
    .summary = "bring stale templates to what their policy says now",
    .details =
        "Of the templates that are to follow a policy, or have these labels, those that are stale "
        "and that plan says move when their user changes them: it sets one annotation on "
        "each, karmada-policy-exporter/reconcile-at, which Karmada takes for a change by its user. "
        "The annotation is a part of the template: it travels to the member clusters, too. What a "
        "change does not cure is listed with the reason, and never touched. It is a dry run that "
        "prints what plan says unless --yes is given; it refuses where conflicts appear, templates "
        "become pending or member clusters get more than they have free, unless --accept names "
        "that. --yes writes in batches, waits for each, and stops at the first template that does "
        "not become what --wait says. Run it again to go on: what is current already is left "
        "alone. Ctrl-C ends it after the present template. It exits with 1 if it refuses or ends "
        "before "
        "the end, with 3 if the API server does not answer or does not allow it. No more than ten "
        "templates are "
        "changed in a second, and fewer while the API server is busy.",
    .permissions =
        "To read it needs what the other commands need: get, list and watch. With --yes it also "
        "needs get and patch on the kinds of the templates that are to be changed, such as "
        "deployments.apps: give that to a role of its own, to whoever reconciles, and not to the "
        "exporter.",
    .examples = examples,
    .bit = VERB_RECONCILE,
    .takes_arguments = true,
    .run = run_reconcile,
};
