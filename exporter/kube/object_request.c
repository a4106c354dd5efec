/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/object_request.h"

#include "exporter/kube/server_response.h"
#include "exporter/system/url.h"
#include "metrics/base/number.h"

enum {
    PATH_MAX_BYTES = 16 * 1024,
    BODY_MAX_BYTES = 8 * 1024 * 1024, /* As for an object of a list (object_stream.c). */
};

/* Copies the first object with the requested name ("": any name) into the fetch. */
static bool receive_list_object(void *context, const struct watch_event *event)
{
    struct fetch *f = context;
    const char *name = json_str(json_get(event->object, "metadata"), "name", "");

    if (!event->object || f->object || (*f->name && strcmp(name, f->name) != 0))
        return true;
    f->object = cJSON_Duplicate(event->object, true);
    if (!f->object)
        memory_exhausted(0);
    return true;
}

static bool receive_fetch_body(void *context, unsigned http_status, const char *bytes, size_t len)
{
    struct fetch *f = context;

    f->received += len;
    if (f->lists && http_status == 200)
        return object_stream_feed(&f->list, bytes, len, &f->err);
    strbuf_add(&f->body, bytes, len);
    return strbuf_ok(&f->body);
}

static enum fetch_state read_fetched_object(struct fetch *f)
{
    f->object =
        object_parse(f->api_version, f->kind, f->list.fields, f->body.data, f->body.len, &f->err);
    return f->object ? FETCH_FOUND : FETCH_FAILED;
}

static enum fetch_state read_fetched_list(struct fetch *f)
{
    struct list_meta meta;

    if (!object_stream_finish_list(&f->list, &meta, &f->err))
        return FETCH_FAILED;
    bool complete = !meta.token;

    f->version = meta.version;
    free(meta.token);
    if (!f->object && !complete)
        fail(&f->err, "the list goes on after its first page: the object may be on another one");
    if (f->object)
        return FETCH_FOUND;
    return complete ? FETCH_MISSING : FETCH_FAILED;
}

static enum fetch_state read_fetch_error(struct fetch *f, const struct transport_result *result)
{
    unsigned http_status = result->http_status;
    struct status status;

    status_read_body(f->body.data, f->body.len, &status);
    fail(&f->err, "%s", status.message);
    /* A 404 without a Status comes from an unknown path or a proxy, and proves nothing. */
    if (http_status == 404 && status.code == 404)
        return FETCH_MISSING;
    f->retry_after_ms = result->retry_after_ms > 0 ? result->retry_after_ms : status.retry_after_ms;
    return http_status == 401 || http_status == 403 ? FETCH_FORBIDDEN : FETCH_FAILED;
}

static void receive_fetch_end(void *context, const struct transport_result *result)
{
    struct fetch *f = context;

    f->transfer = NULL;
    f->state = FETCH_FAILED;
    f->http_status = result->http_status;
    if (result->http_status == 0 || !strbuf_ok(&f->body))
        fail(&f->err, "%s", *result->error ? result->error : "the answer is too long");
    else if (result->http_status == 200 || result->http_status == 201)
        f->state = f->lists ? read_fetched_list(f) : read_fetched_object(f);
    else
        f->state = read_fetch_error(f, result);
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
    progress_begin(&f->progress, now_ms);
    f->name = xstrdup(id->name);
    f->lists = spec->list_query != NULL;
    object_stream_init(&f->list, JSON_FRAME_LIST, f->api_version, f->kind, receive_list_object, f);
    f->list.fields = spec->fields;
    url_add_resource_path(&path, id->api_version, id->ns, spec->resource);
    if (f->lists)
        strbuf_addf(&path, "?%s", spec->list_query);
    else if (spec->method != TRANSPORT_CREATE)
        url_add_segment(&path, id->name);
    if (spec->method != TRANSPORT_READ) {
        strbuf_addc(&path, '?');
        url_add_parameter(&path, "fieldManager", spec->field_manager);
    }
    f->transfer = transport.start(
        transport.context,
        &(struct transport_request){
            .path = path.data,
            .accept =
                accept_header(spec->metadata_only ? REQUEST_METADATA : REQUEST_OBJECTS, f->lists),
            .method = spec->method,
            .body = spec->body,
            .class = REQUEST_SHORT,
            .handler = {.data = receive_fetch_body, .done = receive_fetch_end, .context = f},
        });
    return f;
}

static void cancel_fetch(struct fetch *f)
{
    if (f->transfer)
        f->transport.cancel(f->transport.context, f->transfer);
    f->transfer = NULL;
}

