/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/routes.h"

#include <pthread.h>

#include "exporter/system/platform.h"
#include "exporter/web/query.h"
#include "exporter/web/request.h"
#include "exporter/web/response.h"
#include "exporter/web/site_url.h"
#include "metrics/base/shown.h"
#include "metrics/base/strbuf.h"

enum { TEXT_MAX = 256, VERBOSE_MAX = 128 * 1024 };

struct probes {
    const struct heartbeat *heartbeat;
    pthread_mutex_t lock; /* Guards the two below. */
    char *ready_text;
    bool ready;
};

/* `heartbeat`, which is borrowed: healthy while it beats; NULL: always. Not ready at first. */
static MUST_USE struct probes *probes_new(const struct heartbeat *heartbeat)
{
    struct probes *p = xcalloc(1, sizeof(*p));

    p->heartbeat = heartbeat;
    pthread_mutex_init(&p->lock, NULL);
    probes_set_ready(p, false, "karmada-policy-exporter is not ready: nothing was read yet\n");
    return p;
}

/* NULL is fine. */
static void probes_free(struct probes *p)
{
    if (!p)
        return;
    free(p->ready_text);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void probes_set_ready(struct probes *p, bool ready, const char *text)
{
    char *fresh = xstrdup(text);

    pthread_mutex_lock(&p->lock);
    char *old = p->ready_text;
    p->ready_text = fresh;
    p->ready = ready;
    pthread_mutex_unlock(&p->lock);
    free(old);
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

/* `check` is what was looked at, and `text` what came of it. */
static struct MHD_Response *answer(const struct probe *probe, const char *check, bool passed,
                                   const char *text, unsigned *out_status)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(VERBOSE_MAX);

    *out_status = passed ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
    if (probe->anonymous)
        text = passed ? "ok\n" : "not ok\n";
    else if (is_verbose(probe->connection)) {
        /* As kube-apiserver writes it: a line for the check, why it failed, one for the whole. */
        strbuf_addf(&out, "[%c]%s %s\n%s%s check %s\n", passed ? '+' : '-', check,
                    passed ? "ok" : "failed", passed ? "" : text, probe->name,
                    passed ? "passed" : "failed");
        text = out.data;
    }
    return response_text(text);
}

static MUST_USE struct MHD_Response *probes_health(struct probes *p, const struct probe *probe,
                                                   unsigned *out_status)
{
    int64_t age_ms = p->heartbeat ? heartbeat_age_ms(p->heartbeat, platform_steady_ms()) : 0;
    bool beats = age_ms <= HEARTBEAT_LIMIT_MS;
    char text[TEXT_MAX] = "karmada-policy-exporter is Healthy.\n";

    if (!beats)
        snprintf(text, sizeof(text),
                 "karmada-policy-exporter is not healthy: its loop stands still for %" PRId64
                 " s, and %d s is the most; what it serves is as old\n",
                 age_ms / 1000, HEARTBEAT_LIMIT_MS / 1000);
    return answer(probe, "loop", beats, text, out_status);
}

/* Does the loop turn, and is there something to serve? */
static MUST_USE struct MHD_Response *probes_readiness(struct probes *p, const struct probe *probe,
                                                      unsigned *out_status)
{
    pthread_mutex_lock(&p->lock);
    struct MHD_Response *response = answer(probe, "sources", p->ready, p->ready_text, out_status);
    pthread_mutex_unlock(&p->lock);
    return response;
}

/* It is the turn of the next one. */
static void exchange_give_back(struct exchange *v)
{
    if (v->turn)
        atomic_store(v->turn, false);
    v->turn = NULL;
}

void exchange_end(struct exchange *v)
{
    exchange_give_back(v);
    queued_request_free(v->request);
    strbuf_release(&v->content);
    memset(v, 0, sizeof(*v));
}

void exchange_begin(struct exchange *v, const char *uri)
{
    exchange_end(v);
    v->target = wire_target_take(uri);
    v->content = STRBUF_INIT(request_manifests.content_max);
}

bool exchange_is_new(const struct exchange *v)
{
    return v->state == EXCHANGE_NEW;
}

/*
 * Keep the piece, which has nothing left then. The first one of a body takes the turn, which is
 * true while somebody has it; if somebody else has, or the body is not `wanted`, all of it is
 * dropped.
 */
static void exchange_take(struct exchange *v, struct body_piece *body_piece, bool wanted,
                          atomic_bool *turn)
{
    if (wanted && !v->turn && !v->dropped && !atomic_exchange(turn, true))
        v->turn = turn;
    if (v->turn)
        strbuf_add(&v->content, body_piece->bytes, body_piece->len);
    else
        v->dropped = true;
    body_piece->len = 0;
}

enum { ERROR_MAX = 4096 };

/* A name that is not a text does not compile: nothing else follows "". */
#define HANDLER_NAME(id, name, ...)       "" name,
#define HANDLER_PATH(id, name, path, ...) path,

const char *const server_handler_names[SERVER_HANDLER_COUNT] = {
    PAGES(HANDLER_NAME) ENDPOINTS(HANDLER_NAME) OTHER_ROUTES(HANDLER_NAME)};

/* Compared whole, as decoded. NULL: the telemetry path. */
static const char *const paths[SERVER_HANDLER_COUNT] = {PAGES(HANDLER_PATH) ENDPOINTS(HANDLER_PATH)
                                                            OTHER_ROUTES(HANDLER_PATH)};

/* The endpoint that a handler stands for; NULL if it is none. They follow the pages, in order. */
static const struct endpoint *endpoint_of(enum server_handler handler)
{
    unsigned at = (unsigned)handler - PAGE_COUNT;

    return at < ENDPOINT_COUNT ? &endpoints[at] : NULL;
}

/* It is asked for with manifests. */
static bool takes_manifests(enum server_handler handler)
{
    const struct endpoint *endpoint = endpoint_of(handler);

    return endpoint && endpoint->needs == NEEDS_PLAN;
}

static const struct request_rule *rule_of(enum server_handler handler)
{
    if (takes_manifests(handler))
        return &request_manifests;
    return handler == SERVER_RELOAD ? &request_orders : &request_reads;
}

#define CODE_NAME(number)   #number,
#define CODE_STATUS(number) number,

const char *const server_code_names[SERVER_CODE_COUNT] = {STATUS_CODES(CODE_NAME)};
static const unsigned statuses[SERVER_CODE_COUNT] = {STATUS_CODES(CODE_STATUS)};

/* The answers that are always the same. */
enum reply {
    REPLY_MALFORMED,
    REPLY_METHOD,
    REPLY_CONTENT,
    REPLY_TOO_LARGE,
    REPLY_MEDIA_TYPE,
    REPLY_NOT_FOUND,
    REPLY_UNKNOWN,
    REPLY_NO_LIFECYCLE,
    REPLY_NO_PLANS,
    REPLY_TOO_MANY,
    REPLIES
};

static const struct reply_def {
    unsigned status;
    const char *text;
    const char *header, *value; /* NULL: none of its own. */
    bool close;                 /* End the connection: there may be a body that we do not read. */
} reply_defs[REPLIES] = {
    [REPLY_MALFORMED] = {MHD_HTTP_BAD_REQUEST, "bad request", NULL, NULL, true},
    [REPLY_METHOD] = {MHD_HTTP_METHOD_NOT_ALLOWED,
                      "method not allowed: the header Allow has those that are", NULL, NULL, true},
    [REPLY_CONTENT] = {MHD_HTTP_CONTENT_TOO_LARGE, "a request must not have a body", NULL, NULL,
                       true},
    [REPLY_TOO_LARGE] = {MHD_HTTP_CONTENT_TOO_LARGE,
                         "the body is larger than 1 MiB: plan it in parts", NULL, NULL, true},
    [REPLY_MEDIA_TYPE] = {MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
                          "POST manifests as Content-Type: application/yaml or application/json",
                          NULL, NULL, true},
    [REPLY_NOT_FOUND] = {MHD_HTTP_NOT_FOUND, "not found", NULL, NULL, false},
    [REPLY_UNKNOWN] = {MHD_HTTP_UNAUTHORIZED, "unauthorized: give a user and a password",
                       MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                       "Basic realm=\"karmada-policy-exporter\", charset=\"UTF-8\"", false},
    [REPLY_NO_LIFECYCLE] = {MHD_HTTP_FORBIDDEN,
                            "the lifecycle API is off: --web.enable-lifecycle switches it on", NULL,
                            NULL, false},
    [REPLY_NO_PLANS] = {MHD_HTTP_FORBIDDEN,
                        "plans over HTTP are off: --web.enable-plan switches them on", NULL, NULL,
                        true},
    [REPLY_TOO_MANY] = {MHD_HTTP_TOO_MANY_REQUESTS, "too many requests: ask again in a moment",
                        MHD_HTTP_HEADER_RETRY_AFTER, "1", true},
};

struct routes {
    struct routes_settings parts;
    char *telemetry_path; /* A copy. */
    struct probes *probes;
    atomic_bool planning; /* One request at a time has its manifests kept and played. */
    _Atomic uint64_t requests[SERVER_HANDLER_COUNT][SERVER_CODE_COUNT];
};

/* Behind the prefix; SERVER_OTHER for NULL. */
static enum server_handler find_handler(const char *telemetry_path, const char *path)
{
    unsigned handler = path ? 0 : SERVER_OTHER;

    while (handler < SERVER_OTHER &&
           strcmp(path, paths[handler] ? paths[handler] : telemetry_path) != 0)
        handler++;
    return (enum server_handler)handler;
}

static enum server_handler handler_of(const struct routes *s, const char *path)
{
    return find_handler(s->telemetry_path, site_url_inside(s->parts.prefix, path));
}

static void count_request(struct routes *s, enum server_handler handler, unsigned status)
{
    for (size_t code = 0; code < SERVER_CODE_COUNT; code++) {
        if (statuses[code] == status)
            atomic_fetch_add_explicit(&s->requests[handler][code], 1, memory_order_relaxed);
    }
}

static enum MHD_Result send_response(struct routes *s, struct MHD_Connection *connection,
                                     enum server_handler handler, unsigned status,
                                     struct MHD_Response *response)
{
    count_request(s, handler, status);
    return response_send(s->parts.access_control, connection, status, response);
}

/* What is wrong, as the API or a page of it says it; elsewhere it is a line. */
static struct MHD_Response *error_response(enum server_handler handler, const char *text)
{
    const struct endpoint *endpoint = endpoint_of(handler);
    CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(ERROR_MAX);
    const char *type;
    char *bytes;
    size_t len;

    if (!endpoint) {
        strbuf_addf(&body, "%s\n", text);
        return response_text(body.data);
    }
    type = api_error_write(endpoint, &body, text);
    bytes = strbuf_take(&body, &len);
    return response_new(bytes, len, type);
}

static enum MHD_Result send_reply(struct routes *s, struct MHD_Connection *connection,
                                  enum server_handler handler, enum reply reply)
{
    const struct reply_def *def = &reply_defs[reply];
    struct MHD_Response *response = error_response(handler, def->text);

    if (def->header)
        response_header(response, def->header, def->value);
    if (reply == REPLY_METHOD)
        response_header(response, MHD_HTTP_HEADER_ALLOW, rule_of(handler)->methods);
    if (def->close)
        response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    return send_response(s, connection, handler, def->status, response);
}

/* The headers are complete: refuse the request, which closes the connection, or let it go on. */
static enum MHD_Result begin_request(struct routes *s, struct MHD_Connection *connection,
                                     const char *path, const char *method, struct exchange *v)
{
    static const enum reply refusals[] = {
        [REQUEST_MALFORMED] = REPLY_MALFORMED,   [REQUEST_METHOD] = REPLY_METHOD,
        [REQUEST_WITH_CONTENT] = REPLY_CONTENT,  [REQUEST_TOO_LARGE] = REPLY_TOO_LARGE,
        [REQUEST_MEDIA_TYPE] = REPLY_MEDIA_TYPE,
    };
    enum server_handler handler = handler_of(s, path);
    enum request_verdict verdict = v->target.is_bad || v->malformed
                                       ? REQUEST_MALFORMED
                                       : request_check(connection, method, rule_of(handler));
    bool off = takes_manifests(handler) && !s->parts.plans;

    v->state = verdict == REQUEST_FINE && !off ? EXCHANGE_CHECKED : EXCHANGE_ANSWERED;
    if (v->state == EXCHANGE_CHECKED)
        return MHD_YES;
    return send_reply(s, connection, v->target.is_bad ? SERVER_OTHER : handler,
                      verdict == REQUEST_FINE ? REPLY_NO_PLANS : refusals[verdict]);
}

/* Have the loop answer; what is wrong with the query is answered here. */
static enum MHD_Result send_call(struct routes *s, struct MHD_Connection *connection,
                                 enum server_handler handler, struct exchange *v)
{
    const struct endpoint *endpoint = endpoint_of(handler);
    CLEANUP(query_release) struct query query;
    struct error err;

    if (!query_parse(connection, endpoint->known, endpoint->required, &query, &err))
        return send_response(s, connection, handler, MHD_HTTP_BAD_REQUEST,
                             error_response(handler, err.text));
    if (endpoint->known & PARAMETER_BIT(FORMAT))
        list_format_accept(connection, &query);
    v->request = queued_request_new(endpoint, &query);
    v->request->content = v->content;
    v->request->content_is_json = request_is_json(connection);
    v->content = STRBUF_INIT(0);
    v->state = EXCHANGE_WAITING;
    if (request_queue_submit(s->parts.request_queue, v->request, connection))
        return MHD_YES;
    v->state = EXCHANGE_ANSWERED;
    return send_response(s, connection, handler, MHD_HTTP_SERVICE_UNAVAILABLE,
                         error_response(handler, "too many ask at once: ask again in a moment"));
}

/* Have the loop reload, and wait for the end of that. */
static enum MHD_Result send_order(struct routes *s, struct MHD_Connection *connection,
                                  enum server_handler handler, struct exchange *v)
{
    struct query none = {{0}};

    if (!s->parts.reloads)
        return send_reply(s, connection, handler, REPLY_NO_LIFECYCLE);
    v->request = queued_request_new(NULL, &none);
    v->state = EXCHANGE_WAITING;
    if (request_queue_submit(s->parts.reloads, v->request, connection))
        return MHD_YES;
    v->state = EXCHANGE_ANSWERED;
    return send_reply(s, connection, handler, REPLY_TOO_MANY);
}

/* To where the site is, for who asks for "/" or forgets the last '/'. */
static enum MHD_Result send_there(struct routes *s, struct MHD_Connection *connection)
{
    CLEANUP(strbuf_release) struct strbuf there = STRBUF_INIT(ERROR_MAX);
    struct MHD_Response *response = response_text("");

    strbuf_addf(&there, "%s/", s->parts.prefix);
    response_header(response, MHD_HTTP_HEADER_LOCATION, there.data);
    return send_response(s, connection, SERVER_OTHER, MHD_HTTP_FOUND, response);
}

static enum MHD_Result send_page(struct routes *s, struct MHD_Connection *connection,
                                 enum server_handler handler, const struct exchange *v)
{
    const struct probe probe = {
        .connection = connection,
        .name = server_handler_names[handler],
        .anonymous = v->verdict == VERDICT_ANONYMOUS,
    };
    struct MHD_Response *response;
    unsigned status;

    if ((unsigned)handler < PAGE_COUNT)
        response =
            page_store_response(s->parts.page_store, (enum page)handler, connection, &status);
    else if (handler == SERVER_HEALTHY || handler == SERVER_LIVEZ || handler == SERVER_HEALTHZ)
        response = probes_health(s->probes, &probe, &status);
    else if (handler == SERVER_READY || handler == SERVER_READYZ)
        response = probes_readiness(s->probes, &probe, &status);
    else
        return send_reply(s, connection, handler, REPLY_NOT_FOUND);
    return send_response(s, connection, handler, status, response);
}

/* A health path, without a query that it would say more for. */
static bool is_probe(struct MHD_Connection *connection, enum server_handler handler)
{
    return handler >= SERVER_HEALTHY && handler <= SERVER_HEALTHZ &&
           MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, NULL, NULL) == 0;
}

