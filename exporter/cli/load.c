/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/load.h"

#include <signal.h>

#include "exporter/options/options.h"
#include "exporter/system/platform.h"
#include "exporter/text/object_name.h"
#include "exporter/text/skipped_files.h"
#include "exporter/text/text_table.h"
#include "metrics/base/shown.h"
#include "metrics/model/template.h"
#include "metrics/rules/object_index.h"
#include "metrics/rules/overrides.h"

enum { LINE_MAX_BYTES = 8192, EVALUATION_BATCH = 1024, PUMP_SLICE_MS = 5, LOOKUP_SLICE_MS = 100 };

/* A command prints errors itself, and retries are not of interest. */
static const struct log silent_log = {.level = LOG_LEVEL_NONE};

void load_report_problems(const struct manifests *m, message_fn *report, void *context)
{
    for (size_t i = 0; i < manifests_problem_count(m); i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
        struct manifest_problem p = manifests_problem(m, i);
        bool warns = p.kind == PROBLEM_NOT_RENDERED || p.kind == PROBLEM_REPEATED_KEY;

        if (!warns && !problem_kind_blocks_evaluation(p.kind))
            continue;
        strbuf_adds(&text, warns ? "warning: " : "");
        manifest_problem_append_place(&p, &text);
        strbuf_addf(&text, ": %s", p.text);
        report(context, text.data);
    }
}

void load_print_problems(const struct manifests *m, const struct invocation *invocation)
{
    load_report_problems(m, invocation_print_message, (void *)(uintptr_t)invocation);
}

/* Evaluates until no object is left. */
static void run_to_end(struct evaluation *e)
{
    while (!evaluation_run(e, platform_now_ms(), SIZE_MAX))
        continue;
}

void load_judge_problems(struct evaluation *e)
{
    evaluation_judge_problems(e, true, NULL);
    run_to_end(e);
}

/*
 * Returns LOADING_DONE or LOADING_FAILED. Returns LOADING_BUSY with the reason in `err` if the
 * credentials or a required kind of the API server cannot be read.
 */
static enum loading read_all_sources(struct evaluation *e, struct error *err)
{
    enum loading loading;

    /* A write to a closed connection must fail with EPIPE and not end the process. */
    if (e->session)
        signal(SIGPIPE, SIG_IGN);
    while ((loading = evaluation_load(e, err)) == LOADING_BUSY) {
        bool idle = evaluation_run(e, platform_now_ms(), EVALUATION_BATCH);

        if (e->session && !kube_session_can_become_ready(e->session, err))
            return LOADING_BUSY;
        evaluation_wait(e, NULL, NULL, 0, idle ? evaluation_idle_ms(e) : 0);
    }
    return loading;
}

/* Requests a read of all dependencies of a template, even if no policy propagates them. */
static void request_dependencies(struct store *store, const struct entry *template)
{
    CLEANUP(entry_list_release) struct entry_list dependencies = {0};

    if (entry_exists(template))
        list_template_dependencies(store, template, NULL, &dependencies);
    for (size_t i = 0; i < dependencies.count; i++)
        store_request_read(dependencies.items[i]);
}

/*
 * Reads templates that other templates refer to and that no watch delivers. If `all` is true,
 * includes templates that only a change of a policy would propagate.
 */
static void read_dependencies(struct evaluation *e, bool all)
{
    struct error ignored;

    run_to_end(e);
    for (const struct type *type = store_first_type(e->store); type && all; type = type->next) {
        for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
            for (size_t i = 0; i < p->count; i++)
                request_dependencies(e->store, partition_entry(p, i));
        }
    }
    kube_session_read_referenced_templates(e->session);
    for (;;) {
        evaluation_pump(e, PUMP_SLICE_MS);
        evaluation_run(e, platform_now_ms(), EVALUATION_BATCH);
        if (kube_session_ready(e->session) || !kube_session_can_become_ready(e->session, &ignored))
            return;
        evaluation_wait(e, NULL, NULL, 0, evaluation_idle_ms(e));
    }
}

void load_planned_kinds(struct evaluation *e)
{
    read_dependencies(e, true);
    run_to_end(e);
}

/* Prints an error for each kind that could not be read. Returns true if there is no such kind. */
static bool check_missing_kinds(const struct evaluation *e, const struct invocation *invocation)
{
    const struct kube_source *source = e->session ? kube_session_source(e->session) : NULL;
    bool complete = true;

    for (size_t i = 0; source && i < kube_source_missing_kind_count(source); i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
        const struct missing_kind *k = kube_source_missing_kind(source, i);

        if (!missing_kind_is_failure(k))
            continue;
        strbuf_addf(&text, "cannot read %s (%s): %s; dependent results are missing", k->kind,
                    k->api_version, missing_kind_reason(k->reflector));
        invocation_print_error(invocation, text.data);
        complete = false;
    }
    return complete;
}