void fetch_turn(struct fetch *f, int64_t now_ms)
{
    if (!f->transfer)
        return;
    if (f->received > f->progress.bytes)
        progress_note_bytes(&f->progress, f->received - f->progress.bytes, now_ms);
    if (now_ms < fetch_due(f))
        return;
    cancel_fetch(f);
    f->state = FETCH_FAILED;
    fail(&f->err, "%s", progress_late_reason(&f->progress, now_ms));
}

int64_t fetch_due(const struct fetch *f)
{
    return f->transfer ? progress_deadline(&f->progress, PROGRESS_SHORT_MS) : INT64_MAX;
}

void fetch_free(struct fetch *f)
{
    if (!f)
        return;
    cancel_fetch(f);
    strbuf_release(&f->body);
    object_stream_release(&f->list);
    cJSON_Delete(f->object);
    free(f->api_version);
    free(f->kind);
    free(f->name);
    free(f->version);
    free(f);
}

/* ---- cache of objects read by name ---- */

enum {
    LOOKUP_TIMEOUT_MS = 2000,
    RESULT_LIFETIME_MS = 10 * 1000,
    FAILURE_LIFETIME_MS = 1000,
    WEB_LOOKUP_COST_MS = 200, /* Five per second. */
    WEB_LOOKUP_BURST = 5,
    WEB_CREDIT_MAX_MS = WEB_LOOKUP_BURST * WEB_LOOKUP_COST_MS,
    LOOKUPS_MAX = 64, /* For all clients. */
};

struct lookup_query {
    struct lookup_query *next;
    struct fetch *fetch;
    char *ns;
    char *name;
    char *resource;
    bool metadata_only;
    bool timed_out;
    int64_t started_ms;
    int64_t expires_ms; /* Steady time; 0 until a turn after the request's end. */
};

struct lookup {
    struct transport transport;
    const struct namespace_filter *filter;
    struct lookup_query *queries;
    unsigned count;
    int64_t web_credit_ms; /* Each new lookup of a web client spends WEB_LOOKUP_COST_MS. */
    int64_t credit_updated_ms;
};

struct lookup *lookup_new(struct transport transport, const struct namespace_filter *filter,
                          int64_t now_ms)
{
    struct lookup *l = xcalloc(1, sizeof(*l));

    l->transport = transport;
    l->filter = filter;
    l->web_credit_ms = WEB_CREDIT_MAX_MS;
    l->credit_updated_ms = now_ms;
    return l;
}

static void free_query(struct lookup *l, struct lookup_query **at)
{
    struct lookup_query *q = *at;

    *at = q->next;
    fetch_free(q->fetch);
    free(q->ns);
    free(q->name);
    free(q->resource);
    free(q);
    l->count--;
}

void lookup_free(struct lookup *l)
{
    if (!l)
        return;
    while (l->queries)
        free_query(l, &l->queries);
    free(l);
}

static bool spend_web_credit(struct lookup *l, int64_t now_ms)
{
    l->web_credit_ms += now_ms - l->credit_updated_ms;
    l->credit_updated_ms = now_ms;
    if (l->web_credit_ms > WEB_CREDIT_MAX_MS)
        l->web_credit_ms = WEB_CREDIT_MAX_MS;
    if (l->web_credit_ms < WEB_LOOKUP_COST_MS)
        return false;
    l->web_credit_ms -= WEB_LOOKUP_COST_MS;
    return true;
}

static struct lookup_query *find_query(const struct lookup *l, const struct fetch_spec *spec)
{
    for (struct lookup_query *q = l->queries; q; q = q->next) {
        if (strcmp(q->name, spec->id.name) == 0 && strcmp(q->ns, spec->id.ns) == 0 &&
            strcmp(q->resource, spec->resource) == 0 && q->metadata_only == spec->metadata_only &&
            strcmp(q->fetch->api_version, spec->id.api_version) == 0)
            return q;
    }
    return NULL;
}

static struct lookup_query *add_query(struct lookup *l, const struct fetch_spec *spec,
                                      int64_t now_ms)
{
    struct lookup_query *q = xcalloc(1, sizeof(*q));

    *q = (struct lookup_query){
        .next = l->queries,
        .fetch = fetch_start(l->transport, spec, now_ms),
        .ns = xstrdup(spec->id.ns),
        .name = xstrdup(spec->id.name),
        .resource = xstrdup(spec->resource),
        .metadata_only = spec->metadata_only,
        .started_ms = now_ms,
    };
    l->queries = q;
    l->count++;
    return q;
}

