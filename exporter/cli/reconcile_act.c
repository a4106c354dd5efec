/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/reconcile_act.h"

#include "exporter/cli/fates.h"
#include "exporter/kube/object_request.h"
#include "exporter/system/platform.h"
#include "exporter/system/signals.h"
#include "metrics/base/timestamp.h"
#include "metrics/model/store.h"

enum {
    SLICE_MS = 50,
    EVALUATION_BATCH = 1024,
    LINE_MAX_BYTES = 8192,
    SECOND_MS = 1000,
};
static const int64_t year_ms = INT64_C(366) * 24 * 3600 * SECOND_MS;

static const char field_manager[] = "karmada-policy-exporter-reconcile";

struct act {
    struct evaluation *e;
    const struct reconcile_filter *wish;
    struct fates fates;
    struct annotate annotate;
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
    annotate_turn(&a->annotate, now_ms);
    if (annotate_due(&a->annotate) < until_ms)
        until_ms = annotate_due(&a->annotate);
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
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
    const struct annotate *answer = &a->annotate;
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
    const struct annotate_spec spec = {
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
    annotate_start(&a->annotate, &spec);
    while (a->annotate.state == ANNOTATE_OPEN)
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
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
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

enum exit_status reconcile_act(struct evaluation *e, const struct command *command,
                               const struct reconcile_filter *wish, const struct reconcile *r,
                               struct json_writer *w)
{
    struct act a = {.e = e, .wish = wish};
    const struct options *o = &e->options;
    bool going = true;
    struct error err;

    if (!signals_open(&a.signals, &err)) {
        command_complain(command, err.text);
        return STATUS_USAGE;
    }
    fates_init(&a.fates, &r->chosen, w ? -1 : command->out);
    annotate_init(&a.annotate, kube_session_transport(e->session));
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
    annotate_release(&a.annotate);
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
