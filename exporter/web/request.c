/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/request.h"

#include <gnutls/gnutls.h>
#include <strings.h>
#include <sys/socket.h>

#include "metrics/base/number.h"

/* ---- method, framing and body ---- */

enum { HEADER_MAX = 1024, MANIFESTS_MAX = 1 << 20 };

const struct request_rule request_rule_read = {"GET, HEAD", 0};
const struct request_rule request_rule_action = {"POST, PUT", 0};
const struct request_rule request_rule_manifests = {"POST", MANIFESTS_MAX};

/* Headers that determine the end of a request. */
struct framing {
    unsigned lengths;
    unsigned encodings;
    bool has_body; /* A Content-Length other than 0. */
};

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    struct framing *f = context;

    (void)kind;
    if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
        f->encodings++;
    } else if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
        f->lengths++;
        f->has_body = f->has_body || !value || strspn(value, "0") != strlen(value);
    }
    return MHD_YES;
}

/* Returns true if a list such as "GET, HEAD" contains the method. */
static bool is_method_in(const char *method, const char *list)
{
    size_t len = strlen(method);

    for (const char *at = list; *at != '\0'; at += strspn(at, ", ")) {
        size_t size = strcspn(at, ",");

        if (size == len && memcmp(at, method, len) == 0)
            return true;
        at += size;
    }
    return false;
}

/* Values of the headers of one name, joined by commas. */
struct joined_header {
    const char *name;
    struct strbuf values;
};

static enum MHD_Result join_value(void *context, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    struct joined_header *joined = context;

    (void)kind;
    if (value && strcasecmp(name, joined->name) == 0)
        strbuf_addf(&joined->values, "%s%s", joined->values.len > 0 ? "," : "", value);
    return MHD_YES;
}

struct strbuf request_header_values(struct MHD_Connection *connection, const char *name)
{
    struct joined_header joined = {name, STRBUF_SECRET(HEADER_MAX)};

    MHD_get_connection_values(connection, MHD_HEADER_KIND, join_value, &joined);
    if (!strbuf_ok(&joined.values))
        strbuf_reset(&joined.values);
    return joined.values;
}

uint64_t request_content_len(struct MHD_Connection *connection)
{
    const char *text =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t len;

    if (!text)
        return 0;
    return parse_uint(text, UINT64_MAX, &len) ? len : UINT64_MAX;
}

/* Returns true if Content-Type is this media type, with any parameters. */
static bool has_type(struct MHD_Connection *connection, const char *wanted)
{
    CLEANUP(strbuf_release)
    struct strbuf type = request_header_values(connection, MHD_HTTP_HEADER_CONTENT_TYPE);
    size_t len = strcspn(type.data, "; \t");

    return len == strlen(wanted) && strncasecmp(type.data, wanted, len) == 0 &&
           !strchr(type.data, ',');
}

bool request_is_json(struct MHD_Connection *connection)
{
    return has_type(connection, "application/json");
}

static enum request_verdict check_content(struct MHD_Connection *connection,
                                          const struct request_rule *rule)
{
    if (rule->content_max == 0)
        return REQUEST_UNWANTED_BODY;
    if (request_content_len(connection) > rule->content_max)
        return REQUEST_TOO_LARGE;
    /* Browsers send these types to other sites only after a CORS preflight request. */
    return has_type(connection, "application/yaml") || request_is_json(connection)
               ? REQUEST_VALID
               : REQUEST_BAD_MEDIA_TYPE;
}

enum request_verdict request_rule_check(struct MHD_Connection *connection, const char *method,
                                        const struct request_rule *rule)
{
    struct framing framing = {.lengths = 0};

    MHD_get_connection_values(connection, MHD_HEADER_KIND, count_header, &framing);
    if (framing.encodings > 0 || framing.lengths > 1)
        return REQUEST_MALFORMED;
    if (!is_method_in(method, rule->methods))
        return REQUEST_BAD_METHOD;
    return framing.has_body ? check_content(connection, rule) : REQUEST_VALID;
}

/* ---- head ---- */

enum {
    /* Memory of the library for a header, a cookie or an argument. */
    RECORD_BYTES = 64,
    VERSION_LEN = 8, /* "HTTP/1.1": the library refuses all other lengths. */
    LINE_END_LEN = 2,
    ANSWER_MAX = 512,
};

static bool is_printable(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7F)
            return false;
    }
    return true;
}

struct request_target request_target_split(const char *uri)
{
    struct request_target target = {.start = uri, .len = strlen(uri)};
    const char *mark = strchr(uri, '?');

    target.is_bad = strpbrk(uri, " \t") || !is_printable(uri, target.len) || strstr(uri, "%00");
    if (mark) {
        /* The library passes its own buffer, which is writable. */
        target.query = (char *)(uintptr_t)mark + 1;
        target.query_first = *target.query;
        *target.query = '\0';
    }
    return target;
}

size_t request_target_unescape(struct request_target *target, char *text)
{
    if (text == target->hidden) {
        /* `text` is the value of the first argument. Hide further arguments, or the version. */
        *text = target->hidden_first;
        text[strlen(text) + 1] = '\0';
    } else if (text != target->start) {
        target->hidden = text + strlen(text) + 1;
        target->hidden_first = *target->hidden;
        *target->hidden = '\0';
    }
    return MHD_http_unescape(text);
}

/* Comparison of the parts that the library reports with the received bytes. */
struct head {
    const char *at; /* End of the parts compared so far. */
    bool contiguous;
    bool well_formed; /* Names are tokens (RFC 9110, 5.1), values have no control characters. */
    unsigned hosts;
};