static struct lookup_answer get_answer(const struct lookup_query *q)
{
    static const enum lookup_state states[] = {
        [FETCH_OPEN] = LOOKUP_WAITING,    [FETCH_FOUND] = LOOKUP_FOUND,
        [FETCH_MISSING] = LOOKUP_MISSING, [FETCH_FORBIDDEN] = LOOKUP_FORBIDDEN,
        [FETCH_FAILED] = LOOKUP_FAILED,
    };
    const struct fetch *f = q->fetch;

    if (q->timed_out)
        return (struct lookup_answer){LOOKUP_LATE, NULL, ""};
    return (struct lookup_answer){states[f->state], f->object, f->err.text};
}

struct lookup_answer lookup_object(struct lookup *l, const struct fetch_spec *spec,
                                   enum lookup_client client, int64_t now_ms)
{
    struct lookup_query *q = find_query(l, spec);

    if (!namespace_filter_allows(l->filter, spec->id.ns))
        return (struct lookup_answer){LOOKUP_OUTSIDE, NULL, ""};
    if (!q && (l->count >= LOOKUPS_MAX || (client == LOOKUP_WEB && !spend_web_credit(l, now_ms))))
        return (struct lookup_answer){LOOKUP_BUSY, NULL, ""};
    return get_answer(q ? q : add_query(l, spec, now_ms));
}

static void cancel_late_query(struct lookup_query *q, int64_t now_ms)
{
    if (q->fetch->state != FETCH_OPEN || now_ms < q->started_ms + LOOKUP_TIMEOUT_MS)
        return;
    cancel_fetch(q->fetch);
    q->timed_out = true;
}

/* Sets the expiry once, when the request has ended or timed out. */
static void set_query_expiry(struct lookup_query *q, int64_t now_ms)
{
    bool lasts = q->fetch->state == FETCH_FOUND || q->fetch->state == FETCH_MISSING ||
                 q->fetch->state == FETCH_FORBIDDEN;

    if (q->expires_ms == 0 && (q->fetch->state != FETCH_OPEN || q->timed_out))
        q->expires_ms = now_ms + (lasts ? RESULT_LIFETIME_MS : FAILURE_LIFETIME_MS);
}

void lookup_turn(struct lookup *l, int64_t now_ms)
{
    for (struct lookup_query **at = &l->queries; *at;) {
        cancel_late_query(*at, now_ms);
        set_query_expiry(*at, now_ms);
        if ((*at)->expires_ms && now_ms >= (*at)->expires_ms)
            free_query(l, at);
        else
            at = &(*at)->next;
    }
}

int64_t lookup_due(const struct lookup *l)
{
    int64_t due_ms = INT64_MAX;

    for (const struct lookup_query *q = l->queries; q; q = q->next) {
        int64_t at_ms = q->expires_ms ? q->expires_ms : q->started_ms + LOOKUP_TIMEOUT_MS;

        due_ms = at_ms < due_ms ? at_ms : due_ms;
    }
    return due_ms;
}

/* ---- writes of one annotation ---- */

enum {
    INTERVAL_MS = 1000 / ANNOTATE_PER_S,
    INTERVAL_MAX_MS = 5000,
    RETRY_MS = 500, /* Doubles with each failure. */
    FAILURES_MAX = 5,
    BUSY_MAX = 10,
};

void annotator_init(struct annotator *a, struct transport transport)
{
    *a = (struct annotator){.transport = transport, .interval_ms = INTERVAL_MS};
}

void annotator_release(struct annotator *a)
{
    fetch_free(a->fetch);
    free(a->patch);
    a->fetch = NULL;
    a->patch = NULL;
}

void annotator_start(struct annotator *a, const struct annotator_spec *spec)
{
    a->spec = spec;
    a->failures = a->busy = 0;
    a->version = 0;
    a->state = ANNOTATE_OPEN;
}

/* Decides whether to write. Returns ANNOTATE_OPEN with the patch prepared, else the final state. */
static enum annotator_state decide_write(struct annotator *a, const cJSON *metadata)
{
    const struct annotator_spec *spec = a->spec;
    const char *uid = json_str(metadata, "uid", "");
    const char *version = json_str(metadata, "resourceVersion", "");
    const char *value = json_str(json_get(metadata, "annotations"), spec->key, NULL);
    CLEANUP(json_cleanup) cJSON *patch = cJSON_CreateObject();
    cJSON *new_metadata = cJSON_AddObjectToObject(patch, "metadata");
    cJSON *annotations;

