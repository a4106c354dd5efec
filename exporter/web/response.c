/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/response.h"

#include <strings.h>

#include "exporter/text/text_table.h"

enum { TEXT_MAX = 1024 * 1024 };

/* Value of Retry-After in 503 responses. */
#define RETRY_SECONDS "5"

/* Pages use a style sheet and forms of this server, and may not be embedded in other pages. */
static const char page_policy[] = "default-src 'none'; style-src 'self'; form-action 'self'; "
                                  "base-uri 'none'; frame-ancestors 'none'";
static const char other_policy[] = "default-src 'none'; frame-ancestors 'none'";

/* Headers of every response: no content sniffing, referrer, use by other origins, or caching. */
static const char *const common_headers[][2] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
};

/* The headers are valid, so libmicrohttpd can refuse them only for lack of memory. */
void response_add_header(struct MHD_Response *response, const char *name, const char *value)
{
    if (MHD_add_response_header(response, name, value) != MHD_YES)
        memory_exhausted(0);
}

static struct MHD_Response *add_common_headers(struct MHD_Response *response,
                                               const char *content_type)
{
    if (!response)
        memory_exhausted(0);
    response_add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    for (size_t i = 0; i < ARRAY_LEN(common_headers); i++)
        response_add_header(response, common_headers[i][0], common_headers[i][1]);
    response_add_header(response, "Content-Security-Policy",
                        strcmp(content_type, RESPONSE_HTML) == 0 ? page_policy : other_policy);
    return response;
}

struct MHD_Response *response_new(char *bytes, size_t len, const char *content_type)
{
    return add_common_headers(MHD_create_response_from_buffer_with_free_callback(len, bytes, free),
                              content_type);
}

struct MHD_Response *response_new_borrowed(char *bytes, size_t len, const char *content_type,
                                           void (*release)(void *context), void *context)
{
    return add_common_headers(
        MHD_create_response_from_buffer_with_free_callback_cls(len, bytes, release, context),
        content_type);
}

struct MHD_Response *response_new_pieces(const struct MHD_IoVec *pieces, unsigned count,
                                         const char *content_type, void (*release)(void *context),
                                         void *context)
{
    return add_common_headers(MHD_create_response_from_iovec(pieces, count, release, context),
                              content_type);
}

struct MHD_Response *response_text(const char *text)
{
    struct strbuf safe = STRBUF_INIT(TEXT_MAX);
    size_t len;
    char *bytes;

    output_escape_lines(&safe, text);
    bytes = strbuf_take(&safe, &len);
    return response_new(bytes, len, RESPONSE_TEXT);
}

enum MHD_Result response_send(struct access_control *access_control,
                              struct MHD_Connection *connection, unsigned status,
                              struct MHD_Response *response)
{
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        response_add_header(response, MHD_HTTP_HEADER_RETRY_AFTER, RETRY_SECONDS);
    access_control_set_headers(access_control, response);
    enum MHD_Result result = MHD_queue_response(connection, status, response);

    MHD_destroy_response(response);
    return result;
}

/* ---- content negotiation ---- */

enum { NOT_NAMED = -1, WEIGHT_MAX = 1000 };

struct span {
    const char *at; /* Without a NUL at the end; may be NULL if empty. */
    size_t len;
};

static struct span trim_span(struct span s)
{
    while (s.len > 0 && (s.at[0] == ' ' || s.at[0] == '\t')) {
        s.at++;
        s.len--;
    }
    while (s.len > 0 && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\t'))
        s.len--;
    return s;
}

/* Removes the text up to the separator, or to the end, from `rest`. Returns the text trimmed. */
static struct span cut_span(struct span *rest, char separator)
{
    const char *end = memchr(rest->at, separator, rest->len);
    struct span piece = {rest->at, end ? (size_t)(end - rest->at) : rest->len};
    size_t used = piece.len + (end ? 1 : 0);

