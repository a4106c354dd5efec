/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/site.h"

#include <stdatomic.h>

#include "exporter/web/list_format.h"
#include "exporter/web/place.h"
#include "exporter/web/request.h"
#include "exporter/web/response.h"

enum { ERROR_MAX = 4096 };

/* A name that is not a text does not compile: nothing else follows "". */
#define HANDLER_NAME(id, name, ...)       "" name,
#define HANDLER_PATH(id, name, path, ...) path,

const char *const server_handler_names[SERVER_HANDLERS] = {
    PAGES(HANDLER_NAME) ENDPOINTS(HANDLER_NAME) ANSWERS(HANDLER_NAME)};

/* What may be asked for by which methods. */
static const char *methods_of(enum server_handler handler)
{
    return handler == SERVER_RELOAD ? REQUEST_ORDERS : REQUEST_READS;
}

/* Compared whole, as decoded. NULL: the telemetry path. */
static const char *const paths[SERVER_HANDLERS] = {PAGES(HANDLER_PATH) ENDPOINTS(HANDLER_PATH)
                                                       ANSWERS(HANDLER_PATH)};

/* The endpoint that a handler stands for; NULL if it is none. They follow the pages, in order. */
static const struct endpoint *endpoint_of(enum server_handler handler)
{
    unsigned at = (unsigned)handler - PAGE_COUNT;

    return at < ENDPOINT_COUNT ? &endpoints[at] : NULL;
}

#define CODE_NAME(number)   #number,
#define CODE_STATUS(number) number,

const char *const server_code_names[SERVER_CODES] = {STATUS_CODES(CODE_NAME)};
static const unsigned statuses[SERVER_CODES] = {STATUS_CODES(CODE_STATUS)};

/* The answers that are always the same. */
enum reply {
    REPLY_MALFORMED,
    REPLY_METHOD,
    REPLY_CONTENT,
    REPLY_NOT_FOUND,
    REPLY_UNKNOWN,
    REPLY_NO_LIFECYCLE,
    REPLY_TOO_MANY,
    REPLIES
};

static const struct reply_def {
    unsigned status;
    const char *text;
    const char *header, *value; /* NULL: none of its own. */
    bool close;                 /* End the connection: there may be a body that we do not read. */
} reply_defs[REPLIES] = {
    [REPLY_MALFORMED] = {MHD_HTTP_BAD_REQUEST, "bad request\n", NULL, NULL, true},
    [REPLY_METHOD] = {MHD_HTTP_METHOD_NOT_ALLOWED,
                      "method not allowed: the header Allow has those that are\n", NULL, NULL,
                      true},
    [REPLY_CONTENT] = {MHD_HTTP_CONTENT_TOO_LARGE, "a request must not have a body\n", NULL, NULL,
                       true},
    [REPLY_NOT_FOUND] = {MHD_HTTP_NOT_FOUND, "not found\n", NULL, NULL, false},
    [REPLY_UNKNOWN] = {MHD_HTTP_UNAUTHORIZED, "unauthorized: give a user and a password\n",
                       MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                       "Basic realm=\"karmada-policy-exporter\", charset=\"UTF-8\"", false},
    [REPLY_NO_LIFECYCLE] = {MHD_HTTP_FORBIDDEN,
                            "the lifecycle API is off: --web.enable-lifecycle switches it on\n",
                            NULL, NULL, false},
    [REPLY_TOO_MANY] = {MHD_HTTP_TOO_MANY_REQUESTS, "too many requests: ask again in a moment\n",
                        MHD_HTTP_HEADER_RETRY_AFTER, "1", true},
};

struct site {
    struct site_parts parts;
    char *telemetry_path; /* A copy. */
    struct probes *probes;
    _Atomic uint64_t requests[SERVER_HANDLERS][SERVER_CODES];
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

static enum server_handler handler_of(const struct site *s, const char *path)
{
    return find_handler(s->telemetry_path, place_inside(s->parts.prefix, path));
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
    _Atomic(enum verdict) verdict;
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

static enum MHD_Result send_response(struct site *s, struct MHD_Connection *connection,
                                     enum server_handler handler, unsigned status,
                                     struct MHD_Response *response)
{
    count_request(s, handler, status);
    return response_send(s->parts.admission, connection, status, response);
}

static enum MHD_Result send_reply(struct site *s, struct MHD_Connection *connection,
                                  enum server_handler handler, enum reply reply)
{
    const struct reply_def *def = &reply_defs[reply];
    struct MHD_Response *response = response_text(def->text);

    if (def->header)
        response_header(response, def->header, def->value);
    if (reply == REPLY_METHOD)
        response_header(response, MHD_HTTP_HEADER_ALLOW, methods_of(handler));
    if (def->close)
        response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    return send_response(s, connection, handler, def->status, response);
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
    enum server_handler handler = handler_of(s, path);
    enum request_verdict verdict =
        v->bad_uri ? REQUEST_MALFORMED : request_check(connection, method, methods_of(handler));

    v->state = verdict == REQUEST_FINE ? STATE_SOUND : STATE_ANSWERED;
    if (verdict == REQUEST_FINE)
        return MHD_YES;
    return send_reply(s, connection, v->bad_uri ? SERVER_OTHER : handler, refusals[verdict]);
}

static enum MHD_Result send_error(struct site *s, struct MHD_Connection *connection,
                                  enum server_handler handler, unsigned status, const char *text)
{
    struct strbuf body = STRBUF_INIT(ERROR_MAX);
    size_t len;