    if (uid_hashes_differ(uid_hash(uid), spec->uid_hash))
        return ANNOTATE_REPLACED;
    if (*json_str(metadata, "deletionTimestamp", ""))
        return ANNOTATE_DELETING;
    if (!*uid || !*version) {
        fail(&a->err, "the server's answer has no uid and no resourceVersion");
        return ANNOTATE_FAILED;
    }
    if (!spec->wanted(spec->context, value))
        return ANNOTATE_UNWANTED;
    cJSON_AddStringToObject(new_metadata, "uid", uid);
    cJSON_AddStringToObject(new_metadata, "resourceVersion", version);
    annotations = cJSON_AddObjectToObject(new_metadata, "annotations");
    if (spec->value)
        cJSON_AddStringToObject(annotations, spec->key, spec->value);
    else
        cJSON_AddNullToObject(annotations, spec->key);
    a->patch = cJSON_PrintUnformatted(patch);
    if (!a->patch)
        memory_exhausted(0);
    return ANNOTATE_OPEN;
}

/* Schedules another read of the object. Returns ANNOTATE_FAILED after too many errors. */
static enum annotator_state schedule_retry(struct annotator *a, const struct fetch *f,
                                           int64_t now_ms)
{
    bool is_busy = f->http_status == 429;
    int64_t wait_ms = f->retry_after_ms;

    a->err = f->err;
    if (is_busy) {
        a->interval_ms =
            a->interval_ms * 2 < INTERVAL_MAX_MS ? a->interval_ms * 2 : INTERVAL_MAX_MS;
        wait_ms = wait_ms > a->interval_ms ? wait_ms : a->interval_ms;
        a->busy++;
    } else {
        /* 409: the object has changed; read it again soon. */
        if (wait_ms == 0)
            wait_ms = f->http_status == 409 ? INTERVAL_MS : (int64_t)RETRY_MS << a->failures;
        a->failures++;
    }
    a->due_ms = now_ms + wait_ms;
    return a->failures >= FAILURES_MAX || a->busy >= BUSY_MAX ? ANNOTATE_FAILED : ANNOTATE_OPEN;
}

static enum annotator_state read_annotator_response(struct annotator *a, const struct fetch *f,
                                                    int64_t now_ms)
{
    const cJSON *metadata = json_get(f->object, "metadata");

    if (f->state == FETCH_MISSING)
        return ANNOTATE_GONE;
    if (f->state == FETCH_FAILED)
        return schedule_retry(a, f, now_ms);
    if (f->state == FETCH_FORBIDDEN) {
        a->err = f->err;
        return ANNOTATE_FORBIDDEN;
    }
    if (!a->writes)
        return decide_write(a, metadata);
    if (!parse_uint(json_str(metadata, "resourceVersion", ""), UINT64_MAX, &a->version))
        a->version = 0;
    /* Return to the full rate in steps. */
    a->interval_ms -= (a->interval_ms - INTERVAL_MS + 1) / 2;
    a->due_ms = a->read_ms + a->interval_ms;
    return ANNOTATE_WRITTEN;
}

enum annotator_state annotator_turn(struct annotator *a, int64_t now_ms)
{
    if (!a->spec || a->state != ANNOTATE_OPEN)
        return a->state;
    if (a->fetch) {
        struct fetch *ended = a->fetch;

        fetch_turn(ended, now_ms);
        if (ended->state == FETCH_OPEN)
            return a->state;
        a->fetch = NULL;
        a->state = read_annotator_response(a, ended, now_ms);
        fetch_free(ended);
    }
    /* Only reads wait: a change of the object would make a delayed patch fail. */
    if (a->state != ANNOTATE_OPEN || (!a->patch && now_ms < a->due_ms))
        return a->state;
    a->writes = a->patch != NULL;
    if (!a->writes)
        a->read_ms = now_ms;
    a->fetch = fetch_start(a->transport,
                           &(struct fetch_spec){
                               .id = a->spec->id,
                               .resource = a->spec->resource,
                               .metadata_only = true,
                               .method = a->patch ? TRANSPORT_MERGE : TRANSPORT_READ,
                               .body = a->patch,
                               .field_manager = a->spec->field_manager,
                           },
                           now_ms);
    free(a->patch);
    a->patch = NULL;
    return a->state;
}

int64_t annotator_due(const struct annotator *a)
{
    if (!a->spec || a->state != ANNOTATE_OPEN)
        return INT64_MAX;
    return a->fetch ? fetch_due(a->fetch) : a->due_ms;
}
