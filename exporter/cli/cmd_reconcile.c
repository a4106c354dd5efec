/* SPDX-License-Identifier: Apache-2.0 */

#include "exporter/cli/command.h"
#include "exporter/cli/document.h"
#include "exporter/cli/load.h"
#include "exporter/kube/object_request.h"
#include "exporter/system/platform.h"
#include "exporter/system/signals.h"
#include "exporter/text/object_name.h"
#include "exporter/text/plan_text.h"
#include "exporter/text/text_table.h"
#include "metrics/base/timestamp.h"
#include "metrics/expose/report.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/simulate/reconcile.h"

enum {
    INDENT = 2,
    OBJECT_INDENT = 4,
    LINE_MAX_BYTES = 8192,
    SAFE_MAX_BYTES = 4 * LINE_MAX_BYTES, /* Escaping makes at most four bytes of one. */
    WORD_COLUMNS = 8,
    PUMP_SLICE_MS = 50,
    EVALUATION_BATCH = 1024,
    SECOND_MS = 1000,
};

/* ---- progress of the run ---- */

/* Progress of a template: the enumerator and the word in the output. */
#define PROGRESS_STATES(ROW)                                                                       \
    ROW(NOT_BEGUN, "not_begun")                                                                    \
    ROW(WRITTEN, "written") /* The template has not reached its planned state yet. */              \
    ROW(SKIPPED, "skipped")                                                                        \
    ROW(DONE, "done")                                                                              \
    ROW(STOPPED, "stopped") /* The run has ended at this template. */

#define PROGRESS_ENUMERATOR(id, word) PROGRESS_##id,
enum progress_state { PROGRESS_STATES(PROGRESS_ENUMERATOR) PROGRESS_STATE_COUNT };

struct template_progress {
    enum progress_state state;
    char *reason;     /* Owned sentence for people; may be NULL. */
    uint64_t version; /* resourceVersion after the write; 0 if unknown. */
};

/* Progress of all templates. The output has a line for each new state, and a bar on a terminal. */
struct run_progress {
    const struct reconcile_list *list; /* Borrowed. */
    struct template_progress *items;   /* In the order of `list`. */
    int out;                           /* Descriptor for the lines; -1 for no output. */
};

#define PROGRESS_WORD(id, word) word,
static const char *const progress_words[PROGRESS_STATE_COUNT] = {PROGRESS_STATES(PROGRESS_WORD)};

static const enum output_style progress_styles[PROGRESS_STATE_COUNT] = {
    [PROGRESS_SKIPPED] = STYLE_CAUTION,
    [PROGRESS_DONE] = STYLE_GOOD,
    [PROGRESS_STOPPED] = STYLE_BAD};

static void run_progress_init(struct run_progress *f, const struct reconcile_list *list, int out)
{
    *f = (struct run_progress){list, xcalloc(list->count + 1, sizeof(*f->items)), out};
}

static void run_progress_release(struct run_progress *f)
{
    for (size_t i = 0; i < f->list->count; i++)
        free(f->items[i].reason);
    free(f->items);
    *f = (struct run_progress){0};
}

static void count_states(const struct run_progress *f, size_t counts[PROGRESS_STATE_COUNT])
{
    memset(counts, 0, PROGRESS_STATE_COUNT * sizeof(*counts));
    for (size_t i = 0; i < f->list->count; i++)
        counts[f->items[i].state]++;
}

/*
 * Sets the state of a template and prints a line, which replaces the bar, and the new bar below.
 * `reason` may be NULL. Returns false if the output cannot be written.
 */
static MUST_USE bool run_progress_set_and_print(struct run_progress *f, size_t at,
                                                enum progress_state state, const char *reason)
{
    const struct entry *template = f->list->items[at].template;
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(SAFE_MAX_BYTES);
    CLEANUP(output_release) struct output o;
    size_t counts[PROGRESS_STATE_COUNT];
    struct error ignored;

