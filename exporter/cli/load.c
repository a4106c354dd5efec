/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/load.h"

#include <signal.h>

#include "exporter/options/options.h"
#include "exporter/system/platform.h"
#include "exporter/text/object_name.h"
#include "metrics/rules/object_index.h"

enum { LINE_MAX_BYTES = 8192, EVALUATION_BATCH = 1024, SLICE_MS = 5 };

/* A failure is part of the answer, a retry is not worth a line. */
static const struct log silent_log = {.level = LOG_LEVEL_NONE};

void load_print_problems(const struct manifests *m, const struct invocation *invocation)
{
    for (size_t i = 0; i < manifests_problem_count(m); i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
        struct manifest_problem p = manifests_problem(m, i);

        if (!problem_kind_blocks_evaluation(p.kind))
            continue;
        manifest_problem_append_place(&p, &text);
        strbuf_addf(&text, ": %s", p.text);
        invocation_print_error(invocation, text.data);
    }
}

/* LOADING_GOES_ON, with the reason, if the server cannot be reached. */
static enum loading read_sources(struct evaluation *e, struct error *err)
{
    enum loading loading;

    /* Writing to a server that closed its connection must not end the process. */
    if (e->session)
        signal(SIGPIPE, SIG_IGN);
    while ((loading = evaluation_load(e, err)) == LOADING_GOES_ON) {
        bool idle = evaluation_run(e, platform_now_ms(), EVALUATION_BATCH);

        if (e->session && !kube_session_can_become_ready(e->session, err))
            return LOADING_GOES_ON;
        evaluation_wait(e, NULL, NULL, 0, idle ? evaluation_idle_ms(e) : 0);
    }
    return loading;
}

/* Keep what a template refers to, whether its policy propagates that or not. */
static void refer_to_all(struct store *store, const struct entry *template)
{
    CLEANUP(entry_list_release) struct entry_list needed = {0};

    if (entry_exists(template))
        list_template_dependencies(store, template, NULL, &needed);
    for (size_t i = 0; i < needed.count; i++)
        store_request_read(needed.items[i]);
}

/*
 * Read what workloads refer to, as far as that is not read anyway: what they propagate without
 * a binding, or could (`all`) if a policy were changed.
 */
static void read_referred(struct evaluation *e, bool all)
{
    struct error ignored;

    while (!evaluation_run(e, platform_now_ms(), SIZE_MAX))
        continue;
    for (const struct type *type = store_first_type(e->store); type && all; type = type->next) {
        for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
            for (size_t i = 0; i < p->count; i++)
                refer_to_all(e->store, p->entries[i]);
        }
    }
    kube_session_read_referenced_templates(e->session);
    for (;;) {
        evaluation_pump(e, SLICE_MS);
        evaluation_run(e, platform_now_ms(), EVALUATION_BATCH);
        if (kube_session_ready(e->session) || !kube_session_can_become_ready(e->session, &ignored))
            return;
        evaluation_wait(e, NULL, NULL, 0, evaluation_idle_ms(e));
    }
}

/* True if all kinds were read; names those that were not. */
static bool check_kinds(const struct evaluation *e, const struct invocation *invocation)
{
    const struct kube_source *source = e->session ? kube_session_source(e->session) : NULL;
    bool complete = true;

    for (size_t i = 0; source && i < kube_source_missing_kind_count(source); i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
        const struct missing_kind *k = kube_source_missing_kind(source, i);

        if (!missing_kind_is_failure(k))
            continue;
        strbuf_addf(&text, "cannot read %s (%s): %s; what depends on it is left out", k->kind,
                    k->api_version, missing_kind_reason(k->reflector));
        invocation_print_error(invocation, text.data);
        complete = false;
    }
    return complete;
}

static void warn_of_gate(void *context, const char *gate, const char *nearest)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&text,
                "warning: --karmada.feature-gates: the unknown feature gate '%s' has no effect; "
                "the nearest known gate is '%s'",
                gate, nearest);
    invocation_print_error(context, text.data);
}

static struct evaluation *open_sources(struct invocation *invocation, struct error *err)
{
    struct options *o = &invocation->options;

    for (size_t i = 0; i < o->arguments.count; i++)
        text_list_add(&o->manifests, o->arguments.items[i]);
    return evaluation_new(
        &(struct evaluation_settings){
            .options = o,
            .environment = platform_environment(),
            .log = &silent_log,
            .references = true,
            .seed = platform_seed(),
        },
        err);
}

