/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/cmd_reconcile.h"

#include "exporter/cli/cmd_plan.h"
#include "exporter/cli/command.h"
#include "exporter/cli/document.h"
#include "exporter/cli/load.h"
#include "exporter/kube/object_request.h"
#include "exporter/system/platform.h"
#include "exporter/system/signals.h"
#include "exporter/text/check_result.h"
#include "exporter/text/text_table.h"
#include "metrics/base/timestamp.h"
#include "metrics/expose/report.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"

enum { LINE_MAX_BYTES = 8192, WORD_COLUMNS = 8, BAR_COLUMNS = 40 };

#define FATE_WORD(id, word) word,
static const char *const words[FATE_COUNT] = {FATES(FATE_WORD)};

static const enum output_style styles[FATE_COUNT] = {
    [FATE_SKIPPED] = STYLE_CAUTION, [FATE_DONE] = STYLE_GOOD, [FATE_STOPPED] = STYLE_BAD};

static void fates_init(struct fates *f, const struct reconcile_list *list, int out)
{
    *f = (struct fates){list, xcalloc(list->count + 1, sizeof(*f->items)), out};
}

static void fates_release(struct fates *f)
{
    for (size_t i = 0; i < f->list->count; i++)
        free(f->items[i].reason);
    free(f->items);
    *f = (struct fates){0};
}

static void count(const struct fates *f, size_t counts[FATE_COUNT])
{
    memset(counts, 0, FATE_COUNT * sizeof(*counts));
    for (size_t i = 0; i < f->list->count; i++)
        counts[f->items[i].fate]++;
}

/* The new line stands where the bar was; the bar comes back below it. */
/* Something has become of a template. `reason` may be NULL. False if nobody can be told. */
static MUST_USE bool fates_set(struct fates *f, size_t at, enum fate fate, const char *reason)
{
    const struct entry *template = f->list->items[at].template;
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(4 * LINE_MAX_BYTES);
    CLEANUP(output_release) struct output o;
    size_t counts[FATE_COUNT];
    struct error ignored;

    output_init(&o, f->out);
    f->items[at].fate = fate;
    free(f->items[at].reason);
    f->items[at].reason = reason ? xstrdup(reason) : NULL;
    if (f->out < 0)
        return true;
    strbuf_addf(&line, "%s %s%s%s%s%s", entry_kind(template), entry_ns(template),
                *entry_ns(template) ? "/" : "", template->name, reason ? ": " : "",
                reason ? reason : "");
    output_escape(&safe, line.data);
    strbuf_adds(&o.text, o.redraws ? "\r\033[K" : "");
    output_add_styled(&o, styles[fate], words[fate]);
    strbuf_addf(&o.text, "%*s", (int)(WORD_COLUMNS - strlen(words[fate])), "");
    output_wrap(&o.text, safe.data, WORD_COLUMNS, WORD_COLUMNS, o.width);
    strbuf_addc(&o.text, '\n');
    if (o.redraws) {
        count(f, counts);

        size_t total = f->list->count;
        size_t over = total - counts[FATE_NOT_BEGUN] - counts[FATE_WRITTEN];

        strbuf_addc(&o.text, '[');
        for (size_t i = 0; i < BAR_COLUMNS; i++)
            strbuf_addc(&o.text, i * total < over * BAR_COLUMNS ? '#' : '.');
        strbuf_addf(&o.text, "] %zu of %zu", over, total);
    }
    return output_flush(&o, f->out, &ignored);
}

