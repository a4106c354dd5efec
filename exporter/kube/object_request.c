/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/object_request.h"

#include "exporter/kube/server_response.h"
#include "exporter/system/url.h"
#include "metrics/base/number.h"

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
    f->object = object_parse(f->api_version, f->kind, f->body.data, f->body.len, &f->err);
    return f->object ? FETCH_FOUND : FETCH_FAILED;
}

static enum fetch_state read_list(struct fetch *f)
{
    struct list_meta facts;

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
    progress_begin(&f->progress, now_ms);
    f->name = xstrdup(id->name);
    f->lists = spec->list_query != NULL;
    object_stream_init(&f->list, JSON_FRAME_LIST, f->api_version, f->kind, receive_object, f);
    url_add_resource_path(&path, id->api_version, id->ns, spec->resource);
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
                            .accept = accept_header(spec->metadata_only, f->lists),
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
        progress_note_bytes(&f->progress, f->received - f->progress.bytes, now_ms);
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

enum {
    PATIENCE_MS = 2000,
    KEPT_MS = 10 * 1000,
    FAILURE_KEPT_MS = 1000,
    COST_MS = 200, /* Five a second, */
    BURST = 5,     /* after five at once. */
    CREDIT_MAX_MS = BURST * COST_MS,
    KEPT_MAX = 64, /* What the others ask for counts here, too. */
};

struct lookup_query {
    struct lookup_query *next;
    struct fetch *fetch;
    char *ns;
    char *name;
    char *resource;
    bool metadata_only;
    bool late;
    int64_t asked_ms;
    int64_t until_ms; /* When it is forgotten, once it has been answered. */
};

struct lookup {
    struct transport transport;
    const struct namespace_filter *filter;
    struct lookup_query *questions;
    unsigned count;
    int64_t credit_ms; /* Time saved up by web clients. */
    int64_t updated_ms;
};

struct lookup *lookup_new(struct transport transport, const struct namespace_filter *filter,
                          int64_t now_ms)
{
    struct lookup *l = xcalloc(1, sizeof(*l));

    *l = (struct lookup){
        .transport = transport, .filter = filter, .credit_ms = CREDIT_MAX_MS, .updated_ms = now_ms};
    return l;
}

static void forget(struct lookup *l, struct lookup_query **at)
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
    while (l->questions)
        forget(l, &l->questions);
    free(l);
}

static bool spend(struct lookup *l, int64_t now_ms)
{
    l->credit_ms += now_ms - l->updated_ms;
    l->updated_ms = now_ms;
    if (l->credit_ms > CREDIT_MAX_MS)
        l->credit_ms = CREDIT_MAX_MS;
    if (l->credit_ms < COST_MS)
        return false;
    l->credit_ms -= COST_MS;
    return true;
}

static struct lookup_query *find(const struct lookup *l, const struct fetch_spec *spec)
{
    for (struct lookup_query *q = l->questions; q; q = q->next) {
        if (strcmp(q->name, spec->id.name) == 0 && strcmp(q->ns, spec->id.ns) == 0 &&
            strcmp(q->resource, spec->resource) == 0 && q->metadata_only == spec->metadata_only &&
            strcmp(q->fetch->api_version, spec->id.api_version) == 0)
            return q;
    }
    return NULL;
}

static struct lookup_query *ask(struct lookup *l, const struct fetch_spec *spec, int64_t now_ms)
{
    struct lookup_query *q = xcalloc(1, sizeof(*q));

    *q = (struct lookup_query){
        .next = l->questions,
        .fetch = fetch_start(l->transport, spec, now_ms),
        .ns = xstrdup(spec->id.ns),
        .name = xstrdup(spec->id.name),
        .resource = xstrdup(spec->resource),
        .metadata_only = spec->metadata_only,
        .asked_ms = now_ms,
    };
    l->questions = q;
    l->count++;
    return q;
}

static struct lookup_answer answer(const struct lookup_query *q)
{
    static const enum lookup_state states[] = {
        [FETCH_OPEN] = LOOKUP_WAITING,    [FETCH_FOUND] = LOOKUP_FOUND,
        [FETCH_MISSING] = LOOKUP_MISSING, [FETCH_FORBIDDEN] = LOOKUP_FORBIDDEN,
        [FETCH_FAILED] = LOOKUP_FAILED,
    };
    const struct fetch *f = q->fetch;

    if (q->late)
        return (struct lookup_answer){LOOKUP_LATE, NULL, ""};
    return (struct lookup_answer){states[f->state], f->object, f->err.text};
}

struct lookup_answer lookup_object(struct lookup *l, const struct fetch_spec *spec,
                                   enum lookup_client client, int64_t now_ms)
{
    struct lookup_query *q = find(l, spec);

