/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector.h"

#include "exporter/kube/api_resources.h"
#include "exporter/kube/server_response.h"
#include "metrics/model/event.h"
#include "metrics/rules/engine.h"

enum {
    PATH_MAX_BYTES = 16 * 1024,
    STREAM_PROVEN_MS = 1000, /* A stream that cannot resume fails within this time. */
    RECOVERY_STEP_MS = 37,   /* Spreads the retries of reflectors after an outage. */
};

/* ---- failures ---- */

void reflector_failure_set_failing(struct reflector_failure *f, bool failing)
{
    if (failing && !f->failing)
        f->context->failing_count++;
    else if (!failing && f->failing)
        f->context->failing_count--;
    f->failing = failing;
}

/* Records a failure. Warns once, if `retries` is not 0, since a single failure is normal. */
static void failure_record(struct reflector_failure *f, enum end_reason reason, const char *text,
                           unsigned retries, bool synced)
{
    const char *name = end_reason_name(reason);
    bool warn = !f->warned && retries > 0;

    snprintf(f->text, sizeof(f->text), "%s%s%s", name, *text ? ": " : "", text);
    f->warned = f->warned || warn;
    f->context->health_version += warn;
    log_write(f->context->log, warn ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG,
              synced ? "cannot read a resource; its last known objects stay in force"
                     : "cannot read a resource",
              "resource", f->resource, "api_version", f->api_version, "reason", name, "error",
              text);
}

/* Ends the failure state, and logs the recovery if a warning was logged. */
static void failure_clear(struct reflector_failure *f)
{
    if (f->warned)
        log_write(f->context->log, LOG_LEVEL_INFO, "a resource can be read again", "resource",
                  f->resource, "api_version", f->api_version);
    reflector_failure_set_failing(f, false);
    f->context->health_version += f->warned;
    f->warned = false;
    f->text[0] = '\0';
}

/* Marks the reflector as failing if the server did not respond, was unavailable or busy. */
static void failure_note_end(struct reflector_failure *f, const struct reflector_request_end *end)
{
    if (!end->unanswered && end->reason != END_UNAVAILABLE && end->reason != END_BUSY)
        return;
    reflector_failure_set_failing(f, true);
    f->failed_ms = f->context->now_ms;
    f->retry_after_ms = end->retry_after_ms;
}

void reflector_failure_log_polling(struct reflector_failure *f)
{
    if (f->polling_logged)
        return;
    f->polling_logged = true;
    f->context->health_version++;
    log_write(f->context->log, LOG_LEVEL_WARN,
              "no connection is left to watch a resource over HTTP/1.1; it is listed every 30 s; "
              "raise the limit of open files",
              "resource", f->resource, "api_version", f->api_version);
}

/* ---- one reflector ---- */

static void on_skipped_binding(void *context, const cJSON *object)
{
    const struct reflector *r = context;

    engine_note_other_binding(r->context->engine, object, r->context->clock_ms);
}

/* Creates a reflector, which starts with its first turn. */
static MUST_USE struct reflector *reflector_new(struct reflector_context *context,
                                                const struct reflector_spec *spec)
{
    struct reflector *r = xcalloc(1, sizeof(*r));
    enum object_class class = kind_of(spec->api_version, spec->kind)->class;
    bool binding = class == CLASS_BINDING;

    r->context = context;
    r->api_version = xstrdup(spec->api_version);
    r->kind = xstrdup(spec->kind);
    r->resource = xstrdup(spec->resource);
    r->ns = spec->ns ? xstrdup(spec->ns) : NULL;
    r->field_selector = spec->field_selector ? xstrdup(spec->field_selector) : NULL;
    r->metadata_only = spec->metadata_only;
    r->by_shard = spec->by_shard;
    r->required = spec->required;
    r->optional = spec->optional;
    r->supplement = spec->supplement;
    r->objects = (struct reflector_store){
        .store = context->store,
        .log = context->log,
        .filter = spec->unfiltered && !spec->by_binding ? NULL : context->filter,
        .by_binding = spec->by_binding,
        .by_subject = class == CLASS_EVENT,
        .resource = r->resource,
        .api_version = r->api_version,
        .kind = r->kind,
        .seed = context->random,
        .settings = spec->settings,
        .bound_templates_only = spec->bound_templates_only,
        .discovery = binding ? context->discovery : NULL,
        .origin = {.source = ++context->last_source},
    };
    if (class == CLASS_POLICY && r->objects.filter)
        r->objects.policies = context->engine;
    if (binding)
        r->objects.skipped = (struct skipped_observer){on_skipped_binding, r};
    r->failure = (struct reflector_failure){
        .context = context, .resource = r->resource, .api_version = r->api_version};
    reflector_request_init(&r->request, context->transport);
    /* A WatchList of bindings would begin with those of all shards; a list does not. */
    watch_init(&r->watch, context->streaming_lists && !(binding && r->by_shard), context->now_ms);
    r->restore_history.restores = context->restores;
    r->audited_ms = context->now_ms;
    stream_slot_init(&r->stream, &context->streams, r->required);
    context->reflector_count++;
    return r;
}

