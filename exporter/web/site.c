/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/site.h"

#include <pthread.h>
#include <stdatomic.h>

#include "exporter/system/platform.h"
#include "exporter/web/list_format.h"
#include "exporter/web/request.h"
#include "exporter/web/response.h"

enum { TEXT_MAX = 256, ERROR_MAX = 4096, VERBOSE_MAX = 128 * 1024 };

/* A name that is not a text does not compile: nothing else follows "". */
#define HANDLER_NAME(id, name, ...)       "" name,
#define HANDLER_PATH(id, name, path, ...) path,

const char *const server_handler_names[SERVER_HANDLERS] = {
    PAGES(HANDLER_NAME) ENDPOINTS(HANDLER_NAME) ANSWERS(HANDLER_NAME)};

/* Compared whole, as decoded. NULL: the telemetry path. */
static const char *const paths[SERVER_HANDLERS] = {PAGES(HANDLER_PATH) ENDPOINTS(HANDLER_PATH)
                                                       ANSWERS(HANDLER_PATH)};

/* The endpoint that a handler stands for; NULL if it is none. They follow the pages, in order. */
static const struct endpoint *endpoint_of(enum server_handler handler)
{
    unsigned at = (unsigned)handler - PAGE_COUNT;

    return at < ENDPOINT_COUNT ? &endpoints[at] : NULL;
}

const char *const server_code_names[SERVER_CODES] = {
    [SERVER_200] = "200", [SERVER_400] = "400", [SERVER_404] = "404", [SERVER_405] = "405",
    [SERVER_410] = "410", [SERVER_413] = "413", [SERVER_500] = "500", [SERVER_503] = "503",
};

static const unsigned statuses[SERVER_CODES] = {
    [SERVER_200] = MHD_HTTP_OK,
    [SERVER_400] = MHD_HTTP_BAD_REQUEST,
    [SERVER_404] = MHD_HTTP_NOT_FOUND,
    [SERVER_405] = MHD_HTTP_METHOD_NOT_ALLOWED,
    [SERVER_410] = MHD_HTTP_GONE,
    [SERVER_413] = MHD_HTTP_CONTENT_TOO_LARGE,
    [SERVER_500] = MHD_HTTP_INTERNAL_SERVER_ERROR,
    [SERVER_503] = MHD_HTTP_SERVICE_UNAVAILABLE,
};

/* The answers that are always the same. */
enum reply {
    REPLY_HEALTHY,
    REPLY_MALFORMED,
    REPLY_METHOD,
    REPLY_CONTENT,
    REPLY_NOT_FOUND,
    REPLIES
};

static const struct reply_def {
    unsigned status;
    const char *text;
    const char *header, *value; /* NULL: none of its own. */
    bool close;                 /* End the connection: there may be a body that we do not read. */
} reply_defs[REPLIES] = {
    [REPLY_HEALTHY] = {MHD_HTTP_OK, "karmada-policy-exporter is Healthy.\n", NULL, NULL, false},
    [REPLY_MALFORMED] = {MHD_HTTP_BAD_REQUEST, "bad request\n", NULL, NULL, true},
    [REPLY_METHOD] = {MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed: use GET or HEAD\n",
                      MHD_HTTP_HEADER_ALLOW, "GET, HEAD", true},
    [REPLY_CONTENT] = {MHD_HTTP_CONTENT_TOO_LARGE, "a request must not have a body\n", NULL, NULL,
                       true},
    [REPLY_NOT_FOUND] = {MHD_HTTP_NOT_FOUND, "not found\n", NULL, NULL, false},
};

struct site {
    struct site_parts parts;
    char *telemetry_path; /* A copy. */
    struct MHD_Response *replies[REPLIES];
    pthread_mutex_t lock; /* Guards the three below, not what the response holds. */
    struct MHD_Response *readiness;
    char *ready_text; /* What it says. */
    unsigned ready_status;
    _Atomic uint64_t requests[SERVER_HANDLERS][SERVER_CODES];
};

static struct MHD_Response *make_text(const char *text)
{
    return response_new(xstrdup(text), strlen(text), RESPONSE_TEXT);
}

static struct MHD_Response *make_unavailable(const char *text)
{
    struct MHD_Response *response = make_text(text);

    response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, RESPONSE_RETRY_SECONDS);
    return response;
}

static enum MHD_Result send_reply(struct site *s, struct MHD_Connection *connection,
                                  enum reply reply, unsigned *out_status)
{
    *out_status = reply_defs[reply].status;
    return MHD_queue_response(connection, *out_status, s->replies[reply]);
}

/* Does the query have "verbose", with or without a value? */
static bool is_verbose(struct MHD_Connection *connection)
{
    static const char name[] = "verbose";
    const char *value;
    size_t len;

    return MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, name, strlen(name),
                                         &value, &len) == MHD_YES;
}