/* The last line: "Stopped: 4 of 10 done, ...". */
static void fates_summarise(struct fates *f, const char *how)
{
    static const char *const sayings[FATE_COUNT] = {
        [FATE_SKIPPED] = "skipped",
        [FATE_WRITTEN] = "written and not waited for",
        [FATE_STOPPED] = "stopped at",
        [FATE_NOT_BEGUN] = "not begun",
    };
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(output_release) struct output o;
    size_t counts[FATE_COUNT];
    struct error ignored;

    count(f, counts);
    strbuf_addf(&line, "%s: %zu of %zu done", how, counts[FATE_DONE], f->list->count);
    for (unsigned i = FATE_COUNT; i-- > 0;) {
        if (sayings[i] && counts[i] > 0)
            strbuf_addf(&line, ", %zu %s", counts[i], sayings[i]);
    }
    strbuf_adds(&line, counts[FATE_DONE] + counts[FATE_SKIPPED] == f->list->count
                           ? "."
                           : ". The same command goes on from here.");
    output_init(&o, f->out);
    strbuf_adds(&o.text, o.redraws ? "\r\033[K" : "");
    output_add_line(&o, 0, line.data);
    /* Whoever does not hear it has the exit status. */
    if (!output_flush(&o, f->out, &ignored))
        return;
}

/* Append all as the member "results" of the object that is open. */
static void fates_write(const struct fates *f, struct json_writer *w)
{
    json_writer_open(w, "results", '[');
    for (size_t i = 0; i < f->list->count; i++) {
        const struct entry *template = f->list->items[i].template;

        json_writer_open(w, NULL, '{');
        report_put_identity(w, (struct identity){template->partition->type->api_version,
                                                 entry_kind(template), entry_ns(template),
                                                 template->name});
        json_writer_text(w, "result", words[f->items[i].fate]);
        json_writer_text(w, "reason", f->items[i].reason);
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
}

enum {
    SLICE_MS = 50,
    EVALUATION_BATCH = 1024,
    RECONCILE_ACT_LINE_MAX_BYTES = 8192,
    SECOND_MS = 1000,
};
static const int64_t year_ms = INT64_C(366) * 24 * 3600 * SECOND_MS;

static const char field_manager[] = "karmada-policy-exporter-reconcile";

struct act {
    struct evaluation *e;
    const struct reconcile_filter *wish;
    struct fates fates;
    struct annotator annotator;
    struct signals signals;
    size_t at;      /* The present one. */
    char value[40]; /* Of its annotation. */
    bool interrupted;
    enum exit_status status;
};

static void set(struct act *a, size_t at, enum fate fate, const char *reason)
{
    /* Whoever does not hear any more what is done does not want it done. */
    if (!fates_set(&a->fates, at, fate, reason))
        a->interrupted = true;
}

/* It ends at the present template. */
static bool stop(struct act *a, enum exit_status status, const char *reason)
{
    a->status = status;
    set(a, a->at, FATE_STOPPED, reason);
    return false;
}

/* ---- one template ---- */

/* One turn of all that goes on; then it waits for what comes, but not beyond `until_ms`. */
static void turn(struct act *a, int64_t until_ms)
{
    struct pollfd signal = {.fd = a->signals.fd, .events = POLLIN};
    int64_t wait_ms, now_ms;

    evaluation_pump(a->e, SLICE_MS);
    evaluation_run(a->e, platform_now_ms(), EVALUATION_BATCH);
    now_ms = platform_steady_ms();
    annotator_turn(&a->annotator, now_ms);
    if (annotator_due(&a->annotator) < until_ms)
        until_ms = annotator_due(&a->annotator);
    wait_ms = evaluation_idle_ms(a->e);
    if (until_ms - now_ms < wait_ms)
        wait_ms = until_ms > now_ms ? until_ms - now_ms : 0;
    evaluation_wait(a->e, NULL, &signal, 1, wait_ms);
    if (signals_next(&a->signals) != 0)
        a->interrupted = true;
}

/* True if the present template is to be changed, by all that is known now; else its fate is set. */
static bool is_due(struct act *a)
{
    const struct reconcile_item *item = &a->fates.list->items[a->at];
    enum reconcile_verdict verdict;

    if (!entry_exists(item->template)) {
        set(a, a->at, FATE_SKIPPED, "it was deleted");
        return false;
    }
    verdict = reconcile_find_verdict(a->e->engine, a->wish, item->template);
    if (verdict != RECONCILE_MOVES) {
        set(a, a->at, FATE_SKIPPED, reconcile_verdict_texts[verdict]);
        return false;
    }
    return reconcile_is_as_planned(item) ||
           stop(a, STATUS_FOUND, "its policy was changed after the plan was made: look again");
}

/*
 * The annotation has just been read. One that was set since the template is stale, a moment ago,
 * was set by another who reconciles, or by us, in a request that got no answer.
 */
static bool is_wanted(void *context, const char *value)
{
    struct act *a = context;
    const struct template_decision *d;
    int64_t set_ms, age_ms;

    if (a->wish->undo && !value) {
        set(a, a->at, FATE_SKIPPED, "it has no such annotation any more");
        return false;
    }
    if (a->e->caught_up && !is_due(a))
        return false;
    d = template_decision(a->fates.list->items[a->at].template);
    if (a->wish->undo || !value || !d || d->since_ms == 0 || !parse_timestamp(value, &set_ms))
        return true;
    age_ms = platform_now_ms() - set_ms;
    /* Objects record whole seconds. */
    if (set_ms / SECOND_MS <= d->since_ms / SECOND_MS || age_ms < 0 ||
        age_ms > a->e->options.timeout_ms)
        return true;
    set(a, a->at, FATE_WRITTEN,
        strcmp(value, a->value) == 0 ? NULL : "by another who reconciles, just now");
    return false;
}

/* The server's answer, if it ends everything; else true. */
static bool accept_answer(struct act *a, const char *resource, const char *group)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(RECONCILE_ACT_LINE_MAX_BYTES);
    const struct annotator *answer = &a->annotator;
    const char *ns = entry_ns(a->fates.list->items[a->at].template);

    switch (answer->state) {
    case ANNOTATE_WRITTEN:
        a->fates.items[a->at].version = answer->version;
        set(a, a->at, FATE_WRITTEN, NULL);
        return true;
    case ANNOTATE_GONE:
        set(a, a->at, FATE_SKIPPED, "it was deleted");
        return true;
    case ANNOTATE_REPLACED:
        set(a, a->at, FATE_SKIPPED, "it was deleted, and another was created by its name");
        return true;
    case ANNOTATE_DELETING:
        set(a, a->at, FATE_SKIPPED, "it is being deleted");
        return true;
    case ANNOTATE_UNWANTED:
        return a->fates.items[a->at].fate != FATE_STOPPED;
    case ANNOTATE_FORBIDDEN:
        strbuf_addf(&text, "not allowed to %s %s%s%s%s%s: %s", answer->writes ? "patch" : "get",
                    resource, *group ? "." : "", group, *ns ? " in the namespace " : "", ns,
                    answer->err.text);
        return stop(a, STATUS_UNREACHABLE, text.data);
    case ANNOTATE_FAILED:
    case ANNOTATE_OPEN:
        break;
    }
    strbuf_addf(&text, "the API server does not change it: %s", answer->err.text);
    return stop(a, STATUS_UNREACHABLE, text.data);
}