/*
 * Closes the request and its check, and leaves the limits. Returns true if the check is cut off and
 * cannot be repeated: the caller has to list.
 */
static bool close_request(struct reflector *r)
{
    reflector_request_close(&r->request);
    stream_slot_leave(&r->stream);
    list_limiter_leave(&r->context->limiter, &r->ticket);
    return restore_history_end_request(&r->restore_history);
}

/* Ends the watch; the objects stay in the store. Ignores NULL. */
static void reflector_free(struct reflector *r)
{
    if (!r)
        return;
    (void)close_request(r);
    restore_check_release(&r->restore_history.restore_check);
    reflector_store_release(&r->objects);
    watch_release(&r->watch);
    reflector_failure_set_failing(&r->failure, false);
    stream_slot_release(&r->stream);
    r->context->reflector_count--;
    free(r->api_version);
    free(r->kind);
    free(r->resource);
    free(r->ns);
    free(r->field_selector);
    free(r);
}

/* Reports a restore to all reflectors, unless this one has yet to react to an earlier report. */
static void announce_restore(struct reflector *r)
{
    if (r->restore_history.restores == r->context->restores) {
        reflector_context_note_restore(r->context);
        log_write(r->context->log, LOG_LEVEL_WARN,
                  "the API server was restored from a backup; reading all objects again",
                  "noticed_by", r->resource, "api_version", r->api_version);
    }
    r->restore_history.restores = r->context->restores;
}

/* Passes an input to the watch and applies its action; reflector_turn() opens the next request. */
static void process_input(struct reflector *r, struct watch_input input)
{
    input.now_ms = r->context->now_ms;
    input.random = reflector_context_random(r->context);

    if (input.kind == WATCH_ENDED) {
        r->last_end = input.reason;
        r->ended_ms = input.now_ms;
        /* A server without WatchList refuses it for all resources. */
        if (r->watch.phase == WATCH_INITIAL_EVENTS && input.reason == END_REFUSED)
            r->context->streaming_lists = false;
    }

    struct watch_action action = watch_process_input(&r->watch, &input);

    if (action.listed) {
        reflector_store_end_pass(&r->objects);
        if (restore_history_end_list(&r->restore_history, action.older))
            announce_restore(r);
        r->synced = true;
        r->last_end = END_REGULAR;
        list_limiter_leave(&r->context->limiter, &r->ticket);
        failure_clear(&r->failure);
    }
    if (action.open) {
        r->wants_open = true;
        r->restore_history.resumed = !action.listed;
    }
}

/* Sets the scope. Removes objects outside it; lists again if it has more objects or content. */
static void reflector_set_scope(struct reflector *r, bool bound_templates_only, bool metadata_only)
{
    bool more = r->objects.bound_templates_only && !bound_templates_only;
    bool fuller = r->metadata_only && !metadata_only;

    if (!r->objects.bound_templates_only && bound_templates_only)
        reflector_store_drop_unbound(&r->objects);
    r->objects.bound_templates_only = bound_templates_only;
    r->metadata_only = metadata_only;
    if (more || fuller)
        reflector_relist(r);
}

void reflector_append_name(const struct reflector *r, struct strbuf *out)
{
    append_resource_name_of(out, r->objects.settings ? r->objects.settings : r->api_version,
                            r->kind);
}

void reflector_relist(struct reflector *r)
{
    process_input(r, (struct watch_input){.kind = WATCH_RELIST});
}

void reflector_relist_most_recent(struct reflector *r)
{
    r->wants_open = false;
    process_input(r, (struct watch_input){.kind = WATCH_RESTORED});
}

