/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/site.h"

#include <pthread.h>
#include <stdatomic.h>

#include "exporter/system/platform.h"
#include "exporter/web/request.h"
#include "exporter/web/response.h"

enum { TEXT_MAX = 256 };

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

/* What it is asked again after, where it is unavailable. */
#define RETRY_SECONDS "5"

struct site {
    struct snapshot *snapshot;         /* Borrowed. */
    const struct heartbeat *heartbeat; /* Borrowed. */
    char *telemetry_path;
    struct MHD_Response *replies[REPLIES];
    pthread_mutex_t lock; /* Guards the two below, not what the response holds. */
    struct MHD_Response *readiness;
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

    response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, RETRY_SECONDS);
    return response;
}

static enum MHD_Result send_reply(struct site *s, struct MHD_Connection *connection,
                                  enum reply reply, unsigned *out_status)
{
    *out_status = reply_defs[reply].status;
    return MHD_queue_response(connection, *out_status, s->replies[reply]);
}

/* Asked of the loop's heart by the thread that answers: a page would be as old as the loop is. */
static enum MHD_Result send_health(struct site *s, struct MHD_Connection *connection,
                                   unsigned *out_status)
{
    int64_t age_ms = s->heartbeat ? heartbeat_age_ms(s->heartbeat, platform_steady_ms()) : 0;
    char text[TEXT_MAX];

    if (age_ms <= HEARTBEAT_LIMIT_MS)
        return send_reply(s, connection, REPLY_HEALTHY, out_status);
    snprintf(text, sizeof(text),
             "karmada-policy-exporter is not healthy: its loop stands still for %" PRId64
             " s, and %d s is the most; what it serves is as old\n",
             age_ms / 1000, HEARTBEAT_LIMIT_MS / 1000);
    struct MHD_Response *response = make_unavailable(text);
    enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_SERVICE_UNAVAILABLE, response);

    MHD_destroy_response(response);
    *out_status = MHD_HTTP_SERVICE_UNAVAILABLE;
    return result;
}

static enum MHD_Result send_readiness(struct site *s, struct MHD_Connection *connection,
                                      unsigned *out_status)
{
    /* A text that is replaced is released: under the lock the queue gets its own reference. */
    pthread_mutex_lock(&s->lock);
    enum MHD_Result result = MHD_queue_response(connection, s->ready_status, s->readiness);
    *out_status = s->ready_status;
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
    enum MHD_Result result;

    if ((unsigned)handler < PAGE_COUNT)
        result = snapshot_serve(s->snapshot, (enum page)handler, connection, &status);
    else if (handler == SERVER_HEALTHY || handler == SERVER_LIVEZ || handler == SERVER_HEALTHZ)
        result = send_health(s, connection, &status);
    else if (handler == SERVER_READY || handler == SERVER_READYZ)
        result = send_readiness(s, connection, &status);
    else
        result = send_reply(s, connection, REPLY_NOT_FOUND, &status);
    count_request(s, handler, status);
    return result;
}

struct site *site_new(const char *telemetry_path, struct snapshot *snapshot,
                      const struct heartbeat *heartbeat, struct error *err)
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
    s->heartbeat = heartbeat;
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
    s->ready_status = ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
    pthread_mutex_unlock(&s->lock);

    if (old)
        MHD_destroy_response(old);
}

uint64_t site_requests(const struct site *s, enum server_handler handler, enum server_code code)
{
    return atomic_load_explicit(&s->requests[handler][code], memory_order_relaxed);
}