/* Change the present template, unless that is of no use any more. False if all ends here. */
static bool change(struct act *a)
{
    const struct type *type = a->fates.list->items[a->at].template->partition->type;
    const struct entry *template = a->fates.list->items[a->at].template;
    const struct api_resource *resource = NULL;
    char time[32];

    do {
        turn(a, platform_steady_ms());
    } while (!a->e->caught_up);
    if (a->interrupted)
        return false;
    if (!is_due(a))
        return a->fates.items[a->at].fate != FATE_STOPPED;
    discovery_find(kube_source_discovery(kube_session_source(a->e->session)), type->api_version,
                   type->kind, &resource);
    if (!resource)
        return stop(a, STATUS_UNREACHABLE, "the API server does not serve its kind any more");
    format_timestamp(platform_now_ms(), time);
    /* To the millisecond: whatever it was before, it is another value now. */
    snprintf(a->value, sizeof(a->value), "%.19s.%03dZ", time, (int)(platform_now_ms() % SECOND_MS));

    CLEANUP(free_cleanup) char *plural = xstrdup(resource->resource);
    const struct annotator_spec spec = {
        .id = {type->api_version, type->kind, entry_ns(template), template->name},
        .resource = plural,
        .uid_hash = entry_template(template)->uid_hash,
        .key = RECONCILE_ANNOTATION,
        .value = a->wish->undo ? NULL : a->value,
        .field_manager = field_manager,
        .wanted = is_wanted,
        .context = a,
    };

    /* Even when a signal comes: what has become of it is to be known. */
    annotator_start(&a->annotator, &spec);
    while (a->annotator.state == ANNOTATE_OPEN)
        turn(a, INT64_MAX);
    return accept_answer(a, plural, type->group);
}