    output_init(&o, f->out);
    f->items[at].state = state;
    free(f->items[at].reason);
    f->items[at].reason = reason ? xstrdup(reason) : NULL;
    if (f->out < 0)
        return true;
    strbuf_addf(&line, "%s %s%s%s%s%s", entry_kind(template), entry_ns(template),
                *entry_ns(template) ? "/" : "", template->name, reason ? ": " : "",
                reason ? reason : "");
    output_escape(&safe, line.data);
    output_add_clear_line(&o);
    output_add_styled(&o, progress_styles[state], progress_words[state]);
    strbuf_addf(&o.text, "%*s", (int)(WORD_COLUMNS - strlen(progress_words[state])), "");
    output_wrap(&o.text, safe.data, WORD_COLUMNS, WORD_COLUMNS, o.width);
    strbuf_addc(&o.text, '\n');
    if (o.redraws) {
        count_states(f, counts);

        size_t total = f->list->count;
        size_t finished = total - counts[PROGRESS_NOT_BEGUN] - counts[PROGRESS_WRITTEN];

        output_add_bar(&o, finished, total);
    }
    return output_flush(&o, f->out, &ignored);
}

/* Prints the last line, such as "Stopped: 4 of 10 done, 1 stopped at, 5 not begun. ...". */
static void run_progress_print_summary(struct run_progress *f, const char *how)
{
    static const char *const summary_words[PROGRESS_STATE_COUNT] = {
        [PROGRESS_SKIPPED] = "skipped",
        [PROGRESS_WRITTEN] = "written but not confirmed",
        [PROGRESS_STOPPED] = "stopped the run",
        [PROGRESS_NOT_BEGUN] = "not started",
    };
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(output_release) struct output o;
    size_t counts[PROGRESS_STATE_COUNT];
    struct error ignored;

    count_states(f, counts);
    strbuf_addf(&line, "%s: %zu of %zu done", how, counts[PROGRESS_DONE], f->list->count);
    for (unsigned i = PROGRESS_STATE_COUNT; i-- > 0;) {
        if (summary_words[i] && counts[i] > 0)
            strbuf_addf(&line, ", %zu %s", counts[i], summary_words[i]);
    }
    strbuf_adds(&line, counts[PROGRESS_DONE] + counts[PROGRESS_SKIPPED] == f->list->count
                           ? "."
                           : ". Run the same command again to continue.");
    output_init(&o, f->out);
    output_add_clear_line(&o);
    output_add_line(&o, 0, line.data);
    /* A failed write is no error here: the exit status has the result. */
    if (!output_flush(&o, f->out, &ignored))
        return;
}

