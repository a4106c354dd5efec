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

enum {
    HEALTH_TEXT_MAX_BYTES = 256,
    VERBOSE_MAX_BYTES = 128 * 1024,
    ERROR_MAX_BYTES = 4096,
};

/* ---- requests ---- */

/* Clears `plan_slot` if this request has set it: another request may then send manifests. */
static void exchange_release_plan_slot(struct exchange *v)
{
    if (v->plan_slot)
        atomic_store(v->plan_slot, false);
    v->plan_slot = NULL;
}

void exchange_end(struct exchange *v)
{
    exchange_release_plan_slot(v);
    queued_request_free(v->request);
    strbuf_release(&v->content);
    memset(v, 0, sizeof(*v));
}

void exchange_begin(struct exchange *v, const char *uri)
{
    exchange_end(v);
    v->target = request_target_split(uri);
    v->content = STRBUF_INIT(request_rule_manifests.content_max);
}

bool exchange_is_new(const struct exchange *v)
{
    return v->state == EXCHANGE_NEW;
}

/*
 * Stores a piece of the body. Discards it if the body is not `wanted`, if another request has set
 * the flag `plan_slot`, or if an earlier piece was discarded. The first stored piece sets the flag.
 * Sets the length of the piece to 0.
 */
static void exchange_receive_piece(struct exchange *v, struct body_piece *body_piece, bool wanted,
                                   atomic_bool *plan_slot)
{
    if (wanted && !v->plan_slot && !v->dropped && !atomic_exchange(plan_slot, true))
        v->plan_slot = plan_slot;
    if (v->plan_slot)
        strbuf_add(&v->content, body_piece->bytes, body_piece->len);
    else
        v->dropped = true;
    body_piece->len = 0;
}

/* ---- handlers and their rules ---- */

/* The empty text before the name makes a name that is no string literal a compile error. */
#define HANDLER_NAME(id, name, ...)       "" name,
#define HANDLER_PATH(id, name, path, ...) path,

const char *const server_handler_names[SERVER_HANDLER_COUNT] = {
    PAGES(HANDLER_NAME) ENDPOINTS(HANDLER_NAME) OTHER_ROUTES(HANDLER_NAME)};

/* Decoded paths by enum server_handler; NULL for the telemetry path. */
static const char *const paths[SERVER_HANDLER_COUNT] = {PAGES(HANDLER_PATH) ENDPOINTS(HANDLER_PATH)
                                                            OTHER_ROUTES(HANDLER_PATH)};

#define CODE_NAME(number)   #number,
#define CODE_STATUS(number) number,

const char *const server_code_names[SERVER_CODE_COUNT] = {STATUS_CODES(CODE_NAME)};
static const unsigned statuses[SERVER_CODE_COUNT] = {STATUS_CODES(CODE_STATUS)};

/* Returns the endpoint of a handler; NULL for pages and OTHER_ROUTES. */
static const struct endpoint *endpoint_of(enum server_handler handler)
{
    /* In the enum, the endpoints follow the pages. */
    unsigned at = (unsigned)handler - PAGE_COUNT;

    return at < ENDPOINT_COUNT ? &endpoints[at] : NULL;
}

static bool takes_manifests(enum server_handler handler)
{
    const struct endpoint *endpoint = endpoint_of(handler);

    return endpoint && endpoint->needs == NEEDS_PLAN;
}

static const struct request_rule *rule_of(enum server_handler handler)
{
    if (takes_manifests(handler))
        return &request_rule_manifests;
    return handler == SERVER_RELOAD ? &request_rule_action : &request_rule_read;
}

/* Returns true for a health path without query parameters, which could ask for details. */
static bool is_plain_health_request(struct MHD_Connection *connection, enum server_handler handler)
{
    return handler >= SERVER_HEALTHY && handler <= SERVER_HEALTHZ &&
           MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, NULL, NULL) == 0;
}

/* ---- routes ---- */

struct routes {
    struct routes_settings settings;
    char *telemetry_path; /* Owned copy. */
    pthread_mutex_t lock; /* Protects the next two members. */
    char *ready_text;
    bool ready;
    atomic_bool plan_slot; /* A request is sending manifests, or waits for its plan. */
    _Atomic uint64_t requests[SERVER_HANDLER_COUNT][SERVER_CODE_COUNT];
};

