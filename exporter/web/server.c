/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/server.h"

#include <unistd.h>

#include "exporter/web/listener.h"
#include "exporter/web/reaper.h"
#include "exporter/web/site.h"

enum {
    POOL_THREADS = 2,
    CONNECTIONS = 512,
    IDLE_SECONDS = 15,
    CONNECTION_BYTES = 32 * 1024, /* A request's line and headers fit, or it is refused. */
    LOG_LINE_MAX = 256,
};

struct listening {
    struct MHD_Daemon *daemon;
    char name[LISTENER_NAME_MAX];
};

struct server {
    const struct log *log; /* Borrowed. */
    struct site *site;
    struct reaper *reaper;
    struct listening *listening;
    size_t listening_count;
};

static void enter_phase(struct server *s, struct MHD_Connection *connection,
                        enum reaper_phase phase)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    if (info && info->socket_context)
        reaper_enter(s->reaper, info->socket_context, phase, reaper_now_ms());
}

/* libmicrohttpd has read a request line. */
static void *on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
    (void)context;
    (void)connection;
    return site_state(uri);
}

/* NOLINTNEXTLINE(readability-function-size): the signature is the library's. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *data_size, void **state)
{
    struct server *s = context;

    (void)version;
    (void)data;
    *data_size = 0;
    if (site_begins(state))
        enter_phase(s, connection, REAPER_ANSWER);
    return site_answer(s->site, connection, path, method, state);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode reason)
{
    struct server *s = context;

    (void)reason;
    *state = NULL;
    enter_phase(s, connection, REAPER_IDLE);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **slot,
                          enum MHD_ConnectionNotificationCode what)
{
    struct server *s = context;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

        *slot = info ? reaper_add(s->reaper, info->connect_fd, reaper_now_ms()) : NULL;
    } else if (*slot) {
        reaper_remove(s->reaper, *slot);
        *slot = NULL;
    }
}

/* At debug, because anybody who connects can make the library log something. */
static void PRINTF_LIKE(2, 0) on_library_log(void *context, const char *fmt, va_list args)
{
    const struct server *s = context;
    char text[LOG_LINE_MAX];

    if (!s->log)
        return;
    vsnprintf(text, sizeof(text), fmt, args);
    text[strcspn(text, "\n")] = '\0';
    log_write(s->log, LOG_LEVEL_DEBUG, text, "component", "libmicrohttpd");
}

static bool listen_on(struct server *s, const char *text, unsigned limit, struct error *err)
{
    struct listening *l = &s->listening[s->listening_count];
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG;
    struct address address;
    int fd;

    if (!address_parse(text, &address, err) || !listener_open(&address, &fd, err))
        return fail_in(err, "cannot listen on '%s'", text);
    listener_name(fd, l->name);
    /* The daemon closes the socket, also when it does not start. */
    l->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, on_library_log, s,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)POOL_THREADS,
        MHD_OPTION_CONNECTION_LIMIT, limit, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_STRICT_FOR_CLIENT,
        1, MHD_OPTION_URI_LOG_CALLBACK, on_uri, s, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_END);
    if (!l->daemon)
        return fail(err, "cannot listen on '%s': cannot start its threads", text);
    s->listening_count++;
    return true;
}

struct server *server_start(const struct server_options *options, struct snapshot *snapshot,
                            struct error *err)
{
    unsigned limit = options->connection_limit ? options->connection_limit : CONNECTIONS;
    struct server *s = xcalloc(1, sizeof(*s));
    bool running;

    s->log = options->log;
    s->site = site_new(options->telemetry_path, snapshot, options->heartbeat, err);
    s->reaper = reaper_new(limit);
    s->listening = xcalloc(options->address_count, sizeof(*s->listening));
    running = s->site && reaper_start(s->reaper, err);
    for (size_t i = 0; running && i < options->address_count; i++)
        running = listen_on(s, options->addresses[i], limit, err);
    if (running)
        return s;
    server_stop(s);
    return NULL;
}

void server_stop(struct server *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->listening_count; i++)
        MHD_stop_daemon(s->listening[i].daemon);
    reaper_free(s->reaper);
    site_free(s->site);
    free(s->listening);
    free(s);
}

void server_set_ready(struct server *s, bool ready, const char *text)
{
    site_set_ready(s->site, ready, text);
}

const char *server_address(const struct server *s, size_t at)
{
    assert(at < s->listening_count);
    return s->listening[at].name;
}

uint64_t server_requests(const struct server *s, enum server_handler handler, enum server_code code)
{
    return site_requests(s->site, handler, code);
}