    rest->at += used;
    rest->len -= used;
    return trim_span(piece);
}

/* Returns the value of a parameter without blanks and quotes around it. */
static struct span unquote_span(struct span s)
{
    s = trim_span(s);
    if (s.len >= 2 && s.at[0] == '"' && s.at[s.len - 1] == '"')
        s = (struct span){s.at + 1, s.len - 2};
    return s;
}

static bool span_is(struct span s, const char *word)
{
    return s.len > 0 && s.len == strlen(word) && strncasecmp(s.at, word, s.len) == 0;
}

/* Parses a weight of RFC 9110, such as "0.25", into thousandths. Returns false if malformed. */
static bool parse_weight(struct span s, int *out)
{
    int weight = 0;
    int place = WEIGHT_MAX / 10;

    if (s.len == 0 || s.len > strlen("0.000") || (s.at[0] != '0' && s.at[0] != '1') ||
        (s.len > 1 && s.at[1] != '.'))
        return false;
    weight = (s.at[0] - '0') * WEIGHT_MAX;
    for (size_t i = 2; i < s.len; i++, place /= 10) {
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
        weight += (s.at[i] - '0') * place;
    }
    *out = weight;
    return weight <= WEIGHT_MAX;
}

/* Element of Accept or Accept-Encoding with the parameters that are used here. */
struct accept_element {
    struct span name;
    struct span version;
    struct span escaping;
    int weight;
};

/* Removes the next valid element from `rest`. Returns false at the end. */
static bool next_element(struct span *rest, struct accept_element *out)
{
    bool valid = false;

    while (rest->len > 0 && !valid) {
        struct span entry = cut_span(rest, ',');

        *out = (struct accept_element){.name = cut_span(&entry, ';'), .weight = WEIGHT_MAX};
        valid = true;
        while (entry.len > 0) {
            struct span value = cut_span(&entry, ';');
            struct span parameter = cut_span(&value, '=');

            if (span_is(parameter, "q"))
                valid = valid && parse_weight(trim_span(value), &out->weight);
            else if (span_is(parameter, "version"))
                out->version = unquote_span(value);
            else if (span_is(parameter, "escaping"))
                out->escaping = unquote_span(value);
        }
    }
    return valid;
}

static struct span span_of(const char *header)
{
    return (struct span){header ? header : "", header ? strlen(header) : 0};
}

bool negotiate_gzip(const char *header)
{
    int gzip = NOT_NAMED, identity = NOT_NAMED, others = NOT_NAMED;
    struct span rest = span_of(header);
    struct accept_element element;

    while (next_element(&rest, &element)) {
        struct span name = element.name;
        int weight = element.weight;

        if (span_is(name, "gzip") || span_is(name, "x-gzip"))
            gzip = weight;
        else if (span_is(name, "identity"))
            identity = weight;
        else if (span_is(name, "*"))
            others = weight;
    }
    if (gzip == NOT_NAMED)
        gzip = others;
    return gzip > 0 && gzip >= identity;
}

const char *const metrics_format_types[METRICS_FORMAT_COUNT] = {
    [METRICS_FORMAT_TEXT_0] = "text/plain; version=0.0.4; charset=utf-8",
    [METRICS_FORMAT_TEXT_1] = "text/plain; version=1.0.0; charset=utf-8",
    [METRICS_FORMAT_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/* Returns the format of the element, METRICS_FORMAT_COUNT if unknown. */
static enum metrics_format element_format(const struct accept_element *e)
{
    bool newest = span_is(e->version, "1.0.0");

    if (span_is(e->name, "application/openmetrics-text"))
        return newest || e->version.len == 0 ? METRICS_FORMAT_OPENMETRICS : METRICS_FORMAT_COUNT;
    if (span_is(e->name, "text/plain"))
        return newest                                                ? METRICS_FORMAT_TEXT_1
               : e->version.len == 0 || span_is(e->version, "0.0.4") ? METRICS_FORMAT_TEXT_0
                                                                     : METRICS_FORMAT_COUNT;
    return span_is(e->name, "*/*") || span_is(e->name, "text/*") ? METRICS_FORMAT_TEXT_0
                                                                 : METRICS_FORMAT_COUNT;
}

enum metrics_format negotiate_metrics_format(const char *header,
                                             char out_type[METRICS_FORMAT_TYPE_MAX])
{
    static const char *const schemes[] = {"allow-utf-8", "underscores", "dots", "values"};
    struct span rest = span_of(header);
    enum metrics_format best = METRICS_FORMAT_TEXT_0;
    struct span escaping = {0};
    struct accept_element element;
    int weight = 0;

    while (next_element(&rest, &element)) {
        enum metrics_format format = element_format(&element);

        if (format == METRICS_FORMAT_COUNT || element.weight <= weight)
            continue;
        best = format;
        weight = element.weight;
        escaping = element.escaping;
    }
    snprintf(out_type, METRICS_FORMAT_TYPE_MAX, "%s", metrics_format_types[best]);
    for (size_t i = 0; best != METRICS_FORMAT_TEXT_0 && i < ARRAY_LEN(schemes); i++) {
        if (span_is(escaping, schemes[i]))
            snprintf(out_type, METRICS_FORMAT_TYPE_MAX, "%s; escaping=%s",
                     metrics_format_types[best], schemes[i]);
    }
    return best;
}

size_t negotiate_media_type(const char *header, const char *const *types, size_t count)
{
    struct span rest = span_of(header);
    struct accept_element element;
    size_t best = 0;
    int weight = 0;

    while (next_element(&rest, &element)) {
        for (size_t i = 0; i < count; i++) {
            struct span type = {types[i], strcspn(types[i], ";")};

            if (element.weight > weight && element.name.len == type.len &&
                strncasecmp(element.name.at, type.at, type.len) == 0) {
                best = i;
                weight = element.weight;
            }
        }
    }
    return best;
}