/* Returns the handler of a path without the prefix; SERVER_OTHER if `path` is NULL. */
static enum server_handler find_handler(const char *telemetry_path, const char *path)
{
    unsigned handler = path ? 0 : SERVER_OTHER;

    while (handler < SERVER_OTHER &&
           strcmp(path, paths[handler] ? paths[handler] : telemetry_path) != 0)
        handler++;
    return (enum server_handler)handler;
}

/* Returns the handler of the path of a request; SERVER_OTHER if the path lacks the prefix. */
static enum server_handler handler_of(const struct routes *s, const char *path)
{
    return find_handler(s->telemetry_path, site_url_strip_prefix(s->settings.prefix, path));
}

struct routes *routes_new(const struct routes_settings *settings, struct error *err)
{
    const char *telemetry_path = settings->telemetry_path;

    if (!site_url_path_is_plain(telemetry_path)) {
        fail(err, "the telemetry path '%s' is not a plain path like '/metrics'",
             shown(telemetry_path).text);
        return NULL;
    }
    if (find_handler("", telemetry_path) != SERVER_OTHER) {
        fail(err, "the telemetry path '%s' is taken by another page", shown(telemetry_path).text);
        return NULL;
    }
    struct routes *s = xcalloc(1, sizeof(*s));

    s->settings = *settings;
    s->settings.prefix = settings->prefix ? settings->prefix : "";
    s->telemetry_path = xstrdup(telemetry_path);
    pthread_mutex_init(&s->lock, NULL);
    s->ready_text = xstrdup("karmada-policy-exporter is not ready: nothing was read yet\n");
    return s;
}

void routes_free(struct routes *s)
{
    if (!s)
        return;
    free(s->ready_text);
    pthread_mutex_destroy(&s->lock);
    free(s->telemetry_path);
    free(s);
}

void routes_set_ready(struct routes *s, bool ready, const char *text)
{
    char *fresh = xstrdup(text);

    pthread_mutex_lock(&s->lock);
    char *old = s->ready_text;
    s->ready_text = fresh;
    s->ready = ready;
    pthread_mutex_unlock(&s->lock);
    free(old);
}

uint64_t routes_request_count(const struct routes *s, enum server_handler handler,
                              enum server_code code)
{
    return atomic_load_explicit(&s->requests[handler][code], memory_order_relaxed);
}

/* ---- health paths ---- */

/* A request to a health path. */
struct health_request {
    struct MHD_Connection *connection;
    const char *name; /* Name of the handler, for the parameter `verbose`. */
    bool anonymous;   /* The client was not authenticated: the response omits all details. */
};

/* Returns true if the query has the parameter "verbose", with or without a value. */
static bool is_verbose(struct MHD_Connection *connection)
{
    static const char name[] = "verbose";
    const char *value;
    size_t len;

    return MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, name, strlen(name),
                                         &value, &len) == MHD_YES;
}

/* Returns the response for the check of this name. `text` is its result, with a line end. */
static struct MHD_Response *health_response(const struct health_request *request, const char *check,
                                            bool passed, const char *text, unsigned *out_status)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(VERBOSE_MAX_BYTES);

    *out_status = passed ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
    if (request->anonymous)
        text = passed ? "ok\n" : "not ok\n";
    else if (is_verbose(request->connection)) {
        /* The format of kube-apiserver: the check, the reason of a failure, and the total. */
        strbuf_addf(&out, "[%c]%s %s\n%s%s check %s\n", passed ? '+' : '-', check,
                    passed ? "ok" : "failed", passed ? "" : text, request->name,
                    passed ? "passed" : "failed");
        text = out.data;
    }
    return response_text(text);
}