/* Appends the progress of all templates as the member "results" of the open JSON object. */
static void run_progress_write(const struct run_progress *f, struct json_writer *w)
{
    json_writer_open(w, "results", '[');
    for (size_t i = 0; i < f->list->count; i++) {
        json_writer_open(w, NULL, '{');
        report_put_identity(w, entry_identity(f->list->items[i].template));
        json_writer_text(w, "result", progress_words[f->items[i].state]);
        json_writer_text(w, "reason", f->items[i].reason);
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
}

/* ---- write of one template ---- */

static const int64_t max_duration_ms = INT64_C(366) * 24 * 3600 * SECOND_MS;

static const char field_manager[] = "karmada-policy-exporter-reconcile";

/* One run of `reconcile --yes`. */
struct reconcile_run {
    struct evaluation *e;
    const struct reconcile_filter *filter;
    struct run_progress progress;
    struct annotator annotator;
    struct signals signals;
    size_t at;        /* Index of the present template in the list. */
    char value[40];   /* Value of the annotation that the run writes to the present template. */
    bool interrupted; /* A signal has arrived, or the output cannot be written. */
    enum exit_status status;
};

static void set_progress(struct reconcile_run *run, size_t at, enum progress_state state,
                         const char *reason)
{
    /* If the output cannot be written (its reader is gone), the run ends as after SIGINT. */
    if (!run_progress_set_and_print(&run->progress, at, state, reason))
        run->interrupted = true;
}

/* Records that the run ends at the present template. Returns false. */
static bool stop_run(struct reconcile_run *run, enum exit_status status, const char *reason)
{
    run->status = status;
    set_progress(run, run->at, PROGRESS_STOPPED, reason);
    return false;
}

/*
 * Processes received changes, evaluates objects and continues the write. Then waits for the next
 * event, until `until_ms` (steady milliseconds) at most. Sets `interrupted` after a signal.
 */
static void run_turn(struct reconcile_run *run, int64_t until_ms)
{
    struct pollfd signal = {.fd = run->signals.fd, .events = POLLIN};
    int64_t wait_ms, now_ms;

    evaluation_pump(run->e, PUMP_SLICE_MS);
    evaluation_run(run->e, platform_now_ms(), EVALUATION_BATCH);
    now_ms = platform_steady_ms();
    annotator_turn(&run->annotator, now_ms);
    if (annotator_due(&run->annotator) < until_ms)
        until_ms = annotator_due(&run->annotator);
    wait_ms = evaluation_idle_ms(run->e);
    if (until_ms - now_ms < wait_ms)
        wait_ms = until_ms > now_ms ? until_ms - now_ms : 0;
    evaluation_wait(run->e, NULL, &signal, 1, wait_ms);
    if (signals_next(&run->signals) != 0)
        run->interrupted = true;
}

/*
 * Checks the present template against the present objects. Returns true if it is still to be
 * changed as planned; otherwise records the progress and returns false.
 */
static bool check_template(struct reconcile_run *run)
{
    const struct reconcile_item *item = &run->progress.list->items[run->at];
    enum reconcile_verdict verdict;

    if (!entry_exists(item->template)) {
        set_progress(run, run->at, PROGRESS_SKIPPED, "the template was deleted");
        return false;
    }
    verdict = reconcile_find_verdict(run->e->engine, run->filter, item->template);
    if (verdict != RECONCILE_MOVES) {
        set_progress(run, run->at, PROGRESS_SKIPPED, reconcile_verdict_texts[verdict]);
        return false;
    }
    return reconcile_is_as_planned(item) ||
           stop_run(run, STATUS_FOUND,
                    "the policy was changed after the plan was made: run the command again");
}

/*
 * Callback of struct annotator_spec: returns true if the annotation, which now has `value` or
 * (NULL) does not exist, is to be written or removed.
 *
 * Without --undo, an annotation that was set after the template became stale, and not longer than
 * --timeout ago, was written by another run, or by a request of this run that got no response. The
 * template then counts as written.
 */
static bool confirm_write(void *context, const char *value)
{
    struct reconcile_run *run = context;
    const struct template_decision *d;
    int64_t set_ms, age_ms;

    if (run->filter->undo && !value) {
        set_progress(run, run->at, PROGRESS_SKIPPED, "the template no longer has the annotation");
        return false;
    }
    if (run->e->caught_up && !check_template(run))
        return false;
    d = template_decision(run->progress.list->items[run->at].template);
    if (run->filter->undo || !value || !d || decision_since_ms(d) == 0 ||
        !parse_timestamp(value, &set_ms))
        return true;
    age_ms = platform_now_ms() - set_ms;
    /* Timestamps of Kubernetes objects have whole seconds. */
    if (set_ms / SECOND_MS <= decision_since_ms(d) / SECOND_MS || age_ms < 0 ||
        age_ms > run->e->options.timeout_ms)
        return true;
    set_progress(run, run->at, PROGRESS_WRITTEN,
                 strcmp(value, run->value) == 0 ? NULL
                                                : "by another run of reconcile, a moment ago");
    return false;
}

/* Records the result of the write of the present template. Returns false if the run ends. */
static bool record_write(struct reconcile_run *run, const char *resource, const char *group)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
    const struct annotator *annotator = &run->annotator;
    const char *ns = entry_ns(run->progress.list->items[run->at].template);

    switch (annotator->state) {
    case ANNOTATE_WRITTEN:
        run->progress.items[run->at].version = annotator->version;
        set_progress(run, run->at, PROGRESS_WRITTEN, NULL);
        return true;
    case ANNOTATE_GONE:
        set_progress(run, run->at, PROGRESS_SKIPPED, "the template was deleted");
        return true;
    case ANNOTATE_REPLACED:
        set_progress(run, run->at, PROGRESS_SKIPPED,
                     "the template was deleted, and another object was created with its name");
        return true;
    case ANNOTATE_DELETING:
        set_progress(run, run->at, PROGRESS_SKIPPED, "the template is being deleted");
        return true;
    case ANNOTATE_UNWANTED:
        return run->progress.items[run->at].state != PROGRESS_STOPPED;
    case ANNOTATE_FORBIDDEN:
        strbuf_addf(&text, "not allowed to %s %s%s%s%s%s: %s", annotator->writes ? "patch" : "get",
                    resource, *group ? "." : "", group, *ns ? " in the namespace " : "", ns,
                    annotator->err.text);
        return stop_run(run, STATUS_UNREACHABLE, text.data);
    case ANNOTATE_FAILED:
    case ANNOTATE_OPEN:
        break;
    }
    strbuf_addf(&text, "the API server did not change the template: %s", annotator->err.text);
    return stop_run(run, STATUS_UNREACHABLE, text.data);
}

