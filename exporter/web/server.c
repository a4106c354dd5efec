/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/server.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exporter/system/descriptors.h"
#include "exporter/system/file.h"
#include "exporter/system/platform.h"
#include "exporter/web/request.h"
#include "metrics/base/number.h"
#include "metrics/base/shown.h"

/* ---- listening sockets ---- */

bool address_parse(const char *text, struct address *out, struct error *err)
{
    static const char host_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789.-_:%";
    const char *colon = strrchr(text, ':');
    bool bracketed = text[0] == '[';
    struct address address = {.port = 0};
    uint64_t port;

    if (!colon || (bracketed && (colon == text || colon[-1] != ']')))
        return fail(err, "'%s' has no port, write it as ':19180' or 'host:19180'",
                    shown(text).text);
    if (!parse_uint(colon + 1, UINT16_MAX, &port))
        return fail(err, "the port in '%s' is not a number from 0 to 65535", shown(text).text);

    const char *host = bracketed ? text + 1 : text;
    size_t len = (size_t)(colon - text) - (bracketed ? 2 : 0);

    if (!bracketed && memchr(host, ':', len))
        return fail(err, "'%s' has too many colons, write an IPv6 address as '[::1]:19180'",
                    shown(text).text);
    if (bracketed && !memchr(host, ':', len))
        return fail(err, "the brackets in '%s' do not hold an IPv6 address", shown(text).text);
    if (len >= sizeof(address.host) || strspn(host, host_characters) < len)
        return fail(err, "'%s' does not begin with a host's name or address", shown(text).text);
    memcpy(address.host, host, len);
    address.port = (uint16_t)port;
    *out = address;
    return true;
}

enum {
    FAMILIES = 2,
    /* Bytes that the kernel buffers for a slow client beyond those already sent. */
    UNSENT_MAX = 256 * 1024,
};

static void free_addresses(struct addrinfo **list)
{
    if (*list)
        freeaddrinfo(*list);
}

/* Returns a listening socket, or -1 with errno. */
static int open_socket(const struct addrinfo *address)
{
    const int on = 1, off = 0, unsent = UNSENT_MAX;
    int type = address->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC;

    int fd = socket(address->ai_family, type, address->ai_protocol);
    if (fd < 0)
        return -1;
    /* Connections of a predecessor in TIME_WAIT must not delay a restart. */
    bool ready = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0;
    if (ready && address->ai_family == AF_INET6)
        ready = setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0;
    /* Accepted connections inherit the option. A kernel without the option buffers more. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
    if (ready && bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;

    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

bool listener_open(const struct address *address, int *out_fd, struct error *err)
{
    static const int everywhere[FAMILIES] = {AF_INET6, AF_INET};
    static const int named[FAMILIES] = {AF_INET, AF_INET6};
    const int *families = address->host[0] ? named : everywhere;
    const char *reason = NULL;
    char port[8];

    snprintf(port, sizeof(port), "%u", (unsigned)address->port);
    for (size_t i = 0; i < FAMILIES; i++) {
        CLEANUP(free_addresses) struct addrinfo *found = NULL;
        const struct addrinfo hints = {
            .ai_family = families[i],
            .ai_socktype = SOCK_STREAM,
            .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
        };
        int result = getaddrinfo(address->host[0] ? address->host : NULL, port, &hints, &found);

        if (result != 0) {
            if (!reason)
                reason = result == EAI_SYSTEM ? strerror(errno) : gai_strerror(result);
            continue;
        }
        int fd = open_socket(found);
        if (fd >= 0) {
            *out_fd = fd;
            return true;
        }
        reason = strerror(errno);
        /* Only a missing family or address is a reason to try the other family. */
        if (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL)
            break;
    }
    return fail(err, "%s", reason);
}