/* The calling thread checks the heartbeat: a page written by a blocked loop would be outdated. */
static MUST_USE struct MHD_Response *liveness_response(const struct routes *s,
                                                       const struct health_request *request,
                                                       unsigned *out_status)
{
    const struct heartbeat *heartbeat = s->settings.heartbeat;
    int64_t age_ms = heartbeat ? heartbeat_age_ms(heartbeat, platform_steady_ms()) : 0;
    bool beats = age_ms <= HEARTBEAT_MAX_AGE_MS;
    char text[HEALTH_TEXT_MAX_BYTES] = "karmada-policy-exporter is Healthy.\n";

    if (!beats)
        snprintf(text, sizeof(text),
                 "karmada-policy-exporter is not healthy: its event loop is blocked for %" PRId64
                 " s (limit %d s), and its data has not changed since\n",
                 age_ms / 1000, HEARTBEAT_MAX_AGE_MS / 1000);
    return health_response(request, "loop", beats, text, out_status);
}

static MUST_USE struct MHD_Response *
readiness_response(struct routes *s, const struct health_request *request, unsigned *out_status)
{
    pthread_mutex_lock(&s->lock);
    struct MHD_Response *response =
        health_response(request, "sources", s->ready, s->ready_text, out_status);
    pthread_mutex_unlock(&s->lock);
    return response;
}

/* ---- responses with a fixed text ---- */

enum reply {
    REPLY_MALFORMED,
    REPLY_METHOD_NOT_ALLOWED,
    REPLY_BODY_NOT_ALLOWED,
    REPLY_BODY_TOO_LARGE,
    REPLY_MEDIA_TYPE,
    REPLY_NOT_FOUND,
    REPLY_UNAUTHORIZED,
    REPLY_RELOAD_DISABLED,
    REPLY_PLAN_DISABLED,
    REPLY_TOO_MANY_REQUESTS,
    REPLY_COUNT
};

static const struct reply_def {
    unsigned status;
    const char *text;
    const char *header, *value; /* Header of this response only; NULL without one. */
    bool close; /* Close the connection, because the body of the request may be unread. */
} reply_defs[REPLY_COUNT] = {
    [REPLY_MALFORMED] = {MHD_HTTP_BAD_REQUEST, "bad request", NULL, NULL, true},
    [REPLY_METHOD_NOT_ALLOWED] = {MHD_HTTP_METHOD_NOT_ALLOWED,
                                  "method not allowed: see the header Allow", NULL, NULL, true},
    [REPLY_BODY_NOT_ALLOWED] = {MHD_HTTP_CONTENT_TOO_LARGE, "a request must not have a body", NULL,
                                NULL, true},
    [REPLY_BODY_TOO_LARGE] = {MHD_HTTP_CONTENT_TOO_LARGE,
                              "the body is larger than 1 MiB: plan it in parts", NULL, NULL, true},
    [REPLY_MEDIA_TYPE] = {MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
                          "POST manifests as Content-Type: application/yaml or application/json",
                          NULL, NULL, true},
    [REPLY_NOT_FOUND] = {MHD_HTTP_NOT_FOUND, "not found", NULL, NULL, false},
    [REPLY_UNAUTHORIZED] = {MHD_HTTP_UNAUTHORIZED, "unauthorized: send a user and a password",
                            MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                            "Basic realm=\"karmada-policy-exporter\", charset=\"UTF-8\"", false},
    [REPLY_RELOAD_DISABLED] = {MHD_HTTP_FORBIDDEN,
                               "the lifecycle API is disabled: --web.enable-lifecycle enables it",
                               NULL, NULL, false},
    [REPLY_PLAN_DISABLED] = {MHD_HTTP_FORBIDDEN,
                             "plans over HTTP are disabled: --web.enable-plan enables them", NULL,
                             NULL, true},
    [REPLY_TOO_MANY_REQUESTS] = {MHD_HTTP_TOO_MANY_REQUESTS, "too many requests: retry in a moment",
                                 MHD_HTTP_HEADER_RETRY_AFTER, "1", true},
};

/* ---- sending responses ---- */

/* Counts and sends a response. */
static enum MHD_Result send_response(struct routes *s, struct MHD_Connection *connection,
                                     enum server_handler handler, unsigned status,
                                     struct MHD_Response *response)
{
    for (size_t code = 0; code < SERVER_CODE_COUNT; code++) {
        if (statuses[code] == status)
            atomic_fetch_add_explicit(&s->requests[handler][code], 1, memory_order_relaxed);
    }
    return response_send(s->settings.access_control, connection, status, response);
}

