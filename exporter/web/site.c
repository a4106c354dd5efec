/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/site.h"

#include <stdatomic.h>

#include "exporter/web/request.h"
#include "exporter/web/response.h"

/* A name that is not a text does not compile: nothing else follows "". */
#define HANDLER_NAME(id, name, ...)       "" name,
#define HANDLER_PATH(id, name, path, ...) path,

const char *const server_handler_names[SERVER_HANDLERS] = {PAGES(HANDLER_NAME)
                                                               ANSWERS(HANDLER_NAME)};

/* Compared whole, as decoded. NULL: the telemetry path. */
static const char *const paths[SERVER_HANDLERS] = {PAGES(HANDLER_PATH) ANSWERS(HANDLER_PATH)};

const char *const server_code_names[SERVER_CODES] = {
    [SERVER_200] = "200", [SERVER_400] = "400", [SERVER_404] = "404",
    [SERVER_405] = "405", [SERVER_413] = "413", [SERVER_503] = "503",
};

static const unsigned statuses[SERVER_CODES] = {
    [SERVER_200] = MHD_HTTP_OK,
    [SERVER_400] = MHD_HTTP_BAD_REQUEST,
    [SERVER_404] = MHD_HTTP_NOT_FOUND,
    [SERVER_405] = MHD_HTTP_METHOD_NOT_ALLOWED,
    [SERVER_413] = MHD_HTTP_CONTENT_TOO_LARGE,
    [SERVER_503] = MHD_HTTP_SERVICE_UNAVAILABLE,
};

/* The answers that are always the same. */
enum reply {
    REPLY_HEALTHY,
    REPLY_READY,
    REPLY_NOT_READY,
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
    [REPLY_READY] = {MHD_HTTP_OK, "karmada-policy-exporter is Ready.\n", NULL, NULL, false},
    [REPLY_NOT_READY] = {MHD_HTTP_SERVICE_UNAVAILABLE,
                         "karmada-policy-exporter is not ready: not everything was read yet\n",
                         MHD_HTTP_HEADER_RETRY_AFTER, "5", false},
    [REPLY_MALFORMED] = {MHD_HTTP_BAD_REQUEST, "bad request\n", NULL, NULL, true},
    [REPLY_METHOD] = {MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed: use GET or HEAD\n",
                      MHD_HTTP_HEADER_ALLOW, "GET, HEAD", true},
    [REPLY_CONTENT] = {MHD_HTTP_CONTENT_TOO_LARGE, "a request must not have a body\n", NULL, NULL,
                       true},
    [REPLY_NOT_FOUND] = {MHD_HTTP_NOT_FOUND, "not found\n", NULL, NULL, false},
};

struct site {
    struct snapshot *snapshot; /* Borrowed. */
    char *telemetry_path;
    struct MHD_Response *replies[REPLIES];
    atomic_bool ready;
    _Atomic uint64_t requests[SERVER_HANDLERS][SERVER_CODES];
};

static enum MHD_Result send_reply(struct site *s, struct MHD_Connection *connection,
                                  enum reply reply, unsigned *out_status)
{
    *out_status = reply_defs[reply].status;
    return MHD_queue_response(connection, *out_status, s->replies[reply]);
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

/* libmicrohttpd keeps it for us between its calls for one request, in a pointer. */
enum state { STATE_NEW, STATE_BAD_URI, STATE_SOUND, STATE_ANSWERED };

static void *state_pointer(enum state state)
{
    return (void *)(uintptr_t)state;
}

void *site_state(const char *uri)
{
    return state_pointer(request_uri_has_nul(uri) ? STATE_BAD_URI : STATE_NEW);
}

/* The headers are complete: refuse the request, which closes the connection, or let it go on. */
static enum MHD_Result begin_request(struct site *s, struct MHD_Connection *connection,
                                     const char *path, const char *method, void **state)
{
    static const enum reply refusals[] = {
        [REQUEST_MALFORMED] = REPLY_MALFORMED,
        [REQUEST_METHOD] = REPLY_METHOD,
        [REQUEST_WITH_CONTENT] = REPLY_CONTENT,
    };
    bool bad_uri = *state == state_pointer(STATE_BAD_URI);
    enum request_verdict verdict = request_check(connection, method);
    unsigned status;

    if (bad_uri)
        verdict = REQUEST_MALFORMED;
    if (verdict == REQUEST_FINE) {
        *state = state_pointer(STATE_SOUND);
        return MHD_YES;
    }
    *state = state_pointer(STATE_ANSWERED);
    enum MHD_Result result = send_reply(s, connection, refusals[verdict], &status);
    count_request(s, bad_uri ? SERVER_OTHER : find_handler(s->telemetry_path, path), status);
    return result;
}

bool site_begins(void *const *state)
{
    return *state == state_pointer(STATE_NEW) || *state == state_pointer(STATE_BAD_URI);
}

enum MHD_Result site_answer(struct site *s, struct MHD_Connection *connection, const char *path,
                            const char *method, void **state)
{
    unsigned status;

    if (site_begins(state))
        return begin_request(s, connection, path, method, state);
    if (*state == state_pointer(STATE_ANSWERED))
        return MHD_YES;
    *state = state_pointer(STATE_ANSWERED);

    enum server_handler handler = find_handler(s->telemetry_path, path);
    enum reply reply = REPLY_NOT_FOUND;
    enum MHD_Result result;

    if (handler == SERVER_HEALTHY)
        reply = REPLY_HEALTHY;
    else if (handler == SERVER_READY)
        reply = atomic_load(&s->ready) ? REPLY_READY : REPLY_NOT_READY;
    if ((unsigned)handler < PAGE_COUNT)
        result = snapshot_serve(s->snapshot, (enum page)handler, connection, &status);
    else
        result = send_reply(s, connection, reply, &status);
    count_request(s, handler, status);
    return result;
}

struct site *site_new(const char *telemetry_path, struct snapshot *snapshot, struct error *err)
{
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

    s->snapshot = snapshot;
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
    free(s->telemetry_path);
    free(s);
}

void site_set_ready(struct site *s, bool ready)
{
    atomic_store(&s->ready, ready);
}

uint64_t site_requests(const struct site *s, enum server_handler handler, enum server_code code)
{
    return atomic_load_explicit(&s->requests[handler][code], memory_order_relaxed);
}