/*
 * Writes or removes the annotation of the present template if check_template() and confirm_write()
 * allow it, and records the result. Returns false if the run ends.
 */
static bool annotate_template(struct reconcile_run *run)
{
    const struct type *type = entry_type(run->progress.list->items[run->at].template);
    const struct entry *template = run->progress.list->items[run->at].template;
    const struct api_resource *resource = NULL;
    char time[32];

    do {
        run_turn(run, platform_steady_ms());
    } while (!run->e->caught_up);
    if (run->interrupted)
        return false;
    if (!check_template(run))
        return run->progress.items[run->at].state != PROGRESS_STOPPED;
    discovery_find(kube_source_discovery(kube_session_source(run->e->session)), type->api_version,
                   type->kind, &resource);
    if (!resource)
        return stop_run(run, STATUS_UNREACHABLE,
                        "the API server no longer serves the kind of the template");
    format_timestamp(platform_now_ms(), time);
    /* Milliseconds make the value differ from the previous one. */
    snprintf(run->value, sizeof(run->value), "%.19s.%03dZ", time,
             (int)(platform_now_ms() % SECOND_MS));

    CLEANUP(free_cleanup) char *plural = xstrdup(resource->resource);
    const struct annotator_spec spec = {
        .id = entry_identity(template),
        .resource = plural,
        .uid_hash = entry_template(template)->uid_hash,
        .key = RECONCILE_ANNOTATION,
        .value = run->filter->undo ? NULL : run->value,
        .field_manager = field_manager,
        .wanted = confirm_write,
        .context = run,
    };

    /* A signal does not cancel the write, so that its result is known. */
    annotator_start(&run->annotator, &spec);
    while (run->annotator.state == ANNOTATE_OPEN)
        run_turn(run, INT64_MAX);
    return record_write(run, plural, type->group);
}

/* ---- batches ---- */

/* Appends a reason such as "not current after 300 s: it is stale policy_updated, its stage ...". */
static void describe_unfinished(const struct reconcile_run *run, const struct entry *template,
                                struct strbuf *out)
{
    const struct template_decision *d = template_decision(template);
    const char *reason = d ? reason_name(d->state, d->reason) : NULL;
    const char *message = d ? engine_delivery_message(run->e->engine, template) : NULL;

    strbuf_addf(out, "not %s after %g s", run->e->options.wait_for == 0 ? "current" : "healthy",
                (double)run->e->options.timeout_ms / SECOND_MS);
    if (!d)
        return;
    strbuf_addf(out, ": the state is %s%s%s, the stage is %s %s", state_names[d->state],
                reason ? " " : "", reason ? reason : "", stage_names[d->stages.at.stage],
                stage_reason_names[d->stages.at.reason]);
    while (out->len > 0 && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
    if (message && *message)
        strbuf_addf(out, ": %s", message);
}

/* Returns the steady time after a duration, at most a year, so that the sum does not overflow. */
static int64_t deadline_after(int64_t duration_ms)
{
    return platform_steady_ms() + (duration_ms < max_duration_ms ? duration_ms : max_duration_ms);
}

/*
 * Waits until each written template with an index from `first` to below `end` is deleted, or has
 * its planned state (with --wait healthy, current ones must be healthy too). Returns false if the
 * run ends: after --timeout, or because it is interrupted.
 */
static bool await_batch(struct reconcile_run *run, size_t first, size_t end)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
    int64_t deadline_ms = deadline_after(run->e->options.timeout_ms);
    bool healthy = run->e->options.wait_for != 0;
    size_t waiting = end;