/* ---- requests ---- */

void reflector_add_shard_selector(const struct reflector *r, bool list, struct strbuf *out)
{
    bool all_needed = reflector_reads_bindings(r) && (!list || r->watch.polled);

    if (r->by_shard && !all_needed)
        namespace_filter_add_shard_selector(r->context->filter, out);
}

/*
 * Drops the shardSelector if the server refuses it: with an error that names it, such as the status
 * 500 of Kubernetes 1.36 for an invalid selector, or with a client error for a first page.
 */
static void drop_refused_selector(struct reflector *r, const struct reflector_request_end *end)
{
    bool named = strstr(end->text, "shardSelector") || strstr(end->text, "shard selector");
    bool refused = end->reason == END_REFUSED && r->watch.phase == WATCH_LISTING && !r->watch.token;

    if (!r->by_shard || (!named && !refused))
        return;
    r->by_shard = false;
    log_write(r->context->log, LOG_LEVEL_WARN,
              "the API server refuses to select the objects of a shard; the exporter reads those "
              "of all shards and selects them itself",
              "resource", r->resource, "api_version", r->api_version, "error", end->text);
}

static void handle_response(void *context)
{
    struct reflector *r = context;

    r->answered_ms = r->context->now_ms;
    if (r->watch.phase != WATCH_LISTING)
        watch_note_bytes(&r->watch, 0, false, r->context->now_ms);
    reflector_context_note_response(r->context);
    if (r->watch.phase == WATCH_STREAMING)
        restore_history_check(&r->restore_history,
                              (struct restore_check_spec){
                                  .api_version = r->api_version,
                                  .kind = r->kind,
                                  .resource = r->resource,
                                  .ns = r->ns,
                                  .field_selector = r->field_selector,
                                  .metadata_only = r->metadata_only && !r->watch.full_objects,
                                  .position = r->watch.version,
                              },
                              r->context->now_ms);
}

static void handle_bytes(void *context, size_t bytes, bool cut)
{
    struct reflector *r = context;

    watch_note_bytes(&r->watch, bytes, cut, r->context->now_ms);
}

static bool handle_event(void *context, const struct watch_event *event)
{
    struct reflector *r = context;
    struct watch_input input = {.kind = WATCH_CHANGE, .version = event->version};

    r->last_event_ms = r->context->clock_ms;
    if (watch_version_goes_back(&r->watch, event->version)) {
        reflector_relist_most_recent(r);
        return false;
    }
    restore_history_note(&r->restore_history, &r->watch, event);
    switch (event->kind) {
    case EVENT_OBJECT:
        reflector_store_put(&r->objects, event->object);
        break;
    case EVENT_DELETED:
        reflector_store_remove(&r->objects, event->object);
        break;
    case EVENT_REJECTED:
        reflector_store_reject(&r->objects, event->object, event->reason);
        r->objects.too_large += event->too_large;
        if (event->unnamed)
            reflector_store_note_unnamed(&r->objects);
        break;
    case EVENT_BOOKMARK:
        input.kind = WATCH_BOOKMARK;
        break;
    case EVENT_INITIAL_END:
        input.kind = WATCH_INITIAL_END;
        break;
    case EVENT_ERROR:
        abort(); /* Handled by the request. */
    }
    if (r->watch.phase == WATCH_LISTING)
        return true;
    process_input(r, input);
    if (r->watch.phase == WATCH_STREAMING)
        failure_clear(&r->failure);
    return r->watch.phase != WATCH_WAITING;
}

static void handle_end(void *context, const struct reflector_request_end *end)
{
    struct reflector *r = context;
    struct watch_input input = {
        .kind = WATCH_ENDED, .reason = end->reason, .retry_after_ms = end->retry_after_ms};
    bool unsettled = restore_history_end_request(&r->restore_history);

    r->answered_ms = 0;
    stream_slot_leave(&r->stream);
    if (end->page) {
        input = (struct watch_input){
            .kind = WATCH_PAGE, .version = end->page->version, .token = end->page->token};
    } else {
        drop_refused_selector(r, end);
        if (end->reason != END_REGULAR)
            failure_record(&r->failure, end->reason, end->text, r->watch.retries, r->synced);
        failure_note_end(&r->failure, end);
    }
    process_input(r, input);
    if (unsettled)
        reflector_relist_most_recent(r);
    /* Ends the ticket, unless the list goes on with another page. */
    if (!r->wants_open || !r->watch.token)
        list_limiter_leave(&r->context->limiter, &r->ticket);
}

