/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/fetch.h"

#include "exporter/kube/query.h"
#include "exporter/system/url.h"

enum {
    PATH_MAX_BYTES = 16 * 1024,
    BODY_MAX_BYTES = 8 * 1024 * 1024, /* As of objects in lists. */
};

/* An object of the list: it is the first that is looked for, or ends with the call. */
static bool receive_object(void *context, const struct watch_event *event)
{
    struct fetch *f = context;
    const char *name = json_str(json_get(event->object, "metadata"), "name", "");

    if (!event->object || f->object || (*f->name && strcmp(name, f->name) != 0))
        return true;
    f->object = cJSON_CreateObject();
    if (!f->object)
        memory_exhausted(0);
    f->object->child = event->object->child;
    event->object->child = NULL;
    return true;
}

static bool receive_bytes(void *context, unsigned http_status, const char *bytes, size_t len)
{
    struct fetch *f = context;

    f->received += len;
    if (f->lists && http_status == 200)
        return object_stream_feed(&f->list, bytes, len, &f->err);
    strbuf_add(&f->body, bytes, len);
    return strbuf_ok(&f->body);
}

static enum fetch_state read_object(struct fetch *f)
{
    f->object = object_read(f->api_version, f->kind, f->body.data, f->body.len, &f->err);
    return f->object ? FETCH_FOUND : FETCH_FAILED;
}

static enum fetch_state read_list(struct fetch *f)
{
    struct list_facts facts;

    if (!object_stream_finish_list(&f->list, &facts, &f->err))
        return FETCH_FAILED;
    bool complete = !facts.token;

    f->version = facts.version;
    free(facts.token);
    if (!f->object && !complete)
        fail(&f->err, "the list goes on after its first page: the object may be on another one");
    if (f->object)
        return FETCH_FOUND;
    return complete ? FETCH_MISSING : FETCH_FAILED;
}

static enum fetch_state read_refusal(struct fetch *f, const struct transport_result *result)
{
    unsigned http_status = result->http_status;
    struct status status;

    status_read_body(f->body.data, f->body.len, &status);
    fail(&f->err, "%s", status.message);
    /* Without a Status it is the path that is unknown, or a proxy that speaks. */
    if (http_status == 404 && status.code == 404)
        return FETCH_MISSING;
    f->retry_after_ms = result->retry_after_ms > 0 ? result->retry_after_ms : status.retry_after_ms;
    return http_status == 401 || http_status == 403 ? FETCH_FORBIDDEN : FETCH_FAILED;
}

static void request_ended(void *context, const struct transport_result *result)
{
    struct fetch *f = context;

    f->transfer = NULL;
    f->state = FETCH_FAILED;
    f->http_status = result->http_status;
    if (result->http_status == 0 || !strbuf_ok(&f->body))
        fail(&f->err, "%s", *result->error ? result->error : "the answer is too long");
    else if (result->http_status == 200 || result->http_status == 201)
        f->state = f->lists ? read_list(f) : read_object(f);
    else
        f->state = read_refusal(f, result);
    strbuf_release(&f->body);
    object_stream_release(&f->list);
}

struct fetch *fetch_start(struct transport transport, const struct fetch_spec *spec, int64_t now_ms)
{
    struct fetch *f = xcalloc(1, sizeof(*f));
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_MAX_BYTES);
    const struct identity *id = &spec->id;

    f->transport = transport;
    f->api_version = xstrdup(id->api_version);
    f->kind = xstrdup(id->kind);
    f->body = STRBUF_INIT(BODY_MAX_BYTES);
    progress_open(&f->progress, now_ms);
    f->name = xstrdup(id->name);
    f->lists = spec->list_query != NULL;
    object_stream_init(&f->list, JSON_FRAME_LIST, f->api_version, f->kind, receive_object, f);
    query_path(&path, id->api_version, id->ns, spec->resource);
    if (f->lists)
        strbuf_addf(&path, "?%s", spec->list_query);
    else if (spec->method != TRANSPORT_CREATE)
        url_segment(&path, id->name);
    if (spec->method != TRANSPORT_READ) {
        strbuf_addc(&path, '?');
        url_add(&path, "fieldManager", spec->field_manager);
    }
    f->transfer =
        transport.start(transport.context,
                        &(struct transport_request){
                            .path = path.data,
                            .accept = query_accept(spec->metadata_only, f->lists),
                            .method = spec->method,
                            .body = spec->body,
                            .class = REQUEST_SHORT,
                            .handler = {.data = receive_bytes, .done = request_ended, .context = f},
                        });
    return f;
}

void fetch_turn(struct fetch *f, int64_t now_ms)
{
    if (!f->transfer)
        return;
    if (f->received > f->progress.bytes)
        progress_heard(&f->progress, f->received - f->progress.bytes, now_ms);
    if (now_ms < fetch_due(f))
        return;
    fetch_stop(f);
    f->state = FETCH_FAILED;
    fail(&f->err, "%s", progress_fault(&f->progress, now_ms));
}

int64_t fetch_due(const struct fetch *f)
{
    return f->transfer ? progress_deadline(&f->progress, PROGRESS_SHORT_MS) : INT64_MAX;
}

void fetch_stop(struct fetch *f)
{
    if (f->transfer)
        f->transport.cancel(f->transport.context, f->transfer);
    f->transfer = NULL;
}

void fetch_free(struct fetch *f)
{
    if (!f)
        return;
    fetch_stop(f);
    strbuf_release(&f->body);
    object_stream_release(&f->list);
    cJSON_Delete(f->object);
    free(f->api_version);
    free(f->kind);
    free(f->name);
    free(f->version);
    free(f);
}