/* ---- batches ---- */

/* "not current after 300 s: stale policy_updated, outdated policy_updated: what Karmada says" */
static void describe(const struct act *a, const struct entry *template, struct strbuf *out)
{
    const struct template_decision *d = template_decision(template);
    const char *reason = d ? reason_name(d->state, d->reason) : NULL;
    const char *message = d ? engine_delivery_message(a->e->engine, template) : NULL;

    strbuf_addf(out, "not %s after %g s", a->e->options.wait_for == 0 ? "current" : "healthy",
                (double)a->e->options.timeout_ms / SECOND_MS);
    if (!d)
        return;
    strbuf_addf(out, ": it is %s%s%s, its stage %s %s", state_names[d->state], reason ? " " : "",
                reason ? reason : "", stage_names[d->stages.at.stage],
                stage_reason_names[d->stages.at.reason]);
    while (out->len > 0 && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
    if (message && *message)
        strbuf_addf(out, ": %s", message);
}

/* No duration that is typed leads beyond what a number holds. */
static int64_t moment_after(int64_t duration_ms)
{
    return platform_steady_ms() + (duration_ms < year_ms ? duration_ms : year_ms);
}

/* Wait for those of the batch that were written. False if all ends here. */
static bool await(struct act *a, size_t first, size_t end)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(RECONCILE_ACT_LINE_MAX_BYTES);
    int64_t deadline_ms = moment_after(a->e->options.timeout_ms);
    bool healthy = a->e->options.wait_for != 0;
    size_t waiting = end;

    while (!a->interrupted) {
        turn(a, deadline_ms);
        waiting = end;
        for (size_t i = first; i < end && a->e->caught_up; i++) {
            const struct reconcile_item *item = &a->fates.list->items[i];
            const struct template *t = entry_template(item->template);
            const struct template_decision *d = template_decision(item->template);
            /* What the watches have brought is of before the change, or of after it. */
            bool seen = t && d && t->resource_version >= a->fates.items[i].version;

            if (a->fates.items[i].fate != FATE_WRITTEN)
                continue;
            if (!t)
                set(a, i, FATE_SKIPPED, "it was deleted");
            else if (seen && d->state == item->becomes &&
                     (!healthy || d->state != STATE_CURRENT || d->stages.at.stage == STAGE_HEALTHY))
                set(a, i, FATE_DONE, NULL);
            else if (waiting == end)
                waiting = i;
        }
        if (a->e->caught_up && waiting == end)
            return true;
        if (waiting < end && platform_steady_ms() >= deadline_ms) {
            a->at = waiting;
            describe(a, a->fates.list->items[waiting].template, &text);
            return stop(a, STATUS_FOUND, text.data);
        }
    }
    return false;
}

/*
 * Write the annotation of the templates that are chosen, or take it off, in batches, and wait for
 * each batch as the options say; the plan has ended. It goes on as long as everything goes as
 * planned: a template that nothing is to be done for any more is skipped, and the first one that
 * does not become what it should ends it, as SIGINT does after the present one.
 *
 * Each template is reported on standard output as it happens; where `w` is not NULL, instead at the
 * end as the member "results" of the object that is open there.
 *
 * STATUS_FOUND if it ended before the end, STATUS_UNREACHABLE if the server did not let it go on.
 */