static bool is_token(const char *name, size_t len)
{
    static const char characters[] = "!#$%&'*+-.^_`|~0123456789"
                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    return len > 0 && strspn(name, characters) == len;
}

/* NOLINTNEXTLINE(readability-function-size): the signature is the library's. */
static enum MHD_Result compare_header(void *context, enum MHD_ValueKind kind, const char *name,
                                      size_t name_len, const char *value, size_t value_len)
{
    struct head *head = context;

    (void)kind;
    head->contiguous =
        name == head->at && name + name_len + 1 + strspn(name + name_len + 1, " \t") == value;
    head->at = value + value_len + LINE_END_LEN;
    head->well_formed =
        head->well_formed && is_token(name, name_len) && is_printable(value, value_len);
    head->hosts += strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0;
    return head->contiguous ? MHD_YES : MHD_NO;
}

static size_t head_len(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)
        ->header_size;
}

static struct head compare_head(struct MHD_Connection *connection, const char *method,
                                const char *version, const struct request_target *target)
{
    struct head head = {.at = version + VERSION_LEN + LINE_END_LEN, .well_formed = true};

    head.contiguous = !target->hidden && target->start == method + strlen(method) + 1 &&
                      version == target->start + target->len + 1;
    if (head.contiguous)
        MHD_get_connection_values_n(connection, MHD_HEADER_KIND, compare_header, &head);
    head.contiguous = head.contiguous && head.at + LINE_END_LEN == method + head_len(connection);
    return head;
}

/* NOLINTNEXTLINE(readability-function-size): the signature is the library's. */
static enum MHD_Result add_cookie_len(void *context, enum MHD_ValueKind kind, const char *name,
                                      size_t name_len, const char *value, size_t value_len)
{
    size_t *bytes = context;

    (void)kind;
    /* The library copies the value of a Cookie header. */
    if (name_len == strlen(MHD_HTTP_HEADER_COOKIE) && value &&
        strcasecmp(name, MHD_HTTP_HEADER_COOKIE) == 0)
        *bytes += value_len;
    return MHD_YES;
}

/* Returns the bytes of the connection memory that the head uses. */
static size_t head_memory(struct MHD_Connection *connection)
{
    size_t bytes = head_len(connection);

    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, add_cookie_len, &bytes);
    return bytes + RECORD_BYTES * (size_t)MHD_get_connection_values(
                                      connection, MHD_HEADER_KIND | MHD_COOKIE_KIND, NULL, NULL);
}

static size_t arguments_max(const struct request_target *target)
{
    size_t count = target->query ? 1 : 0;

    for (const char *at = target->query; at && (at = strchr(at, '&')) != NULL; at++)
        count++;
    return count;
}

static size_t unescape_argument(char *text)
{
    for (char *at = text; (at = strchr(at, '+')) != NULL;)
        *at = ' ';
    return MHD_http_unescape(text);
}

/* Adds the arguments as the library would. Returns false if the connection memory is full. */
static bool add_arguments(struct MHD_Connection *connection, const struct request_target *target)
{
    char *rest = target->query;

    while (rest && *rest != '\0') {
        char *name = strsep(&rest, "&");
        char *value = strchr(name, '=');
        size_t value_len = 0;

        if (value) {
            *value++ = '\0';
            value_len = unescape_argument(value);
        }
        if (MHD_set_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, name,
                                       unescape_argument(name), value, value_len) != MHD_YES)
            return false;
    }
    return true;
}

unsigned request_head_check(struct MHD_Connection *connection, const char *method,
                            const char *version, struct request_target *target, bool *malformed)
{
    struct head head = compare_head(connection, method, version, target);
    size_t bytes = head_memory(connection);

    if (!head.contiguous)
        return MHD_HTTP_BAD_REQUEST;
    if (bytes > REQUEST_HEAD_MAX)
        return MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE;
    if (target->query)
        *target->query = target->query_first;
    if (bytes + RECORD_BYTES * arguments_max(target) > REQUEST_HEAD_MAX)
        return MHD_HTTP_URI_TOO_LONG;
    *malformed = !head.well_formed || head.hosts > 1 ||
                 (head.hosts == 0 && strcmp(version, MHD_HTTP_VERSION_1_0) != 0);
    /* A bad target gets no arguments: an escaped NUL would cut one short. */
    if (target->is_bad || add_arguments(connection, target))
        return 0;
    return MHD_HTTP_URI_TOO_LONG;
}

void request_head_refuse(struct MHD_Connection *connection, unsigned status)
{
    const char *reason = MHD_get_reason_phrase_for(status);
    const union MHD_ConnectionInfo *tls =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    const union MHD_ConnectionInfo *fd =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    char answer[ANSWER_MAX];
    int len = snprintf(answer, sizeof(answer),
                       "HTTP/1.1 %u %s\r\nConnection: close\r\nContent-Type: text/plain\r\n"
                       "Content-Length: %zu\r\n\r\n%s\n",
                       status, reason, strlen(reason) + 1, reason);

    /* The sockets do not block: a client that has not read earlier responses may lose this one. */
    if (tls) {
        (void)gnutls_record_send(tls->tls_session, answer, (size_t)len);
        (void)gnutls_bye(tls->tls_session, GNUTLS_SHUT_WR);
    } else if (fd) {
        (void)send(fd->connect_fd, answer, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

const char *request_target_path(const char *target)
{
    static const char *const schemes[] = {"http://", "https://"};

    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        size_t len = strlen(schemes[i]);
        const char *path;

        if (strncasecmp(target, schemes[i], len) != 0)
            continue;
        path = strchr(target + len, '/');
        return path ? path : "/";
    }
    return target;
}