    const char *type = api_error_write(endpoint_of(handler), &body, text);
    char *bytes = strbuf_take(&body, &len);

    return send_response(s, connection, handler, status, response_new(bytes, len, type));
}

/* Have the loop answer; what is wrong with the query is answered here. */
static enum MHD_Result send_call(struct site *s, struct MHD_Connection *connection,
                                 enum server_handler handler, struct visit *v)
{
    const struct endpoint *endpoint = endpoint_of(handler);
    CLEANUP(query_release) struct query query;
    struct error err;

    if (!query_parse(connection, endpoint->known, endpoint->required, &query, &err))
        return send_error(s, connection, handler, MHD_HTTP_BAD_REQUEST, err.text);
    if (endpoint->known & PARAMETER_BIT(FORMAT))
        list_format_accept(connection, &query);
    v->call = call_new(endpoint, &query);
    v->state = STATE_WAITING;
    if (desk_submit(s->parts.desk, v->call, connection))
        return MHD_YES;
    v->state = STATE_ANSWERED;
    return send_error(s, connection, handler, MHD_HTTP_SERVICE_UNAVAILABLE,
                      "too many ask at once: ask again in a moment");
}

/* Have the loop reload, and wait for the end of that. */
static enum MHD_Result send_order(struct site *s, struct MHD_Connection *connection,
                                  enum server_handler handler, struct visit *v)
{
    struct query none = {{0}};

    if (!s->parts.reloads)
        return send_reply(s, connection, handler, REPLY_NO_LIFECYCLE);
    v->call = call_new(NULL, &none);
    v->state = STATE_WAITING;
    if (desk_submit(s->parts.reloads, v->call, connection))
        return MHD_YES;
    v->state = STATE_ANSWERED;
    return send_reply(s, connection, handler, REPLY_TOO_MANY);
}

/* To where the site is, for who asks for "/" or forgets the last '/'. */
static enum MHD_Result send_there(struct site *s, struct MHD_Connection *connection)
{
    CLEANUP(strbuf_release) struct strbuf there = STRBUF_INIT(ERROR_MAX);
    struct MHD_Response *response = response_text("");

    strbuf_addf(&there, "%s/", s->parts.prefix);
    response_header(response, MHD_HTTP_HEADER_LOCATION, there.data);
    return send_response(s, connection, SERVER_OTHER, MHD_HTTP_FOUND, response);
}

static enum MHD_Result send_page(struct site *s, struct MHD_Connection *connection,
                                 enum server_handler handler, const struct visit *v)
{
    const struct probe probe = {
        .connection = connection,
        .name = server_handler_names[handler],
        .anonymous = v->verdict == VERDICT_ANONYMOUS,
    };
    struct MHD_Response *response;
    unsigned status;

    if ((unsigned)handler < PAGE_COUNT)
        response = snapshot_response(s->parts.snapshot, (enum page)handler, connection, &status);
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

enum MHD_Result site_answer(struct site *s, struct MHD_Connection *connection, const char *path,
                            const char *method, struct visit *v)
{
    enum server_handler handler = handler_of(s, path);
    enum verdict verdict;

    if (visit_begins(v))
        return begin_request(s, connection, path, method, v);
    if (v->state == STATE_ANSWERED)
        return MHD_YES;
    if (v->state == STATE_WAITING) {
        v->state = STATE_ANSWERED;
        return send_response(s, connection, handler, v->call->status, call_response(v->call));
    }
    verdict =
        admission_admit(s->parts.admission, connection, is_probe(connection, handler), &v->verdict);
    if (verdict == VERDICT_WAITS)
        return MHD_YES;
    v->state = STATE_ANSWERED;
    if (verdict == VERDICT_UNKNOWN || verdict == VERDICT_TOO_MANY)
        return send_reply(s, connection, handler,
                          verdict == VERDICT_UNKNOWN ? REPLY_UNKNOWN : REPLY_TOO_MANY);
    if (*s->parts.prefix != '\0' && (strcmp(path, "/") == 0 || strcmp(path, s->parts.prefix) == 0))
        return send_there(s, connection);
    if (endpoint_of(handler))
        return send_call(s, connection, handler, v);
    if (handler == SERVER_RELOAD)
        return send_order(s, connection, handler, v);
    return send_page(s, connection, handler, v);
}

struct site *site_new(const struct site_parts *parts, struct error *err)
{
    const char *telemetry_path = parts->telemetry_path;

    if (!place_is_plain(telemetry_path)) {
        fail(err, "the telemetry path '%s' is not a plain path like '/metrics'", telemetry_path);
        return NULL;
    }
    if (find_handler("", telemetry_path) != SERVER_OTHER) {
        fail(err, "the telemetry path '%s' is taken by another page", telemetry_path);
        return NULL;
    }
    struct site *s = xcalloc(1, sizeof(*s));

    s->parts = *parts;
    s->parts.prefix = parts->prefix ? parts->prefix : "";
    s->probes = probes_new(parts->heartbeat);
    s->telemetry_path = xstrdup(telemetry_path);
    return s;
}

void site_free(struct site *s)
{
    if (!s)
        return;
    probes_free(s->probes);
    free(s->telemetry_path);
    free(s);
}

void site_set_ready(struct site *s, bool ready, const char *text)
{
    probes_set_ready(s->probes, ready, text);
}

uint64_t site_requests(const struct site *s, enum server_handler handler, enum server_code code)
{
    return atomic_load_explicit(&s->requests[handler][code], memory_order_relaxed);
}