static enum exit_status reconcile_act(struct evaluation *e, const struct invocation *invocation,
                                      const struct reconcile_filter *wish,
                                      const struct reconcile *r, struct json_writer *w)
{
    struct act a = {.e = e, .wish = wish};
    const struct options *o = &e->options;
    bool going = true;
    struct error err;

    if (!signals_open(&a.signals, &err)) {
        invocation_print_error(invocation, err.text);
        return STATUS_USAGE;
    }
    fates_init(&a.fates, &r->chosen, w ? -1 : invocation->out);
    annotator_init(&a.annotator, kube_session_transport(e->session));
    while (going && a.at < r->chosen.count) {
        size_t first = a.at, written = 0;

        for (; going && a.at < r->chosen.count && written < o->batch; a.at += going) {
            going = change(&a);
            written += going && a.fates.items[a.at].fate == FATE_WRITTEN;
        }
        if (!going || written == 0)
            continue;
        going = await(&a, first, a.at);

        int64_t rested_ms = moment_after(o->pause_ms);

        while (going && a.at < r->chosen.count && platform_steady_ms() < rested_ms) {
            turn(&a, rested_ms);
            going = !a.interrupted;
        }
    }
    if (a.interrupted && a.status == STATUS_OK)
        a.status = STATUS_FOUND;
    annotator_release(&a.annotator);
    if (w)
        fates_write(&a.fates, w);
    else
        fates_summarise(&a.fates, a.status == STATUS_OK ? "All done"
                                  : a.interrupted       ? "Interrupted"
                                                        : "Stopped");
    fates_release(&a.fates);
    signals_close(&a.signals);
    return a.status;
}

enum {
    INDENT = 2,
    RECONCILE_PRINT_LINE_MAX_BYTES = 8192,
    SAFE_MAX_BYTES = 4 * RECONCILE_PRINT_LINE_MAX_BYTES
};

/* In the order of the choices of --accept. */
static const struct {
    unsigned finding; /* Of plan_finding_classes(). */
    const char *word;
    const char *text;
} risks[] = {
    {FINDING_CONFLICT, "conflict", "dependency conflicts appear"},
    {FINDING_PENDING, "pending", "templates become pending"},
    {CONSEQUENCE_OVERFLOW, "overflow", "a member cluster gets more than it has free"},
};

/*
 * What of the plan somebody has to accept first: bits in the order of the choices of --accept,
 * without those that are accepted.
 */
static unsigned reconcile_refusals(const struct reconcile *r, const struct options *o)
{
    unsigned found = plan_finding_classes(r->result), refused = 0;

    for (unsigned i = 0; i < ARRAY_LEN(risks); i++) {
        if (found & 1U << risks[i].finding)
            refused |= 1U << i;
    }
    return refused & ~o->accept;
}

static void print_intent(const struct reconcile *r, const struct options *o,
                         const struct entry *policy, struct output *out)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(RECONCILE_PRINT_LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(SAFE_MAX_BYTES);
    size_t count = r->chosen.count;

    strbuf_addf(&line, "%s %zu template%s", o->undo ? "Undoes" : "Reconciles", count,
                count == 1 ? "" : "s");
    if (policy)
        strbuf_addf(&line, " of %s %s%s%s", entry_kind(policy), entry_ns(policy),
                    *entry_ns(policy) ? "/" : "", policy->name);
    if (*o->selector != '\0')
        strbuf_addf(&line, " with the labels %s", o->selector);
    if (o->undo)
        strbuf_adds(&line, ": takes the annotation " RECONCILE_ANNOTATION " off again. To Karmada "
                           "that is another change by a user: it follows their policies as "
                           "they are now, and brings no old placement back.");
    else
        strbuf_adds(&line, ": sets the annotation " RECONCILE_ANNOTATION ", which Karmada takes "
                           "for a change by a user. It is a part of the template: it travels "
                           "to the member clusters, too.");
    output_escape(&safe, line.data);
    output_wrap(&out->text, safe.data, 0, 0, out->width);
    strbuf_adds(&out->text, "\n\n");
}