    while (!run->interrupted) {
        run_turn(run, deadline_ms);
        waiting = end;
        for (size_t i = first; i < end && run->e->caught_up; i++) {
            const struct reconcile_item *item = &run->progress.list->items[i];
            const struct template *t = entry_template(item->template);
            const struct template_decision *d = template_decision(item->template);
            /* The watch may not have delivered the written version yet. */
            bool seen = t && d && t->resource_version >= run->progress.items[i].version;

            if (run->progress.items[i].state != PROGRESS_WRITTEN)
                continue;
            if (!t)
                set_progress(run, i, PROGRESS_SKIPPED, "the template was deleted");
            else if (seen && d->state == item->becomes &&
                     (!healthy || d->state != STATE_CURRENT || d->stages.at.stage == STAGE_HEALTHY))
                set_progress(run, i, PROGRESS_DONE, NULL);
            else if (waiting == end)
                waiting = i;
        }
        if (run->e->caught_up && waiting == end)
            return true;
        if (waiting < end && platform_steady_ms() >= deadline_ms) {
            run->at = waiting;
            describe_unfinished(run, run->progress.list->items[waiting].template, &text);
            return stop_run(run, STATUS_FOUND, text.data);
        }
    }
    return false;
}

/*
 * Writes or removes the annotation of the chosen templates in batches, and waits for each batch.
 * Skips templates that no longer need the change. A failed write, a changed policy, or a template
 * that does not reach its planned state ends the run early; so does a signal or unwritable output,
 * after the present template. Call it after reconcile_end_plan().
 *
 * Prints the progress. If `w` is not NULL, appends the progress at the end as the member "results"
 * of the open JSON object and prints none. Returns STATUS_OK for a complete run, STATUS_UNREACHABLE
 * after a failed write, STATUS_USAGE if signals cannot be received, else STATUS_FOUND.
 */
static enum exit_status run_batches(struct evaluation *e, const struct invocation *invocation,
                                    const struct reconcile_filter *filter,
                                    const struct reconcile *r, struct json_writer *w)
{
    struct reconcile_run run = {.e = e, .filter = filter};
    const struct options *o = &e->options;
    bool continues = true;
    struct error err;

    if (!signals_open(&run.signals, &err)) {
        invocation_print_error(invocation, err.text);
        return STATUS_USAGE;
    }
    run_progress_init(&run.progress, &r->chosen, w ? -1 : invocation->out);
    annotator_init(&run.annotator, kube_session_transport(e->session));
    while (continues && run.at < r->chosen.count) {
        size_t first = run.at, written = 0;

        for (; continues && run.at < r->chosen.count && written < o->batch; run.at += continues) {
            continues = annotate_template(&run);
            written += continues && run.progress.items[run.at].state == PROGRESS_WRITTEN;
        }
        if (!continues || written == 0)
            continue;
        continues = await_batch(&run, first, run.at);

        int64_t rested_ms = deadline_after(o->pause_ms);

        while (continues && run.at < r->chosen.count && platform_steady_ms() < rested_ms) {
            run_turn(&run, rested_ms);
            continues = !run.interrupted;
        }
    }
    if (run.interrupted && run.status == STATUS_OK)
        run.status = STATUS_FOUND;
    annotator_release(&run.annotator);
    if (w)
        run_progress_write(&run.progress, w);
    else
        run_progress_print_summary(&run.progress, run.status == STATUS_OK ? "All done"
                                                  : run.interrupted       ? "Interrupted"
                                                                          : "Stopped");
    run_progress_release(&run.progress);
    signals_close(&run.signals);
    return run.status;
}

/* ---- plan ---- */

/* Risks that stop a run before it writes, in the order of the choices of --accept. */
static const struct {
    enum plan_failure failure;
    const char *word;
    const char *text;
} risks[] = {
    {PLAN_FAILURE_DEPENDENCY_CONFLICT, "conflict", "dependency conflicts appear"},
    {PLAN_FAILURE_NOT_PROPAGATED, "pending", "templates become pending"},
    {PLAN_FAILURE_OVERFLOW, "overflow", "replicas exceed the free capacity of a member cluster"},
};

/* Returns the risks of the plan that --accept does not contain: bits by index in `risks`. */
static unsigned find_refused_risks(const struct reconcile *r, const struct options *o)
{
    unsigned found = plan_failures(r->result), refused = 0;

    for (unsigned i = 0; i < ARRAY_LEN(risks); i++) {
        if (found & 1U << risks[i].failure)
            refused |= 1U << i;
    }
    return refused & ~o->accept;
}