/* As kube-apiserver writes it: a line for the check, why it failed, and a line for the whole. */
static struct MHD_Response *make_verbose(enum server_handler handler, const char *check,
                                         bool passed, const char *text)
{
    struct strbuf out = STRBUF_INIT(VERBOSE_MAX);
    size_t len;

    strbuf_addf(&out, "[%c]%s %s\n%s%s check %s\n", passed ? '+' : '-', check,
                passed ? "ok" : "failed", passed ? "" : text, server_handler_names[handler],
                passed ? "passed" : "failed");
    char *bytes = strbuf_take(&out, &len);
    struct MHD_Response *response = response_new(bytes, len, RESPONSE_TEXT);

    if (!passed)
        response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, RESPONSE_RETRY_SECONDS);
    return response;
}

static enum MHD_Result send_once(struct MHD_Connection *connection, unsigned status,
                                 struct MHD_Response *response)
{
    enum MHD_Result result = MHD_queue_response(connection, status, response);

    MHD_destroy_response(response);
    return result;
}

/* Asked of the loop's heart by the thread that answers: a page would be as old as the loop is. */
static enum MHD_Result send_health(struct site *s, struct MHD_Connection *connection,
                                   enum server_handler handler, unsigned *out_status)
{
    const struct heartbeat *heartbeat = s->parts.heartbeat;
    int64_t age_ms = heartbeat ? heartbeat_age_ms(heartbeat, platform_steady_ms()) : 0;
    bool beats = age_ms <= HEARTBEAT_LIMIT_MS, verbose = is_verbose(connection);
    char text[TEXT_MAX];

    if (beats && !verbose)
        return send_reply(s, connection, REPLY_HEALTHY, out_status);
    snprintf(text, sizeof(text),
             "karmada-policy-exporter is not healthy: its loop stands still for %" PRId64
             " s, and %d s is the most; what it serves is as old\n",
             age_ms / 1000, HEARTBEAT_LIMIT_MS / 1000);
    *out_status = beats ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
    return send_once(connection, *out_status,
                     verbose ? make_verbose(handler, "loop", beats, text) : make_unavailable(text));
}

static enum MHD_Result send_readiness(struct site *s, struct MHD_Connection *connection,
                                      enum server_handler handler, unsigned *out_status)
{
    enum MHD_Result result;

    /* A text that is replaced is released: under the lock the queue gets its own reference. */
    pthread_mutex_lock(&s->lock);
    *out_status = s->ready_status;
    if (is_verbose(connection))
        result =
            send_once(connection, *out_status,
                      make_verbose(handler, "sources", *out_status == MHD_HTTP_OK, s->ready_text));
    else
        result = MHD_queue_response(connection, *out_status, s->readiness);
    pthread_mutex_unlock(&s->lock);
    return result;
}

static enum server_handler find_handler(const char *telemetry_path, const char *path)
{
    unsigned handler = 0;

    while (handler < SERVER_OTHER &&
           strcmp(path, paths[handler] ? paths[handler] : telemetry_path) != 0)
        handler++;
    return (enum server_handler)handler;
}

static void count_request(struct site *s, enum server_handler handler, unsigned status)
{
    for (size_t code = 0; code < SERVER_CODES; code++) {
        if (statuses[code] == status)
            atomic_fetch_add_explicit(&s->requests[handler][code], 1, memory_order_relaxed);
    }
}

enum state { STATE_NEW, STATE_SOUND, STATE_WAITING, STATE_ANSWERED };

struct visit {
    enum state state;
    bool bad_uri;
    struct call *call; /* Of the API; NULL for anything else. Owned. */
};

struct visit *visit_new(const char *uri)
{
    struct visit *v = xcalloc(1, sizeof(*v));

    v->bad_uri = request_uri_has_nul(uri);
    return v;
}

void visit_free(struct visit *v)
{
    if (v)
        call_free(v->call);
    free(v);
}

bool visit_begins(const struct visit *v)
{
    return v->state == STATE_NEW;
}

/* The headers are complete: refuse the request, which closes the connection, or let it go on. */
static enum MHD_Result begin_request(struct site *s, struct MHD_Connection *connection,
                                     const char *path, const char *method, struct visit *v)
{
    static const enum reply refusals[] = {
        [REQUEST_MALFORMED] = REPLY_MALFORMED,
        [REQUEST_METHOD] = REPLY_METHOD,
        [REQUEST_WITH_CONTENT] = REPLY_CONTENT,
    };
    enum request_verdict verdict =
        v->bad_uri ? REQUEST_MALFORMED : request_check(connection, method);
    unsigned status;

    if (verdict == REQUEST_FINE) {
        v->state = STATE_SOUND;
        return MHD_YES;
    }
    v->state = STATE_ANSWERED;
    enum MHD_Result result = send_reply(s, connection, refusals[verdict], &status);
    count_request(s, v->bad_uri ? SERVER_OTHER : find_handler(s->telemetry_path, path), status);
    return result;
}

static enum MHD_Result send_error(struct MHD_Connection *connection, unsigned status,
                                  const char *text)
{
    struct strbuf body = STRBUF_INIT(ERROR_MAX);
    size_t len;

    api_error_write(&body, text);
    char *bytes = strbuf_take(&body, &len);
    struct MHD_Response *response = response_new(bytes, len, RESPONSE_JSON);

    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, RESPONSE_RETRY_SECONDS);
    return send_once(connection, status, response);
}