/* Whom the verdict keeps from an answer is told why. */
static enum MHD_Result send_verdict(struct routes *s, struct MHD_Connection *connection,
                                    enum server_handler handler, enum verdict verdict)
{
    return send_reply(s, connection, handler,
                      verdict == VERDICT_UNKNOWN ? REPLY_UNKNOWN : REPLY_TOO_MANY);
}

static enum MHD_Result send_answer(struct routes *s, struct MHD_Connection *connection,
                                   enum server_handler handler, struct exchange *v)
{
    v->state = EXCHANGE_ANSWERED;
    exchange_give_back(v);
    return send_response(s, connection, handler, v->request->status,
                         queued_request_response(v->request));
}

enum MHD_Result routes_handle_request(struct routes *s, struct MHD_Connection *connection,
                                      const char *path, const char *method,
                                      struct body_piece *body_piece, struct exchange *v)
{
    enum server_handler handler = handler_of(s, path);
    enum verdict verdict;

    if (exchange_is_new(v))
        return begin_request(s, connection, path, method, v);
    if (v->state == EXCHANGE_WAITING)
        return send_answer(s, connection, handler, v);
    if (v->state == EXCHANGE_ANSWERED) {
        body_piece->len = 0;
        return MHD_YES;
    }
    verdict = access_control_admit(s->parts.access_control, connection,
                                   is_probe(connection, handler), &v->verdict);
    if (verdict == VERDICT_WAITS)
        return MHD_YES;
    if (body_piece->len > 0) {
        exchange_take(v, body_piece, verdict == VERDICT_ADMITTED, &s->planning);
        return MHD_YES;
    }
    v->state = EXCHANGE_ANSWERED;
    if (verdict == VERDICT_UNKNOWN || verdict == VERDICT_TOO_MANY)
        return send_verdict(s, connection, handler, verdict);
    if (v->dropped)
        return send_reply(s, connection, handler, REPLY_TOO_MANY);
    if (*s->parts.prefix != '\0' && (strcmp(path, "/") == 0 || strcmp(path, s->parts.prefix) == 0))
        return send_there(s, connection);
    if (endpoint_of(handler))
        return send_call(s, connection, handler, v);
    if (handler == SERVER_RELOAD)
        return send_order(s, connection, handler, v);
    return send_page(s, connection, handler, v);
}