static void open_request(struct reflector *r)
{
    bool list = r->watch.phase == WATCH_LISTING;
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf shard = STRBUF_INIT(PATH_MAX_BYTES);

    reflector_add_shard_selector(r, list, &shard);
    if (r->watch.phase != WATCH_STREAMING && !r->watch.token) {
        reflector_store_begin_pass(&r->objects, r->watch.most_recent);
        restore_history_begin_list(&r->restore_history);
        if (shard.len > 0 && reflector_reads_bindings(r))
            engine_skip_other_bindings(r->context->engine, r->context->clock_ms);
    }
    r->wants_open = r->late = false;
    r->answered_ms = 0;
    url_add_resource_path(&path, r->api_version, r->ns ? r->ns : "", r->resource);
    url_add_watch_query(&path, &r->watch, &(struct selectors){r->field_selector, shard.data});
    reflector_request_open(
        &r->request, &(struct reflector_request_spec){
                         .path = path.data,
                         .accept = accept_header(r->metadata_only && !r->watch.full_objects, list),
                         .list = list,
                         .token = list ? r->watch.token : NULL,
                         .shard_selector = shard.data,
                         .api_version = r->api_version,
                         .kind = r->kind,
                         .handler = {handle_response, handle_bytes, handle_event, handle_end, r},
                     });
}

/* ---- lack of progress ---- */

/*
 * Returns the steady time at which the open stream proves that an earlier failure is over, even
 * without events; INT64_MAX: no failure, or no stream with a response.
 */
static int64_t proven_ms(const struct reflector *r)
{
    return r->failure.text[0] && r->answered_ms && r->watch.phase == WATCH_STREAMING
               ? r->answered_ms + STREAM_PROVEN_MS
               : INT64_MAX;
}

static bool is_listing(const struct reflector *r)
{
    return r->watch.phase == WATCH_LISTING || r->watch.phase == WATCH_INITIAL_EVENTS;
}

/* Returns the steady time at which to cancel the open request, or to end the wait of the watch. */
static int64_t deadline_ms(const struct reflector *r)
{
    const struct watch *w = &r->watch;
    int64_t stall_ms = list_limiter_stall_timeout(&r->context->limiter, &r->ticket, w->stalls);

    if (!is_listing(r) || stall_ms == INT64_MAX)
        return w->due_ms;
    stall_ms += progress_mark_ms(&w->lifetime.progress);
    return stall_ms < w->due_ms ? stall_ms : w->due_ms;
}

/* Returns the steady time at which to report a list, or WatchList, as late; INT64_MAX: never. */
static int64_t lateness_due_ms(const struct reflector *r)
{
    if (r->late || !is_listing(r))
        return INT64_MAX;
    if (r->request.transfer)
        return progress_mark_ms(&r->watch.lifetime.progress) + PROGRESS_LATE_MS;
    return r->ticket.state == TICKET_WAITING ? r->ticket.since_ms + PROGRESS_LATE_MS : INT64_MAX;
}

static void report_lateness(struct reflector *r)
{
    const char *reason = r->request.transfer ? watch_late_reason(&r->watch, r->context->now_ms)
                                             : "waits for the lists of other resources";

    r->late = true;
    r->last_end = r->request.transfer ? END_QUIET : r->last_end;
    r->context->health_version++;
    snprintf(r->failure.text, sizeof(r->failure.text), "%s: %s", end_reason_name(END_QUIET),
             reason);
}

static void end_silent_request(struct reflector *r)
{
    const char *fault = watch_late_reason(&r->watch, r->context->now_ms);

    /* A stream of changes may be silent, but not before its head or in the middle of an event. */
    if (r->watch.phase != WATCH_STREAMING || r->watch.lifetime.cut ||
        !r->watch.lifetime.progress.begun)
        failure_record(&r->failure, END_QUIET, fault, r->watch.retries, r->synced);
    process_input(r, (struct watch_input){.kind = WATCH_ENDED, .reason = END_QUIET});
}

/* ---- turns ---- */

static enum list_class class_of_list(const struct reflector *r)
{
    if (r->required)
        return LIST_REQUIRED;
    if (r->watch.stalls > 0)
        return LIST_STALLED;
    if (r->watch.polled && !r->watch.relist)
        return LIST_POLL;
    return r->synced ? LIST_RELIST : LIST_FIRST;
}

