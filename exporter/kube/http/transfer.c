/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/http/transfer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/socket.h>

#include "exporter/system/http_request.h"
#include "metrics/base/number.h"

enum { RETRY_AFTER_MAX_S = 300 };

int64_t retry_after_ms(int64_t seconds)
{
    if (seconds <= 0)
        return 0;
    return (seconds < RETRY_AFTER_MAX_S ? seconds : RETRY_AFTER_MAX_S) * 1000;
}

int64_t retry_after_parse_ms(const char *value)
{
    uint64_t seconds;

    if (!value || !parse_uint(value, UINT32_MAX, &seconds))
        return 0;
    return retry_after_ms((int64_t)seconds);
}

enum {
    URL_MAX_BYTES = 32 * 1024,
    BODY_MAX_GIB = 4,               /* Limit of a decompressed body of class REQUEST_SHORT. */
    STREAM_BUFFER_BYTES = 8 * 1024, /* Small: hundreds of streams are open. */
    LIST_BUFFER_BYTES = 64 * 1024,  /* For requests of class REQUEST_SHORT. */
    KEEPALIVE_IDLE_S = 30,
    KEEPALIVE_INTERVAL_S = 5,
    KEEPALIVE_PROBES = 3,
    USER_TIMEOUT_MS = 45 * 1000,
};

static size_t receive_header(char *bytes, size_t size, size_t count, void *context)
{
    static const char status_line[] = "HTTP/";
    struct transfer *t = context;
    size_t len = size * count;
    char line[256];

    snprintf(line, sizeof(line), "%.*s", (int)(len < sizeof(line) - 1 ? len : sizeof(line) - 1),
             bytes);
    line[strcspn(line, "\r\n")] = '\0';
    if (strncmp(line, status_line, sizeof(status_line) - 1) == 0) {
        /* Discard the headers of an earlier response to the request, such as 100 Continue. */
        t->retry_after_ms = 0;
        t->content_type[0] = '\0';
        t->version = line[sizeof(status_line) - 1] == '1' ? HTTP_1 : HTTP_2;
    } else if (strncasecmp(line, "Retry-After:", 12) == 0) {
        t->retry_after_ms = retry_after_parse_ms(line + 12 + strspn(line + 12, " \t"));
    } else if (strncasecmp(line, "Content-Type:", 13) == 0) {
        snprintf(t->content_type, sizeof(t->content_type), "%.*s", (int)sizeof(t->content_type) - 1,
                 line + 13 + strspn(line + 13, " \t"));
    } else if (line[0] == '\0') {
        long status = 0;

        curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
        t->http_status = status > 0 && status < 1000 ? (unsigned)status : 0;
        t->responded = t->http_status >= 200;
        if (t->responded)
            *t->server_version = t->version;
        if (t->responded && t->handler.responded)
            t->handler.responded(t->handler.context, t->http_status,
                                 *t->content_type ? t->content_type : NULL);
    }
    return len;
}

static size_t receive_body(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *t = context;
    size_t len = size * count;

    t->bytes += len;
    *t->body_received = true;
    if (t->class == REQUEST_SHORT && t->bytes >> 30 >= BODY_MAX_GIB)
        return 0;
    /* Abort instead of pausing: a paused stream stalls all streams of its connection. */
    return t->handler.data(t->handler.context, t->http_status, bytes, len) ? len : 0;
}

/* Lets the kernel detect dead servers, because curl 7.88 sends no HTTP/2 PING. */
static int set_socket_options(void *context, curl_socket_t socket, curlsocktype purpose)
{
    static const int on = 1, idle = KEEPALIVE_IDLE_S, interval = KEEPALIVE_INTERVAL_S,
                     probes = KEEPALIVE_PROBES;
    static const unsigned timeout = USER_TIMEOUT_MS;

    (void)context;
    (void)purpose;
    if (setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)) != 0 ||
        setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle)) != 0 ||
        setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval)) != 0 ||
        setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes)) != 0 ||
        setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof(timeout)) != 0)
        return CURL_SOCKOPT_ERROR;
    return CURL_SOCKOPT_OK;
}

static void set_curl_options(struct transfer *t, const struct kube_client_settings *settings)
{
    const char *protocols = settings->insecure_http ? "http,https" : "https";
    bool stream = t->class == REQUEST_STREAM;
    CURL *easy = t->easy;

    http_request_restrict(easy);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, protocols);
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "https");
    curl_easy_setopt(easy, CURLOPT_UNRESTRICTED_AUTH, 0L);
    /* Debian's curl would trust all public CAs in addition to the cluster's. */
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    /*
     * With TLS, which negotiates HTTP/2, wait for a stream instead of opening another connection.
     * Without TLS the server speaks HTTP/1.1 and each request needs a connection.
     */
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, strncmp(settings->server, "https:", 6) == 0 ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, 60L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, settings->user_agent);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, set_socket_options);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE,
                     (long)(stream ? STREAM_BUFFER_BYTES : LIST_BUFFER_BYTES));
    /*
     * Kubernetes 1.37 compresses each event of a stream as a separate gzip member, and libcurl
     * stops at the second member.
     */
    if (settings->gzip && !stream)
        curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
}