struct routes *routes_new(const struct routes_settings *parts, struct error *err)
{
    const char *telemetry_path = parts->telemetry_path;

    if (!site_url_is_plain(telemetry_path)) {
        fail(err, "the telemetry path '%s' is not a plain path like '/metrics'",
             shown(telemetry_path).text);
        return NULL;
    }
    if (find_handler("", telemetry_path) != SERVER_OTHER) {
        fail(err, "the telemetry path '%s' is taken by another page", shown(telemetry_path).text);
        return NULL;
    }
    struct routes *s = xcalloc(1, sizeof(*s));

    s->parts = *parts;
    s->parts.prefix = parts->prefix ? parts->prefix : "";
    s->probes = probes_new(parts->heartbeat);
    s->telemetry_path = xstrdup(telemetry_path);
    return s;
}

void routes_free(struct routes *s)
{
    if (!s)
        return;
    probes_free(s->probes);
    free(s->telemetry_path);
    free(s);
}

void routes_set_ready(struct routes *s, bool ready, const char *text)
{
    probes_set_ready(s->probes, ready, text);
}

uint64_t routes_request_count(const struct routes *s, enum server_handler handler,
                              enum server_code code)
{
    return atomic_load_explicit(&s->requests[handler][code], memory_order_relaxed);
}