/* Prints the summary: the templates that a run changes, and those that it leaves alone. */
static void print_summary(const struct reconcile *r, const struct options *o,
                          const struct entry *policy, struct output *out)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    size_t count = r->chosen.count;

    if (count == 0) {
        output_add_line(out, 0, o->undo ? "Nothing to undo." : "Nothing to reconcile.");
    } else {
        strbuf_addf(&line, "%s %zu template%s", o->undo ? "Undoes" : "Reconciles", count,
                    count == 1 ? "" : "s");
        if (policy) {
            strbuf_adds(&line, " of ");
            object_name_add(&line, policy);
        }
        if (*o->selector != '\0')
            strbuf_addf(&line, " with the labels %s", o->selector);
        strbuf_addc(&line, '.');
        output_add_line(out, 0, line.data);
    }
    strbuf_reset(&line);
    if (r->left.count > 0)
        strbuf_addf(&line, "%zu template%s not touched. ", r->left.count,
                    r->left.count == 1 ? " is" : "s are");
    if (r->current > 0)
        strbuf_addf(&line, "%zu %s already current, %zu of them reconciled before. ", r->current,
                    r->current == 1 ? "template is" : "templates are", r->reconciled);
    if (r->beyond > 0)
        strbuf_addf(&line, "--max excludes %zu more templates. ", r->beyond);
    if (line.len > 0)
        output_add_line(out, 0, line.data);
}

static void print_annotation(const struct options *o, struct output *out)
{
    static const char undo[] =
        "Removes the annotation " RECONCILE_ANNOTATION ". Karmada treats the removal as another "
        "change by a user: it applies the present policies and restores no earlier placement.";
    static const char set[] =
        "Sets the annotation " RECONCILE_ANNOTATION ". Karmada treats the annotation as a change "
        "by a user, and copies it to the member clusters.";

    strbuf_addc(&out->text, '\n');
    output_add_line(out, 0, o->undo ? undo : set);
}

/* Prints the templates that a change does not help: each reason once, and one line for each. */
static void print_templates_left(const struct reconcile *r, const struct options *o,
                                 struct output *out)
{
    if (r->left.count == 0)
        return;
    strbuf_addc(&out->text, '\n');
    output_add_section(out, "Not changed, because a change does not make the template current",
                       r->left.count);
    for (size_t i = 0; i < r->left.count; i++) {
        enum reconcile_verdict verdict = r->left.items[i].verdict;
        CLEANUP(table_release) struct table t = table_make(NULL, 2, OBJECT_INDENT);
        bool first = true;

        for (size_t k = 0; k < i; k++)
            first = first && r->left.items[k].verdict != verdict;
        if (!first)
            continue;
        t.shortened = 1U << 0;
        output_add_line(out, INDENT, reconcile_verdict_texts[verdict]);
        for (size_t k = i; k < r->left.count; k++) {
            const struct entry *template = r->left.items[k].template;
            CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(LINE_MAX_BYTES);

            if (r->left.items[k].verdict != verdict)
                continue;
            entry_add_name(&name, template);
            table_add(&t, STYLE_PLAIN, name.data);
            table_add(&t, STYLE_PLAIN,
                      o->output == OUTPUT_WIDE ? reconcile_verdict_names[verdict] : "");
        }
        table_print(&t, out);
    }
}

/* Prints the risks that stop the run, with the names of their objects. */
static void print_refusal(const struct reconcile *r, unsigned refused, struct output *out)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    const char *between = "Refused: ";

    for (unsigned i = 0; i < ARRAY_LEN(risks); i++) {
        if (!(refused & 1U << i))
            continue;
        strbuf_addf(&line, "%s%s (", between, risks[i].text);
        plan_add_failing_names(r->result, 1U << risks[i].failure, out->width, &line);
        strbuf_addc(&line, ')');
        between = ", ";
    }
    between = ". To continue despite these risks: --accept ";
    for (unsigned i = 0; i < ARRAY_LEN(risks); i++) {
        if (refused & 1U << i) {
            strbuf_addf(&line, "%s%s", between, risks[i].word);
            between = ",";
        }
    }
    strbuf_addc(&out->text, '\n');
    output_add_line(out, 0, line.data);
}

