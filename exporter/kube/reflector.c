/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector.h"

#include "exporter/kube/query.h"

enum {
    PATH_MAX_BYTES = 16 * 1024,
    REFUSAL_MAX_BYTES = 8 * 1024,
    TRIES_BEFORE_SETTLED = 3,
};

uint32_t reflector_random(struct reflector_context *context)
{
    /* splitmix64: spread is all that is asked of it. */
    uint64_t z = context->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z >> 32);
}

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

struct reflector *reflector_new(struct reflector_context *context,
                                const struct reflector_spec *spec)
{
    struct reflector *f = xcalloc(1, sizeof(*f));

    f->context = context;
    f->api_version = xstrdup(spec->api_version);
    f->kind = xstrdup(spec->kind);
    f->resource = xstrdup(spec->resource);
    f->ns = copy(spec->ns);
    f->field_selector = copy(spec->field_selector);
    f->metadata_only = spec->metadata_only;
    f->required = spec->required;
    f->objects = (struct reflector_store){
        .store = context->store,
        .log = context->log,
        .filter = spec->unfiltered ? NULL : context->filter,
        .resource = f->resource,
        .api_version = f->api_version,
        .settings = spec->settings,
        .origin = {.source = ++context->last_source},
    };
    f->refusal = STRBUF_INIT(REFUSAL_MAX_BYTES);
    watch_init(&f->watch, context->streaming_lists, context->now_ms);
    return f;
}

static void leave_gate(struct reflector *f)
{
    if (f->entered)
        list_limiter_leave(&f->context->limiter);
    f->entered = false;
}

static void release_bodies(struct reflector *f)
{
    object_stream_release(&f->stream);
    strbuf_release(&f->refusal);
}

static void close_transfer(struct reflector *f)
{
    if (f->transfer)
        f->context->transport.cancel(f->context->transport.context, f->transfer);
    f->transfer = NULL;
    f->given_up = false;
    leave_gate(f);
    release_bodies(f);
}

void reflector_free(struct reflector *f)
{
    if (!f)
        return;
    close_transfer(f);
    watch_release(&f->watch);
    free(f->api_version);
    free(f->kind);
    free(f->resource);
    free(f->ns);
    free(f->field_selector);
    free(f);
}

void reflector_empty(struct reflector *f)
{
    reflector_store_clear(&f->objects);
    f->synced = false;
}

void reflector_forget(struct reflector *f)
{
    reflector_empty(f);
    reflector_free(f);
}

/* A single failure is part of life: people are told of the second in a row. */
static void tell_trouble(struct reflector *f, const char *reason, const char *text)
{
    bool warn = !f->warned && f->watch.stops > 0;

    snprintf(f->trouble, sizeof(f->trouble), "%s%s%s", reason, *text ? ": " : "", text);
    f->warned = f->warned || warn;
    log_write(f->context->log, warn ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG,
              "a resource cannot be read; its objects stay as they were", "resource", f->resource,
              "api_version", f->api_version, "reason", reason, "error", text);
}

static void end_trouble(struct reflector *f)
{
    if (f->warned)
        log_write(f->context->log, LOG_LEVEL_INFO, "a resource can be read again", "resource",
                  f->resource, "api_version", f->api_version);
    f->warned = false;
    f->trouble[0] = '\0';
}

static void sweep(struct reflector *f)
{
    reflector_store_end_pass(&f->objects);
    f->synced = true;
    f->last_stop = STOP_ENDED;
    leave_gate(f);
    end_trouble(f);
}

/* Take one event to the watch, and remember what it orders for the next turn. */
static void step(struct reflector *f, struct watch_event event)
{
    event.now_ms = f->context->now_ms;
    event.random = reflector_random(f->context);

    if (event.kind == WATCH_STOPPED) {
        f->last_stop = event.stop;
        f->stopped_ms = event.now_ms;
        /* What the server refuses to one it refuses to all: they need not ask. */
        if (f->watch.phase == WATCH_FILLING && event.stop == STOP_REFUSED)
            f->context->streaming_lists = false;
    }

    struct watch_order order = watch_step(&f->watch, &event);

    if (order.listed)
        sweep(f);
    if (order.open)
        f->wants_open = true;
}

/* ---- what bodies tell of ---- */

static bool give_up(struct reflector *f, enum watch_stop stop, const char *text)
{
    f->given_up = true;
    f->stop = stop;
    tell_trouble(f, watch_stop_name(stop), text);
    return false;
}

static bool take_news(void *context, const struct object_news *news)
{
    struct reflector *f = context;
    struct watch_event event = {.kind = WATCH_CHANGE, .version = news->version};

    f->last_event_ms = f->context->clock_ms;
    switch (news->kind) {
    case NEWS_OBJECT:
        reflector_store_put(&f->objects, news->object);
        break;
    case NEWS_REMOVED:
        reflector_store_remove(&f->objects, news->object);
        break;
    case NEWS_REJECTED:
        reflector_store_reject(&f->objects, news->object, news->reason);
        break;
    case NEWS_BOOKMARK:
        event.kind = WATCH_BOOKMARK;
        break;
    case NEWS_FILLED:
        event.kind = WATCH_FILLED;
        break;
    case NEWS_ERROR:
        f->retry_after_ms = news->status->retry_after_ms;
        return give_up(f, stop_of_error(news->status), news->status->message);
    }
    if (f->watch.phase == WATCH_LISTING)
        return true;
    step(f, event);
    if (f->watch.phase == WATCH_STREAMING)
        end_trouble(f);
    return f->watch.phase != WATCH_WAITING;
}