/* For lack of a connection, replaces WatchList by a list, or a stream of changes by polling. */
static void replace_stream(struct reflector *r)
{
    if (r->watch.phase == WATCH_INITIAL_EVENTS) {
        watch_disable_streaming_lists(&r->watch);
        return;
    }
    r->wants_open = false;
    watch_start_polling(&r->watch, reflector_context_random(r->context));
    reflector_failure_log_polling(&r->failure);
}

static void open_request_if_allowed(struct reflector *r)
{
    if (!r->context->streaming_lists)
        watch_disable_streaming_lists(&r->watch);
    if (r->watch.phase == WATCH_LISTING)
        stream_slot_leave(&r->stream);
    else if (!stream_slot_enter(&r->stream))
        replace_stream(r);
    if (!r->wants_open)
        return;
    if (r->watch.phase != WATCH_STREAMING && r->ticket.state != TICKET_OPEN &&
        !list_limiter_enter(&r->context->limiter, &r->ticket, class_of_list(r), r->context->now_ms))
        return;
    watch_note_opened(&r->watch, r->context->now_ms);
    open_request(r);
}

/*
 * Advances the check of the stream. Lists again if the check has found or suspects a restore, or
 * another reflector has found one.
 */
static void react_to_restore(struct reflector *r)
{
    enum restore_check_result result =
        restore_history_turn(&r->restore_history, r->context->transport, r->context->now_ms);

    if (result == RESTORE_CHECK_RESTORED)
        announce_restore(r);
    if (result == RESTORE_CHECK_RESTORED || result == RESTORE_CHECK_DOUBTFUL) {
        r->restore_history.expected = result == RESTORE_CHECK_RESTORED;
        reflector_relist_most_recent(r);
    } else if (r->restore_history.restores != r->context->restores) {
        r->restore_history.restores = r->context->restores;
        r->restore_history.expected = true;
        reflector_relist_most_recent(r);
    }
}

void reflector_turn(struct reflector *r)
{
    int64_t now_ms = r->context->now_ms;

    react_to_restore(r);
    if (r->failure.failing && reflector_context_is_recovered(r->context, r->failure.failed_ms)) {
        reflector_failure_set_failing(&r->failure, false);
        watch_note_recovery(&r->watch, r->failure.failed_ms, r->failure.retry_after_ms,
                            r->objects.origin.source * RECOVERY_STEP_MS);
    }
    if (now_ms >= proven_ms(r))
        failure_clear(&r->failure);
    if (!r->wants_open && now_ms >= deadline_ms(r)) {
        if (r->watch.phase == WATCH_WAITING)
            process_input(r, (struct watch_input){.kind = WATCH_TIMER});
        else
            end_silent_request(r);
    }
    if (now_ms >= lateness_due_ms(r))
        report_lateness(r);
    /* The watch no longer uses the open request: it waits, or demands another request. */
    if (r->request.transfer && (r->wants_open || r->watch.phase == WATCH_WAITING)) {
        bool check_lost = close_request(r);

        if (check_lost)
            reflector_relist_most_recent(r);
    }
    if (r->wants_open)
        open_request_if_allowed(r);
}

bool reflector_reads_refusals(const struct reflector *r)
{
    return r->field_selector && strcmp(r->field_selector, "reason=" EVENT_REFUSAL) == 0;
}

int64_t reflector_due(const struct reflector *r)
{
    int64_t due_ms =
        r->wants_open ? list_limiter_due(&r->context->limiter, &r->ticket) : deadline_ms(r);

    if (lateness_due_ms(r) < due_ms)
        due_ms = lateness_due_ms(r);
    if (restore_check_due(&r->restore_history.restore_check) < due_ms)
        due_ms = restore_check_due(&r->restore_history.restore_check);
    return proven_ms(r) < due_ms ? proven_ms(r) : due_ms;
}

/* ---- reflectors of a source ---- */