/* Prints the plan for people. `policy` is the policy of --policy; NULL without the flag. */
static void print_reconcile_plan(const struct reconcile *r, const struct options *o,
                                 const struct entry *policy, struct output *out)
{
    unsigned refused = r->chosen.count > 0 ? find_refused_risks(r, o) : 0;

    print_summary(r, o, policy, out);
    if (r->chosen.count > 0)
        plan_print(r->result, plan_layout_of(o), 0, out);
    print_templates_left(r, o, out);
    if (r->chosen.count == 0)
        return;
    print_annotation(o, out);
    if (refused) {
        print_refusal(r, refused, out);
    } else {
        strbuf_addc(&out->text, '\n');
        if (!o->yes)
            output_add_line(
                out, 0, "This is a dry run: nothing was written. Use --yes to write the changes.");
    }
}

static void write_templates(struct json_writer *w, const char *key,
                            const struct reconcile_list *list, bool reasons)
{
    json_writer_open(w, key, '[');
    for (size_t i = 0; i < list->count; i++) {
        const struct reconcile_item *item = &list->items[i];

        json_writer_open(w, NULL, '{');
        report_put_identity(w, entry_identity(item->template));
        if (reasons) {
            json_writer_text(w, "reason", reconcile_verdict_names[item->verdict]);
            json_writer_text(w, "message", reconcile_verdict_texts[item->verdict]);
        }
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
}

/* Appends the plan as members of the open JSON object. May call plan_undo(). */
static void write_reconcile_plan(struct json_writer *w, const struct reconcile *r,
                                 const struct options *o)
{
    unsigned refused = r->chosen.count > 0 ? find_refused_risks(r, o) : 0;

    json_writer_text(w, "apiVersion", "karmada-policy-exporter/v1");
    json_writer_text(w, "kind", "Reconcile");
    json_writer_bool(w, "dryRun", !o->yes);
    json_writer_bool(w, "undo", o->undo);
    json_writer_text(w, "annotation", RECONCILE_ANNOTATION);
    json_writer_bit_names(w, "refused", refused, option_defs[OPTION_OF_accept].choices);
    json_writer_int(w, "current", (int64_t)r->current);
    json_writer_int(w, "reconciled", (int64_t)r->reconciled);
    json_writer_int(w, "beyond", (int64_t)r->beyond);
    write_templates(w, "templates", &r->chosen, false);
    write_templates(w, "notTouched", &r->left, true);
    report_put_plan(w, "plan", r->plan, r->result, r->engine);
}

/* ---- command ---- */

/*
 * Stores the hash of the version that --from-version names. The run filters by hash, because the
 * number could become that of another version during the run. An unknown text with the length
 * of a hash is accepted: no template has that version any more. Prints an error and returns false
 * for any other unknown version.
 */
static bool read_version_hash(const struct options *o, const struct invocation *invocation,
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
    fail(&err, "%s has no version '%s': 'explain %s' lists the versions", o->policy,
         o->from_version, o->policy);
    invocation_print_error(invocation, err.text);
    return false;
}

/*
 * Makes the filter from the options. The filter refers to `version` and to *labels, which the
 * caller frees. Prints an error, sets *status and returns false if an option is invalid or the
 * policy of --policy is not found.
 */
static bool read_filter(struct evaluation *e, const struct invocation *invocation,
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
            invocation_print_error(invocation, err.text);
            return false;
        }
    }
    if (*o->policy == '\0')
        return true;
    /* Templates only for the error about an object that is not a policy. */
    out->policy =
        load_object(e, 1U << CLASS_POLICY | 1U << CLASS_TEMPLATE, o->policy, status, &err);
    if (out->policy && entry_class(out->policy) == CLASS_POLICY) {
        *status = STATUS_USAGE;
        return !out->version || read_version_hash(o, invocation, out->policy, version);
    }
    if (out->policy)
        fail(&err, "'%s' is not a policy: write pp/NAMESPACE/NAME or cpp/NAME", o->policy);
    invocation_print_error(invocation, err.text);
    return false;
}