/*
 * Returns a response with a text for people: JSON or HTML as the endpoint returns errors, plain
 * text for handlers that are no endpoints.
 */
static struct MHD_Response *error_response(enum server_handler handler, const char *text)
{
    const struct endpoint *endpoint = endpoint_of(handler);
    CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(ERROR_MAX_BYTES);
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

static enum MHD_Result send_fixed_reply(struct routes *s, struct MHD_Connection *connection,
                                        enum server_handler handler, enum reply reply)
{
    const struct reply_def *def = &reply_defs[reply];
    struct MHD_Response *response = error_response(handler, def->text);

    if (def->header)
        response_add_header(response, def->header, def->value);
    if (reply == REPLY_METHOD_NOT_ALLOWED)
        response_add_header(response, MHD_HTTP_HEADER_ALLOW, rule_of(handler)->methods);
    if (def->close)
        response_add_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    return send_response(s, connection, handler, def->status, response);
}

/*
 * Checks target, method and headers, and whether the endpoint is on. If a check fails, sends an
 * error response, which closes the connection. Sets the state of the exchange.
 */
static enum MHD_Result check_headers(struct routes *s, struct MHD_Connection *connection,
                                     const char *path, const char *method, struct exchange *v)
{
    static const enum reply refusals[] = {
        [REQUEST_MALFORMED] = REPLY_MALFORMED,
        [REQUEST_BAD_METHOD] = REPLY_METHOD_NOT_ALLOWED,
        [REQUEST_UNWANTED_BODY] = REPLY_BODY_NOT_ALLOWED,
        [REQUEST_TOO_LARGE] = REPLY_BODY_TOO_LARGE,
        [REQUEST_BAD_MEDIA_TYPE] = REPLY_MEDIA_TYPE,
    };
    enum server_handler handler = handler_of(s, path);
    enum request_verdict verdict = v->target.is_bad || v->malformed
                                       ? REQUEST_MALFORMED
                                       : request_rule_check(connection, method, rule_of(handler));
    bool off = takes_manifests(handler) && !s->settings.plans;

    v->state = verdict == REQUEST_VALID && !off ? EXCHANGE_CHECKED : EXCHANGE_ANSWERED;
    if (v->state == EXCHANGE_CHECKED)
        return MHD_YES;
    return send_fixed_reply(s, connection, v->target.is_bad ? SERVER_OTHER : handler,
                            verdict == REQUEST_VALID ? REPLY_PLAN_DISABLED : refusals[verdict]);
}

/*
 * Queues a request to an endpoint for the loop. Sends an error response if the query is wrong or
 * the queue refuses the request.
 */
static enum MHD_Result queue_endpoint_request(struct routes *s, struct MHD_Connection *connection,
                                              enum server_handler handler, struct exchange *v)
{
    const struct endpoint *endpoint = endpoint_of(handler);
    CLEANUP(query_release) struct query query;
    struct error err;

    if (!query_parse(connection, endpoint->known, endpoint->required, &query, &err))
        return send_response(s, connection, handler, MHD_HTTP_BAD_REQUEST,
                             error_response(handler, err.text));
    if (endpoint->known & PARAMETER_BIT(FORMAT))
        list_format_negotiate(connection, &query);
    v->request = queued_request_new(endpoint, &query);
    v->request->content = v->content;
    v->request->content_is_json = request_is_json(connection);
    v->content = STRBUF_INIT(0);
    v->state = EXCHANGE_WAITING;
    if (request_queue_submit(s->settings.request_queue, v->request, connection))
        return MHD_YES;
    v->state = EXCHANGE_ANSWERED;
    return send_response(
        s, connection, handler, MHD_HTTP_SERVICE_UNAVAILABLE,
        error_response(handler, "too many requests are waiting: retry in a moment"));
}

/* Queues a reload for the loop; the response follows at the end of the reload. */
static enum MHD_Result queue_reload_request(struct routes *s, struct MHD_Connection *connection,
                                            enum server_handler handler, struct exchange *v)
{
    struct query none = {{0}};