void listener_name(int fd, char out[LISTENER_NAME_MAX])
{
    struct sockaddr_storage bound = {0};
    socklen_t len = sizeof(bound);
    char host[INET6_ADDRSTRLEN + 20] = "?";
    char port[8] = "?";

    if (getsockname(fd, (struct sockaddr *)&bound, &len) == 0)
        getnameinfo((struct sockaddr *)&bound, len, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(out, LISTENER_NAME_MAX, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

/* ---- the server ---- */

enum {
    POOL_THREADS = 2,
    IDLE_SECONDS = 15,
    CONNECTIONS_MIN = 32, /* Lower bound of a connection limit derived from memory. */
    LOG_LINE_MAX = 256,
    API_REQUESTS_MAX = 64, /* API requests in the queue. */
    RELOADS_MAX = 8,       /* Reload requests in the queue. */
    /* Limit of unread responses if no memory limit is given. */
    RESPONSE_BYTES_DEFAULT = 256 * 1024 * 1024,
};

struct server {
    const struct log *log; /* Borrowed. */
    struct routes *routes;
    struct page_store *page_store; /* Borrowed. */
    uint64_t response_bytes_max;   /* Limit of unread responses and replaced metrics pages. */
    struct request_queue *request_queue;
    struct request_queue *reloads;         /* NULL: reloads by HTTP are disabled. */
    struct access_control *access_control; /* Borrowed. */
    struct connections *connections;
    struct MHD_Daemon *daemon;
    struct acceptor *acceptor;
    int *listeners;                   /* Listening sockets. */
    char (*names)[LISTENER_NAME_MAX]; /* Bound addresses of `listeners`. */
    size_t listener_count;
};

/* State of one connection; libmicrohttpd stores the pointer as socket context. */
struct server_client {
    struct connection *connection; /* NULL if libmicrohttpd reports no socket. */
    /* In force when the connection began; NULL without access control. */
    struct active_web_config *active_web_config;
    struct exchange exchange; /* The current request. */
};

/* Returns the state of the connection. Borrowed until the connection ends. */
static struct server_client *client_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void set_connection_state(struct server *s, struct MHD_Connection *connection,
                                 enum connection_state state)
{
    const struct server_client *client = client_of(connection);

    if (client->connection)
        connections_set_state(s->connections, client->connection, state, platform_steady_ms());
}

/* Callback after a request line was received. */
static void *on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
    struct exchange *exchange = &client_of(connection)->exchange;

    (void)context;
    exchange_begin(exchange, uri);
    return exchange;
}

static size_t on_unescape(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    return request_target_unescape(&client_of(connection)->exchange.target, text);
}

/* Checks a complete head. Returns false after refusing the request. */
static bool check_head(struct MHD_Connection *connection, const char *method, const char *version,
                       struct exchange *exchange)
{
    unsigned status =
        request_head_check(connection, method, version, &exchange->target, &exchange->malformed);

    if (status != 0)
        request_head_refuse(connection, status);
    return status == 0;
}

/* NOLINTNEXTLINE(readability-function-size): the signature is the library's. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *data_size, void **state)
{
    struct server *s = context;
    struct body_piece body_piece = {data, *data_size};
    bool content = request_content_len(connection) > 0;
    enum MHD_Result result;

    if (exchange_is_new(*state) && !check_head(connection, method, version, *state))
        return MHD_NO;
    /* A body has the same deadline as headers. */
    if (exchange_is_new(*state) || (content && body_piece.len == 0))
        set_connection_state(s, connection,
                             content && exchange_is_new(*state) ? CONNECTION_RECEIVING
                                                                : CONNECTION_ANSWERING);
    result = routes_handle_request(s->routes, connection, request_target_path(path), method,
                                   &body_piece, *state);
    *data_size = body_piece.len;
    return result;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode reason)
{
    struct server *s = context;

    (void)reason;
    exchange_end(&client_of(connection)->exchange);
    *state = NULL;
    set_connection_state(s, connection, CONNECTION_IDLE);
}

static struct server_client *server_client_new(struct server *s, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *fd =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct server_client *client = xcalloc(1, sizeof(*client));

    client->connection =
        fd ? connections_add(s->connections, fd->connect_fd, platform_steady_ms()) : NULL;

    const union MHD_ConnectionInfo *tls =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);

    client->active_web_config =
        access_control_acquire_config(s->access_control, tls ? tls->tls_session : NULL);
    return client;
}

static void server_client_free(struct server *s, struct server_client *client)
{
    if (client->connection)
        connections_remove(s->connections, client->connection);
    exchange_end(&client->exchange);
    access_control_release_config(s->access_control, client->active_web_config);
    free(client);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **slot,
                          enum MHD_ConnectionNotificationCode what)
{
    struct server *s = context;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *slot = server_client_new(s, connection);
    } else if (*slot) {
        server_client_free(s, *slot);
        *slot = NULL;
    }
}

/* Logs at level debug, because any client can cause messages of the library. */
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

static bool add_connection(void *context, int fd, const struct sockaddr *address, socklen_t len)
{
    const struct server *s = context;

    return MHD_add_connection(s->daemon, fd, address, len) == MHD_YES;
}

static bool is_memory_exceeded(void *context)
{
    const struct server *s = context;
    uint64_t unread = request_queue_unread(s->request_queue);

    return unread >= s->response_bytes_max ||
           page_store_holds_more(s->page_store, s->response_bytes_max - unread);
}

static bool listen_on(struct server *s, const char *text, struct error *err)
{
    struct address address;

    if (!address_parse(text, &address, err) ||
        !listener_open(&address, &s->listeners[s->listener_count], err))
        return fail_in(err, "cannot listen on '%s'", shown(text).text);
    listener_name(s->listeners[s->listener_count], s->names[s->listener_count]);
    s->listener_count++;
    return true;
}