static void print_left(const struct reconcile *r, struct output *out)
{
    static const char *const headings[] = {"TEMPLATE", "WHY"};
    CLEANUP(table_release) struct table t = table_make(headings, ARRAY_LEN(headings), INDENT);

    if (r->left.count == 0)
        return;
    output_add_section(out, "Not touched: a change does not help", r->left.count);
    for (size_t i = 0; i < r->left.count; i++) {
        const struct reconcile_item *item = &r->left.items[i];

        table_add_object(&t, entry_kind(item->template), entry_ns(item->template),
                         item->template->name);
        table_add(&t, STYLE_PLAIN, reconcile_verdict_texts[item->verdict]);
    }
    table_print(&t, out);
    strbuf_addc(&out->text, '\n');
}

static void print_refusal(unsigned refused, struct output *out)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(RECONCILE_PRINT_LINE_MAX_BYTES);
    const char *between = "Refused: ";

    for (unsigned i = 0; i < ARRAY_LEN(risks); i++) {
        if (refused & 1U << i) {
            strbuf_addf(&line, "%s%s", between, risks[i].text);
            between = ", ";
        }
    }
    between = ". To go ahead all the same: --accept ";
    for (unsigned i = 0; i < ARRAY_LEN(risks); i++) {
        if (refused & 1U << i) {
            strbuf_addf(&line, "%s%s", between, risks[i].word);
            between = ",";
        }
    }
    output_add_line(out, 0, line.data);
}

/* Print what would be done, for people. `policy` is --policy's, NULL if there is none. */
static void reconcile_print(const struct reconcile *r, const struct options *o,
                            const struct entry *policy, struct output *out)
{
    CLEANUP(strbuf_release) struct strbuf counts = STRBUF_INIT(RECONCILE_PRINT_LINE_MAX_BYTES);
    unsigned refused = reconcile_refusals(r, o);

    if (r->chosen.count > 0) {
        print_intent(r, o, policy, out);
        plan_print(r->result, out);
        strbuf_addc(&out->text, '\n');
    }
    print_left(r, out);
    if (r->current > 0)
        strbuf_addf(&counts, "%zu %s current already, %zu of them reconciled before. ", r->current,
                    r->current == 1 ? "template is" : "templates are", r->reconciled);
    if (r->beyond > 0)
        strbuf_addf(&counts, "%zu more would move: --max leaves them out. ", r->beyond);
    if (counts.len > 0)
        output_add_line(out, 0, counts.data);
    if (r->chosen.count == 0)
        output_add_line(out, 0, o->undo ? "Nothing to undo." : "Nothing to reconcile.");
    else if (refused)
        print_refusal(refused, out);
    else if (!o->yes)
        output_add_line(out, 0, "This is a dry run: nothing was written. With --yes it is.");
}