static bool take_data(void *context, unsigned http_status, const char *bytes, size_t len)
{
    struct reflector *f = context;
    struct error err;

    if (f->given_up)
        return false;
    if (http_status != 200) {
        /* The beginning says it all; the rest is let go. */
        size_t room = REFUSAL_MAX_BYTES - f->refusal.len;

        strbuf_add(&f->refusal, bytes, len < room ? len : room);
        return true;
    }
    if (object_stream_feed(&f->stream, bytes, len, &err))
        return true;
    return f->given_up || f->watch.phase == WATCH_WAITING ? false
                                                          : give_up(f, STOP_MALFORMED, err.text);
}

/* ---- requests ---- */

static struct watch_event refused(struct reflector *f, const struct transport_result *result)
{
    struct status status;

    status_read_body(f->refusal.data, f->refusal.len, &status);

    struct watch_event event = {
        .kind = WATCH_STOPPED,
        .stop = stop_of_response(result->http_status, &status),
        .retry_after_ms = result->retry_after_ms > status.retry_after_ms ? result->retry_after_ms
                                                                         : status.retry_after_ms,
    };
    tell_trouble(f, watch_stop_name(event.stop), status.message);
    return event;
}

static void list_done(struct reflector *f, const struct transport_result *result)
{
    struct watch_event event = {.kind = WATCH_STOPPED, .stop = STOP_LOST};
    struct list_facts facts = {0};
    struct error err;

    if (object_stream_finish_list(&f->stream, &facts, &err)) {
        event.kind = WATCH_PAGE;
        event.version = facts.version;
        event.token = facts.token;
    } else {
        event.stop = object_stream_is_cut(&f->stream) ? STOP_LOST : STOP_MALFORMED;
        tell_trouble(f, watch_stop_name(event.stop), *result->error ? result->error : err.text);
    }
    step(f, event);
    list_facts_release(&facts);
}

static void stream_done(struct reflector *f, const struct transport_result *result)
{
    struct watch_event event = {
        .kind = WATCH_STOPPED,
        .stop = result->complete ? STOP_ENDED : STOP_LOST,
    };

    if (!result->complete)
        tell_trouble(f, watch_stop_name(event.stop), result->error);
    step(f, event);
}

static void take_done(void *context, const struct transport_result *result)
{
    struct reflector *f = context;

    f->transfer = NULL;
    if (f->given_up) {
        step(f, (struct watch_event){
                    .kind = WATCH_STOPPED, .stop = f->stop, .retry_after_ms = f->retry_after_ms});
    } else if (result->http_status == 0) {
        tell_trouble(f, watch_stop_name(STOP_LOST), result->error);
        step(f, (struct watch_event){.kind = WATCH_STOPPED, .stop = STOP_LOST});
    } else if (result->http_status != 200) {
        step(f, refused(f, result));
    } else if (f->watch.phase == WATCH_LISTING) {
        list_done(f, result);
    } else {
        stream_done(f, result);
    }
    f->given_up = false;
    release_bodies(f);
    /* A list keeps its place until its last page. */
    if (!f->wants_open || !f->watch.token)
        leave_gate(f);
}

static const char *accept_of(const struct reflector *f)
{
    if (!f->metadata_only || f->watch.plain)
        return "application/json";
    if (f->watch.phase == WATCH_LISTING)
        return "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
    return "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
}

static void write_path(const struct reflector *f, struct strbuf *out)
{
    bool core = !strchr(f->api_version, '/');

    strbuf_addf(out, "/%s/%s", core ? "api" : "apis", f->api_version);
    if (f->ns)
        strbuf_addf(out, "/namespaces/%s", f->ns);
    strbuf_addf(out, "/%s?", f->resource);
    watch_query(&f->watch, out);
    if (f->field_selector)
        query_add(out, "fieldSelector", f->field_selector);
}

static void open_request(struct reflector *f)
{
    bool list = f->watch.phase == WATCH_LISTING;
    struct strbuf path = STRBUF_INIT(PATH_MAX_BYTES);

    if (f->watch.phase != WATCH_STREAMING && !f->watch.token)
        reflector_store_begin_pass(&f->objects);
    f->wants_open = false;
    f->retry_after_ms = 0;
    object_stream_init(&f->stream, list ? FRAME_LIST : FRAME_EVENTS, f->api_version, f->kind,
                       take_news, f);
    write_path(f, &path);
    f->transfer = f->context->transport.start(
        f->context->transport.context,
        &(struct transport_request){
            .path = path.data,
            .accept = accept_of(f),
            .lane = list ? REQUEST_SHORT : REQUEST_STREAM,
            .handler = {.data = take_data, .done = take_done, .context = f},
        });
    strbuf_release(&path);
}

void reflector_turn(struct reflector *f)
{
    if (f->context->now_ms >= f->watch.due_ms && !f->wants_open)
        step(f, (struct watch_event){.kind = WATCH_TIMER});
    if (f->transfer && (f->wants_open || f->watch.phase == WATCH_WAITING))
        close_transfer(f);
    if (!f->wants_open)
        return;
    if (f->watch.phase != WATCH_STREAMING && !f->entered) {
        if (!list_limiter_enter(&f->context->limiter, f->context->now_ms))
            return;
        f->entered = true;
    }
    if (!f->context->streaming_lists)
        watch_list_only(&f->watch);
    watch_opened(&f->watch, f->context->now_ms);
    open_request(f);
}

int64_t reflector_due(const struct reflector *f)
{
    return f->wants_open ? list_limiter_due(&f->context->limiter) : f->watch.due_ms;
}

bool reflector_settled(const struct reflector *f)
{
    bool refused = f->last_stop == STOP_FORBIDDEN || f->last_stop == STOP_ABSENT;

    return f->synced || f->watch.stops >= TRIES_BEFORE_SETTLED || (f->watch.stops > 0 && refused);
}