/* Prints the plan, and carries it out with --yes unless it has a risk that is not accepted. */
static enum exit_status plan_and_run(struct evaluation *e, const struct invocation *invocation,
                                     const struct reconcile_filter *filter)
{
    const struct options *o = &e->options;
    struct reconcile *r = reconcile_new(e->engine, filter, !e->session);
    bool refused = r->chosen.count > 0 && find_refused_risks(r, o);
    bool acts = o->yes && !refused && r->chosen.count > 0;
    enum exit_status status = refused ? STATUS_FOUND : STATUS_OK;
    bool document = document_is_requested(o->output);
    CLEANUP(output_release) struct output out;

    invocation_begin_output(invocation, o->output, &out);

    struct json_writer w = {.out = &out.text, .lines = 2};

    if (document) {
        json_writer_open(&w, NULL, '{');
        write_reconcile_plan(&w, r, o);
    } else {
        print_reconcile_plan(r, o, filter->policy, &out);
        if (acts)
            status = invocation_print_output(invocation, &out, status);
    }
    reconcile_end_plan(r);
    if (acts && status == STATUS_OK)
        status = run_batches(e, invocation, filter, r, document ? &w : NULL);
    if (document) {
        json_writer_close(&w, '}');
        strbuf_addc(&out.text, '\n');
        document_convert(&out.text, o->output);
    }
    reconcile_free(r);
    return invocation_print_output(invocation, &out, status);
}

static enum exit_status run_reconcile(struct invocation *invocation)
{
    const struct options *o = &invocation->options;
    struct label_selector *labels = NULL;
    enum exit_status status, read;
    char version[POLICY_VERSION_HASH_SIZE];
    struct reconcile_filter filter;
    struct evaluation *e;

    if (*o->policy == '\0' && *o->selector == '\0')
        return invocation_reject(invocation,
                                 "nothing to reconcile: name a policy with --policy, or "
                                 "labels with -l");
    if (*o->from_version != '\0' && *o->policy == '\0')
        return invocation_reject(
            invocation, "--from-version is a version of the policy in --policy: set --policy");
    if (o->yes && o->manifests.count + o->arguments.count > 0)
        return invocation_reject(
            invocation,
            "--yes writes to an API server, and manifests are files: omit --yes or the manifests");
    if (o->batch == 0)
        return invocation_reject(invocation, "--batch 0 changes nothing: set --batch to 1 or more");
    e = load_sources(invocation, &read);
    if (!e)
        return read;
    load_print_problems(e->manifests, invocation);
    if (read != STATUS_OK && e->options.yes) {
        invocation_print_error(invocation, "some input cannot be read, so nothing is written");
        status = read;
    } else if (read_filter(e, invocation, &filter, &labels, version, &status)) {
        status = plan_and_run(e, invocation, &filter);
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

const struct command reconcile_command = {
    .name = "reconcile",
    .usage = "[FLAGS] --policy OBJECT [PATH...]",
    .summary = "update stale templates to the present version of their policy",
    .details =
        "Sets the annotation karmada-policy-exporter/reconcile-at on stale templates, so that "
        "Karmada applies their present policy. Selects the templates that --policy governs, or "
        "that have the labels of --selector. Karmada treats the annotation as a change by a user, "
        "and copies it to the member clusters. Changes only templates that the plan shows as "
        "current afterwards, and lists the others with the reason. Without --yes, prints the plan "
        "and writes nothing. Refuses to write if conflicts appear, templates become pending or "
        "member clusters exceed their free capacity, unless --accept names the risk. With --yes, "
        "writes in batches, waits for the state of --wait after each batch, and stops at the first "
        "template that does not reach this state. The same command continues an interrupted run. "
        "Ctrl-C stops after the present template. Changes at most ten templates per second, fewer "
        "if the API server is busy. Exit status: 1 for a refused or incomplete run; 3 if the API "
        "server does not respond or denies access.",
    .permissions =
        "Reading needs the verbs get, list and watch, as for the other commands. --yes also needs "
        "get and patch on the kinds of the changed templates, such as deployments.apps. Grant "
        "these verbs to a separate role for operators, not to the exporter.",
    .examples = examples,
    .bit = COMMAND_RECONCILE,
    .takes_arguments = true,
    .run = run_reconcile,
};