static void print_unknown_gate(void *context, const char *gate, const char *nearest)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&text,
                "warning: --karmada.feature-gates: the unknown feature gate '%s' has no effect; "
                "the nearest known gate is '%s'",
                gate, nearest);
    invocation_print_error(context, text.data);
}

static void print_release_warning(void *context, const char *warning)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&text, "warning: %s", warning);
    invocation_print_error(context, text.data);
}

/* Bar of the files that are read, on standard error if it is a terminal. */
struct file_progress {
    struct output output;
    int fd;
    int64_t next_ms; /* Steady time of the next drawing. */
    bool drawn;
};

enum { PROGRESS_DELAY_MS = 1000, PROGRESS_INTERVAL_MS = 100 };

static void draw_progress(void *context, size_t read, size_t found)
{
    struct file_progress *p = context;
    struct error ignored;

    if (!p->output.redraws || platform_steady_ms() < p->next_ms)
        return;
    p->next_ms = platform_steady_ms() + PROGRESS_INTERVAL_MS;
    p->drawn = true;
    output_add_clear_line(&p->output);
    output_add_bar(&p->output, read, found);
    strbuf_adds(&p->output.text, " files");
    (void)!output_flush(&p->output, p->fd, &ignored);
}

static void clear_progress(struct file_progress *p)
{
    struct error ignored;

    if (p->drawn)
        output_add_clear_line(&p->output);
    (void)!output_flush(&p->output, p->fd, &ignored);
    output_release(&p->output);
}

/* Like read_all_sources(), with a bar if it takes longer than a second. */
static enum loading read_with_progress(struct evaluation *e, const struct invocation *invocation,
                                       struct error *err)
{
    struct file_progress progress = {.fd = invocation->err,
                                     .next_ms = platform_steady_ms() + PROGRESS_DELAY_MS};
    enum loading loading;

    output_init(&progress.output, progress.fd);
    manifests_set_progress(e->manifests, draw_progress, &progress);
    loading = read_all_sources(e, err);
    manifests_set_progress(e->manifests, NULL, NULL);
    clear_progress(&progress);
    return loading;
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
            .renders = true,
            .documents = invocation->command->bit & (COMMAND_EXPLAIN | COMMAND_PLAN),
            .seed = platform_random_seed(),
        },
        err);
}

/* Returns true if a problem of the manifests blocks the evaluation, and no hook accepts it. */
static bool lacks_manifests(const struct evaluation *e, const struct load_hooks *hooks)
{
    for (size_t i = 0; i < manifests_problem_count(e->manifests); i++) {
        struct manifest_problem p = manifests_problem(e->manifests, i);

        if (problem_kind_blocks_evaluation(p.kind) &&
            !(hooks->accepts && hooks->accepts(hooks->context, &p)))
            return true;
    }
    return false;
}

static bool has_object(struct store *store)
{
    struct store_walk walk = store_walk_begin(store, (1U << CLASS_COUNT) - 1);
    struct entry *entry;

    do
        entry = store_walk_next(&walk);
    while (entry && !entry_exists(entry));
    store_walk_stop(&walk);
    return entry != NULL;
}

/* Prints an error and returns false if manifests have no object, unless --allow-empty is set. */
static bool check_empty_input(const struct evaluation *e, const struct invocation *invocation)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);

    if (e->session || e->options.allow_empty || has_object(e->store))
        return true;
    skipped_files_add_empty(e->manifests, "the manifests contain no object", &text);
    strbuf_adds(&text, "correct the PATH, or use --allow-empty");
    invocation_print_error(invocation, text.data);
    return false;
}

/* Prints a warning for each pattern of an option that matches no file. */
static void print_unused_patterns(const struct evaluation *e, const char *option,
                                  const struct text_list *patterns, size_t first,
                                  const struct invocation *invocation)
{
    for (size_t i = 0; i < patterns->count && e->options.manifests.count > 0; i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);

        if (manifests_pattern_is_used(e->manifests, first + i))
            continue;
        strbuf_addf(&text, "warning: %s '%s' matches no file or folder in a PATH", option,
                    shown(patterns->items[i]).text);
        invocation_print_error(invocation, text.data);
    }
}

void load_print_skipped(const struct manifests *m, const struct invocation *invocation)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);

    skipped_files_add(m, &text);
    if (text.len > 0)
        invocation_print_error(invocation, text.data);
}

struct evaluation *load_sources(struct invocation *invocation, enum exit_status *status)
{
    return load_sources_with(invocation, &(struct load_hooks){.quiet = false}, status);
}