static bool set_request(struct transfer *t, const struct kube_client_settings *settings,
                        const struct transport_request *request, struct error *err)
{
    static const struct {
        const char *verb, *type;
    } writes[] = {
        [TRANSPORT_CREATE] = {"POST", "Content-Type: application/json"},
        [TRANSPORT_REPLACE] = {"PUT", "Content-Type: application/json"},
        [TRANSPORT_MERGE] = {"PATCH", "Content-Type: application/merge-patch+json"},
    };
    struct strbuf text = STRBUF_INIT(URL_MAX_BYTES);
    bool set;

    strbuf_addf(&text, "Accept: %s", request->accept);
    t->headers = curl_slist_append(t->headers, text.data);
    strbuf_reset(&text);
    strbuf_addf(&text, "%s%s", settings->server, request->path);
    set = strbuf_ok(&text) && curl_easy_setopt(t->easy, CURLOPT_URL, text.data) == CURLE_OK;
    strbuf_release(&text);
    if (!set)
        return fail(err, "the request is too long");
    if (!settings->identity.apply(settings->identity.context, t->easy, &t->headers, err))
        return false;
    if (request->method != TRANSPORT_READ) {
        t->headers = curl_slist_append(t->headers, writes[request->method].type);
        curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, writes[request->method].verb);
        curl_easy_setopt(t->easy, CURLOPT_COPYPOSTFIELDS, request->body);
    }
    curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
    return true;
}

struct transfer *transfer_new(const struct kube_client_settings *settings,
                              const struct transport_request *request)
{
    struct transfer *t = xcalloc(1, sizeof(*t));
    struct error err = {""};

    t->handler = request->handler;
    t->class = request->class;
    t->easy = curl_easy_init();
    if (!t->easy)
        memory_exhausted(0);
    set_curl_options(t, settings);
    curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
    curl_easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->error);
    curl_easy_setopt(t->easy, CURLOPT_HEADERFUNCTION, receive_header);
    curl_easy_setopt(t->easy, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, receive_body);
    curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
    if (!set_request(t, settings, request, &err)) {
        snprintf(t->error, sizeof(t->error), "%.*s", (int)sizeof(t->error) - 1, err.text);
        curl_easy_cleanup(t->easy);
        t->easy = NULL;
    }
    return t;
}

void transfer_free(struct transfer *t)
{
    if (!t)
        return;
    curl_easy_cleanup(t->easy);
    http_request_free_headers(t->headers);
    free(t);
}

void transfer_record_result(struct transfer *t, CURLcode code,
                            const struct kube_client_settings *settings)
{
    /* X509_V_ERR_* codes of openssl/x509_vfy.h: not signed by the trusted CA. */
    static const long not_signed[] = {2, 7, 18, 19, 20, 21};
    static const char prefix[] = "SSL certificate problem: ";
    char detail[48];
    long result = 0;

    t->complete = code == CURLE_OK;
    if (!t->complete && !*t->error)
        snprintf(t->error, sizeof(t->error), "%s", curl_easy_strerror(code));
    if (code != CURLE_PEER_FAILED_VERIFICATION || !settings->authority)
        return;
    /*
     * OpenSSL's "self-signed certificate" points at the server, but the usual cause is the CA of
     * the kubeconfig: an outdated one, or that of another cluster, possibly with the same name.
     */
    bool known = strncmp(t->error, prefix, sizeof(prefix) - 1) == 0;
    snprintf(detail, sizeof(detail), "%.*s", (int)sizeof(detail) - 1,
             t->error + (known ? sizeof(prefix) - 1 : 0));
    curl_easy_getinfo(t->easy, CURLINFO_SSL_VERIFYRESULT, &result);
    for (size_t i = 0; i < ARRAY_LEN(not_signed); i++) {
        if (result == not_signed[i])
            snprintf(t->error, sizeof(t->error),
                     "the server's certificate is not signed by %.100s (%s): the CA is outdated, "
                     "or belongs to another server",
                     settings->authority, detail);
    }
}

struct transport_result transfer_result(const struct transfer *t)
{
    return (struct transport_result){
        .complete = t->complete,
        .http_status = t->responded ? t->http_status : 0,
        .retry_after_ms = t->retry_after_ms,
        .content_type = *t->content_type ? t->content_type : NULL,
        .error = t->complete ? "" : t->error,
    };
}

bool transfer_waits_for_connection(const struct transfer *t)
{
    curl_off_t begun_us = 0;

    return t->added_to_curl && !t->responded &&
           curl_easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &begun_us) == CURLE_OK &&
           begun_us == 0;
}