static bool is_same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Marks the reflector of the spec as wanted, after adding it if it is missing. */
static void mark_or_add_reflector(struct reflector_list *l, const struct reflector_spec *spec)
{
    struct reflector *found = NULL;

    for (size_t i = l->always_count; i < l->count && !found; i++) {
        struct reflector *r = l->items[i];

        if (r->objects.settings == spec->settings && strcmp(r->kind, spec->kind) == 0 &&
            strcmp(r->api_version, spec->api_version) == 0 &&
            strcmp(r->resource, spec->resource) == 0 && is_same_text(r->ns, spec->ns) &&
            is_same_text(r->field_selector, spec->field_selector))
            found = r;
    }
    if (found) {
        found->wants_relist =
            found->wants_relist || (spec->again && found->objects.bound_templates_only);
    } else {
        found = reflector_new(l->context, spec);
        l->items = xreallocarray(l->items, l->count + 1, sizeof(struct reflector *));
        l->items[l->count++] = found;
    }
    found->wanted = true;
    found->wanted_all = found->wanted_all || !spec->bound_templates_only;
    found->wanted_full = found->wanted_full || !spec->metadata_only;
}

/*
 * Returns true if objects in namespaces of other shards are not needed. Needed are their policies
 * (engine_put_other_policy()), and Events in other namespaces than the object that they are about.
 */
static bool is_limited_to_shard(const struct namespace_filter *filter,
                                const struct reflector_spec *spec)
{
    enum object_class class = kind_of(spec->api_version, spec->kind)->class;

    return filter->total_shards > 1 && !spec->ns && !spec->unfiltered && class != CLASS_POLICY &&
           class != CLASS_EVENT;
}

void reflector_list_mark_wanted(struct reflector_list *l, struct reflector_spec spec,
                                bool namespaced)
{
    const struct namespace_filter *filter = l->context->filter;
    bool by_name = namespaced && !spec.ns && !spec.unfiltered && filter->namespace_count > 0;
    bool policies = kind_of(spec.api_version, spec.kind)->class == CLASS_POLICY;

    spec.by_shard = namespaced && !by_name && is_limited_to_shard(filter, &spec);
    if (!by_name) {
        if (namespaced || spec.unfiltered || namespace_filter_allows(filter, ""))
            mark_or_add_reflector(l, &spec);
        return;
    }
    for (size_t i = 0; i < filter->namespace_count; i++) {
        spec.ns = filter->namespaces[i];
        if (policies ? namespace_filter_allows_in_any_shard(filter, spec.ns)
                     : namespace_filter_allows(filter, spec.ns))
            mark_or_add_reflector(l, &spec);
    }
}

void reflector_list_mark_kind_wanted(struct reflector_list *l, const struct kind_def *def,
                                     bool awaited)
{
    const struct kind_watch *watch = &def->watch;
    struct reflector_spec spec = {
        .api_version = watch->read_api_version ? watch->read_api_version : def->api_version,
        .kind = def->name,
        .resource = watch->resource,
        .ns = watch->only_namespace,
        .field_selector = watch->field_selector,
        .metadata_only = watch->metadata_only,
        .unfiltered = watch->unfiltered,
        .by_binding = watch->by_binding,
        .supplement = watch->supplement,
        .required = watch->required,
        .optional = watch->optional && !awaited,
        .settings = def->class == CLASS_SETTING ? def->api_version : NULL,
    };

    reflector_list_mark_wanted(l, spec, !def->cluster_scoped);
}

void reflector_list_mark_kinds_wanted(struct reflector_list *l, enum watch_condition when,
                                      bool awaited)
{
    size_t count;
    const struct kind_def *table = kind_table(&count);

    for (const struct kind_def *def = table; def < table + count; def++) {
        if (def->watch.when == when)
            reflector_list_mark_kind_wanted(l, def, awaited);
    }
}

void reflector_list_unmark_wanted(struct reflector_list *l)
{
    for (size_t i = l->always_count; i < l->count; i++) {
        struct reflector *r = l->items[i];

        r->wanted = r->wanted_all = r->wanted_full = false;
    }
}

void reflector_list_drop_unwanted(struct reflector_list *l)
{
    size_t kept = l->always_count;

    for (size_t i = l->always_count; i < l->count; i++) {
        struct reflector *r = l->items[i];

        if (r->wanted) {
            reflector_set_scope(r, !r->wanted_all, !r->wanted_full);
            l->items[kept++] = r;
            continue;
        }
        reflector_clear(r);
        reflector_free(r);
    }
    l->count = kept;
}

void reflector_list_release(struct reflector_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        reflector_free(l->items[i]);
    free(l->items);
    *l = (struct reflector_list){0};
}