struct evaluation *load_sources_with(struct invocation *invocation, const struct load_hooks *hooks,
                                     enum exit_status *status)
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
    if (hooks->opened)
        hooks->opened(hooks->context, e);
    if (!hooks->quiet)
        unknown_gates_each(e->options.feature_gates, print_unknown_gate, invocation);
    loading = read_with_progress(e, invocation, &err);
    if (loading == LOADING_BUSY) {
        invocation_print_error(invocation, err.text);
        *status = STATUS_UNREACHABLE;
        evaluation_free(e);
        return NULL;
    }
    if (e->session)
        read_dependencies(e, invocation->command->bit & (COMMAND_PLAN | COMMAND_RECONCILE));
    run_to_end(e);
    if (!hooks->quiet)
        evaluation_each_release_warning(e, print_release_warning, invocation);
    complete = loading == LOADING_DONE;
    /* The caller reports manifests that could not be read, but not the asset file. */
    if (*asset_source_problem(e->assets) != '\0') {
        invocation_print_error(invocation, asset_source_problem(e->assets));
        complete = false;
    }
    complete = complete && !lacks_manifests(e, hooks);
    print_unused_patterns(e, "--exclude", &e->options.exclude, 0, invocation);
    print_unused_patterns(e, "--include", &e->options.include, e->options.exclude.count,
                          invocation);
    if (complete && !check_empty_input(e, invocation))
        complete = false;
    *status = complete ? STATUS_OK : STATUS_USAGE;
    if (!check_missing_kinds(e, invocation))
        *status = STATUS_UNREACHABLE;
    return e;
}

/* Error messages by enum lookup_state; a reason from the API server is appended if known. */
static const char *const lookup_errors[] = {
    [LOOKUP_FORBIDDEN] = "the API server denies access to the object",
    [LOOKUP_OUTSIDE] = "the namespace of the object is outside the namespaces to read",
    [LOOKUP_LATE] = "the API server has not answered in time",
    [LOOKUP_FAILED] = "the API server cannot read the object",
    [LOOKUP_BUSY] = "too many object requests are pending",
};

/* Requests a template from the API server and waits for the answer. */
static struct lookup_answer request_template(struct evaluation *e, const struct object_name *name)
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
        evaluation_pump(e, LOOKUP_SLICE_MS);
        evaluation_run(e, platform_now_ms(), SIZE_MAX);
    }
    return answer;
}

/*
 * Fetches a template from the API server, adds it to the store and evaluates it. Returns NULL and
 * keeps the caller's `err` if there is no API server, the name is malformed, or no such kind or
 * template exists. Returns NULL and sets `err` on other failures, and *status if the lookup failed.
 */
static const struct entry *fetch_template(struct evaluation *e, const char *typed,
                                          enum exit_status *status, struct error *err)
{
    CLEANUP(object_name_release) struct object_name name = {0};
    const struct entry *entry;
    struct lookup_answer answer;
    struct error ignored;

    if (!e->session || !object_name_parse(typed, &name, &ignored))
        return NULL;
    answer = request_template(e, &name);
    if (answer.state == LOOKUP_MISSING || answer.state == LOOKUP_UNKNOWN)
        return NULL;
    if (answer.state != LOOKUP_FOUND) {
        *status = answer.state == LOOKUP_LATE || answer.state == LOOKUP_FAILED ? STATUS_UNREACHABLE
                                                                               : STATUS_USAGE;
        fail(err, "'%s': %s%s%s", typed, lookup_errors[answer.state], *answer.reason ? ": " : "",
             answer.reason);
        return NULL;
    }
    entry = template_finder_store(kube_session_finder(e->session), answer.object, err);
    run_to_end(e);
    return entry;
}

/*
 * Reads the whole template if override policies select it, and only its metadata are known. Without
 * success the template stays as it is.
 */
static void read_overridden_template(struct evaluation *e, const struct entry *template)
{
    struct template_finder *finder = kube_session_finder(e->session);
    CLEANUP(override_selection_release)
    struct override_selection selection = override_selection_make(e->store, template);
    struct lookup_answer answer;
    struct error ignored;

    if (selection.count == 0 || store_kept_documents(e->store) == DOCUMENTS_OF_NONE)
        return;
    while ((answer = template_finder_read_whole(finder, template, platform_steady_ms())).state ==
           LOOKUP_WAITING) {
        evaluation_wait(e, NULL, NULL, 0, evaluation_idle_ms(e));
        evaluation_pump(e, LOOKUP_SLICE_MS);
        run_to_end(e);
    }
    if (answer.state == LOOKUP_FOUND && template_finder_store(finder, answer.object, &ignored))
        run_to_end(e);
}

const struct entry *load_object(struct evaluation *e, unsigned classes, const char *typed,
                                enum exit_status *status, struct error *err)
{
    bool given = e->options.on_command_line[OPTION_OF_namespace];
    const char *ns = given ? e->options.namespace : NULL;
    const struct entry *entry = object_find_in_namespace(e->store, classes, typed, ns, err);

    *status = STATUS_USAGE;
    if (!entry)
        entry = fetch_template(e, typed, status, err);
    if (entry && e->session && entry_template(entry) && !entry_template(entry)->unread &&
        !template_document(entry_template(entry)))
        read_overridden_template(e, entry);
    return entry ? entry : object_find_binding(e->store, typed, ns);
}