static void write_list(struct json_writer *w, const char *key, const struct reconcile_list *list,
                       bool reasons)
{
    json_writer_open(w, key, '[');
    for (size_t i = 0; i < list->count; i++) {
        const struct reconcile_item *item = &list->items[i];
        const struct entry *template = item->template;

        json_writer_open(w, NULL, '{');
        report_put_identity(w, (struct identity){template->partition->type->api_version,
                                                 entry_kind(template), entry_ns(template),
                                                 template->name});
        if (reasons) {
            json_writer_text(w, "reason", reconcile_verdict_names[item->verdict]);
            json_writer_text(w, "message", reconcile_verdict_texts[item->verdict]);
        }
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
}

/* Append the same as members of the object that is open. It calls plan_undo(). */
static void reconcile_write(struct json_writer *w, const struct reconcile *r,
                            const struct options *o)
{
    unsigned refused = r->chosen.count > 0 ? reconcile_refusals(r, o) : 0;

    json_writer_text(w, "apiVersion", "karmada-policy-exporter/v1");
    json_writer_text(w, "kind", "Reconcile");
    json_writer_bool(w, "dryRun", !o->yes);
    json_writer_bool(w, "undo", o->undo);
    json_writer_text(w, "annotation", RECONCILE_ANNOTATION);
    json_writer_bit_names(w, "refused", refused, option_defs[OPTION_OF_accept].choices);
    json_writer_int(w, "current", (int64_t)r->current);
    json_writer_int(w, "reconciled", (int64_t)r->reconciled);
    json_writer_int(w, "beyond", (int64_t)r->beyond);
    write_list(w, "templates", &r->chosen, false);
    write_list(w, "notTouched", &r->left, true);
    report_put_plan(w, "plan", r->plan, r->result, r->engine);
}

/*
 * The hash of the version that --from-version names. A number may be another version's once this
 * one is out of force, while the present run goes on; the hash is not. False, having complained, if
 * there is none. A hash that is not known any more is one that no template runs.
 */
static bool read_version(const struct options *o, const struct invocation *invocation,
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
    invocation_print_error(invocation, err.text);
    return false;
}

/* Whom the options mean. False, having complained, if that is nobody. */
static bool read_wish(struct evaluation *e, const struct invocation *invocation,
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
    out->policy = load_object(e, 1U << CLASS_POLICY, o->policy, status, &err);
    if (out->policy && entry_class(out->policy) == CLASS_POLICY) {
        *status = STATUS_USAGE;
        return !out->version || read_version(o, invocation, out->policy, version);
    }
    if (out->policy)
        fail(&err, "'%s' is not a policy: write pp/NAMESPACE/NAME or cpp/NAME", o->policy);
    invocation_print_error(invocation, err.text);
    return false;
}

/* Say what would be done, and do it if that is wanted and not refused. */
static enum exit_status reconcile(struct evaluation *e, const struct invocation *invocation,
                                  const struct reconcile_filter *wish)
{
    const struct options *o = &e->options;
    struct reconcile *r = reconcile_new(e->engine, wish, !e->session);
    bool refused = r->chosen.count > 0 && reconcile_refusals(r, o);
    bool acts = o->yes && !refused && r->chosen.count > 0;
    enum exit_status status = refused ? STATUS_FOUND : STATUS_OK;
    bool document = document_is_requested(o->output);
    CLEANUP(output_release) struct output out;

    output_init(&out, invocation->out);

    struct json_writer w = {.out = &out.text, .lines = 2};

    if (document) {
        json_writer_open(&w, NULL, '{');
        reconcile_write(&w, r, o);
    } else {
        reconcile_print(r, o, wish->policy, &out);
        if (acts)
            status = invocation_print_output(invocation, &out, status);
    }
    reconcile_end_plan(r);
    if (acts && status == STATUS_OK)
        status = reconcile_act(e, invocation, wish, r, document ? &w : NULL);
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
    struct reconcile_filter wish;
    struct evaluation *e;

    if (*o->policy == '\0' && *o->selector == '\0')
        return invocation_reject(invocation,
                                 "nothing to reconcile: name a policy with --policy, or "
                                 "labels with -l");
    if (*o->from_version != '\0' && *o->policy == '\0')
        return invocation_reject(invocation,
                                 "--from-version is one of a policy's: name it with --policy");
    if (o->yes && o->manifests.count + o->arguments.count > 0)
        return invocation_reject(invocation,
                                 "--yes writes to an API server, and manifests are files: "
                                 "leave out one of them");
    if (o->batch == 0)
        return invocation_reject(invocation,
                                 "--batch 0 changes nothing: name one template or more");
    e = load_sources(invocation, &read);
    if (!e)
        return read;
    if (read != STATUS_OK)
        load_print_problems(e->manifests, invocation);
    if (read != STATUS_OK && e->options.yes) {
        invocation_print_error(invocation, "not everything could be read, so nothing is written");
        status = read;
    } else if (read_wish(e, invocation, &wish, &labels, version, &status)) {
        status = reconcile(e, invocation, &wish);
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
    .bit = COMMAND_RECONCILE,
    .takes_arguments = true,
    .run = run_reconcile,
};