    if (!namespace_filter_allows(l->filter, spec->id.ns))
        return (struct lookup_answer){LOOKUP_OUTSIDE, NULL, ""};
    if (!q && (l->count >= KEPT_MAX || (client == LOOKUP_WEB && !spend(l, now_ms))))
        return (struct lookup_answer){LOOKUP_BUSY, NULL, ""};
    return answer(q ? q : ask(l, spec, now_ms));
}

/* Whoever still waits is told at the next question; nobody keeps a request open for nobody. */
static void look_at(struct lookup_query *q, int64_t now_ms)
{
    bool open = q->fetch->state == FETCH_OPEN;
    bool lasts = q->fetch->state == FETCH_FOUND || q->fetch->state == FETCH_MISSING ||
                 q->fetch->state == FETCH_FORBIDDEN;

    if (q->until_ms)
        return;
    if (!open)
        q->until_ms = now_ms + (lasts ? KEPT_MS : FAILURE_KEPT_MS);
    else if (now_ms >= q->asked_ms + PATIENCE_MS) {
        fetch_stop(q->fetch);
        q->late = true;
        q->until_ms = now_ms + FAILURE_KEPT_MS;
    }
}

void lookup_turn(struct lookup *l, int64_t now_ms)
{
    for (struct lookup_query **at = &l->questions; *at;) {
        look_at(*at, now_ms);
        if ((*at)->until_ms && now_ms >= (*at)->until_ms)
            forget(l, at);
        else
            at = &(*at)->next;
    }
}

int64_t lookup_due(const struct lookup *l)
{
    int64_t due_ms = INT64_MAX;

    for (const struct lookup_query *q = l->questions; q; q = q->next) {
        int64_t at_ms = q->until_ms ? q->until_ms : q->asked_ms + PATIENCE_MS;

        due_ms = at_ms < due_ms ? at_ms : due_ms;
    }
    return due_ms;
}

enum {
    INTERVAL_MS = 1000 / ANNOTATE_PER_S,
    INTERVAL_MAX_MS = 5000,
    RETRY_MS = 500, /* Doubled with each failure. */
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

/* What has been read decides whether to write, and at which version. */
static enum annotator_state decide(struct annotator *a, const cJSON *metadata)
{
    const struct annotator_spec *spec = a->spec;
    const char *uid = json_str(metadata, "uid", "");
    const char *version = json_str(metadata, "resourceVersion", "");
    const char *value = json_str(json_get(metadata, "annotations"), spec->key, NULL);
    CLEANUP(json_cleanup) cJSON *patch = cJSON_CreateObject();
    cJSON *fresh = cJSON_AddObjectToObject(patch, "metadata");
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
    cJSON_AddStringToObject(fresh, "uid", uid);
    cJSON_AddStringToObject(fresh, "resourceVersion", version);
    annotations = cJSON_AddObjectToObject(fresh, "annotations");
    if (spec->value)
        cJSON_AddStringToObject(annotations, spec->key, spec->value);
    else
        cJSON_AddNullToObject(annotations, spec->key);
    a->patch = cJSON_PrintUnformatted(patch);
    if (!a->patch)
        memory_exhausted(0);
    return ANNOTATE_OPEN;
}

/* The object is read again after a while, unless that has been done often enough. */
static enum annotator_state retry(struct annotator *a, const struct fetch *f, int64_t now_ms)
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
        /* What changes while we look at it is looked at again at once. */
        if (wait_ms == 0)
            wait_ms = f->http_status == 409 ? INTERVAL_MS : (int64_t)RETRY_MS << a->failures;
        a->failures++;
    }
    a->due_ms = now_ms + wait_ms;
    return a->failures >= FAILURES_MAX || a->busy >= BUSY_MAX ? ANNOTATE_FAILED : ANNOTATE_OPEN;
}

static enum annotator_state receive(struct annotator *a, const struct fetch *f, int64_t now_ms)
{
    const cJSON *metadata = json_get(f->object, "metadata");

    if (f->state == FETCH_MISSING)
        return ANNOTATE_GONE;
    if (f->state == FETCH_FAILED)
        return retry(a, f, now_ms);
    if (f->state == FETCH_FORBIDDEN) {
        a->err = f->err;
        return ANNOTATE_FORBIDDEN;
    }
    if (!a->writes)
        return decide(a, metadata);
    if (!parse_uint(json_str(metadata, "resourceVersion", ""), UINT64_MAX, &a->version))
        a->version = 0;
    /* The server keeps up: back to the full rate, step by step. */
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
        a->state = receive(a, ended, now_ms);
        fetch_free(ended);
    }
    /* What has been read is written at once: the longer that takes, the sooner it has changed. */
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