static bool start_daemon(struct server *s, unsigned limit, struct error *err)
{
    /* Without MHD_USE_ITC the daemon would stop only after the next event of a client. */
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME |
                           MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG;
    const bool tls = access_control_certificate(s->access_control);
    /* Required, though access_control_acquire_config() sets the credentials of each session. */
    const struct MHD_OptionItem certificate[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0,
         (void *)(uintptr_t)access_control_certificate(s->access_control)},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)access_control_key(s->access_control)},
        {MHD_OPTION_END, 0, NULL},
    };

    /* The limit of each thread is the total limit: the acceptor has limited the connections. */
    s->daemon = MHD_start_daemon(
        flags | (tls ? MHD_USE_TLS : 0), 0, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER,
        on_library_log, s, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)POOL_THREADS,
        MHD_OPTION_CONNECTION_LIMIT, (limit + 1) * POOL_THREADS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY_BYTES,
        MHD_OPTION_URI_LOG_CALLBACK, on_uri, s, MHD_OPTION_UNESCAPE_CALLBACK, on_unescape, s,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
        s, MHD_OPTION_ARRAY, tls ? certificate : &certificate[2], MHD_OPTION_END);
    return s->daemon || fail(err, "cannot start the threads that serve HTTP");
}

static bool start_acceptor(struct server *s, int first_fd, struct error *err)
{
    const struct acceptor_settings settings = {
        .listeners = s->listeners,
        .listener_count = s->listener_count,
        .connections = s->connections,
        .first_fd = first_fd,
        .add_connection = add_connection,
        .is_memory_exceeded = is_memory_exceeded,
        .context = s,
    };

    s->acceptor = acceptor_start(&settings, err);
    return s->acceptor != NULL;
}

static unsigned connection_limit(const struct server_options *options, unsigned share)
{
    unsigned limit = options->connection_limit ? options->connection_limit : share;
    uint64_t buffers = options->memory_bytes / CONNECTION_MEMORY_BYTES;

    if (options->memory_bytes == 0 || buffers >= limit)
        return limit;
    return buffers > CONNECTIONS_MIN ? (unsigned)buffers : CONNECTIONS_MIN;
}

struct server *server_start(const struct server_options *options, struct page_store *page_store,
                            struct error *err)
{
    struct descriptor_shares shares = descriptor_shares_current();
    unsigned limit = connection_limit(options, shares.web);
    struct server *s = xcalloc(1, sizeof(*s));
    bool running;

    s->log = options->log;
    s->page_store = page_store;
    s->response_bytes_max = options->memory_bytes ? options->memory_bytes : RESPONSE_BYTES_DEFAULT;
    s->request_queue = request_queue_new(API_REQUESTS_MAX, s->response_bytes_max);
    s->reloads = options->lifecycle ? request_queue_new(RELOADS_MAX, 0) : NULL;
    s->access_control = options->access_control;
    s->routes = routes_new(&(struct routes_settings){.telemetry_path = options->telemetry_path,
                                                     .prefix = options->prefix,
                                                     .page_store = page_store,
                                                     .request_queue = s->request_queue,
                                                     .reloads = s->reloads,
                                                     .plans = options->plans,
                                                     .access_control = s->access_control,
                                                     .heartbeat = options->heartbeat},
                           err);
    s->connections = connections_new(limit);
    s->listeners = xcalloc(options->address_count, sizeof(*s->listeners));
    s->names = xcalloc(options->address_count, sizeof(*s->names));
    running = s->routes != NULL;
    for (size_t i = 0; running && i < options->address_count; i++)
        running = listen_on(s, options->addresses[i], err);
    if (running && start_daemon(s, limit, err) && start_acceptor(s, shares.web_min_fd, err))
        return s;
    server_stop(s);
    return NULL;
}

void server_stop(struct server *s)
{
    if (!s)
        return;
    acceptor_stop(s->acceptor);
    for (size_t i = 0; i < s->listener_count; i++)
        close(s->listeners[i]);
    /* Resume all suspended connections: MHD_stop_daemon() requires it. */
    request_queue_close(s->request_queue);
    if (s->reloads)
        request_queue_close(s->reloads);
    access_control_stop_checks(s->access_control);
    MHD_stop_daemon(s->daemon);
    request_queue_free(s->request_queue);
    request_queue_free(s->reloads);
    connections_free(s->connections);
    routes_free(s->routes);
    free(s->listeners);
    free(s->names);
    free(s);
}

void server_set_ready(struct server *s, bool ready, const char *text)
{
    routes_set_ready(s->routes, ready, text);
}

struct request_queue *server_request_queue(const struct server *s)
{
    return s->request_queue;
}

struct request_queue *server_reload_queue(const struct server *s)
{
    return s->reloads;
}

int server_listener_fd(const struct server *s, size_t at)
{
    return s->listeners[at];
}

const char *server_address(const struct server *s, size_t at)
{
    assert(at < s->listener_count);
    return s->names[at];
}

uint64_t server_requests(const struct server *s, enum server_handler handler, enum server_code code)
{
    return routes_request_count(s->routes, handler, code);
}

uint64_t server_refused(const struct server *s, enum connection_refusal reason)
{
    return connections_refused(s->connections, reason);
}