    if (!s->settings.reloads)
        return send_fixed_reply(s, connection, handler, REPLY_RELOAD_DISABLED);
    v->request = queued_request_new(NULL, &none);
    v->state = EXCHANGE_WAITING;
    if (request_queue_submit(s->settings.reloads, v->request, connection))
        return MHD_YES;
    v->state = EXCHANGE_ANSWERED;
    return send_fixed_reply(s, connection, handler, REPLY_TOO_MANY_REQUESTS);
}

/* Redirects to the index page: for "/", and for the prefix without a '/' at its end. */
static enum MHD_Result send_redirect(struct routes *s, struct MHD_Connection *connection)
{
    CLEANUP(strbuf_release) struct strbuf location = STRBUF_INIT(ERROR_MAX_BYTES);
    struct MHD_Response *response = response_text("");

    strbuf_addf(&location, "%s/", s->settings.prefix);
    response_add_header(response, MHD_HTTP_HEADER_LOCATION, location.data);
    return send_response(s, connection, SERVER_OTHER, MHD_HTTP_FOUND, response);
}

static enum MHD_Result send_page(struct routes *s, struct MHD_Connection *connection,
                                 enum server_handler handler, const struct exchange *v)
{
    const struct health_request request = {
        .connection = connection,
        .name = server_handler_names[handler],
        .anonymous = v->verdict == VERDICT_ANONYMOUS,
    };
    struct MHD_Response *response;
    unsigned status;

    if ((unsigned)handler < PAGE_COUNT)
        response =
            page_store_response(s->settings.page_store, (enum page)handler, connection, &status);
    else if (handler == SERVER_HEALTHY || handler == SERVER_LIVEZ || handler == SERVER_HEALTHZ)
        response = liveness_response(s, &request, &status);
    else if (handler == SERVER_READY || handler == SERVER_READYZ)
        response = readiness_response(s, &request, &status);
    else
        return send_fixed_reply(s, connection, handler, REPLY_NOT_FOUND);
    return send_response(s, connection, handler, status, response);
}

/* Sends the loop's response to the queued request. */
static enum MHD_Result send_queued_response(struct routes *s, struct MHD_Connection *connection,
                                            enum server_handler handler, struct exchange *v)
{
    v->state = EXCHANGE_ANSWERED;
    exchange_release_plan_slot(v);
    return send_response(s, connection, handler, v->request->status,
                         queued_request_take_response(v->request));
}

enum MHD_Result routes_handle_request(struct routes *s, struct MHD_Connection *connection,
                                      const char *path, const char *method,
                                      struct body_piece *body_piece, struct exchange *v)
{
    enum server_handler handler = handler_of(s, path);
    enum verdict verdict;

    if (exchange_is_new(v))
        return check_headers(s, connection, path, method, v);
    if (v->state == EXCHANGE_WAITING)
        return send_queued_response(s, connection, handler, v);
    if (v->state == EXCHANGE_ANSWERED) {
        body_piece->len = 0;
        return MHD_YES;
    }
    verdict = access_control_admit(s->settings.access_control, connection,
                                   is_plain_health_request(connection, handler), &v->verdict);
    if (verdict == VERDICT_PENDING)
        return MHD_YES;
    if (body_piece->len > 0) {
        exchange_receive_piece(v, body_piece, verdict == VERDICT_ADMITTED, &s->plan_slot);
        return MHD_YES;
    }
    v->state = EXCHANGE_ANSWERED;
    if (verdict == VERDICT_UNAUTHORIZED)
        return send_fixed_reply(s, connection, handler, REPLY_UNAUTHORIZED);
    if (verdict == VERDICT_TOO_MANY || v->dropped)
        return send_fixed_reply(s, connection, handler, REPLY_TOO_MANY_REQUESTS);
    if (*s->settings.prefix != '\0' &&
        (strcmp(path, "/") == 0 || strcmp(path, s->settings.prefix) == 0))
        return send_redirect(s, connection);
    if (endpoint_of(handler))
        return queue_endpoint_request(s, connection, handler, v);
    if (handler == SERVER_RELOAD)
        return queue_reload_request(s, connection, handler, v);
    return send_page(s, connection, handler, v);
}