/* Have the loop answer; what is wrong with the query is answered here. */
static enum MHD_Result send_call(struct site *s, struct MHD_Connection *connection,
                                 enum server_handler handler, struct visit *v)
{
    const struct endpoint *endpoint = endpoint_of(handler);
    CLEANUP(query_release) struct query query;
    enum MHD_Result result;
    unsigned status;
    struct error err;

    if (!query_parse(connection, endpoint->known, endpoint->required, &query, &err)) {
        status = MHD_HTTP_BAD_REQUEST;
        result = send_error(connection, status, err.text);
    } else {
        if (endpoint->known & PARAMETER_BIT(FORMAT))
            list_format_accept(connection, &query);
        v->call = call_new(endpoint, &query);
        v->state = STATE_WAITING;
        if (desk_submit(s->parts.desk, v->call, connection))
            return MHD_YES;
        v->state = STATE_ANSWERED;
        status = MHD_HTTP_SERVICE_UNAVAILABLE;
        result = send_error(connection, status, "too many ask at once: ask again in a moment");
    }
    count_request(s, handler, status);
    return result;
}

static enum MHD_Result send_answer(struct site *s, struct MHD_Connection *connection,
                                   enum server_handler handler, const struct call *call)
{
    count_request(s, handler, call->status);
    return MHD_queue_response(connection, call->status, call->response);
}

enum MHD_Result site_answer(struct site *s, struct MHD_Connection *connection, const char *path,
                            const char *method, struct visit *v)
{
    enum server_handler handler = find_handler(s->telemetry_path, path);
    bool waited = v->state == STATE_WAITING;
    enum MHD_Result result;
    unsigned status;

    if (visit_begins(v))
        return begin_request(s, connection, path, method, v);
    if (v->state == STATE_ANSWERED)
        return MHD_YES;
    v->state = STATE_ANSWERED;
    if (waited)
        return send_answer(s, connection, handler, v->call);
    if (endpoint_of(handler))
        return send_call(s, connection, handler, v);
    if ((unsigned)handler < PAGE_COUNT)
        result = snapshot_serve(s->parts.snapshot, (enum page)handler, connection, &status);
    else if (handler == SERVER_HEALTHY || handler == SERVER_LIVEZ || handler == SERVER_HEALTHZ)
        result = send_health(s, connection, handler, &status);
    else if (handler == SERVER_READY || handler == SERVER_READYZ)
        result = send_readiness(s, connection, handler, &status);
    else
        result = send_reply(s, connection, REPLY_NOT_FOUND, &status);
    count_request(s, handler, status);
    return result;
}

struct site *site_new(const struct site_parts *parts, struct error *err)
{
    const char *telemetry_path = parts->telemetry_path;
    bool plain = telemetry_path[0] == '/';

    /* Requests' paths are compared as decoded and without a query: others can never be equal. */
    for (const char *at = telemetry_path; *at != '\0'; at++)
        plain = plain && *at > ' ' && *at < 0x7F && !strchr("?#%", *at);
    if (!plain) {
        fail(err, "the telemetry path '%s' is not a plain path like '/metrics'", telemetry_path);
        return NULL;
    }
    if (find_handler("", telemetry_path) != SERVER_OTHER) {
        fail(err, "the telemetry path '%s' is taken by another page", telemetry_path);
        return NULL;
    }
    struct site *s = xcalloc(1, sizeof(*s));

    s->parts = *parts;
    pthread_mutex_init(&s->lock, NULL);
    site_set_ready(s, false, "karmada-policy-exporter is not ready: nothing was read yet\n");
    s->telemetry_path = xstrdup(telemetry_path);
    for (size_t i = 0; i < REPLIES; i++) {
        s->replies[i] = response_text(reply_defs[i].text);
        if (reply_defs[i].header)
            response_header(s->replies[i], reply_defs[i].header, reply_defs[i].value);
        if (reply_defs[i].close)
            response_header(s->replies[i], MHD_HTTP_HEADER_CONNECTION, "close");
    }
    return s;
}

void site_free(struct site *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < REPLIES; i++)
        MHD_destroy_response(s->replies[i]);
    MHD_destroy_response(s->readiness);
    free(s->ready_text);
    pthread_mutex_destroy(&s->lock);
    free(s->telemetry_path);
    free(s);
}

void site_set_ready(struct site *s, bool ready, const char *text)
{
    struct MHD_Response *fresh = ready ? make_text(text) : make_unavailable(text);

    pthread_mutex_lock(&s->lock);
    struct MHD_Response *old = s->readiness;
    s->readiness = fresh;
    free(s->ready_text);
    s->ready_text = xstrdup(text);
    s->ready_status = ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
    pthread_mutex_unlock(&s->lock);

    if (old)
        MHD_destroy_response(old);
}

uint64_t site_requests(const struct site *s, enum server_handler handler, enum server_code code)
{
    return atomic_load_explicit(&s->requests[handler][code], memory_order_relaxed);
}