struct evaluation *load_sources(struct invocation *invocation, enum exit_status *status)
{
    struct evaluation *e;
    enum loading loading;
    struct error err;
    bool complete;

    e = open_sources(invocation, &err);
    if (!e) {
        *status = invocation_reject(invocation, err.text);
        return NULL;
    }
    unknown_gates_each(e->options.feature_gates, warn_of_gate, invocation);
    loading = read_sources(e, &err);
    if (loading == LOADING_GOES_ON) {
        invocation_print_error(invocation, err.text);
        *status = STATUS_UNREACHABLE;
        evaluation_free(e);
        return NULL;
    }
    if (e->session)
        read_referred(e, invocation->command->bit & (COMMAND_PLAN | COMMAND_RECONCILE));
    while (!evaluation_run(e, platform_now_ms(), SIZE_MAX))
        continue;
    complete = loading == LOADING_DONE;
    /* The answer lists manifests that cannot be read, and has no place for assets. */
    if (*asset_source_problem(e->assets) != '\0') {
        invocation_print_error(invocation, asset_source_problem(e->assets));
        complete = false;
    }
    for (size_t i = 0; i < manifests_problem_count(e->manifests); i++)
        complete =
            complete && !problem_kind_blocks_evaluation(manifests_problem(e->manifests, i).kind);
    *status = complete ? STATUS_OK : STATUS_USAGE;
    if (!check_kinds(e, invocation))
        *status = STATUS_UNREACHABLE;
    return e;
}

enum { FIND_SLICE_MS = 100 };

/* Why an object could not be read; the server's own words come behind it. */
static const char *const failures[] = {
    [LOOKUP_FORBIDDEN] = "the API server does not let us read it",
    [LOOKUP_OUTSIDE] = "its namespace is none of those that are read",
    [LOOKUP_LATE] = "the API server has not answered in time",
    [LOOKUP_FAILED] = "the API server cannot read it",
    [LOOKUP_BUSY] = "too many objects have been asked for",
};

static struct lookup_answer ask(struct evaluation *e, const struct object_name *name)
{
    struct template_finder *finder = kube_session_finder(e->session);
    const struct template_name wanted = {
        .kind = name->kind,
        .group = name->group,
        .ns = name->ns ? name->ns : e->options.namespace,
        .name = name->name,
    };
    struct lookup_answer answer;
    struct identity id;

    while (
        (answer = template_finder_find(finder, &wanted, LOOKUP_COMMAND, &id, platform_steady_ms()))
            .state == LOOKUP_WAITING) {
        evaluation_wait(e, NULL, NULL, 0, evaluation_idle_ms(e));
        evaluation_pump(e, FIND_SLICE_MS);
        evaluation_run(e, platform_now_ms(), SIZE_MAX);
    }
    return answer;
}

/* Read it at the API server. NULL: `err` says what it said before unless there is more to say. */
static const struct entry *fetch(struct evaluation *e, const char *typed, enum exit_status *status,
                                 struct error *err)
{
    CLEANUP(object_name_release) struct object_name name = {0};
    const struct entry *entry;
    struct lookup_answer answer;
    struct error ignored;

    if (!e->session || !object_name_parse(typed, &name, &ignored))
        return NULL;
    answer = ask(e, &name);
    if (answer.state == LOOKUP_MISSING || answer.state == LOOKUP_UNKNOWN)
        return NULL;
    if (answer.state != LOOKUP_FOUND) {
        *status = answer.state == LOOKUP_LATE || answer.state == LOOKUP_FAILED ? STATUS_UNREACHABLE
                                                                               : STATUS_USAGE;
        fail(err, "'%s': %s%s%s", typed, failures[answer.state], *answer.reason ? ": " : "",
             answer.reason);
        return NULL;
    }
    entry = template_finder_store(kube_session_finder(e->session), answer.object, err);
    while (!evaluation_run(e, platform_now_ms(), SIZE_MAX))
        continue;
    return entry;
}

const struct entry *load_object(struct evaluation *e, unsigned classes, const char *typed,
                                enum exit_status *status, struct error *err)
{
    bool given = e->options.on_command_line[OPTION_OF_namespace];
    const struct entry *entry = object_find_in_namespace(e->store, classes, typed,
                                                         given ? e->options.namespace : NULL, err);

    *status = STATUS_USAGE;
    if (!entry)
        entry = fetch(e, typed, status, err);
    return entry ? entry : object_find_binding(e->store, typed);
}
